"""A readable table becomes numbers: the one-hot encoding that the paper's real data sets share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
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


def check_bins(bins: int) -> None:
    """Raise a ValueError unless numbers can be cut into so many bins."""
    if bins and not (isinstance(bins, Integral) and bins >= 2):
        raise ValueError(f"bins must be 0 or a whole number of at least 2; got {bins!r}")


def bin_starts(values: npt.NDArray[np.float64], bins: int) -> npt.NDArray[np.float64]:
    """The smallest value of every bin but the first, when ``values`` (n,) are cut into about ``bins`` of them.

    A value that more than 1 in ``bins`` share gets a bin of its own; the others are cut into equal shares. So a column
    like Adult's capital gain, 0 for 92 %, still has bins for the rest.
    """
    distinct, counts = np.unique(values, return_counts=True)
    common = counts > len(values) / bins
    others = values[~np.isin(values, distinct[common])]
    shares = max(1, bins - int(common.sum()))
    cuts = np.quantile(others, np.arange(1, shares) / shares, method="lower") if others.size else others
    after_common = distinct[1:][common[:-1]]
    starts: npt.NDArray[np.float64] = np.unique(np.concatenate([distinct[common], after_common, cuts]))
    return starts[starts > distinct[0]]


def _add_bins(X, blocks: Sequence[Block], bins: int) -> tuple[npt.NDArray[np.float64], tuple[Block, ...]]:
    """X with a 0/1 column for every bin of every number, beside the number itself; a constant gets none."""
    columns, added, width = [X], [], X.shape[1]
    for block in blocks:
        values = X[:, block.start]
        starts = bin_starts(values, bins) if block.kind == "number" else values[:0]
        if starts.size:
            codes = np.searchsorted(starts, values, side="right")
            ends = [(values[codes == code].min(), values[codes == code].max()) for code in range(len(starts) + 1)]
            names = tuple(f"{low:.12g}" if low == high else f"{low:.12g} to {high:.12g}" for low, high in ends)
            columns.append(np.eye(len(names))[codes])
            name, stop = f"{block.column} in bins", width + len(names)
            added.append(Block(name, width, stop, "category", names, block.column, tuple(starts.tolist())))
            width = stop
    return np.hstack(columns), (*blocks, *added)


def encode(
    table: pd.DataFrame, *, binary: Mapping[str, Binary], categories: Sequence[str], bins: int = 0
) -> tuple[npt.NDArray[np.float64], tuple[Block, ...]]:
    """Encode ``table``, which must have no missing value, as X (n, d) and the blocks of its columns.

    Numbers and binary columns come first in table order, then a block per name in ``categories`` with the values
    sorted. This is the order of AIF360's ``StandardDataset``, which the paper's experiments used. A category is
    encoded with all its values (none is left out as a baseline), and before any split: on COMPAS 177 columns hold a
    single 1, which most training folds would never see.

    With ``bins`` (2 or more) every number is also cut into about as many bins, in blocks at the end: a linear model can
    then bend. The labels play no part in it. 0 is the paper's encoding.
    """
    check_bins(bins)
    plain = [column for column in table.columns if column not in categories]
    found = {column: pd.factorize(table[column], sort=True) for column in categories}
    X = np.zeros((len(table), len(plain) + sum(len(values) for _, values in found.values())))  # (n_rows, n_features)
    blocks = []
    for start, column in enumerate(plain):
        if column in binary:
            X[:, start] = table[column] == binary[column].one
            blocks.append(Block(column, start, start + 1, "binary", binary[column].names))
        else:
            X[:, start] = table[column]
            blocks.append(Block(column, start, start + 1, "number"))
    start, rows = len(plain), np.arange(len(table))
    for column, (codes, values) in found.items():
        X[rows, start + codes] = 1.0
        blocks.append(Block(column, start, start + len(values), "category", tuple(map(str, values))))
        start = blocks[-1].stop
    return _add_bins(X, blocks, bins) if bins else (X, tuple(blocks))
