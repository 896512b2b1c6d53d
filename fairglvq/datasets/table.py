"""Your own table: a frame and a `Plan` of what its columns mean become a `Dataset`.

::

    reading = table.read(Path("people.csv").read_bytes(), "people.csv")
    plan = table.guess(reading.frame)            # suggestions, to be corrected with dataclasses.replace
    data = table.build(reading.frame, plan)      # works wherever a bundled data set does

What cannot be used is a `TableError` whose message names the row or the column; what was dropped, imputed, merged or
left out stands in the data set's ``caveats``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd

from fairglvq.datasets.base import Dataset
from fairglvq.datasets.encoding import Binary, encode
from fairglvq.datasets.table_file import MISSING, RaggedError, Reading, TableError, quoted, read, read_text, write

__all__ = [
    "KINDS", "MISSING", "Kind", "Plan", "RaggedError", "Reading", "TableError", "build", "guess", "program", "quoted",
    "read", "read_text", "values_of", "with_protected", "with_target", "write",
]  # fmt: skip

Kind = Literal["number", "binary", "category", "date", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_ROWS = 100_000
MOST_CELLS = 40_000_000  # rows x encoded columns: 320 MB
"""What the pages take of a table, so that one visitor does not fill the server's memory; the library takes all."""

MOST_CLASSES = 4  # as many as pictures have colours
MOST_GROUPS = 6  # as many as pictures have shapes
MOST_CATEGORIES = 50  # of one column; rarer ones are merged
SMALL_GROUP = 30
LARGEST = 1e30
OTHER = "other"
NOT_TOLD = "(missing)"
REST = "all others"

_TARGETS = ("target", "label", "class", "outcome", "decision", "approved", "hired", "admitted", "accepted", "granted")
_MORE_TARGETS = ("default", "recid", "income", "credit", "risk", "result", "status", "y")
_GROUPS = ("sex", "gender", "race", "ethnic", "age", "nationality", "religion", "disab", "migra", "minority", "marital")
_FIXED = ("sex", "gender", "race", "ethnic", "age", "nationality", "native", "birth", "disab", "religion")
_GOOD = ("good", "yes", "true", "1", "approved", "accepted", "accept", "hired", "admitted", "granted", "pass", "passed")
_MORE_GOOD = ("positive", "high", ">50k", ">50k.", "> 50k", "success", "ja", "oui", "si", "no recid", "low risk")
_DATES = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
_LOOKS_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")


@dataclass(frozen=True)
class Plan:
    """What the columns of a table mean, and what is done with them.

    Parameters
    ----------
    target, favourable, protected
        The column to predict, the value of it people want (as `values_of` words it), and the column of the groups.
    kinds
        What each column is. A ``number`` stays as it is, a ``binary`` becomes 0 and 1, a ``category`` becomes a column
        of 0 and 1 per value, a ``date`` a decimal year, and ``text`` (names, identifiers, remarks) is not used.
    cut
        For a protected number such as an age: the groups are those under it, and those at it or above.
    target_cut
        The same for a target that is a number; ``favourable`` is then one of the two names of `values_of`.
    others_as_one
        Whether all values of the target but the favourable one are taken together.
    left_out
        Columns that the model must not see. The protected column is seen unless it is among them.
    missing
        "drop" leaves out rows with a gap; "impute" fills numbers and dates with the median and makes gaps in
        categories a category of their own.
    rare
        Share of rows below which categories are merged into one; 0 keeps all (up to 50 per column).
    small_groups
        What happens to protected groups of fewer than 30: "keep", "merge" into one, or "drop" their rows.
    immutable
        Columns that a person cannot change, for whoever suggests changes.
    """

    target: str | None = None
    favourable: str | None = None
    protected: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    cut: float | None = None
    target_cut: float | None = None
    others_as_one: bool = False
    left_out: tuple[str, ...] = ()
    missing: Literal["drop", "impute"] = "drop"
    rare: float = 0.01
    small_groups: Literal["keep", "merge", "drop"] = "keep"
    immutable: tuple[str, ...] = ()


# Guessing


def guess(frame: pd.DataFrame) -> Plan:
    """Suggest a plan: kinds from the values; target, favourable value and protected column from names and values."""
    _refuse_odd(frame)
    kinds = {name: _kind(frame[name], name) for name in frame}
    few = [n for n in frame if 2 <= frame[n].nunique() <= MOST_CLASSES and kinds[n] in ("binary", "category")]
    target = _named(few, _TARGETS + _MORE_TARGETS)
    target = target or next((name for name in reversed(few) if not _named([name], _GROUPS)), None)
    possible = [n for n in frame if n != target and kinds[n] in ("number", "binary", "category")]
    plan = Plan(
        kinds=kinds,
        left_out=tuple(name for name in frame if frame[name].nunique() < 2),
        immutable=tuple(name for name in frame if _named([name], _FIXED) and name != target),
    )
    return with_protected(frame, with_target(frame, plan, target), _named(possible, _GROUPS))


def with_target(frame: pd.DataFrame, plan: Plan, column: str | None) -> Plan:
    """The plan with another target, and with a favourable value and, for a number, a cut suggested for it."""
    plan = replace(plan, target=column, favourable=None, target_cut=None, others_as_one=False)
    if column is None:
        return plan
    if plan.kinds.get(column) == "number":
        plan = replace(plan, target_cut=_middle(_floats(frame[column], column)))
    values = values_of(frame, plan, column)
    return replace(plan, favourable=_wanted(values), others_as_one=len(values) > MOST_CLASSES)


def with_protected(frame: pd.DataFrame, plan: Plan, column: str | None) -> Plan:
    """The plan with another protected column, and with a cut for a number; too many groups are to be merged."""
    plan = replace(plan, protected=column, cut=None, small_groups="keep")
    if column is None:
        return plan
    if plan.kinds.get(column) == "number":
        return replace(plan, cut=_middle(_floats(frame[column], column)))
    return replace(plan, small_groups="merge") if frame[column].nunique() > MOST_GROUPS else plan


def values_of(frame: pd.DataFrame, plan: Plan, column: str) -> list[str]:
    """The words for the values of the target or the protected column under a plan, in the order they are shown."""
    cut = plan.target_cut if column == plan.target else plan.cut if column == plan.protected else None
    if cut is not None:
        return list(_cut_names(cut))
    return _distinct(_words(frame[column]))


def _kind(column: pd.Series, name: str) -> Kind:
    told = column.dropna()
    distinct = told.nunique()
    if distinct == 0:
        return "text"
    if distinct == 2:
        return "binary"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        whole = bool((told % 1 == 0).all())
        counted = whole and distinct == len(told) and len(told) > 20 and bool((told.diff().iloc[1:] == 1).all())
        called = re.fullmatch(r"(.*[\s_.-])?(id|nr|no|number|index|key)|unnamed.*", name.lower()) is not None
        return "text" if counted or (called and whole and distinct > 0.9 * len(told)) else "number"
    words = _words(told)
    if _date_format(words.unique()[:2000].tolist()):
        return "date"
    lengths = words.head(2000).str.len().mean()
    if (distinct > 0.5 * len(told) and distinct > MOST_CATEGORIES) or lengths > 60:
        return "text"
    return "category"


def _named(names: Sequence[str], tokens: Sequence[str]) -> str | None:
    """The first column with one of these words in its name, the words in order of preference."""
    for token in tokens:
        pattern = rf"(^|[^a-z]){token}" + ("" if len(token) > 3 else r"($|[^a-z])")
        for name in names:
            if re.search(pattern, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).lower()):
                return name
    return None


def _wanted(values: Sequence[str]) -> str | None:
    for good in _GOOD + _MORE_GOOD:
        for value in values:
            if value.lower() == good:
                return value
    return values[-1] if values else None


def _middle(values: pd.Series) -> float | None:
    """A cut that leaves people on both sides: the median, or the next value above it."""
    told = values.dropna()
    if told.nunique() < 2:
        return None
    middle = float(told.median())
    return middle if middle > told.min() else float(told[told > middle].min())


# Building


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
    _refuse_odd(frame)
    _check(frame, plan)
    assert plan.target is not None
    assert plan.protected is not None
    said = list(notes)
    labels = _labels(frame, plan)
    groups = _groups(frame, plan, said)
    kept = _rows_with_both(frame, plan, labels, groups, said)
    features = _features(frame, plan, said)
    table = _converted(frame.loc[kept, features], plan, said)
    table = _without_gaps(table, plan, said)
    table = _sampled(table, most_cells, said, seed)
    labels, groups = labels[table.index], groups[table.index]
    table = _merged(table, plan, said)
    class_names, y = _classes(labels, plan)
    group_names, s = _coded_groups(groups, plan, said)
    binary, categories = _encodings(table, plan)
    X, blocks = encode(table, binary=binary, categories=categories)
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
        caveats=tuple(said),
        readable=readable,
    )


def program(plan: Plan, name: str, notes: Iterable[str] = ()) -> str:
    """The lines of Python that make ``data`` from the file called ``name`` as the pages do, for a receipt."""
    lines = ["from pathlib import Path", "", "from fairglvq.datasets import table", ""]
    lines += [f"reading = table.read(Path({name!r}).read_bytes(), {name!r}, most_rows={MOST_ROWS})"]
    if any("too many or too few values" in note for note in notes):
        lines[-1] = lines[-1][:-1] + ", skip_ragged=True)"
    default = Plan()
    given = {f: getattr(plan, f) for f in plan.__dataclass_fields__ if getattr(plan, f) != getattr(default, f)}
    given["kinds"] = dict(plan.kinds)
    lines += ["plan = table.Plan(", *(f"    {key}={value!r}," for key, value in given.items()), ")"]
    lines += [f"data = table.build(reading.frame, plan, notes=reading.notes, most_cells={MOST_CELLS})"]
    return "\n".join(lines)


def _refuse_odd(frame: pd.DataFrame) -> None:
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError("The table is empty.")
    if frame.columns.duplicated().any():
        name = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"Two columns are called {quoted(name)}: rename one of them.")
    if frame.index.duplicated().any():
        raise TableError("Some rows of the frame have the same index: call reset_index(drop=True) first.")
    if not all(isinstance(name, str) for name in frame.columns):
        raise TableError("Column names must be text: rename the columns of the frame.")


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
    for value, choices in ((plan.missing, ("drop", "impute")), (plan.small_groups, ("keep", "merge", "drop"))):
        if value not in choices:
            raise TableError(f"{value!r} is none of {', '.join(choices)}.")


def _labels(frame: pd.DataFrame, plan: Plan) -> pd.Series:
    """The class of each row in words, missing where it is not told."""
    name = str(plan.target)
    if frame[name].nunique() == 0:
        raise TableError(f"Column {quoted(name)} is empty in all rows: choose another target.")
    labels = _cut(frame[name], name, plan.target_cut) if plan.target_cut is not None else _words(frame[name])
    values = _distinct(labels)
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


def _groups(frame: pd.DataFrame, plan: Plan, said: list[str]) -> pd.Series:
    """The group of each row in words, missing where it is not told or left out."""
    name = str(plan.protected)
    if frame[name].nunique() == 0:
        raise TableError(f"Column {quoted(name)} is empty in all rows: choose another protected attribute.")
    groups = _cut(frame[name], name, plan.cut) if plan.cut is not None else _words(frame[name])
    counts = groups.value_counts()
    if len(counts) < 2:
        only = quoted(counts.index[0])
        hint = "choose another cut" if plan.cut is not None else "choose another protected attribute"
        raise TableError(f"In column {quoted(name)} everybody is in the group {only}: {hint}.")
    small = counts.index[counts < SMALL_GROUP].tolist()
    if plan.small_groups == "merge":
        # Besides the small ones, those for which there is no shape left.
        large = [group for group in counts.index if group not in small]
        room = MOST_GROUPS if not small else MOST_GROUPS - 1
        merged = small + large[room if len(large) <= room else MOST_GROUPS - 1 :]
        if len(merged) > 1:
            groups = groups.where(~groups.isin(merged), OTHER)
            said.append(f"In {quoted(name)}, {_listed(merged)} were merged into the group {quoted(OTHER)}.")
    elif plan.small_groups == "drop" and small:
        said.append(
            f"{int(counts[small].sum()):,} rows of groups of fewer than {SMALL_GROUP} were left out: {_listed(small)}."
        )
        groups = groups.where(~groups.isin(small))
    return groups


def _rows_with_both(frame: pd.DataFrame, plan: Plan, labels: pd.Series, groups: pd.Series, said: list[str]) -> pd.Index:
    told = frame[[str(plan.target), str(plan.protected)]].notna()
    for name in told.columns:
        gaps = int((~told[name]).sum())
        if gaps:
            said.append(f"{_rows(gaps)} without a value in {quoted(name)} left out.")
    kept = frame.index[labels.notna() & groups.notna()]
    if len(kept) == 0:
        raise TableError(
            f"No row has a value in both {quoted(plan.target)} and {quoted(plan.protected)}: choose other columns."
        )
    return kept


def _features(frame: pd.DataFrame, plan: Plan, said: list[str]) -> list[str]:
    """Columns that the model sees, and what is said about the others."""
    kinds = {name: plan.kinds.get(name) or _kind(frame[name], name) for name in frame}
    rest = [name for name in frame if name != plan.target]
    chosen = [name for name in rest if name in plan.left_out and frame[name].nunique() > 1]
    empty = [name for name in rest if frame[name].nunique() == 0]
    texts = [name for name in rest if kinds[name] == "text" and name not in (*chosen, *empty)]
    if chosen:
        said.append(f"The model does not see {_listed(chosen)}, as chosen.")
    if empty:
        said.append(f"Empty in all rows and left out: {_listed(empty)}.")
    if texts:
        said.append(f"Text or identifiers and left out: {_listed(texts)}.")
    constant = [name for name in rest if frame[name].nunique() == 1]
    if constant:
        said.append(f"The same in all rows and left out: {_listed(constant)}.")
    features = [name for name in rest if name not in {*chosen, *empty, *texts, *constant, *plan.left_out}]
    if not features:
        raise TableError("No column is left that a model could decide by: leave fewer out, or correct their kinds.")
    return features


def _converted(table: pd.DataFrame, plan: Plan, said: list[str]) -> pd.DataFrame:
    """Numbers and dates as floats, everything else as words."""
    columns, dates = {}, []
    for name in table:
        kind = plan.kinds.get(name) or _kind(table[name], name)
        if kind == "number":
            columns[name] = _floats(table[name], name)
            endless = int(np.isinf(columns[name]).sum())
            if endless:
                columns[name] = columns[name].where(~np.isinf(columns[name]))
                said.append(f"{_rows(endless)} infinite in {quoted(name)}: treated as missing.")
            large = columns[name].index[columns[name].abs() > LARGEST]
            if len(large):
                raise TableError(
                    f"Row {large[0]} holds {columns[name][large[0]]:g} in column {quoted(name)}, too large to compute "
                    "with."
                )
        elif kind == "date":
            dates.append(name)
            columns[name] = _years(table[name], name, said)
        else:
            columns[name] = _words(table[name])
            values = columns[name].nunique()
            if kind == "binary" and values > 2:
                raise TableError(f"Column {quoted(name)} is to be binary, but it has {values:,} different values.")
    if dates:
        said.append(f"Dates became decimal years (1 July 1990 is about 1990.5): {_listed(dates)}.")
    return pd.DataFrame(columns, index=table.index)


def _without_gaps(table: pd.DataFrame, plan: Plan, said: list[str]) -> pd.DataFrame:
    gaps = table.isna().sum()
    gaps = gaps[gaps > 0].sort_values(ascending=False)
    if gaps.empty:
        return table
    if plan.missing == "drop":
        full = table.dropna()
        if full.empty:
            worst, n = gaps.index[0], int(gaps.iloc[0])
            raise TableError(
                f"No row has a value in every column; column {quoted(worst)} misses {n:,} of {len(table):,}: leave it "
                "out, or fill gaps instead of dropping rows."
            )
        n = len(table) - len(full)
        where = ", ".join(f"{quoted(name)} {count:,}" for name, count in gaps.head(5).items())
        said.append(f"{_rows(n)} with a missing value left out ({n / len(table):.1%} of all; most in {where}).")
        return full
    table = table.copy()
    for name, count in gaps.items():
        if pd.api.types.is_numeric_dtype(table[name]):
            median = float(table[name].median())
            table[name] = table[name].fillna(median)
            said.append(f"{_rows(int(count))} without {quoted(name)}: filled with the median of all, {median:g}.")
        else:
            table[name] = table[name].fillna(NOT_TOLD)
            said.append(f"{_rows(int(count))} without {quoted(name)}: put into a category of their own.")
    return table


def _sampled(table: pd.DataFrame, most_cells: int | None, said: list[str], seed: int) -> pd.DataFrame:
    if most_cells is None:
        return table
    width = 0
    for name in table:
        values = 1 if pd.api.types.is_numeric_dtype(table[name]) else table[name].nunique()
        width += 1 if values <= 2 else min(values, MOST_CATEGORIES + 1)
    most = max(1, most_cells // width)
    if len(table) <= most:
        return table
    said.append(
        f"{len(table):,} rows of {width:,} encoded columns are too many: a random sample of {most:,} rows is used."
    )
    chosen = np.sort(np.random.default_rng(seed).choice(len(table), most, replace=False))
    return table.iloc[chosen]


def _merged(table: pd.DataFrame, plan: Plan, said: list[str]) -> pd.DataFrame:
    """Rare categories become one; columns that hold one value then, or held one before, are left out."""
    table = table.copy()
    gone: list[str] = []
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            gone += [name] if table[name].nunique() < 2 else []
            continue
        counts = table[name].value_counts()
        if len(counts) > 2:
            rare = counts.index[(counts < plan.rare * len(table)) | (np.arange(len(counts)) >= MOST_CATEGORIES)]
            if len(rare) == len(counts):
                said.append(
                    f"{quoted(name)} has {len(counts):,} values, each rarer than {plan.rare:.2%} of the rows: the "
                    "column was left out."
                )
                del table[name]
                continue
            if len(rare) > 1:
                n = int(counts[rare].sum())
                table[name] = table[name].where(~table[name].isin(rare), OTHER)
                said.append(
                    f"{len(rare):,} rare values of {quoted(name)} ({n:,} rows) were merged into {quoted(OTHER)}."
                )
        if table[name].nunique() < 2:
            gone.append(name)
    if gone:
        said.append(f"The same in all rows that are left, so left out: {_listed(gone)}.")
    table = table.drop(columns=gone)
    if table.shape[1] == 0:
        raise TableError("No column is left that a model could decide by: leave fewer out, or merge fewer categories.")
    return table


def _classes(labels: pd.Series, plan: Plan) -> tuple[dict[int, str], np.ndarray]:
    values = _distinct(labels)
    if plan.favourable not in values or len(values) < 2:
        raise TableError(
            f"Only {_listed(values)} is left in column {quoted(plan.target)} after rows were left out: fill gaps "
            "instead of dropping rows, or leave the columns with gaps out."
        )
    counts = labels.value_counts()
    _refuse_loners(labels, counts, str(plan.target), "one row is not enough to learn from and to be measured on")
    names = [value for value in values if value != plan.favourable] + [str(plan.favourable)]
    if plan.target_cut is None and REST in names:
        names = [REST, str(plan.favourable)]
    return dict(enumerate(names)), pd.Categorical(labels, categories=names).codes.astype(np.int64)


def _coded_groups(groups: pd.Series, plan: Plan, said: list[str]) -> tuple[dict[int, str], np.ndarray]:
    name = str(plan.protected)
    names = list(_cut_names(plan.cut)) if plan.cut is not None else _distinct(groups)
    names = [group for group in names if (groups == group).any()]
    if len(names) < 2:
        raise TableError(
            f"Only the group {_listed(names)} of {quoted(name)} is left after rows were left out: fill gaps instead of "
            "dropping rows, or leave the columns with gaps out."
        )
    if len(names) > MOST_GROUPS:
        raise TableError(
            f"Column {quoted(name)} has {len(names):,} groups, but at most {MOST_GROUPS} can be compared: merge small "
            "groups, give a cut if it is a number, or choose another column."
        )
    counts = groups.value_counts()
    _refuse_loners(groups, counts, name, "one person is no group to compare; merge or drop small groups")
    small = [f"{group} ({counts[group]})" for group in names if counts[group] < SMALL_GROUP]
    if small:
        said.append(f"Groups of fewer than {SMALL_GROUP} people, whose rates are uncertain: {_listed(small)}.")
    return dict(enumerate(names)), pd.Categorical(groups, categories=names).codes.astype(np.int64)


def _refuse_loners(values: pd.Series, counts: pd.Series, column: str, why: str) -> None:
    for value in counts.index[counts == 1]:
        row = values.index[values == value][0]
        raise TableError(f"Only row {row} has {quoted(value)} in column {quoted(column)}: {why}.")


def _encodings(table: pd.DataFrame, plan: Plan) -> tuple[dict[str, Binary], list[str]]:
    binary, categories = {}, []
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        values = _distinct(table[name])
        if len(values) == 2:
            binary[name] = Binary(values[1], (values[0], values[1]))
        else:
            categories.append(name)
    return binary, categories


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The original columns, whole numbers without a decimal point."""
    frame = frame.reset_index(drop=True)
    for name in frame:
        column = frame[name]
        if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all() and column.abs().max() < 2**53:
            frame[name] = column.astype(np.int64)
    return frame


# Values


def _words(column: pd.Series) -> pd.Series:
    """Values as text: whole numbers without a decimal point, gaps as gaps."""
    if pd.api.types.is_bool_dtype(column):
        return column.map({True: "true", False: "false"}).astype("str")
    if pd.api.types.is_numeric_dtype(column):
        words = {value: _number_word(value) for value in column.dropna().unique().tolist()}
        return column.map(words).astype("str")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.strftime("%Y-%m-%d").astype("str")
    return column.astype("str")


def _number_word(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _distinct(words: pd.Series) -> list[str]:
    """The different values, numbers by size and everything else by name."""
    values = words.dropna().unique().tolist()
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def _floats(column: pd.Series, name: str) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    numbers = pd.to_numeric(column, errors="coerce") if column.dtype != object else _objects_to_floats(column)
    wrong = column.index[column.notna() & numbers.isna()]
    if len(wrong):
        raise TableError(
            f"Column {quoted(name)} is to be a number, but row {wrong[0]} holds {quoted(column[wrong[0]])}."
        )
    return numbers.astype(float)


def _objects_to_floats(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column.astype("str"), errors="coerce")


def _years(column: pd.Series, name: str, said: list[str]) -> pd.Series:
    """Dates as decimal years."""
    if not pd.api.types.is_datetime64_any_dtype(column):
        words = _words(column)
        distinct = words.dropna().unique().tolist()
        form = _date_format(distinct)
        if form is None:
            form = max(_DATES, key=lambda known: _parsed(distinct, known).notna().sum())
            parsed = dict(zip(distinct, _parsed(distinct, form), strict=True))
            wrong = words.index[words.map(lambda word: isinstance(word, str) and pd.isna(parsed[word]))]
            raise TableError(
                f"Column {quoted(name)} is to be a date, but row {wrong[0]} holds {quoted(words[wrong[0]])}."
            )
        if form == "%d/%m/%Y" and _parsed(distinct, "%m/%d/%Y").notna().all():
            said.append(f"The dates in {quoted(name)} were read with the day first.")
        column = words.map(dict(zip(distinct, _parsed(distinct, form), strict=True)))
        column = pd.to_datetime(column)
    start = pd.to_datetime(column.dt.year.astype("Int64").astype("str") + "-01-01", format="%Y-%m-%d", errors="coerce")
    return column.dt.year + (column - start).dt.total_seconds() / (365.25 * 24 * 3600)


def _date_format(values: Sequence[str]) -> str | None:
    if not values or not all(_LOOKS_LIKE_A_DATE.fullmatch(value) for value in values):
        return None
    return next((form for form in _DATES if _parsed(values, form).notna().all()), None)


def _parsed(values: Sequence[str], form: str) -> pd.Series:
    dates = pd.to_datetime(pd.Series(values, dtype="str"), format=form, errors="coerce", utc=True)
    return dates.dt.tz_localize(None)


def _cut(column: pd.Series, name: str, cut: float | None) -> pd.Series:
    """Under the cut, or at it and above."""
    assert cut is not None
    values = _floats(column, name)
    under, above = _cut_names(cut)
    words = pd.Series(np.where(values < cut, under, above), index=column.index, dtype="str")
    return words.where(values.notna())


def _cut_names(cut: float) -> tuple[str, str]:
    number = _number_word(cut)
    return f"under {number}", f"{number} or more"


def _free(name: str, frame: pd.DataFrame) -> str:
    while name in frame:
        name += " (2)"
    return name


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"
