"""Algorithm 1 beside its code: its lines, the functions that carry them, and the values of one real step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import datasets
from fairglvq.experiments import anatomy
from fairglvq.experiments.anatomy import ChosenStep, PointTerm, Reversed, StepData
from fairglvq.figures.paper import arrow_scale, step_alt, step_figure
from fairglvq.grammar import GROUP_SHAPES, SHAPES
from fairglvq.lvq import initialisers, kernels, reference
from fairglvq.wording import count, listed, number, percent
from pages.shared.paper.session import BATCHES, EPOCHS, PROTOTYPES, STEPS, STRENGTHS, SYNTHETIC
from pages.shared.style import CHART, theme
from pages.shared.visit import visit
from pages.shared.widgets import bound, one_of

COLOURS = ("blue", "orange")  # of the classes, as the grammar has them
STYLE = """<style>
[class*="st-key-line_"] { padding: 0.6rem 0.9rem 0.4rem; }
[class*="st-key-line_"] p { margin-bottom: 0.3rem; font-size: 0.95rem; line-height: 1.45; }
[class*="st-key-line_"] [data-testid="stExpander"] details { border: 0; }
[class*="st-key-line_"] [data-testid="stExpander"] summary { padding: 0.1rem 0; min-height: 0; }
</style>"""
INTRO = (
    "One **mini-batch step** of a real training, taken apart: choose a point, with the slider or by a click, and "
    "follow its numbers through Algorithm 1. Colour is the class, shape the group; a prototype's shape is its "
    "**pseudo-class**, the group that most people in its cell belong to. The values come from the readable version of "
    "the method, `fairglvq/lvq/reference.py`; tests hold it to Algorithm 1 written line by line, and the compiled "
    "kernels to it."
)


@st.cache_data(max_entries=50, show_spinner=False)
def _opened(choice: ChosenStep) -> StepData:
    return anatomy.open_step(choice)


def draw() -> None:
    """Choices, pictures, lines."""
    st.html(STYLE)
    st.markdown(INTRO)
    here = visit().paper
    with st.container(horizontal=True, vertical_alignment="bottom"):
        one_of("Data set", SYNTHETIC, "paper.dataset")
        bound("select_slider", "Fairness strength C", "paper.C", options=STRENGTHS, width=220)
        bound("selectbox", "Prototypes per class", "paper.prototypes", options=list(PROTOTYPES), width=150)
        bound(
            "selectbox", "Epochs before", "paper.epochs", options=list(EPOCHS), width=120,
            help="How often all points were learned before this step.",
        )  # fmt: skip
        bound(
            "selectbox", "Mini-batch", "paper.batch", options=list(BATCHES), width=110,
            help="Which of the epoch's batches; the ones before it were learned already.",
        )  # fmt: skip
        one_of("Length of a step", STEPS, "paper.step", help="What the sums are divided by: see Why they differ.")
    opened = _opened(ChosenStep(here.dataset, here.prototypes, here.C, here.epochs, here.batch - 1, here.step))
    here.point = min(here.point, len(opened.X))
    bound("slider", "Point of the mini-batch", "paper.point", min_value=1, max_value=len(opened.X), step=1)
    i = here.point - 1
    by_class, fair = anatomy.terms_of(opened, i)
    _pictures(opened, i, by_class, fair)
    _lines(opened, i, by_class, fair)


# ---- pictures ----


def _pictures(opened: StepData, i: int, by_class: PointTerm, fair: PointTerm | None) -> None:
    terms = (
        ("class", by_class, ("closest of its class, w⁺", "closest of another class, w⁻"),
         f"**The label**: its own class {_ways(by_class, True)}"),
        ("fair", fair, ("closest that stands for its group, w⁺", "closest that stands for another, w⁻"),
         f"**The group**, C times: its own group {_ways(fair, False)}"),
    )  # fmt: skip
    for column, (kind, term, names, words) in zip(st.columns(2), terms, strict=True):
        scale = arrow_scale(opened, term)
        with column:
            st.markdown(words)
            figure = step_figure(opened, i, term, kind, scale, names=names, theme=theme())
            st.plotly_chart(
                figure, key=f"step_{kind}", alt=step_alt(i, term, kind), on_select=partial(_picked, f"step_{kind}"),
                selection_mode="points", **CHART,
            )  # fmt: skip
            if term is not None:
                longest = max(float(np.linalg.norm(pull.moves)) for pull in term.pulls)
                st.caption(
                    f"Longest arrow: the point moves the prototype by {longest:.1e}, drawn {scale:,.0f} times longer."
                )


def _picked(key: str) -> None:
    """Take a point of the batch that was clicked; prototypes and lines have no number."""
    for point in st.session_state[key]["selection"]["points"]:
        number_of = point.get("customdata")
        if isinstance(number_of, (int, float)):
            visit().paper.point = int(number_of)


def _ways(term: PointTerm | None, own_comes: bool) -> str:
    """Where prototypes go; the other way round where Φ falls."""
    turned = term is not None and term.slope < 0
    words = "comes, the other goes" if own_comes != turned else "goes, the other comes"
    return f"{words} (turned round: Φ' < 0)" if turned else words


# ---- lines ----


def _lines(opened: StepData, i: int, by_class: PointTerm, fair: PointTerm | None) -> None:
    """All lines with this step's values."""
    data, here = datasets.load(visit().paper.dataset), visit().paper
    lines: tuple[tuple[str, str, str, list[Any]], ...] = (
        (
            "1", "Given: training points, number of epochs, batch size M, learning rate η, strength C, and alpha.",
            f"{int(opened.votes.sum()):,} points, M = {len(opened.X)}, η = {opened.learning_rate:g}, C = {here.C:g}, "
            "alpha = 2", [],
        ),
        (
            "2", "Place the prototypes: cluster all points, and put one prototype of every class near each centre.",
            f"{count(len(opened.W), 'prototype')} at {count(here.prototypes, 'centre')}", [initialisers.shared_kmeans],
        ),
        (
            "3 to 5", "Again and again: set all sums to 0 and take the next mini-batch.",
            f"{count(here.epochs, 'epoch')} over; batch {here.batch} of {opened.n_batches}: training points "
            f"{int(opened.rows[0]) + 1:,} to {int(opened.rows[-1]) + 1:,}", [reference.train, kernels.run],
        ),
        (
            "6 to 7", "For every point of it, find the closest prototype of its class and of another one, then the "
            "closest that stands for its group and for another one. d is the squared distance.",
            _point_words(opened, i, data, by_class, fair),
            [reference.squared_distances, reference.closest_rivals, kernels.closest_by_label],
        ),
        (
            "8 to 14", "If no prototype stands for its group, or none for another, make up the missing distance with "
            "alpha.", _alpha_words(opened), [reference.closest_rivals, kernels.choose_rivals],
        ),
        (
            "15", "Add to the sums of these prototypes in which direction the cost Φ(μ class) - C · Φ(μ group) falls. "
            "μ = (d⁺ - d⁻) / (d⁺ + d⁻) is below 0 where the own side is closer; Φ' is the slope of Φ.",
            _in_lines(_slopes("class", by_class), _slopes("group", fair), _reversed_words(opened)),
            [reference.term, reference.summed_pulls, kernels.weigh],
        ),
        ("16", "Count the updates of both terms.", _divisor_words(opened), [reference.divisor, kernels.scale]),
        (
            "18 to 20", "Divide the sums by these counts and move every prototype, η times as far.",
            _move_words(opened), [reference.take_step, kernels.move],
        ),
        (
            "21 to 23", "Let the people of every cell vote: the majority's group is the prototype's new pseudo-class.",
            _vote_words(opened), [reference.count_votes, reference.majority_groups, kernels.vote],
        ),
    )  # fmt: skip
    for line in lines:
        _line(*line)
    st.markdown("**All prototypes in this step**")
    st.dataframe(_prototypes(opened, data), hide_index=True)
    _turned()


@st.cache_data(max_entries=100, show_spinner=False)
def _reversed_after(choice: ChosenStep) -> Reversed:
    return anatomy.reversed_shares(choice)


def _turned() -> None:
    """How often swish reverses a pull, over the whole training."""
    here = visit().paper
    st.markdown(
        "**Pulls that are turned round.** The paper asks for a Φ that only grows. Swish with β = 2 falls where μ < "
        f"{number(anatomy.turning_point(), 2)}, so for points far inside their own side the label's term pushes and "
        "the group's term pulls. Of all training points:"
    )
    found = {
        epochs: _reversed_after(ChosenStep(here.dataset, here.prototypes, here.C, epochs, 0, here.step))
        for epochs in EPOCHS
    }
    st.dataframe(
        pd.DataFrame({
            "epochs before": list(found),
            "turned round by the label": [percent(one.by_class) for one in found.values()],
            "by the group": [percent(one.fair) for one in found.values()],
        }),
        hide_index=True,
    )  # fmt: skip


def _line(numbers: str, words: str, values: str, functions: Sequence[Callable[..., Any]]) -> None:
    """A line of the algorithm: its number, our words, the values of this step, and the code behind."""
    with st.container(border=True, gap=None, key=f"line_{numbers.replace(' ', '_')}"):
        left, right = st.columns([5, 6], gap="medium")
        left.markdown(f"**{numbers}** · {words}")
        right.markdown(values)
        if functions:
            names = listed([f"`{f.__module__.removeprefix('fairglvq.lvq.')}.{f.__name__}`" for f in functions])
            box = st.expander(f"Code: {names}", key=f"code_{numbers}", on_change="rerun")
            if box.open:
                with box:
                    for function in functions:
                        st.caption(f"`{function.__module__}.{function.__name__}`")
                        st.code(inspect.getsource(getattr(function, "py_func", function)), language="python")


def _in_lines(*texts: str) -> str:
    """Texts one below the other, in Markdown."""
    return "  \n".join(filter(None, texts))


def _group(code: int, name: str) -> str:
    return f"{name} {SHAPES[GROUP_SHAPES[int(code)]].glyph}"


def _point_words(opened: StepData, i: int, data: datasets.Dataset, by_class: PointTerm, fair: PointTerm | None) -> str:
    (x, height), y, s = opened.X[i], int(opened.y[i]), int(opened.s[i])
    who = f"class {data.class_names[y]} ({COLOURS[y]}), group {_group(s, data.group_names[s])}"
    where = f"Point {i + 1} at ({number(x, 3)}, {number(height, 3)}): {who}"
    return _in_lines(
        where, _distances("class", by_class), _distances("group", fair) if fair else "C is 0: no fair term"
    )


def _distances(which: str, term: PointTerm) -> str:
    def one(sign: str, j: int, d: float) -> str:
        who = f"prototype {j + 1}" if j >= 0 else "none"
        return f"w{sign} = {who}, d{sign} = **{number(d, 4)}**" + ("" if j >= 0 else " (made up with alpha)")

    return f"{which}: {one('⁺', term.plus, term.d_plus)}; {one('⁻', term.minus, term.d_minus)}"


def _alpha_words(opened: StepData) -> str:
    found = opened.step.fair_term
    if found is None:
        return "C is 0: no fair term, so nothing can be missing"
    n = int(((found.plus < 0) | (found.minus < 0)).sum())
    if not n:
        return "both groups have prototypes that stand for them: alpha is not used by any point of this batch"
    return f"all prototypes stand for the same group: alpha is used by {n} of {count(len(opened.X), 'point')}"


def _slopes(which: str, term: PointTerm | None) -> str:
    if term is None:
        return ""
    pulls = [
        f"prototype {pull.prototype + 1}: ({number(pull.vector[0], 3)}, {number(pull.vector[1], 3)})"
        for pull in term.pulls
    ]
    return (
        f"{which}: μ = **{number(term.mu, 4)}**, Φ = {number(term.phi, 4)}, Φ'(μ) = **{number(term.slope, 4)}**; "
        f"force on {'; '.join(pulls)}"
    )


def _reversed_words(opened: StepData) -> str:
    """Where swish falls, points push what they should pull."""
    terms = [("class", opened.step.class_term), ("group", opened.step.fair_term)]
    counts = [f"{int((term.slope < 0).sum())} ({which})" for which, term in terms if term is not None]
    return (
        f"Φ' is below 0 where μ < {number(anatomy.turning_point(), 2)}: there swish falls, and a point pushes what it "
        f"would pull. In this batch: {listed(counts)} of {count(len(opened.X), 'point')}"
    )


def _divisor_words(opened: StepData) -> str:
    n_class, n_fair = opened.step.divisors
    terms = [("class", opened.step.class_term, n_class), ("group", opened.step.fair_term, n_fair)]
    lines = [f"{which}: {count(term.n_updates, 'update')}, divided by **{n}**" for which, term, n in terms if term]
    how = "The published runs divide by 4 times prototypes times labels (or groups) in the batch instead."
    return _in_lines(*lines, how if visit().paper.step == "published" else "")


def _move_words(opened: StepData) -> str:
    lengths = np.linalg.norm(opened.step.prototypes - opened.W, axis=1)
    return f"farthest: prototype {int(lengths.argmax()) + 1}, by **{lengths.max():.4f}**"


def _vote_words(opened: StepData) -> str:
    flips = [f"{j + 1}" for j in np.flatnonzero(opened.pseudo != opened.pseudo_after)]
    what = f"the pseudo-class of prototype {listed(flips)} flips" if flips else "no pseudo-class flips"
    return f"{int(opened.votes.sum()):,} votes: {what}"


def _prototypes(opened: StepData, data: datasets.Dataset) -> pd.DataFrame:
    """Class, votes and pseudo-class of every prototype, and how far the batch moved it."""
    groups = [data.group_names[g] for g in range(anatomy.N_GROUPS)]
    step = opened.step

    def length(moves: np.ndarray) -> list[str]:
        return [f"{1000 * value:.2f}" for value in np.linalg.norm(opened.learning_rate * moves, axis=1)]

    return pd.DataFrame({
        "prototype": range(1, len(opened.W) + 1),
        "class": [data.class_names[int(c)] for c in opened.labels],
        "pseudo-class before": [_group(g, groups[g]) for g in opened.pseudo],
        "moved by labels (thousandths)": length(step.class_move),
        "by groups": length(step.fair_move),
        "in all": length(step.class_move + step.fair_move),
        **{f"votes {group}": opened.votes[:, g] for g, group in enumerate(groups)},
        "pseudo-class after": [_group(g, groups[g]) for g in opened.pseudo_after],
    })  # fmt: skip
