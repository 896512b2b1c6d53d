"""The one training service of this server."""

from __future__ import annotations

import streamlit as st

from fairglvq.scenes.service import TrainingService


@st.cache_resource(show_spinner=False)
def service() -> TrainingService:
    """Threads and finished trainings, shared by all visitors."""
    return TrainingService()
