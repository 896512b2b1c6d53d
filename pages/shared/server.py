"""What all visitors of this server share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from fairglvq.experiments.engine import Pool
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
