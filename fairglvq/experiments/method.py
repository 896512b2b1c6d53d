"""What a method is: its words, its strength knob, and how it is trained.

``prepare`` does what does not depend on the strength, once per fold and seed: the k-means start of a sweep over C, or
one nested null-space run for every number of projections. ``fit`` trains one model. A larger strength always means more
fairness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class TrainingFold:
    """The scaled training part of one fold, and the seed of everything that happens on it."""

    X: np.ndarray  # (n, d), each feature in [0, 1]
    y: np.ndarray
    s: np.ndarray
    seed: int
    favourable: Any = None


@dataclass(frozen=True)
class Method:
    """One way to classify, more or less fairly; a subclass says how, and its defaults are what its members share.

    ``knob`` is the word for its strength (None: it has none), ``strengths`` are curated values for a sweep and
    ``parameters`` the estimator parameters that it takes. Methods of one ``family`` pursue fairness by the same means.
    Most methods decide from the features alone. One that ``uses_group_to_decide`` also needs the group of everybody it
    decides about, which other methods cannot match and which may be unlawful, so comparisons must mark it.
    """

    title: str
    explanation: str
    family: str = "none"
    knob: str | None = None
    strengths: tuple[float, ...] = ()
    parameters: frozenset[str] = frozenset()
    uses_group_to_decide: bool = False

    @property
    def has_prototypes(self) -> bool:
        """Whether decisions are made by prototypes."""
        return "n_prototypes" in self.parameters

    @property
    def whole(self) -> bool:
        """Whether strengths are whole numbers."""
        return self.knob == "projections"

    @property
    def strongest(self) -> float:
        """The largest strength that means anything."""
        return 1.0 if self.knob in ("alpha", "parity") else math.inf

    def prepare(self, fold: TrainingFold, strengths: Sequence[float], params: dict) -> Any:
        """What every strength shares; data that a method cannot be trained on are refused here, before any training."""

    def fit(self, fold: TrainingFold, prepared: Any, strength: float | None, params: dict) -> Any:
        """A trained model."""
        raise NotImplementedError

    def decide(self, model, X: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Decisions of a fitted model; only a method that uses the group to decide gets it."""
        return model.predict(X, sensitive_features=s) if self.uses_group_to_decide else model.predict(X)


@dataclass(frozen=True)
class BoundedGap(Method):
    """A method whose gap on the training data is at most 1 - parity."""

    family: str = "bounded gap"
    knob: str | None = "parity"
    strengths: tuple[float, ...] = (0.8, 0.85, 0.9, 0.95, 0.98, 1)

    @staticmethod
    def max_gap(parity: float) -> float:
        """The gap allowed; rounded, since 1 - 0.9 is not quite 0.1."""
        return round(1 - float(parity), 10)
