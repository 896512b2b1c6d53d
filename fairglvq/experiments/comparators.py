"""Models and mitigations in use elsewhere: scikit-learn, fairlearn and OxonFair.

All mitigations are for two labels only and share their base models and the bound: on the training data the gap between
the groups is at most 1 - parity. fairlearn and OxonFair take 2 s to import, so only training imports them.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fairglvq.experiments.method import Method, TrainingFold
from fairglvq.fairness.metrics import encode_groups

# Base models, by seed


def constant(seed: int):
    """The most frequent label for everybody."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="most_frequent")


def logistic_regression(seed: int):
    """The usual linear model."""
    from sklearn.linear_model import LogisticRegression

    # On Adult 5 steps instead of the default solver's 68; a reduction trains some 30 of these per fold.
    return LogisticRegression(solver="newton-cholesky", max_iter=200)


def gradient_boosting(seed: int):
    """Gradient boosting of small trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # A third of the time of the default 100 trees of 31 leaves, and on one fold of Adult 0.1 points less accurate: a
    # reduction trains some 20 of these per fold.
    return HistGradientBoostingClassifier(
        learning_rate=0.3, max_iter=30, max_leaf_nodes=15, early_stopping=False, random_state=seed
    )


@dataclass(frozen=True)
class Plain(Method):
    """A base model as it is."""

    base: Callable[[int], Any] = logistic_regression

    def fit(self, fold, prepared, strength, params):
        """The base model on this fold."""
        return self.base(fold.seed).fit(fold.X, fold.y)


# Mitigations


class _ZeroOne(NamedTuple):
    """A fairlearn model, whose labels are 0 and 1 and whose decisions are drawn, with our labels and a fixed seed.

    1 stands for the favourable label, as fairlearn counts selections.
    """

    model: Any
    labels: np.ndarray  # unfavourable, favourable
    seed: int

    def predict(self, X: np.ndarray, **groups) -> np.ndarray:
        return self.labels[self.model.predict(X, random_state=self.seed, **groups).astype(int)]


def _fitted(model, fold: TrainingFold) -> _ZeroOne:
    """A fairlearn model trained on this fold."""
    _silence_fairlearn()
    labels = two_labels(fold)
    model.fit(fold.X, (fold.y == labels[1]).astype(int), sensitive_features=fold.s)
    return _ZeroOne(model, labels, fold.seed)


def two_labels(fold: TrainingFold) -> np.ndarray:
    """Unfavourable and favourable label; more than two are an error."""
    labels = np.unique(fold.y)
    if len(labels) != 2 or fold.favourable not in labels:
        found = ", ".join(map(repr, labels.tolist()))
        raise ValueError(
            f"this method needs two labels, the favourable one among them; these data have {len(labels)} ({found})"
        )
    return labels if labels[1] == fold.favourable else labels[::-1]


def _silence_fairlearn() -> None:
    """Keep fairlearn's use of outdated pandas from being reported as ours.

    A filter for that package alone, for good: ``warnings.catch_warnings`` belongs to the process, so two folds on two
    threads would undo each other's.
    """
    for category in (DeprecationWarning, FutureWarning):
        warnings.filterwarnings("ignore", category=category, module=r"fairlearn\.")


@dataclass(frozen=True)
class Mitigation(Method):
    """A base model whose gap on the training data is bounded by 1 - parity."""

    knob: str | None = "parity"
    strengths: tuple[float, ...] = (0.8, 0.85, 0.9, 0.95, 1)
    base: Callable[[int], Any] = logistic_regression

    def prepare(self, fold, strengths, params):
        """Nothing; raises an error for data that cannot be trained on."""
        two_labels(fold)


@dataclass(frozen=True)
class Reduction(Mitigation):
    """fairlearn's ExponentiatedGradient."""

    family: str = "reduction"
    rounds: int = 50

    def fit(self, fold, prepared, strength, params):
        """A lottery between base models."""
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient

        # fairlearn bounds how far each group's rate may be from the overall one. With two groups of shares p and 1 - p
        # these are (1 - p) and p times the gap between them; with more, half the gap is always safe.
        shares = np.unique(encode_groups(fold.s)[1], return_counts=True)[1] / len(fold.s)
        bound = (1 - strength) * (shares.max() if len(shares) == 2 else 0.5)
        parity = DemographicParity(difference_bound=bound)
        return _fitted(ExponentiatedGradient(self.base(fold.seed), parity, max_iter=self.rounds), fold)


@dataclass(frozen=True)
class Thresholds(Mitigation):
    """fairlearn's ThresholdOptimizer; the scores are the same for every strength."""

    family: str = "thresholds"
    uses_group_to_decide: bool = True

    def prepare(self, fold, strengths, params):
        """The base model."""
        favourable = fold.y == two_labels(fold)[1]
        self._refuse(fold, favourable)
        return self.base(fold.seed).fit(fold.X, favourable.astype(int))

    def _refuse(self, fold, favourable):
        for group in encode_groups(fold.s)[0]:
            if len(np.unique(favourable[fold.s == group])) < 2:
                raise ValueError(
                    f"this method chooses a threshold per group, but everybody of group {group} has the same label; "
                    "choose another method for these data"
                )

    def fit(self, fold, scorer, strength, params):
        """A threshold, or a lottery between two, for every group."""
        from fairlearn.postprocessing import ThresholdOptimizer

        model = ThresholdOptimizer(
            estimator=scorer, constraints="demographic_parity", predict_method="predict_proba", prefit=True,
            tol=1 - float(strength),
        )  # fmt: skip
        return _fitted(model, fold)


class _OxonFair(NamedTuple):
    """An OxonFair model, which takes points and groups in one dictionary, with our labels."""

    model: Any
    labels: np.ndarray  # unfavourable, favourable

    def predict(self, X: np.ndarray, *, sensitive_features: np.ndarray) -> np.ndarray:
        unused = np.zeros(len(X))
        decided = self.model.predict({"data": X, "target": unused, "groups": sensitive_features})
        return self.labels[np.asarray(decided)]


MOST_GROUPS = 4
"""OxonFair tries combinations of 30 thresholds per group: with 3,000 people four groups took 9 s
and 0.7 GB, five more than 5 GB."""


@dataclass(frozen=True)
class OxonFair(Thresholds):
    """OxonFair's thresholds, without a lottery; a gap of exactly 0 often leaves it only one decision for everybody."""

    strengths: tuple[float, ...] = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99)

    def _refuse(self, fold, favourable):
        n_groups = len(encode_groups(fold.s)[0])
        if n_groups > MOST_GROUPS:
            raise ValueError(
                f"this method tries all combinations of thresholds, too many for {n_groups} groups: {MOST_GROUPS} at "
                "most; choose another method for these data"
            )

    def fit(self, fold, scorer, strength, params):
        """A threshold for every group."""
        from oxonfair import FairPredictor, group_metrics

        labels = two_labels(fold)
        people = {"data": fold.X, "target": (fold.y == labels[1]).astype(int), "groups": fold.s}
        largest_gap = group_metrics.pos_pred_rate.max_diff
        model = FairPredictor(scorer, people).fit(group_metrics.accuracy, largest_gap, 1 - float(strength))
        return _OxonFair(model, labels)
