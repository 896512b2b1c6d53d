"""ParityLVQ: prototypes trained to a given gap between groups."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fairglvq.fairness.cells import count
from fairglvq.labels import encode, favourable_of, warn_about_groups
from fairglvq.lvq import parity
from fairglvq.lvq.directions import first_metric
from fairglvq.lvq.projected import lift, moved_to_zero, one_thread
from fairglvq.lvq.prototype_classifier import (
    PARAMETERS,
    PrototypeClassifier,
    also,
    choice,
    warn_surplus_prototypes,
)
from fairglvq.lvq.trainer import compact


class ParityLVQ(PrototypeClassifier):
    """The most accurate prototypes it finds whose decisions differ between groups by at most ``max_gap``.

    A point belongs to the prototype with the smallest |Ω(x - w)|² - handicap, so that borders between cells stay
    straight and handicaps slide them. With ``rank=2`` every decision is made in a plane: the rows of Ω predict the
    label and the group. The group is used in training only, never to decide.

    Parameters
    ----------
    n_prototypes : int, default=5
        Prototypes per class.
    max_gap : float, default=0.05
        Largest gap allowed. Training aims lower by ``margin_``, one standard error of the gap on the training set but
        at most half of ``max_gap``, so that people not seen in training keep to it within sampling error.
    measure : {"statistical_parity", "equal_opportunity", "equalized_odds"}
        The gap that is meant; more than two groups: the largest gap between two of them.
    metric : {"matrix", "diagonal", "euclidean"}, default="matrix"
        Ω: directions found by regularised logistic regression on label and group; a weight per feature, trained with
        the prototypes; or none.
    rank : int or None, default=2
        Rows of Ω, for ``metric="matrix"``; None: as many as features. As many as features or more: a weight per
        feature that gives it unit spread. With several prototypes per class and at least 50 points per column, rows
        beyond the second are columns on whose ranges the label depends.
    learning_rate : "auto"
        Steps come from the line search of L-BFGS; there is no other choice.
    max_epochs : int, default=30
        Steps, each over all points, in every one of the rounds in which the price of the gap is adjusted.
    batch_size : int or None, default=None
        Points trained on, drawn at random; None: all.
    random_state : int, Generator, RandomState or None
        Seed of the start.

    Attributes
    ----------
    prototypes_ : ndarray (P, d), class by class
        Of all points with the image that decides, the closest to the mean of the prototype's cell.
    handicaps_ : ndarray (P,)
        By how much farther (squared distance) a prototype may be and still win.
    omega_ : ndarray (rank, d)
    relevances_ : ndarray (d,)
        Diagonal of ΩᵀΩ, with sum 1.
    prototype_labels_, classes_, groups_ : ndarray
    pseudo_classes_ : ndarray (P,)
        Majority group of each prototype's cell.
    favourable_ : the class that counts as favourable
    multipliers_ : ndarray
        Price of the gap (equalized odds: of either gap), in error rate per unit of gap.
    margin_ : float
    history_ : list of Round
        The model after every round: the first is trained on the label alone.

    Warns
    -----
    ConvergenceWarning
        If in every round the gap on the training set was beyond ``max_gap`` by more than a standard error.
    """

    def __init__(
        self,
        n_prototypes=5,
        *,
        max_gap=0.05,
        measure="statistical_parity",
        metric="matrix",
        rank=2,
        learning_rate="auto",
        max_epochs=30,
        batch_size=None,
        random_state=None,
    ):
        self.n_prototypes = n_prototypes
        self.max_gap = max_gap
        self.measure = measure
        self.metric = metric
        self.rank = rank
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.random_state = random_state

    _known_parameters = PARAMETERS | {
        "learning_rate": (choice(["auto"])[0], "'auto': steps come from a line search"),
        "batch_size": also([None], PARAMETERS["batch_size"]),
    }

    def fit(self, X, y, *, sensitive_features=None, favourable=None):
        """Train on X (n, d), class labels y (n,) and the protected group of each point.

        ``favourable`` is the label that people want; with two classes the gap is the same for both, and
        None takes the last one.
        """
        self._check_parameters()
        if sensitive_features is None:
            raise ValueError("ParityLVQ needs the protected group of every point: fit(X, y, sensitive_features=s)")
        X, y = self._check_points(X, y, reset=True)
        X = compact(X)
        classes, codes = encode(y)
        self._set_classes(classes)
        groups = self._set_groups(sensitive_features, X.shape[0])
        self.favourable_ = self._find_favourable(favourable)
        rng = np.random.default_rng(self._seed())
        X, codes, groups = self._draw(X, codes, groups, rng)
        X, shift = moved_to_zero(X)
        layout = parity.Layout(
            self._prototype_codes(),
            len(self.classes_),
            self.classes_.tolist().index(self.favourable_),
            train_omega=self.metric == "diagonal",
        )
        with one_thread():
            bends = self.n_prototypes > 1
            found_metric = first_metric(X, [codes, groups], self.metric, self.rank, rng, bends=bends)
            task = parity.prepare(X, codes, groups, layout, self.measure, found_metric, rng)
            outcome = parity.solve(task, self.max_gap, self.max_epochs)
        self.margin_, steps, found = outcome
        self.history_ = [step._replace(model=step.model.moved(shift)) for step in steps]
        if found.gap > self.max_gap + task.error:
            warnings.warn(
                f"No model kept to max_gap={self.max_gap:g} on the training set; the smallest gap was {found.gap:.3f}. "
                "Raise max_epochs, n_prototypes or max_gap.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._set_model(X, groups, found)
        self.prototypes_ += shift
        return self

    def decision_function(self, X):
        """How much closer a class is than its closest rival, handicaps included: squared distances in Ω's units.

        Two classes: one score per point, above 0 for ``classes_[1]``. More: (n, K).
        """
        return super().decision_function(X)

    def project(self, X):
        """Ωx of every point, (n, rank): all that decisions depend on."""
        return self._points(X) @ self.omega_.T

    def _comparable(self, X):
        return self._squared_distances(X) - self.handicaps_

    @staticmethod
    def _lead(far, near):
        return far - near

    # -- training ---------------------------------------------------------------------------------------------------

    def _set_groups(self, s, n):
        codes = super()._set_groups(s, n)
        warn_about_groups(np.asarray(self.groups_), codes)
        return codes

    def _draw(self, X, codes, groups, rng):
        """The points to train on, with a warning where they are fewer than prototypes."""
        warn_surplus_prototypes(X, codes, self.classes_, self.n_prototypes)
        if self.batch_size is None or self.batch_size >= len(codes):
            return X, codes, groups
        some = np.sort(rng.choice(len(codes), self.batch_size, replace=False))
        if any(len(np.unique(part[some])) <= part.max() for part in (codes, groups)):
            raise ValueError(f"batch_size={self.batch_size} leaves a class or group without any point: raise it")
        return X[some], codes[some], groups[some]

    def _find_favourable(self, favourable):
        return self.classes_.tolist()[favourable_of(self.classes_, favourable)]

    def _set_model(self, X, groups, found: parity.Round) -> None:
        omega = found.model.omega
        model = found.model._replace(omega=np.diag(omega) if omega.ndim == 1 else omega)
        self._set_metric(model.omega)
        self.handicaps_ = model.handicaps
        self.multipliers_ = found.prices.multipliers
        cells = model.cells(model.project(X))
        self.prototypes_ = lift(X, cells, self.omega_, model.V)
        votes = count((len(model.V), groups.max() + 1), cells, groups)
        self.pseudo_classes_ = np.asarray(self.groups_)[votes.argmax(axis=1)]
