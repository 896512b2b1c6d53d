"""The paper's page as a visitor meets it, in Chromium: it opens, a point is chosen, a link leads back to it."""

import re

import pytest
from browser import Watch, visits, wait_idle
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


class Visit:
    """A visitor of the paper's page."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}/paper{query}")
        self.page.wait_for_selector("h1", timeout=60_000)
        wait_idle(self.page)

    def charts(self, n):
        expect(self.page.locator(".js-plotly-plot .scatterlayer")).to_have_count(n, timeout=60_000)


@pytest.fixture
def open_page(browser, app):
    yield from visits(browser, app, Visit)


@pytest.mark.long
def test_a_point_is_chosen_and_the_link_keeps_it(open_page):
    page = open_page().page
    page.get_by_role("radio", name="Algorithm 1").click()
    expect(page.get_by_text("Point 1 at")).to_be_visible()
    slider = page.get_by_role("slider", name="Point of the mini-batch")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_text("Point 2 at")).to_be_visible()
    page.wait_for_function("() => location.search.includes('point=2')")
    page.get_by_text("Code:").first.click()
    expect(page.get_by_text("def shared_kmeans")).to_be_visible()
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)


@pytest.mark.long
def test_a_link_to_a_point_leads_to_it_and_what_goes_further_is_shown(open_page):
    visit = open_page("?section=algorithm&point=2")
    visit.charts(2)
    page = visit.page
    expect(page.get_by_text("Point 2 at")).to_be_visible(timeout=60_000)
    page.get_by_role("radio", name="What goes further").click()
    expect(page.get_by_text(re.compile("ParityLVQ.*keeps to the bound"))).to_be_visible()
    visit.charts(1)


@pytest.mark.long
def test_nothing_is_wider_than_a_phone(open_page):
    for section in ("table1", "algorithm"):
        visit = open_page(f"?section={section}", viewport={"width": 390, "height": 800})
        visit.charts(2)
        assert visit.page.evaluate("document.querySelector('.stMain').scrollWidth") <= 390
