"""The lesson on paper: complete in both languages, answers on the answer sheet only, four pages of A4."""

import re
from functools import cache

import pytest
from markupsafe import Markup, escape

from fairglvq.__main__ import main
from fairglvq.lesson.filling import UNKNOWN, written
from fairglvq.lesson.steps import STEPS
from fairglvq.lesson.texts import LANGUAGES, text, words
from fairglvq.report import handout
from fairglvq.scenes.service import TrainingService

SHEETS = [(language, answers) for language in LANGUAGES for answers in (False, True)]
ALL = pytest.mark.parametrize(("language", "answers"), SHEETS)
BOTH = pytest.mark.parametrize("language", LANGUAGES)


@cache
def models():
    return handout.models(TrainingService())


@cache
def sheet(language, answers):
    return handout.to_html(models(), language, answers=answers)


def section(page, number):
    return re.search(rf'<section class="step" id="step-{number}">(.*?)</section>', page, re.DOTALL)[1]


def plain(page):
    """What one reads, without marks."""
    return " ".join(Markup(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)).striptags().split())


def literal(source):
    """The longest part of a text without places, as it must stand on the page."""
    part = max(re.split(r"\{[^}]+\}|\n\n", source.replace("**", "")), key=len)
    return " ".join(part.split())


@ALL
def test_every_step_is_there(language, answers):
    page = sheet(language, answers)
    assert f'<html lang="{language}">' in page
    for step in STEPS:
        told, said = text(step.key, language), plain(section(page, step.number))
        assert f"{step.number} · {told.title}" in said
        assert literal(told.question) in said
        for option in told.options.values():
            assert literal(option) in said
        for challenge in told.challenges.values():
            assert literal(challenge.task) in said
        assert section(page, step.number).count("<svg") >= 1
    assert "{" not in plain(page.split("<body>")[1])


@BOTH
def test_answers_are_on_the_answer_sheet_only(language):
    asked, answered = sheet(language, False), sheet(language, True)
    for step in STEPS:
        told, seen = text(step.key, language), models()[step.key]
        question, answer = (plain(section(page, step.number)) for page in (asked, answered))
        came = step.prediction.happened(seen)
        secrets = [told.why, told.happened[came]]
        for challenge in told.challenges.values():
            secrets += [*challenge.hints, challenge.answer or challenge.solved]
        for secret in secrets:
            assert literal(secret) in answer
            assert literal(secret) not in question
        (ticked,) = re.findall(r'<li class="came">(.*?)</li>', section(answered, step.number))
        assert literal(told.options[came]) in plain(ticked)
    assert 'class="came"' not in asked
    assert 'class="answer"' not in asked
    assert asked.count('<div class="lines">') == 2 * len(STEPS) + 1  # what happened, why, and the people of step 8
    assert 'class="lines"' not in answered


@BOTH
def test_numbers_are_those_of_the_models(language):
    answered = sheet(language, True)
    for key, name in (
        ("gap", "glvq_gap"),
        ("strength", "target_accuracy"),
        ("limit", "strong_gap"),
        ("people", "changed"),
    ):
        seen = models()[key]
        number = " ".join(written(name, seen[name], language).split())
        assert number != UNKNOWN
        assert number in plain(section(answered, step_number(key)))
    unknown = [step.key for step in STEPS if UNKNOWN in plain(section(answered, step.number))]
    assert unknown == ["prototype"]  # how many people a student's own move concerns


def step_number(key):
    return next(step.number for step in STEPS if step.key == key)


def test_pictures_are_those_before_and_after_the_prediction():
    def captions(answers, number):
        return re.findall(r"<figcaption>(.*?)</figcaption>", section(sheet("de", answers), number))

    assert captions(False, 3) == ["GLVQ"]
    assert captions(True, 3) == ["GLVQ", "INP + GLVQ"]
    assert captions(False, 5) == ["FairGLVQ, C = 0", words("de", "handout")["draw"]]
    target = written("C", models()["strength"]["target_C"], "de")
    assert captions(True, 5) == [f"FairGLVQ, C = {target}"]
    assert captions(True, 6) == ["FairGLVQ, C = 1", "ParityLVQ, ≤ 30\N{NO-BREAK SPACE}Punkte"]
    assert "#c2185b" in section(sheet("de", True), 4)  # the push
    assert "<polyline" in section(sheet("de", True), 5)
    assert "<polyline" not in section(sheet("de", False), 5)


def test_it_asks_no_host_and_says_where_it_comes_from():
    for language, answers in SHEETS:
        page = sheet(language, answers)
        assert not re.search(r"<script|<[^>]*\s(src|href)=|url\((?!#)|https?://(?!www\.w3\.org/)", page)
        assert len(page.encode()) < 600_000
        assert "CC BY 4.0" in page
    assert list(words("en", "handout")) == list(words("de", "handout"))
    assert escape(words("en", "handout")["how"]) in sheet("en", False)


def test_the_command_writes_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(handout, "models", lambda service: models())
    assert main(["handout", "--language", "de", "--answers"]) == 0
    assert "fairglvq-answers-de.html" in capsys.readouterr().out
    assert (tmp_path / "fairglvq-answers-de.html").read_text("utf-8") == sheet("de", True)
    assert main(["handout", "--file", "mine.html"]) == 0
    assert (tmp_path / "mine.html").read_text("utf-8") == sheet("en", False)


@pytest.mark.browser
@ALL
def test_it_prints_on_four_pages(browser, language, answers):
    page = browser.new_page()
    page.set_content(sheet(language, answers))
    printed = page.pdf(prefer_css_page_size=True)
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 4
    assert width == 390
