"""All pages together, in Chromium: the model in view survives every page switch, and side doors lead into the app."""

from contextlib import ExitStack

import pytest
from browser import Watch, streamlit_app, visits, wait_idle
from playwright.sync_api import expect
from sockets import Visitor

pytestmark = pytest.mark.browser
NO_REST = """
const later = window.setTimeout;
window.setTimeout = (call, delay, ...rest) => later(call, delay === 400 ? 3_600_000 : delay, ...rest);
"""  # the stage sends its view after 400 ms without a change
LOSING = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
  if (window.losing) window.losing = false;
  else send.call(this, message);
};
"""  # a message that Streamlit drops, at the test's choice
TRANSLATING = """(title) => {
  const translate = () => title.textContent.startsWith("tr ") || (title.textContent = `tr ${title.textContent}`);
  new MutationObserver(translate).observe(title, { childList: true });
  translate();
}"""  # a browser that translates pages
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
        """The parameters of the model in view."""
        return self.page.url.partition("?")[2].split("&view=")[0]


@pytest.fixture
def open_page(browser, app):
    yield from visits(browser, app, Visit)


@pytest.mark.long
def test_the_model_in_view_survives_every_page_switch(open_page):
    visit = open_page("/?data=local&C=0.35&k=2&epochs=20")
    visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    before = visit.settings()
    for name in ("Prototypes", "Your data", "Playground"):
        visit.go(name)
        if name in ("Prototypes", "Playground"):
            visit.page.wait_for_function("before => location.search.includes(before)", arg=before)
    expect(visit.page.get_by_text("C = 0.35").first).to_be_visible()


@pytest.mark.long
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


@pytest.mark.long
def test_the_stage_tells_its_view_before_the_page_is_left(browser, app):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as hasty:
        hasty.add_init_script(NO_REST)
        visit = Visit(hasty, app, "/?data=local&k=2")
        visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
        visit.page.locator('[data-action="start"]').click()
        visit.page.get_by_role("link", name="Prototypes", exact=True).hover()
        visit.page.mouse.down()
        visit.page.wait_for_function("() => location.search.includes('view=')")
        visit.page.mouse.up()
        visit.page.wait_for_url("**/prototypes?data=local&k=2*")
        wait_idle(visit.page)
        visit.page.go_back()
        visit.page.wait_for_url("**/?data=local&k=2&view=*")
        assert visit.watch.problems == []


def test_a_message_from_a_page_that_was_left_changes_the_model_and_does_not_lead_back(app):
    with ExitStack() as stack:
        visitor = Visitor(stack, app, query="data=local&k=2")
        visitor.run()
        late = visitor.client.request(slider=("Prototypes per class", 3))
        visitor.run(menu="prototypes")
        visitor.wait_trained("decides with 4 prototypes")
        visitor.send(late)
        visitor.wait_trained("decides with 6 prototypes")
        assert visitor.client.query == "data=local&k=3"


def test_no_click_is_lost_when_another_message_follows_at_once(app):
    with ExitStack() as stack:
        visitor = Visitor(stack, app, query="data=xor&k=1&epochs=10&seed=0")
        visitor.run()
        for _ in range(25):
            before = visitor.client.query
            for message in (visitor.client.request(button="New seed"), visitor.client.request()):
                visitor.socket.send(message)
            while visitor.client.query == before:
                visitor.client.hear(visitor.socket.recv(timeout=30))
        assert visitor.client.problems == []


def test_a_fold_is_left_with_what_was_chosen_just_before(app):
    with ExitStack() as stack:
        visitor = Visitor(stack, app, query="data=local&k=2&fold=5.0.1")
        visitor.run()
        for asked in ({"slider": ("Prototypes per class", 7)}, {"button": "Leave"}):
            visitor.socket.send(visitor.client.request(**asked))
        while "fold" in visitor.client.query:
            visitor.client.hear(visitor.socket.recv(timeout=30))
        assert visitor.client.query == "data=local&k=7"
        assert visitor.client.problems == []


def test_no_answer_refers_to_a_message_that_the_browser_may_have_dropped(app):
    with ExitStack() as stack:
        visitor = Visitor(stack, app, page="stream")
        for _ in range(2):
            visitor.run()
        assert visitor.client.references == []


def test_a_choice_of_the_menu_that_a_slider_s_message_replaces_is_made_again(browser, app):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as hasty:
        hasty.add_init_script(LOSING)
        visit = Visit(hasty, app, "/?data=local&k=2")
        visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
        menu = visit.page.get_by_role("link", name="Prototypes", exact=True)
        menu.evaluate("(link) => { window.losing = true; link.click(); }")
        assert visit.page.evaluate("window.losing") is False
        visit.page.get_by_role("slider", name="Prototypes per class").press("ArrowRight")
        visit.page.wait_for_url("**/prototypes?data=local&k=3*")
        wait_idle(visit.page)
        expect(visit.page.get_by_text("decides with 6 prototypes")).to_be_visible()
        assert visit.watch.problems == []


def test_a_link_survives_the_browser_s_way_back_and_forward_between_pages(open_page):
    visit = open_page("/prototypes?data=local&epochs=10")
    visit.page.wait_for_selector(".js-plotly-plot", timeout=60_000)
    visit.go("Trade-off")
    visit.page.go_back()
    visit.page.wait_for_function("() => location.pathname === '/prototypes'")
    wait_idle(visit.page)
    visit.page.wait_for_function("() => location.search.includes('data=local')")


def test_back_from_a_page_with_an_address_of_its_own_leads_to_the_page_before_as_it_was(open_page):
    visit = open_page("/paper?section=beyond")
    visit.go("Stream")
    visit.page.locator("title").evaluate(TRANSLATING)
    visit.page.get_by_role("radio", name="Local").click()
    visit.page.wait_for_url("**/stream?data=local")
    before = visit.page.evaluate("history.length")
    visit.go("Paper")
    visit.page.wait_for_url("**/paper?section=beyond")
    assert visit.page.evaluate("history.length") == before + 1
    visit.page.go_back()
    visit.page.wait_for_url("**/stream?data=local")


@pytest.mark.long
def test_the_menu_is_there_also_for_the_first_visitor_who_comes_by_a_link(browser):
    with streamlit_app("app.py") as url:  # a server that nobody has visited yet
        context = browser.new_context()
        visit = Visit(context, url, "/your_data")
        for name in PAGES:
            visit.page.get_by_role("link", name=name, exact=True).wait_for()
        assert visit.watch.problems == []
        context.close()
