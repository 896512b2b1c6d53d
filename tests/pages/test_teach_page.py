"""The teacher's page without a browser: opening a room, watching it, asking things of it, ending it; and links."""

from dataclasses import replace

import apptest
import pytest
from apptest import labelled

from fairglvq.classroom.rooms import Pace
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import text
from fairglvq.scenes.settings import PRESETS
from pages.shared import display, links, server
from pages.shared.teach import addresses
from pages.shared.visit import LinkVisit

pytestmark = pytest.mark.usefixtures("own_rooms")


def press(at, label):
    return labelled(at.button, label).click().run()


def words(at):
    return "\n".join([*(one.value for one in at.markdown), *(one.proto.body for one in at.get("html"))])


def room(at):
    return at.session_state["visit"].teach


def test_from_an_empty_room_to_its_end():
    at = apptest.visit("teach")
    assert at.title[0].value == "Teach with the lesson"
    press(at, "Open a room")
    code, key = room(at).code, room(at).key
    assert at.query_params == {"room": code, "key": key}
    assert f'<div class="code">{code}</div>' in words(at)
    assert f"/lesson?room={code}" in words(at)
    assert "Nobody has come yet" in words(at)
    press(at, "End the room")
    press(at, "No")
    assert server.rooms().view(code, key).students == ()
    press(at, "End the room")
    press(at, "Yes, end it")
    assert at.info[0].value == f"Room {code} has ended, and nothing of it is kept."
    assert at.query_params == {}
    labelled(at.button, "Open a room")


@pytest.mark.parametrize(
    "labels", [["Hold the class at step 1"], ["Open step 2 for all"], ["End the room", "Yes, end it"]]
)
def test_a_room_that_has_ended_elsewhere_says_so_whatever_is_pressed(labels):
    code, key = server.rooms().open()
    at = apptest.visit("teach", room=code, key=key)
    *first, last = labels
    for label in first:
        press(at, label)
    server.rooms().end(code, key)
    press(at, last)
    assert not at.exception
    assert at.info[0].value == f"There is no room {code}: it has ended, or its code is mistyped."
    press(at, "Open a room")
    labelled(at.button, "End the room")  # nobody is asked about the end of another room


def test_a_reload_keeps_the_language_of_the_class():
    at = apptest.visit("teach")
    press(at, "Open a room")
    labelled(at.button_group, "Language of the lesson").set_value("de").run()
    reloaded = apptest.visit("teach", **at.query_params)
    assert reloaded.code[0].value.endswith(f"/lesson?room={room(at).code}&lang=de")


def test_a_question_on_the_projector_has_the_numbers_that_nothing_has_to_be_measured_for():
    code, key = server.rooms().open()
    at = apptest.visit("teach", room=code, key=key)
    labelled(at.button_group, "Question of step").set_value(6).run()
    assert "What happens to FairGLVQ if C is turned from 1 to 4?" in words(at)
    labelled(at.button_group, "Question of step").set_value(5).run()
    assert "until the gap is at most 5\N{NO-BREAK SPACE}points" in words(at)


def answer(code, number, option):
    """A student who has come to a step and answered its question."""
    step = STEPS[number - 1]
    seat = server.rooms().join(code)[0]
    passed = frozenset(one.key for one in STEPS[: number - 1])
    progress = Progress(number, {step.prediction.key: step.prediction.options[option]}, passed)
    server.rooms().report(seat, progress.tried("byhand", 0.85, 0.04))


def test_a_teacher_watches_and_leads_a_class():
    code, key = server.rooms().open()
    at = apptest.visit("teach", room=code, key=key)
    for option in (0, 0, 2):
        answer(code, 3, option)
    answer(code, 1, 1)
    at.run()
    assert "**4 students**, 4 on the page right now." in words(at)
    assert "3 of 4 students answered" in words(at)
    options = text("hiding", "en").options
    page = words(at)
    assert f"{options['good']}</span>" in page
    assert page.index("width:66.7%") < page.index("width:0.0%", page.index("width:66.7%")) < page.index("width:33.3%")
    assert "4 students have tried this challenge and 4 reached its target" in words(at)
    labelled(at.selectbox, "Step").set_value(3).run()
    press(at, "Hold the class at step 3")
    assert server.rooms().view(code, key).pace == Pace(3)
    assert "held here" in words(at)
    press(at, "Open step 3 for all")
    assert server.rooms().view(code, key).pace == Pace(3, False, 3)
    press(at, "Show what happens")
    assert server.rooms().view(code, key).pace == Pace(3, True, 3)
    press(at, "On to step 4 together")
    assert server.rooms().view(code, key).pace == Pace(4, False, 4)
    press(at, "Release the class")
    assert server.rooms().view(code, key).pace == Pace(None, False, 4)
    press(at, "Open step 5 for all")
    assert server.rooms().view(code, key).pace == Pace(None, False, 5)
    labelled(at.button_group, "Question of step").set_value(1).run()
    assert text("prototype", "en").question in words(at)
    assert "1 of 4 students answered" in words(at)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"room": "NOPES", "key": "x"}, "There is no room NOPES: it has ended, or its code is mistyped."),
        ({"room": "", "key": "x"}, None),
        ({"room": "NOPES"}, "This link lacks the key"),
        ({"room": "{code}", "key": "wrong"}, "The key in this link does not open room"),
    ],
)
def test_a_bad_link_says_why_and_offers_a_room(query, problem):
    code, _ = server.rooms().open()
    at = apptest.visit("teach", **{name: value.format(code=code) for name, value in query.items()})
    assert [one.value.startswith(problem) for one in at.info] == ([True] if problem else [])
    assert at.query_params == {}
    labelled(at.button, "Open a room")


def test_a_server_without_room_for_rooms_says_so(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FAIRGLVQ_ROOMS", str(tmp_path / "file" / "rooms.sqlite"))
    at = press(apptest.visit("teach"), "Open a room")
    assert "set FAIRGLVQ_ROOMS to another file" in at.info[0].value
    monkeypatch.setenv("FAIRGLVQ_ROOMS", str(tmp_path / "rooms.sqlite"))
    press(at, "Open a room")
    assert not at.info


def code_of(at):
    return at.code[0].value


def test_links_without_a_room():
    at = apptest.visit("teach")
    assert code_of(at).endswith("/lesson")
    labelled(at.selectbox, "Start at step").set_value(3).run()
    labelled(at.button_group, "Language").set_value("de").run()
    assert code_of(at).endswith("/lesson?step=3&lang=de")
    labelled(at.toggle, "Projector").set_value(True).run()
    assert code_of(at).endswith("/lesson?step=3&projector=1&lang=de")
    labelled(at.button_group, "Page").set_value("playground").run()
    labelled(at.selectbox, "Picture").set_value("local").run()
    labelled(at.number_input, "Seed").set_value(7).run()
    labelled(at.multiselect, "Hide").set_value(["alpha", "presets"]).run()
    labelled(at.multiselect, "Lock").set_value(["C"]).run()
    labelled(at.toggle, "Inside another page").set_value(True).run()
    link = code_of(at)
    assert link.endswith("&seed=7&projector=1&hide=alpha.presets&lock=C&embed=true")
    assert at.code[1].value.startswith(f'<iframe src="{link.replace("&", "&amp;")}"')
    asked = dict(part.split("=") for part in link.partition("?")[2].split("&") if not part.startswith("embed"))
    settings, repairs = links.from_query(asked)
    assert settings == replace(PRESETS["local"].settings, seed=7)
    assert repairs == []
    assert display.from_query(asked) == (at.session_state["visit"].links.display, [])
    labelled(at.button_group, "Page").set_value("lesson").run()
    assert code_of(at).endswith("/lesson?step=3&projector=1&embed=true&lang=de")  # the lesson hides and locks itself


def test_an_address_that_only_this_computer_knows(monkeypatch):
    for url, local in (("http://localhost:8501/teach", True), ("https://fair.example.org/app/teach?room=A", False)):
        monkeypatch.setattr(addresses, "st", type("st", (), {"context": type("context", (), {"url": url})}))
        assert addresses.only_here() is local
    assert addresses.made(LinkVisit()) == "https://fair.example.org/app/lesson"
