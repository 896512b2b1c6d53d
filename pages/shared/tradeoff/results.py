"""Rows of a choice: bundled, from the store, or being computed; and the buttons that compute them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle
from fairglvq.experiments.engine import SweepRun
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import ModelKey, Sweep
from fairglvq.scenes.settings import TABLE, Settings
from fairglvq.scenes.sources import dataset_of, key_of
from fairglvq.tradeoff import curve
from fairglvq.tradeoff.choice import MOST_STRENGTHS, Choice
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import count
from pages.shared import download, runs
from pages.shared.server import pool
from pages.shared.tradeoff.session import change, current
from pages.shared.visit import visit
from pages.shared.widgets import bound, button

SECTION = "curve"

HOW_FILLED = (
    "Between two marks of a curve whose gaps are far apart, nothing is known. This adds strengths there and "
    "trains them; press again to go on where the curve bends."
)


class Found(NamedTuple):
    """What is known of a choice: rows as a table, how many of them came with the project, how many are missing."""

    rows: pd.DataFrame
    n_bundled: int
    n_missing: int
    groups: list[str]


def title_of(dataset: str) -> str:
    """The data set's name for people."""
    return "your table" if dataset == TABLE else DATASETS[dataset].title


def data_of(choice: Choice) -> Any:
    """The data set of a choice."""
    return dataset_of(Settings(dataset=choice.dataset, table=choice.table, bins=choice.bins))


def bundled(choice: Choice) -> dict[ModelKey, dict[str, Any]]:
    """Rows that came with the project."""
    return bundle.load().known(choice.sweep()) if choice.strengths else {}


def running(choice: Choice) -> bool:
    """Whether rows of this choice are being computed for this visit."""
    run = _run(choice)
    return run is not None and run.state == "running"


def _run(choice: Choice) -> SweepRun | None:
    """The run of this visit, if it is about this choice."""
    run = visit().curve.run
    if run is None or not choice.strengths or run.sweep != choice.sweep():
        return None
    return run if choice.dataset != TABLE or key_of(run.data) == choice.table else None


def join(choice: Choice) -> None:
    """Watch a run of the same rows that is under way: this visitor's before a reload of the page, or another's."""
    if not choice.strengths or choice.dataset == TABLE or running(choice):
        return
    found = pool().under_way(choice.sweep())
    if found and found is not visit().curve.left_run:
        _watch(found, choice)
        st.rerun()


def _watch(run: SweepRun, choice: Choice) -> None:
    here = visit().curve
    here.run, here.run_choice = run, choice


def collect(choice: Choice) -> Found:
    """Everything known now: the visit's own run first, then the store, then what came with the project."""
    if not choice.strengths:
        return Found(pd.DataFrame(), 0, 0, [])
    sweep = choice.sweep()
    known = bundled(choice)
    shipped = set(known)
    run = _run(choice)
    stored = run.rows if run else _stored(choice, sweep)
    known |= dict(stored)
    rows = [model.row(choice.dataset, known[model]) for model in sweep.models() if model in known]
    failed = run.failures if run else {}
    missing = sum(model not in known and model.method not in failed for model in sweep.models())
    return Found(pd.DataFrame(rows), len(shipped - set(stored)), missing, _group_names(choice))


def _stored(choice: Choice, sweep: Sweep) -> dict[ModelKey, dict[str, Any]]:
    if download.needed(choice.dataset):
        return {}
    store = _store(choice)
    if store is None or (choice.dataset != TABLE and not store.has(choice.dataset)):
        return {}
    try:
        return store.get(sweep.keys(data_of(choice)))
    except ValueError:  # shown when the visitor presses the button
        return {}


def _store(choice: Choice) -> Store | None:
    """Where rows are kept; those of a visitor's own table only if the visitor has chosen it."""
    if choice.dataset == TABLE and not visit().curve.keep_scores:
        return None
    return runs.open_store(SECTION)


def _group_names(choice: Choice) -> list[str]:
    drawn = choice.dataset != TABLE and DATASETS[choice.dataset].synthetic  # quickly loaded, under their newest names
    names = None if drawn else bundle.load().groups.get(choice.dataset)
    if names or download.needed(choice.dataset):
        return list(names or [])
    data = data_of(choice)
    return [str(data.group_names[group]) for group in sorted(set(data.s.tolist()))]


# ---- buttons and progress ----


def status(choice: Choice, found: Found) -> None:
    """What these rows are, and how to get more of them."""
    run = _run(choice)
    if choice.dataset == TABLE:
        bound(
            "checkbox", "Keep finished scores on this server", "curve.keep_scores",
            help="Scores and counts per fold, so that the same run can go on another day. Never the table itself.",
        )  # fmt: skip
    if run and run.state == "running":
        runs.progress(SECTION, run)
    else:
        _offer(choice, found, run)
        _elsewhere(choice)
    runs.notes(SECTION, run)


def _elsewhere(choice: Choice) -> None:
    """The visit's run, if it is about another choice than the one in view."""
    here = visit().curve
    run, other = here.run, here.run_choice
    if run is None or other is None or run.state != "running" or _run(choice) is run:
        return
    run.seen_by(runs.watcher())
    with st.container(key="elsewhere", border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Your other run goes on: {len(run.rows):,} of {len(run.keys):,} models of "
            f"{title_of(other.dataset)}. Computing here stops it; finished models are kept."
        )
        button("Back to it", change, other)
        button("Cancel it", runs.stop, SECTION)


def _offer(choice: Choice, found: Found, run: SweepRun | None) -> None:
    known = len(found.rows)  # without methods that failed
    total = known + found.n_missing
    with st.container(key="offer", horizontal=True, vertical_alignment="center"):
        st.markdown(_known_words(found, known, total, run))
        if found.n_missing:
            button(compute_words(known, found.n_missing), _begin, False, type="primary")
        elif total:
            more = with_missing_strengths(choice, found)
            if more != choice:
                n = count(len(more.sweep()) - len(choice.sweep()), "more model")
                button(f"Fill the jumps: train {n}", _fill, help=HOW_FILLED)
            button("Compute again", _begin, True)
    here = visit().curve
    if here.problem:
        st.error(here.problem)
        here.problem = ""


def compute_words(known: int, missing: int) -> str:
    """What the button does: "Compute the 25 new models"; nothing is trained twice."""
    return f"Compute the {count(missing, 'new model')}" if known else f"Compute {count(missing, 'model')}"


def with_missing_strengths(choice: Choice, found: Found) -> Choice:
    """The choice with strengths added where its curves jump; the same where they do not."""
    if found.rows.empty:
        return choice
    table, gap = curve.summary(found.rows), gap_of(choice)
    for method, values in choice.strengths:
        more = (*values, *curve.missing_strengths(table, method, gap))
        if len(values) < len(more) <= MOST_STRENGTHS:
            choice = choice.with_strengths(method, tuple(sorted(more)))
    return choice


def gap_of(choice: Choice) -> str:
    """The gap in view, or statistical parity where both axes show accuracy."""
    return next((name for name in (choice.x, choice.y) if not MEASURES[name].more_is_better), "statistical_parity")


def _fill() -> None:
    change(with_missing_strengths(current(), collect(current())))
    _begin(False)


def _known_words(found: Found, known: int, total: int, run: SweepRun | None) -> str:
    left = visit().curve.left_run
    if left and left.state == "running" and not run:
        return "Somebody else wants the same models, so their training goes on. Press Compute to follow it again."
    if run and run.state == "cancelled":
        return f"Stopped: {known:,} of {total:,} models are finished and kept."
    if not total:
        return "No chosen method works on these data." if run else "No method is chosen."
    if found.n_bundled:
        part = "These results" if found.n_bundled == known else f"{found.n_bundled:,} of {known:,} results"
        return f"{part} came with the project."
    return f"{known:,} of {total:,} models are finished." if known else f"{total:,} models to train."


def _begin(afresh: bool) -> None:
    """Compute what is chosen now; an argument of the button would be what was chosen when it was drawn."""
    here, choice = visit().curve, current()
    if download.needed(choice.dataset):
        here.problem = (
            "COMPAS is not on this computer yet: choose it on the playground, where it can be fetched, and come back."
        )
        return
    data, sweep, store = data_of(choice), choice.sweep(), _store(choice)
    try:
        sweep.keys(data)
    except ValueError as problem:
        here.problem = f"This cannot be computed: {problem}"
        return
    known = {} if afresh else bundled(choice) | _stored(choice, sweep)
    if not afresh and here.run and here.run is _run(choice):
        known |= here.run.rows
    _watch(runs.begin(SECTION, sweep, data, known, store), choice)
