"""Leaf cards of a tree: the gap taken apart, and the people in every leaf."""

from __future__ import annotations

import streamlit as st

from fairglvq.explain.view import View
from fairglvq.figures.prototypes import waterfall_steps
from pages.shared.prototypes import cards, sentences
from pages.shared.prototypes.sentences import md
from pages.shared.style import theme
from pages.shared.visit import visit
from pages.shared.widgets import bound, one_of

INTRO = (
    "A tree asks one question after another. Where they end is a **leaf**: everybody in it gets the same class. So a "
    "few cards tell how every decision is made, and for whom."
)


def draw(view: View, method: str) -> None:
    """The whole section."""
    tree, here = view.tree(method), visit().prototypes
    parts = tree.contributions()
    if waterfall_steps(parts.values, len(parts.values)):
        with st.expander("Where the gap comes from, leaf by leaf"):
            table = cards.parts_table(view, tree, parts, "leaf")
            st.dataframe(table, hide_index=True, alt="What each leaf adds to the statistical parity gap.")
    one_of("Cards sorted by", cards.SORTS, "prototypes.order", help=cards.MIXTURE)
    order = tree.order(here.order)
    shown = order if here.all_cards else order[: cards.FIRST]
    for start in range(0, len(shown), 3):
        for column, p in zip(st.columns(3), shown[start : start + 3], strict=False):
            with column, st.container(border=True, key=f"card_{p}"):
                st.html(sentences.heading(view, method, p, theme(), level=4))
                st.markdown(f"**{md(tree.rules[p])}**")
                cards.cell_in_short(view, tree, p)
                st.markdown(sentences.contribution(view, tree, p))
                st.markdown(f"**If it were removed.** {sentences.removal(view, tree.without(p), p)}")
    if len(order) > cards.FIRST:
        bound("toggle", f"Show all {len(order)} cards", "prototypes.all_cards")
