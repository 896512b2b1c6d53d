"""The compiled loops of a tree: histograms of statistics over bins, the best split of a leaf, and who goes left.

A row is a list of bins, one per feature whose bin is not the feature's usual one. Every bin has one number, features
one after the other: those of feature f are ``starts[f]`` to ``starts[f + 1] - 1``.

The statistics of a row are columns: 1, then what describes its target, then what describes its protected value. For
labels these are indicators, for a continuous value the value itself. Sums of them over the rows of a leaf are all that
a loss needs.
"""

from typing import NamedTuple

import numpy as np

from fairglvq.lvq.kernels import entry, part


class Bins(NamedTuple):
    """Rows as lists of bins."""

    indptr: np.ndarray  # (n + 1,) where the list of each row begins
    bins: np.ndarray  # of all rows, each list in ascending order
    starts: np.ndarray  # (d + 1,) first bin of each feature
    usual: np.ndarray  # (d,) the bin of a feature that is in no list


class Aim(NamedTuple):
    """What a split is to maximise: ``weights[0]`` times the gain on the target less ``weights[1]`` times the other."""

    stops: np.ndarray  # (2,) columns of statistics: target [1, stops[0]), protected value [stops[0], stops[1])
    weights: np.ndarray  # (2,)
    entropy: bool
    smallest: int  # rows that a leaf must have


@entry
def fill(rows, bins, statistics, total, histogram):
    """Sum up the statistics (n, m) of these rows by bin, (n_bins, m); ``total`` (m,) are their sums over the rows."""
    histogram[:] = 0.0
    for position in range(rows.size):
        i = rows[position]
        for place in range(bins.indptr[i], bins.indptr[i + 1]):
            b = bins.bins[place]
            for m in range(statistics.shape[1]):
                histogram[b, m] += statistics[i, m]
    for f in range(bins.usual.size):
        usual = bins.usual[f]
        for m in range(statistics.shape[1]):
            listed = 0.0
            for b in range(bins.starts[f], bins.starts[f + 1]):
                listed += histogram[b, m]
            histogram[usual, m] = total[m] - listed


@part
def purity(sums, first, stop, entropy):
    """Minus the loss of a leaf with the best constant answer, up to a term that no split changes.

    v being the sums of the columns, it is sum v log(v / n) for entropy. Otherwise it is sum v² / n: as a split grows,
    Gini impurity and variance (times n) fall by as much as this rises.
    """
    n, total = sums[0], 0.0
    for m in range(first, stop):
        v = sums[m]
        if entropy:
            if v > 0.0:
                total += v * np.log(v / n)
        else:
            total += v * v / n
    return total


@part
def objective(sums, aim):
    """Purity in the target less purity in the protected value, weighted: eq. (4) with the opposite sign."""
    value = aim.weights[0] * purity(sums, 1, aim.stops[0], aim.entropy)
    if aim.weights[1] != 0.0:
        value -= aim.weights[1] * purity(sums, aim.stops[0], aim.stops[1], aim.entropy)
    return value


@entry
def best_split(histogram, starts, total, aim, left, right):
    """The best split of a leaf: its gain, its feature, and the last bin that goes left; -1 where none is allowed.

    At a tie the first one wins. ``left`` and ``right`` (m,) are work space.
    """
    best, feature, last = -np.inf, -1, -1
    before = objective(total, aim)
    for f in range(starts.size - 1):
        left[:] = 0.0
        for b in range(starts[f], starts[f + 1] - 1):
            empty = histogram[b, 0] == 0.0
            for m in range(left.size):
                left[m] += histogram[b, m]
                right[m] = total[m] - left[m]
            if empty or left[0] < aim.smallest:
                continue
            if right[0] < aim.smallest:
                break
            gain = objective(left, aim) + objective(right, aim) - before
            if gain > best:
                best, feature, last = gain, f, b
    return best, feature, last


@entry
def goes_left(rows, bins, feature, last, answers):
    """Mark in ``answers`` (n_rows,) whose bin of a feature is at most ``last``."""
    first, stop = bins.starts[feature], bins.starts[feature + 1]
    for position in range(rows.size):
        i, own = rows[position], bins.usual[feature]
        for place in range(bins.indptr[i], bins.indptr[i + 1]):
            b = bins.bins[place]
            if b >= first:
                if b < stop:
                    own = b
                break
        answers[position] = own <= last
