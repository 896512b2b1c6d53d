"""The landing page: training you can watch, stop, scrub and grab."""

from __future__ import annotations

import logging

import streamlit as st

from pages.shared import controls, fetching, gestures, session, stage
from pages.shared.looks import STYLE
from pages.shared.runs import CancelledError, Job, Show, workshop
from pages.shared.scene import UntrainableError, film_key, with_film
from pages.shared.state import PRESETS, Settings, link_carries_paint, preset_of

PATIENCE = 0.9  # seconds of training before progress is shown
FIRST_PATIENCE = 8.0  # a cold server has nothing else to show, and nothing to go back to
POLL = 0.3  # seconds between two looks at work in the background

INTRO = (
    "Each point is a person: colour is what they deserve, shape is their group. Each large mark is a **prototype** "
    "that decides for everyone nearest to it. GLVQ only wants to be right, INP looks away from one direction, "
    "**FairGLVQ** pushes against what tells groups apart. Press play, drag a prototype, turn C."
)


def main() -> None:
    """Settings, training, picture."""
    settings = session.begin()
    st.html(STYLE)
    st.title("See a classifier become fair, and what it costs", anchor=False)
    controls.presets(settings)
    preset = preset_of(settings)
    with st.container(key="intro"):
        st.markdown(PRESETS[preset].story if preset else INTRO)
    notices(settings)
    show = None if fetching.needed(settings) else trained(settings)
    if show:
        draw(show)
    with st.sidebar:
        controls.panel(settings, show.said if show else {})
    if fetching.needed(settings):
        fetching.offer()
    else:
        watch_work()
    session.write_link(show.scene.meta["epochs"][-1] if show else None)


def notices(settings: Settings) -> None:
    """What was repaired in the link, until it is dismissed; and what a link cannot hold."""
    told = st.session_state.told
    if told:
        with st.container(key="repaired", border=True, horizontal=True, vertical_alignment="center"):
            st.markdown("**The link was repaired.** " + " ".join(told))
            st.button("Dismiss", on_click=told.clear)
    if not link_carries_paint(settings):
        st.caption("So many painted or erased points do not fit into a link: Share leaves them out.")


def trained(settings: Settings) -> Show | None:
    """The scene of these settings; while it is being trained, the one before."""
    visit = st.session_state
    job: Job | None = visit.get("job")
    if job is None or job.key != settings:
        if job:
            job.cancel()
        job = visit.job = workshop().order(settings)
    first = "shown" not in visit and not settings.real
    if job.finished_within(FIRST_PATIENCE if first else PATIENCE):
        try:
            visit.shown = settings, job.future.result()
        except (UntrainableError, CancelledError) as problem:
            explain(str(problem))
        except Exception:
            logging.getLogger(__name__).exception("Training failed with %s", settings)
            explain("Something unexpected went wrong while training with these settings.")
    return visit.shown[1] if "shown" in visit else None


def explain(problem: str) -> None:
    """Why there is no new picture, and the way back."""
    with st.container(key="problem", border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"{problem} The picture below is the last one that worked." if problem else "Training was stopped.")
        st.button("Undo", key="undo_problem", on_click=session.undo)


def draw(show: Show) -> None:
    """The stage with everything that belongs to this visit."""
    visit = st.session_state
    settings = visit.shown[0]
    for warning in show.warnings:
        st.warning(warning)
    film = workshop().film(settings)
    scene = with_film(show.scene, settings, film) if film else show.scene
    meta = scene.meta | {
        "reply": visit.reply,
        "view": visit.view,
        "can_undo": bool(visit.history),
        "autoplay": visit.get("autoplay") == settings,
    }
    stage.mount(
        stage.pack(meta, scene.arrays), key=session.STAGE, on_gesture=gestures.receive, on_view=session.keep_view
    )
    if film is None:
        order_film(settings)


def order_film(settings: Settings) -> None:
    """C as a film, trained after the picture; a film for other settings is no longer needed."""
    visit = st.session_state
    job: Job | None = visit.get("film_job")
    if job and job.key == film_key(settings):
        return
    if job:
        job.cancel()
    visit.film_job = workshop().order_film(settings)


def watch_work() -> None:
    """One fragment looks after all work in the background, as long as there is any."""
    visit = st.session_state
    film: Job | None = visit.get("film_job")
    visit.waits_for = [job for job in (visit.job, film) if job and not job.future.done()]
    st.fragment(_look, run_every=POLL if visit.waits_for else None)()


def _look() -> None:
    visit = st.session_state
    job: Job = visit.job
    if any(work.future.done() for work in visit.waits_for):
        st.rerun()
    if job in visit.waits_for:
        left = job.seconds_left
        with st.container(key="progress", horizontal=True, vertical_alignment="center"):
            st.progress(job.share, text="Training" + (f": about {left:.0f} s to go" if left is not None else " …"))
            st.button("Cancel", on_click=_cancel)


def _cancel() -> None:
    """Stop training and go back to what is on the screen."""
    st.session_state.job.cancel()
    session.undo()


main()
