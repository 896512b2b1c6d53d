"""Decisions of prototypes about the points of a scene, and the scores of these decisions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairglvq.fairness.cells import count
from fairglvq.fairness.metrics import gaps_from_counts
from fairglvq.lvq.trainer import as_rows, nearest_prototypes
from fairglvq.scenes.points import Points
from fairglvq.scenes.training import Training


def tallied(points: Points, decisions: np.ndarray) -> np.ndarray:
    """Counts (F, G, K, K) of measured points by group, true label and decision; decisions are (F, n measured)."""
    G, K = len(points.groups), len(points.classes)
    y, s = points.y[points.measured], points.s[points.measured]
    return np.stack([count((G, K, K), s, y, row) for row in decisions]).astype("u4")


def changed_decisions(points: Points, before: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Counts (F, G, K, 2) by group and true label: favourable decisions gained and lost compared with `before`."""
    G, K = len(points.groups), len(points.classes)
    y, s = points.y[points.measured], points.s[points.measured]
    had, has = before == points.favourable, decisions == points.favourable
    gained, lost = ([count((G, K), s[who], y[who]) for who in changed] for changed in (has & ~had, had & ~has))
    return np.stack([gained, lost], axis=-1).astype("u4")


class Score(NamedTuple):
    """Accuracy and gaps on the measured points; None for a gap without two groups to compare."""

    accuracy: float
    statistical_parity: float | None
    equal_opportunity: float | None


def score(points: Points, decisions: np.ndarray) -> Score:
    """Score of decisions (n measured,)."""
    return score_of_counts(points, tallied(points, decisions[None])[0])


def score_of_counts(points: Points, tally: np.ndarray) -> Score:
    """Score of counts (G, K, K) by group, true label and decision."""
    counts = tally.astype(int)
    favourable = np.arange(len(points.classes)) == points.favourable
    merge = np.stack([~favourable, favourable]).astype(int)  # (2, K): not favourable, favourable
    merged = merge @ counts @ merge.T  # (G, 2, 2)
    gaps = gaps_from_counts(merged[merged.sum(axis=(1, 2)) > 0])
    right = np.trace(counts, axis1=1, axis2=2).sum() / counts.sum()
    return Score(float(right), _known(gaps.statistical_parity), _known(gaps.equal_opportunity))


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def nearest(training: Training, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Nearest of the prototypes W (P, d), given in the model's space, of every point X (n, d)."""
    return nearest_prototypes(as_rows(training.see(X)), W)


def decide(points: Points, training: Training, W: np.ndarray) -> np.ndarray:
    """Classes that prototypes W (P, d), given in the model's space, decide for the measured points."""
    return labels_of(points, W)[nearest(training, points.X[points.measured], W)].astype("u1")


def final_decisions(points: Points, training: Training) -> np.ndarray:
    """Classes that the model at the end of a training decides for the measured points."""
    if training.leaves is None:
        return decide(points, training, training.prototypes[-1])
    return training.leaves.labels[-1][training.leaves.last.apply(points.X[points.measured])].astype("u1")


def labels_of(points: Points, W: np.ndarray) -> np.ndarray:
    """Classes (P,) of prototypes (P, d), which are sorted by class."""
    return np.repeat(np.arange(len(points.classes)), len(W) // len(points.classes))
