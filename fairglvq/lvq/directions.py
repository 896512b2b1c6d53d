"""The plane to decide in: directions that predict the label and the group, as rows of Ω.

The most accurate classifier with a bounded gap decides by two numbers, how likely the label is and how much the group
shows (Menon & Williamson 2018). A direction for each, by regularised logistic regression, holds both in a plane. Where
the label depends on ranges of a column, no direction predicts it: beyond the plane such columns are rows of Ω.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.tree import DecisionTreeRegressor

from fairglvq.lvq.projected import checkpoint
from fairglvq.lvq.trainer import dense, of_columns, times

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
"""Inverse strengths of the regularisation, chosen by cross-validation."""

SAMPLE = 6000
"""Rows used for that choice. The best strength of a Gaussian prior hardly depends on how many more there are."""


FEW_POINTS, FOLDS = 50, 5
"""Fewer points per column than this need cross-fitting, in so many folds."""

PLANE = 2
"""The first rows of Ω, which are directions; columns may follow."""

LEAVES, MEMBERS, TREE_ROWS = 32, 20, 50_000
"""Of the tree that finds columns: leaves at most, points in a leaf at least, points that it learns from at most."""

OPTIONS: dict[str, Any] = {"max_iter": 200, "solver": "lbfgs"}


def directions(
    X, targets, rank: int, rng: np.random.Generator, *, bends: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Ω (rank, d) whose rows predict the targets, and the images (n, rank) to train on.

    ``targets`` are integer labels (n,), in order of importance: every label of one against the rest gives a direction
    (two labels: one direction). Missing rows are filled with principal directions of what is left. The images on all
    points have a standard deviation of 1. If the border ``bends`` and points are many, rows beyond the plane are
    columns that a tree cuts; their images have a standard deviation of as many units as there are cuts.

    With few points per column, a regression predicts its own points better than others. The images to train on are then
    cross-fitted, each by regressions on the other folds.
    """
    targets = [target for target in targets if len(np.unique(target)) > 1]  # a single label has no direction
    scale = _one_for_zero(of_columns(X, "max") - of_columns(X, "min"))
    scaled = X.multiply(1 / scale).tocsr() if hasattr(X, "multiply") else (X - X.min(axis=0)) / scale
    strengths = [_strength(scaled, target, rng) for target in targets]
    found = _logistic(scaled, targets, strengths) / scale
    kept = _independent(X, found)[:rank]
    rows = found[kept]
    few = X.shape[0] < FEW_POINTS * X.shape[1]
    beyond = rank - max(PLANE, len(rows)) if bends and not few else 0
    columns = _cut_columns(scaled, rows * scale, targets[0], max(0, beyond)) / scale
    missing = rank - len(rows) - len(columns)
    if missing:
        rows = np.vstack([rows, _principal(scaled, rows * scale, missing) / scale])
    spread = _one_for_zero(np.asarray(X @ rows.T).std(axis=0))
    omega = np.vstack([rows / spread[:, None], columns])
    images = np.asarray(X @ omega.T)
    if few:
        fold = rng.permutation(X.shape[0]) % FOLDS
        for one in range(FOLDS):
            seen, left_out = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
            if any(len(np.unique(target[seen])) < len(np.unique(target)) for target in targets):
                continue  # a rare label is not among the others: these images stay as they are
            parts = [target[seen] for target in targets]
            turned = (_logistic(scaled[seen], parts, strengths) / scale)[kept] / spread[: len(kept), None]
            centred = np.asarray(X[left_out] @ turned.T) - turned @ of_columns(X[seen], "mean")
            images[left_out, : len(kept)] = centred + omega[: len(kept)] @ of_columns(X, "mean")
    return omega, images


def first_metric(X, targets, metric: str, rank: int | None, rng, *, bends=False) -> tuple[np.ndarray, np.ndarray]:
    """Ω to begin with, (r, d) or, of a diagonal metric, (d,); and the images to train on, (n, r)."""
    d = X.shape[1]
    if metric == "matrix" and rank is not None and rank < d:
        return directions(X, targets, rank, rng, bends=bends)
    diagonal = np.ones(d) if metric == "euclidean" else unit_spread(X)
    return (diagonal if metric == "diagonal" else np.diag(diagonal)), dense(times(X, diagonal))


def unit_spread(X) -> np.ndarray:
    """Ω (d,), diagonal, that gives every column a standard deviation of 1; a constant column gets 0."""
    mean = of_columns(X, "mean")
    spread = np.sqrt(np.maximum(of_columns(times(X, X), "mean") - mean**2, 0.0))
    flat = spread <= 1e-12 * np.abs(mean)
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=~flat & (spread > 0))


def _strength(X, target, rng) -> float:
    """The inverse strength of regularisation that predicts unseen rows best."""
    some = rng.permutation(len(target))[:SAMPLE]
    if np.unique(target[some], return_counts=True)[1].min() < 3:
        return STRENGTHS[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after 200 steps the direction no longer turns
        tried = LogisticRegressionCV(
            Cs=STRENGTHS, cv=3, scoring="neg_log_loss", refit=False, l1_ratios=(0,), use_legacy_attributes=False,
            **OPTIONS,
        )  # fmt: skip
        return float(np.ravel(tried.fit(X[some], target[some]).C_)[0])


def _logistic(X, targets, strengths) -> np.ndarray:
    """Weights of a logistic regression for every target, one below the other: (1, d), or (labels, d) of more than 2."""
    checkpoint.get()()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.vstack(
            [
                LogisticRegression(C=C, **OPTIONS).fit(X, target).coef_
                for target, C in zip(targets, strengths, strict=True)
            ]
        )


def _independent(X, rows) -> list[int]:
    """Which rows have images that are no combination of those before them."""
    images = np.asarray(X @ rows.T)
    images = images - images.mean(axis=0)
    kept: list[int] = []
    for k in range(len(rows)):
        rest = images[:, k]
        if kept:
            basis = np.linalg.qr(images[:, kept])[0]
            rest = rest - basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > 1e-6 * np.linalg.norm(images[:, k]) > 0:
            kept.append(k)
    return kept


def _cut_columns(X, rows, target, count: int) -> np.ndarray:
    """Rows of Ω (up to count, d) of one column each: those by which a tree predicts best what ``rows`` do not.

    A column that is cut often gets a large unit, so that prototypes can stand between the cuts.
    """
    if not count:
        return np.zeros((0, X.shape[1]))
    checkpoint.get()()
    images = np.asarray(X @ rows.T)
    linear = LogisticRegression(**OPTIONS).fit(images, target)
    left = (target[:, None] == linear.classes_) - linear.predict_proba(images)
    some = slice(None, None, -(-len(target) // TREE_ROWS))
    tree = DecisionTreeRegressor(max_leaf_nodes=LEAVES, min_samples_leaf=MEMBERS, random_state=0)
    cut = tree.fit(X[some], left[some]).tree_.feature
    cuts = np.bincount(cut[cut >= 0], minlength=X.shape[1])
    columns = np.argsort(-tree.feature_importances_, kind="stable")[: min(count, np.count_nonzero(cuts))]
    return np.diag(unit_spread(X) * cuts)[columns]


def _principal(X, rows, count: int) -> np.ndarray:
    """Leading principal directions (count, d) of the columns of X orthogonal to ``rows``."""
    mean = of_columns(X, "mean")
    covariance = np.asarray(dense(X.T @ X)) / X.shape[0] - np.outer(mean, mean)
    if len(rows):
        basis = np.linalg.qr(rows.T)[0]
        keep = np.eye(len(mean)) - basis @ basis.T
        covariance = keep @ covariance @ keep
    return np.linalg.eigh(covariance)[1][:, ::-1][:, :count].T


def _one_for_zero(lengths: np.ndarray) -> np.ndarray:
    return np.where(lengths > 0, lengths, 1.0)
