"""Every widget that shows a value of the visit is made here, so that early clicks cannot overwrite settings.

Until the browser has drawn a widget whose value comes from session state, the widget has its first option, and a click
elsewhere on the page sends that. So a widget gets its value as its default and never through session state. When the
value changes for another reason than the widget itself, the widget is made anew under another key, and the browser's
value of the old one is ignored. Only a change that the visitor made in the widget calls ``then``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import callbacks  # noqa: F401
from pages.shared.visit import WidgetState, visit

_BY_DEFAULT = ("multiselect", "pills", "segmented_control")
_LIMITS = ("min_value", "max_value", "step")


def control(
    kind: str,
    label: str,
    value: Any,
    then: Callable[[Any], None],
    *,
    name: str,
    options: Sequence[Any] | None = None,
    **more: Any,
) -> None:
    """A widget ``st.<kind>`` that shows ``value``; ``then`` is called with the value that the visitor chooses.

    ``name`` is unique on all pages; styles find the widget by a class that begins with ``st-key-<name>-``. ``more`` are
    the widget's other arguments.
    """
    shown, key = _state(name, value, (options and tuple(options), *(more.get(limit) for limit in _LIMITS)))
    given: dict[str, Any] = {} if options is None else {"options": options}
    if kind == "selectbox":
        given["index"] = None if shown.first is None else list(options or ()).index(shown.first)
    else:
        given["default" if kind in _BY_DEFAULT else "value"] = shown.first
    getattr(st, kind)(label, key=key, on_change=_changed, args=(shown, key, then), **given, **more)


def _state(name: str, value: Any, options: Any) -> tuple[WidgetState, str]:
    """The widget in view and its key; a new one where that one shows something else, or is no longer on the page."""
    here = visit()
    shown = here.widgets.get(name)
    if shown is None or shown.value != value or shown.options != options or _key(name, shown) not in st.session_state:
        shown = here.widgets[name] = WidgetState(next(here.numbers), value, value, options)
    return shown, _key(name, shown)


def _key(name: str, shown: WidgetState) -> str:
    return f"{name}-{shown.number}"


def _changed(shown: WidgetState, key: str, then: Callable[[Any], None]) -> None:
    value = st.session_state[key]
    if value == shown.value:  # a slow browser may send the value of a widget that was replaced
        return
    then(value)
    shown.value = value


def bound(kind: str, label: str, field: str, **more: Any) -> None:
    """A widget for an attribute of the visit, such as "curve.front"; ``value`` where it shows another one."""
    section, attribute = field.split(".")
    value = more.pop("value", getattr(getattr(visit(), section), attribute))
    control(kind, label, value, partial(store, field), name=f"{section}_{attribute}", **more)


def store(field: str, value: Any) -> None:
    """For ``then``: keep the value in an attribute of the visit.

    Streamlit keeps callbacks of widgets that are gone, so they must not hold the visit, or a visitor's table, itself.
    """
    section, attribute = field.split(".")
    setattr(getattr(visit(), section), attribute, value)


def one_of(label: str, names: Mapping[Any, str], field: str, **more: Any) -> None:
    """A row of names to choose one from, for an attribute of the visit."""
    bound(
        "segmented_control", label, field, options=list(names), format_func=lambda one: names[one], required=True,
        **more,
    )  # fmt: skip


def button(label: str, then: Callable[..., None], *args: Any, **more: Any) -> None:
    """A button that calls ``then(*args)`` before the page runs again."""
    st.button(label, on_click=then, args=args, **more)


def download(label: str, data: str | bytes | Callable[[], str | bytes], file_name: str, mime: str, **more: Any) -> None:
    """A button for a file, made when it is pressed if ``data`` is a function; the page does not run again for it."""
    st.download_button(label, data, file_name, mime, on_click="ignore", **more)


def boxed(key: str, text: str) -> DeltaGenerator:
    """A sentence in a box; returns the place for a button beside it."""
    with st.container(key=key, border=True):
        left, right = st.columns([7, 1], vertical_alignment="center")
    left.markdown(text)
    return right


def repaired(repairs: list[str]) -> None:
    """What had to be repaired in the link, until it is dismissed."""
    if repairs:
        with st.container(key="repaired", border=True, horizontal=True, vertical_alignment="center"):
            st.markdown("**The link was repaired.** " + " ".join(repairs))
            button("Dismiss", repairs.clear)
