"""FairGLVQ in plain vectorised NumPy: the method in readable form, and the reference that kernels are compared with.

``python -m fairglvq bench`` times the kernels beside :func:`train`; tests compare the two. Every step computes all
distances again.
"""

from typing import NamedTuple

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.activations import ACTIVATIONS


def squared_distances(X, W) -> np.ndarray:
    """|x - w|², (n, P)."""
    return np.maximum((X * X).sum(1)[:, None] - 2 * X @ W.T + (W * W).sum(1), 0)


class Term(NamedTuple):
    """One term of the cost, an entry per point: its two rivals, and how it pulls on them.

    A rival that does not exist is -1; its distance is simulated with alpha, and nothing is pulled. ``to_plus`` and
    ``to_minus`` are the factors of the pulls -∂Φ/∂w+ = to_plus (x - w+) and -∂Φ/∂w- = to_minus (x - w-).
    """

    plus: np.ndarray
    minus: np.ndarray
    d_plus: np.ndarray
    d_minus: np.ndarray
    mu: np.ndarray
    slope: np.ndarray  # Φ'(μ)
    to_plus: np.ndarray
    to_minus: np.ndarray

    @property
    def n_updates(self) -> int:
        """How many prototypes the points update, twice if two points update the same."""
        return int((self.plus >= 0).sum() + (self.minus >= 0).sum())


def closest_rivals(X, labels, W, prototype_labels, alpha) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """w+ and w- of every point, the closest prototypes with its own label and with another one, and d+ and d-.

    A missing rival's distance is alpha * d- or d+ / alpha (edge case 2).
    """
    rows = np.arange(len(X))
    D = squared_distances(X, W)  # (n, P)
    same = labels[:, None] == prototype_labels
    D_plus, D_minus = np.where(same, D, np.inf), np.where(same, np.inf, D)
    plus, minus = D_plus.argmin(1), D_minus.argmin(1)
    d_plus, d_minus = D_plus[rows, plus], D_minus[rows, minus]
    has_plus, has_minus = np.isfinite(d_plus), np.isfinite(d_minus)
    d_plus = np.where(has_plus, d_plus, alpha * d_minus)
    d_minus = np.where(has_minus, d_minus, d_plus / alpha)
    return np.where(has_plus, plus, -1), np.where(has_minus, minus, -1), d_plus, d_minus


def term(X, labels, W, prototype_labels, *, alpha, activation, beta) -> Term:
    """μ = (d+ - d-) / (d+ + d-) of every point, Φ'(μ), and the pulls -∂Φ(μ)/∂w±.

    -∂Φ/∂w+ = 4 Φ'(μ) d- / (d+ + d-)² (x - w+), and -∂Φ/∂w- = -4 Φ'(μ) d+ / (d+ + d-)² (x - w-); simulated distances
    are constants.
    """
    plus, minus, d_plus, d_minus = closest_rivals(X, labels, W, prototype_labels, alpha)
    both = d_plus + d_minus
    inverse = np.divide(1.0, both, out=np.zeros_like(both), where=both > 1e-150)
    mu = (d_plus - d_minus) * inverse
    slope = ACTIVATIONS[activation].slope(mu, beta)
    pull = 4 * slope * inverse**2
    return Term(plus, minus, d_plus, d_minus, mu, slope, pull * d_minus * (plus >= 0), -pull * d_plus * (minus >= 0))


def summed_pulls(X, W, found: Term) -> np.ndarray:
    """The pulls of all points on each prototype, (P, d): Algorithm 1's -G."""
    rows = np.arange(len(X))
    factors = np.zeros((len(X), len(W)))
    factors[rows, found.plus] += found.to_plus
    factors[rows, found.minus] += found.to_minus  # of a missing rival: 0, to the last prototype
    return factors.T @ X - factors.sum(0)[:, None] * W


def divisor(found: Term, labels, n_prototypes, published) -> int:
    """What summed pulls are divided by: updates made (Algorithm 1).

    The published runs leave out the factor 4 and divide by prototypes times distinct labels.
    """
    return 4 * n_prototypes * len(np.unique(labels)) if published else max(found.n_updates, 1)


def count_votes(X, s, W, n_groups) -> np.ndarray:
    """How many people of each group every cell holds, (P, groups)."""
    votes = np.zeros((len(W), n_groups), int)
    np.add.at(votes, (squared_distances(X, W).argmin(1), s), 1)
    return votes


def majority_groups(votes, empty_takes) -> np.ndarray:
    """Pseudo-classes (P,): the majority group of each cell; ``empty_takes()`` gives the group of an empty one."""
    pseudo = votes.argmax(1)
    for j in np.flatnonzero(votes.sum(1) == 0):
        pseudo[j] = empty_takes()
    return pseudo


class Step(NamedTuple):
    """One step with everything that flows through it; ``fair_term`` is None where C is 0."""

    class_term: Term
    fair_term: Term | None
    divisors: tuple[int, int]  # of both terms; 1 without a fair term
    class_move: np.ndarray  # (P, d), before η
    fair_move: np.ndarray  # (P, d), before η, with -C
    prototypes: np.ndarray  # (P, d), afterwards


def take_step(X, y, s, W, prototype_labels, pseudo, *, C, learning_rate, published, **options) -> Step:
    """One mini-batch X, y, s of Algorithm 1: W + η (class pull - C fair pull). ``options`` are those of `term`."""
    class_term = term(X, y, W, prototype_labels, **options)
    n_class = divisor(class_term, y, len(W), published)
    class_move = summed_pulls(X, W, class_term) / n_class
    if C == 0:
        return Step(class_term, None, (n_class, 1), class_move, np.zeros_like(W), W + learning_rate * class_move)
    fair_term = term(X, s, W, pseudo, **options)
    n_fair = divisor(fair_term, s, len(W), published)
    fair_move = -C * summed_pulls(X, W, fair_term) / n_fair
    after = W + learning_rate * (class_move + fair_move)
    return Step(class_term, fair_term, (n_class, n_fair), class_move, fair_move, after)


def train(
    X, y, s, W, prototype_labels, *, C, learning_rate, batch_size, max_epochs, rng, alpha=2.0, activation="swish",
    beta=2.0, step="algorithm", shuffle=True, n_groups=2, max_steps=None,
):  # fmt: skip
    """Algorithm 1 from the prototypes W; returns W and the pseudo-classes. Random numbers as in the trainer."""
    published = step == "published"
    options = {"alpha": alpha, "activation": activation, "beta": beta, "published": published}
    random = rng.integers(0, 2**63, 2, dtype=np.uint64)  # for the order, and for the draws of empty cells

    def vote(W):
        return majority_groups(
            count_votes(X, s, W, n_groups), lambda: 0 if published else kernels.draw(random[1:], n_groups)
        )

    order, steps = np.arange(len(X)), 0
    pseudo = vote(W)
    for _ in range(max_epochs):
        if shuffle:
            kernels.shuffle(order, random[:1])
        for start in range(0, len(X), batch_size):
            batch = order[start : start + batch_size]
            W = take_step(
                X[batch], y[batch], s[batch], W, prototype_labels, pseudo, C=C, learning_rate=learning_rate, **options
            ).prototypes
            pseudo = vote(W)
            steps += 1
            if steps == max_steps:
                return W, pseudo
    return W, pseudo
