"""A student's place in a class that does the lesson: joining by link, reporting, and the pace that the teacher sets.

Steps can also be opened by the link itself (``step=3``), without a room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from fairglvq.classroom.rooms import NoRoomError, Pace, RoomError
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import words
from pages.shared import server
from pages.shared.visit import visit
from pages.shared.widgets import button, control

LONGEST_CODE = 12  # as typed, with blanks
POLL = 3.0  # seconds between two reports: the delay of what the teacher sets


def arrive(query: Mapping[str, str]) -> None:
    """Join the room of a link; a student's own address also contains the token."""
    here, code, token = visit().student, query.get("room", ""), query.get("student", "")
    here.opened = _step(query.get("step", ""))
    if here.seat and (here.seat.code, here.seat.token) == (code, token):
        return  # Back or Forward
    here.seat, here.pace, here.notice = None, Pace(), ""
    if code:
        try:
            here.seat, here.pace = server.rooms().join(code, token)
        except (RoomError, OSError) as problem:
            _go_alone(problem)


def enter(code: str) -> None:
    """Join the room whose code was typed."""
    if code.strip():
        arrive({"room": code, "step": str(visit().student.opened)})
        report(visit().lesson.progress or Progress())


def _step(text: str) -> int:
    return min(int(text), STEPS[-1].number) if text.isascii() and text.isdigit() else 0


def _go_alone(problem: Exception) -> None:
    here = visit().student
    here.seat, here.pace, here.noticed = None, Pace(opened=here.pace.opened), None  # what was open stays open
    here.notice = "room gone" if isinstance(problem, NoRoomError) else "room full"


def to_query() -> dict[str, str]:
    """The parameters of the student's own address, so that a reload is the same student."""
    here = visit().student
    query = {"step": str(here.opened)} if here.opened > 1 else {}
    return query | ({"room": here.seat.code, "student": here.seat.token} if here.seat else {})


def report(progress: Progress) -> None:
    """Report the progress to the room, and take the pace that the teacher has set."""
    here = visit().student
    if here.seat:
        try:
            here.seat, here.pace = server.rooms().report(here.seat, progress)
        except RoomError as problem:
            _go_alone(problem)


def opened() -> int:
    """The last step that may be entered without passing the gates before it."""
    here = visit().student
    return max(here.opened, here.pace.opened)


def may_enter(step: int, passed: bool) -> bool:
    """Whether a step is open; ``passed`` says whether the gates before it are."""
    return visit().student.pace.allows(step, passed or step <= opened())


def waits(step: int) -> bool:
    """Whether the outcome of a step is hidden until the teacher shows it."""
    return visit().student.pace.hides_outcome(step)


def poll(progress: Callable[[], Progress]) -> None:
    """Report at intervals while the page is open, and rerun the page when the teacher changes the pace."""
    if visit().student.seat:
        st.fragment(_poll, run_every=POLL)(progress)


def _poll(progress: Callable[[], Progress]) -> None:
    here = visit().student
    before = here.pace, here.notice, here.seat
    report(progress())
    if (here.pace, here.notice, here.seat) != before:
        st.rerun()


def join_form(language: str) -> None:
    """A place to type the code of a room, for those who did not come by its link."""
    here, texts = visit().student, words(language)
    if here.seat is None:
        with st.popover(texts["join"]):
            control("text_input", texts["code"], "", enter, name="student_code", max_chars=LONGEST_CODE)


def banner(progress: Progress, language: str, go: Callable[[int], None]) -> None:
    """One line about the room, and a button to the class's step; that the room has ended is shown until one goes on."""
    here, texts, step = visit().student, words(language), progress.step
    if here.notice:
        here.noticed = here.noticed or progress
        if progress == here.noticed:
            st.info(texts[here.notice])
        else:
            here.notice, here.noticed = "", None
    if here.seat is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_room"):
        st.markdown(f"**{texts['room']} {here.seat.code}:** {_asked(step, language)}", width="content")
        target = here.pace.hold or here.pace.opened
        if step < target <= here.pace.opened:
            button(f"{texts['next']} {target}", go, target, type="primary", key="lesson_to_class")


def _asked(step: int, language: str) -> str:
    pace, texts = visit().student.pace, words(language)
    if pace.hold is not None:
        return f"{texts['room held']} {pace.hold}."
    if pace.opened > step:
        return f"{texts['room opened']} {pace.opened}."
    return texts["room free"]
