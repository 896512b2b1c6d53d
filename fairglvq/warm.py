"""Compiles every kernel: ``python -m fairglvq warm``. Numba keeps the results on disk."""

import sys
from collections.abc import Callable
from multiprocessing import get_context

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows


def compile_all() -> None:
    """On two cores, about half of the work on each: an entry that is on disk is not compiled again for its caller."""
    X, y = _some_points()
    trainer = Trainer(as_rows(X), y, None, X[:4], y[:4], Recipe(), np.random.default_rng(0))  # compiles next to nothing
    # Where forking is safe, the other process need not import and compile again.
    processes = get_context("fork") if sys.platform == "linux" else get_context("spawn")
    measured = processes.Event()
    others = processes.Process(target=compile_others, args=(trainer, measured.set))
    others.start()

    def wait_for_measure() -> None:
        while others.is_alive() and not measured.wait(1.0):
            pass

    compile_training(trainer, wait_for_measure)
    others.join()
    if others.exitcode:
        raise RuntimeError("not every kernel could be compiled")


def compile_training(trainer: Trainer, wait_for_measure: Callable[[], object]) -> None:
    """All of training, which takes what the other process has made by then."""
    points, prototypes, options = trainer.points, trainer.prototypes, trainer.options()
    nobody, n_labels = points.order[:0], trainer.cells.counts.shape[1:]
    kernels.shuffle(nobody, trainer.random)
    kernels.add_term(0, points, nobody, prototypes, trainer.tile, trainer.pulls, options, n_labels)
    wait_for_measure()
    y = points.labels[0]
    Trainer(points.rows, y, y, prototypes.W, prototypes.labels, Recipe(C=1.0), np.random.default_rng(0)).run(1, 1)


def compile_others(trainer: Trainer, measure_is_ready: Callable[[], object]) -> None:
    """Sums and cells, in the order in which training takes them; its start, learned distances, and trees."""
    points, prototypes, cells, options = trainer.points, trainer.prototypes, trainer.cells, trainer.options()
    nobody = points.order[:0]
    kernels.scatter(points.rows, nobody, trainer.tile, trainer.pulls.sums[0])
    kernels.measure(points.rows, prototypes, nobody, trainer.tile)
    measure_is_ready()
    kernels.reassign(points, prototypes, cells, trainer.tile, nobody, options)
    kernels.vote(cells.counts, options.published, trainer.random, prototypes.pseudo)

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
