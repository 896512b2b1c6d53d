"""Files to keep beside the playground's: of a step of the lesson, and the lesson on paper."""

from functools import cache

from streamlit.testing.v1 import AppTest

from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import LANGUAGES, places, text


@cache
def first_step():
    """The first step, with its models."""
    from fairglvq.scenes.points import load_points
    from fairglvq.scenes.scene import compose
    from fairglvq.scenes.training import train_part

    settings = STEPS[0].settings
    points = load_points(settings)
    return STEPS[0], compose(settings, points, {"glvq": train_part(settings, points, "glvq", lambda share: None)})


def lesson_page():
    """A page that offers the picture of the first step."""
    from pages.shared.lesson import keeping
    from pages.shared.visit import visit
    from tests.pages.test_take_home import first_step

    visit().lesson.language = "de"
    step, scene = first_step()
    keeping.draw(step, scene, step.settings)


def teach_page():
    """A page that offers the lesson on paper."""
    from pages.shared.teach import handouts

    handouts.draw()


def test_a_step_can_be_kept(monkeypatch):
    made = []
    monkeypatch.setattr("pages.shared.playground.take_home.st.download_button", lambda *given, **_: made.append(given))
    at = AppTest.from_function(lesson_page, default_timeout=60).run()
    assert not at.exception
    ((label, make, name, _),) = made
    assert label == "Dieses Bild mitnehmen (HTML)"
    assert name == "fairglvq-xor.html"
    told = text("prototype", "de")
    assert f"<h1><bdi>1 · {told.title}</bdi></h1>" in make()
    assert told.why in make()


def test_reasons_have_no_numbers():
    for step in STEPS:
        for language in LANGUAGES:
            assert places(text(step.key, language).why) <= {"A", "B", "loan", "no_loan"}


def test_the_lesson_on_paper_is_offered_in_every_language_and_made_only_when_asked_for():
    at = AppTest.from_function(teach_page, default_timeout=60).run()
    assert not at.exception
    labels = [button.label for button in at.get("download_button")]
    assert labels == ["Handout, English", "Answer sheet, English", "Handout, Deutsch", "Answer sheet, Deutsch"]
