"""The paper's experiments: their parameters, their published numbers, and ours beside them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairglvq import datasets
from fairglvq.datasets.files import bundled
from fairglvq.experiments import methods, sweep
from fairglvq.experiments.engine import Engine, Progress
from fairglvq.experiments.evaluation import MEASURES, summarise, tidy
from fairglvq.experiments.fold import training_fold
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import Sweep

if TYPE_CHECKING:
    import pandas as pd

# In print: prototypes, batch size, learning rate, epochs, alpha. From the published runs: the step that the learning
# rate belongs to, and mini-batches as consecutive slices.
_PUBLISHED_STEP = {"step": "published", "shuffle": False, "alpha": 2.0, "beta": 2.0}
PARAMETERS: dict[str, dict[str, Any]] = {
    "local": {"n_prototypes": 5, "batch_size": 250, "learning_rate": 0.005, "max_epochs": 250} | _PUBLISHED_STEP,
    "xor": {"n_prototypes": 4, "batch_size": 250, "learning_rate": 0.005, "max_epochs": 250} | _PUBLISHED_STEP,
    "compas": {"n_prototypes": 20, "batch_size": 200, "learning_rate": 0.05, "max_epochs": 500} | _PUBLISHED_STEP,
    "adult": {"n_prototypes": 20, "batch_size": 1000, "learning_rate": 0.05, "max_epochs": 500} | _PUBLISHED_STEP,
}


@dataclass(frozen=True)
class Experiment:
    """One published row: a method on a data set at a strength."""

    dataset: str
    method: str
    strength: float | None


def _published_rows() -> list[dict[str, Any]]:
    """The rows of `published`, NaN where the paper gives no number; without pandas, because links need them too."""
    with bundled("published_results.csv").open(encoding="utf-8", newline="") as file:
        return [
            {"source": row.pop("source"), "dataset": row.pop("dataset").lower(), "method": row.pop("method").lower()}
            | {name: float(text or "nan") for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def published() -> pd.DataFrame:
    """Published means and spreads, with this project's names of data sets and methods."""
    import pandas as pd

    return pd.DataFrame(_published_rows())


def experiments(source: str, dataset: str | None = None) -> list[Experiment]:
    """What Table 1 or Figure 2 reports, in its order."""
    return [
        Experiment(row["dataset"], row["method"], None if np.isnan(row["strength"]) else row["strength"])
        for row in _published_rows()
        if row["source"] == source and dataset in (None, row["dataset"])
    ]


DENSE_C = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5)
"""Thirteen strengths of FairGLVQ, from plain GLVQ to too much; trained on the plane in a moment."""


def paper_sweep(dataset: str) -> Sweep:
    """The paper's experiment on this data set, with all its strengths; on the plane, whole curves through them."""
    if dataset in ("local", "xor"):
        strengths: dict[str, Sequence[float]] = {"const": (), "glvq": (), "inp": (0, 1), "fairglvq": DENSE_C}
        return sweep.of(dataset, strengths, seeds=(0, 1, 2), **PARAMETERS[dataset])
    return _sweep_of([Experiment(dataset, "glvq", None), *experiments("Figure 2", dataset)], dataset)


TABLE1_SEEDS = tuple(range(10))
"""How often every cell of Table 1 is repeated: its gaps depend on folds and starts more than on anything else."""

STEPS: dict[str, dict[str, Any]] = {
    "published step": {},
    "Algorithm 1": {"step": "algorithm"},
    "Algorithm 1, larger η": {"step": "algorithm", "learning_rate": 0.03},
}
"""Readings of how far a step goes, by what they change in PARAMETERS."""


def table1_sweep(dataset: str, step: str = "published step", seeds: Sequence[int] = TABLE1_SEEDS) -> Sweep:
    """Table 1's cells on Local or XOR; with another step than the published one, FairGLVQ alone."""
    chosen = experiments("Table 1", dataset)
    if not STEPS[step]:
        return _sweep_of(chosen, dataset, seeds=seeds)
    plan = _sweep_of([e for e in chosen if e.method == "fairglvq"], dataset, seeds=seeds)
    return replace(plan, params=tuple((dict(plan.params) | STEPS[step]).items()))


def cell_sweep(cell: Experiment, seeds: int = 1) -> Sweep:
    """One published number anew: five folds for each of so many seeds."""
    return _sweep_of([cell], cell.dataset, seeds=range(seeds))


def step_ratio(dataset: str) -> float:
    """By how much a published step is longer than one of Algorithm 1 with the same η.

    The sums of pulls are divided by 4 x prototypes x labels instead of 2 updates per point of the batch.
    """
    params = PARAMETERS[dataset]
    return 2 * params["batch_size"] / (4 * 2 * params["n_prototypes"] * 2)


def _sweep_of(chosen: list[Experiment], dataset: str, folds: int = 5, seeds: Sequence[int] = (0,)) -> Sweep:
    """All experiments on one data set: the models of a method together, since they share their preparation."""
    strengths = {
        method: [e.strength for e in chosen if (e.dataset, e.method) == (dataset, method) and e.strength is not None]
        for method in methods.METHODS
        if any((e.dataset, e.method) == (dataset, method) for e in chosen)
    }
    return sweep.of(dataset, strengths, folds=folds, seeds=seeds, **PARAMETERS[dataset])


def run(
    engine: Engine, chosen: list[Experiment], seeds: Sequence[int], folds: int = 5, *, store: Store | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Rows of all experiments.

    A synthetic set is drawn anew for every seed; of a real one, only folds, starts and order change.
    """
    plans = []
    for name in dict.fromkeys(experiment.dataset for experiment in chosen):
        if datasets.DATASETS[name].synthetic:
            plans += [(_sweep_of(chosen, name, folds, [seed]), datasets.load(name, seed=seed)) for seed in seeds]
        else:
            plans.append((_sweep_of(chosen, name, folds, seeds), datasets.load(name)))
    return tidy(row for rows in engine.compute_all(plans, store=store, progress=progress) for row in rows)


def exhausted(dataset: str, chosen: list[Experiment]) -> str | None:
    """What to know of projections that are more than the training data have dimensions; None if there are none."""
    rank = int(np.linalg.matrix_rank(training_fold(datasets.load(dataset)).X))
    beyond = [f"{e.strength:g}" for e in chosen if e.method == "inp" and e.strength is not None and e.strength >= rank]
    if not beyond:
        return None
    return (
        f"INP with {' or '.join(beyond)} projections: the first training fold has rank {rank}, so nothing is left "
        "of it and ours is the constant classifier. The published numbers there look like rounding noise, scaled up."
    )


def compare(source: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Published and own mean ± spread side by side, and by how many combined spreads they differ.

    ``..._off`` is |own - published| / sqrt(sd_own² + sd_published²), NaN where the paper gives no number.
    """
    ours = summarise(rows).rename(columns=lambda name: f"own_{name}" if name.rsplit("_", 1)[0] in MEASURES else name)
    theirs = published()
    theirs = theirs[(theirs.source == source) & theirs.dataset.isin(ours.dataset)].drop(columns="source")
    table = theirs.merge(ours, on=["dataset", "method", "strength"], how="inner")
    for measure in MEASURES:
        gap = (table[f"own_{measure}_mean"] - table[f"{measure}_mean"]).abs()
        # The paper prints two decimals in Table 1 and four behind Figure 2: a spread of "0.00" may hide half of that.
        rounding = 0.005 if source == "Table 1" else 0.00005
        spread = np.sqrt(table[f"own_{measure}_std"] ** 2 + np.maximum(table[f"{measure}_std"], rounding) ** 2)
        table[f"{measure}_off"] = gap / spread
    return table
