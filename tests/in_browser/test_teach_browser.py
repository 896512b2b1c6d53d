"""A lesson with a class and a teacher in Chromium, whose server dies half way; and links for a projector."""

import csv
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Watch, streamlit_server, visits, wait_idle
from playwright.sync_api import expect
from sockets import Visitor

from fairglvq.lesson.texts import text
from pages.shared.student import POLL

pytestmark = pytest.mark.browser
OPTIONS = list(text("prototype", "en").options.values())


def joined(stack, url, code, count):
    """Students who open the join link; each answers the first question in turn."""
    students = [Visitor(stack, url, "lesson", f"room={code}") for _ in range(count)]
    for number, student in enumerate(students):
        student.run()
        while OPTIONS[0] not in student.client.widgets:  # the first one waits for the models
            student.run()
        student.run(button=OPTIONS[number % 3])
    return students


def back_again(stack, url, students):
    """The same students on another server: their browsers open their own addresses."""
    found = [Visitor(stack, url, "lesson", student.client.query) for student in students]
    for student in found:
        student.run()
    return found


def shows(student, words):
    student.tick(POLL)
    return any(words in line for line in student.client.words)


@pytest.mark.long
@pytest.mark.parametrize("count", [6, 30])
def test_a_class_a_teacher_and_a_server_that_dies(browser, tmp_path, count):
    store = str(tmp_path / "rows.sqlite")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    seen = page.get_by_text
    with streamlit_server("app.py", FAIRGLVQ_STORE=store) as (url, server), ExitStack() as stack:
        page.goto(f"{url}/teach")
        page.get_by_role("button", name="Open a room").click()
        page.wait_for_url("**/teach?room=*")
        code = page.locator(".code").inner_text()
        expect(seen("Nobody has come yet")).to_be_visible()
        students = joined(stack, url, code, count)
        expect(seen(f"{count} students, {count} on the page right now.")).to_be_visible()
        expect(seen(f"{count} of {count} students answered.")).to_be_visible()
        answers = page.get_by_role("list", name="Answers to the question of step 1")
        assert answers.locator(".n").all_inner_texts() == [str(count // 3)] * 3
        page.get_by_role("button", name="Hold the class at step 1").click()
        expect(seen("The class is held at step 1")).to_be_visible()
        assert all(shows(student, "the teacher holds the class at step 1") for student in students)
        server.kill()
    port = urlsplit(url).port
    with streamlit_server("app.py", port=port, FAIRGLVQ_STORE=store) as (url, _), ExitStack() as stack:
        students = back_again(stack, url, students)
        assert all(shows(student, "the teacher holds the class at step 1") for student in students)
        expect(seen(f"{count} students, {count} on the page right now.")).to_be_visible()  # the teacher did nothing
        expect(seen("The class is held at step 1")).to_be_visible()
        assert answers.locator(".n").all_inner_texts() == [str(count // 3)] * 3
        assert not any("Your turn" in line for line in students[0].client.words)
        page.get_by_role("button", name="Show what happens").click()
        expect(seen("everybody can try it out")).to_be_visible()
        assert shows(students[0], "Your turn")
        with page.expect_download() as download:
            page.get_by_role("button", name="Export as CSV").click()
        rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
        assert [row["student"] for row in rows] == [str(number + 1) for number in range(count)]
        assert [row["answer_prototype"] for row in rows[:4]] == ["same", "nobody", "nearest", "same"]
        page.get_by_role("button", name="End the room").click()
        page.get_by_role("button", name="Yes, end it").click()
        expect(seen(f"Room {code} has ended")).to_be_visible()
        assert shows(students[0], "You go on alone")
        assert "room" not in parse_qs(students[0].client.query)
        assert "progress" in parse_qs(students[0].client.query)
    context.close()


class Visit:
    """A visitor with a teacher's link."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}{query}")
        self.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
        wait_idle(self.page)


@pytest.fixture
def open_page(browser, app):
    yield from visits(browser, app, Visit)


def test_a_projector_has_large_letters_no_sidebar_and_stays_one_on_every_page(open_page):
    page = open_page("/?data=local&epochs=10&lock=C&projector=1").page
    for name in ("Stream", "Playground"):
        assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "22px"
        assert not page.get_by_test_id("stSidebar").is_visible()
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_function("() => location.search.includes('projector=1') && location.search.includes('lock=C')")
    page.wait_for_function("() => location.search.includes('data=local')")


def test_embedded_the_app_has_no_menu_and_a_lesson_starts_where_the_link_says(open_page):
    page = open_page("/lesson?step=3&lang=de&embed=true").page
    expect(page.get_by_role("heading", name=text("hiding", "de").title)).to_be_visible()
    assert not page.get_by_role("link", name="Playground", exact=True).is_visible()
    page.get_by_role("button", name="2", exact=True).click()
    expect(page.get_by_role("heading", name=text("gap", "de").title)).to_be_visible()
    page.wait_for_function("() => ['step=3', 'embed=true', 'lang=de'].every((part) => location.search.includes(part))")
    assert page.get_by_role("button", name="4", exact=True).is_disabled()
