"""What the columns mean: decision, group, kinds, gaps and rare values. Every choice goes into the draft."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fairglvq.datasets import table
from fairglvq.datasets.table import Plan, TableError
from fairglvq.datasets.table.plan import Kind
from fairglvq.intervals import SMALL
from pages.shared.visit import visit
from pages.shared.widgets import control

MOST_CHOICES = 500
CHOOSE = "Choose a column"

KIND_WORDS: dict[Kind, str] = {
    "number": "number",
    "binary": "two values",
    "category": "category",
    "date": "date",
    "text": "text (not used)",
}
MISSING_WORDS = {"drop": "Leave the row out", "impute": "Fill the gap"}
BINS = 8  # ranges that a number is cut into
SMALL_WORDS = {"keep": "Keep", "merge": "Merge into “other”", "drop": "Leave out"}

STYLE = """<style>
.st-key-choices [data-testid="stVerticalBlock"] { gap: 0.6rem; }
</style>"""


def draw(frame: pd.DataFrame) -> None:
    """Decision, group, and what happens to gaps and rare values."""
    draft = current_draft()
    st.header("What the columns mean", anchor=False)
    names = [str(name) for name in frame.columns]
    with st.container(key="choices"):
        left, right = st.columns(2, gap="medium")
        with left:
            control(
                "selectbox", "Decision or outcome", draft.target, partial(_set_role, table.with_target),
                name="target", options=names, help="What a model is to predict.", placeholder=CHOOSE,
            )  # fmt: skip
            _target_details(frame, draft)
        with right:
            control(
                "selectbox", "Group to compare by", draft.protected, partial(_set_role, table.with_protected),
                name="protected", options=names, help="The protected attribute, such as sex or age.",
                placeholder=CHOOSE,
            )  # fmt: skip
            _group_details(draft)
        editor(frame, draft)
        gaps, rare, small = st.columns(3, gap="medium")
        with gaps:
            control(
                "segmented_control", "Where a value is missing", draft.missing, partial(_set, "missing"),
                name="missing", options=list(MISSING_WORDS), format_func=MISSING_WORDS.__getitem__, required=True,
                wrap=True, help="Filling puts the median of everybody into numbers and dates, and makes “missing” a "
                "category of its own.",
            )  # fmt: skip
        with rare:
            control(
                "number_input", "Merge categories rarer than (% of rows)", round(100 * draft.rare, 6), _set_rare,
                name="rare", min_value=0.0, max_value=50.0, step=0.5, format="%g",
            )  # fmt: skip
        with small:
            control(
                "segmented_control", f"Groups of fewer than {SMALL} people", draft.small_groups,
                partial(_set, "small_groups"), name="small_groups", options=list(SMALL_WORDS),
                format_func=SMALL_WORDS.__getitem__, required=True, wrap=True,
            )  # fmt: skip
        control(
            "checkbox", "Cut numbers and dates into ranges, too", draft.bins > 0, _set_bins, name="bins",
            help=f"A number stays as it is, and also becomes a 0 or 1 for each of about {BINS} ranges. What it says to "
            "a model need then not rise or fall evenly. A value that many people share, such as 0, is a range of its "
            "own.",
        )  # fmt: skip


def current_draft() -> Plan:
    """What the columns mean so far."""
    draft = visit().table.draft
    if draft is None:
        raise LookupError("no table was read")
    return draft


def _frame() -> pd.DataFrame:
    reading = visit().table.reading
    if reading is None:
        raise LookupError("no table was read")
    return reading.frame


def _target_details(frame: pd.DataFrame, draft: Plan) -> None:
    if draft.target is None:
        return
    if draft.kinds.get(draft.target) == "number" and draft.target_cut is not None:
        control(
            "number_input", "Cut it at", float(draft.target_cut), _set_target_cut, name="target_cut", step=1.0,
            format="%g",
        )  # fmt: skip
    values = table.values_of(frame, draft, draft.target)
    if len(values) > MOST_CHOICES:
        st.caption(f"{len(values):,} different values: choose another column, or make it a number below.")
        return
    control(
        "selectbox", "The outcome people want", draft.favourable, partial(_set, "favourable"), name="favourable",
        options=values, placeholder=CHOOSE,
    )  # fmt: skip
    if len(values) > 2:
        control(
            "checkbox", "Merge all other outcomes", draft.others_as_one, partial(_set, "others_as_one"),
            name="others_as_one",
        )  # fmt: skip


def _group_details(draft: Plan) -> None:
    if draft.protected is None:
        return
    if draft.cut is not None:
        control(
            "number_input", "Cut into two groups at", float(draft.cut), partial(_set, "cut"), name="cut", step=1.0,
            format="%g", help="Everybody under this value against everybody at it or above.",
        )  # fmt: skip
    control(
        "checkbox", "The model may see this column", draft.protected not in draft.left_out, _set_sees, name="sees",
        help="Off, because deciding by a protected attribute is mostly forbidden. Other columns may still give the "
        "group away. The paper's experiments have it among the features.",
    )  # fmt: skip


def editor(frame: pd.DataFrame, draft: Plan) -> None:
    """One row per column: its kind, and whether the model sees it."""
    here = visit().table
    if here.editor < 0:
        here.editor = next(visit().numbers)
    key = f"editor-{here.editor}"
    if key not in st.session_state or here.editor_base is None:
        # The editor's edits are relative to this; a page switch deletes them, but the draft has them by then.
        here.editor_base = _overview(frame, draft)
    options = list(KIND_WORDS.values())
    with st.expander(f"All {frame.shape[1]} columns: correct what was guessed", expanded=frame.shape[1] <= 12):
        edited = st.data_editor(
            here.editor_base,
            key=key,
            on_change="rerun",
            hide_index=True,
            height=min(38 + 35 * frame.shape[1], 400),
            disabled=["Column", "Role", "Examples", "Different values", "Missing"],
            column_config={
                "Column": st.column_config.TextColumn(pinned=True),
                "Kind": st.column_config.SelectboxColumn(options=options, required=True),
                "Model sees it": st.column_config.CheckboxColumn(),
                "Fixed": st.column_config.CheckboxColumn(
                    help="A person cannot change this, such as age or sex: it is left alone when changes are suggested."
                ),
                "Missing": st.column_config.NumberColumn(format="percent"),
            },
        )
    _take_edits(frame, here.editor_base, edited)


def _overview(frame: pd.DataFrame, draft: Plan) -> pd.DataFrame:
    rows = []
    for name in frame.columns:
        present = frame[name].dropna()
        examples = (
            present.drop_duplicates().head(4).map(lambda value: f"{value:g}" if isinstance(value, float) else value)
        )
        rows.append(
            {
                "Column": name,
                "Role": {draft.target: "decision", draft.protected: "group"}.get(name, ""),
                "Examples": ", ".join(str(value)[:40] for value in examples),
                "Different values": present.nunique(),
                "Missing": 1 - len(present) / len(frame),
            }
        )
    table = pd.DataFrame(rows)
    for position, (what, values) in enumerate(_editable(frame, draft).items(), start=1):
        table.insert(position, what, values)
    return table


def _take_edits(frame: pd.DataFrame, base: pd.DataFrame, edited: pd.DataFrame) -> None:
    """The draft as the editor has it; what depends on a kind that changed is suggested anew."""
    draft = current_draft()
    kind_of = {words: kind for kind, words in KIND_WORDS.items()}
    rows, before = edited.set_index("Column"), base.set_index("Column")["Model sees it"]
    kinds: dict[str, Kind] = {str(name): kind_of[words] for name, words in rows["Kind"].items()}
    left_out = set(draft.left_out)
    for name, sees in rows["Model sees it"].items():
        if bool(before[name]) != bool(sees) and name != draft.target:
            (left_out.discard if sees else left_out.add)(name)
            if sees and kinds[name] == "text":  # now a feature, so it is not free text
                kinds[name] = "category"
    fixed = tuple(str(name) for name, fix in rows["Fixed"].items() if fix)
    in_order = tuple(name for name in frame.columns if name in left_out)
    new = replace(draft, kinds=kinds, left_out=in_order, immutable=fixed)
    shown = {what: edited[what].tolist() for what in ("Kind", "Model sees it", "Fixed")}
    if new == draft and shown == _editable(frame, draft):
        return
    with suppress(TableError):  # shown where the table is built
        for role, suggest in (("target", table.with_target), ("protected", table.with_protected)):
            name = getattr(new, role)
            if name is not None and new.kinds[name] != draft.kinds[name]:
                new = suggest(frame, new, name)
    visit().table.draft = new
    if shown != _editable(frame, new):  # one edit brought others along, or was none: the target is never seen
        _renew_editor()
    st.rerun()


def _editable(frame: pd.DataFrame, draft: Plan) -> dict[str, list]:
    """The columns of the editor that can be changed, as the draft has them."""
    return {
        "Kind": [KIND_WORDS[draft.kinds[name]] for name in frame],
        "Model sees it": [
            name not in (*draft.left_out, draft.target) and draft.kinds[name] != "text" for name in frame
        ],
        "Fixed": [name in draft.immutable for name in frame],
    }


def _renew_editor() -> None:
    """Draw the table of columns from the draft; under another key, or the browser would keep its edits."""
    visit().table.editor = -1


def _set(field: str, value: Any) -> None:
    visit().table.draft = replace(current_draft(), **{field: value})


def _set_role(suggest: Callable[..., Plan], column: str | None) -> None:
    """Another column as decision or group; what depends on it is suggested anew."""
    draft = current_draft()
    _renew_editor()
    if column is not None and draft.kinds.get(column) == "text":  # now chosen, so it is not free text
        draft = replace(draft, kinds={**draft.kinds, column: "category"})
    with suppress(TableError):  # shown where the table is built
        draft = suggest(_frame(), draft, column)
    visit().table.draft = draft


def _set_target_cut(cut: float) -> None:
    draft = current_draft()
    above = draft.favourable is None or draft.favourable.endswith("or more")
    new = replace(draft, target_cut=cut)
    values = table.values_of(_frame(), new, str(draft.target))
    visit().table.draft = replace(new, favourable=values[1 if above else 0])


def _set_rare(percent: float) -> None:
    _set("rare", percent / 100)


def _set_bins(cut: bool) -> None:
    _set("bins", BINS if cut else 0)


def _set_sees(sees: bool) -> None:
    draft = current_draft()
    others = tuple(name for name in draft.left_out if name != draft.protected)
    _set("left_out", others if sees else (*others, str(draft.protected)))
    _renew_editor()


def missing_choice(draft: Plan) -> str:
    """The choices that only the visitor can make and has not made yet."""
    if draft.target is None:
        return "the decision or outcome" if draft.protected else "the decision and the group to compare by"
    return "" if draft.protected else "the group to compare by"
