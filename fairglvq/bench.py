"""How fast the kernels are: timed beside the plain NumPy version, on the same data, in the same run, on one thread.

Machines differ and are noisy, so ratios count: what is compared takes many short turns, and the fastest turn of each,
the least disturbed one, is reported.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from fairglvq import datasets
from fairglvq.datasets.split import Scaling
from fairglvq.lvq import kernels, reference, trainer
from fairglvq.lvq.fair_glvq import FairGLVQ
from fairglvq.lvq.glvq import GLVQ
from fairglvq.lvq.initialisers import initial_prototypes
from fairglvq.lvq.trainer import Recipe, Trainer, as_rows


class Case(NamedTuple):
    """One comparison: data, model size and options."""

    dataset: str
    rows: int
    prototypes_per_class: int
    batch_size: int
    learning_rate: float
    plain_steps: int
    wanted: float


CASES = (Case("xor", 2560, 4, 250, 0.03, 50, 25.0), Case("adult", 36177, 20, 1000, 0.05, 3, 40.0))


class Timing(NamedTuple):
    """Milliseconds per mini-batch step of both versions, and seconds of a whole ``FairGLVQ.fit``."""

    plain_ms: float
    kernel_ms: float
    fit_epochs: int
    fit_seconds: float  # with the default history
    bare_fit_seconds: float  # record_every=None
    measured_again: float  # share of the points per step

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
    """Time one case; plain and kernel take turns, and so do fits with and without history."""
    X, y, s = training_set(case.dataset, case.rows)
    k, shared = case.prototypes_per_class, {"learning_rate": case.learning_rate, "batch_size": case.batch_size}
    W = initial_prototypes("shared-kmeans", X, y, k, 2, np.random.default_rng(0))
    epochs = 250 if case.dataset == "xor" else 100
    training = _new_trainer(case)

    def plain_turn():
        reference.train(
            X, y, s, W, np.repeat([0, 1], k), C=1.0, max_epochs=1000, rng=np.random.default_rng(1),
            max_steps=case.plain_steps, **shared,
        )  # fmt: skip
        return case.plain_steps

    def fit_seconds(record_every):
        start = time.perf_counter()
        model = FairGLVQ(k, C=1.0, max_epochs=epochs, random_state=0, record_every=record_every, **shared)
        model.fit(X, y, sensitive_features=s)
        return time.perf_counter() - start

    _turn(training)  # compiles, or loads what an earlier run compiled
    with threadpool_limits(1):
        plain_ms, kernel_ms = np.min(
            [(_ms_per_step(plain_turn), _ms_per_step(lambda: _turn(training))) for _ in range(turns)], axis=0
        )
        fits = [(fit_seconds("auto"), fit_seconds(None)) for _ in range(max(1, turns // 4))]
    measured_again = training.measured / (training.steps * len(y))
    with_history, bare = np.min(fits, axis=0)
    return Timing(plain_ms, kernel_ms, epochs, with_history, bare, measured_again)


def _new_trainer(case: Case, **options: Any) -> Trainer:
    """FairGLVQ with C = 1 on a case."""
    X, y, s = training_set(case.dataset, case.rows)
    k, recipe = case.prototypes_per_class, Recipe(C=1.0, learning_rate=case.learning_rate, batch_size=case.batch_size)
    W = initial_prototypes("shared-kmeans", X, y, k, 2, np.random.default_rng(0))
    return Trainer(as_rows(X), y, s, W, np.repeat([0, 1], k), recipe, np.random.default_rng(1), **options)


def _turn(training: Trainer, steps: int = 200) -> int:
    """Make at least about so many more steps; returns their exact number."""
    before = training.steps
    training.run(max(1, steps // training.n_batches))
    return training.steps - before


def _ms_per_step(turn: Callable[[], int]) -> float:
    start = time.perf_counter()
    steps = turn()
    return 1e3 * (time.perf_counter() - start) / steps


# -- streams -----------------------------------------------------------------------------------------------------------

STREAM_BATCH, STREAM_FEATURES, STREAM_WANTED = 1_000, (16, 100), 1.0


def stream_timings(features: int, turns: int = 20) -> dict[str, float]:
    """Microseconds per row of ``partial_fit`` by estimator, scikit-learn's SGDClassifier among them, at their defaults.

    Each turn feeds ten batches of uniform points with so many features, two classes and two groups.
    """
    from sklearn.linear_model import SGDClassifier

    points = _uniform_points(10 * STREAM_BATCH, features, 2, np.random.default_rng(0))
    models: dict[str, Any] = {kind.__name__: kind(random_state=0) for kind in (SGDClassifier, GLVQ, FairGLVQ)}
    best = dict.fromkeys(models, np.inf)
    with threadpool_limits(1):
        for _ in range(turns):
            for name, model in models.items():
                best[name] = min(best[name], _us_per_row(model, *points))
    return best


def _us_per_row(model, X, y, s) -> float:
    """Microseconds of the processor per row of a stream of these points."""
    start = time.process_time()
    for begin in range(0, len(y), STREAM_BATCH):
        batch = slice(begin, begin + STREAM_BATCH)
        group = {"sensitive_features": s[batch], "groups": [0, 1]} if isinstance(model, FairGLVQ) else {}
        model.partial_fit(X[batch], y[batch], classes=[0, 1], **group)
    return 1e6 * (time.process_time() - start) / len(y)


# -- sizes -------------------------------------------------------------------------------------------------------------

# What a step costs around one base case, one size changed at a time; "features" are non-zeros per point.
SCALING_BASE = {"points": 20_000, "features": 16, "prototypes_per_class": 10, "classes": 2}
SCALING_STEPS = {"points": (5_000, 80_000), "features": (4, 64), "prototypes_per_class": (2, 50), "classes": (4, 8)}


def scaling_table(turns: int = 5) -> str:
    """How milliseconds per step grow with points, features, prototypes and classes, as a Markdown table."""
    lines = ["| points | features | prototypes | classes | ms per step |", "|---|---|---|---|---|"]
    sizes = [SCALING_BASE]
    sizes += [SCALING_BASE | {name: value} for name, values in SCALING_STEPS.items() for value in values]
    for size in sizes:
        turn = partial(_turn, _uniform_trainer(**size), 60)
        with threadpool_limits(1):
            milliseconds = min(_ms_per_step(turn) for _ in range(turns))
        n_prototypes = size["prototypes_per_class"] * size["classes"]
        lines.append(
            f"| {size['points']:,} | {size['features']} | {n_prototypes} | {size['classes']} | {milliseconds:.2f} |"
        )
    return "\n".join(lines)


def _uniform_trainer(points: int, features: int, prototypes_per_class: int, classes: int, **options: Any) -> Trainer:
    """FairGLVQ in batches of 1000 on uniform dense points whose label and group depend on the first features."""
    rng = np.random.default_rng(0)
    X, y, s = _uniform_points(points, features, classes, rng)
    W = initial_prototypes("shared-kmeans", X, y, prototypes_per_class, classes, rng)
    labels = np.repeat(np.arange(classes), prototypes_per_class)
    return Trainer(as_rows(X), y, s, W, labels, Recipe(C=1.0, batch_size=1000), rng, **options)


def _uniform_points(points: int, features: int, classes: int, rng: np.random.Generator):
    X = rng.random((points, features))
    y = np.minimum((X[:, 0] * classes).astype(int), classes - 1)
    return X, y, (X[:, 1] + 0.3 * rng.standard_normal(points) > 0.5).astype(int)


# -- ablation: what each trick of the kernels is worth --------------------------------------------------------------


def _library_exponential(t):
    return np.exp(t)


def _no_read_ahead(rows, batch):
    return 0.0


def _measure_point_by_point(X, prototypes, batch, tile):
    for b in range(batch.size):
        for j in range(prototypes.W.shape[0]):
            total = 0.0
            for k in range(prototypes.W.shape[1]):
                total += (X[batch[b], k] - prototypes.W[j, k]) ** 2
            tile.near[j, b] = total


def _order_rivals_point_by_point(tile, labels, batch):
    closest, who = tile.closest, tile.who
    for b in range(batch.size):
        if labels[batch[b]] == 1:
            closest[0, b], closest[1, b] = closest[1, b], closest[0, b]
            who[0, b], who[1, b] = who[1, b], who[0, b]


NO_BOUNDS = "no bounds: every point is measured after every step"  # an option of the trainer

# What replaces names of the kernels to do without a trick.
ABLATIONS: dict[str, dict[str, Any]] = {
    "all tricks": {},
    NO_BOUNDS: {},
    "tiles of one point": {"TILE": 1},
    "dense distances point by point": {"measure_dense": _measure_point_by_point},
    "exp of the C library": {"exponential": _library_exponential},
    "w+ and w- ordered point by point": {"order_two_rivals": _order_rivals_point_by_point},
    "sparse rows not read ahead": {"read_ahead": _no_read_ahead},
}


def ablation_table(turns: int = 20) -> str:
    """Milliseconds per step with one trick left out at a time, as a Markdown table."""
    makers: dict[str, Callable[..., Trainer]] = {case.dataset: partial(_new_trainer, case) for case in CASES}
    makers["uniform"] = partial(_uniform_trainer, **SCALING_BASE)
    with tempfile.TemporaryDirectory() as folder:
        variants = {
            name: _variant(replaced, f"{folder}/{number}") for number, (name, replaced) in enumerate(ABLATIONS.items())
        }
        columns = [_time_variants(make, variants, turns) for make in makers.values()]
    lines = [f"| ms per step | {' | '.join(makers)} |", "|---" * (len(makers) + 1) + "|"]
    for number, name in enumerate(variants):
        cells = [f"{column[number]:.4f} ({column[number] / column[0]:.2f} x)" for column in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _time_variants(make: Callable[..., Trainer], variants: dict[str, ModuleType], turns: int) -> list[float]:
    """Milliseconds per step of each variant in its fastest turn."""
    best, trainers = [np.inf] * len(variants), []
    with threadpool_limits(1):
        for name, variant in variants.items():
            with patch.object(trainer, "kernels", variant):
                trainers.append(make(bounds=name != NO_BOUNDS))
                _turn(trainers[-1], 1)  # compiles
        for _ in range(turns):
            for i, variant in enumerate(variants.values()):
                with patch.object(trainer, "kernels", variant):
                    best[i] = min(best[i], _ms_per_step(partial(_turn, trainers[i])))
    return best


def _variant(replaced: dict[str, Any], cache: str) -> ModuleType:
    """Another copy of the kernels, with some names replaced before anything is compiled and a cache of its own."""
    if not replaced:
        return kernels
    spec = spec_from_file_location("fairglvq_kernels_variant", kernels.__file__)
    assert spec
    assert spec.loader
    variant = module_from_spec(spec)
    sys.modules[spec.name] = variant
    with patch.object(numba.config, "CACHE_DIR", cache):
        spec.loader.exec_module(variant)
    for name, replacement in replaced.items():
        setattr(variant, name, variant.part(replacement) if callable(replacement) else replacement)
    return variant
