"""What can be compared: METHODS, each with its strength knob and how to build it on one training fold.

A method has two halves. ``prepare`` does what does not depend on the strength, once per fold and seed: the k-means
start of a sweep over C, or one nested null-space run for every number of projections. ``fit`` trains one model.
A larger strength always asks for more fairness.

To add a method, write its ``fit`` and add one entry to METHODS; comparison, page and pictures take it from there.

What a method trains with is imported when it trains: whoever only wants to know what there is does not wait a second
and a half for scikit-learn and Numba.
"""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairglvq.datasets.split import Scaling
from fairglvq.fairness.metrics import encode_groups


@dataclass(frozen=True)
class TrainingFold:
    """The scaled training part of one fold, and the seed of everything that happens on it."""

    X: np.ndarray  # (n, d), each feature in [0, 1]
    y: np.ndarray
    s: np.ndarray
    seed: int
    favourable: Any = None


def _prepare_nothing(fold, strengths, params):
    return None


@dataclass(frozen=True)
class Method:
    """One way to classify, more or less fairly.

    ``knob`` is the word for its strength (None: it has none), ``strengths`` are curated values for a sweep and
    ``parameters`` the estimator parameters that it takes. Most methods decide from the features alone. One that
    ``uses_group_to_decide`` has to be told the group of everybody it decides about: it can do what no other method
    can, and may be unlawful where the others are not, so whoever compares must be able to say so.
    """

    title: str
    explanation: str
    fit: Callable[[TrainingFold, Any, float | None, dict], Any]
    prepare: Callable[[TrainingFold, Sequence[float], dict], Any] = _prepare_nothing
    knob: str | None = None
    strengths: tuple[float, ...] = ()
    parameters: frozenset[str] = frozenset()
    uses_group_to_decide: bool = False

    def decide(self, model, X: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Decisions of a fitted model; the group goes only to a method that asks for it."""
        return model.predict(X, sensitive_features=s) if self.uses_group_to_decide else model.predict(X)


OF_GLVQ = frozenset({"activation", "batch_size", "beta", "init", "learning_rate", "max_epochs", "n_prototypes"})
OF_GLVQ |= {"metric", "n_iter_no_change", "rank", "shuffle", "step", "tol"}
OF_FAIRGLVQ = OF_GLVQ | {"alpha"}
OF_PARITYLVQ = frozenset({"measure", "metric", "n_prototypes", "rank"})
"""Names that a sweep may set; the strength, the seed and the history are not among them. ParityLVQ's own epochs and
sample size are not the epochs and batches that a sweep over FairGLVQ sets."""


def _glvq() -> type:
    from fairglvq.lvq.glvq import GLVQ

    return GLVQ


def _fairglvq() -> type:
    from fairglvq.lvq.fair_glvq import FairGLVQ

    return FairGLVQ


def _start(fold: TrainingFold, init, n_prototypes: int) -> np.ndarray:
    from fairglvq.lvq.initialisers import initial_prototypes

    codes = np.unique(fold.y, return_inverse=True)[1]
    rng = np.random.default_rng(fold.seed)
    return initial_prototypes(init, fold.X, codes, n_prototypes, int(codes.max()) + 1, rng)


def _default(estimator: type, name: str):
    return inspect.signature(estimator).parameters[name].default


def _prepare_start(estimator: Callable[[], type]):
    """Prototypes to start from, the same for every strength."""

    def prepare(fold, strengths, params):
        chosen = {name: params.get(name, _default(estimator(), name)) for name in ("init", "n_prototypes")}
        return _start(fold, **chosen)

    return prepare


def _fit_const(fold, prepared, strength, params):
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="most_frequent").fit(fold.X, fold.y)


def _fit_glvq(fold, start, strength, params):
    model = _glvq()(**(params | {"init": start}), random_state=fold.seed, record_every=None)
    return model.fit(fold.X, fold.y)


def _fit_fairglvq(fold, start, strength, params):
    model = _fairglvq()(**(params | {"init": start}), C=float(strength), random_state=fold.seed, record_every=None)
    return model.fit(fold.X, fold.y, sensitive_features=fold.s)


def _fit_paritylvq(fold, prepared, strength, params):
    from fairglvq.lvq.parity_lvq import ParityLVQ

    model = ParityLVQ(**params, max_gap=1 - float(strength), random_state=fold.seed)
    return model.fit(fold.X, fold.y, sensitive_features=fold.s, favourable=fold.favourable)


def _prepare_inp(fold, strengths, params):
    """All projections up to the strongest in one run: they are nested."""
    from fairglvq.fairness.projection import NullSpaceProjection

    n_projections = int(max(strengths, default=1))
    return NullSpaceProjection(n_projections, random_state=fold.seed).fit(fold.X, sensitive_features=fold.s)


@dataclass(frozen=True)
class _Projected:
    """GLVQ on projected features, scaled to [0, 1] again."""

    projection: Any
    scaling: Scaling
    model: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(self.scaling.apply(self.projection.transform(X)))


def _fit_inp(fold, projections, strength, params):
    projection = projections.at(int(strength))
    X = projection.transform(fold.X)
    scaling = Scaling.fit(X)
    projected = replace(fold, X=scaling.apply(X))
    start = _prepare_start(_glvq)(projected, (), params)
    return _Projected(projection, scaling, _fit_glvq(projected, start, None, params))


# Methods in use elsewhere


def _prepare_share(fold, strengths, params):
    """Nothing to prepare, but say before any training that a strength is out of range."""
    wrong = [strength for strength in strengths if not 0 <= strength <= 1]
    if wrong:
        raise ValueError(f"strengths must be from 0 to 1 here; got {', '.join(f'{value:g}' for value in wrong)}")


@dataclass(frozen=True)
class _Decorrelated:
    """GLVQ behind a fairlearn CorrelationRemover, which wants the group as columns of X and drops them."""

    remover: Any
    groups: np.ndarray
    model: Any

    def predict(self, X: np.ndarray, *, sensitive_features: np.ndarray) -> np.ndarray:
        return self.model.predict(self.remover.transform(_with_group(X, sensitive_features, self.groups)))


def _with_group(X: np.ndarray, s: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """X and a 0/1 column for every group but the first, which the others tell already."""
    return np.column_stack([X, *(s == group for group in groups[1:])])


def _fit_decorrelated(fold, prepared, strength, params):
    from fairlearn.preprocessing import CorrelationRemover  # fairlearn takes 2 s to import

    groups, width = encode_groups(fold.s)[0], fold.X.shape[1]
    table = _with_group(fold.X, fold.s, groups)
    remover = CorrelationRemover(sensitive_feature_ids=list(range(width, table.shape[1])), alpha=float(strength))
    # Not scaled again, unlike INP: what is left of a column that tells the group is rounding, and must stay that small.
    filtered = replace(fold, X=remover.fit(table).transform(table))
    start = _prepare_start(_glvq)(filtered, (), params)
    return _Decorrelated(remover, groups, _fit_glvq(filtered, start, None, params))


def _logistic_regression():
    from sklearn.linear_model import LogisticRegression

    # On Adult 5 steps instead of the default solver's 68; the reductions below train some 30 of these per fold.
    return LogisticRegression(solver="newton-cholesky", max_iter=200)


def _fit_logistic_regression(fold, prepared, strength, params):
    return _logistic_regression().fit(fold.X, fold.y)


def _fit_gradient_boosting(fold, prepared, strength, params):
    from sklearn.ensemble import HistGradientBoostingClassifier  # only this method needs it

    return HistGradientBoostingClassifier(random_state=fold.seed).fit(fold.X, fold.y)


@dataclass(frozen=True)
class _ZeroOne:
    """A fairlearn model, whose labels are 0 and 1 and whose decisions are drawn, with our labels and a fixed seed.

    1 stands for the favourable label, as fairlearn counts selections.
    """

    model: Any
    labels: np.ndarray  # unfavourable, favourable
    seed: int

    def predict(self, X: np.ndarray, **groups) -> np.ndarray:
        return self.labels[self.model.predict(X, random_state=self.seed, **groups).astype(int)]


def _two_labels(fold: TrainingFold) -> np.ndarray:
    """Unfavourable and favourable label; fairlearn knows no more than two."""
    labels = np.unique(fold.y)
    if len(labels) != 2 or fold.favourable not in labels:
        told = ", ".join(map(repr, labels.tolist()))
        raise ValueError(
            f"this method needs two labels, one of them favourable; got {told} with favourable={fold.favourable!r}"
        )
    return labels if labels[1] == fold.favourable else labels[::-1]


def _silence_fairlearn() -> None:
    """Keep fairlearn's use of outdated pandas from being reported as ours.

    A filter for that package alone, for good: ``warnings.catch_warnings`` belongs to the process, so two folds on two
    threads would undo each other's.
    """
    for category in (DeprecationWarning, FutureWarning):
        warnings.filterwarnings("ignore", category=category, module=r"fairlearn\.")


def _prepare_exponentiated_gradient(fold, strengths, params):
    _prepare_share(fold, strengths, params)
    _two_labels(fold)


def _fit_exponentiated_gradient(fold, prepared, strength, params):
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient  # 2 s

    _silence_fairlearn()
    labels = _two_labels(fold)
    # fairlearn bounds how far each group's rate may be from the overall one. With two groups of shares p and 1 - p
    # these are (1 - p) and p times the gap between them; with more, half the gap is always safe.
    shares = np.unique(encode_groups(fold.s)[1], return_counts=True)[1] / len(fold.s)
    bound = (1 - strength) * (shares.max() if len(shares) == 2 else 0.5)
    model = ExponentiatedGradient(_logistic_regression(), DemographicParity(difference_bound=bound))
    model.fit(fold.X, (fold.y == labels[1]).astype(int), sensitive_features=fold.s)
    return _ZeroOne(model, labels, fold.seed)


def _prepare_threshold_optimizer(fold, strengths, params):
    """The scores, the same for every strength."""
    _prepare_share(fold, strengths, params)
    favourable = fold.y == _two_labels(fold)[1]
    for group in encode_groups(fold.s)[0]:
        if len(np.unique(favourable[fold.s == group])) < 2:
            raise ValueError(
                f"this method chooses a threshold per group, but everybody of group {group} has the same label; "
                "choose another method for these data"
            )
    return _logistic_regression().fit(fold.X, favourable.astype(int))


def _fit_threshold_optimizer(fold, scorer, strength, params):
    from fairlearn.postprocessing import ThresholdOptimizer  # 2 s

    _silence_fairlearn()
    labels = _two_labels(fold)
    model = ThresholdOptimizer(
        estimator=scorer, constraints="demographic_parity", predict_method="predict_proba", prefit=True,
        tol=1 - float(strength),
    )  # fmt: skip
    model.fit(fold.X, (fold.y == labels[1]).astype(int), sensitive_features=fold.s)
    return _ZeroOne(model, labels, fold.seed)


METHODS: Mapping[str, Method] = {
    "const": Method("constant", "Gives everybody the most frequent label: perfectly fair and of no use.", _fit_const),
    "glvq": Method(
        "GLVQ",
        "Prototypes that only care about the label: what FairGLVQ is without its fair term.",
        _fit_glvq,
        _prepare_start(_glvq),
        parameters=OF_GLVQ,
    ),
    "inp": Method(
        "INP + GLVQ",
        "Removes, one by one, the directions that tell the groups apart linearly, then trains GLVQ on what is left.",
        _fit_inp,
        _prepare_inp,
        knob="projections",
        strengths=(0, 1, 2, 5, 10, 20, 35, 50, 75, 90),
        parameters=OF_GLVQ,
    ),
    "fairglvq": Method(
        "FairGLVQ",
        "Prototypes that are attracted by the label and, C times as strongly, repelled from telling the group.",
        _fit_fairglvq,
        _prepare_start(_fairglvq),
        knob="C",
        strengths=(0, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 12),
        parameters=OF_FAIRGLVQ,
    ),
    "correlation_remover": Method(
        "CorrelationRemover + GLVQ",
        "Subtracts from every feature the share alpha of what correlates with the group, then trains GLVQ; it must be "
        "told the group of whoever it decides about.",
        _fit_decorrelated,
        _prepare_share,
        knob="alpha",
        strengths=(0, 0.25, 0.5, 0.75, 0.9, 1),
        parameters=OF_GLVQ,
        uses_group_to_decide=True,
    ),
    "exponentiated_gradient": Method(
        "ExponentiatedGradient",
        "A lottery between logistic regressions, drawn up so that on the training data the gap between the groups is "
        "at most 1 - parity.",
        _fit_exponentiated_gradient,
        _prepare_exponentiated_gradient,
        knob="parity",
        strengths=(0.8, 0.85, 0.9, 0.95, 1),
    ),
    "threshold_optimizer": Method(
        "ThresholdOptimizer",
        "A logistic regression with a bar of its own for every group, set so that on the training data the gap is at "
        "most 1 - parity; it must be told the group of whoever it decides about.",
        _fit_threshold_optimizer,
        _prepare_threshold_optimizer,
        knob="parity",
        strengths=(0.8, 0.85, 0.9, 0.95, 1),
        uses_group_to_decide=True,
    ),
    "logistic_regression": Method(
        "logistic regression", "The usual linear model, without any care for fairness.", _fit_logistic_regression
    ),
    "gradient_boosting": Method(
        "gradient boosting",
        "Trees on trees, without any care for fairness: about as accurate as the features allow.",
        _fit_gradient_boosting,
    ),
    "paritylvq": Method(
        "ParityLVQ",
        "Prototypes with handicaps in a plane of label and group, trained so that the gap between the groups is at "
        "most 1 - parity.",
        _fit_paritylvq,
        _prepare_share,
        knob="parity",
        strengths=(0.8, 0.85, 0.9, 0.95, 0.98, 1),
        parameters=OF_PARITYLVQ,
    ),
}


def get(name: str) -> Method:
    """The method of this name."""
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {name!r}")
    return METHODS[name]


SET_BY_SWEEP = {"C": "strengths", "n_projections": "strengths", "random_state": "seed"}
"""Parameters of the estimators that a sweep sets itself, and what from."""


def parameters_for(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``params`` that a method has; one that no method has is a misspelling and an error."""
    known = frozenset().union(*(method.parameters for method in METHODS.values()))
    unknown = sorted(set(params) - known)
    for one in SET_BY_SWEEP.keys() & set(unknown):
        raise TypeError(f"{one} comes from {SET_BY_SWEEP[one]}: give it there")
    if unknown:
        raise TypeError(f"no method has a parameter {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    from fairglvq.lvq.prototype_classifier import check_parameters

    chosen = own_parameters(name, params)
    check_parameters(chosen)
    return chosen


def own_parameters(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``params`` that a method has, unchecked."""
    return {key: value for key, value in params.items() if key in get(name).parameters}


def strengths_for(name: str, n_features: int) -> tuple[float, ...]:
    """Curated strengths of a method; no more projections than there are directions to remove."""
    method = get(name)
    return tuple(value for value in method.strengths if method.knob != "projections" or value <= n_features)
