"""The landing page: training you can watch, stop, scrub and grab."""

from __future__ import annotations

import logging
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairglvq.datasets import DATASETS
from fairglvq.scenes import service as scenes_service
from fairglvq.scenes.scene import Film, UntrainableError, film_key, with_film
from fairglvq.scenes.service import Job, Show
from fairglvq.scenes.settings import PRESETS, Settings, preset_of
from fairglvq.scenes.sources import TABLE, dataset_of
from pages.shared import controls, download, menu, progress, safe_text, session
from pages.shared.links import missing_in_link
from pages.shared.playground import gestures, stage
from pages.shared.style import STYLE
from pages.shared.training import service

PATIENCE = 0.9  # seconds of training before progress is shown
FIRST_PATIENCE = 8.0  # a cold server has nothing else to show, and nothing to go back to

INTRO = (
    "Each point is a person: colour is their true label, shape is their group. Each large mark is a **prototype** "
    "that decides for everyone nearest to it. GLVQ only wants to be right, INP looks away from one direction, "
    "**FairGLVQ** pushes against what tells groups apart. Press play, drag a prototype, turn C."
)

REAL_INTRO = (
    "Each point is a person: colour is what the data say, shape is their group. Each large mark is a **prototype** "
    "that decides for everyone nearest to it, in all dimensions at once; the picture is a slice. Press play, drag a "
    "prototype, turn C."
)


def main() -> None:
    """Settings, training, picture."""
    settings = session.begin()
    st.session_state.waits_for = []  # jobs whose end will change the page
    st.html(STYLE)
    st.title("See a classifier become fair, and what it costs", anchor=False)
    controls.presets(settings)
    with st.container(key="intro"):
        st.markdown(intro(settings))
    notices(settings)
    show = None if download.needed(settings) else trained(settings)
    if show:
        draw(show)
    with st.sidebar:
        controls.panel(settings, show.said if show else {})
    if download.needed(settings):
        download.offer()
    else:
        progress.watch()
    session.write_link(show.scene.meta["epochs"][-1] if show else None)


def intro(settings: Settings) -> str:
    """What there is to see."""
    preset = preset_of(settings)
    if preset:
        return PRESETS[preset].story
    if settings.dataset == TABLE:
        return f"**Your table.** {REAL_INTRO}"
    return f"**{DATASETS[settings.dataset].description}** {REAL_INTRO}" if settings.real else INTRO


def notices(settings: Settings) -> None:
    """What was repaired in the link, until it is dismissed; and what a link cannot hold."""
    told = st.session_state.told
    if told:
        with _boxed("repaired", "**The link was repaired.** " + " ".join(told)):
            st.button("Dismiss", on_click=told.clear)
    if settings.fold:
        folds, fold, seed = settings.fold
        words = f"**From a trade-off curve:** fold {fold + 1} of {folds}, seed {seed}, split and started as there."
        with _boxed("fold", words):
            st.button("Leave", help="Split the points as usual.", on_click=_leave_fold, args=(settings,))
    missing = missing_in_link(settings)
    if missing:
        st.caption(missing)


def _leave_fold(settings: Settings) -> None:
    session.change(replace(settings, fold=None))


def _boxed(key: str, text: str) -> DeltaGenerator:
    """A sentence in a box; returns the place for a button beside it."""
    with st.container(key=key, border=True):
        left, right = st.columns([7, 1], vertical_alignment="center")
    left.markdown(text)
    return right


def trained(settings: Settings) -> Show | None:
    """The scene of these settings; while it is being trained, the one before."""
    visit = st.session_state
    first = "shown" not in visit and not settings.real
    if first and scenes_service.cold() and visit.view is None:
        _show_without_inp(settings)
    job: Job | None = visit.get("job")
    if job is None or job.key != settings or job.cancelled:
        if job:
            job.cancel()
        job = visit.job = service().order(settings)
    awaited = "shown" not in visit or visit.shown[0] != settings
    if job.finished_within((FIRST_PATIENCE if first else PATIENCE) if awaited else 0):
        try:
            visit.shown = settings, job.future.result()
        except UntrainableError as problem:
            explain(str(problem))
        except Exception:
            logging.getLogger(__name__).exception("Training failed with %s", settings)
            explain("Something unexpected went wrong while training with these settings.")
    else:
        visit.waits_for.append(job)
    return visit.shown[1] if "shown" in visit else None


def _show_without_inp(settings: Settings) -> None:
    """The first picture of a cold server: INP joins the others once scikit-learn is loaded."""
    job = service().order(settings, ("glvq", "fairglvq"))
    if job.finished_within(FIRST_PATIENCE) and not job.future.exception():
        st.session_state.shown = settings, job.future.result()


def explain(problem: str) -> None:
    """Why there is no new picture, and the way back."""
    with _boxed("problem", f"{problem} The last picture that worked is shown."):
        st.button("Undo", key="undo_problem", on_click=session.undo)


def draw(show: Show) -> None:
    """The stage with everything that belongs to this visit."""
    visit = st.session_state
    settings = visit.shown[0]
    for warning in show.warnings:
        st.warning(warning)
    film = visit.film = film_of(settings)
    scene = with_film(show.scene, settings, film) if film else show.scene
    meta = scene.meta | {
        "reply": visit.reply,
        "facts": visit.get("facts"),
        "heard": stage.heard(session.STAGE),
        "view": visit.view,
        "can_undo": bool(visit.history),
        "autoplay": visit.get("autoplay") == settings,
    }
    stage.mount(
        stage.pack(meta, scene.arrays),
        key=session.STAGE,
        on_gestures=gestures.receive,
        on_view=session.keep_view,
    )
    if settings.real and (caveats := dataset_of(settings).caveats):
        st.html(safe_text.STYLE)
        safe_text.say("Caveats: " + " ".join(caveats), "small")
    if film is None:
        order_film(settings)


def film_of(settings: Settings) -> Film | None:
    """C as a film, if it is trained."""
    job: Job | None = st.session_state.get("film_job")
    if job and job.key == film_key(settings) and job.future.done() and not job.future.exception():
        return job.future.result()
    return service().film(settings)


def order_film(settings: Settings) -> None:
    """Have the film trained, now that the picture is there; one for other settings is no longer needed."""
    visit = st.session_state
    job: Job | None = visit.get("film_job")
    if job is None or job.key != film_key(settings) or job.cancelled:
        if job:
            job.cancel()
        job = visit.film_job = service().order_film(settings)
    if not (job.future.done() and job.future.exception()):
        visit.waits_for.append(job)


menu.require_app()
main()
