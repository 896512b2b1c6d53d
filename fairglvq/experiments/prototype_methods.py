"""Methods that decide by prototypes.

What they train with is imported when it is needed: a caller that only lists methods does not wait a second and
a half for scikit-learn and Numba.
"""

import inspect
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairglvq.datasets.split import Scaling
from fairglvq.experiments.method import BoundedGap, Method, TrainingFold
from fairglvq.fairness.metrics import encode_groups

OF_METRIC = frozenset({"activation", "beta", "n_prototypes", "rank"})
OF_GLVQ = OF_METRIC | {"batch_size", "init", "learning_rate", "max_epochs", "metric", "shuffle", "step"}
OF_GLVQ |= {"n_iter_no_change", "tol"}
OF_FAIRGLVQ = OF_GLVQ | {"alpha"}
OF_PARITYLVQ = frozenset({"measure", "metric", "n_prototypes", "rank"})
"""Names that a sweep may set; the strength, the seed and the history are not among them. Steps of L-BFGS, with which
learned metrics and ParityLVQ are trained, are not the epochs and batches that a sweep over FairGLVQ sets."""

LEARNING_RATE = 0.03
"""Of Euclidean prototypes where a sweep sets none: the same for every strength, so that strengths can be compared."""


def _estimator(name: str) -> type:
    import fairglvq

    return getattr(fairglvq, name)


@dataclass(frozen=True)
class Prototypes(Method):
    """GLVQ, or FairGLVQ with a strength C; the start is the same for every strength."""

    parameters: frozenset[str] = OF_GLVQ
    estimator: str = "GLVQ"
    usual: ClassVar[dict[str, Any]] = {"learning_rate": LEARNING_RATE}

    def prepare(self, fold, strengths, params):
        """The prototypes to start from."""
        from fairglvq.lvq.initialisers import initial_prototypes

        defaults = inspect.signature(_estimator(self.estimator)).parameters
        init, n_prototypes = (params.get(name, defaults[name].default) for name in ("init", "n_prototypes"))
        codes = np.unique(fold.y, return_inverse=True)[1]
        rng = np.random.default_rng(fold.seed)
        return {"init": initial_prototypes(init, fold.X, codes, n_prototypes, int(codes.max()) + 1, rng)}

    def fit(self, fold, start, strength, params):
        """The estimator on this fold; without a strength it gets no groups."""
        fair, groups = ({}, {}) if strength is None else ({"C": float(strength)}, {"sensitive_features": fold.s})
        params = self.usual | params | start | fair
        model = _estimator(self.estimator)(**params, random_state=fold.seed, record_every=None)
        return model.fit(fold.X, fold.y, **groups)


@dataclass(frozen=True)
class MetricPrototypes(Prototypes):
    """GLVQ or FairGLVQ in a plane that is learned with the prototypes."""

    parameters: frozenset[str] = OF_METRIC
    usual: ClassVar[dict[str, Any]] = {"metric": "matrix", "rank": 2}

    def prepare(self, fold, strengths, params):
        """Nothing: prototypes start in the plane, which the estimator finds."""
        return {}


@dataclass(frozen=True)
class ParityPrototypes(BoundedGap):
    """ParityLVQ."""

    parameters: frozenset[str] = OF_PARITYLVQ

    def fit(self, fold, prepared, strength, params):
        """ParityLVQ on this fold."""
        model = _estimator("ParityLVQ")(**params, max_gap=self.max_gap(strength), random_state=fold.seed)
        return model.fit(fold.X, fold.y, sensitive_features=fold.s, favourable=fold.favourable)


# GLVQ on features without the group


class _Projected(NamedTuple):
    """GLVQ on projected features, scaled to [0, 1] again."""

    projection: Any
    scaling: Scaling
    model: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(self.scaling.apply(self.projection.transform(X)))


@dataclass(frozen=True)
class ProjectedPrototypes(Prototypes):
    """Null-space projection, then GLVQ."""

    family: str = "filtered features"
    knob: str | None = "projections"
    strengths: tuple[float, ...] = (0, 1, 2, 5, 10, 20, 35, 50, 75, 90)

    def prepare(self, fold, strengths, params):
        """All projections up to the strongest in one run: they are nested."""
        from fairglvq.fairness.projection import NullSpaceProjection

        n_projections = int(max(strengths, default=1))
        return NullSpaceProjection(n_projections, random_state=fold.seed).fit(fold.X, sensitive_features=fold.s)

    def fit(self, fold, projections, strength, params):
        """GLVQ behind so many projections."""
        projection = projections.at(int(strength))
        X = projection.transform(fold.X)
        scaling = Scaling.fit(X)
        return _Projected(projection, scaling, _glvq_on(replace(fold, X=scaling.apply(X)), params))


class _Decorrelated(NamedTuple):
    """GLVQ behind a fairlearn CorrelationRemover, which takes the group as columns of X and drops them."""

    remover: Any
    groups: np.ndarray
    model: Any

    def predict(self, X: np.ndarray, *, sensitive_features: np.ndarray) -> np.ndarray:
        return self.model.predict(self.remover.transform(with_group(X, sensitive_features, self.groups)))


def with_group(X: np.ndarray, s: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """X and a 0/1 column for every group but the first, which follows from the others."""
    return np.column_stack([X, *(s == group for group in groups[1:])])


@dataclass(frozen=True)
class DecorrelatedPrototypes(Method):
    """fairlearn's CorrelationRemover, then GLVQ."""

    family: str = "filtered features"
    knob: str | None = "alpha"
    strengths: tuple[float, ...] = (0, 0.25, 0.5, 0.75, 0.9, 1)
    parameters: frozenset[str] = OF_GLVQ
    uses_group_to_decide: bool = True

    def fit(self, fold, prepared, strength, params):
        """GLVQ behind a filter of this strength."""
        from fairlearn.preprocessing import CorrelationRemover  # fairlearn takes 2 s to import

        groups, width = encode_groups(fold.s)[0], fold.X.shape[1]
        table = with_group(fold.X, fold.s, groups)
        remover = CorrelationRemover(sensitive_feature_ids=list(range(width, table.shape[1])), alpha=float(strength))
        # Not scaled again, unlike INP: where only rounding errors of the group remain, they must stay small.
        filtered = replace(fold, X=remover.fit(table).transform(table))
        return _Decorrelated(remover, groups, _glvq_on(filtered, params))


def _glvq_on(fold: TrainingFold, params: dict):
    glvq = Prototypes("", "")
    return glvq.fit(fold, glvq.prepare(fold, (), params), None, params)
