"""The stage as one file, opened from disk in Chromium with the network switched off."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from browser import wait_for
from playwright.sync_api import expect

from fairglvq.scenes.points import load_points
from fairglvq.scenes.scene import compose, with_film
from fairglvq.scenes.scoring import score
from fairglvq.scenes.settings import DEFAULTS, Settings
from fairglvq.scenes.training import train_film, train_part
from pages.shared.playground.stage import one_file

pytestmark = pytest.mark.browser
QUICK = Settings(epochs=20, batch_size=500)
GERMAN = replace(DEFAULTS["german"], epochs=10, prototypes=2, beside=("fairglvq",))
SLICE = replace(GERMAN, metric="euclidean")
STAGE = '.stage[data-ready="1"]'


def ignore(share):
    pass


@cache
def scene_of(settings):
    points = load_points(settings)
    scene = compose(settings, points, {m: train_part(settings, points, m, ignore) for m in settings.methods})
    if settings.real:
        return scene, None
    film = train_film(settings, points, "fairglvq", ignore)
    return with_film(scene, settings, "fairglvq", film), film


class Opened:
    """A file in a browser without a network."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        self.context.set_offline(True)
        self.page, self.problems = self.context.new_page(), []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("request", lambda request: self.problems.append(request.url))
        self.page.goto(path.as_uri())
        self.stage = self.page.locator(STAGE)
        self.stage.wait_for()
        assert self.problems.pop(0) == path.as_uri()

    def _console(self, message):
        if message.type in ("error", "warning") and "getImageData" not in message.text:  # what a test reads of a canvas
            self.problems.append(message.text)

    def readout(self, method):
        return self.page.locator(f'.fgs-method[data-method="{method}"]').first.inner_text()

    def moved(self, method):
        """Places and pseudo-classes of a model moved by hand."""
        return self.page.evaluate(
            """(method) => {
                const { W, pseudo } = document.querySelector(".stage").fairglvqStage.stage.moved.get(method);
                return [[...W], [...pseudo]];
            }""",
            method,
        )

    def move_by_keys(self, method, times=6):
        canvas = self.page.locator(f'canvas[data-panel="{method}"]')
        canvas.focus()
        canvas.press("Enter")
        for _ in range(times):
            canvas.press("Alt+Shift+ArrowLeft")
        canvas.press("Escape")


@pytest.fixture
def opened(browser, tmp_path):
    """``opened(settings, view=None, **context_options)``; in the end nothing may have gone wrong or been asked for."""
    files = []

    def open_file(settings, view=None, **options):
        path = tmp_path / f"fairglvq-{len(files)}.html"
        heading = one_file.Heading("Title of the file", "Words of the file.")
        path.write_text(one_file.page(scene_of(settings)[0], settings, heading, view), "utf-8")
        files.append(Opened(browser, path, **options))
        return files[-1]

    yield open_file
    for file in files:
        assert file.problems == []
        file.context.close()


def percent(value):
    return f"{100 * value:.1f}%"


def test_it_plays_scrubs_and_turns_c(opened):
    v, (scene, film) = opened(QUICK), scene_of(QUICK)
    expect(v.stage).to_have_attribute("data-epoch", "20")
    before = v.readout("fairglvq")
    scrubber = v.page.locator('[data-action="scrub"]')
    scrubber.fill("0")
    expect(v.stage).to_have_attribute("data-epoch", "0")
    assert v.readout("fairglvq") != before
    v.page.locator('[data-action="view"]').click()
    v.page.locator('[data-action="speed"]').select_option("4")
    v.page.locator('[data-action="play"]').click()
    expect(v.stage).to_have_attribute("data-playing", "1")
    expect(v.stage).to_have_attribute("data-playing", "0")
    expect(v.stage).to_have_attribute("data-epoch", "20")
    assert v.readout("fairglvq") == before
    slider = v.page.locator('[data-action="slider-fairglvq"]')
    numbers = v.page.locator('.fgs-method[data-method="fairglvq"]').first
    for index in (0, 3, len(film.values) - 1):
        slider.fill(str(film.values[index]))
        expect(numbers).to_contain_text(f"fully trained with C = {film.values[index]:g}")
        found = score(scene.points, labels_of(film.prototypes[index], scene))
        assert percent(found.accuracy) in v.readout("fairglvq")
    slider.fill(str(QUICK.C))  # the model that was trained before anybody's eyes
    expect(numbers).to_contain_text("epoch 20 of 20, C = 1.5")
    curve = v.page.locator('.fgs-tradeoff [role="slider"]')
    curve.focus()
    curve.press("Home")
    expect(numbers).to_contain_text("fully trained with C = 0")


def labels_of(W, scene, X=None):
    """Class that the nearest prototype decides for each measured point."""
    X = scene.points.X[scene.points.measured] if X is None else X
    nearest = ((X[:, None] - W[None]) ** 2).sum(axis=2).argmin(axis=1)
    return np.array(scene.meta["panels"][0]["labels"])[nearest]


def test_a_prototype_moves_by_keys_and_by_mouse_and_everybody_is_counted(opened):
    v, (scene, _) = opened(QUICK), scene_of(QUICK)
    before = v.readout("glvq")
    v.move_by_keys("glvq")
    expect(v.page.locator('.panel[data-panel="glvq"] .note')).to_have_text("Moved by you.")
    places, _ = v.moved("glvq")
    found = score(scene.points, labels_of(np.reshape(places, (-1, 2)), scene))
    assert v.readout("glvq") != before
    assert percent(found.accuracy) in v.readout("glvq")
    v.page.locator('[data-action="back-glvq"]').click()
    expect(v.page.locator('.fgs-method[data-method="glvq"]').first).to_contain_text("epoch 20 of 20")
    assert v.readout("glvq") == before
    x, y = v.page.evaluate(
        """() => {
            const { stage } = document.querySelector(".stage").fairglvqStage;
            const view = stage.panels[0];
            const [px, py] = stage.shown(stage.panelOf("glvq")).W;
            const { scale, ...vp } = stage.viewportOf(view);
            const box = view.canvas.getBoundingClientRect();
            return [box.x + vp.width / 2 + (px - stage.state.camera.cx) * scale,
                box.y + vp.height / 2 - (py - stage.state.camera.cy) * scale];
        }"""
    )
    v.page.mouse.move(x, y)
    v.page.mouse.down()
    v.page.mouse.move(x + 90, y + 40, steps=4)
    v.page.mouse.up()
    expect(v.page.locator('.panel[data-panel="glvq"] .note')).to_have_text("Moved by you.")
    places, _ = v.moved("glvq")
    found = score(scene.points, labels_of(np.reshape(places, (-1, 2)), scene))
    assert v.readout("glvq") != before
    assert percent(found.accuracy) in v.readout("glvq")


def test_what_needs_python_is_not_offered_and_the_limits_are_said(opened):
    v = opened(QUICK)
    v.move_by_keys("fairglvq")
    expect(v.page.locator('[data-action="back-fairglvq"]')).to_be_visible()
    for action in ("continue-fairglvq", "paint", "share"):
        expect(v.page.locator(f'[data-action="{action}"]')).to_be_hidden()
    footer = v.page.locator("footer")
    expect(footer).to_contain_text("It trains nothing and sends nothing.")
    expect(footer).to_contain_text(f"those of its curves: {len(scene_of(QUICK)[1].values)} of FairGLVQ")
    expect(v.page.locator("h1")).to_have_text("Title of the file")
    assert v.page.evaluate('document.querySelector(".stage").fairglvqStage.stage.outbox') == []


def test_an_own_plane_counts_the_people_drawn(opened):
    v, (scene, _) = opened(GERMAN), scene_of(GERMAN)
    v.move_by_keys("fairglvq")
    expect(v.page.locator('.panel[data-panel="fairglvq"] .note')).to_have_text("Moved by you.")
    places, pseudo = v.moved("fairglvq")
    training = scene.trainings["fairglvq"]
    W = np.column_stack([np.reshape(places, (-1, 2)), training.prototypes[-1][:, 2]])
    Z = training.see(scene.points.X)
    found = score(scene.points, labels_of(W, scene, Z[scene.points.measured]))
    assert percent(found.accuracy) in v.readout("fairglvq")
    learn = ~scene.points.held_out
    nearest = ((Z[learn][:, None] - W[None]) ** 2).sum(axis=2).argmin(axis=1)
    votes = np.zeros((len(W), 2), int)
    np.add.at(votes, (nearest, scene.points.s[learn]), 1)
    kept = training.pseudo[-1]
    assert pseudo == np.where(votes.any(axis=1), votes.argmax(axis=1), kept).tolist()
    canvas = v.page.locator('canvas[data-panel="fairglvq"]')
    canvas.focus()
    canvas.press("Enter")
    expect(v.page.locator(".fgs-card")).to_contain_text(re.compile(r"Share of all points\s*[\d.]+% \(\d+ of 1,000\)"))


def test_a_slice_says_that_it_cannot_count(opened):
    v = opened(SLICE)
    v.move_by_keys("glvq")
    expect(v.page.locator('.fgs-method[data-method="glvq"]').first).to_contain_text("A file cannot count people in dim")
    expect(v.page.locator(".fgs-measures dd").first).to_have_text("\N{EN DASH}")
    canvas = v.page.locator('canvas[data-panel="fairglvq"]')
    canvas.focus()
    canvas.press("Enter")
    expect(v.page.locator(".fgs-card")).to_contain_text("not in this file")


def test_it_follows_the_theme_and_is_printed_on_white(opened):
    v = opened(QUICK, view={"epoch": 10, "film": ["fairglvq", 1]}, color_scheme="dark")
    expect(v.stage).to_have_attribute("data-epoch", "10")
    expect(v.page.locator('.fgs-method[data-method="fairglvq"]').first).to_contain_text("fully trained with C =")
    corner = (
        '(() => [...document.querySelector("canvas").getContext("2d").getImageData(3, 3, 1, 1).data].slice(0, 3))()'
    )
    dark = v.page.evaluate(corner)
    v.page.evaluate(f"addEventListener('beforeprint', () => (window.printed = {corner}))")
    pages = len(re.findall(rb"/Type\s*/Page\b", v.page.pdf(format="A4")))
    assert pages <= 3
    assert sum(v.page.evaluate("printed")) > 600 > 300 > sum(dark)
    assert v.page.evaluate(corner) == dark
    v.page.emulate_media(color_scheme="light")
    # Playwright's own waiting evaluates words on the page, which the file's policy forbids.
    wait_for(lambda: min(v.page.evaluate(corner)) > 200, what="a light picture")


def test_on_a_phone_nothing_is_wider_than_the_screen(opened):
    v = opened(QUICK, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert v.page.evaluate("document.documentElement.scrollWidth") == 390


def test_people_who_are_not_in_the_file_are_not_counted_and_that_is_said(opened, monkeypatch):
    scene, _ = scene_of(GERMAN)
    fewer = scene._replace(meta=scene.meta | {"population": 45_222})
    monkeypatch.setattr(f"{__name__}.scene_of", lambda settings: (fewer, None))
    v = opened(GERMAN)
    numbers = v.page.locator('.fgs-method[data-method="glvq"]').first
    expect(numbers).not_to_contain_text("people drawn")
    v.move_by_keys("glvq")
    expect(numbers).to_contain_text("dragged by hand, counted among the 1,000 people drawn")
    expect(v.page.locator("footer")).to_contain_text("is counted among the 1,000 people drawn")


def test_the_button_gives_the_picture_in_view(app, browser, tmp_path):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page.goto(f"{app}/?epochs=20&batch=500")
    page.wait_for_selector(f'{STAGE} canvas[data-panel="inp"]')
    scrubber = page.locator('[data-action="scrub"]')
    scrubber.fill("10")
    page.wait_for_url(re.compile("epoch.{1,9}10"))  # the app has received it
    page.get_by_text("Take this picture home").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Picture (HTML)").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    page.close()
    assert path.name == "fairglvq-xor.html"
    v = Opened(browser, path)
    expect(v.stage).to_have_attribute("data-epoch", "10")
    expect(v.page.locator("h1")).to_have_text("See a classifier become fair, and what it costs")
    expect(v.page.locator("body > header")).to_contain_text("A bank decides who gets a loan.")
    assert v.problems == []
    v.context.close()
