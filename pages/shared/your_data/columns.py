"""What the columns mean: decision, group, kinds, gaps and rare values. Every choice goes into the draft."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pandas as pd
import streamlit as st

from fairglvq.datasets import table
from fairglvq.datasets.table import Plan, TableError
from fairglvq.datasets.table.plan import Kind
from fairglvq.intervals import SMALL

MOST_CHOICES = 500

KIND_WORDS: dict[Kind, str] = {
    "number": "number",
    "binary": "two values",
    "category": "category",
    "date": "date",
    "text": "text (not used)",
}
MISSING_WORDS = {"drop": "Leave the row out", "impute": "Fill the gap"}
SMALL_WORDS = {"keep": "Keep", "merge": "Merge into “other”", "drop": "Leave out"}

STYLE = """<style>
.st-key-choices [data-testid="stVerticalBlock"] { gap: 0.6rem; }
</style>"""


def draw(frame: pd.DataFrame) -> None:
    """Decision, group, and what happens to gaps and rare values."""
    draft: Plan = st.session_state.own_draft
    st.subheader("What the columns mean", anchor=False)
    names = [str(name) for name in frame.columns]
    with st.container(key="choices"):
        left, right = st.columns(2, gap="medium")
        with left:
            _select(
                "own_target", "Decision or outcome", names, draft.target, _set_target, "What a model is to predict."
            )
            _target_details(frame, draft)
        with right:
            _select("own_protected", "Group to compare by", names, draft.protected, _set_protected,
                    "The protected attribute, such as sex or age.")  # fmt: skip
            _group_details(frame, draft)
        editor(frame, draft)
        gaps, rare, small = st.columns(3, gap="medium")
        with gaps:
            _follow("own_missing", draft.missing)
            st.segmented_control("Where a value is missing", list(MISSING_WORDS), wrap=True,
                                 format_func=MISSING_WORDS.__getitem__, key="own_missing", required=True,
                                 on_change=_set, args=("missing",),
                                 help="Filling puts the median of everybody into numbers and dates, and makes "
                                 "“missing” a category of its own.")  # fmt: skip
        with rare:
            _follow("own_rare", 100 * draft.rare)
            st.number_input("Merge categories rarer than (% of rows)", 0.0, 50.0, step=0.5, format="%g",
                            key="own_rare", on_change=_set_rare)  # fmt: skip
        with small:
            _follow("own_small_groups", draft.small_groups)
            st.segmented_control(f"Groups of fewer than {SMALL} people", list(SMALL_WORDS),
                                 format_func=SMALL_WORDS.__getitem__, wrap=True, key="own_small_groups", required=True,
                                 on_change=_set, args=("small_groups",))  # fmt: skip


def _target_details(frame: pd.DataFrame, draft: Plan) -> None:
    if draft.target is None:
        return
    if draft.kinds.get(draft.target) == "number" and draft.target_cut is not None:
        _follow("own_target_cut", float(draft.target_cut))
        st.number_input("Cut it at", key="own_target_cut", step=1.0, format="%g", on_change=_set_target_cut)
    values = table.values_of(frame, draft, draft.target)
    if len(values) > MOST_CHOICES:
        st.caption(f"{len(values):,} different values: choose another column, or make it a number below.")
        return
    _select("own_favourable", "The outcome people want", values, draft.favourable, _set_favourable, None)
    if len(values) > 2:
        _follow("own_others_as_one", draft.others_as_one)
        st.checkbox("Take all other outcomes together", key="own_others_as_one", on_change=_set,
                    args=("others_as_one",))  # fmt: skip


def _group_details(frame: pd.DataFrame, draft: Plan) -> None:
    if draft.protected is None:
        return
    if draft.cut is not None:
        _follow("own_cut", float(draft.cut))
        st.number_input("Cut into two groups at", key="own_cut", step=1.0, format="%g", on_change=_set_cut,
                        help="Everybody under this value against everybody at it or above.")  # fmt: skip
    _follow("own_sees", draft.protected not in draft.left_out)
    st.checkbox("The model may see this column", key="own_sees", on_change=_set_sees,
                help="As in the paper, where it is among the features. Without it, other columns may still give the "
                "group away.")  # fmt: skip


def editor(frame: pd.DataFrame, draft: Plan) -> None:
    """One row per column: its kind, and whether the model sees it."""
    visit = st.session_state
    key = f"own_editor_{visit.own_serial}_{visit.setdefault('own_editor_turn', 0)}"
    if key not in visit:
        # Edits count from here; a page switch forgets them, but they are in the draft by then.
        visit.own_editor_base = _overview(frame, draft)
    options = list(KIND_WORDS.values())
    with st.expander(f"All {frame.shape[1]} columns: correct what was guessed", expanded=frame.shape[1] <= 12):
        edited = st.data_editor(
            visit.own_editor_base,
            key=key,
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
    _take_edits(frame, edited)


def _overview(frame: pd.DataFrame, draft: Plan) -> pd.DataFrame:
    rows = []
    for name in frame.columns:
        told = frame[name].dropna()
        examples = told.drop_duplicates().head(4).map(lambda value: f"{value:g}" if isinstance(value, float) else value)
        rows.append(
            {
                "Column": name,
                "Role": {draft.target: "decision", draft.protected: "group"}.get(name, ""),
                "Examples": ", ".join(str(value)[:40] for value in examples),
                "Different values": told.nunique(),
                "Missing": 1 - len(told) / len(frame),
            }
        )
    told = pd.DataFrame(rows)
    for position, (what, values) in enumerate(_editable(frame, draft).items(), start=1):
        told.insert(position, what, values)
    return told


def _take_edits(frame: pd.DataFrame, edited: pd.DataFrame) -> None:
    """The draft as the editor has it; what depends on a kind that changed is suggested anew."""
    visit = st.session_state
    draft: Plan = visit.own_draft
    kind_of = {words: kind for kind, words in KIND_WORDS.items()}
    kinds: dict[str, Kind] = {
        name: kind_of[words] for name, words in zip(edited["Column"], edited["Kind"], strict=True)
    }
    seen = dict(zip(edited["Column"], edited["Model sees it"], strict=True))
    before = visit.own_editor_base.set_index("Column")["Model sees it"]
    left_out = set(draft.left_out)
    for name, sees in seen.items():
        if bool(before[name]) != bool(sees) and name != draft.target:
            (left_out.discard if sees else left_out.add)(name)
            if sees and kinds[name] == "text":  # wanted after all, so it means something
                kinds[name] = "category"
    fixed = tuple(name for name, fix in zip(edited["Column"], edited["Fixed"], strict=True) if fix)
    new = replace(
        draft, kinds=kinds, left_out=tuple(name for name in frame.columns if name in left_out), immutable=fixed
    )
    shown = {what: edited[what].tolist() for what in ("Kind", "Model sees it", "Fixed")}
    if new == draft and shown == _editable(frame, draft):
        return
    with suppress(TableError):  # said where the table is built
        for role, suggest in (("target", table.with_target), ("protected", table.with_protected)):
            name = getattr(new, role)
            if name is not None and new.kinds[name] != draft.kinds[name]:
                new = suggest(frame, new, name)
    visit.own_draft = new
    if shown != _editable(frame, new):  # one edit brought others along, or was none: the target is never seen
        _renew_editor()
    st.rerun()


def _editable(frame: pd.DataFrame, draft: Plan) -> dict[str, list]:
    """What a draft says in the columns of the editor that can be changed."""
    return {
        "Kind": [KIND_WORDS[draft.kinds[name]] for name in frame],
        "Model sees it": [
            name not in (*draft.left_out, draft.target) and draft.kinds[name] != "text" for name in frame
        ],
        "Fixed": [name in draft.immutable for name in frame],
    }


def _renew_editor() -> None:
    """Draw the table of columns from the draft; under another key, or the browser would keep its edits."""
    st.session_state.own_editor_turn += 1


def _select(key: str, label: str, options: list[str], value: str | None, on_change, help: str | None) -> None:
    _follow(key, value)
    st.selectbox(label, options, key=key, on_change=on_change, help=help, placeholder="Choose a column")


def _follow(key: str, value: object) -> None:
    """A widget shows the draft, whoever changed it."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _revise(**changes: object) -> None:
    st.session_state.own_draft = replace(st.session_state.own_draft, **changes)


def _set(field: str) -> None:
    _revise(**{field: st.session_state[f"own_{field}"]})


def _set_target() -> None:
    visit = st.session_state
    visit.own_draft = _suggested(table.with_target, visit.own_target)


def _set_protected() -> None:
    visit = st.session_state
    visit.own_draft = _suggested(table.with_protected, visit.own_protected)


def _suggested(suggest, column: str | None) -> Plan:
    visit = st.session_state
    draft: Plan = visit.own_draft
    _renew_editor()
    if column is not None and draft.kinds.get(column) == "text":  # chosen after all, so it means something
        draft = replace(draft, kinds={**draft.kinds, column: "category"})
    try:
        return suggest(visit.own_reading.frame, draft, column)
    except TableError:
        return draft


def _set_favourable() -> None:
    _revise(favourable=st.session_state.own_favourable)


def _set_target_cut() -> None:
    visit = st.session_state
    draft: Plan = visit.own_draft
    above = draft.favourable is None or draft.favourable.endswith("or more")
    new = replace(draft, target_cut=visit.own_target_cut)
    values = table.values_of(visit.own_reading.frame, new, str(draft.target))
    visit.own_draft = replace(new, favourable=values[1 if above else 0])


def _set_cut() -> None:
    _revise(cut=st.session_state.own_cut)


def _set_rare() -> None:
    _revise(rare=st.session_state.own_rare / 100)


def _set_sees() -> None:
    visit = st.session_state
    draft: Plan = visit.own_draft
    others = tuple(name for name in draft.left_out if name != draft.protected)
    visit.own_draft = replace(draft, left_out=others if visit.own_sees else (*others, str(draft.protected)))
    _renew_editor()


def missing_choice(draft: Plan) -> str:
    """What only the visitor can say and has not said yet."""
    if draft.target is None:
        return "the decision or outcome" if draft.protected else "the decision and the group to compare by"
    return "" if draft.protected else "the group to compare by"
