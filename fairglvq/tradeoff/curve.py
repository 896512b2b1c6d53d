"""What a sweep says: tables, the Pareto front, which methods the folds can tell apart, the knee, and a receipt.

Everything starts from tidy rows as `evaluation` yields them, one per method, strength, fold and seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairglvq.experiments import methods
from fairglvq.experiments.evaluation import summarise
from fairglvq.fairness.limit import Limit

if TYPE_CHECKING:
    import pandas as pd  # links need the names of the measures, but no tables

LEVEL = 0.05
"""Two methods count as told apart if chance alone would part them so far less often than this."""

KEYS = ["dataset", "method", "strength"]


@dataclass(frozen=True)
class Measure:
    """A score of a model: its name on an axis, and which direction is better."""

    title: str
    more_is_better: bool = False

    def cost(self, values: Any) -> Any:
        """The score turned so that less is better."""
        return -values if self.more_is_better else values


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("accuracy", more_is_better=True),
    "statistical_parity": Measure("statistical parity gap"),
    "equal_opportunity": Measure("equal opportunity gap"),
    "equalized_odds": Measure("equalised odds gap"),
}


# Points and their names


def point_id(method: str, strength: float | None) -> str:
    """One string for a point of a curve, such as ``fairglvq@0.5``; what a click on a picture returns."""
    return f"{method}@{'' if _none(strength) else repr(float(strength))}"  # type: ignore[arg-type]


def point_of(identifier: str) -> tuple[str, float | None]:
    """Method and strength of a point."""
    method, at, strength = identifier.rpartition("@")
    if not at or method not in methods.METHODS:
        raise ValueError(f"{identifier!r} is not a point such as 'fairglvq@0.5'")
    return method, float(strength) if strength else None


def label(method: str, strength: float | None = None) -> str:
    """The words for a point: ``FairGLVQ (C = 0.5)``, ``INP + GLVQ (20 projections)``."""
    title = methods.get(method).title
    return title if _none(strength) else f"{title} ({strength_words(method, strength)})"


def strength_words(method: str, strength: float | None) -> str:
    """``C = 0.5``, ``20 projections``; without a knob, nothing."""
    knob = methods.get(method).knob
    if knob is None or _none(strength):
        return ""
    if knob == "projections":
        return f"{strength:g} projection{'' if strength == 1 else 's'}"
    return f"{knob} = {strength:g}"


def _none(strength: float | None) -> bool:
    return strength is None or math.isnan(strength)


# Tables


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and (population) spread of every measure per method and strength, ordered as METHODS and by strength."""
    import pandas as pd

    table = summarise(rows, KEYS)
    if "equalized_odds" in rows:  # beside the contract's columns, so only rows straight from the run have it
        found = rows.groupby(KEYS, dropna=False, sort=False)["equalized_odds"]
        extra = pd.DataFrame({"equalized_odds_mean": found.mean(), "equalized_odds_std": found.std(ddof=0)})
        table = table.merge(extra.reset_index(), on=KEYS)
    order = {name: position for position, name in enumerate(methods.METHODS)}
    table = table.assign(order=table["method"].map(order)).sort_values(["dataset", "order", "strength"])
    return table.drop(columns="order").reset_index(drop=True)


def pareto(table: pd.DataFrame, x: str = "statistical_parity", y: str = "accuracy") -> NDArray[np.bool_]:
    """Which points of a summary no other one beats: at least as good in both means and better in one."""
    costs = np.column_stack([MEASURES[name].cost(table[f"{name}_mean"].to_numpy(float)) for name in (x, y)])
    no_worse = np.all(costs[:, np.newaxis] <= costs, axis=-1)  # [i, j]: i no worse than j
    better = np.any(costs[:, np.newaxis] < costs, axis=-1)
    return ~np.any(no_worse & better, axis=0) & ~np.isnan(costs).any(axis=1)


def distances(table: pd.DataFrame, limit: Limit, limit_with_group: Limit | None = None) -> pd.Series:
    """Mean vertical distance of each method's points to the limit line, by method.

    A method that uses the group to decide sees more than the features, so only ``limit_with_group`` bounds it; without
    one its distance is NaN.
    """
    import pandas as pd

    found = {}
    for method, points in table.groupby("method", sort=False):
        line = limit_with_group if methods.get(str(method)).uses_group_to_decide else limit
        means = points["statistical_parity_mean"], points["accuracy_mean"]
        found[method] = math.nan if line is None else line.mean_distance(*means)
    return pd.Series(found, name="distance", dtype=float)


# Which methods can be told apart


@dataclass(frozen=True)
class Comparison:
    """Paired difference of two points over the same folds and seeds: mean of ``first`` minus ``second``.

    ``low`` and ``high`` are its 95 % interval; ``p`` is how often chance alone would give a difference as large. Of
    several comparisons made together, both are such that all of them hold at once (Bonferroni).
    """

    first: tuple[str, float | None]
    second: tuple[str, float | None]
    measure: str
    difference: float
    low: float
    high: float
    p: float
    n: int

    @property
    def told_apart(self) -> bool:
        """Whether the folds can tell the two apart."""
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
    import pandas as pd
    from scipy.special import stdtr, stdtrit  # Student's t: its share below a value, and the value of a share

    paired = pd.concat([_scores(rows, point, measure) for point in (first, second)], axis=1, join="inner").dropna()
    differences = (paired.iloc[:, 0] - paired.iloc[:, 1]).to_numpy(float)
    n = len(differences)
    if n == 0:
        raise ValueError(f"{label(*first)} and {label(*second)} have no fold in common")
    mean = float(differences.mean())
    if n == 1:
        return Comparison(first, second, measure, mean, math.nan, math.nan, math.nan, n)
    k = int(folds or rows["fold"].max() + 1)
    error = math.sqrt((1 / n + 1 / (k - 1)) * differences.var(ddof=1))
    if error < 1e-12:  # every fold says the same, and the spread nothing: how often would coins fall alike?
        alike = 1.0 if abs(mean) < 1e-12 else min(1.0, together * 2.0 ** (1 - n))
        return Comparison(first, second, measure, mean, mean, mean, alike, n)
    reach = error * float(stdtrit(n - 1, 1 - LEVEL / together / 2))
    p = min(1.0, together * 2 * float(stdtr(n - 1, -abs(mean) / error)))
    return Comparison(first, second, measure, mean, mean - reach, mean + reach, p, n)


def _scores(rows: pd.DataFrame, point: tuple[str, float | None], measure: str) -> pd.Series:
    method, strength = point
    chosen = rows[rows["method"] == method]
    chosen = chosen[chosen["strength"].isna() if _none(strength) else chosen["strength"] == strength]
    return chosen.set_index(["seed", "fold"])[measure]


def within(
    table: pd.DataFrame, budget: float, x: str = "statistical_parity", y: str = "accuracy"
) -> list[tuple[str, float | None]]:
    """The best point of each method by mean ``y`` among those whose mean ``x`` is at most ``budget``.

    This makes methods with different knobs comparable: what does each offer to someone who accepts this gap?
    """
    points = []
    for _, own in table[table[f"{x}_mean"] <= budget + 1e-12].groupby("method", sort=False):
        best = own.loc[MEASURES[y].cost(own[f"{y}_mean"]).idxmin()]
        points.append((str(best["method"]), None if _none(best["strength"]) else float(best["strength"])))
    return points


def shared_budget(table: pd.DataFrame, x: str = "statistical_parity") -> float:
    """The smallest mean ``x`` that every method with a knob can keep to (without any such method, every method)."""
    with_knob = [methods.get(name).knob is not None for name in table["method"]]
    chosen = table[with_knob] if any(with_knob) else table
    return float(chosen.groupby("method")[f"{x}_mean"].min().max())


def compare_within(
    rows: pd.DataFrame, budget: float | None = None, x: str = "statistical_parity", y: str = "accuracy", *,
    against: str | None = None, folds: int | None = None,
) -> list[Comparison]:  # fmt: skip
    """Compare the best points of all methods within a budget of ``x``: each pair, or all ``against`` one method.

    Fewer pairs can be told apart more easily. The constant answer is left out. The points are chosen on the rows that
    they are compared on, which favours methods with many strengths a little.
    """
    table = summary(rows)
    table = table[table["method"] != "const"]
    points = within(table, shared_budget(table, x) if budget is None else budget, x, y)
    pairs = [(a, b) for a, b in combinations(points, 2) if against is None or against in (a[0], b[0])]
    return [compare(rows, a, b, y, folds=folds, together=len(pairs)) for a, b in pairs]


def comparison_words(
    comparisons: Sequence[Comparison], budget: float | None = None, x: str = "statistical_parity"
) -> str:
    """Say which methods the folds can tell apart and which they cannot, and within which budget if there was one."""
    if not comparisons:
        return "There is nothing to compare yet: it takes two methods."
    parted = [one for one in comparisons if one.told_apart]
    alone = [one for one in comparisons if math.isnan(one.p)]
    rest = [one for one in comparisons if not one.told_apart and not math.isnan(one.p)]
    sentences = [_told(one) for one in sorted(parted, key=lambda one: -abs(one.difference))]
    if rest:
        pairs = "; ".join(f"{label(*one.first)} and {label(*one.second)} ({_interval(one)})" for one in rest)
        sentences.append(f"These folds cannot tell apart (first minus second in points, 95 % interval): {pairs}.")
    if alone:
        sentences.append("One fold alone tells nothing apart: run more folds or seeds.")
    if len(comparisons) - len(alone) > 1:
        sentences.append(f"The intervals are wide enough for all {len(comparisons) - len(alone)} to hold at once.")
    if budget is not None:
        sentences.insert(0, f"Each method at its best with a {MEASURES[x].title} of at most {budget:.2f}.")
    return " ".join(sentences)


def _told(one: Comparison) -> str:
    measure = MEASURES[one.measure]
    if one.difference < 0:
        one = replace(one, first=one.second, second=one.first, difference=-one.difference, low=-one.high, high=-one.low)
    return (
        f"{label(*one.first)} has {'higher' if measure.more_is_better else 'a larger'} {measure.title} than "
        f"{label(*one.second)}, by {_points(one.difference)} points (95 % interval {_points(one.low)} to "
        f"{_points(one.high)}, {one.n} pairs)."
    )


def _interval(one: Comparison) -> str:
    if one.low == one.high:
        return (
            f"{_points(one.low)} in each of only {one.n} folds" if one.difference else f"the same in all {one.n} folds"
        )
    return f"{_points(one.low)} to {_points(one.high)}"


def _points(share: float) -> str:
    """A difference of shares in hundredths, with a minus sign that is not a dash of a range."""
    text = f"{100 * share:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")  # noqa: RUF001


# The knee


@dataclass(frozen=True)
class Knee:
    """Where a curve bends most: up to here fairness was cheap, beyond it gets dear."""

    method: str
    strength: float
    x: str
    y: str
    at: tuple[float, float]
    unfair_end: tuple[float, float]
    fair_end: tuple[float, float]

    def words(self) -> str:
        """What was to be had cheaply, and what the rest costs."""
        saved, paid = self.unfair_end[0] - self.at[0], self.unfair_end[1] - self.at[1]
        more, dear = self.at[0] - self.fair_end[0], self.at[1] - self.fair_end[1]
        x, y = MEASURES[self.x].title, MEASURES[self.y].title
        return (
            f"The knee of {methods.get(self.method).title} is at {strength_words(self.method, self.strength)}: up to "
            f"there the {x} shrinks by {_points(saved)} points for {_points(paid)} points of {y}; beyond it, another "
            f"{_points(more)} points cost {_points(dear)}."
        )


def knee(table: pd.DataFrame, method: str, x: str = "statistical_parity", y: str = "accuracy") -> Knee | None:
    """The point of a method's curve farthest above the chord between its ends, both axes scaled to the curve.

    Only points that no other one of the method beats count. None if there are fewer than three, or if the curve does
    not rise above its chord by a twentieth of its height: a straight line has no knee. ``x`` is a gap, ``y`` accuracy.
    """
    if MEASURES[x].more_is_better or not MEASURES[y].more_is_better:
        raise ValueError(f"a knee is looked for in accuracy against a gap; got {y!r} against {x!r}")
    own = table[(table["method"] == method) & table["strength"].notna()]
    own = own[pareto(own, x, y)].sort_values(f"{x}_mean").drop_duplicates(f"{x}_mean")
    if len(own) < 3:
        return None
    gap, score = own[f"{x}_mean"].to_numpy(float), own[f"{y}_mean"].to_numpy(float)
    above = (score - score[0]) / np.ptp(score) - (gap - gap[0]) / np.ptp(gap)  # ends at (0, 0) and (1, 1)
    best = int(np.argmax(above))
    if above[best] < 0.05:
        return None
    ends = [(float(gap[i]), float(score[i])) for i in (best, -1, 0)]
    return Knee(method, float(own["strength"].iloc[best]), x, y, *ends)


# The receipt


def receipt(
    dataset: str,
    sweeps: Mapping[str, Sequence[float]],
    *,
    folds: int = 5,
    seeds: Iterable[int] = (0,),
    knobs: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    load: str | None = None,
) -> str:
    """A Python program that computes the numbers on screen anew and prints them.

    ``sweeps`` maps each method to its strengths, ``knobs`` are those of the data set and ``params`` the estimators'.
    ``load`` is the line that makes ``data`` where ``datasets.load`` cannot, such as a table of one's own.
    """
    given = {name: _literal(name, value) for name, value in (params or {}).items()}
    asked = ["data", "method", "strengths", f"folds={folds}", f"seed={[int(seed) for seed in seeds]}", "store=False"]
    arguments = [*asked, *(f"{name}={value}" for name, value in given.items())]
    loading = ", ".join([repr(dataset), *(f"{name}={_literal(name, value)}" for name, value in (knobs or {}).items())])
    lines = [
        "import pandas as pd",
        "",
        "from fairglvq import datasets, evaluation",
        "from fairglvq.tradeoff import curve",
        "",
        load or f"data = datasets.load({loading})",
        "sweeps = {",
        *(f"    {method!r}: {[float(value) for value in strengths]}," for method, strengths in sweeps.items()),
        "}",
        "rows = pd.concat(",
        "    evaluation.evaluate(",
        *(f"        {argument}," for argument in arguments),
        "    )",
        "    for method, strengths in sweeps.items()",
        ")",
        "print(curve.summary(rows).round(4).to_string(index=False))",
    ]
    return "\n".join(lines) + "\n"


def _literal(name: str, value: Any) -> str:
    """A value as it stands in a program."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float | bool | None):
        raise ValueError(f"{name} is a {type(plain).__name__}, which a receipt cannot write down")
    return repr(plain)
