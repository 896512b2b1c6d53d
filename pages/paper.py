"""The paper, checked: its numbers beside this library's, why they differ, its algorithm, and what goes further."""

from __future__ import annotations

from importlib import import_module

import streamlit as st

from pages.shared import menu, runs
from pages.shared.paper import session
from pages.shared.paper.session import SECTIONS
from pages.shared.style import NO_CONTROLS, STYLE
from pages.shared.visit import visit
from pages.shared.widgets import one_of, repaired

INTRO = (
    "F. Störck, F. Hinder, J. Brinkrolf, B. Paassen, V. Vaquet and B. Hammer: *FairGLVQ: Fairness in Partition-Based "
    "Classification* (2024), [doi.org/10.1007/978-3-031-67159-3_17](https://doi.org/10.1007/978-3-031-67159-3_17). "
    "Everything it reports, computed again; every number on this page comes from a run of this library or from print."
)


def main() -> None:
    """A section at a time: the others cost nothing."""
    here = session.begin()
    st.html(STYLE + NO_CONTROLS)
    st.title("The paper, checked", anchor=False)
    with st.container(key="intro"):
        st.markdown(INTRO)
    repaired(here.repairs)
    one_of("Section", SECTIONS, "paper.section", label_visibility="collapsed")
    running, query = runs.running("paper"), session.to_query(here)
    here.address.write(query)
    st.fragment(body, run_every=runs.POLL if running else None)(running, query)
    if here.section == "figure2":
        from pages.shared.paper import figure2

        figure2.offer_download()


def body(was_running: bool, query: dict[str, str]) -> None:
    """The chosen section; while something is computed it is drawn again and again."""
    here = visit().paper
    if runs.running("paper") != was_running or session.to_query(here) != query:
        st.rerun()  # the polling, the address or the section has changed
    import_module(f"pages.shared.paper.{here.section}").draw()  # what a section needs is loaded when it is shown


menu.require_app()
main()
