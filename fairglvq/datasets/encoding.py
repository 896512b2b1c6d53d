"""A readable table becomes numbers: the one-hot encoding that the paper's real data sets share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from fairglvq.datasets.base import Block


class Binary(NamedTuple):
    """How a column becomes 0 and 1: ``one`` is the value that becomes 1, ``names`` are the words for 0 and for 1."""

    one: str
    names: tuple[str, str]


def without(dropped: Sequence[str]) -> tuple[str, ...]:
    """The caveat of a data set whose protected columns were left out of X; none if none was."""
    return tuple(f"X does not contain {column}; other columns may still reveal it." for column in dropped)


def encode(
    table: pd.DataFrame, *, binary: Mapping[str, Binary], categories: Sequence[str]
) -> tuple[npt.NDArray[np.float64], tuple[Block, ...]]:
    """Encode ``table``, which must have no missing value, as X (n, d) and the blocks of its columns.

    Numbers and binary columns come first in table order, then a block per name in ``categories`` with the values
    sorted. This is the order of AIF360's ``StandardDataset``, which the paper's experiments used. A category is
    encoded with all its values (none is left out as a baseline), and before any split: on COMPAS 177 columns hold a
    single 1, which most training folds would never see.
    """
    plain = [column for column in table.columns if column not in categories]
    codes, values = {}, {}
    for column in categories:
        codes[column], found = pd.factorize(table[column], sort=True)
        values[column] = tuple(map(str, found))

    X = np.zeros((len(table), len(plain) + sum(map(len, values.values()))))  # (n_rows, n_features)
    blocks = []
    for start, column in enumerate(plain):
        if column in binary:
            X[:, start] = table[column] == binary[column].one
            blocks.append(Block(column, start, start + 1, "binary", binary[column].names))
        else:
            X[:, start] = table[column]
            blocks.append(Block(column, start, start + 1, "number"))
    start, rows = len(plain), np.arange(len(table))
    for column in categories:
        X[rows, start + codes[column]] = 1.0
        blocks.append(Block(column, start, start + len(values[column]), "category", values[column]))
        start = blocks[-1].stop
    return X, tuple(blocks)
