"""Models that learn two directions of the data and decide by them alone: in their plane the picture is the model.

A decision, argmin |Ωx - v|² - handicap, is that of the nearest prototype in a space with one dimension more: people
have height 0 there, a prototype has the height sqrt(largest handicap - its own). So the code for nearest prototypes
works here too, and the plane shows cells and people exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairglvq.lvq.axes import axis_traits
from fairglvq.scenes.cache import ResultCache
from fairglvq.scenes.points import Points, points_key
from fairglvq.scenes.settings import Settings
from fairglvq.wording import AxisTrait

Progress = Callable[[float], None]
"""Called with the share of work done; may raise to stop the work."""

RANK = 2
SAMPLE = 4000  # people from whom the meaning of a direction is computed
WIDE = (0.5, 99.5)  # per cent of the people that span the picture: a few lie far away
BOUNDS = [0.0, 0.0, 1.0, 0.72]  # of all pictures of own planes


class Inputs(NamedTuple):
    """People as a method gets them: X, or after INP z = matrix x + shift."""

    X: np.ndarray  # (n, d)
    matrix: np.ndarray | None = None  # (d, d)
    shift: np.ndarray | None = None  # (d,)
    removed: np.ndarray | None = None  # (r, d) directions that INP removed


class Learned(NamedTuple):
    """A model as the estimators give it: prototypes of people as the method gets them, Ω and handicaps."""

    prototypes: np.ndarray  # (P, d)
    omega: np.ndarray  # (r, d)
    handicaps: np.ndarray | None  # (P,)
    matrix: np.ndarray | None  # of `Inputs`
    shift: np.ndarray | None
    axes: list[list[AxisTrait]]  # the columns that make each direction of the picture


class Placed(NamedTuple):
    """Models in the space that the stage shows, z = matrix x + shift; its last dimension is the height."""

    matrix: np.ndarray  # (3, d)
    shift: np.ndarray  # (3,)
    prototypes: np.ndarray  # (F, P, 3)


class Trained(NamedTuple):
    """The models (`Projected`) after each round, the names of these frames, and the last model's prototypes."""

    models: list
    frame_names: tuple[str, ...]
    prototypes: np.ndarray  # (P, d)


def train(settings: Settings, points: Points, method: str, inputs: Inputs, seed: int, progress: Progress) -> Trained:
    """Train a method to the end."""
    learn = ~points.held_out
    X, y = inputs.X[learn], points.y[learn]
    if method == "paritylvq":
        from fairglvq.lvq.projected import lift

        outcome = _solve(settings, points, settings.max_gap, seed, progress)
        rounds = len(outcome.steps) - 1
        frame_names = ["trained on the true labels alone", *(f"round {n} of {rounds}" for n in range(1, rounds + 1))]
        model = outcome.found.model
        prototypes = lift(X, model.cells(model.project(X)), model.omega, model.V)
        return Trained([*(step.model for step in outcome.steps), model], (*frame_names, "the best round"), prototypes)
    from fairglvq.lvq.fair_glvq import FairGLVQ
    from fairglvq.lvq.glvq import GLVQ
    from fairglvq.lvq.projected import Projected, checkpoint

    options: dict[str, Any] = {"metric": "matrix", "rank": RANK, "beta": settings.beta, "random_state": seed}
    stoppable = checkpoint.set(lambda: progress(0.0))
    try:
        if method == "fairglvq":
            glvq = FairGLVQ(settings.prototypes, C=settings.C, alpha=settings.alpha, **options)
            glvq.fit(X, y, sensitive_features=points.s[learn])
        else:
            glvq = GLVQ(settings.prototypes, **options).fit(X, y)
    finally:
        checkpoint.reset(stoppable)
    images = glvq.prototypes_ @ glvq.omega_.T
    return Trained([Projected(glvq.omega_, images, np.zeros(len(images)))], ("fully trained",), glvq.prototypes_)


def learned(points: Points, method: str, inputs: Inputs, trained: Trained, placed: Placed) -> Learned:
    """The last model as explanations need it, with what its directions mean."""
    some = np.random.default_rng(0).permutation(np.flatnonzero(~points.held_out))[:SAMPLE]
    axes = axis_traits(placed.matrix[:RANK], points.X[some], points.blocks)
    last = trained.models[-1]
    handicaps = last.handicaps if method == "paritylvq" else None
    return Learned(trained.prototypes, last.omega, handicaps, inputs.matrix, inputs.shift, axes)


def film(settings: Settings, points: Points, gaps: tuple[float, ...], seed: int, progress: Progress) -> list:
    """ParityLVQ (`Projected`) trained to each of the gaps, in the plane that all of them share."""
    return [
        _solve(settings, points, gap, seed, part_of(progress, number, len(gaps))).found.model
        for number, gap in enumerate(gaps)
    ]


def part_of(progress: Progress, number: int, parts: int) -> Progress:
    """Report the progress of one part out of several as progress of the whole."""
    return lambda share: progress((number + share) / parts)


def _solve(settings: Settings, points: Points, max_gap: float, seed: int, progress: Progress):
    """What ``ParityLVQ(prototypes, max_gap=max_gap, random_state=seed)`` finds."""
    from fairglvq.lvq import parity
    from fairglvq.lvq.parity_lvq import ParityLVQ
    from fairglvq.lvq.projected import one_thread

    key = (*points_key(settings), settings.prototypes)
    task = tasks.get(key, lambda: _task(settings, points, seed))
    with one_thread():
        return parity.solve(task, max_gap, ParityLVQ().max_epochs, progress)


tasks = ResultCache(16)
"""What was prepared for ParityLVQ: directions depend on the points alone, whatever gap is allowed."""


def _task(settings: Settings, points: Points, seed: int):
    from fairglvq.lvq import parity
    from fairglvq.lvq.directions import first_metric
    from fairglvq.lvq.projected import one_thread
    from fairglvq.lvq.trainer import compact

    learn, K = ~points.held_out, len(points.classes)
    rng = np.random.default_rng(seed)
    X, y, s = compact(points.X[learn]), points.y[learn], points.s[learn]
    layout = parity.Layout(np.repeat(np.arange(K), settings.prototypes), K, points.favourable, train_omega=False)
    with one_thread():
        metric = first_metric(X, [y, s], "matrix", RANK, rng)
        return parity.prepare(X, y, s, layout, "statistical_parity", metric, rng)


def place(models: list, points: Points, inputs: Inputs, *, real: bool, turn: bool) -> Placed:
    """The models where the stage draws them: on drawn data as they are, on real data turned and scaled to fit.

    ``turn``: right is where the favourable label is. Otherwise only signs change, because the first direction predicts
    the label already. All distances change by one common factor, decisions not at all.
    """
    omega = np.zeros((RANK, inputs.X.shape[1]))
    omega[: len(models[0].omega)] = models[0].omega[:RANK]
    T, offset = np.eye(RANK), np.zeros(RANK)
    if real:
        T = _turned(inputs.X[~points.held_out] @ omega.T, points, turn=turn)
        ends = np.percentile(inputs.X[~points.held_out] @ (T @ omega).T, WIDE, axis=0)
        scale, offset = _fitted(ends, models[-1].V[:, :RANK] @ T[:, : models[-1].V.shape[1]].T)
        T = scale * T
    scale = np.sqrt(abs(np.linalg.det(T)))
    frames = []
    for model in models:
        V = np.zeros((len(model.V), RANK))
        V[:, : model.V.shape[1]] = model.V
        heights = scale * np.sqrt(model.handicaps.max() - model.handicaps)
        frames.append(np.column_stack([V @ T.T + offset, heights]))
    matrix, shift = T @ omega, offset
    if inputs.matrix is not None and inputs.shift is not None:
        matrix, shift = matrix @ inputs.matrix, matrix @ inputs.shift + offset
    return Placed(np.vstack([matrix, np.zeros(matrix.shape[1])]), np.append(shift, 0.0), np.stack(frames))


def _turned(Z: np.ndarray, points: Points, *, turn: bool) -> np.ndarray:
    """A turn, or only signs, after which right is favourable and people of the last group stand higher."""
    learn = ~points.held_out
    favoured = points.y[learn] == points.favourable
    ahead = Z[favoured].mean(axis=0) - Z[~favoured].mean(axis=0)
    length = np.linalg.norm(ahead)
    cos, sin = ahead / length if turn and length > 0 else (np.sign(ahead[0]) or 1.0, 0.0)
    T = np.array([[cos, sin], [-sin, cos]])
    groups = points.s[learn]
    up = (Z @ T.T)[:, 1]
    if up[groups == groups.max()].mean() < up.mean():
        T[1] *= -1
    return T


def _fitted(ends: np.ndarray, prototypes: np.ndarray) -> tuple[float, np.ndarray]:
    """Scale and offset that bring people between ``ends`` (2, 2), and prototypes not far from them, into `BOUNDS`."""
    low, high = ends
    margin = (high - low) / 3
    low, high = (
        pick([end, *np.clip(prototypes, low - margin, high + margin)], axis=0)
        for pick, end in ((np.min, low), (np.max, high))
    )
    size = np.maximum(high - low, 1e-9)
    room = np.array(BOUNDS[2:])
    scale = float((0.92 * room / size).min())
    return scale, room / 2 - scale * (low + high) / 2
