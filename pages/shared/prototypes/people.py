"""People by their number, and tables in which a row leads to the person."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq.explain.view import View
from pages.shared.visit import visit


def number_of(view: View, i: int) -> str:
    """What a person is called: the row of the data set, counted from 1."""
    row = int(view.points.rows[i])
    noun = "person" if view.settings.real else "point"
    return f"{noun} {row + 1}" if row >= 0 else f"painted point {i + 1}"


def show_person(dataset: str, i: int) -> None:
    """Go to the section about one person, and show this one."""
    here = visit().prototypes
    here.person = dataset, i
    here.section, here.way = "person", "row"


def people_table(view: View, some: np.ndarray, columns: Mapping[str, Any], *, key: str, alt: str) -> None:
    """A row for each of some people, with further columns; ticking a row shows that person."""
    people = view.people
    known = {
        "person": [number_of(view, i) for i in some],
        "group": [people.groups[g] for g in people.s[some]],
        "true label": [people.classes[c] for c in people.y[some]],
    }
    st.dataframe(
        pd.DataFrame({**known, **columns}), hide_index=True, key=key, selection_mode="single-row", alt=alt,
        on_select=partial(_show_ticked, key, view.settings.dataset, some),
    )  # fmt: skip


def _show_ticked(key: str, dataset: str, some: np.ndarray) -> None:
    for row in st.session_state[key]["selection"]["rows"]:
        show_person(dataset, int(some[row]))


def first_of(shown: int, n: int) -> str:
    """That a table leaves people out, for the end of its caption; empty if it does not."""
    return f" The first {shown} of {n:,} are listed." if n > shown else ""
