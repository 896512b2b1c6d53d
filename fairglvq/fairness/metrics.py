"""Assess decisions: rates per group, their gaps, and the consistency of single decisions. Arrays in, never models.

Every group metric is computed from one table of counts, ``counts[g, t, d]``: how many people of group g have true label
t and decision d, where 1 stands for the favourable outcome and 0 for any other. `count_table` makes it from rows;
`rates_from_counts` and `gaps_from_counts` take it directly.

A ``favourable`` outcome that does not occur is an error that lists the outcomes there are, since a typing error would
otherwise be reported as "no gap". Where an outcome exists but nobody has or gets it in the rows given, ``classes``
names all outcomes. Labels are compared as Python compares them: True is 1 and 1.0, but "1" is not 1.

The definitions are fairlearn's, and the tests compare with it, but it does not compute the numbers: its `MetricFrame`
takes 20 to 100 ms a call where the live picture has a few in all, and importing it costs 2 s. We differ in two edge
cases, where fairlearn returns a rate of 0 or a gap of 0:

- A rate nobody can contribute to is undefined (the true-positive rate of a group without a favourable true label): NaN,
  and left out of the gap.
- With fewer than two groups left to compare, a gap is NaN. So it is with one group only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sized
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.fairness import individual
from fairglvq.labels import NUMBERS, as_array, as_column, as_nonempty_column, check_same_length, count_missing, encode

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array, csr_matrix

__all__ = [
    "Gaps",
    "Rates",
    "consistency",
    "count_table",
    "disparate_impact",
    "encode_groups",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "gaps_from_counts",
    "group_rates",
    "rates_from_counts",
    "statistical_parity_difference",
]

Floats = np.float64 | NDArray[np.float64]


class Rates(NamedTuple):
    """Rates per group, each of shape (..., n_groups); NaN where nobody can contribute.

    Accuracy is not among them: with three or more classes a table of favourable or not does not hold it.
    """

    selection_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]
    false_positive_rate: NDArray[np.float64]


class Gaps(NamedTuple):
    """Gaps between groups, one number per count table; NaN with fewer than two groups to compare."""

    statistical_parity: Floats
    equal_opportunity: Floats
    equalized_odds: Floats
    disparate_impact: Floats


def rates_from_counts(counts: ArrayLike) -> Rates:
    """Rates per group from a table of counts.

    With the decision y^ and the true label y, 1 for favourable::

        selection rate       P(y^ = 1 | g)
        true-positive rate   P(y^ = 1 | g, y = 1)
        false-positive rate  P(y^ = 1 | g, y = 0)

    Parameters
    ----------
    counts : array of shape (..., n_groups, 2, 2)
        ``counts[..., g, t, d]``: people of group g with true label t and decision d. Leading axes are kept.
    """
    table = np.asarray(counts)
    if table.ndim < 3 or table.shape[-2:] != (2, 2) or table.shape[-3] == 0:
        raise ValueError(f"counts must have the shape (..., n_groups, 2, 2) with a group or more, got {table.shape}.")
    selected = table[..., 1]  # (..., n_groups, 2) by true label
    n = table.sum(axis=-1)  # (..., n_groups, 2) by true label
    return Rates(
        selection_rate=ratio(selected.sum(axis=-1), n.sum(axis=-1)),
        true_positive_rate=ratio(selected[..., 1], n[..., 1]),
        false_positive_rate=ratio(selected[..., 0], n[..., 0]),
    )


def gaps_from_counts(counts: ArrayLike) -> Gaps:
    """All gaps between groups from a table of counts.

    With SR, TPR and FPR the rates of `rates_from_counts`, over all groups g that have the rate::

        statistical parity  max SR_g - min SR_g
        equal opportunity   max TPR_g - min TPR_g
        equalized odds      the larger of equal opportunity and max FPR_g - min FPR_g
        disparate impact    min SR_g / max SR_g, NaN if nobody is selected

    Parameters
    ----------
    counts : array of shape (..., n_groups, 2, 2)
        ``counts[..., g, t, d]``: people of group g with true label t and decision d.

    Returns
    -------
    Gaps
        Each a float, or an array of the leading shape of `counts`.
    """
    rates = rates_from_counts(counts)
    low, high = _extremes(rates.selection_rate)
    equal_opportunity = _gap(rates.true_positive_rate)
    return Gaps(
        statistical_parity=high - low,
        equal_opportunity=equal_opportunity,
        # np.maximum keeps a NaN: with one half unknown, so is the worst case.
        equalized_odds=np.maximum(equal_opportunity, _gap(rates.false_positive_rate)),
        disparate_impact=ratio(low, high)[()],
    )


def count_table(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    favourable: object,
    classes: Iterable | None = None,
) -> tuple[np.ndarray, NDArray[np.int64]]:
    """Count people by group, true label and decision.

    Returns
    -------
    groups : array of shape (n_groups,)
        The distinct values of `sensitive_features`, sorted.
    counts : array of shape (n_groups, 2, 2)
        ``counts[g, t, d]``: people of group g with true label t and decision d, 1 for favourable.
    """
    groups, _, counts = _tabulate(sensitive_features, favourable, classes, y_true=y_true, y_pred=y_pred)
    return groups, counts


def statistical_parity_difference(
    y_pred: ArrayLike, *, sensitive_features: ArrayLike, favourable: object, classes: Iterable | None = None
) -> float:
    """Largest gap in the share of favourable decisions: ``max P(y^ = favourable | g) - min P(y^ = favourable | g)``.

    Parameters
    ----------
    y_pred, sensitive_features : array-like of shape (n,)
        Decision and group of every person.
    favourable : label
        The outcome that people want. If it is among neither `y_pred` nor `classes`, a ValueError lists what there is.
        One case remains where decisions alone do not show a typing error: everybody gets one and the same outcome of
        the same kind (text or number) as `favourable`. As scikit-learn does with ``pos_label``, this is accepted, and
        the gap is 0: a constant classifier treats all groups alike. Give `classes` to have it checked there, too.
    classes : iterable of labels, optional
        All outcomes there are, those that nobody gets included. A decision that is not among them is an error.
    """
    _, _, counts = _tabulate(sensitive_features, favourable, classes, y_pred=y_pred)
    return float(gaps_from_counts(counts).statistical_parity)


def disparate_impact(
    y_pred: ArrayLike, *, sensitive_features: ArrayLike, favourable: object, classes: Iterable | None = None
) -> float:
    """Ratio of the smallest to the largest share of favourable decisions, 1 at parity; NaN if nobody gets one.

    The parameters are those of `statistical_parity_difference`.
    """
    _, _, counts = _tabulate(sensitive_features, favourable, classes, y_pred=y_pred)
    return float(gaps_from_counts(counts).disparate_impact)


def equal_opportunity_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    favourable: object,
    classes: Iterable | None = None,
) -> float:
    """Largest gap in the true-positive rate ``P(y^ = favourable | g, y = favourable)``."""
    _, _, counts = _tabulate(sensitive_features, favourable, classes, y_true=y_true, y_pred=y_pred)
    return float(gaps_from_counts(counts).equal_opportunity)


def equalized_odds_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    favourable: object,
    classes: Iterable | None = None,
) -> float:
    """Larger one of the largest gaps in true-positive and in false-positive rate; NaN if either gap is."""
    _, _, counts = _tabulate(sensitive_features, favourable, classes, y_true=y_true, y_pred=y_pred)
    return float(gaps_from_counts(counts).equalized_odds)


def group_rates(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    favourable: object,
    classes: Iterable | None = None,
) -> pd.DataFrame:
    """Rates of every group, a row each.

    Returns
    -------
    DataFrame
        Indexed by group: ``n``, ``n_favourable`` (people whose true label is favourable), ``selection_rate``,
        ``true_positive_rate``, ``false_positive_rate`` and ``accuracy`` (of the labels, also with three or more).
    """
    import pandas as pd  # 0.5 s, and the live picture needs no table

    groups, group, counts = _tabulate(sensitive_features, favourable, classes, y_true=y_true, y_pred=y_pred)
    n = counts.sum(axis=(1, 2))
    right = as_column(y_true, "y_true") == as_column(y_pred, "y_pred")
    correct = np.bincount(group[right], minlength=len(groups))
    return pd.DataFrame(
        {
            "n": n,
            "n_favourable": counts[:, 1].sum(axis=1),
            **rates_from_counts(counts)._asdict(),
            "accuracy": correct / n,
        },
        index=pd.Index(groups, name="group"),
    )


def consistency(X: ArrayLike | csr_array | csr_matrix, y_pred: ArrayLike, *, n_neighbors: int = 5) -> float:
    """Individual consistency: how often a person's neighbours get the same decision.

    ::

        1/n sum_i 1/k sum_{j in kNN(i)} [y^_i = y^_j],   i not in kNN(i)

    1 where like cases are treated alike. With two outcomes it is the yNN of Zemel et al. (2013). Neighbours are the
    closest in Euclidean distance, so scale X first. Person by person and cell by cell: `fairness.individual`.
    """
    labels = as_nonempty_column(y_pred, "y_pred")
    return float(individual.agreement(individual.neighbours(X, n_neighbors), labels).mean())


def encode_groups(sensitive_features: ArrayLike) -> tuple[np.ndarray, NDArray[np.intp]]:
    """Distinct groups, sorted, and the position of each row's group among them.

    Labels that have no order among each other (text beside numbers) stay in order of appearance.
    """
    return encode(as_nonempty_column(sensitive_features, "sensitive_features"))


def _tabulate(
    sensitive_features: ArrayLike, favourable: object, classes: Iterable | None, **labels: ArrayLike
) -> tuple[np.ndarray, NDArray[np.intp], NDArray[np.int64]]:
    """Groups, the position of each row's group among them, and counts of shape (n_groups, 2, 2).

    `labels` are the true labels and the decisions, or the decisions alone, which then also stand in for the true
    labels: the selection rate does not depend on these.
    """
    outcomes = _outcomes(favourable, classes, **labels)
    groups, group = encode_groups(sensitive_features)
    lengths = dict(zip(labels, map(len, outcomes), strict=True))
    check_same_length(**lengths, sensitive_features=len(group))
    truth, decision = outcomes[0], outcomes[-1]
    counts = np.bincount(4 * group + 2 * truth + decision, minlength=4 * len(groups))
    return groups, group, counts.reshape(-1, 2, 2)


def _outcomes(favourable: object, classes: Iterable | None, **labels: ArrayLike) -> list[NDArray[np.bool_]]:
    """Whether each label is the favourable one, per array of labels; an error if `favourable` is no outcome at all."""
    columns = [as_nonempty_column(values, name) for name, values in labels.items()]
    missing = bool(count_missing(as_array([favourable])))
    outcomes = [_equals(column, favourable) for column in columns if not missing]
    occurs = [outcome.any() for outcome in outcomes]
    if classes is None and any(occurs):
        if not all(occurs):
            _check_kinds(columns)
        return outcomes
    seen = dict.fromkeys(label for column in columns for label in column.tolist())
    if classes is None:
        if not missing and len(columns) == len(seen) == 1 and _same_kind(next(iter(seen)), favourable):
            return outcomes
        advice = "If it is an outcome that nobody has or gets here, name all outcomes in classes=[...]."
        raise ValueError(f"favourable={favourable!r} is not among the labels {_listed(seen)}. {advice}")
    known = dict.fromkeys(as_array(list(classes)).tolist())
    unknown = [label for label in seen if label not in known]
    if unknown:
        raise ValueError(f"labels {_listed(unknown)} are not among the classes {_listed(known)}.")
    if missing or not _equals(as_array(list(known)), favourable).any():
        raise ValueError(f"favourable={favourable!r} is not among the classes {_listed(known)}.")
    return outcomes


def _check_kinds(columns: list[np.ndarray]) -> None:
    """Raise a ValueError if all true labels are text and all decisions numbers, or the other way round."""
    truth, decisions = (set(column.tolist()) for column in columns)
    if not any(_same_kind(a, b) for a in truth for b in decisions):
        raise ValueError(
            f"y_true holds {_listed(truth)} and y_pred {_listed(decisions)}, so that no decision can be right: give "
            "both the same labels."
        )


def _same_kind(label: object, favourable: object) -> bool:
    """Whether both are text, both numbers or both something else."""
    return all(isinstance(label, kind) == isinstance(favourable, kind) for kind in (str, NUMBERS))


def _listed(labels: Iterable, most: int = 10) -> str:
    words = sorted(map(repr, labels))
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def ratio(part: ArrayLike, whole: ArrayLike) -> NDArray[np.float64]:
    """Divide, NaN for an empty whole."""
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=np.asarray(whole) > 0)


def _extremes(rates: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Smallest and largest rate along the last axis, NaN left out; both NaN with fewer than two rates."""
    comparable = np.sum(~np.isnan(rates), axis=-1) > 1
    low, high = np.fmin.reduce(rates, axis=-1), np.fmax.reduce(rates, axis=-1)
    return np.where(comparable, low, np.nan)[()], np.where(comparable, high, np.nan)[()]


def _gap(rates: NDArray[np.float64]) -> Floats:
    low, high = _extremes(rates)
    return high - low


def _equals(column: np.ndarray, label: object) -> NDArray[np.bool_]:
    """Whether each entry is this label; a tuple or list is compared as a whole, not entry by entry."""
    if column.dtype == object or (isinstance(label, Sized) and not isinstance(label, str)):
        return np.fromiter((_is(value, label) for value in column.tolist()), dtype=bool, count=len(column))
    return column == label


def _is(value: object, label: object) -> bool:
    return isinstance(label, Hashable) and bool(value == label)
