"""Like people: whether they are decided alike, cell by cell, and a short list of those who are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from fairglvq import wording
from fairglvq.explain import alike
from fairglvq.explain.alike import Alike
from fairglvq.explain.view import View
from pages.shared.prototypes import sentences
from pages.shared.prototypes.people import first_of, people_table
from pages.shared.prototypes.sentences import md

LISTED = 20  # people
ALONE = "Fewer than two people were measured: there is nobody to compare."


def draw(view: View, method: str) -> None:
    """The whole section."""
    found = view.alike(method)
    st.markdown("## Are like people decided alike?")
    if found is None:
        st.markdown(ALONE)
        return
    about = alike.summary(found, view.people)
    st.markdown(" ".join(alike.words(about, [md(name) for name in view.who])))
    st.caption(
        f"{md(alike.how_compared(about))} This is one way to say who is alike; another one may find other people."
    )
    _by_cell(view, method, found)
    _people(view, method, found)


def _by_cell(view: View, method: str, found: Alike) -> None:
    noun, cells = sentences.noun(view, method), found.cells
    st.markdown(f"**Where like people get different decisions, {noun} by {noun}**")
    order = np.lexsort((-cells.n, -cells.unlike))
    order = order[cells.n[order] > 0]
    table = pd.DataFrame(
        {
            noun: order + 1,
            "decides": [view.people.classes[c] for c in view.cells(method).answers[order]],
            "people": cells.n[order],
            "unlike most": cells.unlike[order],
            "consistency": [wording.percent(share) for share in cells.consistency[order]],
            "fare differently": [wording.percent(share) for share in cells.violations[order]],
        }
    )
    st.dataframe(table, hide_index=True, alt=f"Individual fairness of each {noun}, most people decided unlike first.")
    st.caption(
        f"In a {noun}'s cell all people get the same decision, so people with another one stand beyond its border. "
        "The last column: pairs closer than usual of whom only one gets the favourable decision."
    )


def _people(view: View, method: str, found: Alike) -> None:
    st.markdown("**Decided unlike the people most like them**")
    some = found.unlike[:LISTED]
    if not len(some):
        st.markdown("Nobody: everybody is decided like most of those most like them.")
        return
    decided, n = view.cells(method).decisions, found.near.others.people.shape[1]
    agrees = found.agreement[np.searchsorted(found.near.compared, some)]
    columns = {
        "decision": [view.people.classes[c] for c in decided[some]],
        f"same, of {n}": np.round(agrees * n).astype(int),
    }
    alt = "People decided unlike most of those most like them, a row each."
    people_table(view, some, columns, key="p_unlike", alt=alt)
    more = first_of(LISTED, len(found.unlike))
    st.caption(f"Tick a row to see that person, and those most like them.{more}")
