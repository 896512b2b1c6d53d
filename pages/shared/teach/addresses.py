"""Links that a teacher hands out."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.shared.display import Display
from pages.shared.visit import LinkVisit


def base() -> str:
    """The address of this app in the teacher's browser."""
    return (st.context.url or "").split("?")[0].rstrip("/").removesuffix("/teach")


def only_here() -> bool:
    """Whether the teacher's address of this app works on the teacher's computer only."""
    return urlsplit(base()).hostname in ("localhost", "127.0.0.1", "::1")


def lesson(language: str, **query: str) -> str:
    """A link to the lesson."""
    return _link("lesson", query | ({} if language == "en" else {"lang": language}))


def made(links: LinkVisit) -> str:
    """The link of the choices on the page."""
    embedded = {"embed": "true"} if links.embedded else {}
    if links.page == "lesson":  # which has its own controls
        start = {} if links.step == 1 else {"step": str(links.step)}
        return lesson(links.language, **start, **Display(links.display.projector).to_query(), **embedded)
    return _link("", links.model | links.display.to_query() | embedded)


def _link(page: str, query: dict[str, str]) -> str:
    return f"{base()}/{page}" + (f"?{urlencode(query, safe='.')}" if query else "")
