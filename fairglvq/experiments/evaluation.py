"""Folds x strengths x seeds -> tidy rows, on threads, processes or a Dask cluster, with finished rows kept at once."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import pandas as pd

from fairglvq.datasets import Dataset
from fairglvq.datasets.split import Scaling, fold_seed, hold_out_fold
from fairglvq.experiments import methods
from fairglvq.experiments.store import Key, Store
from fairglvq.fairness import metrics

COLUMNS = (
    "dataset", "method", "strength", "fold", "seed", "accuracy", "statistical_parity", "equal_opportunity", "seconds",
)  # fmt: skip

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Task:
    """One model to train and assess."""

    method: str
    strength: float | None
    fold: int
    seed: int
    key: Key


def evaluate(
    data: Dataset,
    method: str = "fairglvq",
    strengths: Sequence[float] = (0, 0.5, 1),
    folds: int = 5,
    seed: int | Sequence[int] = 0,
    *,
    store: Store | str | os.PathLike | Literal[False] | None = None,
    n_jobs: int | None = None,
    workers: str = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
    **params,
) -> pd.DataFrame:
    """Cross-validate a method at each strength; one row per strength, fold and seed.

    ``params`` are the estimators'; the method takes those it has. ``seed`` may be several: each shuffles folds, starts
    and batches anew. Rows already in ``store`` (None: the user's own; False: none) are not computed again.
    ``workers`` is "threads" or "processes"; ``cluster`` (or $FAIRGLVQ_CLUSTER), the address of a Dask scheduler, sends
    the work there instead. ``progress`` is called with rows done and rows in all.
    """
    seeds = list(seed) if isinstance(seed, Iterable) else [seed]
    kept = store if isinstance(store, Store) else None if store is False else Store(store)
    with backend(workers, n_jobs, cluster):
        return tidy(iterate(data, method, strengths, folds, seeds, store=kept, params=params, progress=progress))


def tidy(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table of COLUMNS, in an order that does not depend on which of them finished first."""
    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    return table.sort_values(["dataset", "method", "seed", "strength", "fold"], ignore_index=True)


def iterate(
    data: Dataset, method: str, strengths: Sequence[float], folds: int, seeds: Sequence[int], *, store: Store | None,
    params: dict[str, Any], progress: Progress | None = None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield rows as they finish, known ones first; beside COLUMNS a row has ``equalized_odds`` and ``counts``.

    ``counts[group][truth favourable][decision favourable]`` are people of the test fold, groups in sorted order. Runs
    on the joblib backend in force.
    """
    chosen = methods.parameters_for(method, params)
    wanted = tasks(data, method, strengths, folds, seeds, params)
    known = store.get(task.key for task in wanted) if store else {}
    missing = [task for task in wanted if task.key.digest() not in known]
    done = 0
    for task in wanted:
        if task.key.digest() in known:
            done += 1
            yield row_of(data.name, task, known[task.key.digest()])
    if progress:
        progress(done, len(wanted))
    for task, result in _compute(data, method, missing, folds, chosen):
        if store:
            store.put(task.key, data.name, result)
        done += 1
        if progress:
            progress(done, len(wanted))
        yield row_of(data.name, task, result)


def _checked(method: str, strengths: Sequence[float]) -> list[float | None]:
    """Strengths as numbers; a method without a knob has one strength, None."""
    knob = methods.get(method).knob
    if knob is None:
        return [None]
    try:
        values = [float(value) for value in np.atleast_1d(strengths)]
    except (TypeError, ValueError):
        values = []
    if not values or not all(np.isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"strengths of {method!r} must be one or more numbers of at least 0; got {strengths!r}")
    if knob == "projections" and any(value != int(value) for value in values):
        raise ValueError(f"strengths of {method!r} are numbers of projections, so whole; got {strengths!r}")
    return list(dict.fromkeys(values))


def _checked_folds(data: Dataset, folds: int) -> int:
    smallest = int(np.unique(data.y, return_counts=True)[1].min())
    if not (isinstance(folds, Integral) and 2 <= folds <= smallest):
        raise ValueError(
            f"folds must be a whole number from 2 to {smallest}, the size of the smallest class; got {folds!r}"
        )
    return int(folds)


def _checked_seeds(seeds: Sequence[int]) -> list[int]:
    """Different seeds, at least one; scikit-learn's folds take them up to 2³² - 1."""
    if not seeds or not all(isinstance(seed, Integral) and 0 <= seed < 2**32 for seed in seeds):
        raise ValueError(f"seed must be one or more whole numbers from 0 to {2**32 - 1}; got {list(seeds)!r}")
    return list(dict.fromkeys(map(int, seeds)))


def tasks(
    data: Dataset, method: str, strengths: Sequence[float], folds: int, seeds: Sequence[int], params: dict[str, Any]
) -> list[Task]:
    """Every model of a sweep, seed by seed and fold by fold; what cannot be trained is an error here."""
    values, chosen = _checked(method, strengths), methods.parameters_for(method, params)
    folds, seeds = _checked_folds(data, folds), _checked_seeds(seeds)
    return [
        Task(method, strength, fold, seed, Key(data.fingerprint, method, strength, chosen, folds, fold, seed))
        for seed in seeds
        for fold in range(folds)
        for strength in values
    ]


def _compute(data: Dataset, method: str, tasks: list[Task], folds: int, params: dict) -> Iterator[tuple[Task, dict]]:
    """Prepare each fold and seed once, then train; both halves in parallel."""
    import joblib

    # In this thread, before there are others: threads that import the same package at once trip over each other.
    import sklearn.dummy
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.pipeline  # noqa: F401

    parts = list(dict.fromkeys((task.seed, task.fold) for task in tasks))
    strengths = {part: [t.strength for t in tasks if (t.seed, t.fold) == part] for part in parts}
    yield_unordered = joblib.Parallel(return_as="generator_unordered")
    arrays = (data.X, data.y, data.s)
    prepared = dict(
        joblib.Parallel()(
            joblib.delayed(prepare)(*arrays, data.favourable, method, strengths[part], part, folds, params)
            for part in parts
        )
    )
    yield from yield_unordered(
        joblib.delayed(train_and_assess)(*arrays, data.favourable, task, prepared[task.seed, task.fold], folds, params)
        for task in tasks
    )


def prepare(X, y, s, favourable, method, strengths, part, folds, params):
    """The part, a seed and a fold, and what a method makes for it once for all strengths."""
    from threadpoolctl import threadpool_limits

    seed, fold_number = part
    fold, _, _ = split(X, y, s, seed, fold_number, folds, favourable)
    with threadpool_limits(1):  # the work is spread over folds already
        return part, methods.get(method).prepare(fold, strengths, params)


def train_and_assess(X, y, s, favourable, task: Task, prepared, folds: int, params: dict):
    """The task and its numbers: one model, trained and measured on its test fold."""
    from threadpoolctl import threadpool_limits

    fold, X_test, test = split(X, y, s, task.seed, task.fold, folds, favourable)
    method = methods.get(task.method)
    start = time.perf_counter()
    with threadpool_limits(1):
        model = method.fit(fold, prepared, task.strength, params)
    seconds = time.perf_counter() - start
    return task, assess(y[test], method.decide(model, X_test, s[test]), s[test], favourable) | {"seconds": seconds}


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


def row_of(dataset: str, task: Task, result: dict[str, Any]) -> dict[str, Any]:
    """A result with what it is the result of."""
    strength = np.nan if task.strength is None else task.strength
    known = {"dataset": dataset, "method": task.method, "strength": strength, "fold": task.fold, "seed": task.seed}
    return known | result


@contextmanager
def backend(workers: str = "threads", n_jobs: int | None = None, cluster: str | None = None):
    """The joblib backend that :func:`iterate` runs on."""
    import joblib

    address = cluster or os.environ.get("FAIRGLVQ_CLUSTER")
    if address:
        with _dask_client(address) as client, joblib.parallel_config("dask", client=client):
            yield
    elif workers in ("threads", "processes"):
        # Kernels and scikit-learn's loops release the GIL: threads do for most work, and share the data.
        name = {"threads": "threading", "processes": "loky"}[workers]
        with joblib.parallel_config(name, n_jobs=n_jobs or joblib.cpu_count()):
            yield
    else:
        raise ValueError(f"workers must be 'threads' or 'processes'; got {workers!r}")


def _dask_client(address: str):
    """A connection to the scheduler at this address, or a sentence why there is none."""
    if "://" not in address and not re.search(r":\d+$", address):
        raise ValueError(f"a Dask cluster has an address like tcp://HOST:PORT; got {address!r}")
    try:
        from distributed import Client
    except ImportError:
        raise RuntimeError("a Dask cluster needs one more package: pip install distributed") from None
    try:
        return Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(f"the Dask cluster at {address} does not answer ({error})") from error


def summarise(rows: pd.DataFrame, by: Iterable[str] = ("dataset", "method", "strength")) -> pd.DataFrame:
    """Mean and (population) standard deviation over folds and seeds of each measure."""
    measures = ["accuracy", "statistical_parity", "equal_opportunity"]
    grouped = rows.groupby(list(by), dropna=False, sort=False)[measures]
    means, spreads = grouped.mean().add_suffix("_mean"), grouped.std(ddof=0).add_suffix("_std")
    return means.join(spreads).assign(n=grouped.size()).reset_index()
