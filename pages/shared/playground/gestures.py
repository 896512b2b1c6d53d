"""Gestures of the stage, turned into settings, or into exact counts that go back to the stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from fairglvq.scenes.planes import lens_of
from fairglvq.scenes.scene import Scene
from fairglvq.scenes.scoring import changed_decisions, decide, labels_of, nearest, tallied
from fairglvq.scenes.settings import FIELDS, KNOBS, Point, Settings, nearest_allowed, with_changes
from fairglvq.scenes.training import Film
from pages.shared import links, session
from pages.shared.playground import stage
from pages.shared.visit import ModelVisit, visit

STAGE = "stage"


def receive(key: str) -> None:
    """The callback of a stage: finished gestures."""
    model = _model(key)
    if model is not visit().model:
        return
    for gesture in stage.gestures_after(model.acknowledged, st.session_state[key]):
        apply(gesture)
        model.acknowledged = gesture["serial"]


def keep_view(key: str) -> None:
    """The callback of a stage: keep the view across reruns and page switches."""
    if (sent := st.session_state[key].get("view")) is not None:
        _model(key).view = sent


def _model(key: str) -> ModelVisit:
    """The model on a stage; not always that of the page in view: a message may arrive after its page was left."""
    return visit().own_model if key == STAGE else visit().lesson.model


def apply(gesture: Mapping[str, Any]) -> None:
    """Carry out one gesture."""
    model = visit().model
    if model.shown is None:
        return
    settings, show = model.shown
    kind = gesture["kind"]
    if kind == "facts":
        model.facts = facts(show.scene, model.films, gesture)
    elif kind == "drag":
        model.reply = reply(show.scene, model.films, gesture)
    elif kind == "undo":
        session.undo()
    elif kind == "strength" and gesture["name"] in KNOBS.values():
        name = gesture["name"]
        # Not of the model shown: another one may be on its way already.
        session.change(with_changes(model.settings, **{name: nearest_allowed(FIELDS[name], gesture["value"])}))
    elif kind == "continue":
        W = prototypes_of(show.scene, model.films, gesture["panel"], gesture["model"])
        model.autoplay = with_changes(settings, start=links.start_from(gesture["panel"], W.tolist()))
        session.change(model.autoplay)
    elif kind == "paint":
        model.autoplay = painted(settings, show.scene, gesture)
        session.change(model.autoplay)


def prototypes_of(scene: Scene, films: Mapping[str, Film], panel: str, shown: Mapping[str, Any]) -> np.ndarray:
    """Prototypes (P, d), in the model's space, of a model on the stage.

    ``shown`` says which recorded frame or which strength of the film it is, and the places (P, 2) to which prototypes
    were moved by hand, if any were. On a slice they have moved along the plane.
    """
    training = scene.trainings[panel]
    if shown["film"] is not None and panel in films:
        W = films[panel].prototypes[shown["film"]]
    else:
        W = training.prototypes[min(shown["frame"], len(training.prototypes) - 1)]
    if shown["places"] is None:
        return W
    places = np.array(shown["places"], dtype=float)
    lens = lens_of(training, scene.plane)
    return lens.moved(W, places) if lens else places


def reply(scene: Scene, films: Mapping[str, Film], gesture: Mapping[str, Any]) -> dict[str, Any]:
    """Exact counts of prototypes moved by hand, as the stage counts its recorded ones, and their new pseudo-classes."""
    points, training = scene.points, scene.trainings[gesture["panel"]]
    W = prototypes_of(scene, films, gesture["panel"], gesture["model"])
    glvq = scene.trainings["glvq"]
    decisions, before = decide(points, training, W), decide(points, glvq, glvq.prototypes[-1])
    votes = _votes(scene, gesture["panel"], W)
    pseudo = np.where(votes.any(axis=1), votes.argmax(axis=1), gesture["pseudo"])  # an empty cell keeps the one it had
    return {
        "token": gesture["token"],
        "panel": gesture["panel"],
        "counts": tallied(points, decisions[None]).ravel().tolist(),
        "changed": changed_decisions(points, before, decisions[None]).ravel().tolist(),
        "pseudo": pseudo.tolist(),
        "message": "Moved by you; numbers checked.",
    }


def facts(scene: Scene, films: Mapping[str, Film], request: Mapping[str, Any]) -> dict[str, Any]:
    """Facts for the card of a selection on a slice, counted in all dimensions and among all people."""
    found: dict[str, Any] = {"key": request["key"]}
    models = {panel: prototypes_of(scene, films, panel, shown) for panel, shown in request["models"].items()}
    points, index = scene.points, int(request["index"])
    if request["subject"] == "point":
        place = scene.shown[index]
        person = points.X[[place]]
        found["row"] = int(points.rows[place]) + 1  # as the prototypes page counts them
        for panel, W in models.items():
            found[panel] = ((scene.trainings[panel].see(person) - W) ** 2).sum(axis=1).tolist()
        return found
    panel = request["panel"]
    inside = nearest(scene.trainings[panel], points.X, models[panel]) == index
    right = points.y == labels_of(points, models[panel])[index]
    members = np.zeros((len(points.groups), len(points.classes)), int)
    np.add.at(members, (points.s[inside], points.y[inside]), 1)
    return found | {
        "votes": np.bincount(points.s[inside & ~points.held_out], minlength=len(points.groups)).tolist(),
        "members": members.tolist(),
        "n": int((inside & points.measured).sum()),
        "right": int((inside & points.measured & right).sum()),
    }


def _votes(scene: Scene, panel: str, W: np.ndarray) -> np.ndarray:
    """Training points (P, G) per cell and group."""
    learn = ~scene.points.held_out
    votes = np.zeros((len(W), len(scene.points.groups)), int)
    np.add.at(votes, (nearest(scene.trainings[panel], scene.points.X[learn], W), scene.points.s[learn]), 1)
    return votes


def painted(settings: Settings, scene: Scene, gesture: Mapping[str, Any]) -> Settings:
    """Settings with the painted points added and the erased ones gone."""
    rows = scene.points.rows
    gone = [int(i) for i in gesture["erased"] if 0 <= int(i) < len(rows)]
    first_painted = len(rows) - len(settings.painted)
    wiped = {i - first_painted for i in gone if i >= first_painted}
    kept = [point for number, point in enumerate(settings.painted) if number not in wiped]
    added = [Point(links.place(x), links.place(y), int(label), int(group)) for x, y, label, group in gesture["added"]]
    erased = set(settings.erased) | {int(rows[i]) for i in gone if i < first_painted}
    return replace(settings, painted=(*kept, *added), erased=tuple(sorted(erased)), start=None)
