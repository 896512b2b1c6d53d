"""Trade-offs where a number is predicted: what is on the axes, and sentences about a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from fairglvq import wording
from fairglvq.tradeoff.comparison import compare

if TYPE_CHECKING:
    import pandas as pd


class Task(NamedTuple):
    """What is predicted, and the protected value that it should not reveal."""

    title: str
    target: str
    protected: str
    rows: str  # of whom or what
    groups: bool  # whether the protected value is a group


TASKS: Mapping[str, Task] = {
    "communities": Task("Crime, by share of Black people", "crime rate", "share of Black people", "communities", False),
    "student": Task("Grade, by sex", "final grade", "sex", "students", True),
    "student_age": Task("Grade, by age", "final grade", "age", "students", False),
}
"""The tasks of `fairglvq.experiments.regression`, in words."""


class Measure(NamedTuple):
    """A measure of how much predictions reveal of a protected value."""

    title: str
    help: str


MEASURES: Mapping[str, Measure] = {
    "mean_difference": Measure("difference of means", "How far apart the mean predictions of the groups are."),
    "correlation": Measure(
        "correlation",
        "How well a straight line tells the protected value from the prediction: 0 not at all, 1 exactly.",
    ),
    "maximal_correlation": Measure(
        "largest correlation (HGR)",
        "The same for any curve instead of a line, over ten bins of each. Above 0 by chance alone.",
    ),
    "mutual_information": Measure(
        "mutual information (nats)", "How much one tells of the other, over ten bins of each. Above 0 by chance alone."
    ),
}


def measures_of(task: str) -> dict[str, str]:
    """The measures that a task has, by name."""
    without = "correlation" if TASKS[task].groups else "mean_difference"
    return {name: measure.title for name, measure in MEASURES.items() if name != without}


def sentence(rows: pd.DataFrame, task: str, measure: str, C: float) -> str:
    """What the tree gives up and gains at C, next to a plain tree, and what may be chance; from rows of one task."""
    from fairglvq.experiments.regression import TREE, spread

    table = spread(rows)
    about, trees = TASKS[task], table[table["method"] == TREE].set_index("strength")
    first, chosen = trees.loc[0.0], trees.loc[C]
    measured = _of_predictions(about, measure)
    return (
        f"A plain tree (C = 0) explains {wording.percent(first['r2_mean'])} of the differences in {about.target} "
        f"between {about.rows}; {measured} is {_value(first, measure)}. With C = {C:g} it explains "
        f"{wording.percent(chosen['r2_mean'])}, and {measured} is {_value(chosen, measure)}.{_chance(rows, measure, C)}"
    )


def _chance(rows: pd.DataFrame, measure: str, C: float) -> str:
    """Which of the two differences is not significant."""
    from fairglvq.experiments.regression import TREE

    names = {"r2": "R²", measure: MEASURES[measure].title}
    found = {name: compare(rows, (TREE, C), (TREE, 0.0), name) for name in names}
    doubtful = [names[name] for name, one in found.items() if not one.distinguishable]
    return f" On these folds the difference in {wording.listed(doubtful)} may be chance." if doubtful else ""


def what_the_cut_loses(table: pd.DataFrame, task: str) -> str:
    """FairGLVQ on two halves beside the tree, both without a fairness term."""
    from fairglvq.experiments.regression import CUT, TREE

    about = TASKS[task]
    tree, cut = (table[(table["method"] == name) & (table["strength"] == 0.0)].iloc[0] for name in (TREE, CUT))
    halves = "the target" if about.groups else "target and protected value"
    return (
        f"FairGLVQ is for classes: it sees {halves} as two halves only, and predicts the mean of a half. At C = 0 it "
        f"explains {wording.percent(cut['r2_mean'])}, the tree {wording.percent(tree['r2_mean'])}."
    )


def _of_predictions(about: Task, measure: str) -> str:
    title = MEASURES[measure].title
    if measure == "mean_difference":
        return f"the {title} of its predictions between the groups of {about.protected}"
    return f"the {title} of its predictions with the {about.protected}"


def _value(row: pd.Series, measure: str) -> str:
    return wording.number(float(row[f"{measure}_mean"]), 2)
