"""The lesson's script without a browser: links, closed steps, gates, challenges; the playground stays as it was."""

import json
from dataclasses import replace

import pytest
from apptest import settle, visit

from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS, step_of
from fairglvq.lesson.texts import LANGUAGES, text, words
from fairglvq.scenes.settings import Settings
from pages.shared.visit import Visit

ALL = frozenset(step.key for step in STEPS)


def at_step(number, *, answered=True, done=False, language="en"):
    """The lesson opened by a link to a step, with all before it done."""
    before = frozenset(step.key for step in STEPS if step.number < number + done)
    step = STEPS[number - 1]
    answers = {step.key: step.prediction.options[0]} if answered else {}
    return visit("lesson", progress=Progress(number, answers, before).to_text(), lang=language)


def lesson_of(at):
    return at.session_state["visit"].lesson


def scene_of(at):
    (component,) = at.get("bidi_component")
    blob = component.proto.bytes
    return json.loads(blob[4 : 4 + int.from_bytes(blob[:4], "little")])["meta"]


def press(at, label):
    (found,) = [button for button in at.button if button.label == label]
    return settle(found.click().run())


def told(at):
    return "\n".join(one.value for one in at.markdown)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_every_step_asks_before_anything_moves(step):
    language = list(LANGUAGES)[step.number % 2]
    at = at_step(step.number, answered=False, language=language)
    assert [title.value for title in at.title] == [f"{step.number}. {text(step.key, language).title}"]
    labels = [button.label for button in at.button]
    assert set(text(step.key, language).options.values()) <= set(labels)
    meta = scene_of(at)
    assert set(step.hidden_before) <= set(meta["without"])
    assert [panel["key"] for panel in meta["panels"]] == list((step.before or step.settings).methods)
    assert words(language)["task"] not in told(at)
    assert "…" not in told(at)


def test_an_answer_brings_the_picture_and_the_task_and_cannot_be_changed():
    at = at_step(3, answered=False)
    at = press(at, text("hiding", "en").options["good"])
    assert [panel["key"] for panel in scene_of(at)["panels"]] == ["glvq", "inp"]
    assert "What happened: Something else came true." in told(at)
    assert "a-hiding-good" in at.query_params["progress"]
    assert not set(text("hiding", "en").options.values()) & {button.label for button in at.button}
    assert "p-hiding" not in at.query_params["progress"]
    lesson_of(at).model.view = {"fold": 1}
    assert "p-hiding" in at.run().query_params["progress"]


def test_a_step_cannot_be_entered_before_its_time():
    at = visit("lesson", progress="5.p-prototype")
    assert at.title[0].value.startswith("2.")
    assert words("en")["repaired"] in [caption.value for caption in at.caption]
    closed = [button.label for button in at.button if button.disabled]
    assert closed == ["3", "4", "5", "6", "7", "8"]
    at.session_state["visit"].lesson.progress = Progress(2, {}, frozenset({"prototype", "gap"}))
    at.run()
    at = press(at, "3")
    assert at.title[0].value.startswith("3.")
    assert words("en")["repaired"] not in [caption.value for caption in at.caption]


def test_a_newcomer_is_told_how_it_goes():
    at = visit("lesson")
    assert words("en")["intro"] in [caption.value for caption in at.caption]
    at = press(at, text("prototype", "en").options["same"])
    assert words("en")["intro"] not in [caption.value for caption in at.caption]
    assert words("en")["repaired"] not in [caption.value for caption in at_step(3).caption]


def test_a_language_that_there_is_not_is_said():
    at = visit("lesson", lang="fr")
    assert words("en")["repaired"] in [caption.value for caption in at.caption]
    assert words("de")["repaired"] not in [caption.value for caption in visit("lesson", lang="de").caption]


def test_the_gap_has_to_be_read():
    at = at_step(2)
    assert {"measures", "drag"} <= set(scene_of(at)["without"])
    (field,) = at.number_input
    at = settle(field.set_value(3.0).run())
    assert words("en")["not yet"] in told(at)
    at = settle(at.number_input[0].set_value(25.0).run())
    assert "p-gap" in at.query_params["progress"]
    assert not {"measures", "drag"} & set(scene_of(at)["without"])


def test_the_lesson_has_a_model_of_its_own():
    here = Visit(page="")
    assert here.model is here.own_model
    here.page = "prototypes"
    assert here.model is here.own_model
    here.page = "lesson"
    assert here.model is here.lesson.model is not here.own_model
    at = at_step(3)
    assert at.session_state["visit"].own_model.settings == Settings()
    assert at.session_state["visit"].own_model.shown is None


def test_the_impossible_is_tried_and_the_limit_answers():
    at = at_step(6, done=True)
    asked, said = text("limit", "en"), text("limit", "en").challenges["beyond"]
    assert words("en")["not tried"] in told(at)
    assert said.why not in told(at)
    assert len(scene_of(at)["limit"]) > 100
    lesson_of(at).model.settings = replace(step_of("limit").settings, max_gap=0.05)
    at = settle(at.run())
    assert Progress.from_text(at.query_params["progress"]).results["beyond"].solved is False
    at = press(at, words("en")["hint"])
    assert said.hints[0] in told(at)
    assert said.hints[1] not in told(at)
    at = press(at, words("en")["another hint"])
    assert said.hints[1] in told(at)
    at = press(at, said.options["method"])
    assert "no method at all can get more than 84.5% of the decisions" in told(at)
    assert asked.title in at.title[0].value


def test_people_are_met_one_after_the_other():
    at = at_step(8)
    for verdict in ("yes", "no", "unsure"):
        (table,) = at.table
        assert list(table.value.columns) == ["What is known", "Person", "Prototype of GLVQ", "Prototype of FairGLVQ"]
        assert len(table.value) == 6
        at = press(at, words("en")[verdict])
    assert len(at.table) == 0
    progress = Progress.from_text(at.query_params["progress"])
    assert progress.passed == ALL
    assert (progress.answers["first"], progress.answers["third"]) == ("yes", "unsure")


def test_start_again_forgets_everything():
    at = press(at_step(3), words("en")["restart"])
    assert at.title[0].value.startswith("1.")
    assert "progress" not in at.query_params


def test_a_model_that_does_not_belong_to_the_step_gives_way():
    """As after Cancel, which goes back to what is on the screen, even if that is of the step before."""
    at = at_step(3)
    lesson_of(at).model.settings = STEPS[0].settings
    at = settle(at.run())
    assert lesson_of(at).model.settings == STEPS[2].settings
