"""One mini-batch step of a real training, point by point: all values of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fairglvq import datasets
from fairglvq.experiments import methods, paper
from fairglvq.experiments.fold import training_fold
from fairglvq.lvq import reference
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.reference import Step, Term

N_GROUPS = 2


@dataclass(frozen=True)
class ChosenStep:
    """A mini-batch of a training: number ``batch`` of the epoch that follows the first ``epochs``."""

    dataset: str = "xor"
    n_prototypes: int = 4
    C: float = 1.25
    epochs: int = 1
    batch: int = 0
    step: str = "published"

    @property
    def params(self) -> dict[str, Any]:
        """The paper's parameters, apart from those chosen here."""
        return paper.PARAMETERS[self.dataset] | {"n_prototypes": self.n_prototypes, "step": self.step}


class StepData(NamedTuple):
    """A step, its inputs, and the vote after it."""

    X: np.ndarray  # (M, d), the points of the batch
    y: np.ndarray
    s: np.ndarray
    rows: np.ndarray  # (M,), their rows in the training fold
    W: np.ndarray  # (P, d), before the step
    labels: np.ndarray
    pseudo: np.ndarray  # before the step
    step: Step
    votes: np.ndarray  # (P, groups), after the step
    pseudo_after: np.ndarray
    learning_rate: float
    C: float
    n_batches: int


class Pull(NamedTuple):
    """How one point pulls on one prototype: its summand before the division, and how far it moves the prototype."""

    prototype: int
    vector: np.ndarray  # (d,), of the sum
    moves: np.ndarray  # (d,), of the prototype


class PointTerm(NamedTuple):
    """One term of one point, by Algorithm 1's names; a rival that does not exist is -1."""

    plus: int
    minus: int
    d_plus: float
    d_minus: float
    mu: float
    phi: float
    slope: float
    pulls: tuple[Pull, ...]

    @property
    def simulated(self) -> bool:
        """Whether alpha stands in for the distance of a rival."""
        return min(self.plus, self.minus) < 0


class Reversed(NamedTuple):
    """Shares of the training points whose pull has the wrong sign, because swish falls at their μ."""

    by_class: float
    fair: float


def reversed_shares(chosen: ChosenStep) -> Reversed:
    """How many points push what they should pull, at the beginning of the chosen epoch."""
    fold, W = _trained(chosen)
    labels = np.repeat([0, 1], chosen.n_prototypes)
    pseudo = reference.count_votes(fold.X, fold.s, W, N_GROUPS).argmax(1)
    options = _options(chosen)
    slopes = [reference.term(fold.X, *codes, **options).slope for codes in ((fold.y, W, labels), (fold.s, W, pseudo))]
    return Reversed(*(float(np.mean(slope < 0)) for slope in slopes))


def _options(chosen: ChosenStep) -> dict[str, Any]:
    """Keyword arguments of `reference.term`."""
    return {name: chosen.params[name] for name in ("alpha", "beta")} | {"activation": "swish"}


def _trained(chosen: ChosenStep) -> tuple[methods.TrainingFold, np.ndarray]:
    """The first training fold of the data set, and the prototypes at the beginning of the chosen epoch."""
    fold, method = training_fold(datasets.load(chosen.dataset)), methods.get("fairglvq")
    start = method.prepare(fold, [chosen.C], chosen.params)
    if not chosen.epochs:
        return fold, start["init"]
    params = chosen.params | {"max_epochs": chosen.epochs}
    return fold, method.fit(fold, start, chosen.C, params).prototypes_


def open_step(chosen: ChosenStep) -> StepData:
    """Train on the first fold of the data set up to the chosen step, and record that one."""
    (fold, W), params = _trained(chosen), chosen.params
    labels = np.repeat([0, 1], chosen.n_prototypes)
    random = np.random.default_rng(fold.seed)

    def vote(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        votes = reference.count_votes(fold.X, fold.s, W, N_GROUPS)
        draw = (lambda: 0) if chosen.step == "published" else lambda: int(random.integers(N_GROUPS))
        return votes, reference.majority_groups(votes, draw)

    pseudo = vote(W)[1]
    slices = [slice(begin, begin + params["batch_size"]) for begin in range(0, len(fold.X), params["batch_size"])]
    for rows in slices[: chosen.batch + 1]:
        before, pseudo_before = W, pseudo
        found = reference.take_step(
            fold.X[rows], fold.y[rows], fold.s[rows], W, labels, pseudo, C=chosen.C,
            learning_rate=params["learning_rate"], published=chosen.step == "published", **_options(chosen),
        )  # fmt: skip
        W = found.prototypes
        votes, pseudo = vote(W)
    return StepData(
        fold.X[rows], fold.y[rows], fold.s[rows], np.arange(len(fold.X))[rows], before, labels, pseudo_before, found,
        votes, pseudo, params["learning_rate"], chosen.C, len(slices),
    )  # fmt: skip


def turning_point(beta: float = 2.0) -> float:
    """The μ below which swish falls, although the cost assumes a function that only rises."""
    from scipy.optimize import brentq

    return float(brentq(lambda mu: ACTIVATIONS["swish"].slope(mu, beta), -1.0, 0.0))


def terms_of(opened: StepData, i: int, beta: float = 2.0) -> tuple[PointTerm, PointTerm | None]:
    """Class term and fair term of the i-th point of the batch; no fair term where C is 0."""
    step = opened.step
    by_class = _point_term(opened, step.class_term, i, 1.0, step.divisors[0], beta)
    if step.fair_term is None:
        return by_class, None
    return by_class, _point_term(opened, step.fair_term, i, -opened.C, step.divisors[1], beta)


def _point_term(opened: StepData, term: Term, i: int, weight: float, divisor: int, beta: float) -> PointTerm:
    plus, minus = int(term.plus[i]), int(term.minus[i])
    pulls = []
    for j, factor in ((plus, term.to_plus[i]), (minus, term.to_minus[i])):
        if j >= 0:
            vector = weight * factor * (opened.X[i] - opened.W[j])
            pulls.append(Pull(j, vector, opened.learning_rate * vector / divisor))
    mu = float(term.mu[i])
    return PointTerm(
        plus, minus, float(term.d_plus[i]), float(term.d_minus[i]), mu, float(ACTIVATIONS["swish"].value(mu, beta)),
        float(term.slope[i]), tuple(pulls),
    )  # fmt: skip
