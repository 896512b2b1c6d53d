"""The pages of the app; a page that is opened alone is run through app.py."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from pages.shared import display
from pages.shared.style import EMBED_STYLE, PROJECTOR_STYLE
from pages.shared.visit import KEY, LESSON, visit


def pages() -> list[StreamlitPage]:
    """In the order of the menu."""
    return [
        st.Page("pages/playground.py", title="Playground", default=True),
        st.Page("pages/tradeoff.py", title="Trade-off", url_path="tradeoff"),
        st.Page("pages/prototypes.py", title="Prototypes", url_path="prototypes"),
        st.Page("pages/lesson.py", title="Lesson", url_path=LESSON),
        st.Page("pages/teach.py", title="Teach", url_path="teach"),
        st.Page("pages/paper.py", title="Paper", url_path="paper"),
        st.Page("pages/stream.py", title="Stream", url_path="stream"),
        st.Page("pages/your_data.py", title="Your data", url_path="your_data"),
    ]


IN_BROWSER = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
TITLE = "{} · FairGLVQ Explorer"


def navigate() -> StreamlitPage:
    """The page of the address, with the menu above it."""
    here, context = visit(), get_script_run_ctx()
    if context and _overtaken(context):
        st.switch_page(next(page for page in pages() if page.url_path == here.page))
    page = st.navigation(pages(), position="hidden" if st.context.is_embedded else "top")
    st.set_page_config(page_title=TITLE.format(page.title))
    if here.page != page.url_path:
        here.page, here.entries = page.url_path, here.entries + 1
    if context:
        here.page_hashes[page.url_path] = context.page_script_hash
    with st.container(key="menu"):
        titles = json.dumps({one.url_path: TITLE.format(one.title) for one in pages()})
        st.html(f"<script>window.fairglvqTitles = {titles};{IN_BROWSER}</script>", unsafe_allow_javascript=True)
    _follow_display()
    return page


def _overtaken(context: ScriptRunContext) -> bool:
    """Whether the message of this run was sent from a page that the visitor had left by the menu.

    A slider or the stage may send a message right after the click, before the browser has received the other page. The
    message requests the page that the browser still shows, named by `st.context.url`, and would lead back to it.
    """
    here, info = visit(), context.context_info
    if info is None or context.is_history_navigation or here.page is None:
        return False
    stands_on = urlsplit(info.url).path.rpartition("/")[2]
    return stands_on != here.page and here.page_hashes.get(stands_on) == context.page_script_hash


def _follow_display() -> None:
    """Apply the display of the link, and add it to the address of a page chosen in the menu."""
    here = visit()
    query = here.display_address.link_to_follow()
    if query is not None:
        here.display = display.from_query(query)[0]
    missing = {name: value for name, value in here.display.to_query().items() if name not in st.query_params}
    if missing:
        st.query_params.update(missing)
    if here.display.projector:
        st.html(PROJECTOR_STYLE)
    if st.context.is_embedded:
        st.html(EMBED_STYLE)


def require_app() -> None:
    """For the first line of a page: run it from app.py.

    Streamlit takes every file in a folder called "pages" for a page until `st.navigation` was called once. On a server
    just started, a link to a page other than the first would run that file alone, without menu and page settings.
    """
    if KEY not in st.session_state or visit().page is None:
        navigate()
        st.rerun()
