"""Individual fairness: whether like people are treated alike, person by person and cell by cell.

Who is alike is a matter of the distance: here it is the Euclidean one between the rows of X, so scale them first, and
leave out columns that must not matter. Arrays in, never models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.labels import as_nonempty_column, check_same_length

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

__all__ = ["CellFairness", "Neighbours", "Violations", "agreement", "by_cell", "neighbours", "unlike", "violations"]

Floats = NDArray[np.float64]


class Neighbours(NamedTuple):
    """The k nearest others of each person, and how far away they are."""

    people: NDArray[np.int64]  # (n, k)
    distances: Floats  # (n, k)


class Violations(NamedTuple):
    """Where |f(x) - f(x')| <= L |x - x'| fails between a person and a near one."""

    share: Floats  # (n,) of a person's neighbours
    steepest: Floats  # (n,) largest |f(x) - f(x')| / |x - x'|; infinite between duplicates with different scores


class CellFairness(NamedTuple):
    """Individual fairness in each cell (P,); NaN where nobody is."""

    n: NDArray[np.int64]
    consistency: Floats  # mean agreement with neighbours
    unlike: NDArray[np.int64]  # people decided unlike most of their neighbours
    violations: Floats  # mean share of neighbours with whom the Lipschitz condition fails


def neighbours(X: ArrayLike | csr_array | csr_matrix, n_neighbors: int = 5) -> Neighbours:
    """The nearest others of every row of X (n, d), also among duplicates."""
    from sklearn.neighbors import NearestNeighbors  # 2 s, and only this function needs it

    n = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
    if not 1 <= n_neighbors < n:
        raise ValueError(f"n_neighbors must be between 1 and {n - 1}, one less than the rows of X, got {n_neighbors}.")
    # Asked without X, kneighbors leaves each point out of its own neighbours, also among duplicates.
    distances, people = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return Neighbours(people, distances)


def agreement(near: Neighbours, y_pred: ArrayLike) -> Floats:
    """Share (n,) of each person's neighbours who get the same decision."""
    labels = as_nonempty_column(y_pred, "y_pred")
    check_same_length(X=len(near.people), y_pred=len(labels))
    return np.mean(labels[near.people] == labels[:, np.newaxis], axis=1)


def unlike(near: Neighbours, y_pred: ArrayLike) -> NDArray[np.intp]:
    """People decided unlike more than half of their neighbours, those whom the fewest agree with first."""
    agrees = agreement(near, y_pred)
    return np.argsort(agrees, kind="stable")[: np.count_nonzero(agrees < 0.5)]


def violations(near: Neighbours, scores: ArrayLike, constant: float) -> Violations:
    """Where near people are treated more differently than ``constant`` times their distance (Dwork et al. 2012).

    ``scores`` (n,) are numbers: predictions, probabilities, or 1 for a favourable decision and 0 for another.
    """
    f = as_nonempty_column(scores, "scores").astype(np.float64)
    check_same_length(X=len(near.people), scores=len(f))
    if not constant >= 0:
        raise ValueError(f"constant must be at least 0; got {constant!r}")
    apart = np.abs(f[near.people] - f[:, np.newaxis])  # (n, k)
    slope = np.divide(apart, near.distances, out=np.where(apart > 0, np.inf, 0.0), where=near.distances > 0)
    return Violations(np.mean(apart > constant * near.distances, axis=1), slope.max(axis=1))


def by_cell(
    near: Neighbours, cells: ArrayLike, y_pred: ArrayLike, scores: ArrayLike, *, constant: float, n_cells: int
) -> CellFairness:
    """Consistency, people decided unlike their neighbours, and violations in the cell (n,) of each person.

    In a cell everybody gets the same answer, so this shows which cells have borders between like people.
    """
    where = np.asarray(cells)
    check_same_length(X=len(near.people), cells=len(where))
    agrees = agreement(near, y_pred)
    n = np.bincount(where, minlength=n_cells)

    def mean(values: Floats) -> Floats:
        sums = np.bincount(where, weights=values, minlength=n_cells)
        return np.divide(sums, n, out=np.full(n_cells, np.nan), where=n > 0)

    alone = np.bincount(where[agrees < 0.5], minlength=n_cells)
    return CellFairness(n, mean(agrees), alone, mean(violations(near, scores, constant).share))
