"""What trees for labels and trees for numbers share: checks, growing, and the way to a leaf."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from fairglvq.datasets.base import Table
from fairglvq.datasets.split import Scaling
from fairglvq.lvq.prototype_classifier import PARAMETERS as PROTOTYPES
from fairglvq.lvq.prototype_classifier import check_parameters, choice, number
from fairglvq.lvq.trainer import compact
from fairglvq.trees.binning import binned
from fairglvq.trees.growing import grow
from fairglvq.trees.kernels import Aim
from fairglvq.trees.rules import rules

PARAMETERS = {
    "max_leaves": PROTOTYPES["n_prototypes"],
    "min_samples_leaf": PROTOTYPES["n_prototypes"],
    "max_gap": PROTOTYPES["max_gap"],
    "C": number("a finite number"),
    "criterion": choice(["entropy", "gini"]),
    "protected": choice(["auto", "values", "groups"]),
    "decide": PROTOTYPES["decide"],
}


class TreeEstimator(BaseEstimator):
    """A fitted tree: ``tree_`` leads every row to one of ``n_leaves_`` leaves, numbered from left to right."""

    def apply(self, X):
        """The leaf of each row, (n,)."""
        check_is_fitted(self, "tree_")
        return self.tree_.apply(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def runner_up(self, X):
        """The leaf that each row would be in if the split above its own were undone for it, (n,): a leaf beside it."""
        check_is_fitted(self, "tree_")
        return self.tree_.runner_up(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def export_text(self, *, feature_names=None, decimals=2):
        """The tree as text, as scikit-learn's export_text writes it."""
        check_is_fitted(self, "tree_")
        if feature_names is None:
            default = [f"feature_{f}" for f in range(self.n_features_in_)]
            feature_names = getattr(self, "feature_names_in_", default)
        if len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"{self.n_features_in_} feature_names are needed, one per feature; got {len(feature_names)}"
            )
        return self.tree_.text(feature_names, self._answer, decimals)

    def rules(self, data: Table, scaling: Scaling | None = None) -> list[str]:
        """A phrase per leaf in the data set's own columns and units: "sex male and capital-gain over 5,095".

        ``scaling`` is the one that made the features the tree was trained on from ``data.X``; None: they are the same.
        """
        check_is_fitted(self, "tree_")
        if data.X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"the tree was grown on {self.n_features_in_} features, but {data.name} has {data.X.shape[1]}: "
                "give the data set it was grown on"
            )
        return rules(self.tree_, data, scaling or Scaling.identity(self.n_features_in_))

    def _answer(self, leaf: int) -> str:
        raise NotImplementedError

    def _check_parameters(self):
        check_parameters(self.get_params(deep=False), PARAMETERS)

    def _grow(self, X, target, protected, weights, entropy):
        """Grow on columns that describe target (n, a) and protected value (n, b); returns the leaf of each row."""
        statistics = np.column_stack([np.ones(len(target)), target, protected])
        width = 1 + target.shape[1]
        aim = Aim(
            np.array([width, width + protected.shape[1]]), np.array(weights, float), entropy, int(self.min_samples_leaf)
        )
        self.tree_, self.history_ = grow(binned(compact(X)), statistics, aim, self.max_leaves)
        self.n_leaves_ = len(self.tree_.leaves)
        return self.tree_.apply(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
