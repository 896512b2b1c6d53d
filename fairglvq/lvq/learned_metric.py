"""Learned metrics: GRLVQ (diagonal Ω), GMLVQ and its low-rank form (Ω of a few rows), with FairGLVQ's fair term.

The cost of Algorithm 1, mean Φ(μ) of the class term minus C times that of the fair term, is minimised over Ω and the
images of the prototypes by L-BFGS. Pseudo-classes are voted on before every round of steps. A rival that does not
exist makes μ a constant, (alpha - 1) / (alpha + 1); such a point does not pull here, because a line search needs the
exact gradient of its cost.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from fairglvq.fairness.cells import count
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.directions import FEW_POINTS, PLANE
from fairglvq.lvq.projected import Projected, gradient, minimise, pair_up
from fairglvq.lvq.trainer import Recipe, parity_gaps

VOTES = 25
"""Rounds, each with a vote, into which a training with a fair term is divided."""

TOLERANCE = 1e-4
"""Training ends when a step lowers the cost by less, which would only overfit."""

FINE_TOLERANCE = 0.4
"""The same for the sum over all points, beyond a plane and with many points per column: ranges take more steps."""


class MetricSnapshot(NamedTuple):
    """The model after some steps, measured on the whole training set."""

    epoch: int
    model: Projected
    pseudo_classes: np.ndarray | None  # (P,)
    class_cost: float
    fair_cost: float
    accuracy: float
    statistical_parity: float


class Terms(NamedTuple):
    """What costs are made of: labels of points and prototypes, for the class and, where there are any, for groups."""

    y: np.ndarray  # (n,)
    labels: np.ndarray  # (P,)
    s: np.ndarray | None = None  # (n,)
    pseudo: np.ndarray | None = None  # (P,)


def term(Z, model: Projected, sides, labels, recipe: Recipe) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean Φ(μ), and which prototypes it depends on (n, 2), and how: its slopes by their distances (n, 2)."""
    pair = pair_up(Z, model, labels, sides)
    alone = np.asarray((pair.who < 0).any(axis=1))
    near, far = np.where(alone[:, None], 1.0, pair.distance).T
    both = near + far
    inverse = np.divide(1.0, both, out=np.zeros_like(both), where=both > 1e-150)
    mu = np.where(alone, (recipe.alpha - 1) / (recipe.alpha + 1), (near - far) * inverse)
    activation = ACTIVATIONS[recipe.activation]
    slope = 2 * activation.slope(mu, recipe.beta) * inverse**2 / len(Z) * ~alone
    return float(activation.value(mu, recipe.beta).mean()), pair.who, np.stack([slope * far, -slope * near], axis=1)


def cost(X, model: Projected, terms: Terms, recipe: Recipe) -> tuple[float, Projected]:
    """Class term minus C times the fair term, and the gradient as a model."""
    Z = model.project(X)
    total, who, slopes = term(Z, model, terms.y, terms.labels, recipe)
    if recipe.C and terms.s is not None:
        fair, rivals, pulls = term(Z, model, terms.s, terms.pseudo, recipe)
        total -= recipe.C * fair
        who, slopes = np.hstack([who, rivals]), np.hstack([slopes, -recipe.C * pulls])
    return total, gradient(X, Z, model, who, slopes)


def counts_of(model: Projected, Z, terms: Terms) -> np.ndarray:
    """Members of every cell by class and group, (P, K, G)."""
    s = np.zeros(len(Z), np.int64) if terms.s is None else terms.s
    return count((len(model.V), int(terms.labels.max()) + 1, int(s.max()) + 1), model.cells(Z), terms.y, s)


def vote(model: Projected, Z, terms: Terms, rng: np.random.Generator) -> Terms:
    """Terms with the majority group of every cell as its pseudo-class; an empty cell draws one."""
    if terms.s is None:
        return terms
    votes = counts_of(model, Z, terms).sum(axis=1)  # (P, G)
    drawn = rng.integers(votes.shape[1], size=len(votes))
    return terms._replace(pseudo=np.where(votes.sum(axis=1) > 0, votes.argmax(axis=1), drawn))


def measure(X, model: Projected, terms: Terms, recipe: Recipe, epoch: int) -> MetricSnapshot:
    """The model as it is, on the training set."""
    Z = model.project(X)
    counts = counts_of(model, Z, terms)
    fair = gap = np.nan
    if terms.s is not None:
        fair = term(Z, model, terms.s, terms.pseudo, recipe)[0]
        gap = float(parity_gaps(counts[None], terms.labels)[0])
    right = counts.sum(axis=2)[np.arange(len(counts)), terms.labels].sum() / len(Z)
    return MetricSnapshot(
        epoch, model, terms.pseudo, term(Z, model, terms.y, terms.labels, recipe)[0], fair, float(right), gap
    )


def tolerance_of(omega, n: int) -> float:
    """The fall of the mean cost that is too small to go on."""
    beyond = omega.ndim == 2 and len(omega) > PLANE and n >= FEW_POINTS * omega.shape[1]
    return min(TOLERANCE, FINE_TOLERANCE / n) if beyond else TOLERANCE


def train(X, start: Projected, terms: Terms, recipe: Recipe, max_epochs: int, rng) -> list[MetricSnapshot]:
    """The start, and the model after every round; without a fair term there is one round."""
    terms = vote(start, start.project(X), terms, rng)
    taken = [measure(X, start, terms, recipe, 0)]
    tolerance = tolerance_of(start.omega, len(terms.y))
    n_rounds = min(VOTES, max_epochs) if recipe.C else min(1, max_epochs)
    for steps in np.diff(np.linspace(0, max_epochs, n_rounds + 1).astype(int)):
        now = partial(cost, X, terms=terms, recipe=recipe)
        model, made = minimise(now, taken[-1].model, ("omega", "V"), int(steps), tolerance)
        before, terms = terms, vote(model, model.project(X), terms, rng)
        taken.append(measure(X, model, terms, recipe, taken[-1].epoch + made))
        if made < steps and (before.pseudo is None or np.array_equal(before.pseudo, np.asarray(terms.pseudo))):
            break  # at rest, and the votes are as they were
    return taken
