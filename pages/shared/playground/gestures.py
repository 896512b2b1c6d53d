"""What a visitor does on the stage, turned into settings or into an exact answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from fairglvq.lvq.trainer import as_rows, squared_distances
from fairglvq.scenes import settings as state
from fairglvq.scenes.scene import Film, Scene
from fairglvq.scenes.scoring import changed_decisions, decide, labels_of, nearest, tallied
from fairglvq.scenes.settings import FIELDS, Point, Settings
from pages.shared import links, session
from pages.shared.playground import stage


def receive() -> None:
    """The stage's callback: finished gestures."""
    session.touch()
    for gesture in stage.unheard(session.STAGE):
        if "shown" in st.session_state:
            follow(gesture)


def follow(gesture: Mapping[str, Any]) -> None:
    """Do what one gesture asks for."""
    visit = st.session_state
    settings, show = visit.shown
    kind = gesture["kind"]
    if kind == "ask":
        visit.facts = facts(show.scene, visit.film, gesture)
    elif kind == "drag":
        visit.reply = answer(show.scene, visit.film, gesture)
    elif kind == "undo":
        session.undo()
    elif kind == "C":
        session.change(state.changed(settings, C=state.nearest(FIELDS["C"], gesture["value"])))
    elif kind == "continue":
        W = prototypes_of(show.scene, visit.film, gesture["panel"], gesture["model"])
        visit.autoplay = state.changed(settings, start=links.start_from(gesture["panel"], W.tolist()))
        session.change(visit.autoplay)
    elif kind == "paint":
        visit.autoplay = painted(settings, show.scene, gesture)
        session.change(visit.autoplay)


def prototypes_of(scene: Scene, film: Film | None, panel: str, shown: Mapping[str, Any]) -> np.ndarray:
    """Prototypes (P, d), in the run's own space, of a model on the stage.

    ``shown`` says which recorded frame or which strength of the film it is, and the places (P, 2) to which prototypes
    were moved by hand, if any were. On a slice they have moved along the plane.
    """
    run = scene.runs[panel]
    if shown["film"] is not None and film is not None:
        W = film.prototypes[shown["film"]]
    else:
        W = run.prototypes[min(shown["frame"], len(run.prototypes) - 1)]
    if shown["places"] is None:
        return W
    places = np.array(shown["places"], dtype=float)
    return places if scene.plane is None else scene.plane.lens(run).moved(W, places)


def answer(scene: Scene, film: Film | None, gesture: Mapping[str, Any]) -> dict[str, Any]:
    """Exact counts of prototypes moved by hand, as the stage counts its recorded ones, and their new pseudo-classes."""
    table, run = scene.table, scene.runs[gesture["panel"]]
    W = prototypes_of(scene, film, gesture["panel"], gesture["model"])
    glvq = scene.runs["glvq"]
    decisions, before = decide(table, run, W), decide(table, glvq, glvq.prototypes[-1])
    votes = _votes(scene, gesture["panel"], W)
    pseudo = np.where(votes.any(axis=1), votes.argmax(axis=1), gesture["pseudo"])  # an empty cell keeps the one it had
    return {
        "token": gesture["token"],
        "panel": gesture["panel"],
        "counts": tallied(table, decisions[None]).ravel().tolist(),
        "changed": changed_decisions(table, before, decisions[None]).ravel().tolist(),
        "pseudo": pseudo.tolist(),
        "message": "Moved by you; numbers checked.",
    }


def facts(scene: Scene, film: Film | None, question: Mapping[str, Any]) -> dict[str, Any]:
    """What the card of what is selected on a slice is made of, counted in all dimensions and among all people."""
    found: dict[str, Any] = {"key": question["key"]}
    models = {panel: prototypes_of(scene, film, panel, shown) for panel, shown in question["models"].items()}
    table, index = scene.table, int(question["index"])
    if question["subject"] == "point":
        place = scene.shown[index]
        person = table.X[[place]]
        found["row"] = int(table.rows[place]) + 1  # as the prototypes page counts them
        for panel, W in models.items():
            found[panel] = squared_distances(as_rows(scene.runs[panel].see(person)), W)[0].tolist()
        return found
    panel = question["panel"]
    inside = nearest(scene.runs[panel], table.X, models[panel]) == index
    right = table.y == labels_of(table, models[panel])[index]
    members = np.zeros((len(table.groups), len(table.classes)), int)
    np.add.at(members, (table.s[inside], table.y[inside]), 1)
    return found | {
        "votes": np.bincount(table.s[inside & ~table.held_out], minlength=len(table.groups)).tolist(),
        "members": members.tolist(),
        "n": int((inside & table.measured).sum()),
        "right": int((inside & table.measured & right).sum()),
    }


def _votes(scene: Scene, panel: str, W: np.ndarray) -> np.ndarray:
    """Training points (P, G) per cell and group."""
    learn = ~scene.table.held_out
    votes = np.zeros((len(W), len(scene.table.groups)), int)
    np.add.at(votes, (nearest(scene.runs[panel], scene.table.X[learn], W), scene.table.s[learn]), 1)
    return votes


def painted(settings: Settings, scene: Scene, gesture: Mapping[str, Any]) -> Settings:
    """Settings with the painted points added and the erased ones gone."""
    rows = scene.table.rows
    gone = [int(i) for i in gesture["erased"] if 0 <= int(i) < len(rows)]
    first_painted = len(rows) - len(settings.painted)
    wiped = {i - first_painted for i in gone if i >= first_painted}
    kept = [point for number, point in enumerate(settings.painted) if number not in wiped]
    added = [Point(links.place(x), links.place(y), int(label), int(group)) for x, y, label, group in gesture["added"]]
    erased = set(settings.erased) | {int(rows[i]) for i in gone if i < first_painted}
    return replace(settings, painted=(*kept, *added), erased=tuple(sorted(erased)), start=None)
