"""Your own table as a visitor brings it, in Chromium: strange names, the way to the other pages, phone, cold links."""

import re
from contextlib import suppress

import pytest
from browser import Watch, choose, streamlit_app, visits, wait_idle
from playwright.sync_api import expect
from tables import csv, people

pytestmark = pytest.mark.browser
SCRIPT, PICTURE, RTL = "<script>alert(1)</script>", "![x](http://evil.example/a.png)", "מין"


class Visit:
    """One visitor who goes from the landing page to their data."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.on("dialog", self._dialog)
        self.page.goto(f"{url}/{query}")
        self.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
        self.go_to("Your data")
        self.page.get_by_role("heading", name="Analyse your own data").wait_for()
        wait_idle(self.page)

    def _dialog(self, dialog):
        self.watch.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def go_to(self, name):
        link = self.page.get_by_role("link", name=name, exact=True).first
        if self.page.viewport_size["width"] >= 640:
            link.click()
            return
        self.page.get_by_test_id("stExpandSidebarButton").click()  # on a phone, pages are behind a button
        link.click()
        self.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()

    def upload(self, content, name="people.csv"):
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        self.page.locator('input[type="file"]').set_input_files(file)

    def choose(self, label, option):
        choose(self.page, re.compile(label), option)

    def wait_text(self, text):
        self.page.get_by_text(text).first.wait_for()
        wait_idle(self.page)


@pytest.fixture
def visit(browser, app):
    """``visit(query="", **context_options)`` opens the page."""
    yield from visits(browser, app, Visit)


def test_an_uploaded_table_with_strange_names_reaches_the_playground(visit):
    v = visit()
    v.upload(csv(people().rename(columns={"town": SCRIPT, "age": PICTURE, "sex": RTL})), "people <b>x</b>.csv")
    v.wait_text("300 rows and 5 columns")
    v.wait_text("Choose the group to compare by above")
    v.choose("Group to compare by", RTL)
    v.wait_text("Of 100 women, ")
    tables = v.page.locator("table.rates")
    expect(tables).to_have_count(2)
    expect(tables.nth(0).locator("tbody tr")).to_have_count(2)
    assert SCRIPT in tables.nth(1).inner_text()
    expect(v.page.get_by_text("“people <b>x</b>.csv”")).to_be_visible()
    v.page.get_by_role("button", name="Use this table").click()
    v.wait_text("Every page now works with your table.")
    v.page.get_by_role("link", name="Train on it and watch").click()
    v.page.locator('.panel[data-panel="fairglvq"]', has_text="group female").wait_for(timeout=60_000)
    wait_idle(v.page)
    expect(v.page.get_by_test_id("stSidebar").get_by_role("radio", name="Your table")).to_be_checked()
    assert "data=table" in v.page.url
    v.go_to("Your data")  # and back: everything is as it was
    v.wait_text("Every page now works with your table.")
    expect(v.page.get_by_text("Of 100 women, ")).to_be_visible()


@pytest.mark.long
def test_a_bad_file_after_a_good_one_loses_nothing(visit):
    v = visit()
    v.upload(csv(people()))
    v.wait_text("Before any model")
    v.choose("Group to compare by", "town")
    v.wait_text("“Ulm”")
    v.page.get_by_text("Bring another table").click()
    v.upload(b"a,b\n1,2\n3,4,5\n", "bad.csv")
    alert = v.page.get_by_role("alert").get_by_text("Row 3 has 3 values, but the header names 2 columns")
    alert.wait_for()
    wait_idle(v.page)
    expect(v.page.get_by_text("Your last table is still there.")).to_be_visible()
    expect(v.page.get_by_role("combobox", name=re.compile("Group to compare by"))).to_have_value("town")
    v.page.get_by_role("button", name="Go on without this row").click()
    v.wait_text("1 row with too many or too few values was left out.")


@pytest.mark.long
def test_a_file_given_up_can_be_chosen_again(visit, tmp_path):
    v = visit()
    v.upload(csv(people()))
    v.wait_text("Before any model")
    rows = 'female,"170.5",Ulm,30,yes\nmale,"180.5",Bonn,40,no\n'
    large = tmp_path / "large.csv"  # a file: Playwright takes half a minute for so much in memory
    large.write_text("sex,height,town,age,hired\n" + rows * 500_000)
    v.page.get_by_text("Bring another table").click()
    for _ in range(2):
        v.page.locator('input[type="file"]').set_input_files(large)
        v.page.get_by_role("button", name="Cancel", exact=True).click()
        v.page.get_by_role("button", name="Cancel", exact=True).wait_for(state="detached")
        wait_idle(v.page)
        expect(v.page.get_by_text("300 rows and 5 columns")).to_be_visible()
        assert v.page.get_by_text("large.csv").count() == 0


@pytest.mark.long
def test_a_forgotten_table_is_gone_from_the_page(visit):
    v = visit()
    v.page.get_by_role("tab", name="Paste a table").click()
    box = v.page.get_by_role("textbox", name=re.compile("Copy cells"))
    box.fill(people().to_csv(index=False, sep="\t"))
    v.page.get_by_role("button", name="Read this table").click()
    v.wait_text("Your pasted table: 300 rows and 5 columns")
    v.page.get_by_role("button", name="Use this table").click()
    v.wait_text("Every page now works with your table.")
    v.page.get_by_text("Bring another table").click()
    v.page.get_by_role("button", name="Forget this table").click()
    v.wait_text("What you need:")
    v.page.get_by_role("tab", name="Paste a table").click()
    expect(box).to_have_value("")
    v.go_to("Playground")
    v.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    wait_idle(v.page)
    assert v.page.get_by_role("radio", name="Your table").count() == 0


def test_a_checkbox_in_the_table_of_columns_changes_what_the_model_sees(visit):
    v = visit()
    v.upload(csv(people()))
    v.wait_text("Before any model")
    expect(v.page.get_by_text("5 features from 3 columns")).to_be_visible()
    grid = v.page.get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    assert grid.locator('th[aria-colindex="3"]').first.text_content() == "Model sees it"
    wait_idle(v.page)
    cell = grid.get_by_test_id("glide-cell-2-1")  # that of the second row, height
    for _ in range(10):  # the grid is a canvas that may not handle keys yet; to go to a cell again changes nothing
        box = grid.bounding_box()
        v.page.mouse.click(box["x"] + 5, box["y"] + 35 + 52)  # the first column
        for _ in range(2):
            v.page.keyboard.press("ArrowRight")
        with suppress(AssertionError):
            expect(cell).to_have_attribute("aria-selected", "true", timeout=3_000)
            break
    v.page.keyboard.press("Space")
    v.wait_text("4 features from 2 columns")
    v.wait_text("The model does not see “sex” and “height”, as chosen.")


@pytest.mark.long
def test_the_example_on_a_phone_fits_the_screen(visit):
    v = visit(viewport={"width": 390, "height": 844}, has_touch=True)
    v.page.get_by_role("tab", name="Try an example").click()
    v.page.get_by_role("button", name="Use the example").click()
    v.wait_text("Before any model")
    expect(v.page.get_by_text("Of 100 people in “under 25”, 59")).to_be_visible()
    wide = v.page.evaluate(
        """() => [...document.querySelectorAll('.stMainBlockContainer table, .stMainBlockContainer p')]
            .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    assert wide == 0


@pytest.mark.long
def test_the_example_file_can_be_downloaded_and_uploaded_again(visit, tmp_path):
    v = visit()
    v.page.get_by_role("tab", name="Try an example").click()
    with v.page.expect_download() as info:
        v.page.get_by_role("button", name="Download it as CSV").click()
    path = tmp_path / info.value.suggested_filename
    info.value.save_as(path)
    assert path.name == "german_credit.csv"
    v.page.get_by_role("tab", name="Upload a file").click()
    v.upload(path.read_bytes(), path.name)
    v.wait_text("1,000 rows and 21 columns")
    v.wait_text("Before any model")


@pytest.mark.long
def test_the_first_visitor_of_a_server_may_come_by_a_link(browser):
    with streamlit_app("app.py") as url:
        page = browser.new_page()
        page.goto(f"{url}/your_data")
        page.get_by_role("heading", name="Analyse your own data").wait_for(timeout=60_000)
        page.get_by_role("link", name="Playground", exact=True).wait_for()
        assert page.get_by_role("link", name="app", exact=True).count() == 0
        page.close()
