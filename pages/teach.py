"""Teach: a room that a class works in, and links that show the app as a lesson needs it."""

from __future__ import annotations

import streamlit as st

from fairglvq.classroom.rooms import RoomError
from fairglvq.lesson.texts import LANGUAGES
from pages.shared import menu, server
from pages.shared.style import NO_CONTROLS, STYLE
from pages.shared.teach import generator, handouts, room
from pages.shared.visit import visit
from pages.shared.widgets import button

INTRO = (
    "In a **room** your class does the lesson together, each student on a device of their own. You see here who is at "
    "which step, what the class expects before anybody sees what happens, and the best model of everyone; you hold the "
    "class at a step, show what happens, and go on together. Students join by a link or a code. Nobody is asked for a "
    "name: nothing personal is stored, and a room ends by itself."
)


def main() -> None:
    """The room in the address, or how to get one."""
    here = visit().teach
    query = here.address.link_to_follow()
    if query is not None:
        here.code, here.key, here.problem = query.get("room", ""), query.get("key", ""), ""
        here.language = query["lang"] if query.get("lang") in LANGUAGES else "en"
        if here.code and not here.key:
            here.problem = "This link lacks the key to the room. Students join by the link to the lesson."
            here.code = ""
    st.html(STYLE + NO_CONTROLS)
    st.title("Join this room" if here.code else "Teach with the lesson", anchor=False)
    if here.problem:
        st.info(here.problem)
    if here.code:
        room.draw()
    else:
        st.markdown(INTRO)
        button("Open a room", _open, type="primary")
        st.divider()
        generator.draw()
        st.divider()
        handouts.draw()
    language = {} if here.language == "en" else {"lang": here.language}
    here.address.write({"room": here.code, "key": here.key} | language if here.code else {})


def _open() -> None:
    here = visit().teach
    try:
        here.code, here.key = server.rooms().open()
        here.problem = ""
    except (RoomError, OSError) as problem:
        here.problem = str(problem)


menu.require_app()
main()
