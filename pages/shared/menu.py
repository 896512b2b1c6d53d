"""The pages of the app; a page that is opened alone is run through app.py."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.shared.visit import KEY, visit
from pages.shared.widgets import answer_buttons


def pages() -> list[StreamlitPage]:
    """In the order of the menu."""
    return [
        st.Page("pages/playground.py", title="Playground", default=True),
        st.Page("pages/tradeoff.py", title="Trade-off", url_path="tradeoff"),
        st.Page("pages/prototypes.py", title="Prototypes", url_path="prototypes"),
        st.Page("pages/paper.py", title="Paper", url_path="paper"),
        st.Page("pages/stream.py", title="Stream", url_path="stream"),
        st.Page("pages/your_data.py", title="Your data", url_path="your_data"),
    ]


def navigate() -> StreamlitPage:
    """The page that the address asks for, with the menu above it."""
    page = st.navigation(pages(), position="top")
    visit().page = page.url_path
    answer_buttons()
    return page


def require_app() -> None:
    """For the first line of a page: run it from app.py.

    Streamlit takes every file in a folder called "pages" for a page until `st.navigation` was called once. On a server
    just started, a link to a page other than the first would run that file alone, without menu and page settings.
    """
    if KEY not in st.session_state or visit().page is None:
        navigate()
        st.rerun()
