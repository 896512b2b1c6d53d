"""Sentences that hold words of a visitor's own file: shown as they are, never read as Markdown or HTML."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable
from html import escape

import streamlit as st

STYLE = """<style>
.plain { margin: 0; line-height: 1.45; overflow-wrap: anywhere; }
.plain.small { font-size: 0.875rem; opacity: 0.8; }
.plain.box { padding: 0.7rem 0.9rem; border-radius: 0.5rem; border-left: 0.3rem solid #1f57ad;
  background: rgba(74, 138, 232, 0.12); }
.plain.box.wrong { border-color: #c4123f; background: rgba(196, 18, 63, 0.12); }
.plain.box.good { border-color: #12876f; background: rgba(18, 135, 111, 0.14); }
ul.plain { padding-left: 1.2rem; }
</style>"""


def log(what: str, problem: Exception) -> None:
    """Write to the server's log where something failed, but no values, which may be a visitor's data."""
    where = "".join(traceback.format_tb(problem.__traceback__))
    logging.getLogger(__name__).error("%s: %s\n%s", what, type(problem).__name__, where)


def write(text: str, kind: str = "") -> None:
    """A sentence. ``kind`` may be "small", or "box" with "wrong" or "good"."""
    role = ' role="alert"' if "wrong" in kind else ' role="status"' if "box" in kind else ""
    st.html(f'<p class="plain {kind}"{role}>{escape(text)}</p>')


def listed(texts: Iterable[str], kind: str = "small") -> None:
    """Sentences one below the other."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    if items:
        st.html(f'<ul class="plain {kind}">{items}</ul>')
