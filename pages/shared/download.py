"""COMPAS may not be passed on, so it is fetched on first use: with progress, and with another way if that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

from fairglvq.scenes.settings import Settings
from pages.shared import session

POLL = 0.3


def needed(settings: Settings) -> bool:
    """Whether the data set chosen is not on this computer yet."""
    return missing(settings.dataset)


def missing(dataset: str) -> bool:
    """Whether a data set is not on this computer yet."""
    if dataset != "compas":
        return False
    from fairglvq.datasets import compas  # pandas: only for those who choose it

    return not compas.is_cached()


def offer(back: Callable[[], None] = session.undo) -> None:
    """Say what is missing and why, and fetch it on request; ``back`` leads to another data set."""
    fetch: dict[str, Any] = st.session_state.setdefault("fetch", {})
    busy = "thread" in fetch and fetch["thread"].is_alive()
    with st.container(key="fetching", border=True):
        st.markdown(
            "**COMPAS is not on this computer yet.** ProPublica's file may not be passed on with this project. It can "
            "be fetched now (23 MB); only the columns used are kept, no names and no birth dates."
        )
        if not busy:
            with st.container(horizontal=True):
                st.button("Fetch COMPAS", type="primary", on_click=_begin)
                st.button("Back", key="back_from_fetching", on_click=back)
        if fetch.get("error") and not busy:
            st.markdown(f"It did not work. {fetch['error'].splitlines()[0]}")
            st.code("\n".join(fetch["error"].splitlines()[1:]), language=None)
    st.fragment(_look, run_every=POLL if busy else None)()


def _begin() -> None:
    from fairglvq.datasets import compas

    fetch: dict[str, Any] = {"share": 0.0, "stop": False}

    def progress(done: int, total: int) -> None:
        fetch["share"] = done / total
        if fetch["stop"]:
            raise InterruptedError

    def work() -> None:
        try:
            compas.fetch(progress)
        except InterruptedError:  # the visitor pressed Cancel
            fetch["share"] = 0.0
        except Exception as error:  # told on the page, with the way to do it by hand
            fetch["error"] = str(error)

    fetch["thread"] = threading.Thread(target=work, daemon=True)
    fetch["thread"].start()
    st.session_state.fetch = fetch


def _look() -> None:
    fetch = st.session_state.fetch
    if "thread" not in fetch:
        return
    if not fetch["thread"].is_alive():
        if not fetch.setdefault("told", False):
            fetch["told"] = True
            st.rerun()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, fetch["share"]), text=f"Fetching COMPAS: {fetch['share']:.0%}")
        st.button("Cancel", key="cancel_fetching", on_click=_stop)


def _stop() -> None:
    st.session_state.fetch["stop"] = True
