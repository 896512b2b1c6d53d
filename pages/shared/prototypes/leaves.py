"""Leaf cards of a tree: the gap taken apart, and the people in every leaf."""

from __future__ import annotations

from functools import partial

import streamlit as st

from fairglvq.explain.leaves import diagram
from fairglvq.explain.view import View
from fairglvq.figures.prototypes import waterfall_steps
from fairglvq.figures.tree import tree_alt, tree_figure
from pages.shared.prototypes import cards, sentences
from pages.shared.prototypes.sentences import md
from pages.shared.prototypes.view import marks_of
from pages.shared.style import CHART, theme

INTRO = (
    "A tree asks one question after another. Where they end is a **leaf**: everybody in it gets the same class. So a "
    "few cards show how every decision is made, and for whom."
)


def draw(view: View, method: str) -> None:
    """The whole section."""
    tree = view.tree(method)
    _diagram(view, method)
    parts = tree.contributions()
    if waterfall_steps(parts.values, len(parts.values)):
        with st.expander("Where the gap comes from, leaf by leaf"):
            table = cards.parts_table(view, tree, parts, "leaf")
            st.dataframe(table, hide_index=True, alt="What each leaf adds to the statistical parity gap.")
    cards.first_cards(cards.sorted_cards(tree), partial(_card, view, method))


def _card(view: View, method: str, p: int) -> None:
    tree = view.tree(method)
    st.html(sentences.heading(view, method, p, theme(), level=4))
    st.markdown(f"**{md(tree.rules[p])}**")
    cards.cell_in_short(view, tree, p)
    st.markdown(sentences.contribution(view, tree, p))
    st.markdown(f"**If it were removed.** {sentences.removal(view, tree.without(p))}")


def _diagram(view: View, method: str) -> None:
    """The whole tree, question by question."""
    st.markdown("## The tree")
    nodes, marks = diagram(view.tree(method)), marks_of(view, method)
    figure = view.figure(("tree", method, theme()), lambda: tree_figure(nodes, marks, theme=theme()))
    st.plotly_chart(figure, key="p_tree", alt=tree_alt(nodes, marks), **CHART)
    st.caption(
        "From the left: people for whom the answer is yes go up, everybody else down. A number in bold is a leaf, with "
        "what it decides and its share of all people; its shape is the group that most of its training people are in."
    )
