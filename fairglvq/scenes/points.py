"""The points of a scene: a data set split and scaled, with painted points added and erased ones left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairglvq.datasets.base import Block
from fairglvq.datasets.split import Scaling, hold_out_fold, hold_out_share
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.sources import GoneError, dataset_of


class UntrainableError(Exception):
    """The settings cannot be trained; the message says why in plain words."""


class Points(NamedTuple):
    """Points scaled to [0, 1] on the training part, with integer classes and groups."""

    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    s: np.ndarray  # (n,)
    held_out: np.ndarray  # (n,) bool
    rows: np.ndarray  # (n,) row of each point in the data set, -1 for painted ones
    classes: list[str]
    groups: list[str]
    favourable: int
    axes: list[str]
    scaling: Scaling  # from the data set's units to X
    blocks: tuple[Block, ...]  # original columns of X

    @property
    def measured(self) -> np.ndarray:
        """Mask (n,) of the points that the numbers are about: the held-out ones, or all if none is held out."""
        return self.held_out if self.held_out.any() else np.ones(len(self.y), bool)


OF_POINTS = ("dataset", "seed", "held_out", "noise", "bias", "bins")
"""Fields that the points depend on."""


def points_key(settings: Settings) -> tuple:
    """Every setting that the points depend on."""
    own = (settings.bins,) if settings.real else (settings.noise, settings.bias, settings.painted, settings.erased)
    split = settings.fold or settings.held_out
    return ("points", settings.dataset, settings.table, settings.seed, split, *own)


def load_points(settings: Settings) -> Points:
    """Load the data set, split and scale it, leave out erased points and add painted ones."""
    try:
        data = dataset_of(settings)
    except GoneError as problem:
        raise UntrainableError(str(problem)) from problem
    classes, groups = list(data.class_names), list(data.group_names)
    y, s = np.searchsorted(classes, data.y), np.searchsorted(groups, data.s)
    held_out = _split(settings, data.y, y * len(groups) + s)
    scaling = Scaling.fit(data.X[~held_out])
    X, rows = scaling.apply(data.X), np.arange(len(y))
    if settings.erased:
        kept = ~np.isin(rows, settings.erased)
        X, y, s, held_out, rows = X[kept], y[kept], s[kept], held_out[kept], rows[kept]
    if settings.painted:
        paint = np.array(settings.painted)  # (n painted, 4)
        n = len(paint)
        X = np.vstack([X, paint[:, :2]])
        y, s = np.append(y, paint[:, 2].astype(int)), np.append(s, paint[:, 3].astype(int))
        held_out, rows = np.append(held_out, np.zeros(n, bool)), np.append(rows, np.full(n, -1))
    if (left := len(np.unique(y[~held_out]))) < 2:
        found = "Only one class is" if left else "No points are"
        raise UntrainableError(f"{found} left among the training points, so there is nothing to tell apart.")
    names = [str(data.class_names[c]) for c in classes], [str(data.group_names[g]) for g in groups]
    axes = ["", ""] if settings.real else [block.column for block in data.blocks]
    return Points(X, y, s, held_out, rows, *names, classes.index(data.favourable), axes, scaling, data.blocks)


def _split(settings: Settings, labels: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Mask (n,) of held-out rows: a fold of a cross-validation, or a share of every class and group."""
    if settings.fold is None:
        return hold_out_share(strata, settings.held_out, settings.seed)
    folds, fold, seed = settings.fold
    try:
        return hold_out_fold(labels, folds, fold, seed)
    except ValueError as problem:
        raise UntrainableError(f"The points cannot be split like that: {problem}") from problem
