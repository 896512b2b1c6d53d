"""A binary tree as arrays: who falls into which leaf, and the tree as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAF = -1
"""In place of a feature or a child: there is none, the node is a leaf."""


class Condition(NamedTuple):
    """A side of a split: the feature is at most the threshold (``left``), or above it."""

    feature: int
    threshold: float
    left: bool


@dataclass(frozen=True, eq=False)
class Tree:
    """A row goes left where ``x[feature] <= threshold``. Leaves are numbered from left to right.

    Each array has an entry per node; node 0 is the root.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that are leaves, from left to right."""
        return np.array([node for node, _ in self.walk() if self.feature[node] == LEAF])

    def walk(self) -> Iterator[tuple[int, tuple[Condition, ...]]]:
        """Every node with the conditions that lead to it: parents first, left before right."""
        waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            yield node, path
            if self.feature[node] != LEAF:
                split = int(self.feature[node]), float(self.threshold[node])
                waiting.append((int(self.right[node]), (*path, Condition(*split, False))))
                waiting.append((int(self.left[node]), (*path, Condition(*split, True))))

    @property
    def paths(self) -> list[tuple[Condition, ...]]:
        """The conditions of each leaf, from left to right."""
        return [path for node, path in self.walk() if self.feature[node] == LEAF]

    def early(self, n_splits: int) -> Tree:
        """The tree as it was after so many splits of a tree that was grown: nodes are numbered as they came up."""
        nodes = slice(2 * n_splits + 1)
        split = (self.feature[nodes] != LEAF) & (self.right[nodes] <= 2 * n_splits)
        return Tree(
            np.where(split, self.feature[nodes], LEAF),
            np.where(split, self.threshold[nodes], np.nan),
            np.where(split, self.left[nodes], LEAF),
            np.where(split, self.right[nodes], LEAF),
        )

    def boxes(self, n_features: int) -> NDArray[np.float64]:
        """Each leaf as a box (n_leaves, n_features, 2): above the first border and up to the second, if any."""
        boxes = np.tile([-np.inf, np.inf], (len(self.leaves), n_features, 1))
        for box, path in zip(boxes, self.paths, strict=True):
            for feature, threshold, left in path:
                side, tighter = (1, min) if left else (0, max)
                box[feature, side] = tighter(box[feature, side], threshold)
        return boxes

    def apply(self, X) -> NDArray[np.intp]:
        """The leaf (n,) of each row of an array or CSR matrix (n, d)."""
        return self._descend(X, [(0, np.arange(X.shape[0]))])

    def runner_up(self, X) -> NDArray[np.intp]:
        """The leaf (n,) under the sibling of each row's own leaf; of a tree with one leaf this one."""
        own = self.leaves[self.apply(X)]
        sibling = np.zeros(len(self.feature), np.intp)
        split = np.flatnonzero(self.feature != LEAF)
        sibling[self.left[split]], sibling[self.right[split]] = self.right[split], self.left[split]
        return self._descend(X, [(int(sibling[node]), np.flatnonzero(own == node)) for node in self.leaves])

    def _descend(self, X, waiting) -> NDArray[np.intp]:
        """The leaf of each row, from pairs of a node and the rows that start there."""
        used = np.unique(self.feature[self.feature != LEAF])
        columns = X[:, used] if isinstance(X, np.ndarray) else X[:, used].toarray()
        place = np.full(len(self.feature), LEAF)
        place[self.leaves] = np.arange(len(self.leaves))
        found = np.empty(X.shape[0], np.intp)
        while waiting:
            node, rows = waiting.pop()
            if self.feature[node] == LEAF:
                found[rows] = place[node]
                continue
            below = columns[rows, np.searchsorted(used, self.feature[node])] <= self.threshold[node]
            waiting += [(int(self.left[node]), rows[below]), (int(self.right[node]), rows[~below])]
        return found

    def text(self, names: Sequence[str], answer: Callable[[int], str], decimals: int) -> str:
        """A line per condition and leaf, indented by depth; ``answer`` gives the words of a leaf by its number."""
        lines, leaf = [], 0
        for node, path in self.walk():
            indent = "|   " * (len(path) - 1)
            if path:
                sign = "<=" if path[-1].left else "> "
                lines.append(f"{indent}|--- {names[path[-1].feature]} {sign} {path[-1].threshold:.{decimals}f}")
            if self.feature[node] == LEAF:
                lines.append(f"{'|   ' * len(path)}|--- {answer(leaf)}")
                leaf += 1
        return "\n".join(lines)
