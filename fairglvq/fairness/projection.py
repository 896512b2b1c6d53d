"""Iterative null-space projection (INP): remove, one by one, the directions that predict the group linearly.

Ravfogel et al., *Null It Out: Guarding Protected Attributes by Iterative Nullspace Projection*, 2020.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from fairglvq.fairness.metrics import encode_groups

__all__ = ["NullSpaceProjection"]

# A row of the linear model that keeps less than this share of its length after the directions before it are removed is
# no new direction: what is left of it is rounding error.
NEGLIGIBLE = 1e-10


class NullSpaceProjection(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Project the data onto what a series of linear models cannot use to predict the group.

    Each iteration fits a linear model to predict the group from the data projected so far, and removes its row space,
    the directions W it looks at. With the rows of Q an orthonormal basis of everything removed::

        P = I - Q^T Q,   transform(X) = X P

    P projects onto the intersection of all null spaces. The features keep their number and names. Removed is what is
    *linearly* available; a curved boundary may still separate the groups.

    Parameters
    ----------
    n_projections : int, default=1
        Number of iterations. 0 is the identity. With two groups each removes one direction, with g > 2 groups up to g.
    random_state : int, RandomState instance or None, default=None
        Shuffles the data of the linear models. An int gives the same projection again, and its first k iterations
        are those of a run of k.

    Attributes
    ----------
    projection_ : array of shape (n_features, n_features)
        P, symmetric, ``P @ P = P``.
    directions_ : array of shape (n_directions, n_features)
        Q, the removed directions in the order of their removal, orthonormal. Once the training data are projected to
        nothing there is no direction left and further iterations add none.
    n_directions_ : array of shape (n_projections + 1,)
        Number of directions removed after 0, 1, 2, ... iterations.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of features seen in `fit`, if X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from fairglvq import NullSpaceProjection
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]])
    >>> inp = NullSpaceProjection(n_projections=1, random_state=0).fit(X, sensitive_features=["a", "a", "b", "b"])
    >>> np.linalg.matrix_rank(inp.transform(X))
    np.int64(1)
    """

    # Private by name, but the way scikit-learn's own template for third-party estimators validates parameters.
    _parameter_constraints: dict = {  # noqa: RUF012
        "n_projections": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_projections: int = 1, *, random_state: int | np.random.RandomState | None = None):
        self.n_projections = n_projections
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike | csr_array | csr_matrix, y: Any = None, *, sensitive_features: ArrayLike | None = None
    ) -> Self:
        """Find the directions to remove.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data. A sparse X is made dense: after one projection it would be anyway.
        y : ignored
            Present for scikit-learn's pipelines. The projection depends on the group, not on the label.
        sensitive_features : array-like of shape (n_samples,)
            Group of every row, two groups or more. Needed unless `n_projections` is 0.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if self.n_projections > 0:
            group = self._check_groups(X, sensitive_features)
            directions, n_directions = self._find_directions(X.toarray() if issparse(X) else X, group)
        else:
            directions, n_directions = np.empty((0, X.shape[1])), np.zeros(1, dtype=np.intp)
        return self._set_directions(directions, n_directions)

    def transform(self, X: ArrayLike | csr_array | csr_matrix) -> NDArray[np.float64]:
        """Project X: ``X P``, always dense, shape (n_samples, n_features).

        Values no larger than the rounding error of this product are set to 0. Rounding errors are small, but they
        depend on x: on Adult with every direction removed, a linear model predicted 84 % of the labels from them once
        they were scaled to [0, 1], where the majority class has 75 %.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        projected = X @ self.projection_
        if len(self.directions_) > 0:
            error = 10 * self.n_features_in_ * np.finfo(np.float64).eps * row_norms(X)  # (n_samples,)
            projected[np.abs(projected) <= error[:, np.newaxis]] = 0.0
        return projected

    def at(self, k: int) -> NullSpaceProjection:
        """Projection of the first k iterations, fitted: what `fit` with ``n_projections=k`` gives, without its cost."""
        check_is_fitted(self)
        n_fitted = len(self.n_directions_) - 1
        if not (isinstance(k, Integral) and 0 <= k <= n_fitted):
            raise ValueError(f"k must be a whole number from 0 to n_projections={n_fitted}, got {k!r}.")
        first = clone(self).set_params(n_projections=int(k))
        first.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            first.feature_names_in_ = self.feature_names_in_
        n_directions = self.n_directions_[: k + 1].copy()
        return first._set_directions(self.directions_[: n_directions[-1]].copy(), n_directions)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_groups(self, X: NDArray[np.float64], sensitive_features: ArrayLike | None) -> NDArray[np.intp]:
        if sensitive_features is None:
            raise ValueError(
                f"NullSpaceProjection(n_projections={self.n_projections}) needs the group of every row: pass "
                "fit(X, sensitive_features=...), or set n_projections=0 to leave the data as they are."
            )
        groups, group = encode_groups(sensitive_features)
        check_consistent_length(X, group)
        if len(groups) < 2:
            raise ValueError(
                f"sensitive_features holds one group only, {groups.tolist()[0]!r}: there is nothing to remove. "
                "Pass two groups or more, or set n_projections=0."
            )
        return group

    def _find_directions(
        self, X: NDArray[np.float64], group: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Directions to remove, (n_directions, n_features), and their number after 0, 1, 2, ... iterations.

        The linear models never see ``X P`` itself but its coordinates Z in an orthonormal basis of what is left,
        ``X P = Z basis^T``. Stochastic gradient descent from zero with an L2 penalty only takes inner products, so up
        to rounding it finds the same direction, in one column less after each removal: half the time over a long run.
        Reflections keep basis and directions orthonormal up to rounding, however many there are, and the iteration ends
        when no column is left.
        """
        rng = check_random_state(self.random_state)
        basis = _row_space(X)  # (n_features, rank)
        Z = X @ basis  # (n_samples, rank)
        directions: list[NDArray[np.float64]] = []
        n_directions = np.zeros(self.n_projections + 1, dtype=np.intp)
        for iteration in range(self.n_projections):
            if Z.shape[1] == 0:
                n_directions[iteration + 1 :] = len(directions)
                break
            W = _linear_model(Z, group, seed=rng.randint(np.iinfo(np.int32).max))  # (n_rows, rank)
            for row, length in enumerate(np.linalg.norm(W, axis=1)):
                w = W[row]
                if np.linalg.norm(w) > NEGLIGIBLE * length:
                    directions.append(basis @ w / np.linalg.norm(w))
                    Z, W, basis = (_drop_direction(A, w) for A in (Z, W, basis))
            n_directions[iteration + 1] = len(directions)
        return np.reshape(directions, (-1, X.shape[1])), n_directions

    def _set_directions(self, directions: NDArray[np.float64], n_directions: NDArray[np.intp]) -> Self:
        self.directions_ = directions
        self.n_directions_ = n_directions
        self.projection_ = np.eye(directions.shape[1]) - directions.T @ directions
        return self


def _row_space(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal basis of the row space, shape (n_features, rank)."""
    # The triangular factor has the same row space and, for tall X, far fewer rows to decompose.
    _, sizes, rows = np.linalg.svd(np.linalg.qr(X, mode="r"), full_matrices=False)
    return rows[sizes > sizes[0] * max(X.shape) * np.finfo(X.dtype).eps].T  # the threshold of np.linalg.matrix_rank


def _linear_model(Z: NDArray[np.float64], group: NDArray[np.intp], seed: int) -> NDArray[np.float64]:
    """Coefficients of a linear support vector machine: one row for two groups, else one per group against the rest.

    With scikit-learn's defaults, like the published runs.
    """
    with warnings.catch_warnings():
        # Any direction that helps to predict the group may be removed; it need not be the optimum of that model.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SGDClassifier(random_state=seed).fit(Z, group).coef_


def _drop_direction(A: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates of the rows of A orthogonal to w, in one column less.

    The Householder reflection ``H = I - 2 v v^T / (v^T v)`` turns w into the last axis, which is then left out.
    """
    v = w / np.linalg.norm(w)
    v[-1] += np.copysign(1.0, v[-1])  # the sign that does not cancel
    return A[:, :-1] - np.outer(A @ v, v[:-1] * (2 / (v @ v)))
