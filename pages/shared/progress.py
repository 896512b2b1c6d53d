"""While the model in view is being trained: one fragment looks after it, shows how far it is, and can stop it."""

from __future__ import annotations

import streamlit as st

from fairglvq.scenes.service import Job
from fairglvq.scenes.settings import Settings
from fairglvq.wording import time_left
from pages.shared import session

POLL = 0.3  # seconds between two looks at work in the background


def watch() -> None:
    """Look after all work in the background, as long as there is any."""
    st.fragment(_look, run_every=POLL if st.session_state.waits_for else None)()


def _look() -> None:
    visit = st.session_state
    if any(job.future.done() for job in visit.waits_for):
        st.rerun()
    job: Job | None = visit.get("job")
    if job in visit.waits_for and job is not None and ("shown" not in visit or visit.shown[0] != job.key):
        left = job.seconds_left
        with st.container(key="progress", horizontal=True, vertical_alignment="center"):
            st.progress(job.share, text="Training" + (f": {time_left(left)}" if left is not None else " …"))
            st.button("Cancel", on_click=_cancel)


def _cancel() -> None:
    """Stop training and go back to what is on the screen."""
    visit = st.session_state
    visit.job.cancel()
    session.change(visit.shown[0] if "shown" in visit else Settings())
