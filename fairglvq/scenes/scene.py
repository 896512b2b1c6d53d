"""A trained scene: what the stage draws of points and trainings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairglvq.datasets.synthetic import DEFINITIONS, TOWNS
from fairglvq.experiments.methods import METHODS
from fairglvq.grammar import stage_grammar
from fairglvq.scenes import own_plane
from fairglvq.scenes.leaves import Leaves
from fairglvq.scenes.planes import OWN_PLANE, SAMPLE, Lens, Plane, find_plane, lens_of
from fairglvq.scenes.points import Points
from fairglvq.scenes.scoring import Score, changed_decisions, final_decisions, nearest, score, tallied
from fairglvq.scenes.settings import FIELDS, KNOBS, Settings, points_of, shape_of
from fairglvq.scenes.squeeze import squeeze_of
from fairglvq.scenes.training import Film, Training, film_key, filmed
from fairglvq.wording import axis_name

TITLES = {name: METHODS[name].title for name in ("glvq", *FIELDS["beside"].choices)}
PEOPLE = {
    "adult": ["women", "men"],
    "german": ["people under 25", "people of 25 or older"],
    "compas": ["people who are not Caucasian", "Caucasians"],
} | {name: [f"people of {town}" for town in TOWNS[: shape_of(name)[1]]] for name in DEFINITIONS}


def revision(*keys: Any) -> str:
    """A short identifier of what the keys describe."""
    return hashlib.sha256(repr(keys).encode()).hexdigest()[:12]


class Scene(NamedTuple):
    """Description and arrays for the stage, and what the page's words are made from."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]
    points: Points
    trainings: Mapping[str, Training]
    plane: Plane | None
    shown: np.ndarray  # (n shown,) positions of the drawn points among all


def compose(settings: Settings, points: Points, trainings: Mapping[str, Training]) -> Scene:
    """The scene of finished parts; `meta` still lacks what belongs to a visit (film, reply, view, undo)."""
    real = settings.real
    plane = find_plane(settings, points, trainings["glvq"]) if real and settings.metric == "euclidean" else None
    shown = _sample(points) if real else np.arange(len(points.y))
    everything, trainings = trainings, {key: t for key, t in trainings.items() if drawable(settings, t)}
    lenses = {key: lens_of(training, plane) for key, training in trainings.items()}
    places = points.X[shown] if plane is None else (points.X[shown] - plane.origin) @ plane.axes
    own = {
        key: training.see(points.X[shown])[:, :2]
        for key, training in trainings.items()
        if real and training.frame_names is not None
    }
    if plane is None and real:
        places = own["glvq"]
    arrays = {
        "points": np.ascontiguousarray(places),
        "y": points.y[shown].astype("u1"),
        "s": points.s[shown].astype("u1"),
        "held_out": points.held_out[shown].astype("u1"),
    }
    longest = max(trainings.values(), key=lambda training: len(training.epochs))
    n_frames = len(longest.epochs)
    for key, training in trainings.items():
        strength = settings.C if key == "fairglvq" else 0.0
        found = _panel_arrays(training, points, strength, lenses[key], shown, trainings["glvq"])
        frames = _frames(training, n_frames)
        arrays |= {f"{key}.{name}": a if name == "nearest" else a[frames] for name, a in found.items()}
        if key in own:
            arrays[f"{key}.points"] = np.ascontiguousarray(own[key])
    labels = np.repeat(np.arange(len(points.classes)), settings.prototypes).tolist()
    meta = {
        "revision": revision(settings, *everything),
        "keep_position": True,
        "dataset": settings.dataset,
        "classes": points.classes,
        "groups": points.groups,
        "favourable": points.favourable,
        "axes": plane.names if plane else points.axes,
        "slice": _slice_sentence(points, plane, real=real),
        "bounds": _bounds(places) if plane or not real else own_plane.BOUNDS,
        "population": len(points.y),
        "epochs": longest.epochs.tolist(),
        "grammar": stage_grammar(len(points.classes), len(points.groups)),
        "painted": len(settings.painted),
        "coming": len(settings.methods) - len(everything),
        "panels": [
            _panel_meta(settings, key, training, labels, places, lenses[key], n_frames)
            | _squeezed(settings, key, training, points.axes)
            for key, training in trainings.items()
        ],
        "filmed": filmed(settings),
        "films": {},
    }
    if settings.dataset in PEOPLE:
        meta["people"] = PEOPLE[settings.dataset]
    return Scene(meta, arrays, points, everything, plane, shown)


def drawable(settings: Settings, training: Training) -> bool:
    """Whether a training has a picture: leaves of many dimensions have none."""
    return training.leaves is None or not settings.real


def _slice_sentence(points: Points, plane: Plane | None, *, real: bool) -> str | None:
    """What the plane of real data is; None for drawn data, where the picture shows everything."""
    if plane is not None:
        return plane.sentence
    return OWN_PLANE.format(drawn=min(SAMPLE, len(points.y)), all=len(points.y)) if real else None


def final_scores(scene: Scene) -> dict[str, Score]:
    """Score of every method at the end of its training."""
    points = scene.points
    return {method: score(points, final_decisions(points, training)) for method, training in scene.trainings.items()}


def with_film(scene: Scene, settings: Settings, method: str, film: Film) -> Scene:
    """The scene with a method's strength as a film."""
    arrays = {"prototypes": film.prototypes, "pseudo": film.pseudo.astype("u1"), **_leaf_arrays(film.leaves)}
    arrays |= _through(lens_of(scene.trainings[method], scene.plane), film.prototypes)
    arrays |= _counted(scene.points, scene.trainings["glvq"], film.decisions)
    about = {"revision": revision(film_key(settings, method)), "knob": KNOBS[method], "values": film.values}
    return scene._replace(
        meta=scene.meta | {"films": scene.meta["films"] | {method: about}},
        arrays=scene.arrays | {f"film.{method}.{name}": array for name, array in arrays.items()},
    )


def _sample(points: Points) -> np.ndarray:
    """People to draw: a random part, the same for the same data."""
    return np.sort(np.random.default_rng(0).permutation(len(points.y))[:SAMPLE])


def _bounds(places: np.ndarray) -> list[float]:
    low, high = places.min(axis=0), places.max(axis=0)
    return [*low.tolist(), *np.maximum(high, low + 1e-3).tolist()]


def _panel_arrays(
    training: Training, points: Points, C: float, lens: Lens | None, shown: np.ndarray, glvq: Training
) -> dict[str, np.ndarray]:
    arrays = {"prototypes": training.prototypes, "pseudo": training.pseudo.astype("u1")}
    if training.leaves is not None:
        return arrays | _leaf_arrays(training.leaves)
    pulls = {"pull_class": training.class_pull, "pull_fair": -C * training.fair_pull}
    arrays |= {name: (pull if lens is None else pull @ lens.frame).astype("f4") for name, pull in pulls.items()}
    arrays |= {
        "cost_class": training.class_cost.astype("f4"),
        "cost_fair": training.fair_cost.astype("f4"),
        "flips": np.minimum(training.flips, 65535).astype("u2"),
    }
    arrays |= _through(lens, training.prototypes)
    counted = _counted(points, glvq, training.decisions)
    if counted:
        arrays |= counted
        arrays["nearest"] = nearest(training, points.X[shown], training.prototypes[-1]).astype("u2")
    return arrays


def _through(lens: Lens | None, prototypes: np.ndarray) -> dict[str, np.ndarray]:
    """Prototypes where a plane shows them; nothing to replace where the points' space is the picture."""
    return {} if lens is None else {"prototypes": lens.places(prototypes), "weights": lens.weights(prototypes)}


def _counted(points: Points, glvq: Training, decisions: np.ndarray | None) -> dict[str, np.ndarray]:
    """Counts of decisions and of those that differ from GLVQ's; nothing where the picture shows all dimensions."""
    if decisions is None or glvq.decisions is None:
        return {}
    changed = changed_decisions(points, glvq.decisions[-1], decisions)
    return {"counts": tallied(points, decisions), "changed": changed}


def _leaf_arrays(leaves: Leaves | None) -> dict[str, np.ndarray]:
    return {} if leaves is None else {"boxes": leaves.boxes, "labels": leaves.labels.astype("u1")}


def _frames(training: Training, n_frames: int) -> np.ndarray:
    """Which recorded frame stands for each of the film's.

    A training that stopped early stands still for the rest; rounds of a search are spread over all of it.
    """
    recorded = len(training.epochs)
    if training.frame_names is None:
        return np.minimum(np.arange(n_frames), recorded - 1)
    return np.round(np.linspace(0, recorded - 1, n_frames)).astype(int)


def _panel_meta(
    settings: Settings,
    key: str,
    training: Training,
    labels: list[int],
    places: np.ndarray,
    lens: Lens | None,
    n_frames: int,
) -> dict[str, Any]:
    meta: dict[str, Any] = {"key": key, "title": TITLES[key], "labels": labels, "map": None, "line": None}
    meta["note"] = _note(settings, key, training)
    meta["knob"] = KNOBS.get(key)
    meta["strength"] = getattr(settings, KNOBS[key]) if key in KNOBS else None
    if training.frame_names is not None:
        if settings.real and training.learned is not None:
            meta["axes"] = [axis_name(traits) for traits in training.learned.axes]
        meta["frame_names"] = [training.frame_names[frame] for frame in _frames(training, n_frames)]
    if lens is not None:
        meta["map"] = {"A": lens.A.tolist(), "b": [0.0, 0.0]}
    elif training.matrix is not None and training.shift is not None and training.removed is not None:
        meta["map"] = {"A": training.matrix.tolist(), "b": training.shift.tolist()}
        if len(training.removed) == 1:
            (rx, ry), centre = training.removed[0], places.mean(axis=0)
            meta["line"] = {"origin": centre.tolist(), "kept": [-ry, rx], "removed": [rx, ry]}
    return meta


def metric_of(settings: Settings, training: Training) -> np.ndarray | None:
    """The metric (2, 2) that a model has learned on drawn data; on real data its own plane has it in it."""
    return None if settings.real or training.learned is None or training.matrix is None else training.matrix[:2]


def _squeezed(settings: Settings, key: str, training: Training, axes: list[str]) -> dict[str, Any]:
    omega = metric_of(settings, training)
    if omega is None:
        return {}
    found = squeeze_of(omega, axes)
    says_more = key == "paritylvq" or (key == "fairglvq" and not settings.C)
    return {"squeeze": found} if says_more else {"squeeze": found, "note": found["words"]}


def _note(settings: Settings, key: str, training: Training) -> str:
    if training.flew_off:
        return f"Stopped in epoch {training.epochs[-1]}: prototypes flew off"
    if key == "glvq":
        return "accuracy only"
    if key == "paritylvq":
        return f"keeps to a gap of {points_of(settings.max_gap)}"
    if key == "fairtree":
        return "splits that tell the class, not the group" if settings.C else "C is 0: a plain tree"
    if key == "fairglvq":
        return "pushes back what tells groups apart" if settings.C else "C is 0: no fairness push"
    if training.removed is None:
        return "only one group: nothing to remove"
    if not settings.real and len(training.removed) > 1:
        return "removes both directions: nothing is left"
    if not settings.real:
        return "blind along one direction"
    return f"blind along {len(training.removed)} of {training.removed.shape[1]} directions"
