"""Progress: which steps are open, what a link keeps of it, and what a broken link cannot do."""

import re

import pytest

from fairglvq.lesson.progress import Progress, Result
from fairglvq.lesson.steps import STEPS, challenges, questions

PARTS = (
    "bar", "transport", "view", "drag", "continue", "slider", "readout", "measures", "opportunity", "groups",
    "timeline", "tradeoff", "changed", "table", "share", "paint", "squeeze",
)  # fmt: skip
"""Parts of the stage that can be left out."""

FULL = Progress(
    step=3,
    answers={"prototype": "nobody", "gap": "many", "first": "unsure", "beyond": "nobody"},
    passed=frozenset({"prototype", "gap"}),
    results={"byhand": Result(0.861, 0.043, True), "beyond": Result(0.845, 0.05, False)},
)


def test_steps_are_numbered_and_their_keys_fit_into_a_link():
    assert [step.number for step in STEPS] == list(range(1, 9))
    keys = [*questions(), *challenges(), *(step.key for step in STEPS)]
    assert all(re.fullmatch("[a-z]+", key) for key in keys)
    assert all(2 <= len(question.options) <= 4 for question in questions().values())
    assert all(re.fullmatch("[a-z]+", option) for question in questions().values() for option in question.options)


def test_steps_hide_only_parts_that_the_stage_has():
    for step in STEPS:
        assert set(step.hidden + step.hidden_before + step.hidden_until_done) <= set(PARTS)


def test_a_link_keeps_everything():
    assert Progress.from_text(FULL.to_text()) == FULL
    assert re.fullmatch(r"[\w.-]+", FULL.to_text())
    assert Progress.from_text(Progress().to_text()) == Progress()


@pytest.mark.parametrize(
    "text", ["", "x", "99", "-1", "3", "1.a-gap-maybe.p-nothing.r-byhand-2000-1-1.r-x-1-1-1.a-.p.q-1", "²", "8.a-gap"]
)
def test_a_broken_link_is_read_as_far_as_it_makes_sense(text):
    assert Progress.from_text(text) == Progress()


def test_a_step_opens_when_all_before_it_are_passed():
    progress = Progress()
    assert progress.reached == 1
    assert progress.opened("gap").reached == 1
    for step in STEPS[:-1]:
        progress = progress.opened(step.key)
        assert progress.reached == step.number + 1
    assert progress.opened(STEPS[-1].key).reached == 8
    assert Progress.from_text("8.p-prototype.p-gap").step == 3


def test_only_the_first_answer_counts():
    progress = Progress().answered("gap", "none").answered("gap", "many")
    assert progress.answers == {"gap": "none"}


def test_the_best_result_of_a_challenge_is_kept():
    far = Progress().tried("byhand", 0.99, 0.25)
    assert far.results["byhand"] == Result(0.99, 0.25, False)
    nearer = far.tried("byhand", 0.78, 0.12)  # misses by 4 points in all, not by 15
    assert nearer.results["byhand"] == Result(0.78, 0.12, False)
    assert nearer.tried("byhand", 0.6, 0.0) == nearer
    solved = nearer.tried("byhand", 0.8604, 0.0996)
    assert solved.results["byhand"] == Result(0.86, 0.1, True)
    assert solved.tried("byhand", 0.7, 0.01) == solved
