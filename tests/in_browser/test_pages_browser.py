"""All pages together, in Chromium: the model in view survives every page switch, and side doors lead into the app."""

import pytest
from browser import Watch, streamlit_app, visits, wait_idle
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
HEARS_LATE = """
window.WebSocket = class extends WebSocket {
  addEventListener(kind, heard, ...options) {
    super.addEventListener(kind, kind === "message" ? (event) => setTimeout(heard, 600, event) : heard, ...options);
  }
};"""  # what the server says is on its way for so many milliseconds
PAGES = ("Playground", "Trade-off", "Prototypes", "Lesson", "Teach", "Paper", "Stream", "Your data")


class Visit:
    """A visitor anywhere."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}{query}")
        self.page.wait_for_selector("h1", timeout=60_000)
        wait_idle(self.page)

    def go(self, name):
        before = self.page.locator("h1").inner_text()
        self.page.get_by_role("link", name=name, exact=True).click()
        self.page.wait_for_function("before => document.querySelector('h1')?.innerText !== before", arg=before)
        wait_idle(self.page)

    def settings(self):
        """What the address says about the model in view."""
        return self.page.url.partition("?")[2].split("&view=")[0]


@pytest.fixture
def open_page(browser, app):
    yield from visits(browser, app, Visit, viewport={"width": 1280, "height": 900})


def test_the_model_in_view_survives_every_page_switch(open_page):
    visit = open_page("/?data=local&C=0.35&k=2&epochs=20")
    visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    before = visit.settings()
    for name in ("Prototypes", "Playground", "Trade-off", "Playground", "Your data", "Prototypes"):
        visit.go(name)
        if name in ("Prototypes", "Playground"):
            visit.page.wait_for_function("before => location.search.includes(before)", arg=before)
    expect(visit.page.get_by_text("C = 0.35").first).to_be_visible()


def test_one_back_leads_to_the_page_before_with_its_model(open_page):
    visit = open_page("/?data=local&C=0.35&k=2&epochs=20")
    visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    first = visit.page.url
    visit.go("Prototypes")
    visit.page.wait_for_url("**/prototypes?data=local*")
    second = visit.page.url
    visit.page.go_back()
    visit.page.wait_for_url(first)
    wait_idle(visit.page)
    assert visit.page.url == first
    visit.page.go_forward()
    visit.page.wait_for_url(second)


def test_what_a_page_sends_after_the_menu_s_choice_does_not_lead_back_to_it(browser, app):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as far_away:
        far_away.add_init_script(HEARS_LATE)
        visit = Visit(far_away, app, "/?data=local&k=2")
        visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
        first = visit.page.locator('[data-action="start"]')  # of which the stage tells after some rest
        menu = visit.page.get_by_role("link", name="Prototypes", exact=True)
        first.evaluate("(first, menu) => { first.click(); menu.click(); }", menu.element_handle())
        visit.page.wait_for_url("**/prototypes?data=local&k=2&view=*")  # now that was heard
        wait_idle(visit.page)
        expect(visit.page.get_by_text("decides with 4 prototypes")).to_be_visible()
        visit.page.go_back()
        visit.page.wait_for_url("**/?data=local&k=2*")
        assert visit.watch.problems == []


def test_a_link_survives_the_browser_s_way_back_and_forward_between_pages(open_page):
    visit = open_page("/prototypes?data=german&epochs=10")
    visit.page.wait_for_selector(".js-plotly-plot", timeout=60_000)
    visit.go("Trade-off")
    visit.page.go_back()
    visit.page.wait_for_function("() => location.pathname === '/prototypes'")
    wait_idle(visit.page)
    visit.page.wait_for_function("() => location.search.includes('data=german')")


def test_the_menu_is_there_also_for_the_first_visitor_who_comes_by_a_link(browser):
    with streamlit_app("app.py") as url:  # a server that nobody has visited yet
        context = browser.new_context()
        visit = Visit(context, url, "/your_data")
        for name in PAGES:
            visit.page.get_by_role("link", name=name, exact=True).wait_for()
        assert visit.watch.problems == []
        context.close()
