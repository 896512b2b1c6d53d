"""FairlyDecided: the cells of any partition model, with answers that keep to a gap."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from fairglvq.fairness.deciding import decide_model
from fairglvq.labels import as_column, check_same_length


class FairlyDecided(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A partition model whose cells are decided anew after training.

    The model draws the cells. Then all cells together are given the answers that are most accurate on the training set
    with a gap in favourable decisions of at most ``max_gap`` (`deciding.decide_cells`). A model that was fitted before
    can be given as ``sklearn.frozen.FrozenEstimator(model)``: its cells stay.

    Parameters
    ----------
    estimator : GLVQ, FairGLVQ, ParityLVQ, FairTree or any `PartitionModel`
    max_gap : float, default=0.05
        Largest gap allowed on the training set.

    Attributes
    ----------
    estimator_ : the fitted model
    cells_ : Cells
        Counts of the training set, and the answers.
    cell_labels_ : ndarray (n_cells,)
    classes_ : ndarray
    decision_ : Decision
        Accuracy, gap and bound on the training set.
    """

    def __init__(self, estimator, *, max_gap=0.05):
        self.estimator = estimator
        self.max_gap = max_gap

    def fit(self, X, y, *, sensitive_features=None, favourable=None):
        """Fit the model on X (n, d), y (n,) and, if it takes them, the groups; then decide its cells.

        ``favourable`` is the label that people want; None takes the last one of two classes.
        """
        if sensitive_features is None:
            raise ValueError("FairlyDecided needs the protected group of every row: fit(X, y, sensitive_features=s)")
        check_same_length(y=len(y), sensitive_features=len(as_column(sensitive_features, "sensitive_features")))
        if not hasattr(self.estimator, "runner_up"):
            raise TypeError(
                f"FairlyDecided needs a model with cells, such as GLVQ, FairGLVQ, ParityLVQ or FairTree; got "
                f"{self.estimator!r}. In a pipeline it stands around the last step, not around the pipeline."
            )
        self.estimator_ = clone(self.estimator)
        known = {"sensitive_features": sensitive_features, "favourable": favourable}
        self.estimator_.fit(X, y, **{name: v for name, v in known.items() if has_fit_parameter(self.estimator_, name)})
        self.cells_, self.decision_ = decide_model(self.estimator_, X, y, max_gap=self.max_gap, **known)
        self.classes_ = self.estimator_.classes_
        self.cell_labels_ = self.classes_[self.decision_.answers]
        return self

    def apply(self, X):
        """The cell of each row, (n,)."""
        check_is_fitted(self, "cell_labels_")
        return np.asarray(self.estimator_.apply(X))

    def runner_up(self, X):
        """The cell that each row would be in without its own, (n,)."""
        check_is_fitted(self, "cell_labels_")
        return np.asarray(self.estimator_.runner_up(X))

    def predict(self, X):
        """What the cell of each row answers, (n,)."""
        cells = self.apply(X)
        return self.cell_labels_[cells]
