"""GLVQ, INP + GLVQ and FairGLVQ trained on the points of a scene and recorded frame by frame.

Each part (`train_part`, `train_film`) depends on some of the settings only, named by its key. With finished parts kept
under their keys, a change retrains no more than it has to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from fairglvq.datasets.split import Scaling, fold_seed
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows, nearest_prototypes
from fairglvq.scenes.points import Points, points_key
from fairglvq.scenes.settings import Settings

METHODS = ("glvq", "inp", "fairglvq")
FILM_C = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)
FRAME_BYTES = 150_000  # of all frames together, so that a scene stays well under 300 KB
MOST_FRAMES = 51
CHUNK = 64  # epochs between two progress reports, which may cancel; 1 on real data

Progress = Callable[[float], None]
"""Called with the share of work done; may raise to stop the work."""


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
    decisions: np.ndarray | None  # (F, n measured): classes decided; only where the plane does not show all dimensions
    matrix: np.ndarray | None  # (d, d): model space z = matrix x + shift; None: the space of the points
    shift: np.ndarray | None
    removed: np.ndarray | None  # (r, d) directions that INP removed
    flew_off: bool

    def see(self, X: np.ndarray) -> np.ndarray:
        """Points (n, d) in the model's space."""
        return X if self.matrix is None or self.shift is None else X @ self.matrix.T + self.shift


class Film(NamedTuple):
    """FairGLVQ at the end of training for every strength of `FILM_C`; M strengths."""

    prototypes: np.ndarray  # (M, P, d)
    pseudo: np.ndarray  # (M, P)
    decisions: np.ndarray | None  # (M, n measured)


def part_key(settings: Settings, method: str) -> tuple:
    """Every setting that one method's training depends on."""
    own = {"glvq": (), "inp": (settings.projections,), "fairglvq": (settings.C, settings.alpha)}[method]
    return (method, *_training_key(settings, method), *own)


def film_key(settings: Settings) -> tuple:
    """Every setting that the film depends on: all of FairGLVQ's but C."""
    return ("film", *_training_key(settings, "fairglvq"), settings.alpha)


def _training_key(settings: Settings, method: str) -> tuple:
    s = settings
    start = s.start if s.start and s.start.panel == method else None
    return (*points_key(s)[1:], s.prototypes, s.batch_size, s.learning_rate, s.epochs, s.beta, s.step, start)


def train_part(settings: Settings, points: Points, method: str, progress: Progress) -> Training:
    """Train one method and record it."""
    learn = ~points.held_out
    X, matrix, shift, removed = points.X, None, None, None
    if method == "inp" and len(np.unique(points.s[learn])) > 1:
        inp, scaling, matrix = _null_space(settings, points)
        shift, removed = scaling.offset, inp.directions_
        X = np.empty_like(X)
        # Separately, as in a sweep: a matrix product of another size may differ in the last bit.
        for part in (learn, ~learn):
            if part.any():
                X[part] = scaling.apply(inp.transform(points.X[part]))
    trainer = _trainer(settings, points, method, X[learn])
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
        matrix=matrix,
        shift=shift,
        removed=removed,
        flew_off=trainer.flew_off,
    )


def train_film(settings: Settings, points: Points, progress: Progress) -> Film:
    """Train FairGLVQ once for every strength; only the result of each training is kept."""
    learn = ~points.held_out
    X = points.X[learn]
    W, pseudo = [], []
    for number, C in enumerate(FILM_C):
        trainer = _trainer(settings, points, "fairglvq", X, C=C)
        _train(trainer, settings, 0, _part_of(progress, number, len(FILM_C)))
        W.append(trainer.prototypes.W.copy())
        pseudo.append(trainer.prototypes.pseudo.copy())
    decisions = _decisions(points.X[points.measured], W, trainer.prototypes.labels) if settings.real else None
    return Film(np.stack(W), np.stack(pseudo), decisions)


def _decisions(X: np.ndarray, models: Iterable[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Classes (M, n) that each of M models, prototypes (P, d) with these labels, decides for points X (n, d)."""
    rows = as_rows(X)
    return np.stack([labels[nearest_prototypes(rows, W)] for W in models]).astype("u1")


def _part_of(progress: Progress, number: int, parts: int) -> Progress:
    """Report the progress of one part out of several as progress of the whole."""
    return lambda share: progress((number + share) / parts)


def _trainer(settings: Settings, points: Points, method: str, X: np.ndarray, C: float | None = None) -> Trainer:
    """A trainer that does what the estimators do with ``random_state=seed``."""
    learn, K = ~points.held_out, len(points.classes)
    rng = np.random.default_rng(seed_of(settings))
    y, s = points.y[learn], points.s[learn]
    init: Any = "shared-kmeans" if method == "fairglvq" else "class-kmeans"
    if settings.start and settings.start.panel == method:
        init = settings.start.prototypes
    W = initial_prototypes(init, X, y, settings.prototypes, K, rng)
    if settings.fold:  # a sweep draws the start from one generator and trains with a fresh one
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
    # Pseudo-classes of GLVQ and INP are only displayed: no votes between two frames.
    lazy = method != "fairglvq"
    return Trainer(as_rows(X), y, s, W, labels, recipe, rng, n_groups=len(points.groups), lazy_votes=lazy)


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
    frame = len(METHODS) * (per_prototype * settings.prototypes * n_classes + 40)
    most = min(MOST_FRAMES, FRAME_BYTES // frame)
    if settings.real:
        most = min(most, 31)  # a frame of a large table costs as much as an epoch
    return max(1, math.ceil(settings.epochs / (most - 1)))


class _NullSpace(NamedTuple):
    """INP and the scaling to [0, 1] that follows it; together z = matrix x + scaling.offset."""

    inp: Any  # NullSpaceProjection, fitted
    scaling: Scaling
    matrix: np.ndarray  # (d, d)


_null_spaces: dict[tuple, _NullSpace] = {}  # the latest ones: they depend on the points alone, not on the prototypes


def _null_space(settings: Settings, points: Points) -> _NullSpace:
    key = (*points_key(settings), settings.projections)
    found = _null_spaces.get(key)
    if found is None:
        found = _null_spaces[key] = _find_null_space(settings, points)
        while len(_null_spaces) > 16:
            _null_spaces.pop(next(iter(_null_spaces)), None)
    return found


def _find_null_space(settings: Settings, points: Points) -> _NullSpace:
    from fairglvq.fairness.projection import NullSpaceProjection  # scikit-learn: two seconds at first use

    X = points.X[~points.held_out]
    inp = NullSpaceProjection(settings.projections, random_state=seed_of(settings))
    inp.fit(X, sensitive_features=points.s[~points.held_out])
    scaling = Scaling.fit(inp.transform(X))
    # Entries that are rounding errors carry no information; scaled up they would seem to.
    kept = np.where(np.abs(inp.projection_) < 1e-12, 0.0, inp.projection_)
    return _NullSpace(inp, scaling, kept * scaling.scale[:, None])
