"""The trade-off where a number is predicted: its curve, and predictions against the protected value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import wording
from fairglvq.datasets import RegressionDataset
from fairglvq.experiments import regression
from fairglvq.experiments.regression import STRENGTHS, TREE
from fairglvq.figures import regression as figures
from fairglvq.tradeoff.numbers import MEASURES, TASKS, measures_of, sentence, what_the_cut_loses
from pages.shared import links
from pages.shared.server import training_service
from pages.shared.style import CHART, theme
from pages.shared.training import finished
from pages.shared.visit import RegressionVisit, visit
from pages.shared.widgets import bound, button, store

INTRO = (
    "Here a **number** is predicted. It should be exact, and tell as little as possible of a protected value, be that "
    "a group or a number itself. **Up is more exact, left is fairer**; bars are the spread over five test folds."
)
LEAVES = (5, 10, 20, 40, 80)
PATIENCE, POLL = 0.6, 0.5  # seconds of work before progress is shown, and between two looks at it
STRONG = tuple(C for C in STRENGTHS if C)


# ---- link ----


def to_query(here: RegressionVisit) -> dict[str, str]:
    """The link's parameters: only what differs from the usual."""
    usual = RegressionVisit(measure=next(iter(measures_of(here.task))))
    fields = {"data": "task", "by": "measure", "C": "C", "leaves": "leaves"}
    return {"task": "numbers"} | links.differing(here, usual, fields)


def from_query(query: Mapping[str, str]) -> tuple[RegressionVisit, list[str]]:
    """The values of a link, and a sentence for everything in it that had to be repaired."""
    found = RegressionVisit(shown="numbers")
    repairs: list[str] = []
    found.task = links.one_of(query, "data", TASKS, found.task, repairs)
    measures = measures_of(found.task)
    found.measure = links.one_of(query, "by", measures, next(iter(measures)), repairs)
    found.C = links.one_of(query, "C", STRONG, found.C, repairs)
    found.leaves = links.one_of(query, "leaves", LEAVES, found.leaves, repairs)
    return found, repairs


# ---- page ----


def controls() -> None:
    """What is predicted, and how large the tree is."""
    here = visit().regression
    bound(
        "selectbox", "What is predicted", "regression.task", options=list(TASKS),
        format_func=lambda task: TASKS[task].title,
    )  # fmt: skip
    known = measures_of(here.task)
    if here.measure not in known:
        here.measure = next(iter(known))
    bound(
        "selectbox", "Fairness measure", "regression.measure", options=list(known),
        format_func=lambda name: known[name], help=MEASURES[here.measure].help,
    )  # fmt: skip
    bound(
        "select_slider", "Leaves of the tree", "regression.leaves", options=LEAVES,
        help="The tree splits its best leaf until there are so many. Curves with 20 come with the project.",
    )  # fmt: skip


def draw() -> None:
    """Everything below the title."""
    here = visit().regression
    waiting = bool(here.jobs)
    st.fragment(_body, run_every=POLL if waiting else None)(waiting, to_query(here))


def _body(waiting: bool, query: dict[str, str]) -> None:
    here = visit().regression
    if to_query(here) != query:
        st.rerun()  # the address has to follow
    curve_key = ("numbers", here.task, here.leaves)
    _forget_others({curve_key, *(_key(here, C) for C in (0.0, here.C))})
    rows = _worked(curve_key, partial(_rows, here.task, here.leaves), "Growing trees on five folds")
    if rows is not None:
        _curve(here, rows)
        _pair(here, rows)
    if bool(here.jobs) != waiting:
        st.rerun()  # to begin or end the polling


def _curve(here: RegressionVisit, rows: pd.DataFrame) -> None:
    table = regression.spread(rows)
    alt = figures.regression_alt(table, here.measure)
    figure = figures.regression_figure(table, here.measure, theme=theme())
    st.plotly_chart(figure, key="numbers_curve", alt=alt, **CHART)
    st.markdown(what_the_cut_loses(table, here.task))
    with st.expander("The same as a table"):
        columns = ["r2", "rmse", *measures_of(here.task), "accuracy", "statistical_parity"]
        shown = pd.DataFrame({"method": table["method"].map(regression.TITLES), "C": table["strength"]})
        for name in columns:
            shown[name] = [
                f"{wording.number(mean, 3)} ± {wording.number(std, 3)}"
                for mean, std in zip(table[f"{name}_mean"], table[f"{name}_std"], strict=True)
            ]
        st.dataframe(shown, hide_index=True, alt=alt)
        st.caption(
            "Means and standard deviations over folds. Accuracy and statistical parity are of decisions at the cut: "
            "who is above the median."
        )


def _pair(here: RegressionVisit, rows: pd.DataFrame) -> None:
    """Predictions against the protected value without and with the fairness term."""
    about = TASKS[here.task]
    st.markdown(f"## Predictions against {about.protected}, before and after")
    bound("select_slider", "Fairness strength C", "regression.C", options=STRONG)
    st.markdown(sentence(rows, here.task, here.measure, here.C))
    data = regression.load(here.task)
    found = {
        C: _worked(_key(here, C), partial(_predicted, here.task, here.leaves, C), f"Growing trees with C = {C:g}")
        for C in (0.0, here.C)
    }
    if any(numbers is None for numbers in found.values()):
        return
    everything = np.concatenate(list(found.values()))
    margin = 0.05 * np.ptp(everything)
    y_range = float(everything.min() - margin), float(everything.max() + margin)
    for column, (C, numbers) in zip(st.columns(2, gap="large"), found.items(), strict=True):
        with column:
            _scatter(here, data, C, numbers, y_range)
    means = "Diamonds are the means of groups" if data.groups else "The line joins the means of ten parts of equal size"
    st.caption(
        f"A mark per row, predicted by a tree that has not seen it; {figures.DRAWN:,} at most are drawn. {means}: the "
        "flatter, the less a prediction tells."
    )
    st.caption("**Caveats.** " + " ".join(data.caveats))


def _key(here: RegressionVisit, C: float) -> tuple:
    return "predicted", here.task, here.leaves, C


def _scatter(
    here: RegressionVisit, data: RegressionDataset, C: float, numbers: Any, y_range: tuple[float, float]
) -> None:
    about = TASKS[here.task]
    what = "Before: C = 0, a plain tree" if C == 0 else f"After: C = {C:g}"
    st.markdown(f"**{what}**")
    names = None if data.group_names is None else [str(name) for name in data.group_names.values()]
    figure = figures.against_protected_figure(
        data.s, numbers, names=names, titles=(about.protected, f"predicted {about.target}"), y_range=y_range,
        theme=theme(),
    )  # fmt: skip
    alt = figures.against_protected_alt(data.s, numbers, names, what)
    st.plotly_chart(figure, key=f"numbers_pair_{C > 0}", alt=alt, **CHART)


# ---- work ----


def _rows(task: str, leaves: int, report: Callable[[float], None]) -> pd.DataFrame:
    """Rows that came with the project; trees of another size are grown."""
    data, rows = regression.load(task), regression.bundled()
    own = rows[(rows["dataset"] == data.name) & (rows["protected"] == data.protected_column)]
    if leaves == RegressionVisit().leaves:
        return own
    grown = regression.evaluate(data, methods=(TREE,), report=report, max_leaves=leaves)
    return pd.concat([grown, own[own["method"] != TREE]], ignore_index=True)


def _predicted(task: str, leaves: int, C: float, report: Callable[[float], None]) -> Any:
    return regression.predictions(regression.load(task), C, report=report, max_leaves=leaves)


def _worked(key: tuple, make: Callable[[Callable[[float], None]], Any], what: str) -> Any:
    """The result of some work in the background; None and a progress bar as long as it goes on."""
    jobs, known = visit().regression.jobs, training_service().results.peek(key)
    if known is not None:
        jobs.pop(key, None)
        return known
    new = key not in jobs
    job = jobs[key] = training_service().submit_work(key, make) if new else jobs[key]
    if finished(job, PATIENCE if new else 0):
        return jobs.pop(key).future.result()
    left, name, usual = job.seconds_left, "_".join(map(str, key)), RegressionVisit().leaves
    with st.container(horizontal=True, vertical_alignment="center", key=f"work_{name}"):
        st.progress(job.share, text=what + (f", {wording.time_left(left)}" if left is not None else " …"))
        if visit().regression.leaves != usual:
            button("Cancel", store, "regression.leaves", usual, key=f"cancel_{name}")
    return None


def _forget_others(wanted: set[tuple]) -> None:
    """Stop work for what is no longer in view."""
    jobs = visit().regression.jobs
    for key in set(jobs) - wanted:
        jobs.pop(key).cancel()
