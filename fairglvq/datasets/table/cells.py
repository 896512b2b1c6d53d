"""Cells of a text file as columns of numbers or words; notes say what was not obvious.

Numbers may be written as people and spreadsheets write them: 1,234.50 or 1.234,50, with a percent or currency sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairglvq.wording import exact, quoted, rows

MISSING = frozenset(
    [
        *("", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>", "NaN", "nan", "NULL", "null", "None", "?", "-", "--", "."),
        *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),  # what spreadsheets write for an error
    ]
)
"""Cells that stand for a missing value."""

MOSTLY = 0.8  # share of numbers among different values from which on a column was probably meant to be one

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity)", re.IGNORECASE)
_MARKED = r"[1-9]\d{{0,2}}(?P<mark>[{marks}'\u2019 \u00a0\u2009\u202f])\d{{3}}(?:(?P=mark)\d{{3}})*"  # 1,234,567
_GROUPS = rf"[+-]?(?:{_MARKED}|\d+)(?:{{point}}\d+)?"
_ENGLISH = re.compile(_GROUPS.format(marks=",", point=r"\."))
_CONTINENTAL = re.compile(_GROUPS.format(marks=".", point=","))
_DECIMAL_COMMA = re.compile(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))")
_DIGIT = re.compile(r"\d")
_CURRENCIES = "$€£¥"


@dataclass(frozen=True)
class Distinct:
    """The different cells of a column, stripped and None where missing, and which of them each row holds.

    Most cells repeat others, so that few have to be parsed.
    """

    codes: np.ndarray
    values: list[str | None]

    @classmethod
    def of(cls, cells: Sequence[str]) -> Distinct:
        """Find the different cells of a column."""
        codes, found = pd.factorize(np.fromiter(cells, dtype=object, count=len(cells)))
        return cls(codes, [None if cell.strip() in MISSING else cell.strip() for cell in found.tolist()])

    @property
    def present(self) -> list[str]:
        """The cells that hold a value."""
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class Column:
    """A column of numbers or words, with examples for notes on how it was read."""

    values: pd.Series
    example: tuple[str, float] | None = None  # a number that was not written plainly, and what it was taken for
    odd: tuple[int, int] | None = None  # where a word stands among numbers for the first time, and how often


def decimal_commas(columns: Sequence[Distinct]) -> bool:
    """Whether a file writes 1,5 for one and a half: some column has a comma that cannot part thousands."""
    return any(
        any(map(_DECIMAL_COMMA.fullmatch, cells)) and _all_numbers(cells, _CONTINENTAL)
        for cells in (_undressed(column.present) for column in columns)
    )


def typed(cells: Distinct, commas: bool) -> Column:
    """Numbers if every cell that holds a value is one, else words. ``commas``: what `decimal_commas` found."""
    found = _numbers(cells.present, commas)
    if found is None:
        words = pd.Series(np.array(cells.values, dtype=object)[cells.codes], dtype="str")
        return Column(words, odd=_odd(cells))
    numbers = dict(zip(cells.present, found[0], strict=True))
    values = np.array([np.nan if value is None else numbers[value] for value in cells.values])
    example = next((cell for cell, dressed in zip(numbers, found[1], strict=True) if dressed), None)
    return Column(pd.Series(values[cells.codes]), None if example is None else (example, numbers[example]))


def notes_of(columns: Mapping[str, Column], row_numbers: Sequence[int], most: int = 4) -> list[str]:
    """Notes on how cells were read."""
    notes = []
    examples = {name: column.example for name, column in columns.items() if column.example}
    if examples:
        found = [f"{quoted(cell)} in {quoted(name)} as {exact(value)}" for name, (cell, value) in examples.items()]
        more = f", and {len(found) - most:,} more columns like these" if len(found) > most else ""
        notes.append(f"Numbers were read without their signs and separators: {', '.join(found[:most])}{more}.")
    for name, column in columns.items():
        if column.odd:
            first, n = column.odd
            notes.append(
                f"{quoted(name)} holds numbers, but not in {rows(n)} (row {row_numbers[first]:,}: "
                f"{quoted(column.values.iloc[first])}), so it was not taken for a number. Empty such "
                "cells in the file if they say nothing."
            )
    return notes


def _numbers(cells: Sequence[str], commas: bool) -> tuple[list[float], list[bool]] | None:
    """The values, read the way this file writes numbers, and which were not written plainly; None if they are words."""
    plain = _undressed(cells)
    for style in (_CONTINENTAL, _NUMBER, _ENGLISH) if commas else (_NUMBER, _ENGLISH, _CONTINENTAL):
        if _all_numbers(plain, style):
            dressed = [
                _grouped(cell, style) or len(cell) < len(before) for cell, before in zip(plain, cells, strict=True)
            ]
            return [_float(cell, style) for cell in plain], dressed
    return None


def _all_numbers(cells: Sequence[str], style: re.Pattern) -> bool:
    """Codes such as 007 are none, as they would lose their zeros; nor is a column that holds "inf" alone."""
    return all(map(style.fullmatch, cells)) and any(map(_DIGIT.search, cells)) and not any(map(_padded, cells))


def _grouped(cell: str, style: re.Pattern) -> bool:
    """Whether marks part its thousands."""
    found = style.fullmatch(cell)
    return style is not _NUMBER and found is not None and found["mark"] is not None


def _float(cell: str, style: re.Pattern) -> float:
    if style is _NUMBER:
        return float(cell)
    thousands, point = (",", ".") if style is _ENGLISH else (".", ",")
    return float(re.sub(rf"[{thousands}'\u2019\s]", "", cell).replace(point, "."))


def _undressed(cells: Sequence[str]) -> list[str]:
    """Without the percent or currency sign, if all cells have the same; with an ASCII minus."""
    cells = [cell.replace("\N{MINUS SIGN}", "-") for cell in cells]
    if cells and all(cell.endswith("%") for cell in cells):
        return [cell[:-1].rstrip() for cell in cells]
    for sign in _CURRENCIES:
        if cells and all(cell.lstrip("+-").startswith(sign) or cell.endswith(sign) for cell in cells):
            return [re.sub(rf"\s*{re.escape(sign)}\s*", "", cell, count=1) for cell in cells]
    return cells


def is_number(cell: str) -> bool:
    """Whether a cell is a number as programs write it."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def _padded(value: str) -> bool:
    """Whether it is a code such as 007, which loses its zeros as a number."""
    return len(value) > 1 and value[0] == "0" and value.isdigit()


def _odd(cells: Distinct) -> tuple[int, int] | None:
    """Where a column that was probably meant to be a number holds a word first, and how often."""
    wrong = [i for i, value in enumerate(cells.values) if value is not None and not _NUMBER.fullmatch(value)]
    present = cells.present
    n = len(present) - len(wrong)
    if not wrong or n < 5 or n < MOSTLY * len(present) or any(map(_padded, present)):
        return None
    where = np.flatnonzero(np.isin(cells.codes, wrong))
    return int(where[0]), len(where)
