"""Rows of a choice: bundled, from the store, or being computed; and the buttons that compute them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import bundle, methods
from fairglvq.store import Store
from fairglvq.sweep import Model, Sweep
from pages.shared import fetching
from pages.shared.cluster import cluster_workers
from pages.shared.curves import Choice
from pages.shared.jobs import Pool, Run, local_workers
from pages.shared.sources import TABLE, dataset_of
from pages.shared.state import Settings


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
    return run if choice.dataset != TABLE or data_of(choice) is run.data else None


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
    if fetching.missing(choice.dataset):
        return {}
    store = _store(choice)
    if store is None:
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
    return Store()


def _group_names(choice: Choice) -> list[str]:
    names = bundle.load().groups.get(choice.dataset)
    if names or fetching.missing(choice.dataset):
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
        _progress(run)
    else:
        _offer(choice, found, run)
    if run:
        for method, why in run.failures.items():
            st.warning(f"{methods.get(method).title} was left out: {why}")
        if run.problem:
            st.error(f"{run.problem} Finished models are kept: press Continue when it is back.")
        if run.unkept:
            st.warning(f"Rows could not be kept on disk ({run.unkept}); they last as long as this visit.")


def _progress(run: Run) -> None:
    done, total = len(run.rows), len(run.tasks)
    left = run.seconds_left(pool().size)
    words = f"{done:,} of {total:,} models" + (f", about {_duration(left)} to go" if left is not None else " …")
    with st.container(key="progress", horizontal=True, vertical_alignment="center"):
        st.progress(done / total, text=words)
        st.button("Cancel", on_click=stop)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


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
    if fetching.missing(choice.dataset):
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
    visit.run = pool().begin(Run(sweep, data, tasks, known, store), _visitor())


def stop() -> None:
    """Give up what is being computed for this visit."""
    visit = st.session_state
    if "run" in visit:
        pool().cancel(visit.run, _visitor())


def _visitor() -> str:
    """A name for this visit."""
    return st.session_state.setdefault("visitor", os.urandom(8).hex())
