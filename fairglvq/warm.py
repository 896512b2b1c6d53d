"""Compiles every kernel: ``python -m fairglvq warm``. Numba keeps the results on disk."""

from __future__ import annotations

from multiprocessing import get_context

import numpy as np


def compile_all() -> None:
    """On two cores: the kernels of training take four times as long as all others."""
    others = get_context("spawn").Process(target=compile_others)
    others.start()
    compile_training()
    others.join()
    if others.exitcode:
        raise RuntimeError("not every kernel could be compiled")


def compile_training() -> None:
    """What moves prototypes and lets cells vote."""
    from fairglvq.lvq.trainer import Recipe, Trainer, as_rows

    X, y = _some_points()
    Trainer(as_rows(X), y, y, X[:4], y[:4], Recipe(C=1.0), np.random.default_rng(0)).run(1, 1)


def compile_others() -> None:
    """Where training begins, learned distances, and trees."""
    from fairglvq.lvq.initialisers import kmeans
    from fairglvq.lvq.projected import Projected, gradient, pair_up
    from fairglvq.trees.binning import binned
    from fairglvq.trees.growing import grow
    from fairglvq.trees.kernels import Aim

    X, y = _some_points()
    kmeans(X, 4, np.random.default_rng(0))
    model = Projected(np.eye(2), X[:2].copy(), np.zeros(2))
    gradient(X, X, model, pair_up(X, model, np.array([0, 1]), y).who, np.ones((50, 2)))
    # What FairTree calls, without scikit-learn, which takes a second or two to import; one split: all three loops.
    statistics = np.column_stack([np.ones(50), X[:, 0] > 0.5, X[:, 0] <= 0.5, np.ones(50)])
    grow(binned(X), statistics, Aim(np.array([3, 4]), np.ones(2), True, 5), 2)


def _some_points() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).random((50, 2)), np.arange(50) % 2
