"""The texts: every language says everything, with known places only, and explains each term once, where it appears."""

import re

import pytest

from fairglvq.lesson.filling import MARKS
from fairglvq.lesson.numbers import NUMBERS
from fairglvq.lesson.steps import STEPS, TARGET, TOLERANCE
from fairglvq.lesson.texts import FOLDER, LANGUAGES, parsed, places, text, words

BOTH = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(params=STEPS, ids=lambda step: step.key)
def step(request):
    return request.param


def every_text(step):
    """All texts of a step."""
    found = [step.title, step.idea, step.question, step.why, step.task, step.formula, step.more]
    for group in (step.terms, step.options, step.happened, step.tasks):
        found += group.values()
    for one in step.challenges.values():
        found += [one.task, *one.hints, one.solved, one.why, *one.options.values(), one.answer]
    return found


@BOTH
def test_a_step_is_complete(step, language):
    found = text(step.key, language)
    assert all([found.title, found.idea, found.terms, found.question, found.why, found.task, found.formula])
    assert tuple(found.options) == step.prediction.options
    happened = set(found.happened)
    assert happened == set(step.prediction.options) or happened == {"nearest"}
    assert tuple(found.tasks) == tuple(deed.key for deed in step.gate.deeds)
    assert tuple(found.challenges) == tuple(challenge.key for challenge in step.challenges)
    for challenge in step.challenges:
        said = found.challenges[challenge.key]
        assert said.task
        assert said.solved
        assert all(said.hints)
        assert said.hints[0] != said.hints[1]
        assert tuple(said.options) == (challenge.why.options if challenge.why else ())
        assert bool(said.why) == bool(said.answer) == bool(challenge.why)
    assert all(value.strip() for value in (*found.options.values(), *found.happened.values(), *found.tasks.values()))


@BOTH
def test_no_section_is_left_unread(step, language):
    title, sections = parsed((FOLDER / language / f"{step.number}_{step.key}.md").read_text("utf-8"))
    known = {"idea", "terms", "question", "happened", "why", "task", "formula", "more"}
    assert title
    assert set(sections) <= known | {f"challenge {one.key}" for one in step.challenges}
    assert not any(re.search("^[-#]", section.text, re.MULTILINE) for section in sections.values())


@BOTH
def test_only_known_places(step, language):
    for one in every_text(text(step.key, language)):
        assert places(one) <= {*NUMBERS, *MARKS}


def test_both_languages_say_the_same_numbers(step):
    english, german = (every_text(text(step.key, language)) for language in ("en", "de"))
    for one, other in zip(english, german, strict=True):
        assert places(one) == places(other)


def test_no_number_of_a_result_is_typed(step):
    """Digits in what happened come from places; targets, steps and strengths are the lesson's own."""
    for language in LANGUAGES:
        for one in text(step.key, language).happened.values():
            assert not re.search(r"\d", re.sub(r"{.*?}", "", one).replace("C = 1.5", ""))


def test_the_words_of_the_page_are_there_in_all_languages():
    assert list(words("en")) == list(words("de"))
    assert all(words(language).values() for language in LANGUAGES)
    assert {f"mark {name}" for name in MARKS} <= set(words("en"))


def test_an_unknown_language_is_an_error():
    with pytest.raises(ValueError, match="there are en, de"):
        text("gap", "fr")


@BOTH
def test_terms_are_explained_once_and_not_used_before(language):
    met = {}
    for step in STEPS:
        found = text(step.key, language)
        for term in found.terms:
            assert term not in met
            met[term] = step.number
    for term, first in met.items():
        for step in STEPS[: first - 1]:
            used = [one for one in every_text(text(step.key, language)) if re.search(rf"\b{re.escape(term)}s?\b", one)]
            assert used == [], f"{term} is explained in step {first}"


def test_reading_a_file_by_hand():
    title, sections = parsed("# T\n\n## a\nText\nmore.\n- one: first\n  line\n- two words: x: y\n\nEnd.\n\n## b\n")
    assert title == "T"
    assert sections["a"].items == {"one": "first line", "two words": "x: y"}
    assert sections["a"].text == "Text\nmore.\n\n\n\nEnd."
    assert sections["b"] == ("", {})


@BOTH
def test_targets_in_words_are_those_that_are_checked(language):
    def said(share):
        return f"{100 * share:g}".replace(".", "," if language == "de" else ".")

    for step in STEPS:
        for challenge in step.challenges:
            task = text(step.key, language).challenges[challenge.key].task
            numbers = re.findall(r"\d+(?:[.,]\d+)?", task)
            assert {said(challenge.gap), said(challenge.accuracy)} <= set(numbers)
    assert {said(TARGET), "86", "100"} == set(re.findall(r"\d+", text("strength", language).tasks["five"]))
    assert {said(TOLERANCE)} == set(re.findall(r"\d+", text("gap", language).tasks["read"]))
    assert {said(TARGET)} == set(re.findall(r"\d+", text("limit", language).tasks["named"]))
    assert {said(TARGET)} == set(re.findall(r"\d+", text("measures", language).tasks["opportunity"]))
