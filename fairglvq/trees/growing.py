"""Growing a tree best first: of all leaves, the one whose split gains most is split next."""

import heapq
from typing import NamedTuple

import numpy as np

from fairglvq.trees.binning import Binned
from fairglvq.trees.kernels import Aim, best_split, fill, goes_left
from fairglvq.trees.structure import LEAF, Tree

LEAST_GAIN = 1e-12
"""Gains are shares of a loss or nats per row; a smaller one is rounding."""


class Leaf(NamedTuple):
    """A leaf that may be split: its rows, the sums of their statistics, the same by bin, and its best split."""

    rows: np.ndarray
    total: np.ndarray  # (m,)
    histogram: np.ndarray  # (n_bins, m)
    gain: float
    feature: int
    last: int


class Split(NamedTuple):
    """One step of growing: which node was split, into which two, and what it gained."""

    node: int
    left: int
    right: int
    gain: float


def grow(binned: Binned, statistics: np.ndarray, aim: Aim, max_leaves: int) -> tuple[Tree, list[Split]]:
    """Split while a split gains something and there are fewer leaves than allowed; statistics (n, m) of all rows."""
    grower = _Grower(binned, statistics, aim)
    nodes = [grower.first()]
    children: dict[int, tuple[int, int]] = {}
    history: list[Split] = []
    waiting = [(-nodes[0].gain, 0)]
    while waiting and len(children) + 1 < max_leaves:
        gain, node = heapq.heappop(waiting)
        if -gain <= LEAST_GAIN:
            break
        children[node] = (len(nodes), len(nodes) + 1)
        nodes += grower.split(nodes[node])
        for child in children[node]:
            heapq.heappush(waiting, (-nodes[child].gain, child))
        history.append(Split(node, *children[node], -gain))
        nodes[node] = nodes[node]._replace(rows=nodes[node].rows[:0], histogram=nodes[node].histogram[:0])
    return _tree(binned, nodes, children), history


class _Grower(NamedTuple):
    binned: Binned
    statistics: np.ndarray
    aim: Aim

    def first(self) -> Leaf:
        rows = np.arange(len(self.statistics))
        total = self.statistics.sum(axis=0)
        return self._leaf(rows, total, self._histogram(rows, total))

    def split(self, leaf: Leaf) -> list[Leaf]:
        """The two halves of a leaf; only the smaller one is counted, the other is what is left."""
        left = np.empty(leaf.rows.size, np.bool_)
        goes_left(leaf.rows, self.binned.bins, leaf.feature, leaf.last, left)
        halves = [leaf.rows[left], leaf.rows[~left]]
        small = int(len(halves[0]) > len(halves[1]))
        total = self.statistics[halves[small]].sum(axis=0)
        histogram = self._histogram(halves[small], total)
        counted = self._leaf(halves[small], total, histogram)
        rest = self._leaf(halves[1 - small], leaf.total - total, leaf.histogram - histogram)
        return [rest, counted] if small else [counted, rest]

    def _histogram(self, rows, total) -> np.ndarray:
        histogram = np.empty((self.binned.bins.starts[-1], self.statistics.shape[1]))
        fill(rows, self.binned.bins, self.statistics, total, histogram)
        return histogram

    def _leaf(self, rows, total, histogram) -> Leaf:
        work = np.empty((2, len(total)))
        found = best_split(histogram, self.binned.bins.starts, total, self.aim, work[0], work[1])
        return Leaf(rows, total, histogram, *found)


def _tree(binned: Binned, nodes: list[Leaf], children: dict[int, tuple[int, int]]) -> Tree:
    feature, threshold = np.full(len(nodes), LEAF), np.full(len(nodes), np.nan)
    branches = np.full((2, len(nodes)), LEAF)
    for node, (left, right) in children.items():
        leaf = nodes[node]
        feature[node], threshold[node] = leaf.feature, binned.threshold(leaf.feature, leaf.last)
        branches[:, node] = left, right
    return Tree(feature, threshold, branches[0], branches[1])
