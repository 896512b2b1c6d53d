"""One visit: its settings, its way back, its link. Everything that changes a picture goes through `change`."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import streamlit as st

from fairglvq.scenes import settings as state
from fairglvq.scenes.settings import Settings
from pages.shared import links, own_table
from pages.shared.playground import stage

STEPS_BACK = 50
NOTICE_LIMIT = 5
STAGE = "stage"


def begin() -> Settings:
    """The settings of this run: those of the link on arrival, of the visit afterwards."""
    visit = st.session_state
    query = st.query_params.to_dict()
    arrived = visit.pop("arrived", False)
    if "settings" not in visit:
        visit.history, visit.touched, visit.reply = [], False, None
        _adopt(query)
    elif arrived and not query:
        visit.written = query  # from another page of the app: the address is bare, and nothing was meant by it
    elif not visit.touched and query != visit.written:
        # Nothing on the page was touched and the address is another one: the browser's Back or Forward.
        visit.history.append(visit.settings)
        _adopt(query)
    visit.touched = False
    return visit.settings


def _adopt(query: dict[str, str]) -> None:
    visit = st.session_state
    visit.settings, told = links.from_query(own_table.mine(query))
    visit.view = stage.read_view(query.get("view"))
    if query.get("view") and visit.view is None:
        told.append("What the link says about the view could not be read: the whole picture is shown.")
    visit.told = told[:NOTICE_LIMIT]
    visit.written = query


def touch() -> None:
    """Something on the page was used: an older address in this run is not the browser's Back."""
    st.session_state.touched = True


def change(settings: Settings) -> None:
    """Go on with other settings; `undo` comes back to these."""
    visit = st.session_state
    touch()
    if settings == visit.settings:
        return
    visit.history = [*visit.history[-STEPS_BACK:], visit.settings]
    visit.settings = settings
    visit.reply = None


def enter(settings: Settings, shown: str = "fairglvq") -> None:
    """Make this the model in view, whichever page was visited so far; ``shown`` is the method in question."""
    visit = st.session_state
    if "settings" not in visit:
        visit.history, visit.touched, visit.reply = [], False, None
        _adopt({})
    visit.shown_method = shown
    change(settings)


def undo() -> None:
    """Back to the settings before the last change."""
    visit = st.session_state
    touch()
    if visit.history:
        # Streamlit may stop a callback at each of these lines; the order lets a repeated undo end in the same state.
        visit.reply = None
        visit.settings = visit.history[-1]
        visit.history = visit.history[:-1]


def reset() -> None:
    """The data set as it comes; the seed stays."""
    settings = st.session_state.settings
    change(replace(state.DEFAULTS[settings.dataset], seed=settings.seed, table=settings.table))


def new_seed() -> None:
    """Everything that is drawn by chance, drawn anew."""
    settings = st.session_state.settings
    field = state.FIELDS["seed"]
    others = [seed for seed in range(int(field.low), int(field.high) + 1) if seed != settings.seed]
    change(state.changed(settings, seed=random.choice(others)))


def keep_view() -> None:
    """What the visitor looks at outlives a rerun and a page switch."""
    visit = st.session_state
    touch()
    visit.view = visit[STAGE]["view"]


def write_link(last_epoch: int | None) -> None:
    """Let the address say exactly what is shown."""
    visit = st.session_state
    query = links.to_query(visit.settings)
    view = short_view(visit.view, last_epoch)
    if view:
        query["view"] = json.dumps(view, separators=(",", ":"))
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    visit.written = query


AT_FIRST: dict[str, Any] = {
    "speed": 1,
    "hidden": [],
    "enlarged": None,
    "filmIndex": None,
    "camera": None,
    "fold": 0,
}
SHOWN_AT_FIRST = {"regions": True, "borders": True, "trails": True, "points": True, "heldOut": True, "forces": False}


def short_view(view: dict[str, Any] | None, last_epoch: int | None) -> dict[str, Any]:
    """Only what differs from the view that a visitor gets at first."""
    view = view or {}
    short = {name: view[name] for name, usual in AT_FIRST.items() if view.get(name, usual) != usual}
    shown = view.get("show")
    if isinstance(shown, dict):
        show = {name: on for name, on in shown.items() if SHOWN_AT_FIRST.get(name, on) != on}
        short |= {"show": show} if show else {}
    if view.get("epoch") is not None and view["epoch"] != last_epoch:
        short["epoch"] = view["epoch"]
    return short
