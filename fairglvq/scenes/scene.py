"""A trained scene: what the stage draws of points and trainings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairglvq.grammar import stage_grammar
from fairglvq.scenes.planes import SAMPLE, Plane, find_plane
from fairglvq.scenes.points import Points
from fairglvq.scenes.scoring import Score, changed_decisions, decide, nearest, score, tallied
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import FILM_C, METHODS, Film, Training, film_key

TITLES = {"glvq": "GLVQ", "inp": "INP + GLVQ", "fairglvq": "FairGLVQ"}
PEOPLE = {
    "adult": ["women", "men"],
    "german": ["people under 25", "people of 25 or older"],
    "compas": ["people who are not Caucasian", "Caucasians"],
}


def revision(*keys: Any) -> str:
    """A short identifier of what the keys describe."""
    return hashlib.sha256(repr(keys).encode()).hexdigest()[:12]


class Scene(NamedTuple):
    """What the stage gets, and what the page says about it."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]
    points: Points
    trainings: Mapping[str, Training]
    plane: Plane | None
    shown: np.ndarray  # (n shown,) positions of the drawn points among all


def compose(settings: Settings, points: Points, trainings: Mapping[str, Training]) -> Scene:
    """The scene of finished parts; `meta` still lacks what belongs to a visit (film, reply, view, undo)."""
    plane = find_plane(settings, points, trainings["glvq"]) if settings.real else None
    shown = _sample(points) if settings.real else np.arange(len(points.y))
    places = points.X[shown] if plane is None else (points.X[shown] - plane.origin) @ plane.axes
    arrays = {
        "points": np.ascontiguousarray(places),
        "y": points.y[shown].astype("u1"),
        "s": points.s[shown].astype("u1"),
        "held_out": points.held_out[shown].astype("u1"),
    }
    n_frames = max(len(training.epochs) for training in trainings.values())
    baseline = trainings["glvq"].decisions
    for key, training in trainings.items():
        strength = settings.C if key == "fairglvq" else 0.0
        own = _panel_arrays(training, points, strength, plane, shown, None if baseline is None else baseline[-1])
        arrays |= {f"{key}.{name}": _padded(array, name, n_frames) for name, array in own.items()}
    longest = max(trainings.values(), key=lambda training: len(training.epochs))
    labels = np.repeat(np.arange(len(points.classes)), settings.prototypes).tolist()
    meta = {
        "revision": revision(settings, *trainings),
        "keep_position": True,
        "dataset": settings.dataset,
        "classes": points.classes,
        "groups": points.groups,
        "favourable": points.favourable,
        "axes": plane.names if plane else points.axes,
        "slice": plane.sentence if plane else None,
        "bounds": _bounds(places),
        "population": len(points.y),
        "epochs": longest.epochs.tolist(),
        "grammar": stage_grammar(len(points.classes), len(points.groups)),
        "painted": len(settings.painted),
        "coming": len(METHODS) - len(trainings),
        "panels": [_panel_meta(settings, key, training, labels, places, plane) for key, training in trainings.items()],
        "film": None,
    }
    if settings.dataset in PEOPLE:
        meta["people"] = PEOPLE[settings.dataset]
    return Scene(meta, arrays, points, trainings, plane, shown)


def final_scores(scene: Scene) -> dict[str, Score]:
    """Score of every method at the end of its training."""
    points = scene.points
    return {
        method: score(points, decide(points, training, training.prototypes[-1]))
        for method, training in scene.trainings.items()
    }


def with_film(scene: Scene, settings: Settings, film: Film) -> Scene:
    """The scene with C as a film."""
    arrays = {"prototypes": film.prototypes, "pseudo": film.pseudo.astype("u1")}
    if scene.plane is not None and film.decisions is not None:
        lens = scene.plane.lens(scene.trainings["fairglvq"])
        arrays |= {"prototypes": lens.places(film.prototypes), "weights": lens.weights(film.prototypes)}
        arrays["counts"] = tallied(scene.points, film.decisions)
        before = scene.trainings["glvq"].decisions
        if before is not None:
            arrays["changed"] = changed_decisions(scene.points, before[-1], film.decisions)
    labels = scene.meta["panels"][-1]["labels"]
    about = {"revision": revision(film_key(settings)), "C": FILM_C, "panel": "fairglvq", "labels": labels}
    return scene._replace(
        meta=scene.meta | {"film": about},
        arrays=scene.arrays | {f"film.{name}": array for name, array in arrays.items()},
    )


def _sample(points: Points) -> np.ndarray:
    """People to draw: a random part, the same for the same data."""
    return np.sort(np.random.default_rng(0).permutation(len(points.y))[:SAMPLE])


def _bounds(places: np.ndarray) -> list[float]:
    low, high = places.min(axis=0), places.max(axis=0)
    return [*low.tolist(), *np.maximum(high, low + 1e-3).tolist()]


def _panel_arrays(
    training: Training, points: Points, C: float, plane: Plane | None, shown: np.ndarray, baseline: np.ndarray | None
) -> dict[str, np.ndarray]:
    arrays = {
        "prototypes": training.prototypes,
        "pseudo": training.pseudo.astype("u1"),
        "pull_class": training.class_pull,
        "pull_fair": -C * training.fair_pull,
        "cost_class": training.class_cost.astype("f4"),
        "cost_fair": training.fair_cost.astype("f4"),
        "flips": np.minimum(training.flips, 65535).astype("u2"),
        "alpha_uses": training.alpha_uses.astype("u4"),
    }
    if plane is not None and training.decisions is not None and baseline is not None:
        lens = plane.lens(training)
        arrays["prototypes"] = lens.places(training.prototypes)
        arrays["weights"] = lens.weights(training.prototypes)
        arrays["pull_class"], arrays["pull_fair"] = (arrays[name] @ lens.frame for name in ("pull_class", "pull_fair"))
        arrays["counts"] = tallied(points, training.decisions)
        arrays["changed"] = changed_decisions(points, baseline, training.decisions)
        arrays["nearest"] = nearest(training, points.X[shown], training.prototypes[-1]).astype("u2")
    arrays["pull_class"], arrays["pull_fair"] = (arrays[name].astype("f4") for name in ("pull_class", "pull_fair"))
    return arrays


def _padded(array: np.ndarray, name: str, n_frames: int) -> np.ndarray:
    """A training that stopped early stands still for the rest of the film."""
    if name == "nearest" or len(array) == n_frames:
        return array
    return np.concatenate([array, np.repeat(array[-1:], n_frames - len(array), axis=0)])


def _panel_meta(
    settings: Settings, key: str, training: Training, labels: list[int], places: np.ndarray, plane: Plane | None
) -> dict[str, Any]:
    meta: dict[str, Any] = {"key": key, "title": TITLES[key], "labels": labels, "C": None, "map": None, "line": None}
    meta["note"] = _note(settings, key, training)
    if key == "fairglvq":
        meta["C"] = settings.C
    if training.matrix is None or training.shift is None or training.removed is None:
        return meta
    if plane is not None:
        meta["map"] = {"A": plane.lens(training).A.tolist(), "b": [0.0, 0.0]}
        return meta
    meta["map"] = {"A": training.matrix.tolist(), "b": training.shift.tolist()}
    if len(training.removed) == 1:
        (rx, ry), centre = training.removed[0], places.mean(axis=0)
        meta["line"] = {"origin": centre.tolist(), "kept": [-ry, rx], "removed": [rx, ry]}
    return meta


def _note(settings: Settings, key: str, training: Training) -> str:
    if training.flew_off:
        return f"Stopped in epoch {training.epochs[-1]}: prototypes flew off"
    if key == "glvq":
        return "accuracy only"
    if key == "fairglvq":
        return "pushes back what tells groups apart" if settings.C else "C is 0: no fairness push"
    if training.removed is None:
        return "only one group: nothing to remove"
    if not settings.real and len(training.removed) > 1:
        return "removes both directions: nothing is left"
    if not settings.real:
        return "blind along one direction"
    return f"blind along {len(training.removed)} of {training.prototypes.shape[2]} directions"
