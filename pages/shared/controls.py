"""The controls of the model in view, drawn from `FIELDS`; each has a sentence about its effect in this run."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import streamlit as st

from fairglvq.figures.thumbnails import thumbnail
from fairglvq.scenes.settings import FIELDS, MAIN, PRESETS, TABLE, Field, Settings, for_table, preset_of, with_changes
from pages.shared import own_table, session
from pages.shared.style import theme
from pages.shared.visit import visit
from pages.shared.widgets import button, control

SHORT = {"three_classes": "3 classes", "three_groups": "3 groups", "german": "German"}


def presets(settings: Settings) -> None:
    """The row of presets."""
    if not visit().display.shows_presets:
        return
    control(
        "pills",
        "Start from",
        preset_of(settings),
        _take_preset,
        name="preset",
        options=list(PRESETS),
        format_func=lambda name: PRESETS[name].title,
        label_visibility="collapsed",
    )


def _take_preset(name: str | None) -> None:
    if name:
        session.begin_with(with_changes(PRESETS[name].settings, seed=visit().model.settings.seed))


def panel(settings: Settings, effects: dict[str, str], *, hidden: Collection[str] = ()) -> None:
    """All settings, each with its effect in this run: the main ones at hand, the others behind "More"."""
    display = visit().display
    shown = [name for name in FIELDS if name not in hidden and display.shows(name)]
    names = [name for name in shown if FIELDS[name].applies(settings)]
    if not names:
        return
    for name in names:
        if name in MAIN:
            _control(name, settings, effects.get(name))
    rest = [name for name in names if name not in MAIN]
    left, right = st.columns(2)
    with left:
        button("Reset", session.reset, help="The data set's own settings; the seed stays.", width="stretch")
    with right:
        help_seed = "Draw data, split and start anew."
        button("New seed", session.new_seed, help=help_seed, width="stretch", disabled=visit().fixes("seed"))
    if rest:
        # Drawn only when open: a dozen widgets that few visitors need would delay everybody's first picture.
        first, now = visit().more_open
        first = first if "more" in st.session_state else now  # begun otherwise, it would be another element
        more = st.expander("More", key="more", on_change="rerun", expanded=first)
        visit().more_open = first, bool(more.open)
        if more.open:
            with more:
                for name in rest:
                    _control(name, settings, effects.get(name))


def more_is_open() -> bool:
    """Whether "More" is open, also before this run has drawn it."""
    return bool(st.session_state.get("more", visit().more_open[1]))


def _control(name: str, settings: Settings, effect: str | None) -> None:
    field, value = FIELDS[name], getattr(settings, name)
    locked = name in visit().display.locked
    if name == "dataset":
        choices = [*field.choices, TABLE] if value == TABLE or own_table.current() else field.choices
        control(
            "pills", field.label, value, partial(_set, name), name=name, options=choices, format_func=_picture,
            required=True, help=field.help, disabled=locked,
        )  # fmt: skip
    else:
        then = partial(_set, name)
        field_control(field, value, then, name=name, top=field.top(settings, value), disabled=locked)
    if effect:
        st.caption(effect)


def field_control(
    field: Field, value: Any, then: Any, *, name: str, top: float | None = None, disabled: bool = False
) -> None:
    """The widget that suits a field: its choices in a row or on a slider, or its range."""
    about: dict[str, Any] = {"name": name, "help": field.help, "disabled": disabled}
    if field.several:

        def ordered(chosen: list) -> None:
            if chosen:
                then(tuple(one for one in field.choices if one in chosen))

        control(
            "pills", field.label, list(value), ordered,
            options=field.choices, format_func=field.named, selection_mode="multi", **about,
        )  # fmt: skip
    elif field.choices and isinstance(field.choices[0], str):
        control(
            "segmented_control", field.label, value, then, options=field.choices, format_func=field.named,
            required=True, **about,
        )  # fmt: skip
    elif field.choices:
        control(
            "select_slider", field.label, value, then, options=field.choices, format_func=field.named, **about
        )  # fmt: skip
    else:
        control(
            "number_input" if name == "seed" else "slider", field.label, value, then, min_value=field.low,
            max_value=type(field.step)(field.high if top is None else top), step=field.step, **about,
        )  # fmt: skip


def _picture(dataset: str) -> str:
    title = FIELDS["dataset"].named(dataset)
    if dataset == TABLE:
        return title
    return f"![]({thumbnail(dataset, theme())}) {SHORT.get(dataset, title)}"


def _set(name: str, value: Any) -> None:
    model, table = visit().own_model, own_table.current()  # a slider's message may come when the lesson is in view
    if value == TABLE and table:
        session.change(for_table(own_table.keep(table), table), model)
    else:
        session.change(session.with_fixed(with_changes(model.settings, **{name: value})), model)
