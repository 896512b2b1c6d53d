"""The methods of a scene trained on its points and recorded frame by frame.

Each part (`train_part`, `train_film`) depends on some of the settings only, named by its key. With finished parts kept
under their keys, a change retrains no more than it has to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairglvq.datasets.split import Scaling, fold_seed
from fairglvq.fairness.cells import count
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows, nearest_prototypes
from fairglvq.scenes import own_plane
from fairglvq.scenes.cache import ResultCache
from fairglvq.scenes.leaves import Leaves, grown, leaves_of
from fairglvq.scenes.own_plane import Inputs, Progress, part_of
from fairglvq.scenes.points import OF_POINTS, Points, points_key
from fairglvq.scenes.settings import FIELDS, GAPS, KNOBS, PARAMETERS, Settings

FILM_C = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)
FRAME_BYTES = 150_000  # of all frames together, so that a scene stays well under 300 KB
MOST_FRAMES = 51
CHUNK = 64  # epochs between two progress reports, which may cancel; 1 on real data


class Training(NamedTuple):
    """One method's training, frame by frame: F frames, P prototypes, d dimensions of the model's space."""

    epochs: np.ndarray  # (F,)
    prototypes: np.ndarray  # (F, P, d)
    pseudo: np.ndarray  # (F, P)
    class_pull: np.ndarray  # (F, P, d)
    fair_pull: np.ndarray  # (F, P, d)
    class_cost: np.ndarray  # (F,)
    fair_cost: np.ndarray  # (F,)
    flips: np.ndarray  # (F,)
    alpha_uses: np.ndarray  # (F,)
    # (F, n measured) classes decided, only where the plane does not show all dimensions
    decisions: np.ndarray | None = None
    matrix: np.ndarray | None = None  # (d, d): model space z = matrix x + shift; None: the space of the points
    shift: np.ndarray | None = None
    removed: np.ndarray | None = None  # (r, d) directions that INP removed
    flew_off: bool = False
    frame_names: tuple[str, ...] | None = None  # (F,) what to call each frame of a model in its own plane
    learned: own_plane.Learned | None = None  # the last model of a training in its own plane
    leaves: Leaves | None = None  # of a tree, which has these in place of prototypes: (F, P) of them

    def see(self, X: np.ndarray) -> np.ndarray:
        """Points (n, d) in the model's space."""
        return X if self.matrix is None or self.shift is None else X @ self.matrix.T + self.shift


class Film(NamedTuple):
    """A method at the end of training for every one of M strengths."""

    values: tuple[float, ...]
    prototypes: np.ndarray  # (M, P, d)
    pseudo: np.ndarray  # (M, P)
    decisions: np.ndarray | None  # (M, n measured)
    leaves: Leaves | None = None  # of trees


def part_key(settings: Settings, method: str) -> tuple:
    """Every setting that one method's training depends on."""
    start = settings.start if settings.start and settings.start.panel == method else None
    return (method, *points_key(settings)[1:], *_own_fields(settings, method), start)


def filmed(settings: Settings) -> tuple[str, ...]:
    """The methods that have a film; in planes of their own, only those whose plane stays the same.

    Trees of real data have no picture, and so no film.
    """
    always = ("paritylvq",) if settings.real else ("paritylvq", "fairtree")
    return tuple(m for m in settings.beside if m in always or (m == "fairglvq" and not settings.in_own_plane(m)))


def film_key(settings: Settings, method: str) -> tuple:
    """Every setting that a method's film depends on: all but its strength."""
    top = None if method == "paritylvq" else film_strengths(settings)[-1]
    any_strength: dict[str, Any] = {KNOBS[method]: 0.0}
    return ("film", *part_key(replace(settings, **any_strength), method), top)


def film_strengths(settings: Settings) -> tuple[float, ...]:
    """The strengths C of a film: as far as the slider goes."""
    top = FIELDS["C"].top(settings, settings.C)
    return tuple(C * top / FILM_C[-1] for C in FILM_C)


def _own_fields(settings: Settings, method: str) -> tuple:
    """Names and values of the fields that a method depends on beside its points; a learned distance has others."""
    left_out = (*OF_POINTS, "beside", "plane", "metric")
    names = (name for name, field in FIELDS.items() if name not in left_out and field.concerns(settings, method))
    return tuple((name, getattr(settings, name)) for name in names)


def train_part(settings: Settings, points: Points, method: str, progress: Progress) -> Training:
    """Train one method and record it."""
    if method == "fairtree":
        return _grow(settings, points)
    inputs = _inputs(settings, points, method)
    if settings.in_own_plane(method):
        return _train_in_plane(settings, points, method, inputs, progress)
    X = inputs.X
    trainer = _trainer(settings, points, method, X[~points.held_out])
    every = record_interval(settings, len(points.classes))
    trainer.run(0, every)
    _train(trainer, settings, every, progress)
    history = trainer.history
    prototypes = np.stack([h.prototypes for h in history])
    decisions = None
    if settings.real:
        decisions = _decisions(X[points.measured], prototypes, trainer.prototypes.labels)
    return Training(
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
        matrix=inputs.matrix,
        shift=inputs.shift,
        removed=inputs.removed,
        flew_off=trainer.flew_off,
    )


def _grow(settings: Settings, points: Points) -> Training:
    """A tree with a frame per split, or only the last one where it has no picture; there are no pulls."""
    tree = grown(settings, points, settings.C).tree_
    sizes = [len(tree.leaves)] if settings.real else range(1, len(tree.leaves) + 1)
    found = leaves_of([tree.early(n - 1) for n in sizes], points, settings.leaves)
    frame_names = tuple(f"{n} {'leaves' if n > 1 else 'leaf'}" for n in sizes)
    return _without_steps(found.places, found.pseudo, np.zeros(len(sizes), int), frame_names, leaves=found)


def _inputs(settings: Settings, points: Points, method: str) -> Inputs:
    """People as the method gets them: INP takes directions away first."""
    learn = ~points.held_out
    if method != "inp" or len(np.unique(points.s[learn])) < 2:
        return Inputs(points.X)
    key = (*points_key(settings), settings.projections)
    inp, scaling, matrix = null_spaces.get(key, lambda: _null_space(settings, points))
    X = np.empty_like(points.X)
    # Separately, as in a sweep: a matrix product of another size may differ in the last bit.
    for part in (learn, ~learn):
        if part.any():
            X[part] = scaling.apply(inp.transform(points.X[part]))
    return Inputs(X, matrix, scaling.offset, inp.directions_)


def _train_in_plane(settings: Settings, points: Points, method: str, inputs: Inputs, progress: Progress) -> Training:
    """A model that decides in a plane of its own; steps of a line search have no pulls and no epochs."""
    trained = own_plane.train(settings, points, method, inputs, seed_of(settings), progress)
    placed = own_plane.place(trained.models, points, inputs, real=settings.real, turn=method != "paritylvq")
    pseudo = _majorities(placed, points)
    flips = np.append(0, (pseudo[1:] != pseudo[:-1]).sum(axis=1))
    return _without_steps(
        placed.prototypes, pseudo, flips, trained.frame_names,
        decisions=_decisions_in_plane(settings, points, placed),
        matrix=placed.matrix, shift=placed.shift, removed=inputs.removed,
        learned=own_plane.learned(points, method, inputs, trained, placed),
    )  # fmt: skip


def _without_steps(
    prototypes: np.ndarray, pseudo: np.ndarray, flips: np.ndarray, frame_names: tuple[str, ...], **more: Any
) -> Training:
    """A training without epochs: nothing pulls at its prototypes (F, P, d), and no cost is known."""
    F, still = len(prototypes), np.zeros_like(prototypes)
    unknown, never = np.full(F, np.nan), np.zeros(F, int)
    return Training(
        np.arange(F), prototypes, pseudo, still, still, unknown, unknown, flips, never, frame_names=frame_names, **more
    )


def _decisions_in_plane(settings: Settings, points: Points, placed: own_plane.Placed) -> np.ndarray | None:
    if not settings.real:
        return None
    labels = np.repeat(np.arange(len(points.classes)), settings.prototypes)
    return _decisions(points.X[points.measured] @ placed.matrix.T + placed.shift, placed.prototypes, labels)


def _majorities(placed: own_plane.Placed, points: Points) -> np.ndarray:
    """Majority groups (F, P) of the training points in each cell; the first group where there are none."""
    learn = ~points.held_out
    rows, s = as_rows(points.X[learn] @ placed.matrix.T + placed.shift), points.s[learn]
    shape = placed.prototypes.shape[1], len(points.groups)
    return np.stack([count(shape, nearest_prototypes(rows, W), s).argmax(axis=1) for W in placed.prototypes])


def train_film(settings: Settings, points: Points, method: str, progress: Progress) -> Film:
    """Train a method once for every strength; only the result of each training is kept."""
    if method == "paritylvq":
        models = own_plane.film(settings, points, GAPS, seed_of(settings), progress)
        placed = own_plane.place(models, points, Inputs(points.X), real=settings.real, turn=False)
        decisions = _decisions_in_plane(settings, points, placed)
        return Film(GAPS, placed.prototypes, _majorities(placed, points), decisions)
    if method == "fairtree":
        return _film_of_trees(settings, points, progress)
    learn = ~points.held_out
    X = points.X[learn]
    W, pseudo = [], []
    strengths = film_strengths(settings)
    for number, C in enumerate(strengths):
        trainer = _trainer(settings, points, method, X, C=C)
        _train(trainer, settings, 0, part_of(progress, number, len(strengths)))
        W.append(trainer.prototypes.W.copy())
        pseudo.append(trainer.prototypes.pseudo.copy())
    decisions = _decisions(points.X[points.measured], W, trainer.prototypes.labels) if settings.real else None
    return Film(strengths, np.stack(W), np.stack(pseudo), decisions)


def _film_of_trees(settings: Settings, points: Points, progress: Progress) -> Film:
    trees, strengths = [], film_strengths(settings)
    for number, C in enumerate(strengths):
        trees.append(grown(settings, points, C).tree_)
        progress((number + 1) / len(strengths))
    found = leaves_of(trees, points, settings.leaves)
    return Film(strengths, found.places, found.pseudo, None, found)


def _decisions(X: np.ndarray, models: Iterable[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Classes (M, n) that each of M models, prototypes (P, d) with these labels, decides for points X (n, d)."""
    rows = as_rows(X)
    return np.stack([labels[nearest_prototypes(rows, W)] for W in models]).astype("u1")


def _trainer(settings: Settings, points: Points, method: str, X: np.ndarray, C: float | None = None) -> Trainer:
    """A trainer that does what the estimators do with ``random_state=seed``."""
    learn, K = ~points.held_out, len(points.classes)
    rng = np.random.default_rng(seed_of(settings))
    y, s = points.y[learn], points.s[learn]
    init: Any = start_rule(settings, method)
    if settings.start and settings.start.panel == method:
        init = settings.start.prototypes
    W = initial_prototypes(init, X, y, settings.prototypes, K, rng)
    if settings.fold:  # a sweep draws the start from one generator and trains with a fresh one
        rng = np.random.default_rng(seed_of(settings))
    strength = (settings.C if C is None else C) if method == "fairglvq" else 0.0
    known = [name for name, theirs in PARAMETERS.items() if theirs in Recipe._fields]
    recipe = Recipe(C=strength, **settings.parameters(known))
    labels = np.repeat(np.arange(K), settings.prototypes)
    # Pseudo-classes of GLVQ and INP are only displayed: no votes between two frames.
    lazy = method != "fairglvq"
    return Trainer(as_rows(X), y, s, W, labels, recipe, rng, n_groups=len(points.groups), lazy_votes=lazy)


def start_rule(settings: Settings, method: str) -> str:
    """Where training starts: all methods from prototypes spread over all points, so that FairGLVQ with C = 0 is GLVQ.

    In the published runs, and in sweeps, only FairGLVQ does; the others start from the points of each class.
    """
    as_published = settings.step == "published" or settings.fold is not None
    return "class-kmeans" if method != "fairglvq" and as_published else "shared-kmeans"


def seed_of(settings: Settings) -> int:
    """The seed of everything random in training."""
    return settings.seed if settings.fold is None else fold_seed(settings.fold.seed, settings.fold.fold)


def _train(trainer: Trainer, settings: Settings, every: int, progress: Progress) -> None:
    """Train all epochs, in chunks after which the training can be cancelled."""
    pieces = max(1, every)
    chunk = pieces * max(1, round((1 if settings.real else CHUNK) / pieces))
    while trainer.epoch < settings.epochs and trainer.run(min(chunk, settings.epochs - trainer.epoch), every):
        progress(trainer.epoch / settings.epochs)


def record_interval(settings: Settings, n_classes: int) -> int:
    """Epochs between two frames, so that all frames fit into `FRAME_BYTES`."""
    per_prototype = 33 + (8 if settings.real else 0)
    frame = len(settings.methods) * (per_prototype * settings.prototypes * n_classes + 40)
    most = min(MOST_FRAMES, FRAME_BYTES // frame)
    if settings.real:
        most = min(most, 31)  # a frame of a large table costs as much as an epoch
    return max(1, math.ceil(settings.epochs / (most - 1)))


null_spaces = ResultCache(16)
"""What INP found: it depends on the points alone, not on the prototypes."""


def forget(table: str) -> None:
    """Drop what was prepared from the visitor's table with this key."""
    own_plane.tasks.forget(table)
    null_spaces.forget(table)


def _null_space(settings: Settings, points: Points) -> tuple[Any, Scaling, np.ndarray]:
    """Fitted INP, the scaling to [0, 1] after it, and the matrix (d, d) of both: z = matrix x + scaling.offset."""
    from fairglvq.fairness.projection import NullSpaceProjection  # scikit-learn: two seconds at first use

    X = points.X[~points.held_out]
    inp = NullSpaceProjection(settings.projections, random_state=seed_of(settings))
    inp.fit(X, sensitive_features=points.s[~points.held_out])
    scaling = Scaling.fit(inp.transform(X))
    # Entries that are rounding errors carry no information; scaled up they would seem to.
    kept = np.where(np.abs(inp.projection_) < 1e-12, 0.0, inp.projection_)
    return inp, scaling, kept * scaling.scale[:, None]
