"""Run it here: one published number computed anew on this computer, through the engine that all pages share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq.datasets import DATASETS
from fairglvq.experiments import paper
from fairglvq.experiments.paper import Experiment
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.sources import dataset_of
from fairglvq.tradeoff.curve import label, rows_of
from fairglvq.wording import count
from pages.shared import download, runs
from pages.shared.visit import visit
from pages.shared.widgets import bound, button

SECTION = "paper"
SEEDS = (1, 3, 5, 10)
HOW = (
    "Five folds per seed: each fold is measured once by a model trained on the others. Another seed means other folds "
    "and another start. Nothing is taken from what came with the project."
)


def title(cell: Experiment) -> str:
    """The words for a cell: "Local, FairGLVQ (C = 1.5)"."""
    return f"{DATASETS[cell.dataset].title}, {label(cell.method, cell.strength)}"


def panel(cells: Sequence[Experiment], bundled: pd.DataFrame) -> None:
    """Choose one, run it, watch it, stop it; and how what was run compares with the bundled rows."""
    here = visit().paper
    if here.cell not in cells:
        here.cell = cells[0]
    with st.container(key="offer", border=True):
        if here.run and here.run.state == "running" and here.run_cell:
            st.markdown(f"**Running here:** {title(here.run_cell)}")
            runs.progress(SECTION, here.run)
        else:
            _choice(cells)
        runs.notes(SECTION, here.run)
    for cell in cells:
        words = _agreement(cell, rows_of(bundled[bundled["dataset"] == cell.dataset], cell.method, cell.strength))
        if words:
            st.caption(f"✕ {words}")


def _choice(cells: Sequence[Experiment]) -> None:
    here = visit().paper
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound("selectbox", "Run it here", "paper.cell", options=list(cells), format_func=title, width=330)
        bound("selectbox", "Seeds", "paper.seeds", options=list(SEEDS), width=90, help=HOW)
        missing = here.cell is not None and download.needed(here.cell.dataset)
        button("Run", begin, type="primary", disabled=missing)
    if here.left_run and here.left_run.state == "running":
        st.caption("Somebody else wants the same models, so their training goes on. Run, to watch it again.")
    elif here.run and here.run.state == "cancelled" and not here.run.problem:
        n = len(here.run.rows)
        st.caption(f"Stopped after {count(n, 'model')}; those are shown." if n else "Stopped before the first model.")
    if missing:
        st.caption("Running needs the people of COMPAS, which are not on this computer yet: see the end of the page.")


def begin() -> None:
    """Train the chosen cell."""
    here = visit().paper
    if here.cell is None or download.needed(here.cell.dataset):
        return
    sweep, data = paper.cell_sweep(here.cell, here.seeds), dataset_of(Settings(dataset=here.cell.dataset))
    runs.begin(SECTION, sweep, data, {}, runs.open_store(SECTION))
    here.run_cell = here.cell
    here.rows.pop(here.cell, None)


def collect() -> None:
    """Take the rows that the run has finished by now."""
    here = visit().paper
    if here.run and here.run_cell and here.run.rows:
        here.rows[here.run_cell] = here.run.tidy_rows()


def scores(cell: Experiment, measure: str) -> list[float]:
    """What was computed in this visit for a cell, fold by fold."""
    return [float(row[measure]) for row in visit().paper.rows.get(cell, []) if not np.isnan(row[measure])]


def _agreement(cell: Experiment, bundled: pd.DataFrame) -> str:
    """How the rows that were run here compare with those that came with the project, fold by fold; nothing if none."""
    known: dict[Any, Any] = {(row.seed, row.fold): row for row in bundled.itertuples()}
    own = visit().paper.rows.get(cell, [])
    pairs = [(row, known[row["seed"], row["fold"]]) for row in own if (row["seed"], row["fold"]) in known]
    if not own:
        return ""
    if not pairs:
        return f"{title(cell)}: {count(len(own), 'model')} run here, none of them came with the project."
    off = max(
        abs(row[name] - getattr(kept, name)) for row, kept in pairs for name in ("accuracy", "statistical_parity")
    )
    same = "exactly the bundled numbers" if off < 1e-6 else f"the bundled numbers but for up to {100 * off:.2f} points"
    return f"{title(cell)}: {count(len(own), 'model')} run here; on {count(len(pairs), 'fold')} they have {same}."
