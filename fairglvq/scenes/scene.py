"""From `Settings` to what the stage draws: points, three trained methods, and what can be said about them.

The work comes in parts (`load_table`, `train_part`, `train_film`) that only depend on some of the settings, so that
whoever keeps finished parts retrains no more than a change asks for; `compose` puts them together. No Streamlit here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fairglvq.grammar import stage_grammar
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows
from fairglvq.scenes.planes import SAMPLE, Plane, find_plane
from fairglvq.scenes.scoring import changed_decisions, decided, nearest, tallied
from fairglvq.scenes.settings import Fold, Settings
from fairglvq.scenes.sources import GoneError, dataset_of

METHODS = ("glvq", "inp", "fairglvq")
TITLES = {"glvq": "GLVQ", "inp": "INP + GLVQ", "fairglvq": "FairGLVQ"}
FILM_C = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)
PEOPLE = {
    "adult": ["women", "men"],
    "german": ["people under 25", "people of 25 or older"],
    "compas": ["people who are not Caucasian", "Caucasians"],
}
FRAME_BYTES = 150_000  # of all frames together, so that a scene stays well under 300 KB
MOST_FRAMES = 51
CHUNK = 64  # epochs between two looks at the clock and the Cancel button; fewer on large tables

Tell = Callable[[float], None]
"""Hears the share of work done; may raise to stop it."""


class UntrainableError(Exception):
    """The settings cannot be trained; the message says why in plain words."""


class Table(NamedTuple):
    """Points scaled to [0, 1] on the training part, with integer classes and groups."""

    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    s: np.ndarray  # (n,)
    held_out: np.ndarray  # (n,) bool
    rows: np.ndarray  # (n,) number of each point in the data set, -1 for painted ones
    classes: list[str]
    groups: list[str]
    favourable: int
    axes: list[str]

    @property
    def measured(self) -> np.ndarray:
        """Which points the numbers are about: the held-out ones, or all if none is."""
        return self.held_out if self.held_out.any() else np.ones(len(self.y), bool)


class Run(NamedTuple):
    """One method's training, frame by frame; F frames, P prototypes, d dimensions of the model's own space."""

    epochs: np.ndarray  # (F,)
    prototypes: np.ndarray  # (F, P, d)
    pseudo: np.ndarray  # (F, P)
    class_pull: np.ndarray  # (F, P, d)
    fair_pull: np.ndarray  # (F, P, d)
    class_cost: np.ndarray  # (F,)
    fair_cost: np.ndarray  # (F,)
    flips: np.ndarray  # (F,)
    alpha_uses: np.ndarray  # (F,)
    decisions: np.ndarray | None  # (F, n measured): classes decided; only where the plane does not show all dimensions
    matrix: np.ndarray | None  # (d, d): model space z = matrix x + shift; None: the data's own space
    shift: np.ndarray | None
    removed: np.ndarray | None  # (r, d) directions that INP took out
    flew_off: bool

    def see(self, X: np.ndarray) -> np.ndarray:
        """Points (n, d) in the model's own space."""
        return X if self.matrix is None or self.shift is None else X @ self.matrix.T + self.shift


class Film(NamedTuple):
    """FairGLVQ at the end of training for every strength of `FILM_C`; M strengths."""

    prototypes: np.ndarray  # (M, P, d)
    pseudo: np.ndarray  # (M, P)
    decisions: np.ndarray | None  # (M, n measured)


# ---- keys: what each part depends on ----


def table_key(settings: Settings) -> tuple:
    """Everything the points depend on."""
    drawn = () if settings.real else (settings.noise, settings.bias, settings.painted, settings.erased)
    split = settings.fold or settings.held_out
    return ("table", settings.dataset, settings.table, settings.seed, split, *drawn)


def part_key(settings: Settings, method: str) -> tuple:
    """Everything one method's training depends on."""
    own = {"glvq": (), "inp": (settings.projections,), "fairglvq": (settings.C, settings.alpha)}[method]
    return (method, *_training_key(settings, method), *own)


def film_key(settings: Settings) -> tuple:
    """Everything the film depends on: all of FairGLVQ but C."""
    return ("film", *_training_key(settings, "fairglvq"), settings.alpha)


def _training_key(settings: Settings, method: str) -> tuple:
    s = settings
    start = s.start if s.start and s.start.panel == method else None
    return (*table_key(s)[1:], s.prototypes, s.batch_size, s.learning_rate, s.epochs, s.beta, s.step, start)


def revision(*keys: Any) -> str:
    """A short name of whatever the keys describe."""
    return hashlib.sha256(repr(keys).encode()).hexdigest()[:12]


# ---- points ----


def load_table(settings: Settings) -> Table:
    """The data set, split and scaled, with painted points added and erased ones gone."""
    try:
        data = dataset_of(settings)
    except GoneError as problem:
        raise UntrainableError(str(problem)) from problem
    classes, groups = list(data.class_names), list(data.group_names)
    y, s = np.searchsorted(classes, data.y), np.searchsorted(groups, data.s)
    if settings.fold:
        held_out = tested_in(settings.fold, data.X, data.y)
    else:
        held_out = stratified(y * len(groups) + s, settings.held_out, settings.seed)
    X = scaled(data.X, data.X[~held_out])
    rows = np.arange(len(y))
    if settings.erased:
        kept = ~np.isin(rows, settings.erased)
        X, y, s, held_out, rows = X[kept], y[kept], s[kept], held_out[kept], rows[kept]
    if settings.painted:
        paint = np.array(settings.painted)  # (n painted, 4)
        n = len(paint)
        X = np.vstack([X, paint[:, :2]])
        y, s = np.append(y, paint[:, 2].astype(int)), np.append(s, paint[:, 3].astype(int))
        held_out, rows = np.append(held_out, np.zeros(n, bool)), np.append(rows, np.full(n, -1))
    if len(np.unique(y[~held_out])) < 2:
        raise UntrainableError("Only one class is left among the training points, so there is nothing to tell apart.")
    names = [str(data.class_names[c]) for c in classes], [str(data.group_names[g]) for g in groups]
    axes = ["", ""] if settings.real else [block.column for block in data.blocks]
    return Table(X, y, s, held_out, rows, *names, classes.index(data.favourable), axes)


def tested_in(fold: Fold, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mark the points that this fold of a cross-validation measures on."""
    from fairglvq.experiments.evaluation import measured_rows  # scikit-learn: only for models opened from a curve

    chosen = np.zeros(len(y), bool)
    try:
        chosen[measured_rows(X, y, fold.seed, fold.fold, fold.folds)] = True
    except ValueError as problem:
        raise UntrainableError(f"The points cannot be split like that: {problem}") from problem
    return chosen


def stratified(strata: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Mark this share of every stratum, by chance."""
    rng = np.random.default_rng((seed, 2))
    chosen = np.zeros(len(strata), bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        chosen[members[: round(share * len(members))]] = True
    return chosen


def scaled(X: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Every feature moved and stretched so that it spans [0, 1] on the reference.

    To the last bit what scikit-learn's MinMaxScaler gives: a model opened from a curve must be the one on the curve,
    and where prototypes are unstable the last bit decides.
    """
    scale = 1.0 / _span(reference)
    return X * scale + (0.0 - reference.min(axis=0) * scale)


def _span(X: np.ndarray) -> np.ndarray:
    span = np.ptp(X, axis=0)
    span[span <= 1e-12] = 1.0  # nothing to stretch
    return span


# ---- training ----


def train_part(settings: Settings, table: Table, method: str, tell: Tell) -> Run:
    """One method, trained and recorded."""
    learn = ~table.held_out
    X, matrix, shift, removed = table.X, None, None, None
    if method == "inp" and len(np.unique(table.s[learn])) > 1:
        inp, matrix, shift = _null_space(settings, table)
        projected, removed = np.empty_like(X), inp.directions_
        for part in (learn, ~learn):  # apart, as a sweep does it: a product of other size may differ in the last bit
            if part.any():
                projected[part] = inp.transform(X[part])
        X = scaled(projected, projected[learn])
    trainer = _trainer(settings, table, method, X[learn])
    every = record_interval(settings, len(table.classes))
    trainer.run(0, every)
    _go(trainer, settings, every, tell)
    history = trainer.history
    prototypes = np.stack([h.prototypes for h in history])
    decisions = None
    if settings.real:
        rows = as_rows(X[table.measured])
        decisions = np.stack([decided(rows, W, trainer.prototypes.labels) for W in prototypes])
    return Run(
        epochs=np.array([h.epoch for h in history]),
        prototypes=prototypes,
        pseudo=np.stack([h.pseudo_classes for h in history if h.pseudo_classes is not None]),
        class_pull=np.stack([h.class_pull for h in history]),
        fair_pull=np.stack([h.fair_pull for h in history]),
        class_cost=np.array([h.class_cost for h in history]),
        fair_cost=np.array([h.fair_cost for h in history]),
        flips=np.array([h.flips for h in history]),
        alpha_uses=np.array([h.alpha_uses for h in history]),
        decisions=decisions,
        matrix=matrix,
        shift=shift,
        removed=removed,
        flew_off=trainer.flew_off,
    )


def train_film(settings: Settings, table: Table, tell: Tell) -> Film:
    """FairGLVQ once for every strength; only its end is kept."""
    learn = ~table.held_out
    X = table.X[learn]
    rows = as_rows(table.X[table.measured]) if settings.real else None
    W, pseudo, decisions = [], [], []
    for number, C in enumerate(FILM_C):
        trainer = _trainer(settings, table, "fairglvq", X, C=C)
        _go(trainer, settings, 0, _part_of(tell, number, len(FILM_C)))
        W.append(trainer.prototypes.W.copy())
        pseudo.append(trainer.prototypes.pseudo.copy())
        if rows:
            decisions.append(decided(rows, W[-1], trainer.prototypes.labels))
    return Film(np.stack(W), np.stack(pseudo), np.stack(decisions) if decisions else None)


def _part_of(tell: Tell, number: int, parts: int) -> Tell:
    """Progress of one part out of several, told as progress of the whole."""
    return lambda share: tell((number + share) / parts)


def _trainer(settings: Settings, table: Table, method: str, X: np.ndarray, C: float | None = None) -> Trainer:
    """A trainer that does what the estimators do with ``random_state=seed``."""
    learn, K = ~table.held_out, len(table.classes)
    rng = np.random.default_rng(seed_of(settings))
    y, s = table.y[learn], table.s[learn]
    init: Any = "shared-kmeans" if method == "fairglvq" else "class-kmeans"
    if settings.start and settings.start.panel == method:
        init = settings.start.prototypes
    W = initial_prototypes(init, X, y, settings.prototypes, K, rng)
    if settings.fold:  # a sweep makes its starts beforehand, and trains with chance from the beginning
        rng = np.random.default_rng(seed_of(settings))
    strength = (settings.C if C is None else C) if method == "fairglvq" else 0.0
    recipe = Recipe(
        C=strength,
        alpha=settings.alpha,
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
        beta=settings.beta,
        step=settings.step,
        # The published runs took consecutive slices; their step and their order go together.
        shuffle=settings.step == "algorithm",
    )
    labels = np.repeat(np.arange(K), settings.prototypes)
    # GLVQ's and INP's pseudo-classes are for the eye: no need to vote between two frames.
    lazy = method != "fairglvq"
    return Trainer(as_rows(X), y, s, W, labels, recipe, rng, n_groups=len(table.groups), lazy_votes=lazy)


def seed_of(settings: Settings) -> int:
    """What chance in training starts from."""
    if settings.fold is None:
        return settings.seed
    from fairglvq.experiments.evaluation import fold_seed  # scikit-learn: only for models opened from a curve

    return fold_seed(settings.fold.seed, settings.fold.fold)


def _go(trainer: Trainer, settings: Settings, every: int, tell: Tell) -> None:
    """All epochs, in pieces short enough for a visitor to change their mind."""
    pieces = max(1, every)
    chunk = pieces * max(1, round((1 if settings.real else CHUNK) / pieces))
    while trainer.epoch < settings.epochs and trainer.run(min(chunk, settings.epochs - trainer.epoch), every):
        tell(trainer.epoch / settings.epochs)


def record_interval(settings: Settings, n_classes: int) -> int:
    """Epochs between two frames, so that all frames fit into `FRAME_BYTES`."""
    per_prototype = 33 + (8 if settings.real else 0)
    frame = len(METHODS) * (per_prototype * settings.prototypes * n_classes + 40)
    most = min(MOST_FRAMES, FRAME_BYTES // frame)
    if settings.real:
        most = min(most, 31)  # a frame of a large table costs as much as an epoch
    return max(1, math.ceil(settings.epochs / (most - 1)))


Map = tuple[Any, np.ndarray, np.ndarray]
_maps: dict[tuple, Map] = {}  # the latest of INP: they hang on the points alone, whatever prototypes are asked for


def _null_space(settings: Settings, table: Table) -> Map:
    """INP, and with the scaling to [0, 1] that follows it as one map z = matrix x + shift."""
    key = (*table_key(settings), settings.projections)
    found = _maps.get(key)
    if found is None:
        found = _maps[key] = _find_null_space(settings, table)
        while len(_maps) > 16:
            _maps.pop(next(iter(_maps)), None)
    return found


def _find_null_space(settings: Settings, table: Table) -> Map:
    from fairglvq.fairness.projection import NullSpaceProjection  # scikit-learn: two seconds at first use

    learn = ~table.held_out
    X = table.X[learn]
    inp = NullSpaceProjection(settings.projections, random_state=seed_of(settings))
    inp.fit(X, sensitive_features=table.s[learn])
    projected = inp.transform(X)
    low, span = projected.min(axis=0), _span(projected)
    # A column that is nothing but rounding carries nothing; stretched it would pretend to.
    matrix = np.where(np.abs(inp.projection_) < 1e-12, 0.0, inp.projection_) / span[:, None]
    return inp, matrix, -low / span


# ---- the scene ----


class Scene(NamedTuple):
    """What the stage gets, and what the page says about it."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]
    table: Table
    runs: Mapping[str, Run]
    plane: Plane | None
    shown: np.ndarray  # (n shown,) places in the table of the points drawn


def compose(settings: Settings, table: Table, runs: Mapping[str, Run]) -> Scene:
    """The scene of finished parts; `meta` still lacks what belongs to a visit (film, reply, view, undo)."""
    plane = find_plane(settings, table, runs["glvq"]) if settings.real else None
    shown = _sample(table) if settings.real else np.arange(len(table.y))
    places = table.X[shown] if plane is None else (table.X[shown] - plane.origin) @ plane.axes
    arrays = {
        "points": np.ascontiguousarray(places),
        "y": table.y[shown].astype("u1"),
        "s": table.s[shown].astype("u1"),
        "held_out": table.held_out[shown].astype("u1"),
    }
    n_frames = max(len(run.epochs) for run in runs.values())
    baseline = runs["glvq"].decisions
    for key, run in runs.items():
        strength = settings.C if key == "fairglvq" else 0.0
        own = _panel_arrays(run, table, strength, plane, shown, None if baseline is None else baseline[-1])
        arrays |= {f"{key}.{name}": _padded(array, name, n_frames) for name, array in own.items()}
    longest = max(runs.values(), key=lambda run: len(run.epochs))
    labels = np.repeat(np.arange(len(table.classes)), settings.prototypes).tolist()
    meta = {
        "revision": revision(settings, *runs),
        "keep_position": True,
        "dataset": settings.dataset,
        "classes": table.classes,
        "groups": table.groups,
        "favourable": table.favourable,
        "axes": plane.names if plane else table.axes,
        "slice": plane.sentence if plane else None,
        "bounds": _bounds(places),
        "population": len(table.y),
        "epochs": longest.epochs.tolist(),
        "grammar": stage_grammar(len(table.classes), len(table.groups)),
        "painted": len(settings.painted),
        "coming": len(METHODS) - len(runs),
        "panels": [_panel_meta(settings, key, run, labels, places, plane) for key, run in runs.items()],
        "film": None,
    }
    if settings.dataset in PEOPLE:
        meta["people"] = PEOPLE[settings.dataset]
    return Scene(meta, arrays, table, runs, plane, shown)


def with_film(scene: Scene, settings: Settings, film: Film) -> Scene:
    """The scene with C as a film."""
    arrays = {"prototypes": film.prototypes, "pseudo": film.pseudo.astype("u1")}
    if scene.plane is not None and film.decisions is not None:
        lens = scene.plane.lens(scene.runs["fairglvq"])
        arrays |= {"prototypes": lens.places(film.prototypes), "weights": lens.weights(film.prototypes)}
        arrays["counts"] = tallied(scene.table, film.decisions)
        before = scene.runs["glvq"].decisions
        if before is not None:
            arrays["changed"] = changed_decisions(scene.table, before[-1], film.decisions)
    labels = scene.meta["panels"][-1]["labels"]
    about = {"revision": revision(film_key(settings)), "C": FILM_C, "panel": "fairglvq", "labels": labels}
    return scene._replace(
        meta=scene.meta | {"film": about},
        arrays=scene.arrays | {f"film.{name}": array for name, array in arrays.items()},
    )


def _sample(table: Table) -> np.ndarray:
    """People to draw: a random part, the same for the same data."""
    return np.sort(np.random.default_rng(0).permutation(len(table.y))[:SAMPLE])


def _bounds(places: np.ndarray) -> list[float]:
    low, high = places.min(axis=0), places.max(axis=0)
    return [*low.tolist(), *np.maximum(high, low + 1e-3).tolist()]


def _panel_arrays(
    run: Run, table: Table, C: float, plane: Plane | None, shown: np.ndarray, baseline: np.ndarray | None
) -> dict[str, np.ndarray]:
    arrays = {
        "prototypes": run.prototypes,
        "pseudo": run.pseudo.astype("u1"),
        "pull_class": run.class_pull,
        "pull_fair": -C * run.fair_pull,
        "cost_class": run.class_cost.astype("f4"),
        "cost_fair": run.fair_cost.astype("f4"),
        "flips": np.minimum(run.flips, 65535).astype("u2"),
        "alpha_uses": run.alpha_uses.astype("u4"),
    }
    if plane is not None and run.decisions is not None and baseline is not None:
        lens = plane.lens(run)
        arrays["prototypes"] = lens.places(run.prototypes)
        arrays["weights"] = lens.weights(run.prototypes)
        arrays["pull_class"], arrays["pull_fair"] = (arrays[name] @ lens.frame for name in ("pull_class", "pull_fair"))
        arrays["counts"] = tallied(table, run.decisions)
        arrays["changed"] = changed_decisions(table, baseline, run.decisions)
        arrays["nearest"] = nearest(run, table.X[shown], run.prototypes[-1]).astype("u2")
    arrays["pull_class"], arrays["pull_fair"] = (arrays[name].astype("f4") for name in ("pull_class", "pull_fair"))
    return arrays


def _padded(array: np.ndarray, name: str, n_frames: int) -> np.ndarray:
    """A training that stopped early stands still for the rest of the film."""
    if name == "nearest" or len(array) == n_frames:
        return array
    return np.concatenate([array, np.repeat(array[-1:], n_frames - len(array), axis=0)])


def _panel_meta(
    settings: Settings, key: str, run: Run, labels: list[int], places: np.ndarray, plane: Plane | None
) -> dict[str, Any]:
    meta: dict[str, Any] = {"key": key, "title": TITLES[key], "labels": labels, "C": None, "map": None, "line": None}
    meta["note"] = _note(settings, key, run)
    if key == "fairglvq":
        meta["C"] = settings.C
    if run.matrix is None or run.shift is None or run.removed is None:
        return meta
    if plane is not None:
        meta["map"] = {"A": plane.lens(run).A.tolist(), "b": [0.0, 0.0]}
        return meta
    meta["map"] = {"A": run.matrix.tolist(), "b": run.shift.tolist()}
    if len(run.removed) == 1:
        (rx, ry), centre = run.removed[0], places.mean(axis=0)
        meta["line"] = {"origin": centre.tolist(), "kept": [-ry, rx], "removed": [rx, ry]}
    return meta


def _note(settings: Settings, key: str, run: Run) -> str:
    if run.flew_off:
        return f"Stopped in epoch {run.epochs[-1]}: prototypes flew off"
    if key == "glvq":
        return "accuracy only"
    if key == "fairglvq":
        return "pushes back what tells groups apart" if settings.C else "C is 0: no fairness push"
    if run.removed is None:
        return "only one group: nothing to remove"
    if not settings.real and len(run.removed) > 1:
        return "removes both directions: nothing is left"
    if not settings.real:
        return "blind along one direction"
    return f"blind along {len(run.removed)} of {run.prototypes.shape[2]} directions"
