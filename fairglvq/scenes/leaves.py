"""FairTree in a scene: on drawn data split by split, each leaf a rectangle of the plane; on real data when fully grown.

Leaves of real data are boxes of many dimensions. No plane shows them as they are, so they have no picture on the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairglvq.fairness.cells import count, majority
from fairglvq.scenes.points import Points
from fairglvq.scenes.settings import Settings
from fairglvq.trees.structure import Tree


class Leaves(NamedTuple):
    """M trees with P leaves at most, from left to right; where a tree has fewer, places and boxes are NaN."""

    places: np.ndarray  # (M, P, d) mean of the training points in the leaf
    boxes: np.ndarray  # (M, P, d, 2) per axis: above the first border and up to the second
    labels: np.ndarray  # (M, P) classes
    pseudo: np.ndarray  # (M, P) majority groups
    last: Tree


def grown(settings: Settings, points: Points, C: float) -> Any:
    """FairTree on the training points."""
    from fairglvq.trees.fair_tree import FairTree  # scikit-learn: two seconds at first use

    learn = ~points.held_out
    tree = FairTree(settings.leaves, C=C)
    return tree.fit(points.X[learn], points.y[learn], sensitive_features=points.s[learn])


def leaves_of(trees: Sequence[Tree], points: Points, most: int) -> Leaves:
    """The leaves of some trees, with answers and groups by vote of the training points."""
    learn = ~points.held_out
    X, y, s = points.X[learn], points.y[learn], points.s[learn]
    M, d = len(trees), X.shape[1]
    found = Leaves(
        np.full((M, most, d), np.nan), np.full((M, most, d, 2), np.nan), np.zeros((M, most), int),
        np.zeros((M, most), int), trees[-1],
    )  # fmt: skip
    for number, tree in enumerate(trees):
        cells, P = tree.apply(X), len(tree.leaves)
        counts = count((P, len(points.classes), len(points.groups)), cells, y, s)
        sums = np.stack([np.bincount(cells, weights=column, minlength=P) for column in X.T], axis=1)
        found.places[number, :P] = sums / counts.sum(axis=(1, 2))[:, None]
        found.boxes[number, :P] = tree.boxes(d)
        found.labels[number, :P] = majority(counts)
        found.pseudo[number, :P] = counts.sum(axis=1).argmax(axis=1)
    return found
