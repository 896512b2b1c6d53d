"""Features in bins, so that a split is found in one pass over them; sparse columns are never filled in."""

from typing import NamedTuple

import numpy as np

from fairglvq.trees.kernels import Bins

MAX_BINS = 255
"""Bins per feature. A feature with at most so many values has one bin per value: no split is lost then."""


class Binned(NamedTuple):
    """Rows in bins, and the cuts between the bins of each feature: a value belongs left of a cut if it is no larger."""

    bins: Bins
    cuts: list[np.ndarray]

    def threshold(self, feature: int, last: int) -> float:
        """The cut behind a bin."""
        return float(self.cuts[feature][last - self.bins.starts[feature]])


def cuts_between(values: np.ndarray, zeros: int, most: int = MAX_BINS) -> np.ndarray:
    """Cuts that part ``values`` (and so many zeros beside them) into at most so many bins of about equal size.

    A cut is the middle between two values that occur.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if zeros:
        distinct, place = np.unique(np.append(distinct, 0.0), return_inverse=True)
        counts = np.bincount(place, weights=np.append(counts, zeros))
    if len(distinct) > most:
        ends = np.searchsorted(np.cumsum(counts), counts.sum() * np.arange(1, most) / most)
        ends = np.unique(ends[ends < len(distinct) - 1])
    else:
        ends = np.arange(len(distinct) - 1)
    below, above = distinct[ends], distinct[ends + 1]
    middle = below + (above - below) / 2
    return np.where(middle < above, middle, below)  # two neighbours among floats have no middle


def binned(X) -> Binned:
    """Bins of an array (n, d) or a CSR matrix."""
    from scipy.sparse import coo_array, csc_array

    n, d = X.shape
    dense = isinstance(X, np.ndarray)
    columns = X if dense else csc_array(X)
    everybody, cuts, usual, parts, starts = np.arange(n), [], [], [], [0]
    for f in range(d):
        rows, values = (everybody, columns[:, f]) if dense else _stored(columns, f)
        cuts.append(cuts_between(values, n - len(values)))
        codes = np.searchsorted(cuts[-1], values)
        # What is not listed must be one bin: that of the zeros that are not stored, else the fullest.
        apart = int(np.bincount(codes).argmax()) if dense else int(np.searchsorted(cuts[-1], 0.0))
        usual.append(starts[-1] + apart)
        listed = codes != apart
        parts.append((starts[-1] + codes[listed], rows[listed], np.full(np.count_nonzero(listed), f)))
        starts.append(starts[-1] + len(cuts[-1]) + 1)
    numbers, rows, features = (np.concatenate(part) for part in zip(*parts, strict=True))
    table = coo_array((numbers.astype(np.int32), (rows, features)), shape=(n, d)).tocsr()
    return Binned(Bins(table.indptr.astype(np.int64), table.data, np.array(starts), np.array(usual)), cuts)


def _stored(columns, f: int):
    part = slice(columns.indptr[f], columns.indptr[f + 1])
    return columns.indices[part], columns.data[part]
