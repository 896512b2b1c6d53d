"""The page a stakeholder reads: prototypes in original units, the people behind them, and one person at a time."""

from __future__ import annotations

import streamlit as st

from fairglvq import explain
from fairglvq.explain.view import View
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.service import TrainedScene
from pages.shared import controls, download, menu, session, training
from pages.shared.prototypes import alike, cards, export, leaves, pairs, person, sentences
from pages.shared.style import STYLE
from pages.shared.visit import visit
from pages.shared.widgets import one_of, repaired

SECTIONS = {"cards": "Cards", "pairs": "Side by side", "alike": "Like people", "person": "One person"}
OF_LEAVES = {name: words for name, words in SECTIONS.items() if name != "pairs"}  # which pairs prototypes
INTRO = (
    "A **prototype** is a typical case the model has learned: a point among the people, described by the same columns. "
    "Everybody gets the class of the prototype most like them. All people who are most like one prototype are its "
    "**cell**. So a few cards show how every decision is made, and for whom."
)
OWN_STYLE = """<style>
.st-key-open_card, [class*="st-key-card_"], [class*="st-key-card_"] > div { gap: 0.55rem; }
.stMainBlockContainer [data-testid="stMarkdownContainer"] > p:last-child { margin-bottom: 0; }
.st-key-open_card [data-testid="stVerticalBlock"] { gap: 0.55rem; }
.prototype { font-size: 1.15rem; padding: 0; margin: 0; font-weight: 600; }
h4.prototype { font-size: 1rem; }
.pseudo { margin: 0.15rem 0 0; font-size: 0.8rem; opacity: 0.75; }
[class*="st-key-card_"] p { font-size: 0.88rem; line-height: 1.45; }
</style>"""
HIDDEN = ("plane",)


def main() -> None:
    """Settings, training, cards."""
    settings = session.begin()
    st.html(STYLE + OWN_STYLE)
    st.title("Prototypes, and the people they decide for", anchor=False)
    repaired(visit().model.repairs)
    missing = download.needed(settings.dataset)
    show = None if missing else training.trained()
    if missing:
        download.offer(session.undo)
    top, below = training.picture()
    with top:
        training.watch()
    if show:
        with below:
            draw(show)
    with st.sidebar:
        controls.panel(settings, show.effects if show and not training.pending() else {}, hidden=HIDDEN)
    session.write_link(visit().prototypes.method)


def draw(show: TrainedScene) -> None:
    """The model in a paragraph, then the section chosen."""
    for warning in show.warnings:
        st.warning(warning)
    view, here = training.current_view(), visit().prototypes
    if view is None:
        return
    names = list(view.trainings)[::-1]
    method = here.method if here.method in names else names[0]
    with st.container(key="intro"):
        st.markdown(INTRO if method in view.models else leaves.INTRO)
    with st.container(horizontal=True):
        one_of("Model", {name: TITLES[name] for name in names}, "prototypes.method", value=method)
        sections = SECTIONS if method in view.models else OF_LEAVES
        section = here.section if here.section in sections else "cards"
        one_of("Section", sections, "prototypes.section", value=section)
    st.markdown(sentences.summary(view, method))
    st.markdown(view.figure(("protected", method), lambda: sentences.protected(view, method)))
    draw_section(view, method, section)
    export.offer(view, method)
    if view.data.caveats:
        st.caption("**Caveats.** " + " ".join(map(sentences.md, view.data.caveats)))


def draw_section(view: View, method: str, section: str) -> None:
    """The section chosen."""
    filled_in = explain.filled_in(view.explained(method)) if method in view.models else ""
    if filled_in:
        st.caption(filled_in)
    own_cards = cards if method in view.models else leaves
    {"cards": own_cards, "pairs": pairs, "alike": alike, "person": person}[section].draw(view, method)


menu.require_app()
main()
