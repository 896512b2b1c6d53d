"""Prototypes behind a linear map: costs of d(x, w) = |Ω(x - w)|² and their exact gradients.

Training works on images, z = Ωx and v = Ωw, so that a distance costs as many operations as Ω has rows. Every cost here
depends on two distances per point, that to a prototype on its side and that to a rival; :func:`gradient` takes their
derivatives to Ω, the images of the prototypes and the handicaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from fairglvq.lvq.kernels import entry
from fairglvq.lvq.trainer import dense, of_columns, times

checkpoint: ContextVar[Callable[[], None]] = ContextVar("checkpoint", default=lambda: None)
"""Called again and again during a search; a function set here, for one thread, may raise to end the search."""


def one_thread() -> threadpool_limits:
    """For a ``with``: products of small arrays on all cores are many times slower as soon as the cores are busy."""
    return threadpool_limits(limits=1, user_api="blas")


class Projected(NamedTuple):
    """A model: a point belongs to the prototype with the smallest |Ωx - v|² - handicap."""

    omega: np.ndarray  # (r, d), or (d,) for a diagonal Ω
    V: np.ndarray  # (P, r) images of the prototypes
    handicaps: np.ndarray  # (P,)

    def project(self, X) -> np.ndarray:
        """Images Ωx of the rows of X, an array or a CSR matrix, (n, r)."""
        if self.omega.ndim == 2:
            return np.asarray(X @ self.omega.T)
        return dense(times(X, self.omega))

    def cells(self, Z) -> np.ndarray:
        """The prototype that each image belongs to, (n,)."""
        offsets = (self.V**2).sum(axis=1) - self.handicaps
        return (offsets - 2 * Z @ self.V.T).argmin(axis=1)

    def moved(self, shift) -> Projected:
        """The model for points that lie farther away by ``shift`` (d,)."""
        return self._replace(V=self.V + self.project(shift[None]))


def moved_to_zero(X) -> tuple[np.ndarray, np.ndarray]:
    """X, an array or a CSR matrix, with every column moved until it reaches 0, and the shifts (d,).

    Far from 0 a small change of Ω moves all images by much more than they lie apart, and searches fail. A sparse column
    that has zeros is not moved.
    """
    shift = np.clip(0.0, of_columns(X, "min"), of_columns(X, "max"))
    if isinstance(X, np.ndarray) or not shift.any():
        return (X - shift if shift.any() else X), shift
    X = X.copy()
    X.sum_duplicates()
    X.data -= shift[X.indices]
    return X, shift


class Pair(NamedTuple):
    """Two prototypes of each point: the closest of one label, and the closest rival of another."""

    who: np.ndarray  # (n, 2) -1: there is none
    distance: np.ndarray  # (n, 2) |z - v|² - handicap; infinite where there is none

    @property
    def advantage(self) -> np.ndarray:
        """How much closer the first is than its rival, (n,)."""
        return self.distance[:, 1] - self.distance[:, 0]


def pair_up(Z, model: Projected, labels, sides) -> Pair:
    """For every point the closest prototype of the label in ``sides`` (n,), and the closest of any other label."""
    pair = Pair(np.empty((len(Z), 2), np.int64), np.empty((len(Z), 2)))
    _pair_up(Z, model.V, model.handicaps, labels, sides, pair.who, pair.distance)
    return pair


@entry
def _pair_up(Z, V, handicaps, labels, sides, who, distance):
    for i in range(Z.shape[0]):
        near, far, own, rival = np.inf, np.inf, -1, -1
        for j in range(V.shape[0]):
            total = -handicaps[j]
            for k in range(V.shape[1]):
                gap = Z[i, k] - V[j, k]
                total += gap * gap
            if labels[j] == sides[i]:
                if total < near:
                    near, own = total, j
            elif total < far:
                far, rival = total, j
        who[i, 0], who[i, 1] = own, rival
        distance[i, 0], distance[i, 1] = near, far


def gradient(X, Z, model: Projected, who, slopes) -> Projected:
    """∂cost/∂(Ω, V, handicaps) from ``slopes`` (n, m), ∂cost/∂distance of the prototypes ``who`` (n, m).

    Without X, Ω is taken as fixed.
    """
    d_V, totals = np.zeros_like(model.V), np.zeros(len(model.V))
    pull = np.zeros((0, 0)) if X is None else np.zeros_like(Z)  # ∂cost/∂z
    _collect(Z, model.V, who, slopes, d_V, totals, pull)
    if X is None:
        d_omega = np.zeros_like(model.omega)
    elif model.omega.ndim == 2:
        d_omega = np.asarray((X.T @ pull).T)
    else:
        d_omega = of_columns(times(X, pull), "sum")
    return Projected(d_omega, d_V, -totals)


@entry
def _collect(Z, V, who, slopes, d_V, totals, pull):
    for i in range(who.shape[0]):
        for e in range(who.shape[1]):
            j, slope = who[i, e], slopes[i, e]
            if j < 0 or slope == 0.0:
                continue
            totals[j] += slope
            for k in range(V.shape[1]):
                change = 2.0 * slope * (Z[i, k] - V[j, k])
                d_V[j, k] -= change
                if pull.size:
                    pull[i, k] += change


def minimise(
    objective: Callable[[Projected], tuple[float, Projected]],
    model: Projected,
    trained: Sequence[str],
    max_steps: int,
    tolerance: float = 1e-9,
) -> tuple[Projected, int]:
    """The model after up to ``max_steps`` steps of L-BFGS on the parts named ``trained``, and how many were made.

    ``objective`` gives the cost of a model and its gradient. Steps end when the cost falls by less than ``tolerance``.
    """
    if not max_steps:  # SciPy would make one
        return model, 0
    shapes = [getattr(model, name).shape for name in trained]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def pack(one: Projected) -> np.ndarray:
        return np.concatenate([getattr(one, name).ravel() for name in trained])

    def unpack(p: np.ndarray) -> Projected:
        parts = zip(trained, np.split(p, ends), shapes, strict=True)
        return model._replace(**{name: part.reshape(shape) for name, part, shape in parts})

    def packed(p: np.ndarray) -> tuple[float, np.ndarray]:
        checkpoint.get()()
        value, slopes = objective(unpack(p))
        return value, pack(slopes)

    options = {"maxiter": max_steps, "ftol": tolerance}
    found = minimize(packed, pack(model), jac=True, method="L-BFGS-B", options=options)
    return unpack(found.x), int(found.nit)


def lift(X, cells, omega: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Prototypes (P, d) with the images V, each as close to the mean of its cell as its image allows."""
    means = np.empty((len(V), omega.shape[1]))
    everybody = of_columns(X, "mean")
    for j in range(len(V)):
        members = np.flatnonzero(cells == j)
        means[j] = of_columns(X[members], "mean") if members.size else everybody
    return means + (V - means @ omega.T) @ np.linalg.pinv(omega).T
