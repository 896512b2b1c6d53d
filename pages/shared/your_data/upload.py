"""Getting a table: a file, pasted text or the example, read with progress and error messages."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairglvq.datasets import german, table
from fairglvq.datasets.files import read_bundled
from fairglvq.datasets.table import Reading, TableError
from fairglvq.wording import quoted, time_left
from pages.shared import safe_text
from pages.shared.visit import visit
from pages.shared.widgets import bound, button, download, store

PATIENCE = 0.7  # seconds of reading before progress is shown

PASTED = "pasted table.txt"  # the name that a script gives it

PRIVATE = (
    "Your table is kept in memory by the computer that runs this page, for your visit alone. It is written to no disk, "
    "{elsewhere}, and is forgotten soon after you close the tab."
)


def ways() -> None:
    """Three ways to bring a table."""
    upload, paste, example = st.tabs(["Upload a file", "Paste a table", "Try an example"])
    with upload:
        st.file_uploader(
            "CSV or Parquet, one row per person, column names in the first row",
            key=_uploader(),
            on_change=_take_upload,
        )
    with paste:
        bound(
            "text_area", "Copy cells in a spreadsheet, column names included, and paste them here", "table.pasted",
            height=140,
            placeholder="sex\tage\thired\nfemale\t31\tyes\nmale\t45\tno",
        )  # fmt: skip
        button("Read this table", _take_paste)
    with example:
        st.markdown(
            "German Credit: 1,000 people who asked a German bank for a loan in the 1970s. Who was a good risk, and do "
            "people under 25 get the same chance?"
        )
        left, right = st.columns(2)
        with left:
            button("Use the example", _take_example, width="stretch")
        with right:
            download("Download it as CSV", example_file, "german_credit.csv", "text/csv", width="stretch")
    st.caption(PRIVATE.format(elsewhere=_elsewhere()))


def _elsewhere() -> str:
    if os.environ.get("FAIRGLVQ_CLUSTER"):
        return "goes to the computers that compute trade-off curves for it, if you ask for one, and nowhere else"
    return "goes nowhere else"


def explain_empty() -> None:
    """What will happen here."""
    st.markdown(
        "**What you need:** a table with one row per person, a column with a decision or outcome (hired or not, "
        "credit or not), and a column that says which group a person belongs to (sex, age, origin).\n\n"
        "**What you get:** how often each group gets the favourable outcome, which columns reveal the group, and then "
        "every page of this app with your table. Upload a file above, or try the example."
    )


def _uploader() -> str:
    here = visit().table
    if here.uploader < 0:
        here.uploader = next(visit().numbers)
    return f"upload-{here.uploader}"


def _take_upload() -> None:
    """Take the file, and put an empty uploader in place of the full one.

    A full one would keep the file in memory, show it as if it were in use even after it was refused, and not report the
    same file when it is uploaded again after Cancel.
    """
    here, file = visit().table, st.session_state[_uploader()]
    if file is not None:
        here.raw = (file.getvalue(), file.name, False)
        here.uploader = -1


def _take_paste() -> None:
    here = visit().table
    here.raw = (here.pasted, PASTED, False)


def _take_example() -> None:
    here = visit().table
    here.raw, here.is_example = (example_file(), "german_credit.csv", False), True


def example_file() -> bytes:
    """German Credit as a plain CSV file, without the column of the sex, which is unreliable."""
    return table.write(pd.read_csv(read_bundled(german.FILE, german.SHA256)).drop(columns="sex"))


def take_in() -> None:
    """Read what was brought; on failure everything that was there before stays."""
    here = visit().table
    # There in every run, because what stands below would be drawn anew, and an open drawer closed, if it moved.
    progress, place = ProgressBar(), st.container(key="own_problem_box")
    if here.raw is not None:
        content, name, skip = here.raw
        whose = "" if isinstance(content, str) else f"{quoted(name)}: "
        here.problem = None
        try:
            if isinstance(content, str):
                reading = table.read_text(content, most_rows=table.MOST_ROWS, skip_ragged=skip, progress=progress.show)
            else:
                reading = table.read(content, name, most_rows=table.MOST_ROWS, skip_ragged=skip, progress=progress.show)
            draft = table.guess(reading.frame)
        except table.RaggedError as problem:
            here.problem = f"{whose}{problem}", problem.n
            here.ragged = here.raw  # read again only if the visitor says so
        except TableError as problem:
            here.problem = f"{whose}{problem}", 0
        except Exception as problem:
            safe_text.log("A table could not be read", problem)
            here.problem = f"{whose}Something unexpected went wrong while reading it.", 0
        else:
            if here.is_example:
                draft = replace(draft, cut=25.0)
            here.ragged = None
            here.reading, here.draft, here.name = reading, draft, name
            here.serial += 1
            here.editor = -1
        here.raw, here.is_example = None, False
        progress.spot.empty()
    if here.problem:
        words, ragged = here.problem
        kept = " Your last table is still there." if here.reading else ""
        with place:
            safe_text.write(f"{words}{kept}", "box wrong")
            if ragged:
                rows = "this row" if ragged == 1 else f"these {ragged:,} rows"
                button(f"Go on without {rows}", _skip_ragged)


class ProgressBar:
    """A progress bar and Cancel, once reading takes longer than a moment.

    Each update is also a point at which Streamlit can end this run when Cancel is pressed.
    """

    def __init__(self) -> None:
        self.spot = st.empty()
        self.began = time.monotonic()
        self.bar: DeltaGenerator | None = None

    def show(self, share: float) -> None:
        """Show the share of the work done."""
        seconds = time.monotonic() - self.began
        if seconds < PATIENCE or share <= 0:
            return
        words = f"Reading your table: {time_left(seconds * (1 - share) / share)}"
        if self.bar is None:
            with self.spot.container(horizontal=True, vertical_alignment="center"):
                self.bar = st.progress(share, text=words)
                button("Cancel", store, "table.raw", None, key="cancel_reading")
        else:
            self.bar.progress(share, text=words)


def _skip_ragged() -> None:
    here = visit().table
    if here.ragged:
        content, name, _ = here.ragged
        here.raw, here.ragged = (content, name, True), None


def show_reading(reading: Reading) -> None:
    """What was read, and how."""
    name = visit().table.name
    safe_text.write(f"{'Your pasted table' if name == PASTED else quoted(name)}: {reading.summary}", "box")
    safe_text.listed(reading.notes)
