"""The model in view is trained in the background: what is shown meanwhile, progress, and Cancel."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairglvq.scenes import service as scene_service
from fairglvq.scenes.points import UntrainableError
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.service import Job, TrainedScene
from fairglvq.scenes.settings import FIELDS, Settings
from fairglvq.scenes.sources import GoneError, dataset_of
from fairglvq.wording import time_left
from pages.shared import session
from pages.shared.server import training_service
from pages.shared.visit import visit
from pages.shared.widgets import boxed, button

if TYPE_CHECKING:
    from fairglvq.explain.view import View

POLL = 0.3  # seconds between two polls of work in the background
PATIENCE = 0.9  # seconds of training before progress is shown
LOOK = 0.05  # seconds between two checks for a newer message of the browser
STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-coming) {
  position: sticky; top: 4rem; z-index: 5; height: 0; overflow: visible;
}
.st-key-picture:has(.st-key-progress) { gap: 0; min-height: 8rem; }
.st-key-picture:has(.st-key-progress) .st-key-shown { opacity: 0.3; filter: grayscale(1); pointer-events: none; }
.st-key-progress {
  gap: 0.4rem; margin: 0.5rem auto 0; max-width: 34rem; padding: 0.8rem 1rem; border-radius: 0.5rem;
  background: var(--st-background-color, Canvas); color: var(--st-text-color, CanvasText);
  border: 1px solid currentColor; box-shadow: 0 4px 18px rgb(0 0 0 / 25%);
}
</style>"""
FIRST_PATIENCE = 8.0  # the same at first, where there is no picture before


def trained(*, without_inp_first: bool = False) -> TrainedScene | None:
    """The scene of the settings in view; while it is being trained, the one before. May be none at all.

    ``without_inp_first``: the first picture of a server on which scikit-learn is not loaded yet comes without INP.
    """
    model = visit().model
    problems = st.container()  # always there: else a problem would make what follows it anew
    settings = model.settings
    first = without_inp_first and model.shown is None and not settings.real
    if first and scene_service.cold() and model.view is None and settings.beside == Settings().beside:
        _show_without_inp(settings)
    if not _in_view(settings):
        awaited = model.shown is None or model.shown[0] != settings
        job = _submitted(settings)
        if finished(job, (FIRST_PATIENCE if first else PATIENCE) if awaited else 0):
            with problems:
                _take(job)
        else:
            model.awaited.append(job)
    return model.shown[1] if model.shown else None


def finished(job: Job, seconds: float) -> bool:
    """Wait at most so long for the end of a job, and not when the next message of the browser has come."""
    for _ in range(round(seconds / LOOK)):
        if job.finished_within(LOOK):
            break
        visit()  # Streamlit ends a run that looks at its session when there is a newer message
    return job.future.done()


def _in_view(settings: Settings) -> bool:
    """Whether exactly this is shown, with all methods."""
    shown = visit().model.shown
    return shown is not None and shown[0] == settings and len(shown[1].scene.trainings) == len(settings.methods)


def _submitted(settings: Settings) -> Job:
    model = visit().model
    job = model.job
    if job is None or job.key != settings or job.cancelled:
        if job:
            job.cancel()
        job = model.job = training_service().submit(settings)
    return job


def _show_without_inp(settings: Settings) -> None:
    job = training_service().submit(settings, ("glvq", "fairglvq"))
    if finished(job, FIRST_PATIENCE) and not job.future.exception():
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
    """Why there is no new model, and a button to go back."""
    model = visit().model
    kept = f" Below is the last model that worked: {before(model.shown[0], model.settings)}." if model.shown else ""
    with boxed("problem", problem + kept):
        button("Undo", session.undo, key="undo_problem")


def current_view() -> View | None:
    """What is shown, explained once per training; None if there is none, or if its table is no longer there."""
    from fairglvq.explain.view import make_view  # only for pages that explain models

    model = visit().model
    if model.shown is None:
        return None
    settings, show = model.shown
    if model.explained is None or model.explained[0] is not show:
        try:
            model.explained = show, make_view(settings, dataset_of(settings), show.scene)
        except GoneError:
            return None
    return model.explained[1]


def pending() -> bool:
    """Whether what is shown belongs to other settings than those in view."""
    model = visit().model
    return model.shown is not None and model.shown[0] != model.settings and _under_way() is not None


def _under_way() -> Job | None:
    """The training that will take the place of what is shown."""
    model = visit().model
    job = model.job
    if job is None or job not in model.awaited or (model.shown is not None and model.shown[0] == job.key):
        return None
    return job


def picture() -> tuple[DeltaGenerator, DeltaGenerator]:
    """A place for `watch` on top, and one for the model shown, which is dimmed while another one is under way."""
    st.html(STYLE)
    with st.container(key="picture"):
        return st.container(key="coming"), st.container(key="shown")


def watch() -> None:
    """Poll all work in the background, as long as there is any."""
    st.fragment(_poll, run_every=POLL if visit().model.awaited else None)()


def _poll() -> None:
    model = visit().model
    if any(job.future.done() or job.cancelled for job in model.awaited):  # a cancelled search may end later
        st.rerun()
    job = _under_way()
    if job is not None:
        left = job.seconds_left
        with st.container(key="progress"):
            st.progress(
                job.share, text=f"**{announced(job.key)}**" + (f" · {time_left(left)}" if left is not None else " …")
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                if model.shown:
                    st.caption(f"Dimmed until then: {before(model.shown[0], job.key)}.")
                button("Cancel", _cancel)


def announced(settings: Settings) -> str:
    """What is being trained: "Training Adult: GLVQ, FairGLVQ"."""
    return f"Training {FIELDS['dataset'].named(settings.dataset)}: {', '.join(TITLES[m] for m in settings.methods)}"


def before(shown: Settings, coming: Settings) -> str:
    """The model shown, named by its difference from the one to come: "XOR", "Adult with Prototypes per class 3"."""
    name = FIELDS["dataset"].named(shown.dataset)
    if shown.dataset != coming.dataset:
        return name
    other = [
        f"{field.label} {field.worded(getattr(shown, setting))}"
        for setting, field in FIELDS.items()
        if getattr(shown, setting) != getattr(coming, setting) and field.applies(shown)
    ]
    return f"{name} with {', '.join(other)}" if other else f"{name} as it was"


def _cancel() -> None:
    """Stop training and go back to what is on the screen."""
    model = visit().model
    if model.job:
        model.job.cancel()
    session.change(model.shown[0] if model.shown else Settings())
