"""How accurate methods are at a bounded gap, beside the limit line: the same folds and columns for everybody."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets import DATASETS, Dataset, load
from fairglvq.experiments.engine import Engine
from fairglvq.experiments.evaluation import tidy
from fairglvq.experiments.sweep import BINS, of
from fairglvq.fairness import limit
from fairglvq.tradeoff.comparison import within
from fairglvq.tradeoff.curve import rows_of, summary

PARITIES = (0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 1.0)
METHODS = ("paritylvq", "exponentiated_gradient")
BOUNDS = (0.05, 0.1)


def load_binned(name: str, bins: int = BINS) -> Dataset:
    """The data set, with numbers in bins too where it is a real one."""
    return load(name) if DATASETS[name].synthetic else load(name, bins=bins)


def run(engine: Engine, data: Dataset, folds: int, **kept) -> pd.DataFrame:
    """Cross-validate METHODS at PARITIES."""
    return tidy(engine.compute(of(data.name, dict.fromkeys(METHODS, PARITIES), folds=folds), data, **kept))


def limit_line(data: Dataset) -> limit.Limit:
    """Exact where densities are known, else estimated."""
    return limit.known(data.name) if DATASETS[data.name].synthetic else limit.estimate(data)


def sentences(rows: pd.DataFrame, line: limit.Limit) -> list[str]:
    """A line per bound: the limit, each method, and their difference fold by fold."""
    table, lines = summary(rows), []
    for bound in BOUNDS:
        best = {method: rows_of(rows, method, strength) for method, strength in within(table, bound)}
        parts = [f"gap up to {bound:.2f}: limit {line.at(bound):.3f}"]
        for method in METHODS:
            if method in best:
                accuracy, gap = best[method][["accuracy", "statistical_parity"]].mean()
                parts.append(f"{method} {accuracy:.3f} / {gap:.3f} (parity {best[method].strength.iloc[0]:g})")
            else:
                parts.append(f"{method}: no strength keeps to it")
        if len(best) == len(METHODS):
            mine, other = (best[method].sort_values("fold").accuracy.to_numpy() for method in METHODS)
            lead = mine - other
            parts.append(f"lead {lead.mean():+.3f} ± {lead.std(ddof=1) / np.sqrt(len(lead)):.3f}")
        lines.append(", ".join(parts))
    return lines
