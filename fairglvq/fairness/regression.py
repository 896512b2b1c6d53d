"""Assess predicted numbers: how exact they are, and how much they reveal about a protected number or group.

Arrays in, never models. With a group, `mean_difference` is what statistical parity is for decisions. With a number,
`correlation` sees straight dependence only; `mutual_information` and `maximal_correlation` see any, on values cut into
bins of about equal size. Both are above 0 by chance alone: of n independent pairs in a x b bins, mutual information is
about (a - 1)(b - 1) / 2n nats. Groups and values of which there are at most ``bins`` are taken as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.fairness.cells import count
from fairglvq.fairness.metrics import encode_groups
from fairglvq.labels import as_nonempty_column, check_same_length, encode

__all__ = [
    "Dependence",
    "correlation",
    "dependence",
    "maximal_correlation",
    "mean_difference",
    "mutual_information",
    "r2",
    "rmse",
]

Floats = NDArray[np.float64]
BINS = 10


def r2(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Explained share of variance: 1 - sum (y - y^)² / sum (y - mean)²; NaN if all targets are alike."""
    truth, predicted = _numbers(y_true=y_true, y_pred=y_pred)
    spread = np.sum((truth - truth.mean()) ** 2)
    return float(1 - np.sum((truth - predicted) ** 2) / spread) if spread > 0 else float("nan")


def rmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Root of the mean squared error, in the units of the target."""
    truth, predicted = _numbers(y_true=y_true, y_pred=y_pred)
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


def mean_difference(y_pred: ArrayLike, *, sensitive_features: ArrayLike) -> float:
    """Largest difference between two groups in their mean prediction; NaN with one group."""
    _, groups = encode_groups(sensitive_features)
    predicted = as_nonempty_column(y_pred, "y_pred").astype(np.float64)
    check_same_length(y_pred=len(predicted), sensitive_features=len(groups))
    means = np.bincount(groups, weights=predicted) / np.bincount(groups)
    return float(np.ptp(means)) if len(means) > 1 else float("nan")


def correlation(y_pred: ArrayLike, *, sensitive_features: ArrayLike) -> float:
    """Size of Pearson's correlation with a protected number, 0 to 1; a constant reveals nothing: 0."""
    predicted, protected = _numbers(y_pred=y_pred, sensitive_features=sensitive_features)
    apart = [values - values.mean() for values in (predicted, protected)]
    scale = np.sqrt(np.prod([values @ values for values in apart]))
    return float(min(1.0, abs(apart[0] @ apart[1]) / scale)) if scale > 0 else 0.0


def mutual_information(y_pred: ArrayLike, *, sensitive_features: ArrayLike, bins: int = BINS) -> float:
    """Sum of p(a, b) log(p(a, b) / p(a) p(b)) over bins a of the prediction and b of the protected value, in nats."""
    joint, product = _joint(y_pred, sensitive_features, bins)
    seen = joint > 0
    return float(max(0.0, np.sum(joint[seen] * np.log(joint[seen] / product[seen]))))


def maximal_correlation(y_pred: ArrayLike, *, sensitive_features: ArrayLike, bins: int = BINS) -> float:
    """Largest correlation that functions of the two can have (Hirschfeld, Gebelein, Rényi), 0 to 1, over bins.

    For finitely many values it is the second singular value of p(a, b) / sqrt(p(a) p(b)) (Witsenhausen 1975).
    """
    joint, product = _joint(y_pred, sensitive_features, bins)
    if min(joint.shape) < 2:
        return 0.0
    return float(np.clip(np.linalg.svd(joint / np.sqrt(product), compute_uv=False)[1], 0.0, 1.0))


class Dependence(NamedTuple):
    """How much predictions reveal of a protected value; a measure that is not for its kind is NaN."""

    mean_difference: float  # of groups
    correlation: float  # with a number
    mutual_information: float
    maximal_correlation: float


def dependence(y_pred: ArrayLike, *, sensitive_features: ArrayLike, groups: bool, bins: int = BINS) -> Dependence:
    """All measures at once; ``groups`` says whether the protected values are names of groups."""
    call = {"sensitive_features": sensitive_features}
    binned = {"sensitive_features": np.asarray(sensitive_features).astype(str)} if groups else call
    return Dependence(
        mean_difference(y_pred, **call) if groups else float("nan"),
        float("nan") if groups else correlation(y_pred, **call),
        mutual_information(y_pred, **binned, bins=bins),
        maximal_correlation(y_pred, **binned, bins=bins),
    )


def _joint(y_pred: ArrayLike, s: ArrayLike, bins: int) -> tuple[Floats, Floats]:
    """Shares (a, b) of all pairs of bins, and what they were if the two were independent."""
    if bins < 2:
        raise ValueError(f"bins must be at least 2; got {bins!r}")
    a, b = _codes(y_pred, "y_pred", bins), _codes(s, "sensitive_features", bins)
    check_same_length(y_pred=len(a), sensitive_features=len(b))
    joint = count((a.max() + 1, b.max() + 1), a, b) / len(a)
    return joint, np.outer(joint.sum(axis=1), joint.sum(axis=0))


def _codes(values: ArrayLike, name: str, bins: int) -> NDArray[np.intp]:
    """The bin of each value; none is empty."""
    column = as_nonempty_column(values, name)
    distinct, codes = encode(column)
    if len(distinct) > bins and column.dtype.kind in "iuf":
        cuts = np.quantile(column, np.arange(1, bins) / bins, method="lower")
        codes = encode(np.searchsorted(np.unique(cuts), column))[1]
    return codes


def _numbers(**arrays: ArrayLike) -> list[Floats]:
    """Arrays of one length, (n,) each, as numbers."""
    numbers = {name: as_nonempty_column(values, name).astype(np.float64) for name, values in arrays.items()}
    check_same_length(**{name: len(values) for name, values in numbers.items()})
    return list(numbers.values())
