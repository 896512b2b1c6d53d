"""What is compared: data set, methods with their strengths, folds, seeds, and how prototypes are trained."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from fairglvq.experiments import methods
from fairglvq.scenes.settings import FIELDS, PARAMETERS, TABLE, for_table
from fairglvq.scenes.sources import register
from fairglvq.tradeoff.choice import (
    FOLDS,
    SEEDS,
    Choice,
    has_bins,
    read_strengths,
    usual,
    usual_for_table,
    write_strengths,
)
from pages.shared import own_table
from pages.shared.controls import field_control
from pages.shared.tradeoff.results import data_of
from pages.shared.tradeoff.session import change, change_field, current
from pages.shared.visit import visit
from pages.shared.widgets import button, control

MAIN = ("prototypes", "batch_size", "alpha", "leaves")
FEATURES = {"adult": 98, "compas": 401, "german": 59}


def panel(choice: Choice) -> None:
    """All controls; those that only matter to prototypes come last."""
    field = FIELDS["dataset"]
    control(
        "selectbox", field.label, choice.dataset, _set_dataset, name="curve_dataset", format_func=field.named,
        options=[*field.choices, TABLE] if choice.dataset == TABLE or own_table.current() else list(field.choices),
    )  # fmt: skip
    if has_bins(choice.dataset):
        _setting("bins", choice)
    _methods("Prototypes", choice, True, help="Methods that decide by the closest prototype.")
    _methods("Compared with", choice, False, help="What practitioners use today, and two simple references.")
    if not choice.strengths:
        st.caption("Choose at least one method.")
    left, right = st.columns(2)
    with left:
        control(
            "selectbox", "Folds", choice.folds, partial(change_field, "folds"), name="curve_folds", options=FOLDS,
            help="Parts of the data; each is measured once by models trained on the others.",
        )  # fmt: skip
    with right:
        control(
            "selectbox", "Seeds", choice.seeds, partial(change_field, "seeds"), name="curve_seeds", options=SEEDS,
            help="How often everything is done again with other folds, starts and orders.",
        )  # fmt: skip
    for name in MAIN:
        if name != "leaves" or any("max_leaves" in methods.get(method).parameters for method, _ in choice.strengths):
            _setting(name, choice)
    more = st.expander("More", key="curve_more", on_change="rerun")
    if more.open:
        with more:
            for name in PARAMETERS:
                if name not in MAIN:
                    _setting(name, choice)
    button("Reset", _reset, help="The data set's own choice: the paper's experiment where there is one.")


def _methods(label: str, choice: Choice, prototypes: bool, **more: Any) -> None:
    """The chosen methods with prototypes, or the others, and their strengths."""
    mine = [(name, values) for name, values in choice.strengths if methods.get(name).has_prototypes == prototypes]
    control(
        "multiselect", label, [name for name, _ in mine], partial(_set_methods, prototypes),
        name=f"curve_methods_{'prototypes' if prototypes else 'others'}",
        options=[name for name, method in methods.METHODS.items() if method.has_prototypes == prototypes],
        format_func=lambda name: methods.METHODS[name].title, **more,
    )  # fmt: skip
    for name, values in mine:
        if methods.get(name).knob:
            _strengths(name, values)


def _strengths(name: str, values: tuple[float, ...]) -> None:
    method = methods.get(name)
    typed, problem = visit().curve.refused.get(name, (write_strengths(values), ""))
    knob = "parity (1 \N{MINUS SIGN} gap)" if method.knob == "parity" else method.knob
    control(
        "text_input", f"{method.title}: {knob}", typed, partial(_set_strengths, name),
        name=f"curve_strengths_{name}", help=method.explanation,
    )  # fmt: skip
    if problem:
        st.error(f"{problem} The curve still shows the strengths before.")


def _setting(name: str, choice: Choice) -> None:
    field_control(FIELDS[name], getattr(choice, name), partial(change_field, name), name=f"curve_{name}")


def _set_dataset(dataset: str) -> None:
    visit().curve.refused.clear()
    table = own_table.current()
    if dataset == TABLE and table:
        change(usual_for_table(for_table(register(table), table)))
    else:
        change(usual(dataset))


def _set_methods(prototypes: bool, names: list[str]) -> None:
    choice = current()
    others = [name for name, _ in choice.strengths if methods.get(name).has_prototypes != prototypes]
    change(choice.with_methods([*names, *others], features_of(choice)))


def features_of(choice: Choice) -> int:
    """Columns of the data, which is how many directions there are to remove at most."""
    if choice.dataset in FEATURES:
        return FEATURES[choice.dataset]
    return data_of(choice).X.shape[1]


def _set_strengths(name: str, text: str) -> None:
    refused = visit().curve.refused
    try:
        change(current().with_strengths(name, read_strengths(name, text)))
        refused.pop(name, None)
    except ValueError as problem:
        refused[name] = text, str(problem)


def _reset() -> None:
    _set_dataset(current().dataset)
