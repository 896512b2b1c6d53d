"""What the columns of a table mean: the `Plan`, and suggestions for it made from names and values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.values import cut_names, date_format, distinct, in_numbers, in_words
from fairglvq.wording import quoted

Kind = Literal["number", "binary", "category", "date", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)

OTHER = "other"
"""What merged categories and groups are called."""

MOST_CLASSES = 4  # as many as pictures have colours
MOST_GROUPS = 6  # as many as pictures have shapes
MOST_CATEGORIES = 50  # of one column; rarer ones are merged

_TARGETS = ("target", "label", "class", "outcome", "decision", "approved", "hired", "admitted", "accepted", "granted")
_MORE_TARGETS = (
    "passed", "selected", "promoted", "graduated", "eligible", "default", "recid", "income", "credit", "risk", "result",
    "status", "y",
)  # fmt: skip
_GROUPS = ("sex", "gender", "race", "ethnic", "age", "nationality", "religion", "disab", "migra", "minority", "marital")
_FIXED = ("sex", "gender", "race", "ethnic", "age", "nationality", "native", "birth", "disab", "religion")
_GOOD = (
    "good", "yes", "true", "1", "approved", "accepted", "accept", "hired", "admitted", "granted", "pass", "passed",
    "positive", "high", ">50k", ">50k.", "> 50k", "success", "ja", "oui", "si", "no recid", "low risk",
)  # fmt: skip


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
        Columns that are not features. The protected column is one unless it is among them.
    missing
        "drop" leaves out rows with a gap; "impute" fills numbers and dates with the median and makes gaps in
        categories a category of their own.
    rare
        Share of rows below which categories are merged into one; 0 keeps all (up to 50 per column).
    small_groups
        What happens to protected groups of fewer than 30: "keep", "merge" into one, or "drop" their rows.
    immutable
        Columns that a person cannot change; suggested changes leave them as they are.
    bins
        2 or more: numbers and dates also become a column of 0 and 1 for each of about so many ranges, as in
        ``datasets.load(name, bins=8)``; 0: they do not.
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
    bins: int = 0


def guess(frame: pd.DataFrame) -> Plan:
    """Suggest a plan: kinds from the values; target, favourable value and protected column from names and values."""
    refuse_odd(frame)
    kinds = {name: kind_of(frame[name], name) for name in frame}
    few = [n for n in frame if 2 <= frame[n].nunique() <= MOST_CLASSES and kinds[n] in ("binary", "category")]
    target = _named(few, _TARGETS + _MORE_TARGETS)
    if target is None and _named(list(frame), _TARGETS) is None:  # else it has one, which only the user can correct
        two = [name for name in few if kinds[name] == "binary" and not _named([name], _GROUPS)]
        target = two[-1] if two else None
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
        plan = replace(plan, target_cut=_middle(in_numbers(frame[column], column)))
    values = values_of(frame, plan, column)
    return replace(plan, favourable=_wanted(values), others_as_one=len(values) > MOST_CLASSES)


def with_protected(frame: pd.DataFrame, plan: Plan, column: str | None) -> Plan:
    """The plan with another protected column, and with a cut for a number; too many groups are to be merged.

    The protected column is not a feature unless the user chooses it; the one before becomes a feature again.
    """
    if column != plan.protected:
        left_out = {*plan.left_out, column} - {name for name in [plan.protected] if name and frame[name].nunique() > 1}
        plan = replace(plan, left_out=tuple(name for name in frame if name in left_out))
    plan = replace(plan, protected=column, cut=None, small_groups="keep")
    if column is None:
        return plan
    if plan.kinds.get(column) == "number":
        return replace(plan, cut=_middle(in_numbers(frame[column], column)))
    return replace(plan, small_groups="merge") if frame[column].nunique() > MOST_GROUPS else plan


def values_of(frame: pd.DataFrame, plan: Plan, column: str) -> list[str]:
    """The words for the values of the target or the protected column under a plan, in the order they are shown."""
    cut = plan.target_cut if column == plan.target else plan.cut if column == plan.protected else None
    if cut is not None:
        return list(cut_names(cut))
    return distinct(in_words(frame[column]))


def refuse_odd(frame: pd.DataFrame) -> None:
    """Frames that no table in a file can be, and empty ones."""
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError("The table is empty.")
    if frame.columns.duplicated().any():
        name = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"Two columns are called {quoted(name)}: rename one of them.")
    if frame.index.duplicated().any():
        raise TableError("Some rows of the frame have the same index: call reset_index(drop=True) first.")
    if not all(isinstance(name, str) for name in frame.columns):
        raise TableError("Column names must be text: rename the columns of the frame.")


def kind_of(column: pd.Series, name: str) -> Kind:
    """What a column probably is."""
    present = column.dropna()
    distinct = present.nunique()
    if distinct == 0:
        return "text"
    if distinct == 2:
        return "binary"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        whole = bool((present % 1 == 0).all())
        counted = (
            whole and distinct == len(present) and len(present) > 20 and bool((present.diff().iloc[1:] == 1).all())
        )
        called = re.fullmatch(r"(.*[\s_.-])?(id|nr|no|number|index|key)|unnamed.*", name.lower()) is not None
        return "text" if counted or (called and whole and distinct > 0.9 * len(present)) else "number"
    words = in_words(present)
    if date_format(words.unique()[:2000].tolist()):
        return "date"
    lengths = words.head(2000).str.len().mean()
    if (distinct > 0.5 * len(present) and distinct > MOST_CATEGORIES) or lengths > 60:
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
    by_word = {value.lower(): value for value in reversed(values)}
    return next((by_word[good] for good in _GOOD if good in by_word), values[-1] if values else None)


def _middle(values: pd.Series) -> float | None:
    """A cut that leaves people on both sides: the median or the next value above it, in as few digits as do it."""
    present = values.dropna()
    if present.nunique() < 2:
        return None
    middle = float(present.median())
    if middle <= present.min():
        middle = float(present[present > middle].min())
    under = present < middle
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next(cut for cut in rounded if under.equals(present < cut))
