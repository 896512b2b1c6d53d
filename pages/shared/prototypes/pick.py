"""A row of names to pick one from, as this page has several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

Name = TypeVar("Name", bound=str)


def one_of(label: str, names: Mapping[Name, str], default: Name, key: str, **more: Any) -> Name:
    """The picked name; it stays picked for the visit, also while another page is open."""
    picked: Name = st.segmented_control(
        label,
        list(names),
        format_func=lambda name: names[name],
        default=default,
        required=True,
        key=key,
        persist_state="session",
        **more,
    )
    return picked
