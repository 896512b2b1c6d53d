"""Compiles every kernel: ``python -m fairglvq warm``. Numba keeps the results on disk."""

from multiprocessing import get_context

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows


def compile_all() -> None:
    """On two cores, about half of the work on each: an entry that is on disk is not compiled again for its caller."""
    others = get_context("spawn").Process(target=compile_others)
    others.start()
    compile_training()
    others.join()
    if others.exitcode:
        raise RuntimeError("not every kernel could be compiled")


def compile_training() -> None:
    """One term of a step, then all of training; meanwhile the other process makes the cells, which training takes."""
    trainer, nobody = _trainer_without_groups()
    points, prototypes, n_labels = trainer.points, trainer.prototypes, trainer.cells.counts.shape[1:]
    kernels.add_term(0, points, nobody, prototypes, trainer.tile, trainer.pulls, trainer.options(), n_labels)
    y = points.labels[0]
    Trainer(points.rows, y, y, prototypes.W, prototypes.labels, Recipe(C=1.0), np.random.default_rng(0)).run(1, 1)


def compile_others() -> None:
    """Cells, where training begins, learned distances, and trees."""
    from fairglvq.lvq.initialisers import kmeans
    from fairglvq.lvq.projected import Projected, gradient, pair_up
    from fairglvq.trees.binning import binned
    from fairglvq.trees.growing import grow
    from fairglvq.trees.kernels import Aim

    trainer, nobody = _trainer_without_groups()
    options = trainer.options()
    kernels.shuffle(nobody, trainer.random)
    kernels.reassign(trainer.points, trainer.prototypes, trainer.cells, trainer.tile, nobody, options)
    kernels.vote(trainer.cells.counts, options.published, trainer.random, trainer.prototypes.pseudo)
    X, y = _some_points()
    kmeans(X, 4, np.random.default_rng(0))
    model = Projected(np.eye(2), X[:2].copy(), np.zeros(2))
    gradient(X, X, model, pair_up(X, model, np.array([0, 1]), y).who, np.ones((50, 2)))
    # What FairTree calls, without scikit-learn, which takes a second or two to import; one split: all three loops.
    statistics = np.column_stack([np.ones(50), X[:, 0] > 0.5, X[:, 0] <= 0.5, np.ones(50)])
    grow(binned(X), statistics, Aim(np.array([3, 4]), np.ones(2), True, 5), 2)


def _trainer_without_groups() -> tuple[Trainer, np.ndarray]:
    """What the kernels are called with, compiling next to nothing, and a batch of no points."""
    X, y = _some_points()
    trainer = Trainer(as_rows(X), y, None, X[:4], y[:4], Recipe(), np.random.default_rng(0))
    return trainer, trainer.points.order[:0]


def _some_points() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).random((50, 2)), np.arange(50) % 2
