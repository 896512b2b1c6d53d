"""How fast the kernels are: timed beside the plain NumPy version, on the same data, in the same run, on one thread.

Machines differ and are noisy, so ratios are what counts: the two take many short turns, and each is judged by its
fastest, the one least disturbed.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fairglvq import datasets
from fairglvq.datasets.split import Scaling
from fairglvq.lvq import reference
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows


class Case(NamedTuple):
    """One comparison: data, model size, and what is asked of it."""

    dataset: str
    rows: int
    prototypes_per_class: int
    batch_size: int
    learning_rate: float
    plain_steps: int
    wanted: float


CASES = (Case("xor", 2560, 4, 250, 0.03, 50, 25.0), Case("adult", 36177, 20, 1000, 0.05, 3, 40.0))


class Timing(NamedTuple):
    """Milliseconds per mini-batch step of both versions, and seconds of a whole fit."""

    case: Case
    plain_ms: float
    kernel_ms: float
    fit_seconds: float
    fit_epochs: int
    looked_at: float

    @property
    def ratio(self) -> float:
        """How many times faster a step of the kernels is."""
        return self.plain_ms / self.kernel_ms


def training_set(name: str, rows: int):
    """The first fold-sized part of a data set, scaled to [0, 1], with integer labels: X, y, s."""
    data = datasets.load(name)
    chosen = np.sort(np.random.default_rng(0).permutation(len(data.y))[:rows])
    X = data.X[chosen]
    X = Scaling.fit(X).apply(X)
    return X, np.unique(data.y[chosen], return_inverse=True)[1], np.unique(data.s[chosen], return_inverse=True)[1]


def run_case(case: Case, turns: int = 20) -> Timing:
    """Time one case; plain and kernel take turns."""
    X, y, s = training_set(case.dataset, case.rows)
    k, recipe = case.prototypes_per_class, Recipe(C=1.0, learning_rate=case.learning_rate, batch_size=case.batch_size)
    W = initial_prototypes("shared-kmeans", X, y, k, 2, np.random.default_rng(0))
    labels = np.repeat([0, 1], k)
    rows = as_rows(X)

    def new_trainer():
        return Trainer(rows, y, s, W, labels, recipe, np.random.default_rng(1))

    def plain_turn():
        reference.train(
            X, y, s, W, labels, C=1.0, learning_rate=case.learning_rate, batch_size=case.batch_size, max_epochs=1000,
            rng=np.random.default_rng(1), max_steps=case.plain_steps,
        )  # fmt: skip
        return case.plain_steps

    trainer = new_trainer()

    def kernel_turn():
        before = trainer.steps
        trainer.run(max(1, 200 // trainer.n_batches))
        return trainer.steps - before

    kernel_turn()  # compiles, or loads what an earlier run compiled
    with threadpool_limits(1):
        pairs = [(_ms_per_step(plain_turn), _ms_per_step(kernel_turn)) for _ in range(turns)]
        plain_ms, kernel_ms = np.min(pairs, axis=0)
        epochs = 250 if case.dataset == "xor" else 500
        start = time.perf_counter()
        trainer = new_trainer()
        trainer.run(epochs)
        seconds = time.perf_counter() - start
    return Timing(case, plain_ms, kernel_ms, seconds, epochs, trainer.looks / (trainer.steps * len(y)))


def _ms_per_step(turn: Callable[[], int]) -> float:
    start = time.perf_counter()
    steps = turn()
    return 1e3 * (time.perf_counter() - start) / steps


# What a step costs around one base case, one size changed at a time; "features" are non-zeros per point.
SCALING_BASE = {"points": 20_000, "features": 16, "prototypes per class": 10, "classes": 2}
SCALING_STEPS = {
    "points": (5_000, 80_000),
    "features": (4, 64),
    "prototypes per class": (2, 50),
    "classes": (4, 8),
}


def scaling_table(turns: int = 5) -> str:
    """How milliseconds per step grow with points, features, prototypes and classes, as a Markdown table."""
    lines = ["| points | features | prototypes | classes | ms per step |", "|---|---|---|---|---|"]
    sizes = [SCALING_BASE]
    sizes += [SCALING_BASE | {name: value} for name, values in SCALING_STEPS.items() for value in values]
    for size in sizes:
        milliseconds = _time_size(**{name.replace(" ", "_"): value for name, value in size.items()}, turns=turns)
        n_prototypes = size["prototypes per class"] * size["classes"]
        lines.append(
            f"| {size['points']:,} | {size['features']} | {n_prototypes} | {size['classes']} | {milliseconds:.2f} |"
        )
    return "\n".join(lines)


def _time_size(points: int, features: int, prototypes_per_class: int, classes: int, turns: int) -> float:
    """Milliseconds per step of batch 1000 on uniform dense points whose label and group hang on the first features."""
    rng = np.random.default_rng(0)
    X = rng.random((points, features))
    y = np.minimum((X[:, 0] * classes).astype(int), classes - 1)
    s = (X[:, 1] + 0.3 * rng.standard_normal(points) > 0.5).astype(int)
    W = initial_prototypes("shared-kmeans", X, y, prototypes_per_class, classes, rng)
    labels = np.repeat(np.arange(classes), prototypes_per_class)
    trainer = Trainer(as_rows(X), y, s, W, labels, Recipe(C=1.0, batch_size=1000), rng)

    def turn():
        before = trainer.steps
        trainer.run(max(1, 60 // trainer.n_batches))
        return trainer.steps - before

    with threadpool_limits(1):
        return min(_ms_per_step(turn) for _ in range(turns))
