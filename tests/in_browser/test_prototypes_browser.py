"""The prototypes page as a visitor meets it, in Chromium: on drawings, on Adult and on an uploaded table."""

import re

import pytest
from browser import Watch, choose, streamlit_app, visits, wait_idle
from playwright.sync_api import expect
from tables import csv, people

pytestmark = pytest.mark.browser
TRAINED = 120_000  # milliseconds that Adult may take on a busy machine


class Visit:
    """One visitor on the prototypes page."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}/prototypes{query}")

    def seen(self, start="of its decisions are right"):
        """Wait for a trained model and its pictures."""
        self.page.get_by_text(start).first.wait_for(timeout=TRAINED)
        return self.settled()

    def settled(self):
        wait_idle(self.page)
        return self

    def opened(self):
        return self.page.locator(".st-key-open_card h3").inner_text()

    def wait_open(self, number):
        self.page.locator(".st-key-open_card h3", has_text=f"Prototype {number} decides").wait_for()
        self.settled()

    def wait_sorted(self):
        """Wait until cells with more people stand first, and no card of the order before is left beside them."""
        self.page.wait_for_function(
            """() => {
                const cards = [...document.querySelectorAll('[class*="st-key-card_"]')];
                const people = cards.map((card) => parseInt(card.innerText.split("n = ")[1]?.replace(",", "") ?? 0));
                const names = new Set(cards.map((card) => card.querySelector("h4")?.innerText));
                return names.size === cards.length && people.every((n, i) => i === 0 || n <= people[i - 1]);
            }"""
        )
        self.settled()

    def choose(self, name):
        self.page.get_by_role("radio", name=name, exact=True).first.click()

    def chart(self, key):
        chart = self.page.locator(f".st-key-{key}")
        chart.locator(".main-svg").first.wait_for()
        chart.scroll_into_view_if_needed()
        return chart

    def click_point(self, key, point):
        """Click a mark of a chart, once the chart answers to the mouse."""
        point.hover(force=True)
        self.page.locator(f".st-key-{key} .hoverlayer .hovertext").first.wait_for()
        self.page.mouse.down()
        self.page.mouse.up()

    def wait_text(self, text):
        self.page.get_by_text(text).first.wait_for()
        return self.settled()

    def go_to(self, name):
        self.page.get_by_role("link", name=name, exact=True).first.click()


@pytest.fixture
def visit(browser, app):
    """``visit(query="", **context_options)`` opens the page."""
    yield from visits(browser, app, Visit)


@pytest.mark.long
def test_the_first_visitor_of_a_server_may_come_by_a_link(browser):
    with streamlit_app("app.py") as url, browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        v = Visit(context, url, "?data=local&k=2").seen()
        expect(v.page.get_by_text("decides with 4 prototypes")).to_be_visible()
        expect(v.page.get_by_role("link", name="Playground", exact=True)).to_be_visible()
        for key in ("p_waterfall", "p_map", "p_profile"):
            expect(v.chart(key)).to_be_visible()
        assert re.fullmatch(r". Prototype \d decides “(no )?loan”", v.opened())
        assert v.watch.problems == []


@pytest.mark.long
def test_settings_come_along_from_the_playground_and_back_goes_back(visit):
    v = visit("?data=local&k=3").seen()
    v.page.goto(v.page.url.replace("/prototypes", "/"))
    v.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    wait_idle(v.page)
    v.page.get_by_test_id("stSidebar").get_by_role("slider", name="Prototypes per class").press("ArrowLeft")
    v.page.wait_for_function("() => location.search.includes('k=2')")
    wait_idle(v.page)
    v.go_to("Prototypes")
    v.wait_text("decides with 4 prototypes")
    v.page.wait_for_function("() => location.search === '?data=local&k=2'")
    v.page.get_by_test_id("stSidebar").get_by_role("slider", name="Prototypes per class").press("ArrowLeft")
    v.wait_text("decides with 2 prototypes")
    v.page.wait_for_function("() => location.search === '?data=local&k=1'")
    v.page.go_back()
    v.wait_text("decides with 4 prototypes")


def test_a_click_on_the_map_or_the_waterfall_opens_the_card(visit):
    v = visit("?data=three_groups&k=2").seen()
    first = int(re.search(r"\d+", v.opened())[0])
    marks = v.chart("p_map").locator("g.trace:has(text) path.point")
    expect(marks).to_have_count(4)
    named = v.page.locator(".st-key-p_map .hoverlayer .hovertext")
    for mark in (marks.nth(3), marks.nth(2)):
        mark.hover(force=True)
        named.get_by_text("prototype").first.wait_for()
        other = int(re.search(r"prototype (\d+)", named.first.text_content())[1])
        if other != first:
            break
    v.click_point("p_map", mark)
    v.wait_open(other)
    bars = v.chart("p_waterfall").locator(".barlayer .point path")
    v.click_point("p_waterfall", bars.first)
    v.wait_open(first)  # the first bar adds most, and was open at first


@pytest.mark.long
def test_section_sorting_and_open_card_survive_a_page_switch(visit):
    v = visit().seen()
    v.choose("Number of people")
    v.wait_sorted()
    card = v.page.locator('[class*="st-key-card_"]').nth(2)
    third = int(re.search(r"\d+", card.locator("h4.prototype").inner_text())[0])
    v.page.locator(f".st-key-open_{third - 1} button").click()
    v.wait_open(third)
    v.go_to("Playground")
    v.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    v.go_to("Prototypes")
    v.wait_open(third)
    expect(v.page.get_by_role("radio", name="Number of people")).to_be_checked()
    v.choose("One person")
    v.wait_text("Whose decision changed")
    v.go_to("Playground")
    v.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    v.go_to("Prototypes")
    v.wait_text("Whose decision changed")


@pytest.mark.long
def test_adult_with_forty_prototypes(visit):
    v = visit("?data=adult&k=20&epochs=10&metric=euclidean&bins=0&beside=fairglvq").seen()
    expect(v.page.get_by_text("decides with 40 prototypes")).to_be_visible()
    expect(v.page.get_by_text("Of 100 women").first).to_be_visible()
    expect(v.page.locator("h4.prototype")).to_have_count(6)
    assert "“" in v.opened()
    v.page.get_by_role("button", name="Open card").nth(1).click()
    second = int(re.search(r"\d+", v.page.locator("h4.prototype").nth(1).inner_text())[0])
    v.wait_open(second)
    card = v.page.locator(".st-key-open_card")
    assert re.search(r"Accuracy [\d.]+% → [\d.]+%, parity gap", card.inner_text())
    every = v.page.get_by_text(re.compile(r"Show all \d+ cards"))  # of those that decide for somebody
    count = int(re.search(r"\d+", every.inner_text())[0])
    assert count > 6
    every.click()
    v.page.locator("h4.prototype").nth(count - 1).wait_for()
    v.settled()
    v.choose("One person")
    v.wait_text("Whose decision changed")
    expect(v.page.get_by_text("The same person with sex")).to_be_visible()
    before = v.page.locator("h2", has_text="Person").first.inner_text()
    v.page.get_by_role("button", name=re.compile("Somebody else of these")).click()
    v.page.wait_for_function(
        "(before) => [...document.querySelectorAll('h2')].every((h) => h.innerText !== before)", arg=before
    )


@pytest.mark.long
def test_training_adult_shows_progress_and_can_be_cancelled(visit):
    v = visit("?data=xor").seen()
    v.page.get_by_test_id("stSidebar").get_by_role("radio", name="Adult").click()
    v.page.get_by_role("button", name="Cancel").click(timeout=60_000)
    v.page.get_by_role("button", name="Cancel").wait_for(state="detached")
    v.wait_text("decides with 8 prototypes")
    expect(v.page.get_by_test_id("stSidebar").get_by_role("radio", name="XOR")).to_be_checked()


@pytest.mark.long
def test_an_uploaded_table_has_cards_and_people(visit):
    v = visit().seen()
    script = "<script>alert(1)</script>"
    v.page.on("dialog", lambda dialog: v.watch.problems.append(f"dialog: {dialog.message}"))
    v.go_to("Your data")
    v.page.get_by_role("heading", name="Analyse your own data").wait_for()
    wait_idle(v.page)
    content = csv(people().rename(columns={"town": f"{script} www.evil.example"}))
    file = {"name": "people.csv", "mimeType": "text/csv", "buffer": content}
    v.page.locator('input[type="file"]').set_input_files(file)
    v.wait_text("Before any model")
    choose(v.page, re.compile("Group to compare by"), "sex")
    v.wait_text("Of 100 women, ")
    v.page.get_by_role("button", name="Use this table").click()
    v.wait_text("Every page now works with your table.")
    v.go_to("Prototypes")
    v.wait_text("women")
    expect(v.page.get_by_test_id("stSidebar").get_by_role("radio", name="Your table")).to_be_checked()
    v.page.locator(".st-key-open_card").get_by_text(script).first.wait_for(state="attached")
    assert v.page.locator('.stMain a[href*="evil"]').count() == 0
    v.choose("Side by side")
    v.wait_text("What moved, furthest first")
    v.choose("One person")
    v.wait_text("Whose decision changed")
    v.choose("Type values")
    v.wait_text("A made-up person")
    v.page.get_by_role("button", name="Decide").click()
    expect(v.page.get_by_text("Why FairGLVQ decides")).to_be_visible()


@pytest.mark.long
def test_a_tick_in_the_list_shows_that_person(visit):
    v = visit("?data=german&epochs=20").seen()
    v.choose("One person")
    v.wait_text("Whose decision changed")
    grid = v.page.get_by_test_id("stDataFrame").last
    grid.scroll_into_view_if_needed()
    name = grid.locator('td[aria-colindex="1"]').nth(2).text_content()
    box = grid.bounding_box()
    v.page.mouse.click(box["x"] + 16, box["y"] + 35 + 2.5 * 35)  # the box of the third row
    v.page.locator("h2", has_text=re.compile(f"^{name}:", re.IGNORECASE)).wait_for()


@pytest.mark.long
def test_a_phone_shows_everything_within_its_width(visit):
    v = visit(
        "?data=german&epochs=20",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        color_scheme="dark",
    ).seen()
    for section in ("Cards", "Side by side", "One person"):
        v.choose(section)
        v.wait_text({"C": "Where the gap", "S": "What moved", "O": "Whose decision changed"}[section[0]])
        assert v.page.evaluate("() => document.documentElement.scrollWidth") <= 390
        wide = v.page.evaluate(
            """() => [...document.querySelectorAll('.stMainBlockContainer p, .stMainBlockContainer .main-svg')]
                .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"""
        )
        assert wide == 0
    ink = v.chart("p_shares").locator(".ytick text").first.evaluate("(e) => getComputedStyle(e).fill")
    brightness = sum(map(int, re.findall(r"\d+", ink)[:3]))
    assert brightness > 500


@pytest.mark.long
def test_a_point_of_inp_opens_inps_own_cards(visit):
    v = visit()
    v.page.goto(v.page.url.replace("/prototypes", "/tradeoff?data=xor"))
    choose(v.page, re.compile("Look at one point"), re.compile("^INP.*1"))
    v.page.get_by_role("link", name="Its prototypes").click()
    v.page.get_by_text("blind along 1 of 2 directions").wait_for(timeout=TRAINED)
    v.settled()
    expect(v.page.get_by_role("radio", name="INP + GLVQ")).to_be_checked()
    expect(v.page.get_by_text("filled in with the average person")).to_be_visible()
    expect(v.page.locator("h4.prototype")).to_have_count(6)
    expect(v.chart("p_map")).to_be_visible()
