"""What reading any kind of file has in common: its result, the names of columns, limits and progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.wording import quoted, rows

Tell = Callable[[float], None]
"""Hears the share of the work done."""

MOST_COLUMNS = 1000

# Marks that turn the reading direction of everything behind them, and control characters: nothing a table needs, and
# able to make one name look like another.
CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


class RaggedError(TableError):
    """Some rows do not have as many values as the header; ``n`` says how many."""

    def __init__(self, message: str, n: int):
        super().__init__(message)
        self.n = n


@dataclass(frozen=True)
class Reading:
    """A frame, what the file is in one sentence, and what to keep in mind about how it was read.

    ``n_rows`` counts the rows of the whole file, of which ``frame`` may hold a sample.
    """

    frame: pd.DataFrame
    summary: str
    notes: tuple[str, ...]
    n_rows: int


def summary(n: int, width: int, form: str) -> str:
    """What a file is, in one sentence."""
    return f"{rows(n)} and {width:,} columns, {form}."


def refuse_wide(width: int) -> None:
    """More columns than anybody can look at are not taken."""
    if width > MOST_COLUMNS:
        raise TableError(f"The table has {width:,} columns; at most {MOST_COLUMNS:,} can be used.")


def sampled(n: int, most: int) -> str:
    """That only a sample was taken."""
    return f"The file has {n:,} rows: a random sample of {most:,} of them is used."


def named(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of the columns, each different, and what had to be done for that."""
    names: list[str] = []
    notes: list[str] = []
    if not any(header):
        notes.append("The first row holds numbers only, so it was taken for a person: columns are counted instead.")
    for position, cell in enumerate(header, start=1):
        name = " ".join(cell.split())
        if not name:
            name = f"column {position}"
            if any(header):
                notes.append(f"Column {position} has no name: it is called {quoted(name)}.")
        if name in names:
            first, number = names.index(name) + 1, 2
            while f"{name} ({number})" in names or f"{name} ({number})" in header:
                number += 1
            new = f"{name} ({number})"
            notes.append(f"Columns {first} and {position} are both called {quoted(name)}: the second is {quoted(new)}.")
            name = new
        names.append(name)
    return names, notes
