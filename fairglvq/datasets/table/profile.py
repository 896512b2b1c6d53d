"""A data set before any model: favourable rates by group, and how well each column predicts the group."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairglvq.datasets.base import Block, Dataset, trait_blocks
from fairglvq.intervals import SMALL, newcombe, wilson

BINS = 20  # of a number, by quantiles
FOLDS = 5


@dataclass(frozen=True)
class GroupRate:
    """Share of a group with the favourable label, with its 95 % interval (Wilson)."""

    group: str
    n: int
    favourable: int
    rate: float
    low: float
    high: float

    @property
    def small(self) -> bool:
        """Whether the group is too small for a reliable rate."""
        return self.n < SMALL


@dataclass(frozen=True)
class Proxy:
    """How well one original column predicts the group by itself.

    ``auc``: of two people of different groups, how often the column alone assigns them rightly; 0.5 is chance, 1 is
    certainty. Mean and standard deviation over folds that the rule was not made on.
    """

    column: str
    auc: float
    spread: float
    protected: bool = False  # the protected attribute itself


@dataclass(frozen=True)
class Profile:
    """Rates by group, their largest gap, and proxies, strongest first. ``gap_low`` is NaN with three groups or more."""

    rates: tuple[GroupRate, ...]
    gap: float
    gap_low: float
    gap_high: float
    proxies: tuple[Proxy, ...]


def profile(data: Dataset, *, protected: str | None = None, seed: int = 0) -> Profile:
    """Assess a data set before any model; ``protected`` is the column that the groups were made from.

    All rows are used: proxies come from tables of counts, which is fast for millions of rows.
    """
    rates = tuple(group_rate(data, group) for group in data.group_names)
    low, *_, high = sorted(rates, key=lambda rate: rate.rate)
    gap = high.rate - low.rate
    ends = newcombe(high.favourable, high.n, low.favourable, low.n) if len(rates) == 2 else (math.nan, math.nan)
    return Profile(rates, gap, *ends, proxies(data, protected=protected or data.group_column, seed=seed))


def group_rate(data: Dataset, group: object) -> GroupRate:
    """The favourable rate of one group."""
    own = data.y[data.s == group]
    n, k = len(own), int(np.count_nonzero(own == data.favourable))
    low, high = wilson(k, n)
    return GroupRate(str(data.group_names[group]), n, k, k / n if n else math.nan, low, high)


def proxies(data: Dataset, *, protected: str | None = None, seed: int = 0) -> tuple[Proxy, ...]:
    """Every original column by how well it alone predicts the group, best first.

    A number is cut into 20 bins of equal size. The score of a bin or category is the share of the group in it among
    the other folds. With three groups or more: each group against the rest, averaged by their sizes.
    """
    codes = np.searchsorted(np.array(list(data.group_names)), data.s)
    order = np.random.default_rng(seed).permutation(len(codes))
    fold = np.empty(len(codes), np.int64)
    fold[order[np.argsort(codes[order], kind="stable")]] = np.arange(len(codes)) % FOLDS  # each group spread evenly
    found = []
    for block, *_ in trait_blocks(data.blocks):
        aucs = _aucs(_bins(data.X, block), codes, fold, len(data.group_names))
        found.append(Proxy(block.column, float(np.mean(aucs)), float(np.std(aucs)), block.column == protected))
    return tuple(sorted(found, key=lambda proxy: -proxy.auc))


def _bins(X: np.ndarray, block: Block) -> np.ndarray:
    """A small whole number per row: the category, or the bin of a number."""
    if block.kind == "category":
        return X[:, block.columns].argmax(axis=1)
    values = X[:, block.start]
    if block.kind == "binary":
        return values.astype(np.int64)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right")


def _aucs(bins: np.ndarray, codes: np.ndarray, fold: np.ndarray, n_groups: int) -> list[float]:
    """The area under the ROC curve of each fold, from one table of counts (fold, bin, group)."""
    n_bins = int(bins.max()) + 1
    flat = np.bincount((fold * n_bins + bins) * n_groups + codes, minlength=FOLDS * n_bins * n_groups)
    counts = flat.reshape(FOLDS, n_bins, n_groups)
    aucs = []
    for test in counts:
        train = counts.sum(axis=0) - test
        seen, base = train.sum(axis=1), train.sum(axis=0) / max(1, train.sum())
        parts, weights = [], []
        for group in range(n_groups):
            inside, outside = test[:, group], test.sum(axis=1) - test[:, group]
            if inside.sum() == 0 or outside.sum() == 0:
                continue
            # One made-up person at the average, so that a bin seen once does not count as certain.
            score = (train[:, group] + base[group]) / (seen + 1)
            parts.append(auc(score, inside, outside))
            weights.append(int(inside.sum()))
        if parts:
            aucs.append(float(np.average(parts, weights=weights)))
    return aucs or [math.nan]


def auc(score: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> float:
    """Area under the ROC curve from counts per score: P(score of a member > that of another) + P(equal) / 2."""
    levels, place = np.unique(score, return_inverse=True)
    members, others = (np.bincount(place, weights=counts, minlength=len(levels)) for counts in (inside, outside))
    below = np.cumsum(others) - others
    return float((members * (below + others / 2)).sum() / (members.sum() * others.sum()))
