"""The controls of the playground, drawn from the table in `state`; each says what it did in this run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from fairglvq.figures.thumbnails import thumbnail
from fairglvq.scenes import settings as state
from fairglvq.scenes.settings import FIELDS, PRESETS, Field, Settings
from fairglvq.scenes.sources import TABLE
from pages.shared import own_table, session

SHORT = {"three_classes": "3 classes", "three_groups": "3 groups", "german": "German"}


def presets(settings: Settings) -> None:
    """The row of pictures worth seeing."""
    _follow("w_preset", state.preset_of(settings))
    st.pills(
        "Start from",
        list(PRESETS),
        format_func=lambda name: PRESETS[name].title,
        key="w_preset",
        on_change=_take_preset,
        label_visibility="collapsed",
    )


def _take_preset() -> None:
    name = st.session_state.w_preset
    if name:
        seed = st.session_state.settings.seed
        session.change(state.with_changes(PRESETS[name].settings, seed=seed))


def panel(settings: Settings, effects: dict[str, str], *, hidden: Collection[str] = ()) -> None:
    """All settings but the hidden ones, each with its effect: the main ones visible, the others behind "More"."""
    names = [name for name, field in FIELDS.items() if field.applies(settings) and name not in hidden]
    for name in names:
        if name in state.MAIN:
            _control(name, settings, effects.get(name))
    rest = [name for name in names if name not in state.MAIN]
    left, right = st.columns(2)
    left.button("Reset", help="The data set's own settings; the seed stays.", on_click=session.reset, width="stretch")
    right.button("New seed", help="Draw data, split and start anew.", on_click=session.new_seed, width="stretch")
    if rest:
        # Drawn only when open: a dozen widgets that few visitors need would delay everybody's first picture.
        more = st.expander("More", key="more", on_change=session.touch)
        if more.open:
            with more:
                for name in rest:
                    _control(name, settings, effects.get(name))


def _control(name: str, settings: Settings, effect: str | None) -> None:
    field, key = FIELDS[name], f"w_{name}"
    _follow(key, getattr(settings, name))
    common: dict[str, Any] = {
        "key": key,
        "on_change": _set,
        "args": (name,),
        "help": field.help,
    }
    _widget(name, field, settings, common)
    if effect:
        st.caption(effect)


def _widget(name: str, field: Field, settings: Settings, common: dict[str, Any]) -> None:
    if name == "dataset":
        theme = "dark" if st.context.theme.type == "dark" else "light"

        def picture(dataset: str) -> str:
            if dataset == TABLE:
                return field.named(dataset)
            title = SHORT.get(dataset, field.named(dataset))
            return f"![{field.named(dataset)}]({thumbnail(dataset, theme)}) {title}"

        choices = [*field.choices, TABLE] if own_table.current() else field.choices
        st.pills(field.label, choices, format_func=picture, required=True, **common)
    elif name == "seed":
        st.number_input(field.label, int(field.low), int(field.high), step=1, **common)
    elif field.choices and isinstance(field.choices[0], str):
        st.segmented_control(field.label, field.choices, format_func=field.named, required=True, **common)
    elif field.choices:
        st.select_slider(field.label, field.choices, getattr(settings, name), **common)
    else:
        # Without a value of its own a slider begins at its lowest, and a quick click elsewhere would send that.
        value = getattr(settings, name)
        st.slider(field.label, field.low, type(field.step)(field.top(settings, value)), value, field.step, **common)


def _set(name: str) -> None:
    value = st.session_state[f"w_{name}"]
    table = own_table.current()
    if value == TABLE and table:
        session.change(state.for_table(own_table.keep(table), table))
    else:
        session.change(state.with_changes(st.session_state.settings, **{name: value}))


def _follow(key: str, value: Any) -> None:
    """A widget shows the settings, whoever changed them."""
    if st.session_state.get(key) != value or key not in st.session_state:
        st.session_state[key] = value
