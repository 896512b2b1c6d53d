"""What a visitor does on the stage, turned into settings or into an exact answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from . import session, state
from .scene import Scene, decide, score
from .state import FIELDS, Point, Settings


def receive() -> None:
    """The stage's callback: one finished gesture."""
    visit = st.session_state
    session.touch()
    gesture = visit[session.STAGE]["gesture"]
    if not gesture or "shown" not in visit:
        return
    settings, show = visit.shown
    kind = gesture["kind"]
    if kind == "drag":
        visit.reply = answer(show.scene, gesture)
    elif kind == "undo":
        session.undo()
    elif kind == "C":
        session.change(state.changed(settings, C=state.nearest(FIELDS["C"], gesture["value"])))
    elif kind == "continue":
        visit.autoplay = state.changed(settings, start=state.start_from(gesture["panel"], gesture["prototypes"]))
        session.change(visit.autoplay)
    elif kind == "paint":
        visit.autoplay = painted(settings, show.scene, gesture)
        session.change(visit.autoplay)


def answer(scene: Scene, gesture: dict[str, Any]) -> dict[str, Any]:
    """Exact numbers of prototypes moved by hand."""
    run = scene.runs[gesture["panel"]]
    accuracy, parity, opportunity = score(scene.table, decide(scene.table, run, np.array(gesture["prototypes"])))
    return {
        "token": gesture["token"],
        "panel": gesture["panel"],
        "accuracy": accuracy,
        "sp": parity,
        "eo": opportunity,
        "message": "Moved by you; numbers checked.",
    }


def painted(settings: Settings, scene: Scene, gesture: dict[str, Any]) -> Settings:
    """Settings with the painted points added and the erased ones gone."""
    rows = scene.table.rows
    gone = [int(i) for i in gesture["erased"] if 0 <= int(i) < len(rows)]
    first_painted = len(rows) - len(settings.painted)
    wiped = {i - first_painted for i in gone if i >= first_painted}
    kept = [point for number, point in enumerate(settings.painted) if number not in wiped]
    added = [Point(state.place(x), state.place(y), int(label), int(group)) for x, y, label, group in gesture["added"]]
    erased = set(settings.erased) | {int(rows[i]) for i in gone if i < first_painted}
    return replace(settings, painted=(*kept, *added), erased=tuple(sorted(erased)), start=None)
