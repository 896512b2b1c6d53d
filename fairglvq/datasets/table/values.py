"""The values of a column in three ways: as words, as numbers, as decimal years; and cut in two."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.wording import exact, quoted

_DATES = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
_LOOKS_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")


def in_words(column: pd.Series) -> pd.Series:
    """Values as text: whole numbers without a decimal point, gaps as gaps."""
    if pd.api.types.is_bool_dtype(column):
        return column.map({True: "true", False: "false"}).astype("str")
    if pd.api.types.is_numeric_dtype(column):
        words = {value: exact(value) for value in column.dropna().unique().tolist()}
        return column.map(words).astype("str")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.strftime("%Y-%m-%d").astype("str")
    return column.astype("str")


def distinct(words: pd.Series) -> list[str]:
    """The different values, numbers by size and everything else by name."""
    values = words.dropna().unique().tolist()
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def in_numbers(column: pd.Series, name: str) -> pd.Series:
    """Values as numbers; the first that is none is named."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    numbers = pd.to_numeric(column.astype("str") if column.dtype == object else column, errors="coerce")
    wrong = column.index[column.notna() & numbers.isna()]
    if len(wrong):
        raise TableError(
            f"Column {quoted(name)} is to be a number, but row {wrong[0]} holds {quoted(column[wrong[0]])}."
        )
    return numbers.astype(float)


def in_years(column: pd.Series, name: str, caveats: list[str]) -> pd.Series:
    """Dates as decimal years."""
    if not pd.api.types.is_datetime64_any_dtype(column):
        words = in_words(column)
        distinct = words.dropna().unique().tolist()
        form = date_format(distinct) or max(_DATES, key=lambda known: _parsed(distinct, known).notna().sum())
        column = pd.to_datetime(words.map(dict(zip(distinct, _parsed(distinct, form), strict=True))))
        wrong = words.index[words.notna() & column.isna()]
        if len(wrong):
            raise TableError(
                f"Column {quoted(name)} is to be a date, but row {wrong[0]} holds {quoted(words[wrong[0]])}."
            )
        if form == "%d/%m/%Y" and _parsed(distinct, "%m/%d/%Y").notna().all():
            caveats.append(f"The dates in {quoted(name)} were read with the day first.")
    days = column.dt.day_of_year - 1 + (column - column.dt.normalize()).dt.total_seconds() / (24 * 3600)
    return column.dt.year + days / 365.25


def date_format(values: Sequence[str]) -> str | None:
    """The way of writing dates that fits all values, if they look like dates at all."""
    if not values or not all(_LOOKS_LIKE_A_DATE.fullmatch(value) for value in values):
        return None
    return next((form for form in _DATES if _parsed(values, form).notna().all()), None)


def _parsed(values: Sequence[str], form: str) -> pd.Series:
    dates = pd.to_datetime(pd.Series(values, dtype="str"), format=form, errors="coerce", utc=True)
    return dates.dt.tz_localize(None)


def in_two(column: pd.Series, name: str, cut: float) -> pd.Series:
    """Under the cut, or at it and above."""
    values = in_numbers(column, name)
    under, above = cut_names(cut)
    words = pd.Series(np.where(values < cut, under, above), index=column.index, dtype="str")
    return words.where(values.notna())


def cut_names(cut: float) -> tuple[str, str]:
    """What the people under a cut are called, and the others."""
    number = exact(cut)
    return f"under {number}", f"{number} or more"
