"""The limit line: the best accuracy that any classifier can reach at each statistical parity gap.

Let eta(x) = P(y = 1 | x), and let t(x) = P(s = 1 | x) / P(s = 1) - P(s = 0 | x) / P(s = 0) be what a favourable
decision at x adds to the gap. Among all classifiers, randomised ones included, the most accurate one with a gap of at
most d gives the favourable decision where ::

    2 eta(x) - 1 > lambda t(x)

(Menon & Williamson, *The Cost of Fairness in Binary Classification*, 2018). Without a constraint lambda is 0. As lambda
rises, decisions flip one after the other, each time the one that costs least accuracy per unit of gap; so sorting by
|2 eta - 1| / |t| sweeps over every lambda at once. Choosing between two such classifiers at random reaches
every point on the straight line between them, which makes the limit concave.

The synthetic sets have known densities: their limit is exact up to the width of the cells that the plane is cut into.
Elsewhere eta and t are estimated by cross-validation, and the decisions are assessed on the true labels: the line is
then what a good learner reaches, an estimate that others may touch or cross by chance.

Both outcomes count alike, so the line does not depend on which label is the favourable one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.datasets import Dataset
from fairglvq.datasets.synthetic import DEFINITIONS
from fairglvq.fairness.metrics import encode_groups

__all__ = ["Limit", "estimate", "from_joint", "known"]

Floats = NDArray[np.float64]

# Cells per standard deviation and how far from a centre they go: on XOR the limit moves by less than 1e-5 with twice
# as many, and 6 standard deviations leave out two points in a billion.
CELLS, REACH = 12, 6.0
POINTS = 2000


@dataclass(frozen=True, eq=False)
class Limit:
    """Best accuracy at each gap: ``sp`` rises from 0 to 1, ``accuracy`` never falls and is concave.

    ``estimated`` marks an estimate from data, ``with_group`` a line for classifiers that are given the group beside the
    features: only that line bounds a method that uses the group to decide.
    """

    sp: Floats
    accuracy: Floats
    estimated: bool
    with_group: bool = False

    def at(self, sp: ArrayLike) -> Floats:
        """Best accuracy with a gap of at most ``sp``."""
        return np.interp(np.asarray(sp, dtype=float), self.sp, self.accuracy)

    def mean_distance(self, sp: ArrayLike, accuracy: ArrayLike) -> float:
        """How far points lie below the line on average, vertically; negative if above.

        Give it means over folds: within one small test fold chance alone makes a gap, and the distance too small.
        """
        return float(np.mean(self.at(sp) - np.asarray(accuracy)))


def known(name: str, *, noise: float = 1.0, bias: float = 1.0, with_group: bool = False) -> Limit:
    """Exact limit of a synthetic set from its densities; size and seed do not matter."""
    if name not in DEFINITIONS:
        raise ValueError(f"the densities of {name!r} are not known; they are of {', '.join(DEFINITIONS)}")
    return from_joint(_cells(name, noise, bias), with_group=with_group)


def estimate(data: Dataset, *, with_group: bool = False, folds: int = 5, seed: int = 0) -> Limit:
    """Limit estimated from data: gradient boosting for P(y | x) and, unless a feature is the group, for P(s | x)."""
    y, s = _two(data.y, "labels"), _two(data.s, "groups")
    X = np.column_stack([data.X, s]) if with_group else data.X
    eta = _posterior(X, y, folds, seed)
    q = s.astype(float) if _contains(X, s) else _posterior(X, s, folds, seed)
    share = s.mean()
    merit, pull = 2 * eta - 1, q / share - (1 - q) / (1 - share)
    real_merit = (2 * y - 1) / len(y)
    real_pull = np.where(s == 1, 1 / share, -1 / (1 - share)) / len(y)
    return Limit(*_line(merit, pull, real_merit, real_pull, 1 - y.mean()), estimated=True, with_group=with_group)


def from_joint(joint: ArrayLike, *, with_group: bool = False) -> Limit:
    """Exact limit where features take finitely many values: ``joint[x, s, y]`` is the probability of each (n, 2, 2)."""
    table = np.asarray(joint, dtype=float)
    if table.ndim != 3 or table.shape[1:] != (2, 2):
        raise ValueError(
            f"the limit needs two groups and two labels: joint of shape (n, 2, 2); its shape is {table.shape}"
        )
    if not (np.isfinite(table).all() and table.min(initial=0.0) >= 0 and table.sum() > 0):
        raise ValueError("joint must hold probabilities: finite numbers, none below 0 and not all 0")
    table = table / table.sum()
    shares = table.sum(axis=(0, 2))
    if shares.min() == 0:
        raise ValueError("the limit needs people of both groups")
    if with_group:  # such a classifier can treat every (x, s) differently
        table = (table[:, :, np.newaxis] * np.eye(2)[:, :, np.newaxis]).reshape(-1, 2, 2)
    merit = table[:, :, 1].sum(axis=1) - table[:, :, 0].sum(axis=1)
    pull = table[:, 1].sum(axis=1) / shares[1] - table[:, 0].sum(axis=1) / shares[0]
    return Limit(*_line(merit, pull, merit, pull, table[:, :, 0].sum()), estimated=False, with_group=with_group)


def _line(merit: Floats, pull: Floats, real_merit: Floats, real_pull: Floats, base: float) -> tuple[Floats, Floats]:
    """Gaps, and the best accuracy at each, from the optimal classifiers as lambda rises from 0.

    ``merit`` and ``pull``, proportional to 2 eta - 1 and t, decide who flips and when. ``real_merit`` and ``real_pull``
    are what a favourable decision adds to accuracy and gap; ``base`` is the accuracy without any.
    """
    chosen = merit > 0
    gap, accuracy = real_pull[chosen].sum(), base + real_merit[chosen].sum()
    towards = np.sign(gap) or 1.0
    pull, real_pull, gap = towards * pull, towards * real_pull, towards * gap
    # Flips that narrow the gap: decisions taken back from those ahead, or given to those behind.
    flips = np.flatnonzero((pull != 0) & (chosen == (pull > 0)))
    flips = flips[np.argsort(np.abs(merit[flips]) / np.abs(pull[flips]), kind="stable")]
    change = np.where(chosen[flips], -1.0, 1.0)
    gaps = gap + np.concatenate([[0.0], np.cumsum(change * real_pull[flips])])
    accuracies = accuracy + np.concatenate([[0.0], np.cumsum(change * real_merit[flips])])
    steps = np.unique(np.linspace(0, len(gaps) - 1, POINTS).astype(int))
    crossing = int(np.argmax(gaps <= 0))  # both sides of parity, so that thinning does not cut a corner there
    steps = np.union1d(steps, np.clip([crossing - 1, crossing], 0, len(gaps) - 1))
    return _envelope(gaps[steps], accuracies[steps], max(base, 1 - base))


def _envelope(gap: Floats, accuracy: Floats, constant: float) -> tuple[Floats, Floats]:
    """Best accuracy with a gap of at most each value, randomised classifiers included; a constant answer has no gap."""
    # Rounded, because sums of rounding errors would make corners of their own where the line is straight.
    gap, accuracy = np.append(gap, 0.0).round(9), np.append(accuracy, constant)
    hull: list[int] = []
    for i in np.lexsort((accuracy, gap)):
        while hull and (gap[i] == gap[hull[-1]] or _below(hull, i, gap, accuracy)):
            hull.pop()
        hull.append(i)
    x, best = gap[hull], accuracy[hull]
    sp = np.unique(np.concatenate([[0.0, 1.0], np.abs(x)]))
    sp = sp[sp <= 1]
    reached = np.maximum.accumulate(np.maximum(np.interp(sp, x, best), np.interp(-sp, x, best)))
    return sp, np.clip(reached, 0.0, 1.0)


def _below(hull: list[int], i: int, x: Floats, y: Floats) -> bool:
    """Whether the last point of the hull lies on or below the line from the one before it to point i."""
    if len(hull) < 2:
        return False
    a, b = hull[-2], hull[-1]
    return (x[b] - x[a]) * (y[i] - y[a]) >= (x[i] - x[a]) * (y[b] - y[a]) - 1e-12


def _cells(name: str, noise: float, bias: float) -> Floats:
    """Probability of each cell of the plane, group and label, (n_cells, 2, 2)."""
    from scipy.special import ndtr  # normal distribution function; half a second that only this needs

    if not (np.isfinite(noise) and noise >= 0 and 0 <= bias <= 1):
        raise ValueError(f"noise must be at least 0 and bias from 0 to 1; got noise={noise!r}, bias={bias!r}")
    definition = DEFINITIONS[name]
    centres, deviations = np.array(definition.centres, dtype=float), np.array(definition.deviations)
    if noise > 0:
        edges = [_edges(centres[:, axis], noise * deviations[axis]) for axis in (0, 1)]
    else:
        edges = [np.linspace(-REACH, REACH, 2 * int(REACH) * CELLS + 1)] * 2  # of the draws: all points are centres
    middles = np.stack(np.meshgrid(*((e[:-1] + e[1:]) / 2 for e in edges), indexing="ij"), axis=-1).reshape(-1, 2)
    parts = []  # one table (n_cells, 2, 2) per Gaussian
    for number, centre in enumerate(centres):
        if noise > 0:
            z_edges = [(e - c) / (noise * d) for e, c, d in zip(edges, centre, deviations, strict=True)]
            x, z = middles, (middles - centre) / (noise * deviations)
        else:
            z_edges, x, z = edges, np.broadcast_to(centre, middles.shape), middles
        mass = np.outer(*(np.diff(ndtr(e)) for e in z_edges)).ravel() / len(centres)
        y, s = definition.rule(x, z, np.full(len(x), number))
        y, s = np.asarray(y, dtype=int), np.asarray(s, dtype=int)
        if max(y.max(), s.max()) > 1:
            raise ValueError(f"the limit needs two groups and two labels; {name!r} has more")
        part = np.zeros((len(mass), 2, 2))
        part[np.arange(len(mass)), s, y] = mass
        parts.append(part if noise > 0 else part.sum(axis=0, keepdims=True))
    tied = np.sum(parts, axis=0) if noise > 0 else np.concatenate(parts)
    # A share 1 - bias of the points have their groups permuted, so these are distributed as in the whole set.
    shares = tied.sum(axis=(0, 2))
    loose = tied.sum(axis=1, keepdims=True) * shares[:, np.newaxis]
    return bias * tied + (1 - bias) * loose


def _edges(centres: Floats, deviation: float) -> Floats:
    """Edges of the cells along one axis, a fine grid around every centre.

    They stand on divisors of 0.1, so that the rules' borders (0 and 1.1) are edges and every cell has one label.
    """
    step = 0.1 / max(1, np.ceil(0.1 * CELLS / deviation))
    reach = REACH * deviation
    numbers = [np.arange(np.floor((c - reach) / step), np.ceil((c + reach) / step) + 1) for c in np.unique(centres)]
    return np.unique(np.concatenate(numbers)) * step


def _two(values: NDArray, what: str) -> NDArray[np.intp]:
    """Which of the two values each row has, 0 or 1."""
    distinct, code = encode_groups(values)
    if len(distinct) != 2:
        raise ValueError(f"the limit needs two groups and two labels; these data have {len(distinct)} {what}")
    return code


def _contains(X: Floats, s: NDArray[np.intp]) -> bool:
    """Whether one two-valued feature is the group."""
    values = np.sort(X, axis=0)
    two_valued = np.count_nonzero(np.diff(values, axis=0), axis=0) == 1
    up = X[:, two_valued] == values[-1, two_valued]
    agrees = np.mean(up == (s == 1)[:, np.newaxis], axis=0)
    return bool(np.isin(agrees, (0.0, 1.0)).any())


def _posterior(X: Floats, outcome: NDArray[np.intp], folds: int, seed: int) -> Floats:
    """P(outcome = 1 | x) of every row, by models of the other folds."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from threadpoolctl import threadpool_limits

    # Smaller trees and steps than the defaults: these overfit the thousand rows of German Credit.
    model = HistGradientBoostingClassifier(
        learning_rate=0.06, max_iter=150, max_leaf_nodes=15, l2_regularization=1.0, random_state=seed
    )
    cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with threadpool_limits(1):  # on a busy machine several threads take ten times as long as one
        return cross_val_predict(model, X, outcome, cv=cut, method="predict_proba")[:, 1]
