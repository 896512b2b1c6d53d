"""Class and group of each row: the target and the protected column of a table under a `Plan`.

What was merged or left out is added to ``caveats``, the sentences that become the data set's caveats.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.plan import MOST_CLASSES, MOST_GROUPS, OTHER, Plan
from fairglvq.datasets.table.values import cut_names, distinct, in_two, in_words
from fairglvq.intervals import SMALL
from fairglvq.wording import quoted, quoted_names, rows

REST = "all others"


def labels_of(frame: pd.DataFrame, plan: Plan) -> pd.Series:
    """The class of each row in words, missing where it is unknown."""
    name = str(plan.target)
    labels = _read(frame[name], name, plan.target_cut, "target")
    values = distinct(labels)
    if len(values) < 2:
        raise TableError(f"Column {quoted(name)} holds only {quoted(values[0])}: there is nothing to tell apart.")
    if plan.favourable not in values:
        few = ", ".join(map(quoted, values[:6])) + (" …" if len(values) > 6 else "")
        raise TableError(f"Choose the favourable value of column {quoted(name)}: {few}.")
    if plan.others_as_one and len(values) > 2:
        labels = labels.where((labels == plan.favourable) | labels.isna(), REST)
    elif len(values) > MOST_CLASSES:
        raise TableError(
            f"Column {quoted(name)} has {len(values):,} different values, but a target has 2 to {MOST_CLASSES}: give a "
            "cut if it is a number, take the favourable value against all others, or choose another column."
        )
    return labels


def groups_of(frame: pd.DataFrame, plan: Plan, caveats: list[str]) -> pd.Series:
    """The group of each row in words, missing where it is unknown or left out."""
    name = str(plan.protected)
    groups = _read(frame[name], name, plan.cut, "protected attribute")
    counts = groups.value_counts()
    if len(counts) < 2:
        only = quoted(counts.index[0])
        hint = "choose another cut" if plan.cut is not None else "choose another protected attribute"
        raise TableError(f"In column {quoted(name)} everybody is in the group {only}: {hint}.")
    small = counts.index[counts < SMALL].tolist()
    if plan.small_groups == "merge":
        # Besides the small ones, those for which there is no shape left.
        large = [group for group in counts.index if group not in small]
        merged = small + (large[MOST_GROUPS - 1 :] if small or len(large) > MOST_GROUPS else [])
        if len(merged) > 1:
            groups = groups.where(~groups.isin(merged), OTHER)
            caveats.append(f"In {quoted(name)}, {quoted_names(merged)} were merged into the group {quoted(OTHER)}.")
    elif plan.small_groups == "drop" and small:
        caveats.append(
            f"{int(counts[small].sum()):,} rows of groups of fewer than {SMALL} were left out: {quoted_names(small)}."
        )
        groups = groups.where(~groups.isin(small))
    if groups.nunique() < 2:
        raise TableError(
            f"Fewer than two groups of column {quoted(name)} are left once those of fewer than {SMALL} people are "
            "merged or left out: keep small groups, or choose another column."
        )
    return groups


def _read(column: pd.Series, name: str, cut: float | None, role: str) -> pd.Series:
    if column.nunique() == 0:
        raise TableError(f"Column {quoted(name)} is empty in all rows: choose another {role}.")
    return in_words(column) if cut is None else in_two(column, name, cut)


def rows_with_both(
    frame: pd.DataFrame, plan: Plan, labels: pd.Series, groups: pd.Series, caveats: list[str]
) -> pd.Index:
    """The rows that have a class and a group."""
    present = frame[[str(plan.target), str(plan.protected)]].notna()
    for name in present.columns:
        gaps = int((~present[name]).sum())
        if gaps:
            caveats.append(f"{rows(gaps)} without a value in {quoted(name)} left out.")
    kept = frame.index[labels.notna() & groups.notna()]
    if len(kept) == 0:
        raise TableError(
            f"No row has a value in both {quoted(plan.target)} and {quoted(plan.protected)}: choose other columns."
        )
    return kept


def coded_classes(labels: pd.Series, plan: Plan) -> tuple[dict[int, str], np.ndarray]:
    """Classes by number, the favourable one last, and the number of each row."""
    values = distinct(labels)
    if plan.favourable not in values or len(values) < 2:
        raise TableError(
            f"Column {quoted(plan.target)} holds only {quoted_names(values)} after rows were left out: fill gaps "
            "instead of dropping rows, or leave the columns with gaps out."
        )
    counts = labels.value_counts()
    _refuse_single_rows(labels, counts, str(plan.target), "one row is not enough to learn from and to be measured on")
    names = [value for value in values if value != plan.favourable] + [str(plan.favourable)]
    return dict(enumerate(names)), pd.Categorical(labels, categories=names).codes.astype(np.int64)


def coded_groups(groups: pd.Series, plan: Plan, caveats: list[str]) -> tuple[dict[int, str], np.ndarray]:
    """Groups by number, and the number of each row."""
    name = str(plan.protected)
    names = list(cut_names(plan.cut)) if plan.cut is not None else distinct(groups)
    names = [group for group in names if (groups == group).any()]
    if len(names) < 2:
        raise TableError(
            f"Only the group {quoted_names(names)} of {quoted(name)} is left after rows were left out: fill gaps "
            "instead of dropping rows, or leave the columns with gaps out."
        )
    if len(names) > MOST_GROUPS:
        raise TableError(
            f"Column {quoted(name)} has {len(names):,} groups, but at most {MOST_GROUPS} can be compared: merge small "
            "groups, give a cut if it is a number, or choose another column."
        )
    counts = groups.value_counts()
    _refuse_single_rows(groups, counts, name, "one person is no group to compare; merge or drop small groups")
    small = [f"{group} ({counts[group]})" for group in names if counts[group] < SMALL]
    if small:
        caveats.append(f"Groups of fewer than {SMALL} people, whose rates are uncertain: {quoted_names(small)}.")
    return dict(enumerate(names)), pd.Categorical(groups, categories=names).codes.astype(np.int64)


def _refuse_single_rows(values: pd.Series, counts: pd.Series, column: str, why: str) -> None:
    for value in counts.index[counts == 1]:
        row = values.index[values == value][0]
        raise TableError(f"Only row {row} has {quoted(value)} in column {quoted(column)}: {why}.")
