"""COMPAS may not be passed on, so it is fetched on first use: with progress, and with another way if that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable

import streamlit as st

from pages.shared.visit import Download, visit
from pages.shared.widgets import button, store

POLL = 0.3


def needed(dataset: str) -> bool:
    """Whether a data set is not on this computer yet."""
    if dataset != "compas":
        return False
    from fairglvq.datasets import compas  # pandas: only for those who choose it

    return not compas.is_cached()


def offer(back: Callable[[], None]) -> None:
    """What is missing and why, and a button to fetch it; ``back`` leads to another data set."""
    download = visit().download
    with st.container(key="fetching", border=True):
        st.markdown(
            "**COMPAS is not on this computer yet.** ProPublica's file may not be passed on with this project. It can "
            "be fetched now (23 MB); only the columns used are kept, no names and no birth dates."
        )
        if not download.busy:
            with st.container(horizontal=True):
                button("Fetch COMPAS", _begin, type="primary")
                button("Back", back, key="back_from_fetching")
            if download.error:
                first, *rest = download.error.splitlines()
                st.markdown(f"It did not work. {first}")
                st.code("\n".join(rest), language=None)
    st.fragment(_poll, run_every=POLL if download.busy else None)()


def _begin() -> None:
    from fairglvq.datasets import compas

    download = visit().download = Download()

    def progress(done: int, total: int) -> None:
        download.share = done / total
        if download.stopped:
            raise InterruptedError

    def work() -> None:
        try:
            compas.fetch(progress)
        except InterruptedError:  # the visitor pressed Cancel
            download.share = 0.0
        except Exception as error:  # shown on the page, with the way to do it by hand
            download.error = str(error)

    download.thread = threading.Thread(target=work, daemon=True)
    download.thread.start()


def _poll() -> None:
    download = visit().download
    if download.thread is None:
        return
    if not download.busy:
        if not download.seen:
            download.seen = True
            st.rerun()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, download.share), text=f"Fetching COMPAS: {download.share:.0%}")
        button("Cancel", store, "download.stopped", True, key="cancel_fetching")
