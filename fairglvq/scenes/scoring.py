"""Who is decided how by prototypes, and the numbers made of it; everything in all dimensions of the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairglvq.fairness.metrics import gaps_from_counts
from fairglvq.lvq import kernels
from fairglvq.lvq.trainer import as_rows, squared_distances

if TYPE_CHECKING:
    from fairglvq.scenes.scene import Run, Scene, Table


def decided(rows: kernels.Rows, W: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The class (n,) of everybody's nearest prototype."""
    return labels[squared_distances(rows, W).argmin(axis=1)].astype("u1")


def tallied(table: Table, decisions: np.ndarray) -> np.ndarray:
    """Counts (F, G, K, K) of measured people by group, truth and decision."""
    G, K = len(table.groups), len(table.classes)
    y, s = table.y[table.measured], table.s[table.measured]
    cells = ((s * K + y) * K)[None] + decisions
    return np.stack([np.bincount(row, minlength=G * K * K) for row in cells]).reshape(-1, G, K, K).astype("u4")


def changed_decisions(table: Table, before: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Counts (F, G, K, 2) by group and truth: who gained, who lost the favourable decision against `before`."""
    G, K = len(table.groups), len(table.classes)
    cells = table.s[table.measured] * K + table.y[table.measured]
    had, has = before == table.favourable, decisions == table.favourable
    changes = [[np.bincount(cells[mask], minlength=G * K) for mask in (now & ~had, had & ~now)] for now in has]
    return np.array(changes).transpose(0, 2, 1).reshape(-1, G, K, 2).astype("u4")


class Score(NamedTuple):
    """Measured on held-out points; None where a gap has nobody to compare."""

    accuracy: float
    statistical_parity: float | None
    equal_opportunity: float | None


def score(table: Table, decisions: np.ndarray) -> Score:
    """Exact numbers of decisions about the measured points."""
    counts = tallied(table, decisions[None])[0].astype(int)
    favourable = np.arange(len(table.classes)) == table.favourable
    fold = np.stack([~favourable, favourable]).astype(int)  # (2, K): not favourable, favourable
    folded = fold @ counts @ fold.T  # (G, 2, 2)
    gaps = gaps_from_counts(folded[folded.sum(axis=(1, 2)) > 0])
    right = np.trace(counts, axis1=1, axis2=2).sum() / counts.sum()
    return Score(float(right), _known(gaps.statistical_parity), _known(gaps.equal_opportunity))


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def nearest(run: Run, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Whose cell everybody (n, d) is in, with prototypes W (P, d) in the run's own space."""
    return squared_distances(as_rows(run.see(X)), W).argmin(axis=1)


def decide(table: Table, run: Run, W: np.ndarray) -> np.ndarray:
    """Classes that prototypes W (P, d), in the run's own space, decide for the measured points."""
    return labels_of(table, W)[nearest(run, table.X[table.measured], W)].astype("u1")


def labels_of(table: Table, W: np.ndarray) -> np.ndarray:
    """Classes of prototypes (P, d), which come class by class."""
    return np.repeat(np.arange(len(table.classes)), len(W) // len(table.classes))


def final_scores(scene: Scene) -> dict[str, Score]:
    """Every method at the end of its training."""
    return {key: score(scene.table, decide(scene.table, run, run.prototypes[-1])) for key, run in scene.runs.items()}
