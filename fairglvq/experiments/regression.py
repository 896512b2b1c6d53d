"""Numbers as targets on folds: how exact predictions are at each C, and how much they reveal of a protected value.

Beside the tree stands FairGLVQ on a cut: target and protected value are made two classes and two groups, as they must
be for a classifier, and the number predicted for a class is the mean target of the training rows decided so. All are
also measured as decisions at the same cut, which shows what the cut loses. The mean of all is the other extreme, which
depends on neither the target nor the protected value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairglvq import datasets
from fairglvq.datasets import RegressionDataset
from fairglvq.datasets.files import data_folder
from fairglvq.datasets.split import Scaling, fold_seed
from fairglvq.experiments import evaluation
from fairglvq.fairness.metrics import statistical_parity_difference
from fairglvq.fairness.regression import dependence, maximal_correlation, r2, rmse

if TYPE_CHECKING:
    import pandas as pd

TREE, CUT, MEAN = "fairtreeregressor", "fairglvq_cut", "mean"
TITLES = {TREE: "FairTreeRegressor", CUT: "FairGLVQ on a cut", MEAN: "the mean of all"}
STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
KEYS = ["dataset", "protected", "method", "strength"]
BUNDLED = "regression_results.csv"
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "communities": ("communities", {}),
    "student": ("student", {"protected": "sex"}),
    "student_age": ("student", {"protected": "age"}),
}
"""What can be predicted: data sets with their parameters."""

Floats = NDArray[np.float64]
Report = Callable[[float], None]  # gets the share of work done; may raise to stop it


class Predicted(NamedTuple):
    """Predictions for held-out rows, and whether they count as high where the target is cut."""

    numbers: Floats
    high: NDArray[np.bool_]


def load(task: str) -> RegressionDataset:
    """The data set of a task."""
    name, parameters = TASKS[task]
    return datasets.load(name, **parameters)  # type: ignore[return-value]


def evaluate(
    data: RegressionDataset,
    strengths: Sequence[float] = STRENGTHS,
    folds: int = 5,
    seed: int = 0,
    *,
    methods: Sequence[str] = (TREE, CUT, MEAN),
    report: Report = lambda share: None,
    **params,
) -> pd.DataFrame:
    """Cross-validate methods; a row per method, strength and fold, with NaN for the strength of the mean.

    ``params`` are FairTreeRegressor's. ``r2``, ``rmse`` and the measures of `Dependence` are of predicted numbers. Of
    the decisions at the cut are ``accuracy``, ``statistical_parity`` between the groups of the cut, and
    ``decision_dependence``: the largest correlation with any function of the protected value itself.
    """
    import pandas as pd

    work = [(method, C) for method in methods for C in ([np.nan] if method == MEAN else strengths)]
    rows = []
    for fold, held_out in enumerate(_held_out(len(data.y), folds, seed)):
        for method, C in work:
            found = predict(data, method, held_out, float(C), fold_seed(seed, fold), **params)
            key = {"dataset": data.name, "protected": data.protected_column, "method": method, "strength": C}
            rows.append(key | {"fold": fold, "seed": seed, **_measured(data, held_out, found)})
            report(len(rows) / (folds * len(work)))
    return pd.DataFrame(rows)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds, method by method and from weak to strong."""
    return rows.drop(columns=["fold", "seed"]).groupby(KEYS, sort=False, dropna=False).mean().reset_index()


def spread(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and (population) spread of every measure over the folds, as columns ``r2_mean``, ``r2_std`` and so on."""
    return evaluation.summarise(rows, KEYS, rows.columns.drop([*KEYS, "fold", "seed"]))


def bundled() -> pd.DataFrame:
    """Rows that come with the project: all tasks with the usual parameters, by ``regression --bundle``."""
    import pandas as pd

    return pd.read_csv(data_folder() / BUNDLED)


def predictions(
    data: RegressionDataset, C: float, folds: int = 5, seed: int = 0, report: Report = lambda share: None, **params
) -> Floats:
    """Predictions (n,) of FairTreeRegressor, each by the model of the fold that holds the row out."""
    numbers = np.empty(len(data.y))
    for fold, held_out in enumerate(_held_out(len(data.y), folds, seed)):
        numbers[held_out] = predict(data, TREE, held_out, C, fold_seed(seed, fold), **params).numbers
        report((fold + 1) / folds)
    return numbers


def predict(data: RegressionDataset, method: str, held_out: NDArray[np.bool_], C: float, seed: int, **params):
    """Train a method on the other rows and predict the held-out ones."""
    if method == CUT:
        return _by_cut(data, held_out, C, seed)
    if method == MEAN:
        numbers = np.full(int(held_out.sum()), data.y[~held_out].mean())
    else:
        from fairglvq.trees.fair_tree_regressor import FairTreeRegressor

        learn = ~held_out
        tree = FairTreeRegressor(C=C, protected="groups" if data.groups else "values", **params)
        tree.fit(data.X[learn], data.y[learn], sensitive_features=data.s[learn])
        numbers = tree.predict(data.X[held_out])
    return Predicted(numbers, numbers >= data.y[data.cut().y == 1].min())


def _by_cut(data: RegressionDataset, held_out: NDArray[np.bool_], C: float, seed: int) -> Predicted:
    """FairGLVQ on the cut; its numbers are the mean targets of the training rows that it decides alike."""
    from fairglvq.lvq.fair_glvq import FairGLVQ

    cut, learn = data.cut(), ~held_out
    scaling = Scaling.fit(data.X[learn])
    model = FairGLVQ(C=C, random_state=seed, record_every=None)
    model.fit(scaling.apply(data.X[learn]), cut.y[learn], sensitive_features=cut.s[learn])
    decided = model.predict(scaling.apply(data.X)) == 1
    sides = [data.y[learn & (decided == side)] for side in (False, True)]
    means = np.array([side.mean() if side.size else data.y[learn].mean() for side in sides])
    high = decided[held_out]
    return Predicted(means[high.astype(int)], high)


def _held_out(n: int, folds: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    from sklearn.model_selection import KFold

    for _, test in KFold(folds, shuffle=True, random_state=seed).split(np.zeros(n)):
        yield np.isin(np.arange(n), test)


def _measured(data: RegressionDataset, held_out: NDArray[np.bool_], found: Predicted) -> dict[str, float]:
    """Measures of the predicted numbers, and of the decisions who is at least at the cut."""
    cut, truth, s = data.cut(), data.y[held_out], data.s[held_out]
    return {
        "r2": r2(truth, found.numbers),
        "rmse": rmse(truth, found.numbers),
        **dependence(found.numbers, sensitive_features=s, groups=data.groups)._asdict(),
        "accuracy": float(np.mean(found.high == cut.y[held_out])),
        "statistical_parity": statistical_parity_difference(
            found.high, sensitive_features=cut.s[held_out], favourable=True, classes=[False, True]
        ),
        "decision_dependence": maximal_correlation(found.high, sensitive_features=s),
    }
