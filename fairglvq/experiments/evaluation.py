"""Folds x strengths x seeds -> tidy rows: cross-validation of one method, and the means over its folds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fairglvq.datasets import Dataset
from fairglvq.experiments.engine import Engine, Progress
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import Sweep, checked_seeds, checked_strengths

if TYPE_CHECKING:
    import pandas as pd  # half a second that only tables need

MEASURES = ("accuracy", "statistical_parity", "equal_opportunity")
COLUMNS = ("dataset", "method", "strength", "fold", "seed", *MEASURES, "seconds")


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
    if not isinstance(data, Dataset):
        raise TypeError(
            f"data must be a data set with labels, such as datasets.load('xor'); got {data!r}. One with a number as "
            "target is cut into labels by its cut()."
        )
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


def summarise(
    rows: pd.DataFrame, by: Iterable[str] = ("dataset", "method", "strength"), measures: Iterable[str] = MEASURES
) -> pd.DataFrame:
    """Mean and (population) standard deviation over folds and seeds of each measure."""
    grouped = rows.groupby(list(by), dropna=False, sort=False)[list(measures)]
    means, spreads = grouped.mean().add_suffix("_mean"), grouped.std(ddof=0).add_suffix("_std")
    return means.join(spreads).assign(n=grouped.size()).reset_index()
