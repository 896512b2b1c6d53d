"""Which rows train and which are held out, and the scaling of features that the training rows define.

A split is a mask ``held_out`` (n,): True for the rows that measure, False for the rows that train.

scikit-learn is imported for folds only, which the playground's first picture does not need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Scaling:
    """Min-max scaling, feature by feature::

        z = x * scale + offset,   scale = 1 / span,   offset = -low / span

    `fit` gives, bit for bit, what scikit-learn's ``MinMaxScaler`` gives for float64 without NaN. A model opened from a
    trade-off curve must be the model on the curve, and where training is unstable the last bit decides.

    ``scale`` and ``offset`` are all that a file has to keep; `from_arrays` makes the scaling again.
    """

    scale: Floats  # (d,)
    offset: Floats  # (d,)
    low: Floats  # (d,) original value of a scaled 0
    span: Floats  # (d,) original length of [0, 1]

    @classmethod
    def fit(cls, X: ArrayLike) -> Scaling:
        """Scaling that maps every feature of X (n, d) to [0, 1]; a constant feature is only moved to 0."""
        rows = np.asarray(X, dtype=np.float64)
        low = rows.min(axis=0)
        span = rows.max(axis=0) - low
        span[span < 10 * np.finfo(np.float64).eps] = 1.0  # MinMaxScaler's limit for a constant feature
        scale = 1.0 / span
        return cls(scale, 0.0 - low * scale, low, span)

    @classmethod
    def from_arrays(cls, scale: ArrayLike, offset: ArrayLike) -> Scaling:
        """Scaling with these ``scale`` and ``offset`` (d,)."""
        scale, offset = np.asarray(scale, dtype=np.float64), np.asarray(offset, dtype=np.float64)
        if scale.ndim != 1 or scale.shape != offset.shape:
            raise ValueError(f"scale and offset must have one shape (d,), got {scale.shape} and {offset.shape}.")
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            low, span = (0.0 - offset) / scale, 1.0 / scale
        if not np.isfinite([scale, offset, low, span]).all():
            raise ValueError(
                "scale and offset must be finite, and scale must not be 0 or so small that 1 / scale is not."
            )
        return cls(scale, offset, low, span)

    @classmethod
    def identity(cls, d: int) -> Scaling:
        """Scaling that leaves d features as they are."""
        return cls(np.ones(d), np.zeros(d), np.zeros(d), np.ones(d))

    def apply(self, X: ArrayLike) -> Floats:
        """Original units (..., d) to scaled ones."""
        return np.asarray(X, dtype=np.float64) * self.scale + self.offset

    def inverse(self, Z: ArrayLike) -> Floats:
        """Scaled values (..., d) to original units."""
        return np.asarray(Z, dtype=np.float64) * self.span + self.low


def hold_out_share(strata: ArrayLike, share: float, seed: int) -> Mask:
    """Hold out this share of every stratum at random; ``strata`` (n,) are integers, one per class and group."""
    strata = np.asarray(strata)
    rng = np.random.default_rng((seed, 2))
    held_out = np.zeros(len(strata), bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        held_out[members[: round(share * len(members))]] = True
    return held_out


def hold_out_fold(y: ArrayLike, folds: int, fold: int, seed: int) -> Mask:
    """Hold out one fold of scikit-learn's shuffled ``StratifiedKFold``; folds count from 0."""
    from sklearn.model_selection import StratifiedKFold

    if not 0 <= fold < folds:
        raise ValueError(f"fold must be from 0 to {folds - 1}, got {fold}.")
    labels = np.asarray(y)
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels)
    held_out = np.zeros(len(labels), bool)
    held_out[next(test for number, (_, test) in enumerate(parts) if number == fold)] = True
    return held_out


def fold_seed(seed: int, fold: int) -> int:
    """The training seed of a fold, so that fold 0 of seed 1 does not start like fold 1 of seed 0."""
    return int(np.random.SeedSequence([seed, fold]).generate_state(1)[0])
