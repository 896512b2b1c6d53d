"""Your own table: a frame and a `Plan` of what its columns mean become a `Dataset`.

::

    from fairglvq.datasets import table

    data = table.build(frame, table.guess(frame))   # works wherever a bundled data set does

Correct a plan that `guess` suggests by ``dataclasses.replace(plan, target="hired", favourable="yes")``; `with_target`
and `with_protected` also suggest what follows from a choice, such as a cut. A file is read with
``table.read(Path("people.csv").read_bytes(), "people.csv").frame``, or with pandas.

A table that cannot be used raises a `TableError` whose message names the row or the column; what was dropped, imputed,
merged or left out is listed in the data set's ``caveats``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.encoding import check_bins, encode
from fairglvq.datasets.table import features, roles
from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.file import read, read_text, write
from fairglvq.datasets.table.plan import KINDS, Plan, guess, refuse_odd, values_of, with_protected, with_target
from fairglvq.datasets.table.reading import RaggedError, Reading
from fairglvq.wording import quoted

__all__ = [
    "Plan", "RaggedError", "Reading", "TableError", "build", "guess", "read", "read_text", "values_of",
    "with_protected", "with_target", "write",
]  # fmt: skip

MOST_ROWS = 100_000
MOST_CELLS = 40_000_000  # rows x encoded columns: 320 MB
"""Limit for tables on the pages, so that one visitor does not fill the server's memory; the library has none."""


def build(
    frame: pd.DataFrame,
    plan: Plan,
    *,
    title: str = "Your table",
    source: str = "a table of your own",
    licence: str = "not stated",
    notes: Iterable[str] = (),
    most_cells: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Make a data set called "table" of a frame; class and group numbers follow the order of their names.

    The favourable class has the largest number. ``notes`` (those of a `Reading`) come first among the caveats. If rows
    times encoded columns exceed ``most_cells``, a random sample of rows is taken.
    """
    refuse_odd(frame)
    _check(frame, plan)
    assert plan.target is not None
    assert plan.protected is not None
    caveats = list(notes)
    labels = roles.labels_of(frame, plan)
    groups = roles.groups_of(frame, plan, caveats)
    kept = roles.rows_with_both(frame, plan, labels, groups, caveats)
    table = features.converted(frame.loc[kept, features.chosen(frame, plan, caveats)], plan, caveats)
    table = features.without_gaps(table, plan, len(frame), caveats)
    table = features.sampled(table, plan, most_cells, caveats, seed)
    labels, groups = labels[table.index], groups[table.index]
    table = features.merged(table, plan, caveats)
    class_names, y = roles.coded_classes(labels, plan)
    group_names, s = roles.coded_groups(groups, plan, caveats)
    binary, categories = features.encodings(table)
    X, blocks = encode(table, binary=binary, categories=categories, bins=plan.bins)
    readable = _readable(frame.loc[table.index])
    group_column = plan.protected if plan.cut is None else _free(f"{plan.protected} group", frame)
    label_column = plan.target if plan.target_cut is None else _free(f"{plan.target} group", frame)
    return Dataset(
        name="table",
        title=title,
        X=X,
        y=y,
        s=s,
        blocks=blocks,
        favourable=len(class_names) - 1,
        class_names=class_names,
        group_names=group_names,
        label_column=label_column,
        group_column=group_column,
        source=source,
        licence=licence,
        caveats=tuple(caveats),
        readable=readable,
    )


def _check(frame: pd.DataFrame, plan: Plan) -> None:
    for what, name in (("target (what is decided)", plan.target), ("protected attribute", plan.protected)):
        if name is None:
            raise TableError(f"Choose the column that is the {what}.")
        if name not in frame:
            raise TableError(f"The table has no column {quoted(name)}.")
    if plan.target == plan.protected:
        raise TableError(f"Column {quoted(plan.target)} cannot be both the target and the protected attribute.")
    for name, kind in plan.kinds.items():
        if kind not in KINDS:
            raise TableError(f"Column {quoted(name)} is to be {kind!r}; possible are {', '.join(KINDS)}.")
    if not 0 <= plan.rare < 1:
        raise TableError(f"The share below which categories are merged must be from 0 to below 1; got {plan.rare:g}.")
    try:
        check_bins(plan.bins)
    except ValueError as problem:
        raise TableError(f"{problem}.") from None
    for value, choices in ((plan.missing, ("drop", "impute")), (plan.small_groups, ("keep", "merge", "drop"))):
        if value not in choices:
            raise TableError(f"{value!r} is none of {', '.join(choices)}.")


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The original columns, whole numbers without a decimal point."""
    frame = frame.reset_index(drop=True)
    for name in frame:
        column = frame[name]
        if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all() and column.abs().max() < 2**53:
            frame[name] = column.astype(np.int64)
    return frame


def _free(name: str, frame: pd.DataFrame) -> str:
    while name in frame:
        name += " (2)"
    return name
