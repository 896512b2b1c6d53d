"""What all prototype classifiers share: parameters and points are checked, the closest prototype decides."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fairglvq.fairness.deciding import DECIDE
from fairglvq.labels import as_array, as_column, encode, positions
from fairglvq.lvq.activations import ACTIVATIONS
from fairglvq.lvq.initialisers import INITIALISERS
from fairglvq.lvq.trainer import as_rows, dense, dense_rows, of_columns, squared_distances

# Products of squared distances between larger values would come near the limits of float64.
LARGEST = 1e30
SMALLEST = 1 / LARGEST  # likewise of smaller ones

Allowed = tuple[Callable[[Any], bool], str]
"""What a parameter may be, as a test and in words."""


def choice(names: Iterable[str]) -> Allowed:
    """One of these names."""
    known = tuple(names)
    return lambda v: isinstance(v, str) and v in known, f"one of {', '.join(map(repr, known))}"


def number(words: str, test: Callable[[Any], bool] = lambda v: True, kind: Any = Real) -> Allowed:
    """A finite number of this kind that passes a test."""
    return lambda v: isinstance(v, kind) and not isinstance(v, bool) and math.isfinite(v) and test(v), words


def whole(least: int) -> Allowed:
    """A whole number of at least so much."""
    return number(f"a whole number of at least {least}", lambda v: v >= least, Integral)


def also(values: Sequence[str | None], allowed: Allowed) -> Allowed:
    """One of these values, or what is ``allowed``."""
    test, words = allowed
    extended = f"{', '.join(map(repr, values))} or {words}"
    return lambda v: v in values if v is None or isinstance(v, str) else test(v), extended


_SEEDS = (np.random.Generator, np.random.RandomState, np.random.SeedSequence, np.random.BitGenerator)

PARAMETERS: dict[str, Allowed] = {
    "n_prototypes": whole(1),
    "learning_rate": also(["auto"], number("a number above 0", lambda v: v > 0)),
    "max_epochs": whole(0),
    "batch_size": whole(1),
    "activation": choice(ACTIVATIONS),
    "beta": number("a number above 0", lambda v: v > 0),
    "init": (lambda v: not isinstance(v, str) or v in INITIALISERS, f"an array or {choice(INITIALISERS)[1]}"),
    "step": choice(["algorithm", "published"]),
    "shuffle": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    "random_state": (
        lambda v: v is None or isinstance(v, _SEEDS) or whole(0)[0](v),
        "None, a whole number of at least 0, a Generator or a RandomState",
    ),
    "record_every": also(["auto", None], whole(1)),
    "metric": choice(["euclidean", "diagonal", "matrix"]),
    "rank": also([None], whole(1)),
    "tol": number("a number of at least 0", lambda v: v >= 0),
    "n_iter_no_change": whole(1),
    "max_gap": number("a number from 0 to 1", lambda v: 0 <= v <= 1),
    "measure": choice(["statistical_parity", "equal_opportunity", "equalized_odds"]),
    "decide": choice(DECIDE),
    "C": number("a number of at least 0", lambda v: v >= 0),
    "alpha": number("a number above 1", lambda v: v > 1),
}


def check_parameters(values: Mapping[str, Any], known=PARAMETERS) -> None:
    """Raise a ValueError that names the first parameter which is not what it may be."""
    for name, value in values.items():
        test, words = known.get(name, (None, ""))
        if test and not test(value):
            raise ValueError(f"{name} must be {words}; got {value!r}")


BLOCK = 16384  # points decided about at a time: distances of all of them to all prototypes may not fit into memory


class PrototypeClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Decides by the closest of ``prototypes_`` (P, d), which stand class by class.

    Distances are |Ω(x - w)|² where there is an ``omega_`` (r, d), else Euclidean.
    """

    _decided_labels: np.ndarray | None = None  # (P,) answers of cells, where they are not those of the prototypes

    def predict(self, X):
        """The class of the nearest prototype, or what its cell was decided to answer."""
        cells = self.apply(X)
        return self.cell_labels_[cells]

    def apply(self, X):
        """The cell of each point, (n,): which of ``prototypes_`` decides about it."""
        X = self._points(X)
        nearest = [self._comparable(X[a : a + BLOCK]).argmin(axis=1) for a in range(0, X.shape[0], BLOCK)]
        return np.concatenate(nearest)

    def runner_up(self, X):
        """The cell that each point would be in without the prototype that decides, (n,)."""
        X, second = self._points(X), []
        for a in range(0, X.shape[0], BLOCK):
            D = self._comparable(X[a : a + BLOCK])
            np.put_along_axis(D, D.argmin(axis=1)[:, None], np.inf, axis=1)
            second.append(D.argmin(axis=1))
        return np.concatenate(second)

    @property
    def cell_labels_(self):
        """What each cell answers: the class of its prototype, unless it was decided otherwise after training."""
        return self.prototype_labels_ if self._decided_labels is None else self._decided_labels

    def decision_function(self, X):
        """How clearly a class wins: (d_other - d_class) / (d_other + d_class), in [-1, 1].

        Two classes: one score per point, above 0 for ``classes_[1]``. More: (n, K).
        """
        D, K = self._comparable(self._points(X)), len(self.classes_)
        codes = positions(self.cell_labels_, self.classes_, "class")
        nearest = np.stack([D[:, codes == c].min(axis=1, initial=np.inf) for c in range(K)], axis=1)  # (n, K)
        if K == 2:
            return self._lead(nearest[:, 0], nearest[:, 1])
        others = np.stack([np.delete(nearest, c, axis=1).min(axis=1) for c in range(K)], axis=1)
        return self._lead(others, nearest)

    def transform(self, X):
        """Distance to every prototype, (n, P)."""
        return np.sqrt(self._squared_distances(self._points(X)))

    # -- checks and labels ------------------------------------------------------------------------------------------

    _known_parameters = PARAMETERS

    def _check_parameters(self):
        names = _names(type(self))  # type: ignore[arg-type]  # a class is hashable
        check_parameters({name: getattr(self, name) for name in names}, self._known_parameters)

    def _check_points(self, X, y, reset):
        plain = not reset and self._is_plain(X)
        if not plain:
            # Labels are checked here: validate_data would refuse unknown ones and turn pandas' Int64 into floats.
            unchecked = None if y is None else "no_validation"
            X = validate_data(self, X, unchecked, accept_sparse="csr", dtype=np.float64, reset=reset)
        y = check_labels(y, new=reset)
        check_consistent_length(X, y)
        if not plain:
            refuse_large_values(X, "X")
        if reset and 0 < (of_columns(X, "max") - of_columns(X, "min")).max() < SMALLEST:
            raise ValueError(f"No column of X spans {SMALLEST:g}, too little to measure distances: scale features")
        return X, y

    def _is_plain(self, X) -> bool:
        """Whether ``validate_data``, which takes a tenth of a stream's time, would find nothing to change in an array.

        Arrays with any problem, such as NaN, are left to the slow way and its messages.
        """
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.shape[1:] == (self.n_features_in_,)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")  # their absence calls for a warning
            and bool(X.max() <= LARGEST and X.min() >= -LARGEST)
        )

    def _set_classes(self, classes):
        if len(classes) < 2:
            raise ValueError(f"Two classes or more are needed to tell apart; there is only 1 class: {classes.tolist()}")
        self.classes_ = classes
        self.prototype_labels_ = np.repeat(classes, self.n_prototypes)

    def _set_groups(self, s, n):
        """Learn ``groups_`` from s; returns group codes (n,) or None."""
        self.groups_ = None
        if s is None:
            return None
        self.groups_, codes = encode(check_groups(s, n))
        return codes

    def _set_metric(self, omega):
        """Keep Ω (r, d), None for the Euclidean distance, and how much each feature counts in it."""
        self.omega_, self.relevances_ = omega, None
        if omega is not None:
            weights = (omega**2).sum(axis=0)
            self.relevances_ = weights / (weights.sum() or 1.0)

    def _prototype_codes(self):
        K = len(self.classes_)
        return np.repeat(np.arange(K), len(self.prototype_labels_) // K)

    def _seed(self):
        """A seed for default_rng from whatever scikit-learn accepts as random_state."""
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        return self.random_state

    def _points(self, X):
        """Points to decide about, checked."""
        check_is_fitted(self, "prototypes_")
        # float32 is kept here and widened block by block.
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        refuse_large_values(X, "X")
        return X

    def _squared_distances(self, X):
        omega = getattr(self, "omega_", None)
        if omega is None:
            return squared_distances(as_rows(X), self.prototypes_)
        return squared_distances(dense_rows(np.asarray(X @ omega.T)), self.prototypes_ @ omega.T)

    def _comparable(self, X):
        """What is smallest for the prototype that decides, (n, P)."""
        return self._squared_distances(X)

    @staticmethod
    def _lead(far, near):
        """How clearly ``near`` wins: (far - near) / (far + near), 0 where both are 0; -1 or 1 where one is infinite."""
        both = far + near
        one_sided = np.isinf(far).astype(float) - np.isinf(near)  # 0 where both are finite
        return np.divide(far - near, both, out=one_sided, where=(both > 0) & np.isfinite(both))

    @property
    def _n_features_out(self):
        return len(self.prototypes_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@cache
def _names(estimator: type[BaseEstimator]) -> list[str]:
    """The names of its parameters; scikit-learn takes a tenth of a millisecond to find them each time."""
    return estimator._get_param_names()


def check_labels(y, new: bool = True) -> np.ndarray:
    """Class labels (n,); numbers that are no labels but measurements are an error, where labels may be ``new``."""
    y = as_array(y)
    if y.ndim != 1:
        y = column_or_1d(y, warn=True)
    y = as_column(y, "y")
    if new and y.dtype.kind in "biuf":
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return y


def check_groups(s, n: int) -> np.ndarray:
    """The protected group or value of each of n rows, (n,)."""
    s = as_column(s, "sensitive_features")
    check_consistent_length(s, np.empty(n))
    return s


def refuse_large_values(X, name):
    """Raise a ValueError where distances would overflow."""
    values = X.data if hasattr(X, "indptr") else X
    if values.size and max(values.max(), -values.min()) > LARGEST:
        raise ValueError(f"{name} contains values beyond {LARGEST:g}, too large to measure distances: scale features")


def warn_surplus_prototypes(X, codes, classes, k):
    """Warn about classes with fewer distinct points than the k prototypes they get."""
    short = {}
    for c, name in enumerate(classes.tolist()):
        distinct = _count_distinct(X, np.flatnonzero(codes == c), k)
        if distinct < k:
            short[name] = distinct
    if short:
        found = ", ".join(f"{name!r}: {distinct}" for name, distinct in short.items())
        warnings.warn(
            f"Fewer distinct points than n_prototypes={k} in a class ({found}): surplus prototypes coincide or have "
            f"empty cells. Lower n_prototypes to at most {min(short.values())}.",
            UserWarning,
            stacklevel=4,
        )


def _count_distinct(X, members, enough) -> int:
    """How many distinct rows of X there are among the members; stops once there are enough."""
    seen: set[bytes] = set()
    for start in range(0, members.size, 256):
        rows = dense(X[members[start : start + 256]])
        seen.update(row.tobytes() for row in rows + 0.0)  # -0.0 becomes 0.0
        if len(seen) >= enough:
            break
    return len(seen)
