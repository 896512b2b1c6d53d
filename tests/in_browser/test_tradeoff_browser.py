"""The trade-off page as a visitor meets it, in Chromium: run, cancel, resume after a kill, click, open, export."""

import os
import re
import signal
import sqlite3

import pytest
from browser import streamlit_app, streamlit_server, visits, wait_for, wait_idle
from playwright.sync_api import expect
from sweeps import BETAS, CHART, SLOW, Visit, slow_query

from fairglvq.experiments import bundle, paper
from fairglvq.tradeoff import curve

pytestmark = pytest.mark.browser
QUICK = "?data=three_groups&epochs=10"
COMPUTE = re.compile(r"Compute (the )?\d+ (new )?models?")


@pytest.fixture
def open_page(browser, app):
    yield from visits(browser, app, Visit)


@pytest.mark.long
def test_the_first_visit_shows_the_bundled_adult_curve(open_page):
    visit = open_page().drawn()
    expect(visit.text("These results came with the project")).to_be_visible()
    bend = curve.knee(curve.summary(bundle.rows(paper.paper_sweep("adult"))), "fairglvq")
    expect(visit.text(bend.words())).to_be_visible()
    expect(visit.text("Points of accuracy below the limit line")).to_be_visible()
    names = visit.page.locator(".js-plotly-plot .legendtext").all_text_contents()
    assert {"constant", "GLVQ", "INP + GLVQ", "FairGLVQ", "limit (estimate)"} <= set(names)
    expect(
        visit.page.get_by_role("link", name="Playground")
    ).to_be_visible()  # a link to an inner page has the menu too


def test_a_run_grows_and_ends_and_is_known_to_the_next_visitor(open_page):
    query = f"?data=three_groups&methods=fairglvq&epochs=200&beta={next(BETAS) / 2}"
    visit = open_page(query)
    expect(visit.text("Nothing is computed yet")).to_be_visible()
    visit.button(COMPUTE).click()
    visit.page.wait_for_selector('[data-testid="stProgress"]')
    visit.growing()
    visit.button("Compute again").wait_for(timeout=120_000)
    other = open_page(query).drawn()
    expect(other.text(re.compile(r"(\d+) of \1 models are finished"))).to_be_visible()


@pytest.mark.long
def test_cancel_keeps_what_is_finished(open_page):
    visit = open_page(slow_query())
    visit.button(COMPUTE).click()
    visit.growing()
    visit.button("Cancel").click()
    stopped = visit.text(re.compile(rf"Stopped: \d+ of {SLOW} models are finished and kept"))
    kept = int(re.search(r"\d+", stopped.inner_text())[0])
    assert 0 < kept < SLOW
    expect(visit.button(f"Compute the {SLOW - kept} new models")).to_be_visible()


def test_a_run_survives_a_reload_and_another_choice_and_can_still_be_cancelled(open_page):
    visit = open_page(slow_query())
    visit.button(COMPUTE).click()
    visit.growing()
    visit.page.reload()
    visit.page.wait_for_selector('[data-testid="stProgress"]', timeout=60_000)  # without a click
    visit.choose("Data set", "XOR")
    visit.text("Your other run goes on").wait_for()
    assert f"of {SLOW} models of Three classes" in visit.page.locator(".st-key-elsewhere").inner_text()
    visit.button("Back to it").click()
    visit.page.wait_for_selector('[data-testid="stProgress"]')
    visit.page.get_by_role("button", name="Cancel", exact=True).click()
    expect(visit.text(f"of {SLOW} models are finished and kept")).to_be_visible()
    expect(visit.page.locator('[data-testid="stProgress"]')).to_have_count(0)


@pytest.mark.long
def test_without_a_method_it_says_what_to_do(open_page):
    visit = open_page("?data=xor").drawn()
    for left in (1, 0):  # prototypes, and what they are compared with
        visit.page.get_by_label("Clear all").first.click()
        expect(visit.page.get_by_label("Clear all")).to_have_count(left)
    visit.text("Choose at least one method to compare").wait_for()
    wait_idle(visit.page)
    assert visit.button("Compute").count() == 0
    visit.page.get_by_role("button", name="Reset", exact=True).click()
    visit.drawn()


@pytest.mark.long
def test_a_killed_server_goes_on_where_it_was(browser, tmp_path):
    store, query = tmp_path / "rows.sqlite", slow_query()

    def known():
        with sqlite3.connect(store) as db:
            return db.execute("SELECT count(*) FROM rows").fetchone()[0]

    with streamlit_server("app.py", FAIRGLVQ_STORE=str(store), FAIRGLVQ_WORKERS="1") as (url, server):
        context = browser.new_context()
        visit = Visit(context, url, query)
        visit.button(f"Compute {SLOW} models").click()
        wait_for(lambda: store.exists() and known() >= 4, 90, "four rows")
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        context.close()
    left = SLOW - known()
    with streamlit_app("app.py", FAIRGLVQ_STORE=str(store), FAIRGLVQ_WORKERS="1") as url:
        context = browser.new_context()
        visit = Visit(context, url, query).drawn()
        expect(visit.button(f"Compute the {left} new models")).to_be_visible()
        visit.button(f"Compute the {left} new models").click()
        visit.page.wait_for_selector('[data-testid="stProgress"]')
        assert visit.watch.problems == []
        context.close()


@pytest.mark.long
def test_a_store_that_cannot_be_written_is_named_and_everything_else_works(browser, tmp_path):
    (tmp_path / "file").write_text("")
    with streamlit_app("app.py", FAIRGLVQ_STORE=str(tmp_path / "file" / "rows.sqlite")) as url:
        context = browser.new_context()
        visit = Visit(context, url, QUICK + "&folds=2&methods=glvq")
        visit.text("lasts only as long as this visit").wait_for()
        visit.button("Compute 2 models").click()
        visit.button("Compute again").wait_for(timeout=60_000)
        visit.drawn()
        assert visit.watch.problems == []
        context.close()


def test_a_click_opens_a_point_and_its_model_everywhere(open_page):
    visit = open_page("?data=xor").drawn()
    marks = visit.page.locator(".st-key-curve_chart .scatterlayer .trace").filter(
        has=visit.page.locator(".points path")
    )
    box = marks.last.locator(".points path").last.bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.get_by_role("heading", name="FairGLVQ (C = 5)").wait_for()
    expect(visit.text("Fold by fold")).to_be_visible()
    expect(visit.text(re.compile("Of 100 people of"))).to_be_visible()
    wait_idle(visit.page)
    fold = visit.page.wait_for_selector('input[aria-label="Fold"][value*="accuracy"]').input_value()
    accuracy = float(re.search(r"accuracy ([\d.]+)", fold)[1])
    visit.page.get_by_role("link", name="In the playground").click()
    visit.page.wait_for_selector('.stage[data-ready="1"]', timeout=60_000)
    expect(visit.text("From a trade-off curve")).to_be_visible()
    panel = visit.page.locator(".stage").inner_text()
    assert f"{accuracy:.1f}" in panel or f"{accuracy:.0f}" in panel
    model = visit.page.url
    assert "fold=" in model
    visit.page.go_back()  # once
    visit.page.wait_for_url("**/tradeoff?data=xor")
    visit.drawn()
    expect(visit.page.get_by_role("heading", name="FairGLVQ (C = 5)")).to_be_visible()
    visit.page.go_forward()
    visit.page.wait_for_url(model)
    expect(visit.text("From a trade-off curve")).to_be_visible()
    wait_idle(visit.page)
    assert visit.page.url == model


@pytest.mark.long
def test_a_point_s_prototypes_can_be_opened(open_page):
    visit = open_page("?data=xor").drawn()
    visit.choose("Look at one point", "FairGLVQ (C = 1.25)")
    visit.page.get_by_role("link", name="Its prototypes").click()
    visit.page.wait_for_url("**/prototypes*")
    wait_idle(visit.page)
    assert "fold=5.0." in visit.page.url
    assert "C=1.25" in visit.page.url
    visit.page.get_by_role("heading", level=1).wait_for()


@pytest.mark.long
def test_bad_strengths_are_named_and_nothing_is_lost(open_page):
    visit = open_page("?data=xor").drawn()
    box = visit.page.get_by_role("textbox", name="FairGLVQ: C")
    before = box.input_value()
    box.fill("1, fast")
    box.press("Enter")
    visit.text("“fast” is not a number").wait_for()
    expect(box).to_have_value("1, fast")
    expect(visit.page.locator(CHART)).to_have_count(1)
    box.fill("0, 1")
    box.press("Enter")
    visit.text("“fast” is not a number").wait_for(state="detached")
    expect(box).to_have_value("0, 1")
    visit.page.get_by_role("button", name="Reset", exact=True).click()
    expect(box).to_have_value(before)


@pytest.mark.long
def test_everything_can_be_taken_away(open_page, tmp_path):
    visit = open_page("?data=local").drawn()
    visit.page.get_by_text("Export numbers, pictures and the script to reproduce them").click()
    beginnings = {
        "Rows (CSV)": b"dataset,method",
        "Picture (PNG)": b"\x89PNG",
        "Picture (SVG)": b"<svg",
        "Interactive (HTML)": b"<!doctype html>",
        "Python script": b"import pandas",
    }
    for name, beginning in beginnings.items():
        with visit.page.expect_download(timeout=60_000) as download:
            visit.button(name).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.read_bytes().startswith(beginning), name


@pytest.mark.long
def test_it_fits_a_phone(open_page):
    visit = open_page("?data=xor", viewport={"width": 390, "height": 844}, color_scheme="dark").drawn()
    wide = visit.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390


@pytest.mark.long
def test_a_strength_of_predicted_numbers_is_in_the_link_also_where_its_trees_are_known(open_page):
    visit = open_page("?task=numbers&data=student&C=2")
    strength = visit.page.get_by_role("slider", name="Fairness strength C")
    for key, address in (("ArrowLeft", "data=student"), ("ArrowRight", "data=student&C=2")):
        strength.press(key)
        visit.page.wait_for_url(f"**/tradeoff?task=numbers&{address}")


@pytest.mark.long
def test_axes_can_be_switched_and_are_in_the_link(open_page):
    visit = open_page("?data=xor").drawn()
    visit.choose("Horizontal axis", "equal opportunity gap")
    visit.page.wait_for_function("() => location.search.includes('x=equal_opportunity')")
    visit.page.wait_for_selector(".st-key-curve_chart .xtitle:has-text('equal opportunity gap')")
    visit.page.get_by_role("tab", name="Against strength").click()
    visit.page.wait_for_selector(".st-key-strength_chart .ytitle:visible")
