"""What is compared: data set, methods with their strengths, folds, seeds, and how prototypes are trained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from fairglvq.experiments import methods
from fairglvq.scenes.settings import FIELDS, Settings, for_table
from fairglvq.scenes.sources import TABLE, dataset_of, lend
from fairglvq.tradeoff import choice as curves
from fairglvq.tradeoff.choice import FOLDS, PARAMETERS, SEEDS, Choice
from pages.shared import own_table
from pages.shared.tradeoff import visit

MAIN = ("prototypes", "batch_size", "alpha")
FEATURES = {"adult": 98, "compas": 401, "german": 57}


def panel(choice: Choice) -> None:
    """All controls; those that only matter to prototypes come last."""
    field = FIELDS["dataset"]
    names = [*field.choices, TABLE] if own_table.current() else list(field.choices)
    _follow("t_dataset", choice.dataset)
    st.selectbox(field.label, names, format_func=field.named, key="t_dataset", on_change=_set_dataset)
    _follow("t_methods", [name for name, _ in choice.strengths])
    st.multiselect(
        "Methods", list(methods.METHODS), format_func=lambda name: methods.METHODS[name].title, key="t_methods",
        on_change=_set_methods, help="Those after FairGLVQ are what practitioners use today.",
    )  # fmt: skip
    if not choice.strengths:
        st.caption("Choose at least one method.")
    for name, values in choice.strengths:
        if methods.get(name).knob:
            _strengths(name, values)
    left, right = st.columns(2)
    with left:
        _follow("t_folds", choice.folds)
        st.selectbox("Folds", FOLDS, key="t_folds", on_change=_set, args=("folds",), help="Parts of the data; each is "
                     "measured once by models trained on the others.")  # fmt: skip
    with right:
        _follow("t_seeds", choice.seeds)
        st.selectbox("Seeds", SEEDS, key="t_seeds", on_change=_set, args=("seeds",), help="How often everything is "
                     "done again with other folds, starts and orders.")  # fmt: skip
    for name in MAIN:
        _setting(name, choice)
    more = st.expander("More", key="t_more", on_change="rerun")
    if more.open:
        with more:
            for name in PARAMETERS:
                if name not in MAIN:
                    _setting(name, choice)
    st.button("Reset", help="The data set's own choice: the paper's experiment where there is one.", on_click=_reset)


def _strengths(name: str, values: tuple[float, ...]) -> None:
    key, method = f"t_s_{name}", methods.get(name)
    wrong = st.session_state.get(f"{key}_wrong")
    if not wrong:
        _follow(key, curves.write_strengths(values))
    st.text_input(
        f"{method.title}: {method.knob}", key=key, on_change=_set_strengths, args=(name,), help=method.explanation
    )
    if wrong:
        st.error(wrong)


def _setting(name: str, choice: Choice) -> None:
    field, key, value = FIELDS[name], f"t_{name}", getattr(choice, name)
    _follow(key, value)
    common: dict[str, Any] = {"key": key, "on_change": _set, "args": (name,), "help": field.help}
    if field.choices and isinstance(field.choices[0], str):
        st.segmented_control(field.label, field.choices, format_func=field.named, required=True, **common)
    elif field.choices:
        st.select_slider(field.label, field.choices, value, **common)
    else:
        # Without a value of its own a slider begins at its lowest, and a quick click elsewhere would send that.
        st.slider(field.label, field.low, field.high, value, field.step, **common)


def _follow(key: str, value: Any) -> None:
    """A widget shows the choice, whoever changed it."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _set(name: str) -> None:
    state = st.session_state
    visit.change(replace(state.choice, **{name: state[f"t_{name}"]}))


def _set_dataset() -> None:
    _forget_mistakes()
    chosen, table = st.session_state.t_dataset, own_table.current()
    if chosen == TABLE and table:
        visit.change(curves.usual_for_table(for_table(lend(table), table)))
    else:
        visit.change(curves.usual(chosen))


def _set_methods() -> None:
    choice: Choice = st.session_state.choice
    visit.change(choice.with_methods(st.session_state.t_methods, features_of(choice)))


def features_of(choice: Choice) -> int:
    """Columns of the data, which is how many directions there are to remove at most."""
    if choice.dataset in FEATURES:
        return FEATURES[choice.dataset]
    return dataset_of(Settings(dataset=choice.dataset, table=choice.table)).X.shape[1]


def _set_strengths(name: str) -> None:
    state, key = st.session_state, f"t_s_{name}"
    try:
        visit.change(state.choice.with_strengths(name, curves.read_strengths(name, state[key])))
        state.pop(f"{key}_wrong", None)
    except ValueError as problem:
        state[f"{key}_wrong"] = f"{problem} The curve still shows the strengths before."


def _reset() -> None:
    _forget_mistakes()
    choice: Choice = st.session_state.choice
    table = own_table.current()
    if choice.dataset == TABLE and table:
        visit.change(curves.usual_for_table(for_table(choice.table, table)))
    else:
        visit.change(curves.usual(choice.dataset))


def _forget_mistakes() -> None:
    for name in methods.METHODS:
        st.session_state.pop(f"t_s_{name}_wrong", None)
