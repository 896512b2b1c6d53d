"""A visitor's progress in the lesson, as a value that fits into a link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fairglvq.lesson.steps import STEPS, challenges, questions


class Result(NamedTuple):
    """The best model that a visitor has found for a challenge: shares from 0 to 1, rounded as in a link."""

    accuracy: float
    gap: float
    solved: bool


@dataclass(frozen=True)
class Progress:
    """The step in view, answers by question, steps whose gate is open, and results by challenge."""

    step: int = 1
    answers: Mapping[str, str] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    results: Mapping[str, Result] = field(default_factory=dict)

    @property
    def reached(self) -> int:
        """The last step that may be entered: the first whose gate is closed, with all before it open."""
        for step in STEPS:
            if step.key not in self.passed:
                return step.number
        return STEPS[-1].number

    def at(self, number: int) -> Progress:
        """The same, looking at another step."""
        return replace(self, step=number)

    def answered(self, key: str, option: str) -> Progress:
        """With an answer; only the first one counts."""
        return self if key in self.answers else replace(self, answers={**self.answers, key: option})

    def opened(self, key: str) -> Progress:
        """With the gate of a step open."""
        return replace(self, passed=self.passed | {key})

    def tried(self, key: str, accuracy: float, gap: float) -> Progress:
        """With a model tried for a challenge; the better one is kept: a solution, else what misses the target least."""
        challenge, known = challenges()[key], self.results.get(key)
        found = Result(round(accuracy, 3), round(gap, 3), challenge.reached(accuracy, gap))
        if known is not None and _rank(key, known) >= _rank(key, found):
            return self
        return replace(self, results={**self.results, key: found})

    def to_text(self) -> str:
        """As it stands in a link: "3.a-gap-many.p-gap.r-byhand-861-43-1"."""
        parts = [str(self.step)]
        parts += [f"a-{key}-{option}" for key, option in sorted(self.answers.items())]
        parts += [f"p-{key}" for key in sorted(self.passed)]
        parts += [
            f"r-{key}-{round(1000 * accuracy)}-{round(1000 * gap)}-{int(solved)}"
            for key, (accuracy, gap, solved) in sorted(self.results.items())
        ]
        return ".".join(parts)

    @classmethod
    def from_text(cls, text: str, opened: int = 1) -> Progress:
        """Progress from a link, without what is unknown or broken in it. A teacher may have ``opened`` steps."""
        first, *parts = text.split(".")
        answers, passed, results = {}, set(), {}
        for part in parts:
            kind, _, rest = part.partition("-")
            if kind == "a" and (found := re.fullmatch(r"([a-z]+)-([a-z]+)", rest)):
                question = questions().get(found[1])
                if question and found[2] in question.options:
                    answers[found[1]] = found[2]
            elif kind == "p" and any(step.key == rest for step in STEPS):
                passed.add(rest)
            elif kind == "r" and (found := re.fullmatch(r"([a-z]+)-(\d{1,4})-(\d{1,4})-([01])", rest)):
                shares = int(found[2]) / 1000, int(found[3]) / 1000
                if found[1] in challenges() and max(shares) <= 1:
                    results[found[1]] = Result(*shares, found[4] == "1")
        progress = cls(1, answers, frozenset(passed), results)
        wanted = int(first) if re.fullmatch(r"\d{1,2}", first, re.ASCII) else 1
        return progress.at(min(max(wanted, 1), max(progress.reached, opened)))


def _rank(key: str, result: Result) -> tuple[bool, float]:
    """What makes one result better than another: a solution, then by how much it misses the target."""
    challenge = challenges()[key]
    missing = max(challenge.accuracy - result.accuracy, 0) + max(result.gap - challenge.gap, 0)
    return result.solved, -missing
