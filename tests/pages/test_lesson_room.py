"""The lesson of a student in a room: joining, reporting, waiting, going on, and going on alone."""

import apptest
import pytest
from apptest import labelled

from fairglvq.classroom.rooms import Pace
from fairglvq.lesson.texts import text, words
from pages.shared import server

pytestmark = pytest.mark.usefixtures("own_rooms")
WORDS = words("en")
OPTIONS = text("prototype", "en").options


@pytest.fixture
def room(own_rooms):
    return server.rooms().open()


def lesson(**query):
    return apptest.visit("lesson", **query)


def press(at, label):
    return apptest.settle(labelled(at.button, label).click().run())


def said(at):
    return "\n".join(one.value for one in [*at.markdown, *at.info])


def step_button(at, number):
    return next(button for button in at.button if button.label == str(number))


def class_of(room):
    return {student.number: student.progress for student in server.rooms().view(*room).students}


def hear(at):
    """What the page's clock does: it reports, and runs the page anew if the teacher asks for something else."""
    visit = at.session_state["visit"]
    visit.student.seat, visit.student.pace = server.rooms().report(visit.student.seat, visit.lesson.progress)
    return apptest.settle(at.run())


def test_the_join_link_makes_a_student_and_the_own_address_is_the_same_one(room):
    at = lesson(room=room[0])
    own = dict(at.query_params)
    assert set(own) == {"room", "student"}
    assert f"**Room {room[0]}:** everybody goes at their own speed" in said(at)
    press(at, OPTIONS["nearest"])
    assert class_of(room)[1].answers == {"prototype": "nearest"}
    reloaded = lesson(**at.query_params)
    assert reloaded.query_params["student"] == own["student"]
    other = lesson(room=room[0])
    assert other.query_params["student"] != own["student"]
    assert list(class_of(room)) == [1, 2]


def test_a_class_that_is_held_answers_waits_and_goes_on_together(room):
    server.rooms().set_pace(*room, Pace(hold=1))
    at = lesson(room=room[0])
    assert "the teacher holds the class at step 1." in said(at)
    press(at, OPTIONS["nearest"])
    assert WORDS["room waits"] in said(at)
    assert "**Your turn.**" not in said(at)
    server.rooms().set_pace(*room, Pace(hold=1, revealed=True))
    hear(at)
    assert WORDS["room waits"] not in said(at)
    assert "**Your turn.**" in said(at)
    assert step_button(at, 2).disabled
    server.rooms().set_pace(*room, Pace(hold=2, opened=2))
    hear(at)
    assert not step_button(at, 2).disabled
    press(at, "Go on to step 2")
    assert at.session_state["visit"].lesson.progress.step == 2
    assert step_button(at, 3).disabled
    assert class_of(room)[1].step == 2
    reloaded = lesson(**at.query_params)  # the gate of step 1 is closed, and still the teacher has opened step 2
    assert reloaded.session_state["visit"].lesson.progress.step == 2


def test_a_step_that_was_passed_shows_what_happened_also_while_the_class_is_held_there(room):
    server.rooms().set_pace(*room, Pace(hold=1))
    at = lesson(room=room[0], progress="1.a-prototype-nearest.p-prototype")
    assert WORDS["room waits"] not in said(at)
    assert "**Your turn.**" in said(at)


@pytest.mark.parametrize("code", ["NOPES", "<b>", "x" * 300])
def test_an_unknown_room_is_said_until_one_goes_on(code):
    at = lesson(room=code)
    assert WORDS["room gone"] in said(at)
    assert at.query_params == {}
    apptest.settle(at.run())
    assert WORDS["room gone"] in said(at)
    press(at, OPTIONS["same"])
    assert WORDS["room gone"] not in said(at)


def test_a_room_that_ends_lets_its_students_go_on_alone(room):
    server.rooms().set_pace(*room, Pace(hold=1, opened=1))
    at = lesson(room=room[0])
    press(at, OPTIONS["nearest"])
    server.rooms().end(*room)
    press(at, "1")  # whatever is saved next notices
    assert WORDS["room gone"] in said(at)
    assert "**Your turn.**" in said(at)
    assert set(at.query_params) == {"progress"}


def test_a_room_that_ends_is_said_also_to_those_who_first_mistyped_its_code(room):
    at = lesson()
    for code in ("QQQQQ", room[0]):
        apptest.settle(labelled(at.text_input, WORDS["code"]).set_value(code).run())
    press(at, OPTIONS["nearest"])
    server.rooms().end(*room)
    press(at, "1")
    assert WORDS["room gone"] in said(at)


def test_a_full_room_sends_nobody_away_from_the_lesson(room, monkeypatch):
    monkeypatch.setattr("fairglvq.classroom.rooms.MOST_STUDENTS", 0)
    at = lesson(room=room[0])
    assert WORDS["room full"] in said(at)
    assert OPTIONS["same"] in [button.label for button in at.button]


def test_a_code_can_be_typed(room):
    at = lesson(progress="1.a-prototype-nearest")
    labelled(at.text_input, WORDS["code"]).set_value(f" {room[0].lower()} ").run()
    assert apptest.settle(at).query_params["room"] == room[0]
    assert class_of(room)[1].answers == {"prototype": "nearest"}


def test_a_link_starts_at_a_step():
    at = lesson(step="3")
    assert at.session_state["visit"].lesson.progress.step == 3
    assert not step_button(at, 2).disabled
    assert step_button(at, 4).disabled
    assert at.query_params["step"] == "3"
    assert lesson(**at.query_params).session_state["visit"].lesson.progress.step == 3
    for bad in ("-1", "²"):
        assert lesson(step=bad).session_state["visit"].lesson.progress.step == 1
