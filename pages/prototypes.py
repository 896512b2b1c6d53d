"""The page a stakeholder reads: prototypes in original units, the people behind them, and one person at a time."""

from __future__ import annotations

import streamlit as st

from fairglvq import explain
from fairglvq.scenes.service import Show
from pages.shared import controls, download, menu, progress, session
from pages.shared.prototypes import cards, export, pairs, person, sentences
from pages.shared.prototypes.pick import one_of
from pages.shared.prototypes.view import title, trained, view_of
from pages.shared.style import STYLE

SECTIONS = {"cards": "Cards", "pairs": "Side by side", "person": "One person"}
INTRO = (
    "A **prototype** is a typical case the model has learned: a point among the people, described by the same columns. "
    "Everybody gets the class of the prototype most like them. All people who are most like one prototype are its "
    "**cell**. So a few cards tell how every decision is made, and for whom."
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
METHODS = ["fairglvq", "glvq", "inp"]


def main() -> None:
    """Settings, training, cards."""
    settings = session.begin()
    st.session_state.waits_for = []
    st.html(STYLE + OWN_STYLE)
    st.title("Meet the prototypes, and the people behind them", anchor=False)
    repaired()
    missing = download.needed(settings)
    show = None if missing else trained()
    if missing:
        download.offer()
    else:
        progress.watch()
    if show:
        draw(show)
    with st.sidebar:
        controls.panel(settings, show.said if show else {}, hidden=HIDDEN)
    session.write_link(show.scene.meta["epochs"][-1] if show else None)


def repaired() -> None:
    """What had to be repaired in the link, until it is dismissed."""
    told = st.session_state.told
    if told:
        with st.container(key="repaired", border=True):
            st.markdown("**The link was repaired.** " + " ".join(told))
            st.button("Dismiss", on_click=told.clear)


def draw(show: Show) -> None:
    """The model in a paragraph, then the section chosen."""
    for warning in show.warnings:
        st.warning(warning)
    view = view_of(show)
    if view is None:
        return
    if view.settings != st.session_state.settings:
        st.caption("The model before is shown until the new one is trained.")
    with st.container(key="intro"):
        st.markdown(INTRO)
    asked = st.session_state.pop("shown_method", None)  # by whoever opened this model
    if asked in METHODS:
        st.session_state.p_method = asked
    with st.container(horizontal=True):
        method = one_of("Model", {name: title(name) for name in METHODS}, "fairglvq", "p_method")
        section = one_of("Section", SECTIONS, "cards", "p_section")
    st.markdown(sentences.summary(view, method))
    filled_in = explain.filled_in(view.explained(method))
    if filled_in:
        st.caption(filled_in)
    if section == "cards":
        cards.draw(view, method)
    elif section == "pairs":
        pairs.draw(view, method)
    else:
        person.draw(view, method)
    export.offer(view, method)
    if view.data.caveats:
        st.caption("**Caveats.** " + " ".join(map(sentences.md, view.data.caveats)))


menu.require_app()
main()
