"""Your data: bring a table, say what its columns mean, see what it says before any model, and use it everywhere."""

from __future__ import annotations

import streamlit as st

from fairglvq.report import scripts
from fairglvq.scenes import settings as state
from pages.shared import menu, own_table, safe_text, session
from pages.shared.style import STYLE
from pages.shared.tradeoff import results
from pages.shared.your_data import columns, summary, upload

OWN_STYLE = """<style>
@media (max-width: 640px) { [data-testid="stExpandSidebarButton"]::after { content: "Pages" !important; } }
.stMain h3 { font-size: 1.15rem; padding: 0.4rem 0 0; }
</style>"""


def main() -> None:
    """Table, meaning, first look, use."""
    visit = st.session_state
    if "settings" not in visit:
        session.begin()
    st.html(STYLE + safe_text.STYLE + OWN_STYLE + columns.STYLE + summary.STYLE)
    st.title("Look at your own decisions", anchor=False)
    upload.take_in()
    if "own_reading" not in visit:
        upload.ways()
        upload.explain_empty()
        return
    upload.show_reading(visit.own_reading)
    with st.expander("Bring another table, or forget this one", key="own_another"):
        # Above the ways to bring one: the uploader comes a moment later and pushes down what stands below it.
        st.button("Forget this table", on_click=_forget, help="Every page then begins anew, as if you had just come.")
        upload.ways()
    columns.draw(visit.own_reading.frame)
    asked = columns.missing_choice(visit.own_draft)
    if asked:
        safe_text.say(f"Choose {asked} above; then you see what the table says before any model.", "box")
        return
    built = summary.build()
    if built is not None:
        summary.draw(*built, visit.own_reading.notes)
        use()


def use() -> None:
    """The button, and where to go from there."""
    visit = st.session_state
    used = visit.get("own_used") == (visit.own_serial, visit.own_draft) and visit.settings.dataset == "table"
    st.button("Use this table", type="primary", on_click=_use, disabled=used)
    if used:
        safe_text.say("Every page now works with your table.", "box good")
        st.page_link("pages/playground.py", label="Train on it and watch: Playground")
        st.page_link("pages/tradeoff.py", label="Compare methods on it: Trade-off")
        st.page_link("pages/prototypes.py", label="Meet its typical people: Prototypes")
    elif "own_used" in visit:
        safe_text.say(
            "Other pages still show what they showed before: press the button to take over your changes.", "small"
        )


def _forget() -> None:
    results.stop()
    own_table.forget()
    st.session_state.own_pasted = ""  # the browser holds it, too


def _use() -> None:
    visit = st.session_state
    data = summary.built()  # not an argument of the button, whose arguments Streamlit keeps when the button is gone
    visit.own_used = (visit.own_serial, visit.own_draft)
    visit.own_immutable = visit.own_draft.immutable
    visit.own_program = scripts.load_table(visit.own_draft, visit.own_name, visit.own_reading.notes)
    visit.pop("choice", None)  # the trade-off page follows, too, and does not look for a table that is gone
    session.change(state.for_table(own_table.keep(data), data))


menu.require_app()
main()
