"""FairGLVQ transcribed line by line from Algorithm 1 of the paper: plain loops over points, prototypes, coordinates.

Slow on purpose, and apart from the library: nothing is shared with it but the stream of random numbers, so that
points come in the same order and empty cells draw the same groups. Numbers in comments are Algorithm 1's lines.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from fairglvq.lvq import kernels


@dataclass
class Outcome:
    """Where training ended, and what happened on the way."""

    prototypes: list[list[float]]
    pseudo_classes: list[int]
    alpha_uses: int = 0
    empty_draws: int = 0
    flips: int = 0
    assignments: list[list[int]] = field(default_factory=list)  # after every epoch


def squared_distance(x, w):
    total = 0.0
    for x_k, w_k in zip(x, w, strict=True):
        total += (x_k - w_k) ** 2
    return total


def closest(x, W, allowed):
    """The first of the closest prototypes among those allowed, or None."""
    best, smallest = None, math.inf
    for j in allowed:
        distance = squared_distance(x, W[j])
        if distance < smallest:
            best, smallest = j, distance
    return best


def activation_slope(name, mu, beta):
    """The derivative of the activation, written out from its formula."""
    p = 1 / (1 + math.exp(-beta * mu))
    return {"swish": p + beta * mu * p * (1 - p), "sigmoid": beta * p * (1 - p), "identity": 1.0}[name]


def mu_gradients(x, w_plus, w_minus, d_plus, d_minus):
    """∂μ/∂w+ and ∂μ/∂w- of μ = (d+ - d-) / (d+ + d-), d = |x - w|²: the quotient rule times ∂d/∂w = -2 (x - w)."""
    both = (d_plus + d_minus) ** 2
    to_plus = [2 * d_minus / both * -2 * (x[k] - w_plus[k]) for k in range(len(x))] if w_plus is not None else None
    to_minus = [-2 * d_plus / both * -2 * (x[k] - w_minus[k]) for k in range(len(x))] if w_minus is not None else None
    return to_plus, to_minus


def assign(X, W):
    return [closest(x, W, range(len(W))) for x in X]


def vote(X, s, W, n_groups, take_for_empty):
    """21-23: the majority group of every cell; edge case 1, an empty one takes what ``take_for_empty`` gives."""
    cells = assign(X, W)
    pseudo, empty = [], []
    for j in range(len(W)):
        votes = [0] * n_groups
        for i in range(len(X)):
            if cells[i] == j:
                votes[s[i]] += 1
        empty.append(sum(votes) == 0)
        pseudo.append(take_for_empty() if empty[j] else votes.index(max(votes)))
    return pseudo, empty


def train(
    X, y, s, W, labels, *, C, learning_rate, batch_size, max_epochs, rng, alpha=2.0, activation="swish", beta=2.0,
    step="algorithm", shuffle=True, n_groups=2,
):  # fmt: skip
    X, y, s, labels = np.asarray(X).tolist(), list(map(int, y)), list(map(int, s)), list(map(int, labels))
    W = np.asarray(W).tolist()  # 2
    n, P, d = len(X), len(W), len(W[0])
    order_stream, draw_stream = np.split(rng.integers(0, 2**63, 2, dtype=np.uint64), 2)
    outcome = Outcome(W, [])

    def take_for_empty():
        outcome.empty_draws += 1
        return 0 if step == "published" else int(kernels.draw(draw_stream, n_groups))

    def add(G, j, gradient, factor):
        for k in range(d):
            G[j][k] += factor * gradient[k]

    pseudo, _ = vote(X, s, W, n_groups, take_for_empty)
    order = np.arange(n)
    for _ in range(max_epochs):  # 3: a step is one mini-batch; an epoch takes all of them
        if shuffle:
            kernels.shuffle(order, order_stream)
        for start in range(0, n, batch_size):
            G_class = [[0.0] * d for _ in range(P)]  # 4
            G_fair = [[0.0] * d for _ in range(P)]
            n_class, n_fair = 0, 0
            batch = [int(i) for i in order[start : start + batch_size]]  # 5
            for i in batch:  # 6
                x = X[i]
                # 7
                class_plus = closest(x, W, [j for j in range(P) if labels[j] == y[i]])
                class_minus = closest(x, W, [j for j in range(P) if labels[j] != y[i]])
                fair_plus = closest(x, W, [j for j in range(P) if pseudo[j] == s[i]])
                fair_minus = closest(x, W, [j for j in range(P) if pseudo[j] != s[i]])
                update_set = [class_plus, class_minus]
                if fair_minus is None:  # 8
                    d_fair_plus = squared_distance(x, W[fair_plus])
                    d_fair_minus = d_fair_plus / alpha  # 9, a constant for the gradient
                    update_set += [fair_plus]
                elif fair_plus is None:  # 10
                    d_fair_minus = squared_distance(x, W[fair_minus])
                    d_fair_plus = alpha * d_fair_minus  # 11, a constant for the gradient
                    update_set += [fair_minus]
                else:  # 12
                    d_fair_plus = squared_distance(x, W[fair_plus])
                    d_fair_minus = squared_distance(x, W[fair_minus])
                    update_set += [fair_plus, fair_minus]  # 13
                # 15: E_fair = Φ(μ_class) - C Φ(μ_fair)
                d_plus, d_minus = squared_distance(x, W[class_plus]), squared_distance(x, W[class_minus])
                if d_plus + d_minus > 0:  # on both at once μ is 0/0, and nothing pulls
                    slope = activation_slope(activation, (d_plus - d_minus) / (d_plus + d_minus), beta)
                    to_plus, to_minus = mu_gradients(x, W[class_plus], W[class_minus], d_plus, d_minus)
                    add(G_class, class_plus, to_plus, slope)
                    add(G_class, class_minus, to_minus, slope)
                if d_fair_plus + d_fair_minus > 0:
                    mu = (d_fair_plus - d_fair_minus) / (d_fair_plus + d_fair_minus)
                    slope = activation_slope(activation, mu, beta)
                    w_plus = None if fair_plus is None else W[fair_plus]
                    w_minus = None if fair_minus is None else W[fair_minus]
                    to_plus, to_minus = mu_gradients(x, w_plus, w_minus, d_fair_plus, d_fair_minus)
                    if to_plus is not None:
                        add(G_fair, fair_plus, to_plus, -C * slope)
                    if to_minus is not None:
                        add(G_fair, fair_minus, to_minus, -C * slope)
                n_fair += len(update_set) - 2  # 16
                n_class += 2
                if C > 0:
                    outcome.alpha_uses += (fair_plus is None) + (fair_minus is None)
            if step == "published":  # NOTES.md: no factor 4, prototypes times distinct labels for the updates
                n_class = 4 * P * len({y[i] for i in batch})
                n_fair = 4 * P * len({s[i] for i in batch})
            for j in range(P):  # 18
                for k in range(d):
                    W[j][k] -= learning_rate * (G_class[j][k] / n_class + G_fair[j][k] / n_fair)  # 19
            before = pseudo
            pseudo, empty = vote(X, s, W, n_groups, take_for_empty)  # 21-23
            outcome.flips += sum(pseudo[j] != before[j] and not empty[j] for j in range(P))
        outcome.assignments.append(assign(X, W))
    outcome.pseudo_classes = pseudo
    return outcome
