"""The playground as a visitor meets it, in Chromium."""

import json
import re
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from browser import Watch, visits, wait_idle
from playwright.sync_api import expect

from fairglvq.scenes import scene, scoring
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import DEFAULTS, GAPS, Settings
from fairglvq.scenes.training import FILM_C, train_part

pytestmark = pytest.mark.browser
READY = '.stage[data-ready="1"]'


class Visit:
    """One visitor on the playground."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}/{query}")

    def seen(self, last="inp"):
        """Wait for the picture, on a cold server also for the method that comes last."""
        self.page.wait_for_selector(READY, timeout=60_000)
        self.page.wait_for_selector(f'canvas[data-panel="{last}"]', timeout=60_000, state="attached")
        wait_idle(self.page)
        return self

    @property
    def stage(self):
        return self.page.locator(".stage")

    def act(self, name):
        if name.startswith(("show-", "panel-", "speed")):
            self.stage.evaluate("(root) => { root.querySelector('.view-menu').open = true; }")
        return self.page.locator(f'[data-action="{name}"]')

    def data(self, name):
        return self.stage.evaluate("(root, name) => root.dataset[name]", name)

    def wait_data(self, name, value):
        self.page.wait_for_function(
            "([root, name, value]) => root.dataset[name] === value",
            arg=[self.stage.element_handle(), name, str(value)],
        )
        wait_idle(self.page)

    def wait_new_picture(self, before):
        self.page.wait_for_function(
            "([root, before]) => root.dataset.revision !== before", arg=[self.stage.element_handle(), before]
        )
        wait_idle(self.page)

    def query(self):
        return {name: values[0] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def wait_query(self, name, value):
        self.page.wait_for_function(
            "([name, value]) => new URL(location.href).searchParams.get(name) === value", arg=[name, value]
        )

    def slider(self, name):
        return self.page.get_by_test_id("stSidebar").get_by_role("slider", name=name)

    def numbers(self, panel):
        """The text of a panel's numbers."""
        return self.page.locator(f'.panel[data-panel="{panel}"]').inner_text()

    def place(self, panel, x, y, limits=None):
        """Page pixels of a point of the plane (whole picture shown)."""
        x0, y0, x1, y1 = limits or bounds()
        canvas = self.page.locator(f'canvas[data-panel="{panel}"]')
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        scale = min(0.94 * box["width"] / (x1 - x0), (box["height"] - 40) / (y1 - y0))
        return (
            box["x"] + box["width"] / 2 + (x - (x0 + x1) / 2) * scale,
            box["y"] + box["height"] / 2 - (y - (y0 + y1) / 2) * scale,
        )

    def drag(self, start, by):
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(start[0] + by[0], start[1] + by[1], steps=6)
        mouse.up()


@cache
def table():
    return load_points(Settings())


def bounds():
    X = table().X
    return [*X.min(axis=0), *X.max(axis=0)]


@cache
def glvq():
    return train_part(Settings(), table(), "glvq", lambda share: None).prototypes[-1]


@pytest.fixture
def visit(browser, app):
    """``visit(query="", **context_options)`` opens the page."""
    yield from visits(browser, app, Visit)


def test_the_first_picture_is_trained_unfair_and_above_the_fold(visit):
    v = visit().seen()
    assert v.data("epoch") == str(Settings().epochs)
    gaps = [float(re.search(r"parity gap\s+([\d.]+)", v.numbers(panel))[1]) for panel in ("glvq", "fairglvq")]
    assert gaps[0] > 20 > 5 > gaps[1]
    assert "Of 100 people of town" in v.numbers("fairglvq")
    for panel in Settings().methods:
        box = v.page.locator(f'canvas[data-panel="{panel}"]').bounding_box()
        assert box["y"] + box["height"] < 800
    for name in ("Fairness strength C", "Prototypes per class", "Batch size", "Missing rival alpha"):
        assert v.slider(name).bounding_box()["y"] < 800
    expect(v.page.get_by_text("11 steps per epoch")).to_be_visible()
    assert v.query() == {}
    expect(v.page.get_by_role("radiogroup", name="Data set").locator("img")).to_have_count(7)


def test_a_slider_changes_the_picture_and_nothing_else(visit):
    v = visit().seen()
    scrubber = v.act("scrub")
    scrubber.focus()
    for _ in range(5):
        scrubber.press("ArrowLeft")
    v.act("show-forces").click()
    x, y = v.place("glvq", 0.5, 0.5)
    v.page.mouse.click(x, y)
    v.page.mouse.wheel(0, -400)
    v.page.wait_for_function("() => new URL(location.href).searchParams.get('view')?.includes('camera')")
    wait_idle(v.page)
    v.stage.evaluate("(root) => root.querySelectorAll('canvas').forEach((c) => (c.mine = true))")
    main = v.page.locator('[data-testid="stMain"]')
    main.evaluate("(element) => element.scrollTo(0, 60)")
    before = {name: v.data(name) for name in ("revision", "frame", "modelSignature")}
    view = v.query()["view"]
    v.slider("Fairness strength C").press("ArrowRight")
    v.wait_new_picture(before["revision"])
    v.wait_query("C", "1.55")
    assert v.data("frame") == before["frame"]
    assert v.data("modelSignature") != before["modelSignature"]
    assert v.query()["view"] == view
    assert json.loads(view)["show"] == {"forces": True}
    assert v.stage.evaluate("(root) => [...root.querySelectorAll('canvas')].every((c) => c.mine)")
    assert main.evaluate("(element) => element.scrollTop") == 60


def test_a_model_that_cannot_be_trained_leaves_the_stage_as_it_is(visit):
    v = visit("?data=german").seen(last="glvq")
    v.stage.evaluate("(root) => root.querySelectorAll('canvas').forEach((c) => (c.mine = true))")
    v.page.evaluate("""() => {
        history.pushState({}, "", "?data=german&fold=900.0.0");
        dispatchEvent(new PopStateEvent("popstate"));
    }""")
    problem = v.page.get_by_text("The points cannot be split like that")
    expect(problem).to_be_visible()
    wait_idle(v.page)
    assert v.stage.evaluate("(root) => [...root.querySelectorAll('canvas')].every((c) => c.mine)")
    v.page.locator(".st-key-undo_problem button").click()
    expect(problem).to_have_count(0)
    wait_idle(v.page)
    assert v.stage.evaluate("(root) => [...root.querySelectorAll('canvas')].every((c) => c.mine)")


def test_a_moved_prototype_is_measured_trained_on_and_put_back(visit):
    v = visit().seen()
    v.act("speed").select_option("4")
    v.drag(v.place("glvq", *glvq()[0]), (60, 40))
    panel = v.page.locator('.panel[data-panel="glvq"]')
    panel.get_by_text("numbers checked").wait_for()
    assert "99.5%" not in v.numbers("glvq")
    before, signature = v.data("revision"), v.data("modelSignature")
    v.act("continue-glvq").click()
    v.wait_new_picture(before)
    v.wait_data("playing", "0")
    assert v.query()["from"].startswith("glvq.")
    assert v.data("modelSignature") != signature
    v.act("undo").click()
    v.wait_data("revision", before)
    assert "from" not in v.query()


@pytest.mark.long
def test_painted_points_are_trained_on_and_travel_in_the_link(visit):
    v = visit().seen()
    v.act("speed").select_option("4")
    before = v.data("revision")
    v.act("paint").click()
    v.act("brush-1-0").click()
    v.drag(v.place("glvq", 0.1, 0.2), (40, 10))
    v.act("train").click()
    v.wait_new_picture(before)
    v.wait_data("playing", "0")
    painted = v.data("revision")
    assert len(v.query()["paint"]) % 5 == 0
    again = visit(f"?{urlsplit(v.page.url).query}").seen()
    assert again.data("revision") == painted


def test_the_film_of_c_moves_picture_numbers_and_curve(visit):
    v = visit().seen()
    film = v.act("slider-fairglvq")
    film.wait_for(timeout=60_000)
    wait_idle(v.page)
    before, words = v.data("modelSignature"), v.numbers("fairglvq")
    sidebar = v.slider("Fairness strength C")
    on_scale = "(e) => [e.min, e.max, e.value].map(Number)"
    assert film.evaluate(on_scale) == sidebar.evaluate(on_scale) == [0, 5, 1.5]  # both thumbs at the same place
    film.focus()
    film.press("Home")
    v.wait_query("C", "0")
    wait_idle(v.page)
    assert v.data("modelSignature") != before
    assert v.numbers("fairglvq") != words
    expect(sidebar).to_have_value("0")
    v.act("undo").click()
    v.wait_data("modelSignature", before)


@pytest.mark.long
def test_open_details_are_remembered_and_stand_in_the_address_without_a_step_of_history(visit):
    v = visit().seen()
    length = v.page.evaluate("history.length")
    v.page.get_by_text("All prototypes as a table").click()
    v.wait_query("view", '{"open":["table"]}')
    wait_idle(v.page)
    assert v.page.evaluate("history.length") == length
    v.page.get_by_test_id("stSidebar").get_by_text("More", exact=True).click()
    v.page.get_by_text("Steepness").wait_for()
    v.wait_query("view", '{"open":["controls","table"]}')
    wait_idle(v.page)
    assert v.page.evaluate("history.length") == length
    v.page.get_by_role("link", name="Stream").click()
    v.page.wait_for_url("**/stream")
    v.page.get_by_role("link", name="Playground").click()
    v.page.get_by_text("Steepness").wait_for()
    expect(v.seen().page.locator(".fgs-prototypes table").first).to_be_visible()
    v.wait_query("view", '{"open":["controls","table"]}')
    v.page.reload()
    expect(v.seen().page.locator(".fgs-prototypes table").first).to_be_visible()
    v.page.get_by_text("Steepness").wait_for()
    v.page.get_by_test_id("stSidebar").get_by_text("More", exact=True).click()
    v.page.get_by_text("Steepness").wait_for(state="hidden")
    v.wait_query("view", '{"open":["table"]}')


@pytest.mark.long
def test_share_gives_a_link_to_exactly_this_picture(visit):
    v = visit("?data=local&k=3", permissions=["clipboard-read", "clipboard-write"]).seen()
    v.act("start").click()
    v.act("show-trails").click()
    v.act("panel-inp").click()
    v.act("share").click()
    v.page.get_by_text("Link copied").wait_for()
    link = v.page.evaluate("() => navigator.clipboard.readText()")
    again = visit(f"?{urlsplit(link).query}").seen()
    for name in ("revision", "epoch", "modelSignature"):
        assert again.data(name) == v.data(name)
    assert again.act("show-trails").get_attribute("aria-pressed") == "false"
    expect(again.page.locator('canvas[data-panel="inp"]')).to_be_hidden()


@pytest.mark.long
def test_a_reload_and_the_back_button_keep_to_the_address(visit):
    v = visit().seen()
    first = v.data("revision")
    v.page.get_by_role("radio", name="Three groups").last.click()
    v.wait_query("data", "three_groups")
    v.wait_new_picture(first)
    second = v.data("revision")
    v.page.reload()
    assert v.seen().data("revision") == second
    v.page.go_back()
    v.wait_data("revision", first)


@pytest.mark.long
def test_a_bad_link_is_repaired_and_said(visit):
    v = visit("?C=77&data=mars&view=%7Bx").seen()
    notice = v.page.get_by_text("The link was repaired.")
    assert "“mars” is unknown: XOR is shown instead" in notice.locator("..").inner_text()
    assert v.query() == {"C": "15"}
    v.page.get_by_role("button", name="Dismiss").click()
    notice.wait_for(state="detached")


def test_five_methods_that_are_always_right_fit_side_by_side(visit):
    v = visit("?noise=0&beside=inp.fairglvq.paritylvq.fairtree").seen()
    expect(v.page.locator(".fgs-tradeoff .fgs-dot")).to_have_count(2 * len(FILM_C) + len(GAPS), timeout=60_000)
    wide = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth).length"
    assert v.page.locator(".fgs-readout, .fgs-readout *").evaluate_all(wide) == 0
    assert v.page.locator(".fgs-tradeoff .fgs-end").count() == 0  # both ends of each curve are one place
    assert {"99", "100"} <= set(v.page.locator(".fgs-y-ticks").inner_text().split())


@pytest.mark.long
def test_reset_keeps_the_seed(visit):
    v = visit("?C=0.5&seed=12").seen()
    before = v.data("revision")
    v.page.get_by_role("button", name="Reset").click()
    v.wait_new_picture(before)
    v.page.wait_for_function("() => location.search === '?seed=12'")
    v.page.get_by_role("button", name="New seed").click()
    v.page.wait_for_function("() => /^\\?seed=\\d+$/.test(location.search) && location.search !== '?seed=12'")


@pytest.mark.long
def test_more_controls_open_on_request(visit):
    v = visit().seen()
    before = v.data("revision")
    assert v.slider("Noise").count() == 0
    v.page.get_by_test_id("stSidebar").get_by_text("More", exact=True).click()
    noise = v.slider("Noise")
    noise.wait_for()
    noise.press("ArrowRight")
    v.wait_new_picture(before)
    v.wait_query("noise", "1.1")
    expect(noise).to_be_visible()


@pytest.mark.long
def test_presets_tell_their_story(visit):
    v = visit().seen()
    before = v.data("revision")
    v.page.get_by_role("radio", name="Alpha at work").click()
    v.wait_new_picture(before)
    v.page.get_by_text("One prototype per class is too few").wait_for()
    expect(v.page.get_by_text("Used in")).to_be_visible()


@pytest.mark.long
def test_the_keyboard_plays_steps_and_restarts(visit):
    v = visit().seen()
    v.page.keyboard.press("r")
    v.wait_data("epoch", 0)
    v.page.keyboard.press("ArrowRight")
    v.wait_data("frame", 1)
    v.page.keyboard.press("Space")
    v.page.wait_for_function("(root) => root.dataset.playing === '1'", arg=v.stage.element_handle())
    v.page.keyboard.press("Space")
    v.wait_data("playing", "0")
    v.page.get_by_role("button", name="New seed").focus()  # no field: the keys still mean the picture
    v.page.keyboard.press("r")
    v.wait_data("epoch", 0)
    v.slider("Fairness strength C").focus()
    v.page.keyboard.press("ArrowRight")
    v.wait_query("C", "1.55")
    v.wait_data("frame", 0)


@pytest.mark.long
def test_a_preset_begins_afresh_and_share_says_what_it_leaves_out(visit):
    v = visit().seen()
    v.page.keyboard.press("r")
    v.wait_data("epoch", 0)
    v.act("paint").click()
    v.page.mouse.click(*v.place("glvq", 0.5, 0.5))
    v.act("share").click()
    expect(v.stage.get_by_text("not trained on yet are left out")).to_be_visible()
    before = v.data("revision")
    v.page.get_by_role("radio", name="Alpha at work").click()
    v.wait_new_picture(before)
    assert v.data("epoch") == str(Settings().epochs)
    expect(v.act("paint")).to_have_attribute("aria-pressed", "false")
    v.page.wait_for_function("() => !new URL(location.href).searchParams.has('view')")


@pytest.mark.parametrize(("width", "height"), [(390, 844), pytest.param(640, 450, marks=pytest.mark.long)])
def test_story_and_first_picture_are_on_the_first_screen(visit, width, height):
    v = visit(viewport={"width": width, "height": height}).seen()
    expect(v.page.get_by_text("A bank decides who gets a loan.")).to_be_in_viewport()
    box = v.page.locator('canvas[data-panel="glvq"]').bounding_box()
    assert box["y"] + box["height"] <= height


@pytest.mark.long
def test_one_menu_holds_what_the_pictures_show(visit):
    v = visit().seen()
    trails = v.page.locator('[data-action="show-trails"]')
    expect(trails).to_be_hidden()
    v.act("view").click()
    trails.click()
    expect(trails).to_have_attribute("aria-pressed", "false")
    v.page.keyboard.press("Escape")
    expect(trails).to_be_hidden()


@pytest.mark.long
def test_a_phone_shows_the_stage_first_and_hides_no_control(visit):
    v = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).seen()
    assert v.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    widths = v.stage.evaluate("(root) => [...root.querySelectorAll('canvas')].map((c) => c.clientWidth)")
    assert all(330 < width <= 390 for width in widths)
    assert v.page.locator('canvas[data-panel="glvq"]').bounding_box()["y"] < 844
    before = v.data("revision")
    v.page.get_by_test_id("stExpandSidebarButton").click()
    v.slider("Fairness strength C").press("ArrowLeft")
    v.wait_new_picture(before)


@pytest.mark.long
def test_dark_follows_the_browser(visit):
    v = visit(color_scheme="dark").seen()
    ground = v.stage.evaluate("(root) => getComputedStyle(root).getPropertyValue('--st-background-color')")
    assert ground.strip() != "#ffffff"
    corner = v.page.locator('canvas[data-panel="glvq"]').evaluate(
        "(canvas) => [...canvas.getContext('2d').getImageData(3, canvas.height / 2, 1, 1).data].slice(0, 3)"
    )
    assert sum(corner) < 300


@pytest.mark.long
def test_people_are_shown_on_a_slice_and_counted_exactly(visit):
    v = visit("?data=german&epochs=20&metric=euclidean&beside=inp.fairglvq").seen()
    assert "A slice" in v.stage.inner_text()
    assert "of 59 dimensions" in v.stage.inner_text()
    assert v.stage.inner_text().count("Measured on 200 held-out points") == 1
    expect(v.act("paint")).to_be_hidden()


@pytest.mark.long
def test_a_prototype_of_a_slice_can_be_moved_counted_and_trained_on(visit):
    settings = replace(DEFAULTS["german"], epochs=20, metric="euclidean", beside=("inp", "fairglvq"))
    here = load_points(settings)
    made = scene.compose(settings, here, {m: train_part(settings, here, m, lambda _: None) for m in settings.methods})
    drawn = made.arrays["glvq.prototypes"][-1]
    v = visit("?data=german&epochs=20&metric=euclidean&beside=inp.fairglvq").seen()
    v.act("speed").select_option("4")
    at = v.place("glvq", *drawn[0], made.meta["bounds"])
    v.page.mouse.click(*at)
    card = v.page.locator(".fgs-card")
    inside = scoring.nearest(made.trainings["glvq"], here.X, made.trainings["glvq"].prototypes[-1]) == 0
    card.get_by_text(f"({inside.sum()} of 1,000)").wait_for()
    before = v.numbers("glvq")
    v.drag(at, (40, 60))
    v.page.locator('.panel[data-panel="glvq"]').get_by_text("numbers checked").wait_for()
    assert v.numbers("glvq") != before
    assert "\N{EN DASH}" not in v.numbers("glvq").split("Who gets")[0]
    revision = v.data("revision")
    v.act("continue-glvq").click()
    v.wait_new_picture(revision)
    v.page.get_by_text("do not fit into a link").wait_for()
    v.act("undo").click()
    v.wait_data("revision", revision)


@pytest.mark.long
def test_the_largest_gap_allowed_turns_the_border_in_the_models_own_plane(visit):
    settings = replace(DEFAULTS["german"], prototypes=2, beside=("paritylvq",))
    here = load_points(settings)
    made = scene.compose(settings, here, {m: train_part(settings, here, m, lambda _: None) for m in settings.methods})
    v = visit("?data=german&k=2&beside=paritylvq").seen(last="paritylvq")
    assert "Each picture is its model" in v.stage.inner_text()
    people = made.arrays["paritylvq.points"]
    others = np.vstack([people, made.arrays["paritylvq.prototypes"][-1]])
    apart = np.sort(np.hypot(*(people[:, None] - others).transpose(2, 0, 1)), axis=1)[:, 1]
    person = int(np.where(((people > 0.1) & (people < 0.6)).all(axis=1), apart, 0).argmax())  # the easiest to hit
    v.page.mouse.click(*v.place("paritylvq", *people[person], made.meta["bounds"]))
    decided = made.points.classes[made.meta["panels"][1]["labels"][made.arrays["paritylvq.nearest"][person]]]
    card = v.page.locator(".fgs-card")
    card.get_by_text(re.compile(f"^“{decided}”, (right|wrong)$")).first.wait_for()
    film = v.act("slider-paritylvq")
    film.wait_for(timeout=60_000)
    before, numbers = v.data("revision"), v.numbers("paritylvq")
    film.focus()
    film.press("End")
    v.wait_query("gap", "0.3")
    v.wait_new_picture(before)
    assert v.numbers("paritylvq") != numbers
    assert "gap ≤ 30 points" in v.stage.inner_text()
    expect(v.act("continue-paritylvq")).to_be_hidden()


@pytest.mark.long
def test_a_learned_distance_squeezes_the_plane_and_prototypes_are_moved_in_it(visit):
    settings = replace(DEFAULTS["local"], metric="matrix", prototypes=2, beside=("fairglvq",))
    here = load_points(settings)
    made = scene.compose(settings, here, {m: train_part(settings, here, m, lambda _: None) for m in settings.methods})
    v = visit("?data=local&k=2&metric=matrix&beside=fairglvq").seen(last="fairglvq")
    before, squeeze = v.numbers("glvq"), v.act("slider-glvq")
    assert made.meta["panels"][0]["squeeze"]["words"] in before
    squeeze.focus()
    squeeze.press("End")
    expect(v.act("slider-fairglvq")).to_have_value("1")
    v.wait_query("view", '{"squeeze":1}')
    assert v.numbers("glvq").replace("100%", "0%", 1) == before  # only the plane has moved
    P, limits = np.array(made.meta["panels"][0]["squeeze"]["matrix"]), made.meta["bounds"]
    centre = np.reshape(limits, (2, 2)).mean(axis=0)
    trained = made.trainings["glvq"]
    W = trained.learned.prototypes.copy()
    start, beside = (v.place("glvq", *(centre + P @ (W[2] - centre) + by), limits) for by in ((0, 0), (1, 0)))
    v.drag(np.round(start), (24, -6))  # whole pixels: pointers have no others
    v.page.get_by_text("numbers checked").wait_for()
    W[2] += np.linalg.solve(P, np.array([24, 6]) / (beside[0] - start[0]))
    moved = np.column_stack([W @ trained.learned.omega.T, np.zeros(4)])
    right = scoring.decide(here, trained, moved) == here.y[here.measured]
    assert f"{right.mean():.1%}" in v.numbers("glvq")
    assert f"{right.mean():.1%}" not in before
    expect(v.act("continue-glvq")).to_be_hidden()
    expect(squeeze).to_be_visible()


def test_a_long_training_shows_progress_and_can_be_cancelled(visit):
    v = visit().seen()
    before = v.data("revision")
    v.page.get_by_role("radio", name="Adult").click()
    cancel = v.page.get_by_role("button", name="Cancel")
    cancel.wait_for(timeout=60_000)
    card, pictures = (v.page.locator(f".st-key-{name}").bounding_box() for name in ("progress", "shown"))
    assert pictures["y"] <= card["y"] <= 800 - card["height"]  # on the picture and on the screen
    expect(v.page.locator('.panel[data-panel="glvq"] .readout-slot')).to_be_hidden()  # numbers of another model
    assert v.stage.evaluate("(root) => root.inert")
    cancel.click()
    cancel.wait_for(state="detached")
    v.page.wait_for_function("() => location.search === ''")
    assert v.data("revision") == before
    expect(v.page.locator('.panel[data-panel="glvq"] .readout-slot')).to_be_visible()
