"""What this visit has chosen on the trade-off page, and its link."""

from __future__ import annotations

import time

import streamlit as st

from fairglvq.scenes.settings import Settings
from fairglvq.scenes.sources import TABLE
from fairglvq.tradeoff import choice as curves
from fairglvq.tradeoff.choice import Choice
from pages.shared import own_table

STALE = 2.0
"""Seconds for which a click may still bring the address from before a change: the browser had not heard of it yet."""


def begin() -> Choice:
    """The choice of this run: the link's on arrival, the visit's afterwards, the browser's on its way back."""
    visit = st.session_state
    query = st.query_params.to_dict()
    arrived = visit.pop("arrived", False)
    settings: Settings | None = visit.get("settings")
    if "choice" not in visit and settings and settings.dataset == TABLE and not query:
        visit.choice, visit.choice_told = curves.usual_for_table(settings), []
    elif "choice" not in visit or (not (arrived and not query) and _went_back(query)):
        visit.choice, visit.choice_told = curves.from_query(own_table.mine(query))
    visit.choice_touched = False
    return visit.choice


def _went_back(query: dict[str, str]) -> bool:
    """Whether nothing on the page was used and the address is another one than what was written there."""
    visit = st.session_state
    if visit.get("choice_touched") or query == visit.get("choice_written", query):
        return False
    before, since = visit.get("choice_rewritten", (None, 0.0))
    return query != before or time.monotonic() - since > STALE


def change(choice: Choice) -> None:
    """Go on with another choice."""
    st.session_state.choice = choice
    st.session_state.choice_touched = True


def known() -> bool:
    """Whether this visit has seen the page before."""
    return "choice_written" in st.session_state


def write_link(choice: Choice) -> None:
    """Let the address say what is shown."""
    query = curves.to_query(choice)
    visit = st.session_state
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    if query != visit.get("choice_written", query):
        visit.choice_rewritten = visit.choice_written, time.monotonic()
    visit.choice_written = query
