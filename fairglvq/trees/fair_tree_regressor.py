"""FairTreeRegressor: a tree whose leaves predict a number and, weighted by C, do not predict the protected value."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import assert_all_finite, validate_data

from fairglvq.fairness.cells import moments
from fairglvq.labels import as_array, encode, warn_about_groups
from fairglvq.lvq.prototype_classifier import check_groups
from fairglvq.trees.estimator import TreeEstimator


class FairTreeRegressor(RegressorMixin, TreeEstimator):
    """Regression tree that trades accuracy for independence of a protected value, which may be a number or a group.

    The partition model of eq. (4) with squared error on both sides. Each split maximises ::

        gain(y) / loss(y) - C gain(s) / loss(s)

    where a loss is the sum of squared distances from the mean over all rows, and a gain is by how much less of it is
    left when each half has a mean of its own. So C weighs explained shares of variance (R²), whatever the units. A
    group counts with one indicator per group, which makes its loss the Gini impurity. A yes or no as target, 1 or 0, is
    a number too: its variance is half its Gini impurity.

    Parameters
    ----------
    max_leaves : int, default=20
    C : float, default=1.0
        Strength of the fairness term; 0 is a plain tree. Other than 0, ``fit`` needs ``sensitive_features``.
    min_samples_leaf : int, default=5
    protected : {"auto", "values", "groups"}, default="auto"
        Whether ``sensitive_features`` are numbers that can be averaged or names of groups; "auto": as their type is.

    Attributes
    ----------
    tree_ : Tree
    n_leaves_ : int
    groups_ : ndarray or None
        None if the protected value is a number or not given.
    moments_ : Moments
        Training rows in each leaf, and mean and variance of target and protected value there.
    leaf_values_ : ndarray (n_leaves,)
        What each leaf predicts: its mean target.
    protected_means_ : ndarray (n_leaves,) or (n_leaves, n_groups), or None
        Mean protected value of each leaf, or the shares of the groups.
    history_ : list of Split
        Which node was split when, and what it gained.
    """

    def __init__(self, max_leaves=20, *, C=1.0, min_samples_leaf=5, protected="auto"):
        self.max_leaves = max_leaves
        self.C = C
        self.min_samples_leaf = min_samples_leaf
        self.protected = protected

    def fit(self, X, y, *, sensitive_features=None):
        """Grow the tree on X (n, d), targets y (n,) and the protected value or group of each row."""
        self._check_parameters()
        if sensitive_features is None and self.C != 0:
            raise ValueError(
                f"FairTreeRegressor with C={self.C} needs the protected value or group of every row: "
                "fit(X, y, sensitive_features=s). With C=0 it is a plain tree and needs none."
            )
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        y = y.astype(np.float64)
        columns = self._read_protected(sensitive_features, len(y))  # (n, b)
        target, protected = (y - y.mean())[:, None], columns - columns.mean(axis=0)
        weights = [1.0, float(self.C)] / np.array([(part**2).sum() or np.inf for part in (target, protected)])
        leaves = self._grow(X, target, protected, weights, entropy=False)
        self.moments_ = moments(leaves, np.column_stack([y, columns]), self.n_leaves_)
        self.leaf_values_ = self.moments_.answers
        self.protected_means_ = None
        if sensitive_features is not None:
            self.protected_means_ = (
                self.moments_.means[:, 1:] if self.groups_ is not None else self.moments_.means[:, 1]
            )
        return self

    def predict(self, X):
        """The mean target in the leaf of each row, (n,)."""
        leaves = self.apply(X)
        return self.leaf_values_[leaves]

    def _answer(self, leaf):
        return f"value: [{self.leaf_values_[leaf]:.2f}]"

    def _read_protected(self, s, n):
        """Columns (n, b) whose variance is the loss on s; sets ``groups_``."""
        self.groups_ = None
        if s is None:
            return np.zeros((n, 1))
        s = as_array(check_groups(s, n).tolist())  # numbers in a column of objects are numbers
        if self.protected == "values" or (self.protected == "auto" and s.dtype.kind in "iuf"):
            values = s.astype(np.float64)
            assert_all_finite(values, input_name="sensitive_features")
            return values[:, None]
        self.groups_, codes = encode(s)
        if self.C != 0:
            warn_about_groups(self.groups_, codes)
        return np.eye(len(self.groups_))[codes]
