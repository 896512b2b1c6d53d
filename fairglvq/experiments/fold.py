"""One fold of a cross-validation: what is prepared once, one model trained, and its numbers on the test rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairglvq.datasets import Dataset
from fairglvq.datasets.split import Scaling, fold_seed, hold_out_fold
from fairglvq.experiments import methods
from fairglvq.experiments.store import MEASURES, RowKey
from fairglvq.fairness import metrics


def prepare(X, y, s, favourable, key: RowKey, strengths: Sequence[float]):
    """What a method prepares once for all strengths of the fold and seed of the key."""
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


def training_fold(data: Dataset, fold: int = 0, seed: int = 0, folds: int = 5) -> methods.TrainingFold:
    """What the models of a fold are trained on."""
    return split(data.X, data.y, data.s, seed, fold, folds, data.favourable)[0]


def assess(y_true, y_pred, s, favourable) -> dict[str, Any]:
    """The numbers of one model on one test fold."""
    _, counts = metrics.count_table(y_true, y_pred, sensitive_features=s, favourable=favourable)
    gaps = metrics.gaps_from_counts(counts)._asdict()
    return {
        "accuracy": float(np.mean(y_true == y_pred)),
        **{name: float(gap) for name, gap in gaps.items() if name in MEASURES},
        "counts": counts.tolist(),
    }
