"""What can be compared: METHODS, each with its words, its strength knob and how to train it on one fold.

To add a method, write its class in `prototype_methods`, `partition_methods` or `comparators`, unless one there does
already, and add its entry here; comparison, page and pictures take it from there.
"""

from collections.abc import Mapping
from typing import Any

from fairglvq.experiments import comparators as other
from fairglvq.experiments import partition_methods as cells
from fairglvq.experiments import prototype_methods as own
from fairglvq.experiments.method import Method, TrainingFold

__all__ = ["METHODS", "Method", "TrainingFold", "get", "own_parameters", "parameters_for", "strengths_for"]

METHODS: Mapping[str, Method] = {
    "const": other.Plain(
        "constant", "Gives everybody the most frequent label: perfectly fair and of no use.", base=other.constant
    ),
    "glvq": own.Prototypes(
        "GLVQ", "Prototypes that only care about the label: what FairGLVQ is without its fair term."
    ),
    "inp": own.ProjectedPrototypes(
        "INP + GLVQ",
        "Removes, one by one, the directions that tell the groups apart linearly, then trains GLVQ on what is left.",
    ),
    "fairglvq": own.Prototypes(
        "FairGLVQ",
        "Prototypes that are attracted by the label and, C times as strongly, repelled from telling the group.",
        family="fair term",
        knob="C",
        strengths=(0, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 12),
        parameters=own.OF_FAIRGLVQ,
        estimator="FairGLVQ",
    ),
    "gmlvq": own.MetricPrototypes(
        "GMLVQ", "GLVQ that also learns the plane in which it measures distances; it only cares about the label."
    ),
    "fairgmlvq": own.MetricPrototypes(
        "FairGMLVQ",
        "FairGLVQ that also learns the plane in which it measures distances, with the same fair term.",
        family="fair term",
        knob="C",
        strengths=(0, 0.25, 0.5, 1),  # at 2 and 4 accuracy collapsed, with gaps in no order
        estimator="FairGLVQ",
    ),
    "paritylvq": own.ParityPrototypes(
        "ParityLVQ",
        "Prototypes with handicaps in a plane of label and group, trained so that the gap between the groups is at "
        "most 1 - parity.",
    ),
    "correlation_remover": own.DecorrelatedPrototypes(
        "CorrelationRemover + GLVQ",
        "Subtracts from every feature the share alpha of what correlates with the group, then trains GLVQ; it "
        "needs the group of every person it decides about.",
    ),
    "logistic_regression": other.Plain("logistic regression", "The usual linear model, without any care for fairness."),
    "exponentiated_gradient": other.Reduction(
        "ExponentiatedGradient",
        "A lottery between logistic regressions, drawn up so that on the training data the gap between the groups is "
        "at most 1 - parity.",
    ),
    "threshold_optimizer": other.Thresholds(
        "ThresholdOptimizer",
        "A logistic regression with a bar of its own for every group, set so that on the training data the gap is at "
        "most 1 - parity; it needs the group of every person it decides about.",
    ),
    "oxonfair": other.OxonFair(
        "OxonFair",
        "A logistic regression with a bar of its own for every group and no lottery, set so that on the training data "
        "the gap is at most 1 - parity; it needs the group of every person it decides about.",
    ),
    "gradient_boosting": other.Plain(
        "gradient boosting",
        "Trees on trees, without any care for fairness: about as accurate as the features allow.",
        base=other.gradient_boosting,
    ),
    "boosted_exponentiated_gradient": other.Reduction(
        "boosting + ExponentiatedGradient",
        "A lottery between gradient boostings, with the same promise as ExponentiatedGradient; slow.",
        strengths=(0.8, 0.9, 0.95, 1),
        base=other.gradient_boosting,
        rounds=5,  # on one fold of German 50 gave the same scores, on one of COMPAS 10 did
    ),
    "boosted_threshold_optimizer": other.Thresholds(
        "boosting + ThresholdOptimizer",
        "Gradient boosting with a bar of its own for every group, with the same promise as ThresholdOptimizer; it "
        "needs the group of every person it decides about.",
        base=other.gradient_boosting,
    ),
    "fairtree": cells.Trees(
        "FairTree", "A decision tree whose splits tell the label and, C times as strongly, must not tell the group."
    ),
    "fairtree_decided": cells.Decided(
        "FairTree, decided fairly",
        "A tree whose splits tell label and group (C = -1), then the most accurate answers of its leaves with a "
        "training gap of at most 1 - parity; where the group is among the features it may decide by it.",
        family="trees",
        parameters=cells.OF_TREE,
        C=-1.0,  # on Adult and COMPAS more accurate than 0 and 1: leaves of one group each can make up for each other
    ),
    "fairglvq_decided": cells.Decided(
        "FairGLVQ, decided fairly",
        "FairGLVQ with C = 1, then the most accurate answers of its cells with a training gap of at most 1 - parity.",
        parameters=own.OF_FAIRGLVQ,
        cells=own.Prototypes("", "", parameters=own.OF_FAIRGLVQ, estimator="FairGLVQ"),
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
