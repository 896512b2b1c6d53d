"""Which methods are distinguishable: paired tests over the same folds and seeds, and their results in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from fairglvq.experiments import methods
from fairglvq.tradeoff.curve import evenly_measured, label, point_in, rows_of, summary
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import all_of, at_most, capital, gap, interval

LEVEL = 0.05
"""Two methods are distinguishable if chance alone would give such a difference less often than this."""


@dataclass(frozen=True)
class Comparison:
    """Paired difference of two points over the same folds and seeds: mean of ``first`` minus ``second``.

    ``low`` and ``high`` are its 95% interval; ``p`` is how often chance alone would give a difference as large. Of
    several comparisons made together, both are such that all of them hold at once (Bonferroni).
    """

    first: tuple[str, float | None]
    second: tuple[str, float | None]
    difference: float
    low: float
    high: float
    p: float
    n: int

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is significant."""
        return self.p < LEVEL


def compare(
    rows: pd.DataFrame,
    first: tuple[str, float | None],
    second: tuple[str, float | None],
    measure: str = "accuracy",
    *,
    folds: int | None = None,
    together: int = 1,
) -> Comparison:
    """Compare two points over their common folds and seeds with the corrected resampled t-test.

    Training sets of different folds overlap, so the differences are not independent and the usual t-test finds
    differences that are not there. Nadeau & Bengio, *Inference for the Generalization Error*, 2003, widen the variance
    of the mean of J differences::

        (1 / J + n_test / n_train) * s²,   n_test / n_train = 1 / (folds - 1)

    ``folds`` is needed only if a run was stopped before its last fold; ``together`` is the number of comparisons that
    are to hold at once.
    """
    from scipy.special import stdtr, stdtrit  # Student's t: its share below a value, and the value of a share

    paired = pd.concat([_scores(rows, point, measure) for point in (first, second)], axis=1, join="inner").dropna()
    differences = (paired.iloc[:, 0] - paired.iloc[:, 1]).to_numpy(float)
    n = len(differences)
    if n == 0:
        raise ValueError(f"{label(*first)} and {label(*second)} have no fold in common")
    mean = float(differences.mean())
    if n == 1:
        return Comparison(first, second, mean, math.nan, math.nan, math.nan, n)
    k = int(folds or rows["fold"].max() + 1)
    error = math.sqrt((1 / n + 1 / (k - 1)) * differences.var(ddof=1))
    if error < 1e-12:  # equal differences on all folds have no spread: a sign test instead
        alike = 1.0 if abs(mean) < 1e-12 else min(1.0, together * 2.0 ** (1 - n))
        return Comparison(first, second, mean, mean, mean, alike, n)
    reach = error * float(stdtrit(n - 1, 1 - LEVEL / together / 2))
    p = min(1.0, together * 2 * float(stdtr(n - 1, -abs(mean) / error)))
    return Comparison(first, second, mean, mean - reach, mean + reach, p, n)


def _scores(rows: pd.DataFrame, point: tuple[str, float | None], measure: str) -> pd.Series:
    return rows_of(rows, *point).set_index(["seed", "fold"])[measure]


def within(table: pd.DataFrame, budget: float, x: str = "statistical_parity") -> list[tuple[str, float | None]]:
    """The most accurate point of each method among those whose mean ``x`` is at most ``budget``.

    This makes methods with different knobs comparable: how accurate is each at a gap that is accepted?
    """
    possible = table[table[f"{x}_mean"] <= budget + 1e-12].groupby("method", sort=False)
    return [point_in(own.loc[own["accuracy_mean"].idxmax()]) for _, own in possible]


def shared_budget(table: pd.DataFrame, x: str = "statistical_parity") -> float:
    """The smallest mean ``x`` that every method with a knob can keep to (without any such method, every method).

    Rounded up to the tenth of a point that sentences show, so that they show the exact budget.
    """
    with_knob = [methods.get(name).knob is not None for name in table["method"]]
    chosen = table[with_knob] if any(with_knob) else table
    return at_most(float(chosen.groupby("method")[f"{x}_mean"].min().max()))


def compare_within(
    rows: pd.DataFrame,
    budget: float,
    x: str = "statistical_parity",
    *,
    against: str | None = None,
    folds: int | None = None,
) -> list[Comparison]:
    """Compare the most accurate points of all methods within a budget of ``x``: each pair, or all ``against`` one.

    Among fewer pairs smaller differences are significant. The constant answer is left out. The points are chosen on the
    rows that they are compared on, which favours methods with many strengths a little.
    """
    table = evenly_measured(summary(rows))
    table = table[table["method"] != "const"]
    points = within(table, budget, x)
    pairs = [(a, b) for a, b in combinations(points, 2) if against is None or against in (a[0], b[0])]
    return [compare(rows, a, b, folds=folds, together=len(pairs)) for a, b in pairs]


def comparison_words(
    comparisons: Sequence[Comparison], budget: float | None = None, x: str = "statistical_parity"
) -> list[str]:
    """Sentences that stand alone: which methods are distinguishable by accuracy, within which budget if any."""
    if not comparisons:
        return ["There is nothing to compare yet: it takes two methods."]
    within = "" if budget is None else f"If the {MEASURES[x].title} may be at most {gap(budget)}, "
    parted = sorted((one for one in comparisons if one.distinguishable), key=lambda one: -abs(one.difference))
    rest = [one for one in comparisons if not one.distinguishable and not math.isnan(one.p)]
    sentences = [capital(within + words) for words in [*map(_lead_words, parted), *map(_undecided_words, rest)]]
    tested = len(parted) + len(rest)
    if tested < len(comparisons):
        sentences.append("One fold alone tells nothing apart: run more folds or seeds.")
    if tested > 1:
        sentences.append(f"The intervals are wide enough for {all_of(tested)} to hold at once.")
    return sentences


def _lead_words(one: Comparison) -> str:
    """Which is better, and by how much."""
    if one.difference < 0:
        one = replace(one, first=one.second, second=one.first, difference=-one.difference, low=-one.high, high=-one.low)
    return (
        f"{label(*one.first)} is right {gap(one.difference)} more often than {label(*one.second)} "
        f"(95% interval {interval(one.low, one.high)}, {one.n} pairs)."
    )


def _undecided_words(one: Comparison) -> str:
    """Which two are not distinguishable, and what the difference may be."""
    first, second = label(*one.first), label(*one.second)
    if one.low == one.high:
        how = f"{gap(one.low)} in each of only {one.n} folds" if one.difference else f"none in {all_of(one.n)} folds"
        return f"{first} and {second} cannot be told apart (difference in accuracy: {how})."
    if one.high - one.low > 1:
        return f"{first} and {second} cannot be told apart: {one.n} folds say too little about their difference."
    return (
        f"{first} and {second} cannot be told apart: the first may be right {gap(-one.low)} less or {gap(one.high)} "
        "more often than the second (95% interval)."
    )
