"""The paper's experiments: their parameters, their published numbers, and ours beside them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairglvq import datasets
from fairglvq.datasets.files import bundled
from fairglvq.experiments.evaluation import Progress, iterate, split, summarise, tidy
from fairglvq.experiments.store import Store

MEASURES = ("accuracy", "statistical_parity", "equal_opportunity")

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


def published() -> pd.DataFrame:
    """Published means and spreads, with this project's names of data sets and methods."""
    table = pd.read_csv(bundled("published_results.csv"))
    for column in ("dataset", "method"):
        table[column] = table[column].str.lower()
    return table


def experiments(source: str, dataset: str | None = None) -> list[Experiment]:
    """What Table 1 or Figure 2 reports, in its order."""
    table = published()
    table = table[(table.source == source) & (True if dataset is None else table.dataset == dataset)]
    return [
        Experiment(row.dataset, row.method, None if np.isnan(row.strength) else float(row.strength))
        for row in table.itertuples()
    ]


def run(
    chosen: list[Experiment], seeds: list[int], folds: int = 5, *, store: Store | None, progress: Progress | None = None
) -> pd.DataFrame:
    """Rows of all experiments; runs on the joblib backend in force.

    A synthetic set is drawn anew for every seed; of a real one, only folds, starts and order change.
    """
    plans = list(_plans(chosen, seeds))
    total = sum(len(strengths or [None]) * len(plan_seeds) * folds for _, _, strengths, plan_seeds in plans)
    finished, rows = 0, []
    for load, method, strengths, plan_seeds in plans:
        data = load()
        before = finished

        def tell(done: int, _: int, before: int = before) -> None:
            if progress:
                progress(before + done, total)

        params = PARAMETERS[data.name]
        for row in iterate(data, method, strengths, folds, plan_seeds, store=store, params=params, progress=tell):
            rows.append(row)
            finished += 1
    return tidy(rows)


def _plans(chosen, seeds) -> Iterator[tuple[Callable[[], datasets.Dataset], str, list[float], list[int]]]:
    """(load, method, strengths, seeds): a method's strengths together, since they share their preparation."""
    for name in dict.fromkeys(experiment.dataset for experiment in chosen):
        synthetic = datasets.DATASETS[name].synthetic
        for method in dict.fromkeys(e.method for e in chosen if e.dataset == name):
            strengths = [
                e.strength for e in chosen if (e.dataset, e.method) == (name, method) and e.strength is not None
            ]
            if synthetic:
                for seed in seeds:
                    yield partial(datasets.load, name, seed=seed), method, strengths, [seed]
            else:
                yield partial(datasets.load, name), method, strengths, list(seeds)


def exhausted(dataset: str, chosen: list[Experiment]) -> str | None:
    """What to know of projections that are more than the training data have dimensions; None if there are none."""
    data = datasets.load(dataset)
    training, _, _ = split(data.X, data.y, data.s, 0, 0, 5)
    rank = int(np.linalg.matrix_rank(training.X))
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
