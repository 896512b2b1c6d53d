"""Labels of classes and groups: anything hashable but missing values, as positions among the distinct ones."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Set
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS = (bool, int, float, np.bool_, np.number)

# More groups than this, with fewer members than that in the median group, are probably a measurement, not a group.
MANY_GROUPS, SMALL_GROUP = 10, 10


def as_array(labels: Any) -> np.ndarray:
    """Labels as an array that holds them as they are.

    From a list of text and numbers NumPy would make text, from NaN among text "nan", and from tuples a table: what is
    not all text or all numbers stays objects.
    """
    if isinstance(labels, list | tuple | Set):
        labels = list(labels)
        alike = any(all(isinstance(label, kinds) for label in labels) for kinds in (str, NUMBERS))
        if not alike and all(isinstance(label, Hashable) for label in labels):
            return np.fromiter(labels, dtype=object, count=len(labels))
    return np.asarray(labels)


def as_column(labels: Any, name: str) -> np.ndarray:
    """Labels (n,), none of them missing; an array of shape (n, 1) is accepted."""
    column = as_array(labels)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ValueError(f"{name} must be one column of labels; got an array of shape {column.shape}")
    missing = count_missing(column)
    if missing:
        raise ValueError(
            f"{name} contains NaN or other missing values ({missing}): leave these rows out or give them a label of "
            "their own"
        )
    return column


def as_nonempty_column(labels: Any, name: str) -> np.ndarray:
    """Labels (n,) of one person or more, none of them missing."""
    column = as_column(labels, name)
    if len(column) == 0:
        raise ValueError(f"{name} is empty: there is nobody to assess.")
    return column


def check_same_length(**lengths: int) -> None:
    """Raise a ValueError that names the arrays and their lengths unless these are the same."""
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"Every row needs an entry in each array; lengths are {found}.")


def encode(column: np.ndarray) -> tuple[np.ndarray, NDArray[np.intp]]:
    """Distinct labels, sorted, and the position of each label among them.

    Labels that cannot be sorted (text beside numbers) stay in order of appearance.
    """
    if column.dtype != object:
        return np.unique(column, return_inverse=True)
    # np.unique would sort the objects themselves: ten times slower, and impossible for mixed ones.
    distinct = list(dict.fromkeys(column.tolist()))
    with suppress(TypeError):  # no order among them
        distinct = sorted(distinct)
    return np.fromiter(distinct, dtype=object, count=len(distinct)), _look_up(column.tolist(), distinct)


def positions(column: np.ndarray, known: np.ndarray, what: str) -> NDArray[np.intp]:
    """The position of each label among ``known``; an unknown label is an error that names it."""
    if column.dtype.kind == known.dtype.kind != "O":  # known as `encode` sorts them: no need to sort the column too
        found = np.minimum(np.searchsorted(known, column), len(known) - 1)
        if np.array_equal(known[found], column):
            return found
    distinct, codes = encode(column)
    expected = set(known.tolist())
    unknown = [label for label in distinct.tolist() if label not in expected]
    if unknown:
        raise ValueError(f"unknown {what} {unknown[:5]}; known are {known.tolist()}")
    return _look_up(distinct.tolist(), known.tolist())[codes]


def favourable_of(classes: np.ndarray, favourable: Any) -> int:
    """The position of the label that people want; None is the last of two classes, since their gap is the same."""
    known = classes.tolist()
    if favourable is None and len(known) == 2:
        return 1
    if favourable not in known:
        raise ValueError(f"favourable must be one of the classes {known}; got {favourable!r}")
    return known.index(favourable)


def warn_about_groups(groups: np.ndarray, codes: NDArray[np.intp] | None, n_prototypes: int | None = None) -> None:
    """Warn where groups cannot be compared: a single one, more than prototypes, or many with a few members each."""
    G, cure = len(groups), "Bin them into a few groups (for example with pandas.cut), or"
    if n_prototypes is None and G < 2:
        problem, cure = f"a single group, {groups.tolist()}, so there is no gap to bound", "Give two groups or more."
    elif n_prototypes is not None and max(n_prototypes, 2) < G:
        problem = f"{G} distinct values, more than the {n_prototypes} prototypes"
        problem, cure = f"{problem}, so that not every group can be a pseudo-class", f"{cure} raise n_prototypes."
    elif codes is not None and G > MANY_GROUPS and np.median(np.bincount(codes, minlength=G)) < SMALL_GROUP:
        problem = f"{G} distinct values, and half of them have fewer than {SMALL_GROUP} members"
        cure = f"{cure} merge rare groups."
    else:
        return
    warnings.warn(f"sensitive_features has {problem}. {cure}", UserWarning, stacklevel=4)


def _look_up(labels: list, known: list) -> NDArray[np.intp]:
    place = {label: position for position, label in enumerate(known)}
    return np.fromiter((place[label] for label in labels), dtype=np.intp, count=len(labels))


def count_missing(column: np.ndarray) -> int:
    """How many labels are None, NaN, NaT or NA."""
    if column.dtype == object:
        from pandas import isna  # finds None, NaN and NA; a caller with objects has mostly loaded pandas already

        return int(isna(column).sum())
    if column.dtype.kind in "mM":
        return int(np.isnat(column).sum())
    return int(np.isnan(column).sum()) if column.dtype.kind in "fc" else 0
