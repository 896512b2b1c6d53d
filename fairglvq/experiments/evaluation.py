"""Folds x strengths x seeds -> tidy rows: cross-validation of one method, and what each of its models is trained on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairglvq.datasets import Dataset
from fairglvq.datasets.split import Scaling, fold_seed, hold_out_fold
from fairglvq.experiments import methods
from fairglvq.experiments.engine import Engine, Progress
from fairglvq.experiments.store import RowKey, Store
from fairglvq.experiments.sweep import Sweep, checked_seeds, checked_strengths
from fairglvq.fairness import metrics

if TYPE_CHECKING:
    import pandas as pd  # half a second that only tables need

COLUMNS = (
    "dataset", "method", "strength", "fold", "seed", "accuracy", "statistical_parity", "equal_opportunity", "seconds",
)  # fmt: skip


def evaluate(
    data: Dataset,
    method: str = "fairglvq",
    strengths: Sequence[float] = (0, 0.5, 1),
    folds: int = 5,
    seed: int | Sequence[int] = 0,
    *,
    store: Store | str | os.PathLike | None = None,
    n_jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
    **params,
) -> pd.DataFrame:
    """Cross-validate a method at each strength; one row per strength, fold and seed.

    ``params`` are the estimators'; the method takes those it has. ``seed`` may be several: each shuffles folds, starts
    and batches anew. Rows are kept only in a ``store``, a file or a Store; those that it has are not computed again.
    ``n_jobs=1`` trains in this process and a larger number on so many worker processes; None begins in this process and
    starts a worker process per core if there is work for more than some seconds. ``cluster`` (or $FAIRGLVQ_CLUSTER),
    the address of a Dask scheduler, sends the work there instead. ``progress`` is called with rows done and rows in
    all.
    """
    chosen = ((method, checked_strengths(method, strengths)),)
    sweep = Sweep(data.name, chosen, folds, checked_seeds(seed), tuple(params.items()))
    kept = store if isinstance(store, Store) else Store(store) if store else None
    with Engine(n_jobs, cluster) as engine:
        return tidy(engine.compute(sweep, data, store=kept, progress=progress))


def tidy(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table of COLUMNS, in an order that does not depend on which of them finished first."""
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    return table.sort_values(["dataset", "method", "seed", "strength", "fold"], ignore_index=True)


def prepare(X, y, s, favourable, key: RowKey, strengths: Sequence[float]):
    """What a method makes once for all strengths of a fold and seed, those of the key."""
    from threadpoolctl import threadpool_limits

    fold, _, _ = split(X, y, s, key.seed, key.fold, key.folds, favourable)
    with threadpool_limits(1):  # folds are trained side by side already
        return methods.get(key.method).prepare(fold, strengths, key.params)


def train_and_assess(X, y, s, favourable, key: RowKey, prepared) -> dict[str, Any]:
    """The numbers of one model, trained and measured on its test fold."""
    from threadpoolctl import threadpool_limits

    fold, X_test, test = split(X, y, s, key.seed, key.fold, key.folds, favourable)
    method = methods.get(key.method)
    start = time.perf_counter()
    with threadpool_limits(1):
        model = method.fit(fold, prepared, key.strength, key.params)
    seconds = time.perf_counter() - start
    return assess(y[test], method.decide(model, X_test, s[test]), s[test], favourable) | {"seconds": seconds}


def split(
    X, y, s, seed: int, fold: int, folds: int, favourable=None
) -> tuple[methods.TrainingFold, np.ndarray, np.ndarray]:
    """Training fold, test points and the mask (n,) of test rows; features scaled to [0, 1] on the training fold."""
    test = hold_out_fold(y, folds, fold, seed)
    scaling = Scaling.fit(X[~test])
    training = methods.TrainingFold(scaling.apply(X[~test]), y[~test], s[~test], fold_seed(seed, fold), favourable)
    return training, scaling.apply(X[test]), test


def assess(y_true, y_pred, s, favourable) -> dict[str, Any]:
    """The numbers of one model on one test fold."""
    _, counts = metrics.count_table(y_true, y_pred, sensitive_features=s, favourable=favourable)
    gaps = metrics.gaps_from_counts(counts)
    return {
        "accuracy": float(np.mean(y_true == y_pred)),
        "statistical_parity": float(gaps.statistical_parity),
        "equal_opportunity": float(gaps.equal_opportunity),
        "equalized_odds": float(gaps.equalized_odds),
        "counts": counts.tolist(),
    }


def summarise(rows: pd.DataFrame, by: Iterable[str] = ("dataset", "method", "strength")) -> pd.DataFrame:
    """Mean and (population) standard deviation over folds and seeds of each measure."""
    measures = ["accuracy", "statistical_parity", "equal_opportunity"]
    grouped = rows.groupby(list(by), dropna=False, sort=False)[measures]
    means, spreads = grouped.mean().add_suffix("_mean"), grouped.std(ddof=0).add_suffix("_std")
    return means.join(spreads).assign(n=grouped.size()).reset_index()
