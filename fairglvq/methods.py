"""What can be compared: METHODS, each with its strength knob and how to build it on one training fold.

A method has two halves. ``prepare`` does what does not depend on the strength, once per fold and seed: the k-means
start of a sweep over C, or one nested null-space run for every number of projections. ``fit`` trains one model.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from .fair_glvq import FairGLVQ
from .glvq import GLVQ
from .projection import NullSpaceProjection
from .prototypes import initial_prototypes


@dataclass(frozen=True)
class TrainingFold:
    """The scaled training part of one fold, and the seed of everything that happens on it."""

    X: np.ndarray  # (n, d), each feature in [0, 1]
    y: np.ndarray
    s: np.ndarray
    seed: int


@dataclass(frozen=True)
class Method:
    """One way to classify, more or less fairly.

    ``knob`` is the word for its strength (None: it has none), ``parameters`` the estimator parameters that it takes.
    """

    title: str
    knob: str | None
    parameters: frozenset[str]
    prepare: Callable[[TrainingFold, Sequence[float], dict], Any]
    fit: Callable[[TrainingFold, Any, float | None, dict], Any]


def _parameters_of(estimator: type) -> frozenset[str]:
    """Names that a sweep may set; the strength, the seed and the history are not among them."""
    return frozenset(inspect.signature(estimator).parameters) - {"C", "random_state", "record_every"}


def _prepare_nothing(fold, strengths, params):
    return None


def _start(fold: TrainingFold, init, n_prototypes: int) -> np.ndarray:
    codes = np.unique(fold.y, return_inverse=True)[1]
    rng = np.random.default_rng(fold.seed)
    return initial_prototypes(init, fold.X, codes, n_prototypes, int(codes.max()) + 1, rng)


def _default(estimator: type, name: str):
    return inspect.signature(estimator).parameters[name].default


def _prepare_start(estimator: type):
    """Prototypes to start from, the same for every strength."""

    def prepare(fold, strengths, params):
        chosen = {name: params.get(name, _default(estimator, name)) for name in ("init", "n_prototypes")}
        return _start(fold, **chosen)

    return prepare


def _fit_const(fold, prepared, strength, params):
    return DummyClassifier(strategy="most_frequent").fit(fold.X, fold.y)


def _fit_glvq(fold, start, strength, params):
    model = GLVQ(**(params | {"init": start}), random_state=fold.seed, record_every=None)
    return model.fit(fold.X, fold.y)


def _fit_fairglvq(fold, start, strength, params):
    model = FairGLVQ(**(params | {"init": start}), C=float(strength), random_state=fold.seed, record_every=None)
    return model.fit(fold.X, fold.y, sensitive_features=fold.s)


def _prepare_inp(fold, strengths, params):
    """All projections up to the strongest in one run: they are nested."""
    n_projections = int(max(strengths, default=1))
    return NullSpaceProjection(n_projections, random_state=fold.seed).fit(fold.X, sensitive_features=fold.s)


def _fit_inp(fold, projections, strength, params):
    projection, scaler = projections.at(int(strength)), MinMaxScaler()
    projected = TrainingFold(scaler.fit_transform(projection.transform(fold.X)), fold.y, fold.s, fold.seed)
    start = _prepare_start(GLVQ)(projected, (), params)
    return make_pipeline(projection, scaler, _fit_glvq(projected, start, None, params))


METHODS: Mapping[str, Method] = {
    "const": Method("constant", None, frozenset(), _prepare_nothing, _fit_const),
    "glvq": Method("GLVQ", None, _parameters_of(GLVQ), _prepare_start(GLVQ), _fit_glvq),
    "inp": Method("INP + GLVQ", "projections", _parameters_of(GLVQ), _prepare_inp, _fit_inp),
    "fairglvq": Method("FairGLVQ", "C", _parameters_of(FairGLVQ), _prepare_start(FairGLVQ), _fit_fairglvq),
}


def get(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {name!r}")
    return METHODS[name]


def parameters_for(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``params`` that a method has; one that no method has is a misspelling and an error."""
    known = frozenset().union(*(method.parameters for method in METHODS.values()))
    strangers = sorted(set(params) - known)
    if strangers:
        raise TypeError(f"no method has a parameter {', '.join(strangers)}; known are {', '.join(sorted(known))}")
    return {key: value for key, value in params.items() if key in get(name).parameters}
