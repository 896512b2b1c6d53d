"""Your data: bring a table, choose what its columns mean, see its rates before any model, and use it on all pages."""

from __future__ import annotations

import streamlit as st

from fairglvq.report import scripts
from fairglvq.scenes.settings import TABLE, for_table
from pages.shared import menu, own_table, runs, safe_text, session
from pages.shared.style import NO_CONTROLS, STYLE
from pages.shared.visit import visit
from pages.shared.widgets import button
from pages.shared.your_data import columns, summary, upload


def main() -> None:
    """Table, meaning, first look, use."""
    st.html(STYLE + safe_text.STYLE + NO_CONTROLS + columns.STYLE + summary.STYLE)
    st.title("Analyse your own data", anchor=False)
    upload.take_in()
    reading = visit().table.reading
    if reading is None:
        upload.ways()
        upload.explain_empty()
        return
    upload.show_reading(reading)
    with st.expander("Bring another table, or forget this one", key="another_table"):
        # Above the ways to bring one: the uploader comes a moment later and pushes down what stands below it.
        button("Forget this table", _forget, help="Every page then begins anew, as in a new visit.")
        upload.ways()
    columns.draw(reading.frame)
    draft = columns.current_draft()
    asked = columns.missing_choice(draft)
    if asked:
        safe_text.write(f"Choose {asked} above; then you see what the table says before any model.", "box")
        return
    built = summary.build()
    if built is not None:
        data, profile = built
        summary.draw(data, profile, draft, reading)
        use()


def use() -> None:
    """The button, and where to go from there."""
    here = visit().table
    used = here.used == (here.serial, here.draft) and visit().model.settings.dataset == TABLE
    button("Use this table", _use, type="primary", disabled=used)
    if used:
        safe_text.write("Every page now works with your table.", "box good")
        st.page_link("pages/playground.py", label="Train on it and watch: Playground")
        st.page_link("pages/tradeoff.py", label="Compare methods on it: Trade-off")
        st.page_link("pages/prototypes.py", label="See its prototypes: Prototypes")
    elif here.used is not None:
        safe_text.write(
            "Other pages still show what they showed before: press the button to take over your changes.", "small"
        )


def _forget() -> None:
    for section in ("curve", "paper"):
        runs.stop(section)
    own_table.forget()


def _use() -> None:
    """Take the table that is on the page: not an argument of the button, which Streamlit keeps when it is gone."""
    here, reading = visit().table, visit().table.reading
    built, draft = summary.build(), columns.current_draft()
    if built is None or reading is None:
        return
    data, _ = built
    here.used = here.serial, draft
    here.script = scripts.load_table(draft, here.name, reading.notes)
    visit().curve.choice = None  # else the trade-off page would need the table before
    session.enter(for_table(own_table.keep(data), data), "fairglvq")


menu.require_app()
main()
