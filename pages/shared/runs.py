"""Sweeps that a page computes in the background: begin, watch, stop. ``section`` names the page's part of the visit.

Callbacks get that name and not the part itself, because Streamlit keeps callbacks of widgets that are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from fairglvq.wording import time_left
from pages.shared.server import pool
from pages.shared.visit import RunVisit, visit
from pages.shared.widgets import button

if TYPE_CHECKING:
    from fairglvq.datasets import Dataset
    from fairglvq.experiments.engine import SweepRun
    from fairglvq.experiments.store import Store
    from fairglvq.experiments.sweep import ModelKey, Sweep

POLL = 0.7  # seconds between two polls of a run


def of(section: str) -> RunVisit:
    """The part of the visit."""
    found: RunVisit = getattr(visit(), section)
    return found


def running(section: str) -> bool:
    """Whether anything is being computed for this page."""
    run = of(section).run
    return run is not None and run.state == "running"


def open_store(section: str) -> Store | None:
    """Where rows are kept; None, and a reason for `notes`, where they cannot be."""
    from fairglvq.experiments.store import Store, default_path

    try:
        return Store(default_path())
    except OSError as problem:
        of(section).store_problem = str(problem)
        return None


def begin(
    section: str, sweep: Sweep, data: Dataset, known: dict[ModelKey, dict[str, Any]], store: Store | None
) -> SweepRun:
    """Compute the rows of a sweep that are not known; a run before this one is stopped."""
    from fairglvq.experiments.engine import SweepRun

    here = of(section)
    if here.run:
        _give_up(here.run)
    here.left_run = None
    here.run = pool().begin(SweepRun(sweep, data, known, store), watcher())
    return here.run


def stop(section: str) -> None:
    """Stop the run, or only stop watching it if other visitors do."""
    here = of(section)
    run = here.run
    if run is None or run.state != "running":
        return
    _give_up(run)
    if run.state == "running":
        here.run, here.left_run = None, run


def _give_up(run: SweepRun) -> None:
    """Stop watching a run, also for visits that are over, such as the one before this page was reloaded."""
    for other in run.watchers():
        if not runtime.get_instance().is_active_session(other):
            run.left_by(other)
    pool().cancel(run, watcher())


def watcher() -> str:
    """The name of this visit for the engine: its session."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def progress(section: str, run: SweepRun) -> None:
    """How far it is, and Cancel."""
    run.seen_by(watcher())
    done, total = len(run.rows), len(run.keys)
    left = run.seconds_left(pool().size)
    words = f"{done:,} of {total:,} models" + (f", {time_left(left)}" if left is not None else " …")
    with st.container(key="progress", horizontal=True, vertical_alignment="center"):
        st.progress(done / total, text=words)
        button("Cancel", stop, section)


def notes(section: str, run: SweepRun | None) -> None:
    """What went wrong, if anything."""
    from fairglvq.experiments import methods

    here = of(section)
    if run:
        for method, why in run.failures.items():
            st.warning(f"{methods.get(method).title} was left out: {why}")
        if run.problem:
            st.error(f"{run.problem} Nothing that was finished is lost: try again when the cluster is back.")
    if here.store_problem:
        st.warning(f"What is computed here lasts only as long as this visit: {here.store_problem}.")
        here.store_problem = ""
    if run and run.store_error:
        st.warning(f"Rows could not be kept on disk ({run.store_error}); they last as long as this visit.")
