"""Services shared by all visitors of this server."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from fairglvq.classroom.rooms import Rooms
    from fairglvq.experiments.engine import Pool
    from fairglvq.fairness.limit import Limit
    from fairglvq.scenes.service import TrainingService


@st.cache_resource(show_spinner=False)
def training_service() -> TrainingService:
    """Threads that train scenes, and finished trainings."""
    from fairglvq.scenes.service import TrainingService  # with it Numba: only for pages that train

    return TrainingService()


@st.cache_resource(show_spinner=False)
def pool() -> Pool:
    """Workers that compute curves: a Dask cluster if there is one, else a process per core."""
    from fairglvq.experiments.engine import make_pool

    return make_pool()


@st.cache_data(show_spinner=False)
def known_limit(dataset: str, with_group: bool = False) -> Limit:
    """The limit line of a drawn data set."""
    from fairglvq.fairness import limit

    return limit.known(dataset, with_group=with_group)


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """Rooms in which classes do the lesson; a thread deletes those that have ended."""
    from fairglvq.classroom.rooms import SWEEP, Rooms
    from fairglvq.classroom.storage import default_path

    found = Rooms(default_path())

    def sweep_for_ever() -> None:
        while True:
            time.sleep(SWEEP)
            found.sweep()

    threading.Thread(target=sweep_for_ever, daemon=True, name="rooms").start()
    return found
