"""Shared by all file formats: the result of reading, names of columns, limits and progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.wording import quoted, rows

Progress = Callable[[float], None]
"""Called with the share of the work done; may raise to stop the work."""

MOST_COLUMNS = 1000

# Control characters and marks that change the reading direction, which can make one name look like another.
CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


class RaggedError(TableError):
    """Some rows do not have as many values as the header; ``n`` says how many."""

    def __init__(self, message: str, n: int):
        super().__init__(message)
        self.n = n


@dataclass(frozen=True)
class Reading:
    """A frame, a sentence about the file, and notes on how it was read.

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
    """Raise if there are too many columns."""
    if width > MOST_COLUMNS:
        raise TableError(f"The table has {width:,} columns; at most {MOST_COLUMNS:,} can be used.")


def sample(n: int, most: int | None, seed: int) -> np.ndarray:
    """Positions of all n rows, or of a random sample of ``most``, in their order."""
    if most is None or n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def sampled(n: int, most: int) -> str:
    """The note that only a sample was taken."""
    return f"The file has {n:,} rows: a random sample of {most:,} of them is used."


def named(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Unique names of the columns, and notes on those that had to be changed."""
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
