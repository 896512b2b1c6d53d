"""A visitor's own table: kept in the visit and nowhere else."""

from __future__ import annotations

import weakref

import streamlit as st

from fairglvq.datasets import Dataset

from . import runs, sources


def keep(data: Dataset) -> str:
    """Make this the table of the visit; what was trained on it is forgotten when the visit ends."""
    st.session_state.own_table = data
    key = sources.lend(data)
    weakref.finalize(data, runs.workshop().forget, key)
    return key


def current() -> Dataset | None:
    """The table of this visit."""
    data: Dataset | None = st.session_state.get("own_table")
    if data is not None:
        sources.lend(data)  # another visitor with the same table may have left and taken the key along
    return data
