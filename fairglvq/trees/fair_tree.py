"""FairTree: a decision tree whose leaves predict the class and, weighted by C, do not predict the group."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from fairglvq.fairness.cells import count, majority
from fairglvq.fairness.deciding import decide_cells
from fairglvq.labels import encode, favourable_of, warn_about_groups
from fairglvq.lvq.prototype_classifier import check_groups, check_labels
from fairglvq.trees.estimator import TreeEstimator


class FairTree(ClassifierMixin, TreeEstimator):
    """Decision tree that trades accuracy for fairness between groups.

    The partition model of eq. (4) with leaves as cells: it minimises the loss of the best answers on y less C times the
    loss of the best answers on the group s. Each split maximises ::

        gain(y) - C gain(s)

    the fall of entropy (or of Gini impurity) in the class less C times that in the group, over the rows of a leaf.
    Leaves are split best first, until there are ``max_leaves`` or no split gains anything.

    With C = 1 and two groups the criterion is IGC - IGS of Kamiran, Calders & Pechenizkiy (*Discrimination aware
    decision tree learning*, 2010), with C = -1 their IGC + IGS, which makes leaves of one group each: a gap can then be
    closed by other answers, ``decide="fair"``, in place of their relabelling. Here there may be any number of groups
    and classes, C weighs the two, the tree grows best first, and the answers are optimal for their gap (they relabel
    greedily).

    What C is good for depends on how leaves answer. With majority answers C > 0 lowers the gap slowly: it hides the
    group from the leaves, but a majority can still fall to one side. With ``decide="fair"`` C < 0 was better than C = 0
    and C > 0 on Adult and COMPAS, as it was for Kamiran et al.; on German Credit and XOR it was not. Only where leaves
    separate the groups can their answers make up for it: if the group or a proxy for it is among the features, such a
    tree decides by group; leave it out where that is not allowed. Leaves that are pure are not split further, so
    where classes part cleanly (Local) few answers are left to choose from, and the fair ones are far from the limit.

    Parameters
    ----------
    max_leaves : int, default=20
    C : float, default=1.0
        Strength of the fairness term; 0 is a plain tree. Other than 0, ``fit`` needs ``sensitive_features``.
    criterion : {"entropy", "gini"}, default="entropy"
        The loss: log loss or squared error of the shares in a leaf.
    min_samples_leaf : int, default=5
    decide : {"majority", "fair"}, default="majority"
        A leaf answers with its most frequent class; or all leaves together answer as accurately as their counts allow
        with a gap in favourable decisions of at most ``max_gap`` on the training set.
    max_gap : float, default=0.05
        The gap allowed by ``decide="fair"``.

    Attributes
    ----------
    classes_, groups_ : ndarray
        ``groups_`` is None without ``sensitive_features``.
    tree_ : Tree
    n_leaves_ : int
    counts_ : ndarray (n_leaves, n_classes, n_groups)
        Training rows in each leaf.
    leaf_labels_ : ndarray (n_leaves,)
        What each leaf answers.
    pseudo_classes_ : ndarray (n_leaves,) or None
        Majority group of each leaf.
    history_ : list of Split
        Which node was split when, and what it gained.
    """

    def __init__(
        self, max_leaves=20, *, C=1.0, criterion="entropy", min_samples_leaf=5, decide="majority", max_gap=0.05
    ):
        self.max_leaves = max_leaves
        self.C = C
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.decide = decide
        self.max_gap = max_gap

    def fit(self, X, y, *, sensitive_features=None, favourable=None):
        """Grow the tree on X (n, d), class labels y (n,) and the protected group of each row.

        ``favourable`` is the label that people want, for ``decide="fair"``; None takes the last one of two classes.
        """
        self._check_parameters()
        self._need_groups(sensitive_features)
        X = validate_data(self, X, None if y is None else "no_validation", accept_sparse="csr", dtype=np.float64)
        y = check_labels(y)
        check_consistent_length(X, y)
        self.classes_, codes = encode(y)
        if len(self.classes_) < 2:
            raise ValueError(f"Two classes or more are needed to tell apart; there is only 1 class: {self.classes_}")
        self.groups_, groups = self._read_groups(sensitive_features, len(y))
        K, G = len(self.classes_), 1 if self.groups_ is None else len(self.groups_)
        indicators = np.eye(K)[codes], np.eye(G)[groups]
        leaves = self._grow(X, *indicators, (1 / len(y), self.C / len(y)), self.criterion == "entropy")
        self.counts_ = count((self.n_leaves_, K, G), leaves, codes, groups)
        self.leaf_labels_ = self.classes_[self._answers(favourable)]
        self.pseudo_classes_ = None if self.groups_ is None else self.groups_[self.counts_.sum(axis=1).argmax(axis=1)]
        return self

    @property
    def cell_labels_(self):
        """What each leaf answers, under the name that all partition models share."""
        return self.leaf_labels_

    def predict(self, X):
        """What the leaf of each row answers, (n,)."""
        leaves = self.apply(X)
        return self.leaf_labels_[leaves]

    def predict_proba(self, X):
        """Shares of the classes in the leaf of each row, (n, K); ``decide="fair"`` changes answers, not shares."""
        leaves = self.apply(X)
        shares = self.counts_.sum(axis=2)
        return (shares / shares.sum(axis=1, keepdims=True))[leaves]

    def _answers(self, favourable):
        if self.decide == "majority":
            return majority(self.counts_)
        wanted = favourable_of(self.classes_, favourable)
        return decide_cells(self.counts_, max_gap=self.max_gap, favourable=wanted).answers

    def _answer(self, leaf):
        return f"class: {self.leaf_labels_[leaf]}"

    def _need_groups(self, s):
        if s is None and (self.C != 0 or self.decide == "fair"):
            raise ValueError(
                f"FairTree with C={self.C} and decide={self.decide!r} needs the protected group of every row: "
                "fit(X, y, sensitive_features=s). With C=0 and decide='majority' it is a plain tree and needs none."
            )

    def _read_groups(self, s, n):
        if s is None:
            return None, np.zeros(n, np.intp)
        groups, codes = encode(check_groups(s, n))
        if self.C != 0 or self.decide == "fair":
            warn_about_groups(groups, codes)
        return groups, codes
