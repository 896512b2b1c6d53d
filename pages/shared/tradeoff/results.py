"""Rows of a choice: bundled, from the store, or being computed; and the buttons that compute them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import bundle, methods
from fairglvq.experiments.cluster import cluster_workers
from fairglvq.experiments.engine import Pool, Run, local_workers
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import Model, Sweep
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.sources import TABLE, dataset_of, key_of
from fairglvq.tradeoff.choice import Choice
from fairglvq.wording import time_left
from pages.shared import download
from pages.shared.tradeoff.visit import change


class Found(NamedTuple):
    """What is known of a choice: rows as a table, how many of them came with the project, how many are missing."""

    rows: pd.DataFrame
    n_bundled: int
    n_missing: int
    groups: list[str]


@st.cache_resource(show_spinner=False)
def pool() -> Pool:
    """The one pool of this server: a Dask cluster if there is one, else a process per core."""
    address = os.environ.get("FAIRGLVQ_CLUSTER")
    size = int(os.environ.get("FAIRGLVQ_WORKERS", os.cpu_count() or 1))
    return Pool(cluster_workers(address) if address else local_workers(max(1, size)))


def title_of(dataset: str) -> str:
    """The data set's name for people."""
    return "your table" if dataset == TABLE else DATASETS[dataset].title


def data_of(choice: Choice) -> Any:
    """The data set of a choice."""
    return dataset_of(Settings(dataset=choice.dataset, table=choice.table))


def bundled(choice: Choice) -> dict[Model, dict[str, Any]]:
    """Rows that came with the project."""
    return bundle.load().known(choice.sweep()) if choice.strengths else {}


def running(choice: Choice) -> bool:
    """Whether rows of this choice are being computed for this visit."""
    run = _run(choice)
    return run is not None and run.state == "running"


def _run(choice: Choice) -> Run | None:
    """The run of this visit, if it is about this choice."""
    run: Run | None = st.session_state.get("run")
    if run is None or not choice.strengths or run.sweep != choice.sweep():
        return None
    return run if choice.dataset != TABLE or key_of(run.data) == choice.table else None


def join(choice: Choice) -> None:
    """Take up a run of the same rows that is under way: this visitor's before a reload of the page, or another's."""
    visit = st.session_state
    if not choice.strengths or choice.dataset == TABLE or running(choice):
        return
    found = pool().under_way(choice.sweep())
    if found and found is not visit.get("left_run"):
        _watch(found, choice)
        st.rerun()


def _watch(run: Run, choice: Choice) -> None:
    st.session_state.run, st.session_state.run_choice = run, choice


def collect(choice: Choice) -> Found:
    """Everything known now: the visit's own run first, then the store, then what came with the project."""
    empty = Found(pd.DataFrame(), 0, 0, [])
    if not choice.strengths:
        return empty
    sweep = choice.sweep()
    known = bundled(choice)
    shipped = set(known)
    run = _run(choice)
    stored = run.rows if run else _stored(choice, sweep)
    known |= dict(stored)
    rows = [
        {
            "dataset": choice.dataset,
            "method": model.method,
            "strength": np.nan if model.strength is None else model.strength,
            "fold": model.fold,
            "seed": model.seed,
        }
        | known[model]
        for model in sweep.models()
        if model in known
    ]
    failed = run.failures if run else {}
    missing = sum(model not in known and model.method not in failed for model in sweep.models())
    table = pd.DataFrame(rows)
    return Found(table, len(shipped - set(stored)), missing, _group_names(choice))


def _stored(choice: Choice, sweep: Sweep) -> dict[Model, dict[str, Any]]:
    if download.missing(choice.dataset):
        return {}
    store = _store(choice)
    if store is None or (choice.dataset != TABLE and not store.has(choice.dataset)):
        return {}
    try:
        tasks = sweep.tasks(data_of(choice))
    except ValueError:  # said when the visitor wants to compute it
        return {}
    digests = {task.key.digest(): model for model, task in tasks.items()}
    return {digests[digest]: row for digest, row in store.get(task.key for task in tasks.values()).items()}


def _store(choice: Choice) -> Store | None:
    """Where rows are kept; those of a visitor's own table only if the visitor wants it."""
    if choice.dataset == TABLE and not st.session_state.get("t_keep"):
        return None
    try:
        return Store()
    except OSError as problem:
        st.session_state.store_problem = str(problem)
        return None


def _group_names(choice: Choice) -> list[str]:
    names = bundle.load().groups.get(choice.dataset)
    if names or download.missing(choice.dataset):
        return list(names or [])
    data = data_of(choice)
    return [str(data.group_names[group]) for group in sorted(set(data.s.tolist()))]


# ---- buttons and progress ----


def status(choice: Choice, found: Found) -> None:
    """What these rows are, and how to get more of them."""
    run = _run(choice)
    if choice.dataset == TABLE:
        st.checkbox(
            "Keep finished scores on this server", key="t_keep", persist_state="session",
            help="Scores and counts per fold, so that the same run can go on another day. Never the table itself.",
        )  # fmt: skip
    if run and run.state == "running":
        run.look(_visitor())
        _progress(run)
    else:
        _offer(choice, found, run)
        _elsewhere(choice)
    if run:
        for method, why in run.failures.items():
            st.warning(f"{methods.get(method).title} was left out: {why}")
        if run.problem:
            st.error(f"{run.problem} Nothing that was finished is lost: try again when the cluster is back.")
    problem = st.session_state.pop("store_problem", None)
    if problem:
        st.warning(f"What is computed here lasts only as long as this visit: {problem}.")
    if run and run.unkept:
        st.warning(f"Rows could not be kept on disk ({run.unkept}); they last as long as this visit.")


def _progress(run: Run) -> None:
    done, total = len(run.rows), len(run.tasks)
    left = run.seconds_left(pool().size)
    words = f"{done:,} of {total:,} models" + (f", {time_left(left)}" if left is not None else " …")
    with st.container(key="progress", horizontal=True, vertical_alignment="center"):
        st.progress(done / total, text=words)
        st.button("Cancel", on_click=stop)


def _elsewhere(choice: Choice) -> None:
    """The visit's run, if it is about another choice than the one in view."""
    visit = st.session_state
    run: Run | None = visit.get("run")
    if run is None or run.state != "running" or _run(choice) is run:
        return
    run.look(_visitor())
    with st.container(key="elsewhere", border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Your other run goes on: {len(run.rows):,} of {len(run.tasks):,} models of "
            f"{title_of(visit.run_choice.dataset)}. Computing here stops it; finished models are kept."
        )
        st.button("Back to it", on_click=_back_to_it)
        st.button("Cancel it", on_click=stop)


def _back_to_it() -> None:
    change(st.session_state.run_choice)


def _offer(choice: Choice, found: Found, run: Run | None) -> None:
    total = len(choice.sweep()) if choice.strengths else 0
    known = total - found.n_missing
    with st.container(key="offer", horizontal=True, vertical_alignment="center"):
        st.markdown(_known_words(found, known, total, run))
        if found.n_missing:
            verb = "Continue" if known > found.n_bundled else "Compute"
            st.button(f"{verb} ({found.n_missing:,} models)", type="primary", on_click=_begin, args=(choice, False))
        elif total:
            st.button("Compute again", on_click=_begin, args=(choice, True))
    problem = st.session_state.pop("run_problem", None)
    if problem:
        st.error(problem)


def _known_words(found: Found, known: int, total: int, run: Run | None) -> str:
    left: Run | None = st.session_state.get("left_run")
    if left and left.state == "running" and not run:
        return "Somebody else wants the same models, so their training goes on. Continue, to watch it grow again."
    if run and run.state == "cancelled":
        return f"Stopped: {known:,} of {total:,} models are finished and kept."
    if not total:
        return "No method is chosen."
    if found.n_bundled:
        it = bundle.load()
        part = "These results" if found.n_bundled == known else f"{found.n_bundled:,} of {known:,} results"
        return f"{part} came with the project: computed on {it.date} by `{it.command}`, version {it.version}."
    return f"{known:,} of {total:,} models are finished." if known else f"{total:,} models to train."


def _begin(choice: Choice, afresh: bool) -> None:
    visit = st.session_state
    if download.missing(choice.dataset):
        visit.run_problem = (
            "COMPAS is not on this computer yet: choose it on the playground, where it can be fetched, and come back."
        )
        return
    data, sweep, store = data_of(choice), choice.sweep(), _store(choice)
    try:
        tasks = sweep.tasks(data)
    except ValueError as problem:
        visit.run_problem = f"This cannot be computed: {problem}"
        return
    before: Run | None = visit.get("run")
    if before:
        pool().cancel(before, _visitor())
    known = {} if afresh else bundled(choice) | _stored(choice, sweep)
    if not afresh and before and before is _run(choice):
        known |= before.rows
    visit.left_run = None
    _watch(pool().begin(Run(sweep, data, tasks, known, store), _visitor()), choice)


def stop() -> None:
    """Give up what is being computed for this visit, or leave it to those who want the same."""
    visit = st.session_state
    run: Run | None = visit.get("run")
    if run is None or run.ended is not None:
        return
    pool().cancel(run, _visitor())
    if run.state == "running":
        visit.run, visit.left_run = None, run


def _visitor() -> str:
    """A name for this visit."""
    return st.session_state.setdefault("visitor", os.urandom(8).hex())
