"""Cells of a partition: people counted by class and group, an answer per cell, and measures of both.

A partition model gives every point a cell and everybody in a cell the same answer: a prototype's cell the label of the
prototype, a tree's leaf the label of the leaf. For labels a cell is its counts (`Cells`), for numbers its moments
(`Moments`). Both have a loss on the target and a loss on the protected attribute, each with the best answers that cells
allow, and so the objective of eq. (4)::

    min_c L_class(c o p) - C min_f L_fair(f o p)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.fairness.metrics import encode_groups, gaps_from_counts, ratio
from fairglvq.intervals import SMALL
from fairglvq.labels import as_column, favourable_of, positions

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

Measure = Literal["statistical_parity", "equal_opportunity"]
Order = Literal["size", "impurity", "contribution"]
Loss = Literal["entropy", "gini"]


class PartitionModel(Protocol):
    """A fitted model with cells, such as `PrototypeClassifier` and `FairTree`."""

    classes_: Any
    cell_labels_: Any  # (P,) the answer of each cell

    def apply(self, X: Any) -> Any:
        """The cell (n,) of each row."""

    def runner_up(self, X: Any) -> Any:
        """The cell (n,) that each row would be in without its own."""


class Score(NamedTuple):
    """Numbers of a model; a gap is NaN where there are no two groups to compare."""

    accuracy: float
    statistical_parity: float
    equal_opportunity: float
    n: int


def score(counts: Counts, favourable: int) -> Score:
    """Exact numbers from counts (G, K, K) of people by group, truth and decision."""
    wanted = np.arange(counts.shape[1]) == favourable
    merge = np.stack([~wanted, wanted]).astype(np.int64)  # (2, K)
    gaps = gaps_from_counts(merge @ counts @ merge.T)
    n = int(counts.sum())
    right = float(np.trace(counts, axis1=1, axis2=2).sum() / n)
    return Score(right, float(gaps.statistical_parity), float(gaps.equal_opportunity), n)


class Contributions(NamedTuple):
    """A gap taken apart: ``values`` (P,) add up to ``gap``, the lead of group ``ahead`` over group ``behind``."""

    measure: Measure
    ahead: int
    behind: int
    values: Floats
    gap: float


class CellGroup(NamedTuple):
    """One group inside one cell, or all groups together (``group`` -1)."""

    group: int
    n: int
    share_of_cell: float
    share_of_group: float  # how much of the whole group is in this cell
    accuracy: float
    favourable: float  # share whose truth is favourable; the decision is the same for all in the cell

    @property
    def small(self) -> bool:
        """Whether these are too few people for a rate to mean much."""
        return self.n < SMALL


class Removal(NamedTuple):
    """The effect of removing one cell, whose people go to their next cells."""

    before: Score
    after: Score
    changed: int  # people with another decision
    gained: tuple[int, ...]  # per group, people who now get the favourable decision
    lost: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """People in cells by class and group, and the class that each cell answers with."""

    counts: Counts = field(repr=False)  # (P, K, G) people by cell, true class and group
    answers: NDArray[np.int64]  # (P,) positions of classes
    favourable: int
    # (P, K, G, K) the same by the answer of the cell that would be next, where that is known
    moves: Counts | None = field(default=None, repr=False, kw_only=True)

    def loss(self, of: Literal["target", "protected"], kind: Loss = "entropy") -> float:
        """How badly cells predict the class or the group, per person: the mean entropy or Gini impurity in a cell.

        These are the log loss and the squared error of the best constant answers, the shares in each cell.
        """
        inside = self.counts.sum(axis=2 if of == "target" else 1)  # (P, K) or (P, G)
        return float(np.nansum(_impurity(inside, kind) * self.sizes) / self.sizes.sum())

    def objective(self, C: float, kind: Loss = "entropy") -> float:
        """Eq. (4): loss on the class less C times the loss on the group."""
        return self.loss("target", kind) - C * self.loss("protected", kind)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """People per cell (P,)."""
        return self.counts.sum(axis=(1, 2))

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """People (G, K, K) by group, truth and decision."""
        K = self.counts.shape[1]
        return np.stack([self.counts[self.answers == label].sum(axis=0).T for label in range(K)], axis=2)

    @cached_property
    def score(self) -> Score:
        """Accuracy and gaps of the whole model."""
        return score(self.confusion, self.favourable)

    @cached_property
    def impurity(self) -> Floats:
        """Chance (P,) that two people drawn from a cell differ in their true label (Gini); NaN for an empty cell."""
        return _impurity(self.counts.sum(axis=2), "gini")

    def rates(self, measure: Measure) -> tuple[Floats, NDArray[np.int64]]:
        """Rate of favourable decisions per group (G,), and of how many people: all, or the truly favourable ones."""
        members = self.members(measure)
        n = members.sum(axis=0)
        return ratio(members[self.answers == self.favourable].sum(axis=0), n), n

    def contributions(self, measure: Measure = "statistical_parity") -> Contributions:
        """A gap as a sum over cells.

        With a the group that fares best and b the one that fares worst::

            gap = sum_p [label of p is favourable] (n_pa / n_a - n_pb / n_b)

        where n_pa counts the members of a in the cell of p; for equal opportunity only those whose truth is favourable.
        NaN everywhere where there are no two groups to compare.
        """
        rate, n = self.rates(measure)
        if np.sum(~np.isnan(rate)) < 2:
            return Contributions(measure, 0, 0, np.full(len(self.sizes), math.nan), math.nan)
        ahead, behind = int(np.nanargmax(rate)), int(np.nanargmin(rate))
        if ahead == behind:  # all rates alike: any two groups that have one
            ahead, behind = np.flatnonzero(~np.isnan(rate))[:2].tolist()
        members = self.members(measure)
        share = members[:, ahead] / n[ahead] - members[:, behind] / n[behind]
        values = np.where(self.answers == self.favourable, share, 0.0)
        # The sum of the values but for rounding, which may read as another decimal than the score's.
        return Contributions(measure, ahead, behind, values, float(rate[ahead] - rate[behind]))

    def members(self, measure: Measure) -> NDArray[np.int64]:
        """People (P, G) per cell and group whom a measure counts."""
        if measure == "statistical_parity":
            return self.counts.sum(axis=1)
        return self.counts[:, self.favourable]

    def cell(self, p: int) -> list[CellGroup]:
        """Every group inside cell p, and all together at the end."""
        counts, label, favourable = self.counts[p].T, self.answers[p], self.favourable  # (G, K)
        whole = self.counts.sum(axis=(0, 1))  # (G,)
        size = int(counts.sum())
        rows = []
        for group in [*range(len(counts)), -1]:
            own = counts.sum(axis=0) if group < 0 else counts[group]  # (K,)
            n, of = int(own.sum()), int(whole.sum() if group < 0 else whole[group])
            rows.append(
                CellGroup(group, n, _part(n, size), _part(n, of), _part(own[label], n), _part(own[favourable], n))
            )
        return rows

    def classes_in(self, p: int) -> NDArray[np.int64]:
        """People (K,) in cell p by true label."""
        return self.counts[p].sum(axis=1)

    def without(self, p: int) -> Removal:
        """Remove cell p without training anew: its people go to their next cells."""
        if self.moves is None:
            raise ValueError("it is not known which cell would be next")
        label, moving = self.answers[p], self.moves[p]  # (K, G, K) truth, group, answer of the next cell
        after = self.confusion.copy()
        after[:, :, label] -= moving.sum(axis=2).T
        after += moving.transpose(1, 0, 2)
        changed = moving.sum(axis=0)  # (G, K)
        changed[:, label] = 0
        gained = changed[:, self.favourable]
        lost = changed.sum(axis=1) * (label == self.favourable)
        before, now = self.score, score(after, self.favourable)
        return Removal(before, now, int(changed.sum()), tuple(gained.tolist()), tuple(lost.tolist()))

    def order(self, by: Order) -> list[int]:
        """Cells from the largest to the smallest in size, impurity, or part in the parity gap (either sign)."""
        worth = {
            "size": self.sizes.astype(float),
            "impurity": self.impurity,
            "contribution": np.abs(self.contributions().values),
        }[by]
        # Equal ones by size, so that empty cells come last.
        return np.lexsort((-self.sizes, -np.nan_to_num(worth, nan=-1.0))).tolist()


def _impurity(inside: Counts, kind: Loss) -> Floats:
    """Entropy or Gini impurity (P,) of counts inside each cell (P, labels); NaN for an empty cell."""
    shares = ratio(inside, inside.sum(axis=1, keepdims=True))
    if kind == "gini":
        return 1 - (shares**2).sum(axis=1)
    return -(shares * np.log(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=1)


def _part(n: int, whole: int) -> float:
    return float(n / whole) if whole else math.nan


@dataclass(frozen=True, eq=False)
class Moments:
    """Cells for numbers: rows per cell, and mean and variance of target and protected value inside.

    A protected group has a column per group; the variances of its indicators add up to its Gini impurity.
    """

    sizes: NDArray[np.int64]  # (P,)
    means: Floats  # (P, 1 + b) target first
    variances: Floats  # (P, 1 + b)

    @property
    def answers(self) -> Floats:
        """The best answer (P,) of each cell under squared error: its mean."""
        return self.means[:, 0]

    def loss(self, of: Literal["target", "protected"]) -> float:
        """Squared error of the best answers per row, as a share of that of one answer for all: 1 - R²."""
        columns = slice(0, 1) if of == "target" else slice(1, None)
        share = self.sizes / self.sizes.sum()
        within = share @ self.variances[:, columns].sum(axis=1)
        between = (share @ (self.means[:, columns] - share @ self.means[:, columns]) ** 2).sum()
        return float(within / (within + between)) if within + between > 0 else 0.0

    def objective(self, C: float) -> float:
        """Eq. (4): loss on the target less C times the loss on the protected value."""
        return self.loss("target") - C * self.loss("protected")


def count(shape: tuple[int, ...], *codes: ArrayLike) -> Counts:
    """How many people have each combination of codes, such as cell, class and group."""
    places = np.ravel_multi_index([np.asarray(code) for code in codes], shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


def moments(cells: ArrayLike, columns: Floats, n_cells: int) -> Moments:
    """Moments of columns (n, 1 + b), target first, in the cell of each row."""
    where = np.asarray(cells)
    sizes = np.bincount(where, minlength=n_cells)

    def mean(values: Floats) -> Floats:
        sums = [np.bincount(where, weights=column, minlength=n_cells) for column in values.T]
        return np.nan_to_num(ratio(np.stack(sums, axis=1), sizes[:, None]))

    means = mean(columns)
    return Moments(sizes, means, mean((columns - means[where]) ** 2))


def majority(counts: ArrayLike) -> NDArray[np.intp]:
    """The most frequent class (P,) of each cell, from counts (P, K, G)."""
    return np.asarray(counts).sum(axis=2).argmax(axis=1)


def cells_of(
    model: PartitionModel, X: Any, y: ArrayLike, *, sensitive_features: ArrayLike, favourable: Any = None
) -> Cells:
    """People in the cells of a fitted model; ``favourable`` None takes the last one of two classes."""
    answers = positions(as_column(model.cell_labels_, "cell_labels_"), model.classes_, "class")
    codes = positions(as_column(y, "y"), model.classes_, "class")
    groups, group_codes = encode_groups(sensitive_features)
    K, cells, following = len(model.classes_), model.apply(X), model.runner_up(X)
    moves = count((len(answers), K, len(groups), K), cells, codes, group_codes, answers[following])
    return Cells(moves.sum(axis=3), answers, favourable_of(model.classes_, favourable), moves=moves)
