"""The model in view is trained in the background: what is shown meanwhile, how far it is, and a way to stop it."""

from __future__ import annotations

import logging

import streamlit as st

from fairglvq.scenes import service as scene_service
from fairglvq.scenes.points import UntrainableError
from fairglvq.scenes.service import Job, Show
from fairglvq.scenes.settings import Settings
from fairglvq.wording import time_left
from pages.shared import session
from pages.shared.server import training_service
from pages.shared.visit import visit
from pages.shared.widgets import button

POLL = 0.3  # seconds between two looks at work in the background
PATIENCE = 0.9  # seconds of training before progress is shown
FIRST_PATIENCE = 8.0  # a cold server has nothing else to show, and nothing to go back to


def trained(*, without_inp_first: bool = False) -> Show | None:
    """The scene of the settings in view; while it is being trained, the one before. May be none at all.

    ``without_inp_first``: the first picture of a server on which scikit-learn is not loaded yet comes without INP.
    """
    model = visit().model
    settings = model.settings
    first = without_inp_first and model.shown is None and not settings.real
    if first and scene_service.cold() and model.view is None and settings.beside == Settings().beside:
        _show_without_inp(settings)
    if not _in_view(settings):
        awaited = model.shown is None or model.shown[0] != settings
        job = _ordered(settings)
        if job.finished_within((FIRST_PATIENCE if first else PATIENCE) if awaited else 0):
            _take(job)
        else:
            model.awaited.append(job)
    return model.shown[1] if model.shown else None


def _in_view(settings: Settings) -> bool:
    """Whether exactly this is shown, with all methods."""
    shown = visit().model.shown
    return shown is not None and shown[0] == settings and len(shown[1].scene.trainings) == len(settings.methods)


def _ordered(settings: Settings) -> Job:
    model = visit().model
    job = model.job
    if job is None or job.key != settings or job.cancelled:
        if job:
            job.cancel()
        job = model.job = training_service().order(settings)
    return job


def _show_without_inp(settings: Settings) -> None:
    job = training_service().order(settings, ("glvq", "fairglvq"))
    if job.finished_within(FIRST_PATIENCE) and not job.future.exception():
        visit().model.shown = settings, job.future.result()


def _take(job: Job) -> None:
    try:
        visit().model.shown = job.key, job.future.result()
    except UntrainableError as problem:
        _explain(str(problem))
    except Exception:
        logging.getLogger(__name__).exception("Training failed with %s", job.key)
        _explain("Something unexpected went wrong while training with these settings.")


def _explain(problem: str) -> None:
    """Why there is no new model, and the way back."""
    with st.container(key="problem", border=True):
        left, right = st.columns([7, 1], vertical_alignment="center")
        kept = " The last model that worked is shown." if visit().model.shown else ""
        left.markdown(problem + kept)
        with right:
            button("Undo", session.undo, key="undo_problem")


def watch() -> None:
    """Look after all work in the background, as long as there is any."""
    st.fragment(_look, run_every=POLL if visit().model.awaited else None)()


def _look() -> None:
    model = visit().model
    if any(job.future.done() for job in model.awaited):
        st.rerun()
    job = model.job
    if job is not None and job in model.awaited and (model.shown is None or model.shown[0] != job.key):
        left = job.seconds_left
        with st.container(key="progress", horizontal=True, vertical_alignment="center"):
            st.progress(job.share, text="Training" + (f": {time_left(left)}" if left is not None else " …"))
            button("Cancel", _cancel)


def _cancel() -> None:
    """Stop training and go back to what is on the screen."""
    model = visit().model
    if model.job:
        model.job.cancel()
    session.change(model.shown[0] if model.shown else Settings())
