"""The teacher's view of a room: how to join it, where the class is, its answers, and the pace."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from fairglvq.classroom import summary
from fairglvq.classroom.rooms import Pace, RoomError, RoomView
from fairglvq.figures.classroom import Bar, bars_html, plane_alt, plane_figure
from fairglvq.figures.svg import to_svg
from fairglvq.lesson.filling import fill
from fairglvq.lesson.numbers import FIXED
from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import LANGUAGES, text
from fairglvq.wording import count
from pages.shared import server
from pages.shared.style import show_svg, theme
from pages.shared.teach import addresses
from pages.shared.visit import visit
from pages.shared.widgets import bound, button, download, one_of, store

POLL = 2.0  # seconds between two updates of the class
CHALLENGES = {challenge.key: (step, challenge) for step in STEPS for challenge in step.challenges}
STYLE = """<style>
.join { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; align-items: center; }
.join .code { font-size: clamp(3rem, 9vw, 6.5rem); font-weight: 700; letter-spacing: 0.12em; line-height: 1; }
.join .link { font-size: clamp(1.1rem, 2.4vw, 1.9rem); font-weight: 600; overflow-wrap: anywhere; }
.join img { width: clamp(9rem, 16vw, 14rem); height: auto; background: #ffffff; border-radius: 0.5rem; }
.class-bars { display: grid; gap: 0.45rem; }
.class-bars .row {
  display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 2.5ch; gap: 0.2rem 0.8rem; align-items: center;
}
.class-bars .words { line-height: 1.25; }
.class-bars .mark { font-style: normal; font-weight: 600; }
.class-bars .mark::before { content: "· "; }
.class-bars .track {
  height: 1.1rem; border-radius: 0.25rem; background: color-mix(in srgb, currentColor 12%, transparent);
}
.class-bars .bar {
  display: block; height: 100%; border-radius: 0.25rem; transition: width 0.4s;
  background: color-mix(in srgb, currentColor 75%, transparent);
}
.class-bars .n { font-variant-numeric: tabular-nums; text-align: right; }
.plane { display: block; width: 100%; max-width: 64rem; height: auto; }
.st-key-class, .st-key-class [data-testid="stVerticalBlock"] { gap: 0.7rem; }
.st-key-class p { margin-bottom: 0; }
.st-key-class h2 { padding-top: 0.9rem; }
@media (max-width: 640px) {
  .class-bars .row { grid-template-columns: minmax(0, 1fr) 2.5ch; }
  .class-bars .words { grid-column: 1 / -1; }
}
@media (prefers-reduced-motion: reduce) { .class-bars .bar { transition: none; } }
</style>"""


def draw() -> None:
    """Everything about the room in the address."""
    here = visit().teach
    st.html(STYLE)
    _invite(here.code)
    st.fragment(_live, run_every=POLL)()
    _leave()


def _invite(code: str) -> None:
    """How to join, large enough for the last row of a classroom."""
    import segno  # only a teacher needs it

    here = visit().teach
    link = addresses.lesson(here.language, room=code)
    picture = segno.make(link, error="m", micro=False).svg_data_uri(scale=4, border=2, light="#ffffff")
    st.html(
        f'<div class="join"><img src="{picture}" alt="QR code of the link"><div><div class="code">{escape(code)}</div>'
        f'<div class="link">{escape(link.split("://")[-1])}</div></div></div>'
    )
    if addresses.only_here():
        st.warning(
            "Students cannot open this link: it works on this computer only. Open this page by the computer's name or "
            "address in the network instead of localhost, and the link here follows."
        )
    with st.expander("The link to copy, its language, and the key to this room"):
        one_of("Language of the lesson", LANGUAGES, "teach.language")
        st.code(link, language=None)
        st.caption(
            "The address of this page holds the key to the room. Bookmark it to come back, also after the server was "
            "restarted, and keep it to yourself: on a projector, show the page in full screen (F11)."
        )


def _live() -> None:
    """What changes while the page is open."""
    room = _ask(server.rooms().view)
    if room is None:
        st.rerun()
        return
    if server.rooms().problem:
        st.warning(
            f"The room is in memory only and does not survive a restart of the server: {server.rooms().problem}."
        )
    with st.container(key="class"):
        _pace(room.pace)
        left, right = st.columns(2, gap="large")
        with left:
            _where(room)
        with right:
            _predictions(room)
        _challenges(room)


def _pace(pace: Pace) -> None:
    """Hold the class at a step, show the outcome, go on together, or release the class."""
    opened = f" Steps up to {pace.opened} are open for all." if pace.opened > 1 else ""
    st.markdown(f"**{_pace_words(pace)}**{opened}")
    with st.container(horizontal=True, vertical_alignment="bottom", key="pace"):
        if pace.hold is None:
            _while_free(pace)
        else:
            _while_held(pace, pace.hold)


def _while_free(pace: Pace) -> None:
    bound("selectbox", "Step", "teach.hold_at", options=[step.number for step in STEPS], width=90)
    chosen, following = visit().teach.hold_at, max(pace.opened, 1) + 1
    _change(f"Hold the class at step {chosen}", pace._replace(hold=chosen, revealed=False), first=True)
    if following <= STEPS[-1].number:
        _change(f"Open step {following} for all", pace._replace(opened=following))


def _while_held(pace: Pace, hold: int) -> None:
    if not pace.revealed:
        _change("Show what happens", pace._replace(revealed=True), first=True)
    if hold < STEPS[-1].number:
        together = Pace(hold + 1, False, max(pace.opened, hold + 1))
        _change(f"On to step {hold + 1} together", together, first=pace.revealed)
    if max(pace.opened, 1) < hold:
        _change(f"Open step {hold} for all", pace._replace(opened=hold))
    _change("Release the class", pace._replace(hold=None, revealed=False))


def _change(label: str, pace: Pace, *, first: bool = False) -> None:
    button(label, _set_pace, pace, type="primary" if first else "secondary")


def _pace_words(pace: Pace) -> str:
    if pace.hold is None:
        return "Everybody goes at their own speed."
    if pace.revealed:
        return f"The class is held at step {pace.hold}: everybody can try it out, and nobody goes beyond it."
    return (
        f"The class is held at step {pace.hold}: everybody answers its question, and what happens stays hidden until "
        "you show it."
    )


def _set_pace(pace: Pace) -> None:
    here = visit().teach
    _ask(server.rooms().set_pace, pace)
    if pace.hold:
        here.hold_at = pace.hold
        here.step = None


def _where(room: RoomView) -> None:
    st.header("Where the class is", anchor=False)
    if not room.students:
        st.markdown("Nobody has come yet. Show the code or the link above: each student who opens it appears here.")
    else:
        here = sum(student.here for student in room.students)
        st.markdown(f"**{count(len(room.students), 'student')}**, {here} on the page right now.")
    counts = summary.at_steps(room)
    language = visit().teach.language
    rows = [
        Bar(
            f"{step.number} {text(step.key, language).title}", counts[step.number],
            "held here" if room.pace.hold == step.number else "",
        )
        for step in STEPS
    ]  # fmt: skip
    st.html(bars_html(rows, "Students by step"))
    hours = max(1, round((room.ends - time.time()) / 3600))
    left = count(hours, "hour") if hours < 48 else count(hours // 24, "day")
    st.caption(f"If nobody uses the room, it ends by itself in {left}; nothing of it is kept then.")


def _predictions(room: RoomView) -> None:
    here = visit().teach
    number = here.step or summary.step_in_view(room)
    st.header(f"What the class expects in step {number}", anchor=False)
    bound(
        "segmented_control", "Question of step", "teach.step", options=[step.number for step in STEPS],
        help="Without a choice: the step at which the class is held, or where most students are.",
    )  # fmt: skip
    step = STEPS[number - 1]
    words, given = text(step.key, here.language), summary.answers(room, step.prediction.key)
    answers = sum(given.values())
    numbers = defaultdict(lambda: math.nan, FIXED)  # what has to be measured stays open
    question = fill(words.question, numbers, here.language, theme())
    st.markdown(f"**{question}** {answers} of {count(len(room.students), 'student')} answered.", unsafe_allow_html=True)
    st.html(
        bars_html([Bar(words.options[key], n) for key, n in given.items()], f"Answers to the question of step {number}")
    )


def _challenges(room: RoomView) -> None:
    st.header("Challenges: everybody's best model", anchor=False)
    names = {
        key: f"Step {step.number}: gap ≤ {100 * challenge.gap:g}, accuracy ≥ {100 * challenge.accuracy:g}%"
        for key, (step, challenge) in CHALLENGES.items()
    }
    here = visit().teach
    here.challenge = here.challenge or next(iter(CHALLENGES))
    one_of("Challenge", names, "teach.challenge", label_visibility="collapsed")
    step, challenge = CHALLENGES[here.challenge]
    found = summary.results(room, challenge.key)
    alt = plane_alt(found, challenge)
    st.markdown(alt)
    if found:
        line = None if step.settings.real else server.known_limit(step.settings.dataset)  # no model can pass it
        figure = plane_figure(found, challenge, limit=line, theme=theme())
        show_svg(to_svg(figure, width=1000, height=460, background="none", alt=alt), "plane", alt)


def _leave() -> None:
    """Export the results, and end the room."""
    here = visit().teach
    with st.container(horizontal=True, vertical_alignment="center", key="leave"):
        download("Export as CSV", partial(_csv, here.code, here.key), f"room_{here.code}.csv", "text/csv")
        if not here.ending:
            button("End the room", store, "teach.ending", True)
        else:
            st.markdown("End it for everybody? Answers that you have not exported are lost.")
            button("Yes, end it", _end, type="primary")
            button("No", store, "teach.ending", False)


def _csv(code: str, key: str) -> str:
    return summary.to_csv(server.rooms().view(code, key))


def _end() -> None:
    here = visit().teach
    _ask(server.rooms().end)
    if here.code:
        _close(f"Room {here.code} has ended, and nothing of it is kept.")


def _ask(what: Callable[..., Any], *more: Any) -> Any:
    """Call a method of `Rooms` for the room in view. If it has ended meanwhile, show that and return None."""
    here = visit().teach
    try:
        return what(here.code, here.key, *more)
    except RoomError as problem:
        _close(str(problem))
        return None


def _close(why: str) -> None:
    here = visit().teach
    here.problem, here.code, here.key, here.ending = why, "", "", False
