"""The model in view: trained like everywhere else, explained once per visit and settings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fairglvq import explain
from fairglvq.datasets import Dataset
from fairglvq.explain import Explained, PrototypeModel, decision
from fairglvq.explain.people import Population, scaling
from fairglvq.figures.prototypes import Marks
from fairglvq.grammar import Theme
from fairglvq.scenes.planes import Plane
from fairglvq.scenes.scene import METHODS, PEOPLE, TITLES, Run, Scene, Table, UntrainableError
from fairglvq.scenes.service import Job, Show
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.sources import GoneError, dataset_of
from pages.shared import session
from pages.shared.training import service

PATIENCE = 0.9  # seconds of training before progress is shown
CROWD = 400  # people drawn on a map


# ---- training ----


def trained() -> Show | None:
    """The scene of the settings in view; while it is being trained, the one before. May be none at all."""
    visit = st.session_state
    settings: Settings = visit.settings
    if not _in_view(settings):
        job: Job | None = visit.get("job")
        if job is None or job.key != settings or job.cancelled:
            if job:
                job.cancel()
            job = visit.job = service().order(settings)
        if job.finished_within(PATIENCE):
            _take(job)
        else:
            visit.waits_for.append(job)
    return visit.shown[1] if "shown" in visit else None


def _in_view(settings: Settings) -> bool:
    """Whether exactly this is trained, with all methods: a cold playground shows its first picture without INP."""
    visit = st.session_state
    return "shown" in visit and visit.shown[0] == settings and len(visit.shown[1].scene.runs) == len(METHODS)


def _take(job: Job) -> None:
    try:
        st.session_state.shown = job.key, job.future.result()
    except UntrainableError as problem:
        _explain(str(problem))
    except Exception:
        logging.getLogger(__name__).exception("Training failed with %s", job.key)
        _explain("Something unexpected went wrong while training with these settings.")


def _explain(problem: str) -> None:
    """Why there is no new model, and the way back."""
    with st.container(key="problem", border=True):
        rest = " The last model that worked is shown." if "shown" in st.session_state else ""
        st.markdown(problem + rest)
        st.button("Undo", key="undo_problem", on_click=session.undo)


# ---- what is known about it ----


@dataclass(eq=False)
class View:
    """Everything the page shows of one training; what takes time is made when it is first asked for."""

    settings: Settings
    data: Dataset
    table: Table
    people: Population
    models: dict[str, PrototypeModel]
    plane: Plane | None
    _explained: dict[str, Explained] = field(default_factory=dict)
    _figures: dict[tuple, go.Figure] = field(default_factory=dict)

    def explained(self, method: str) -> Explained:
        """A method's model with everybody in their cells."""
        if method not in self._explained:
            self._explained[method] = explain.explain(self.people, self.models[method])
        return self._explained[method]

    def figure(self, key: tuple, make: Callable[[], go.Figure]) -> go.Figure:
        """A picture that opening another card does not change; made once per theme."""
        key = (*key, theme())
        if key not in self._figures:
            self._figures[key] = make()
        return self._figures[key]

    def marks(self, method: str) -> Marks:
        """A method's prototypes as pictures want them."""
        explained = self.explained(method)
        model = explained.model
        pseudo = np.zeros_like(model.labels) if model.pseudo is None else model.pseudo
        shares = explained.sizes / explained.score.n
        return Marks(model.labels, pseudo, shares, self.people.classes, self.people.groups)

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where scaled people or prototypes (n, d) stand on the map."""
        return points if self.plane is None else (points - self.plane.origin) @ self.plane.axes

    @property
    def axes(self) -> tuple[str, str]:
        """What the directions of the map are."""
        first, second = self.table.axes if self.plane is None else self.plane.names
        return first, second

    def crowd(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places, classes and groups of some measured people, always the same ones."""
        measured = np.flatnonzero(self.people.measured)
        some = np.random.default_rng(0).permutation(measured)[:CROWD]
        return self.places(self.people.X[some]), self.people.y[some], self.people.s[some]

    def known(self, i: int) -> dict[str, Any]:
        """What the data say about a person, in original words; painted points have only what was painted."""
        row = int(self.table.rows[i])
        if row < 0:
            return decision.values_of(self.people, self.people.X[i])
        return self.data.frame.iloc[row].to_dict()

    @property
    def who(self) -> list[str]:
        """The groups as people: "women", or "people of group 0"."""
        if self.settings.dataset in PEOPLE:
            return PEOPLE[self.settings.dataset]
        return [
            f"people of {name}" if name.startswith("group ") else f"people in “{name}”" for name in self.table.groups
        ]

    @property
    def measured_words(self) -> str:
        """Whom the numbers are about."""
        n = int(self.people.measured.sum())
        noun = "people" if self.settings.real else "points"
        return f"{n:,} held-out {noun}" if self.table.held_out.any() else f"{n:,} {noun}, all of them used in training"


def view_of(show: Show) -> View | None:
    """The view of a finished training, kept for the visit; none if it was of a table that is no longer there."""
    visit = st.session_state
    settings: Settings = visit.shown[0]
    kept = visit.get("explained_view")
    if kept is None or kept[0] is not show:
        try:
            kept = visit.explained_view = show, _view(settings, dataset_of(settings), show.scene)
        except GoneError:
            return None
    return kept[1]


def _view(settings: Settings, data: Dataset, scene: Scene) -> View:
    table = scene.table
    drawn = table.rows >= 0
    low, span = scaling(data.X[table.rows[drawn]], table.X[drawn])
    people = Population(
        X=table.X,
        y=table.y,
        s=table.s,
        measured=table.measured,
        low=low,
        span=span,
        blocks=data.blocks,
        classes=tuple(table.classes),
        groups=tuple(table.groups),
        favourable=table.favourable,
        group_column=data.group_column,
    )
    models = {method: _model(run, len(table.classes)) for method, run in scene.runs.items()}
    return View(settings, data, table, people, models, scene.plane)


def _model(run: Run, n_classes: int) -> PrototypeModel:
    W = run.prototypes[-1]
    return PrototypeModel(
        W, np.repeat(np.arange(n_classes), len(W) // n_classes), run.pseudo[-1], run.matrix, run.shift
    )


def theme() -> Theme:
    """The page's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def title(method: str) -> str:
    """What a method is called."""
    return TITLES[method]
