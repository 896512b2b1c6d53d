"""How accurate methods are at a bounded gap, beside the limit line: the same folds and columns for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairglvq.datasets import DATASETS, Dataset, load
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.evaluation import tidy
from fairglvq.experiments.sweep import BINS, of
from fairglvq.fairness import limit

if TYPE_CHECKING:
    import pandas as pd

PARITIES = (0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 1.0)
METHODS = ("paritylvq", "exponentiated_gradient")
BOUNDS = (0.05, 0.1)


class AtBound(NamedTuple):
    """Of all strengths whose mean gap keeps to a bound, the one with the highest mean accuracy."""

    strength: float
    gap: float
    accuracy: np.ndarray  # (folds,)


def load_binned(name: str, bins: int = BINS) -> Dataset:
    """The data set, with numbers in bins too where it is a real one."""
    return load(name) if DATASETS[name].synthetic else load(name, bins=bins)


def run(engine: Engine, data: Dataset, folds: int, **kept) -> pd.DataFrame:
    """Cross-validate METHODS at PARITIES."""
    return tidy(engine.compute(of(data.name, dict.fromkeys(METHODS, PARITIES), folds=folds), data, **kept))


def limit_line(data: Dataset) -> limit.Limit:
    """Exact where densities are known, else estimated."""
    return limit.known(data.name) if DATASETS[data.name].synthetic else limit.estimate(data)


def at_bound(rows: pd.DataFrame, method: str, bound: float) -> AtBound | None:
    """The best of a method within a bound; None if no strength keeps to it."""
    mine = rows[rows.method == method]
    means = mine.groupby("strength")[["accuracy", "statistical_parity"]].mean()
    within = means[means.statistical_parity <= bound]
    if within.empty:
        return None
    strength = within.accuracy.idxmax()
    chosen = mine[mine.strength == strength].sort_values("fold")
    return AtBound(float(strength), float(within.statistical_parity[strength]), chosen.accuracy.to_numpy())


def sentences(rows: pd.DataFrame, line: limit.Limit) -> list[str]:
    """A line per bound: the limit, each method, and their difference fold by fold."""
    said = []
    for bound in BOUNDS:
        best = {method: at_bound(rows, method, bound) for method in METHODS}
        parts = [f"gap up to {bound:.2f}: limit {line.at(bound):.3f}"]
        for method, found in best.items():
            parts.append(
                f"{method} {found.accuracy.mean():.3f} / {found.gap:.3f} (parity {found.strength:g})"
                if found
                else f"{method}: no strength keeps to it"
            )
        mine, other = (best[method] for method in METHODS)
        if mine and other:
            lead = mine.accuracy - other.accuracy
            parts.append(f"lead {lead.mean():+.3f} ± {lead.std(ddof=1) / np.sqrt(len(lead)):.3f}")
        said.append(", ".join(parts))
    return said
