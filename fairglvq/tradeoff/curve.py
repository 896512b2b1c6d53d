"""Results of a sweep: tables, the Pareto front, distances to the limit, the knee, and one point in detail.

Everything starts from tidy rows as `evaluation` yields them, one per method, strength, fold and seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairglvq.experiments import methods
from fairglvq.experiments.evaluation import summarise
from fairglvq.fairness.limit import Limit
from fairglvq.fairness.metrics import rates_from_counts, ratio
from fairglvq.intervals import SMALL
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import count, flagged, in_hundredths
from fairglvq.wording import gap as gap_words


def point_id(method: str, strength: float | None) -> str:
    """One string for a point of a curve, such as ``fairglvq@0.5``; what a click on a picture returns."""
    return f"{method}@{'' if no_strength(strength) else repr(float(strength))}"  # type: ignore[arg-type]


def point_of(identifier: str) -> tuple[str, float | None]:
    """Method and strength of a point."""
    method, at, strength = identifier.rpartition("@")
    if not at or method not in methods.METHODS:
        raise ValueError(f"{identifier!r} is not a point such as 'fairglvq@0.5'")
    return method, float(strength) if strength else None


def label(method: str, strength: float | None = None) -> str:
    """The words for a point: ``FairGLVQ (C = 0.5)``, ``INP + GLVQ (20 projections)``."""
    title = methods.get(method).title
    return title if no_strength(strength) else f"{title} ({strength_words(method, strength)})"


def strength_words(method: str, strength: float | None) -> str:
    """``C = 0.5``, ``20 projections``, ``gap ≤ 5 points``; without a knob, nothing."""
    knob = methods.get(method).knob
    if knob is None or no_strength(strength):
        return ""
    if knob == "projections":
        return count(strength, "projection")  # type: ignore[arg-type]
    if knob == "parity":
        return f"gap ≤ {in_hundredths(1 - strength):g} points"  # type: ignore[operator]
    return f"{knob} = {strength:g}"


def no_strength(strength: float | None) -> bool:
    """Whether a point is of a method without a knob; in tables its strength is NaN."""
    return strength is None or math.isnan(strength)


def point_in(row: pd.Series) -> tuple[str, float | None]:
    """Method and strength of a row of a table."""
    return str(row["method"]), None if no_strength(row["strength"]) else float(row["strength"])


# Tables


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and (population) spread of every measure per method and strength, ordered as METHODS and by strength."""
    # Equalised odds are beside the contract's columns: only rows straight from the run have them.
    table = summarise(rows, measures=[name for name in MEASURES if name in rows])
    order = {name: position for position, name in enumerate(methods.METHODS)}
    table = table.assign(order=table["method"].map(order)).sort_values(["dataset", "order", "strength"])
    return table.drop(columns="order").reset_index(drop=True)


def evenly_measured(table: pd.DataFrame) -> pd.DataFrame:
    """The points of a summary on the most test folds: while a run goes on, only these can be compared."""
    return table[table["n"] == table["n"].max()]


def pareto(table: pd.DataFrame, x: str = "statistical_parity", y: str = "accuracy") -> NDArray[np.bool_]:
    """Which points of a summary no other one beats: at least as good in both means and better in one."""
    costs = np.column_stack([MEASURES[name].cost(table[f"{name}_mean"].to_numpy(float)) for name in (x, y)])
    no_worse = np.all(costs[:, np.newaxis] <= costs, axis=-1)  # [i, j]: i no worse than j
    better = np.any(costs[:, np.newaxis] < costs, axis=-1)
    return ~np.any(no_worse & better, axis=0) & ~np.isnan(costs).any(axis=1)


def distances(table: pd.DataFrame, limit: Limit, limit_with_group: Limit | None = None) -> pd.Series:
    """Mean vertical distance of each method's points to the limit line, by method.

    A method that uses the group to decide is bounded only by ``limit_with_group``; without one its distance is NaN.
    """
    found = {}
    for method, own in table.groupby("method", sort=False):
        line = limit_with_group if methods.get(str(method)).uses_group_to_decide else limit
        means = own["statistical_parity_mean"], own["accuracy_mean"]
        found[method] = math.nan if line is None else line.mean_distance(*means)
    return pd.Series(found, name="distance", dtype=float)


# The knee


@dataclass(frozen=True)
class Knee:
    """Where a curve bends most: up to here a smaller gap costs little accuracy, beyond it more."""

    method: str
    strength: float
    x: str
    at: tuple[float, float]
    unfair_end: tuple[float, float]
    fair_end: tuple[float, float]

    def words(self) -> str:
        """What the curve costs on either side of the knee."""
        saved, paid = self.unfair_end[0] - self.at[0], self.unfair_end[1] - self.at[1]
        more, dear = self.at[0] - self.fair_end[0], self.at[1] - self.fair_end[1]
        method = methods.get(self.method)
        way = "Down" if method.knob == "parity" else "Up"
        return (
            f"{way} to {strength_words(self.method, self.strength)}, {method.title} narrows the "
            f"{MEASURES[self.x].title} by {gap_words(saved)} and loses {gap_words(paid)} of accuracy; beyond that, "
            f"another {gap_words(more)} of the gap cost {gap_words(dear)} of accuracy."
        )


def knee(table: pd.DataFrame, method: str, x: str = "statistical_parity") -> Knee | None:
    """The point of a method's curve farthest above the chord between its ends, both axes scaled to the curve.

    The curve is accuracy against the gap ``x``. Only points that no other one of the method beats count. None if there
    are fewer than three, or if the curve does not rise above its chord by a twentieth of its height: a straight line
    has no knee.
    """
    own = table[(table["method"] == method) & table["strength"].notna()]
    own = own[pareto(own, x)].sort_values(f"{x}_mean").drop_duplicates(f"{x}_mean")
    if len(own) < 3:
        return None
    gap, score = own[f"{x}_mean"].to_numpy(float), own["accuracy_mean"].to_numpy(float)
    above = (score - score[0]) / np.ptp(score) - (gap - gap[0]) / np.ptp(gap)  # ends at (0, 0) and (1, 1)
    best = int(np.argmax(above))
    if above[best] < 0.05:
        return None
    ends = [(float(gap[i]), float(score[i])) for i in (best, -1, 0)]
    return Knee(method, float(own["strength"].iloc[best]), x, *ends)


# Where strengths are missing

JUMP = 0.15
"""Neighbours on a curve have a hole between them if their gaps differ by more than this share of its range of gaps."""

PER_JUMP = 3
"""Strengths that are put into the widest hole at a time."""


def missing_strengths(table: pd.DataFrame, method: str, x: str = "statistical_parity") -> tuple[float, ...]:
    """Strengths to add, evenly between neighbours whose mean ``x`` jumps; none if the curve has no holes.

    A wider hole gets more of them. Called again with their results, the function adds strengths where the curve bends.
    """
    own = table[(table["method"] == method) & table["strength"].notna() & table[f"{x}_mean"].notna()]
    own = own.sort_values("strength")
    gaps, strengths = own[f"{x}_mean"].to_numpy(float), own["strength"].to_numpy(float)
    if len(own) < 2 or np.ptp(gaps) < 0.01:  # a curve within one point has nothing to fill
        return ()
    found: set[float] = set()
    for low, high, jump in zip(strengths[:-1], strengths[1:], np.abs(np.diff(gaps)) / np.ptp(gaps), strict=True):
        if jump > JUMP:
            between = np.linspace(low, high, 2 + min(PER_JUMP, int(jump / JUMP)))[1:-1]
            whole = methods.get(method).whole
            found |= {float(round(value)) if whole else float(f"{value:.3g}") for value in between}
    return tuple(sorted(found - set(strengths.tolist())))


# One point


def rows_of(rows: pd.DataFrame, method: str, strength: float | None) -> pd.DataFrame:
    """Rows of one point, fold by fold."""
    own = rows[rows["method"] == method]
    return own[own["strength"].isna() if no_strength(strength) else own["strength"] == strength]


def typical_fold(rows: pd.DataFrame) -> int:
    """Position of the row of a point that is nearest to the point's means."""
    scores = rows[["accuracy", "statistical_parity"]].to_numpy(float)
    return int(np.nanargmin(np.abs(scores - np.nanmean(scores, axis=0)).sum(axis=1)))


def rates_by_group(rows: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Rates of each group from the counts of all test folds; with several seeds, everybody counts once per seed."""
    counts = np.sum([np.array(c) for c in rows["counts"]], axis=0)  # (G, truth, decision)
    people = counts.sum(axis=(1, 2)) // rows["seed"].nunique()
    rates = rates_from_counts(counts)
    names = groups if len(groups) == len(counts) else [f"group {i}" for i in range(len(counts))]
    columns = {
        "group": [flagged(name, n < SMALL) for name, n in zip(names, people, strict=True)],
        "people": people,
        "favourable": rates.selection_rate,
        "… if the true label is favourable": rates.true_positive_rate,
        "… if it is not": rates.false_positive_rate,
        "decided rightly": ratio(np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))),
    }
    return pd.DataFrame(columns)
