"""The text of a CSV file, or pasted cells, as a frame: find the separator, count and check every row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import pandas as pd

from fairglvq.datasets.table.cells import Distinct, decimal_commas, is_number, notes_of, typed
from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.reading import (
    CONTROL,
    Progress,
    RaggedError,
    Reading,
    named,
    refuse_wide,
    sample,
    sampled,
    summary,
)
from fairglvq.wording import count

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
PACE = 50_000  # rows between two progress reports
SECOND_PASS, COLLECTED = 0.45, 0.9  # shares of the work: when a second pass begins, and when all rows are there
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])[ \t]*\r?\n", re.IGNORECASE)
_ONE_COLUMN = "Only one column was found: values must be separated by commas, semicolons, tabs or vertical bars."


def read_rows(
    text: str, notes: list[str], most_rows: int | None, skip_ragged: bool, seed: int, progress: Progress | None
) -> Reading:
    """Read a table from text; new notes are added to ``notes``."""
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise TableError(f"Line {line} holds a zero byte, which is no text: save the file as CSV in UTF-8.")
    if CONTROL.search(text):
        text = CONTROL.sub("", text)
        notes.append("Invisible control characters were taken out.")
    if not text.strip():
        raise TableError("The table is empty.")
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise TableError("This is a web page or XML and not a table: download the table itself as CSV.")
    if re.match(r'[\[{]\s*["{\[\]}]', start):
        raise TableError("This is JSON and not a table: save it as CSV first.")
    stated = _SEPARATOR_LINE.match(text)  # a first line that names the separator for spreadsheets
    if stated:
        text = text[stated.end() :]
    separator = stated[1] if stated else _separator(text)
    rows = _Rows(text, separator, progress or (lambda share: None))
    header, first = rows.header()
    names, renamed = named(header)
    notes += renamed
    numbers, cells, n, ragged = rows.collect(len(names), first, most_rows, skip_ragged, seed)
    if ragged:
        what, were = ("row", "was") if ragged == 1 else ("rows", "were")
        notes.append(f"{ragged:,} {what} with too many or too few values {were} left out.")
    if len(cells) < n:
        notes.append(sampled(n, len(cells)))
    taken = [Distinct.of(column) for column in zip(*cells, strict=True)]
    del cells
    commas = decimal_commas(taken)
    columns = {name: typed(column, commas) for name, column in zip(names, taken, strict=True)}
    notes += notes_of(columns, numbers)
    frame = pd.DataFrame({name: column.values for name, column in columns.items()})
    frame = frame.set_index(pd.Index(numbers, name="row"))
    return Reading(frame, summary(n, len(names), f"separated by {SEPARATORS[separator]}s"), tuple(notes), n)


class _Rows:
    """The rows of a text, numbered as in a spreadsheet; blank ones count but are skipped."""

    def __init__(self, text: str, separator: str, progress: Progress):
        self.text, self.separator, self.progress = text, separator, progress
        self.lines = text.count("\n") + 1

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = _reader(self.text, self.separator)
        number = lines = 0
        row: list[str] = []
        try:
            for number, row in enumerate(reader, start=1):
                if any(map(str.strip, row)):
                    yield number, row
                lines, before = reader.line_num, lines
        except csv.Error as problem:
            raise TableError(
                f"Row {number + 1} cannot be read ({problem}): look for a quotation mark that is not closed."
            ) from None
        if row and "\n" in row[-1] and lines - before > 1 and self.text.count('"') % 2:
            raise TableError(f"In row {number:,} a quotation mark is opened and never closed.")

    def header(self) -> tuple[list[str], int]:
        """The column names, and the number of the first row of data."""
        number, row = next(iter(self))
        _trim(row, 1)
        if len(row) == 1:
            raise TableError(_ONE_COLUMN)
        refuse_wide(len(row))
        if all(is_number(cell) for cell in row):
            return [""] * len(row), number  # no header: the first row is data
        return row, number + 1

    def collect(
        self, width: int, first: int, most: int | None, skip: bool, seed: int
    ) -> tuple[list[int], list[list[str]], int, int]:
        """Numbers and cells of all rows or of a sample, how many there are in the file, and how many did not fit.

        Without a single quotation mark a row is a line, which can be counted without being parsed: about three times as
        fast for a sample of a million rows. Otherwise a long file is parsed twice.
        """
        quoted = '"' in self.text
        rows = self._by_row(width, first) if quoted else self._by_line(width, first)
        first_pass = SECOND_PASS if quoted and most is not None and self.lines > most else 0.7
        numbers: list[int] = []
        cells: list[str | list[str]] = []
        ragged, why, n = 0, "", 0
        for number, row, found in rows:
            if number % PACE == 0:
                self.progress(first_pass * min(1.0, number / self.lines))
            if found != width:
                ragged += 1
                why = why or _ragged(number, found, width)
                continue
            n += 1
            # Lines are in memory anyway; parsed rows are kept only while they may all be needed.
            if isinstance(row, str) or most is None or n <= most:
                numbers.append(number)
                cells.append(row)
        if n == 0:
            raise TableError("There are column names but not a single row below them." if not ragged else
                             f"{why} So do all other rows: the first row must hold the column names.")  # fmt: skip
        if ragged and not skip:
            raise RaggedError(why + (f" There are {ragged:,} such rows." if ragged > 1 else ""), ragged)
        if most is not None and n > most:
            chosen = sample(n, most, seed).tolist()
            if len(cells) == n:
                numbers, cells = [numbers[i] for i in chosen], [cells[i] for i in chosen]
            else:
                numbers, cells = self._pick(chosen, width, first)
        self.progress(COLLECTED)
        return numbers, [self._cut(row, width) if isinstance(row, str) else row for row in cells], n, ragged

    def _by_row(self, width: int, first: int) -> Iterator[tuple[int, list[str], int]]:
        """Number, cells, and how many there are."""
        for number, row in self:
            if number >= first:
                _trim(row, width)
                yield number, row, len(row)

    def _by_line(self, width: int, first: int) -> Iterator[tuple[int, str, int]]:
        """Number, line, and how many cells it has."""
        separator = self.separator
        nothing = separator + " \t"
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for number, line in enumerate(lines, start=1):
            if number < first or not line or (line[0] in nothing and not line.strip(nothing)):
                continue
            found = line.count(separator) + 1
            yield number, line, found if found <= width else len(self._cut(line, width))

    def _cut(self, line: str, width: int) -> list[str]:
        row = line.split(self.separator)
        _trim(row, width)
        return row

    def _pick(self, chosen: list[int], width: int, first: int) -> tuple[list[int], list[str | list[str]]]:
        fitting = ((number, row) for number, row, found in self._by_row(width, first) if found == width)
        numbers: list[int] = []
        cells: list[str | list[str]] = []
        wanted = set(chosen)
        for position, (number, row) in enumerate(islice(fitting, chosen[-1] + 1)):
            if number % PACE == 0:
                self.progress(SECOND_PASS + (COLLECTED - SECOND_PASS) * min(1.0, number / self.lines))
            if position in wanted:
                numbers.append(number)
                cells.append(row)
        return numbers, cells


def _ragged(number: int, found: int, width: int) -> str:
    return f"Row {number:,} has {count(found, 'value')}, but the header names {width:,} columns (the header is row 1)."


def _trim(row: list[str], width: int) -> None:
    """Cut empty cells behind the last column, which many programs write; ``width`` cells are left at least."""
    while len(row) > width and not row[-1].strip():
        row.pop()


def _reader(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)


def _separator(text: str) -> str:
    """The separator that cuts most of the first rows into the same number of values, and into most of them."""
    best, found, title = (0.0, 0), "", ""
    for candidate in SEPARATORS:
        widths: list[int] = []
        with suppress(csv.Error):  # reported later, with its row
            widths.extend(len(row) for row in islice(_reader(text[:200_000], candidate), 100) if row)
        if widths and max(widths) > 1:
            same = widths.count(widths[0]) / len(widths) if widths[0] > 1 else 0.0
            # Rows may be ragged; a separator that the header does not have is none.
            if same and (round(same, 1), widths[0]) > best:
                best, found = (round(same, 1), widths[0]), candidate
            elif widths[0] == 1 and widths.count(max(widths)) > len(widths) / 2:
                title = f"Row 1 holds one value, but most rows below it hold {max(widths):,}: take out the lines above "
    if not found:
        raise TableError(f"{title}the column names." if title else _ONE_COLUMN)
    return found
