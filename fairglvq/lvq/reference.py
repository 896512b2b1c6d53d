"""FairGLVQ in plain vectorised NumPy: the method in readable form, and the reference that kernels are compared with.

``python -m fairglvq bench`` times the kernels beside :func:`train`; tests compare the two. Every step computes all
distances again.
"""

import numpy as np

from fairglvq.lvq import kernels
from fairglvq.lvq.activations import ACTIVATIONS


def squared_distances(X, W) -> np.ndarray:
    """|x - w|², (n, P)."""
    return np.maximum((X * X).sum(1)[:, None] - 2 * X @ W.T + (W * W).sum(1), 0)


def descent(X, labels, W, prototype_labels, *, alpha, activation, beta, published=False) -> np.ndarray:
    """The pull of one term on the prototypes: -∂/∂W of the mean of Φ(μ), (P, d).

    μ = (d+ - d-) / (d+ + d-); a missing rival's distance is alpha * d- or d+ / alpha, a constant. The mean is over
    updates made (Algorithm 1); the published runs leave out the factor 4 and divide by prototypes times distinct
    labels.
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
    both = d_plus + d_minus
    inverse = np.divide(1.0, both, out=np.zeros_like(both), where=both > 1e-150)
    mu = (d_plus - d_minus) * inverse
    slope = ACTIVATIONS[activation].slope(mu, beta) * inverse**2
    pull = np.zeros_like(D)
    pull[rows, plus] += slope * d_minus * has_plus
    pull[rows, minus] -= slope * d_plus * has_minus
    total = pull.T @ X - pull.sum(0)[:, None] * W
    if published:
        return total / (len(W) * len(np.unique(labels)))
    return 4 * total / max(has_plus.sum() + has_minus.sum(), 1)


def majority_groups(X, s, W, n_groups, empty_takes) -> np.ndarray:
    """Pseudo-classes (P,): the majority group of each cell; ``empty_takes()`` gives the group of an empty one."""
    nearest = squared_distances(X, W).argmin(1)
    votes = np.zeros((len(W), n_groups))
    np.add.at(votes, (nearest, s), 1)
    pseudo = votes.argmax(1)
    for j in np.flatnonzero(votes.sum(1) == 0):
        pseudo[j] = empty_takes()
    return pseudo


def train(
    X, y, s, W, prototype_labels, *, C, learning_rate, batch_size, max_epochs, rng, alpha=2.0, activation="swish",
    beta=2.0, step="algorithm", shuffle=True, n_groups=2, max_steps=None,
):  # fmt: skip
    """Algorithm 1 from the prototypes W; returns W and the pseudo-classes. Random numbers as in the trainer."""
    published = step == "published"
    options = {"alpha": alpha, "activation": activation, "beta": beta, "published": published}
    random = rng.integers(0, 2**63, 2, dtype=np.uint64)  # for the order, and for the draws of empty cells

    def empty_takes():
        return 0 if published else kernels.draw(random[1:], n_groups)

    order, steps = np.arange(len(X)), 0
    pseudo = majority_groups(X, s, W, n_groups, empty_takes)
    for _ in range(max_epochs):
        if shuffle:
            kernels.shuffle(order, random[:1])
        for start in range(0, len(X), batch_size):
            batch = order[start : start + batch_size]
            x = X[batch]
            move = descent(x, y[batch], W, prototype_labels, **options)
            if C > 0:
                move = move - C * descent(x, s[batch], W, pseudo, **options)
            W = W + learning_rate * move
            pseudo = majority_groups(X, s, W, n_groups, empty_takes)
            steps += 1
            if steps == max_steps:
                return W, pseudo
    return W, pseudo
