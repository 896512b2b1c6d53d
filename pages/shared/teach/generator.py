"""Links without a room: where to start, what to leave out, how to show it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import LANGUAGES, text
from fairglvq.scenes.settings import FIELDS, PRESETS, with_changes
from pages.shared import display, links
from pages.shared.teach import addresses
from pages.shared.visit import visit
from pages.shared.widgets import bound, control, one_of, store

PAGES = {"lesson": "Lesson", "playground": "Playground"}
PARTS = {name: field.label for name, field in FIELDS.items()}
HIDDEN = {display.ALL: "All controls", display.PRESETS: "Pictures to start from", **PARTS}


def draw() -> None:
    """Choices, and the link they make."""
    here = visit().links
    st.header("A link without a room", anchor=False)
    st.markdown("For slides, a course page or homework: it opens the app in the state that you choose.")
    one_of("Page", PAGES, "links.page")
    if here.page == "lesson":
        with st.container(horizontal=True, vertical_alignment="bottom"):
            control(
                "selectbox", "Start at step", here.step, partial(store, "links.step"), width=420,
                name=f"links_step_{here.language}", options=[step.number for step in STEPS],
                format_func=partial(_step, here.language),
            )  # fmt: skip
            one_of("Language", LANGUAGES, "links.language")
    else:
        _playground()
    with st.container(horizontal=True):
        control(
            "toggle", "Projector", here.display.projector, partial(_show, "projector"), name="links_projector",
            help="Large letters, no side bar, high contrast.",
        )  # fmt: skip
        bound("toggle", "Inside another page", "links.embedded", help="Without menu, for a frame in a course page.")
    link = addresses.made(here)
    st.code(link, language=None, wrap_lines=True)
    if here.embedded:
        st.markdown("To put it into a page:")
        frame = f'<iframe src="{escape(link)}" width="100%" height="900" style="border:0"></iframe>'
        st.code(frame, "html", wrap_lines=True)
    st.link_button("Open it", link)


def _step(language: str, number: int) -> str:
    return f"{number} {text(STEPS[number - 1].key, language).title}"


def _playground() -> None:
    """Which picture, with which chance, and what cannot be changed in it."""
    here = visit().links
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound(
            "selectbox", "Picture", "links.picture", options=["", *PRESETS], width=320,
            format_func=lambda name: PRESETS[name].title if name else "As the playground shows it now",
        )  # fmt: skip
        settings = PRESETS[here.picture].settings if here.picture else visit().model.settings
        seed = settings.seed if here.seed is None else here.seed
        bound(
            "number_input", "Seed", "links.seed", value=seed, min_value=0, max_value=int(FIELDS["seed"].high), step=1,
            width=150,
        )  # fmt: skip
    here.model = links.to_query(with_changes(settings, seed=seed))
    for label, name, names, help_text in (
        ("Hide", "hidden", HIDDEN, "These controls are not on the page."),
        ("Lock", "locked", PARTS, "These controls are on the page, with their value, and cannot be changed."),
    ):
        control(
            "multiselect", label, sorted(getattr(here.display, name), key=list(names).index), partial(_show, name),
            name=f"links_{name}", options=list(names), format_func=lambda one, names=names: names[one], help=help_text,
        )  # fmt: skip


def _show(name: str, value: Any) -> None:
    kept: dict[str, Any] = {name: frozenset(value) if isinstance(value, list) else value}
    visit().links.display = replace(visit().links.display, **kept)
