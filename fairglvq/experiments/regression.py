"""Numbers as targets on folds: how exact predictions are at each C, and what they tell of a protected value.

Beside the tree stands FairGLVQ on a cut: target and protected value are made two classes and two groups, as they must
be for a classifier. Both are also measured as decisions at the same cut, so that one sees what the cut loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairglvq.datasets import RegressionDataset
from fairglvq.datasets.split import Scaling, fold_seed
from fairglvq.fairness.metrics import statistical_parity_difference
from fairglvq.fairness.regression import dependence, maximal_correlation, r2, rmse

if TYPE_CHECKING:
    import pandas as pd

TREE, CUT = "fairtreeregressor", "fairglvq_cut"
STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


def evaluate(
    data: RegressionDataset, strengths: Sequence[float] = STRENGTHS, folds: int = 5, seed: int = 0, **params
) -> pd.DataFrame:
    """Cross-validate FairTreeRegressor and, on a cut, FairGLVQ; a row per method, strength and fold.

    ``params`` are FairTreeRegressor's. ``r2``, ``rmse`` and the measures of `Dependence` are of predicted numbers,
    which FairGLVQ has none of. Of the decisions at the cut are ``accuracy``, ``statistical_parity`` between the groups
    of the cut, and ``decision_dependence``: the largest correlation with any function of the protected value itself.
    """
    import pandas as pd

    return pd.DataFrame(
        {"dataset": data.name, "strength": C, "fold": fold, "seed": seed, **row}
        for fold, held_out in enumerate(_held_out(len(data.y), folds, seed))
        for C in strengths
        for row in _rows(data, held_out, float(C), fold_seed(seed, fold), params)
    )


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds, method by method and from weak to strong."""
    return (
        rows.drop(columns=["fold", "seed"]).groupby(["dataset", "method", "strength"], sort=False).mean().reset_index()
    )


def _held_out(n: int, folds: int, seed: int) -> Iterator[np.ndarray]:
    from sklearn.model_selection import KFold

    for _, test in KFold(folds, shuffle=True, random_state=seed).split(np.zeros(n)):
        yield np.isin(np.arange(n), test)


def _rows(data: RegressionDataset, held_out, C: float, seed: int, params: dict) -> Iterator[dict[str, Any]]:
    from fairglvq.lvq.fair_glvq import FairGLVQ
    from fairglvq.trees.fair_tree_regressor import FairTreeRegressor

    cut, learn = data.cut(), ~held_out
    border = data.y[cut.y == 1].min()
    tree = FairTreeRegressor(C=C, protected="groups" if data.groups else "values", **params)
    tree.fit(data.X[learn], data.y[learn], sensitive_features=data.s[learn])
    numbers, truth = tree.predict(data.X[held_out]), data.y[held_out]
    told = dependence(numbers, sensitive_features=data.s[held_out], groups=data.groups)
    of_numbers = {"r2": r2(truth, numbers), "rmse": rmse(truth, numbers), **told._asdict()}
    yield {"method": TREE, **of_numbers, **_decided(data, cut, held_out, numbers >= border)}

    scaling = Scaling.fit(data.X[learn])
    model = FairGLVQ(C=C, random_state=seed, record_every=None)
    model.fit(scaling.apply(data.X[learn]), cut.y[learn], sensitive_features=cut.s[learn])
    decided = model.predict(scaling.apply(data.X[held_out])) == 1
    yield {"method": CUT, **_decided(data, cut, held_out, decided)}


def _decided(data: RegressionDataset, cut, held_out, high) -> dict[str, float]:
    """Measures of the decisions who is at least at the cut."""
    return {
        "accuracy": float(np.mean(high == cut.y[held_out])),
        "statistical_parity": statistical_parity_difference(
            high, sensitive_features=cut.s[held_out], favourable=True, classes=[False, True]
        ),
        "decision_dependence": maximal_correlation(high, sensitive_features=data.s[held_out]),
    }
