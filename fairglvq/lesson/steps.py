"""The steps of the lesson: models on the stage, prediction, tasks and challenges.

Conditions are functions of numbers by name (`numbers.NUMBERS`), measured on the models in view. A number that is not
known yet is NaN, and so no condition on it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairglvq.scenes.settings import DEFAULTS, Settings

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Question:
    """Something with a few answers, one of which is given."""

    key: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Prediction(Question):
    """The question before the picture moves; ``happened`` gives the option that came true."""

    happened: Callable[[Numbers], str] = lambda numbers: ""


@dataclass(frozen=True)
class Deed:
    """One task on the stage or beside it, and the condition for having done it."""

    key: str
    done: Callable[[Numbers], bool]


@dataclass(frozen=True)
class Gate:
    """What opens the next step: all of these, in any order. ``verdicts`` are judgements that have to be given."""

    deeds: tuple[Deed, ...] = ()
    verdicts: tuple[Question, ...] = ()
    typed: bool = False  # whether a number has to be read off and typed


@dataclass(frozen=True)
class Challenge:
    """A target for a model in view: a gap of at most ``gap`` with an accuracy of at least ``accuracy``.

    ``method`` is "hand" for prototypes moved by hand. ``why`` is asked where no model can reach the target.
    """

    key: str
    method: str
    gap: float
    accuracy: float
    why: Question | None = None

    def reached(self, accuracy: float, gap: float) -> bool:
        """Whether a model with this accuracy and this gap reaches the target."""
        return accuracy >= self.accuracy and gap <= self.gap


@dataclass(frozen=True)
class Step:
    """One idea. ``before`` is on the stage until the prediction is given, ``settings`` afterwards.

    ``hidden`` are parts of the stage that this step never shows, ``hidden_before`` those shown after the prediction,
    ``hidden_until_done`` those that would reveal the solution of a task. ``view`` is the stage's first view.
    ``reveals_at_once`` says that the outcome is shown after the prediction; elsewhere, after the tasks.
    """

    number: int
    key: str
    settings: Settings
    prediction: Prediction
    gate: Gate
    challenges: tuple[Challenge, ...] = ()
    before: Settings | None = None
    hidden: tuple[str, ...] = ()
    hidden_before: tuple[str, ...] = ()
    hidden_until_done: tuple[str, ...] = ()
    view: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reveals_at_once: bool = False
    curve_beside: bool = False  # picture and curve side by side
    limit_line: bool = False  # drawn into the curve after the prediction


# A step is shared by its own link, and ends with its own model.
_ALWAYS = ("share", "paint", "continue", "table", "squeeze")
_XOR, _LOCAL = DEFAULTS["xor"], DEFAULTS["local"]
_GERMAN = replace(DEFAULTS["german"], metric="euclidean", beside=("fairglvq",))
_CALM = {"show": {"trails": False}}

TARGET = 0.05
"""The largest gap that challenges allow."""

TOLERANCE = 0.01
"""How far a gap read off a picture may be from the exact one."""


def _accurate_and(numbers: Numbers) -> str:
    gap = numbers["glvq_gap"]
    return "many" if gap > 0.1 else "few" if gap > 0.02 else "none"


def _removed(numbers: Numbers) -> str:
    if not numbers["inp_gap"] < numbers["glvq_gap"] / 2:
        return "useless"
    return "costly" if numbers["glvq_accuracy"] - numbers["inp_accuracy"] > 0.05 else "good"


def _balanced(numbers: Numbers) -> str:
    pull, push, total = numbers["last_pull"], numbers["last_push"], numbers["last_sum"]
    if max(pull, push) < 1e-4:
        return "none"
    return "both" if total < min(pull, push) / 2 else "pull"


def _cost(numbers: Numbers) -> str:
    cost = numbers["target_cost"]
    return "nothing" if cost < 0.01 else "little" if cost < 0.05 else "much" if cost < 0.25 else "most"


def _stronger(numbers: Numbers) -> str:
    if numbers["strong_gap"] > numbers["mild_gap"]:
        return "worse"
    return "paid" if numbers["strong_accuracy"] < numbers["mild_accuracy"] - 0.01 else "fairer"


def _other_measure(numbers: Numbers) -> str:
    more = numbers["fair_opportunity"] - numbers["fair_gap"]
    return "larger" if more > 0.05 else "smaller" if more < -0.05 else "same"


def _losers(numbers: Numbers) -> str:
    young, old = numbers["lost_0"], numbers["lost_1"]
    return "both" if young and old else "older" if old else "younger" if young else "nobody"


STEPS: tuple[Step, ...] = (
    Step(
        1,
        "prototype",
        replace(_XOR, beside=(), prototypes=2),
        Prediction("prototype", ("same", "nobody", "nearest"), lambda numbers: "nearest"),
        Gate((Deed("drag", lambda numbers: numbers["hand_changed"] >= 1),)),
        hidden=(*_ALWAYS, "bar", "readout", "timeline", "tradeoff", "changed"),
        hidden_before=("drag",),
        view=_CALM,
    ),
    Step(
        2,
        "gap",
        replace(_XOR, beside=()),
        Prediction("gap", ("none", "few", "many"), _accurate_and),
        Gate(
            (Deed("read", lambda numbers: abs(numbers["typed"] - numbers["glvq_gap"]) <= TOLERANCE),),
            typed=True,
        ),
        (Challenge("byhand", "hand", 0.1, 0.8),),
        hidden=(*_ALWAYS, "bar", "timeline", "tradeoff", "changed", "opportunity"),
        hidden_before=("readout", "drag"),
        hidden_until_done=("measures", "drag"),
        view=_CALM,
    ),
    Step(
        3,
        "hiding",
        replace(_LOCAL, beside=("inp",)),
        Prediction("hiding", ("good", "costly", "useless"), _removed),
        Gate((Deed("fold", lambda numbers: numbers["fold"] >= 0.99),)),
        before=replace(_LOCAL, beside=()),
        hidden=(*_ALWAYS, "bar", "timeline", "tradeoff", "changed", "opportunity"),
        view=_CALM,
        reveals_at_once=True,
    ),
    Step(
        4,
        "forces",
        replace(_LOCAL, beside=("fairglvq",)),
        Prediction("forces", ("none", "pull", "both"), _balanced),
        Gate((
            Deed("forces", lambda numbers: numbers["forces"] == 1),
            Deed("start", lambda numbers: numbers["forces"] == 1 and numbers["epoch"] <= 3),
        )),
        hidden=(*_ALWAYS, "drag", "slider", "timeline", "tradeoff", "changed", "opportunity"),
        hidden_before=("bar",),
        view=_CALM | {"hidden": ["glvq"]},
    ),
    Step(
        5,
        "strength",
        replace(_XOR, beside=("fairglvq",), C=0.0),
        Prediction("strength", ("nothing", "little", "much", "most"), _cost),
        Gate((Deed("five", lambda found: found["fairglvq_gap"] <= TARGET and found["fairglvq_accuracy"] >= 0.86),)),
        (Challenge("eightynine", "fairglvq", TARGET, 0.885),),
        hidden=(*_ALWAYS, "bar", "drag", "readout", "timeline", "changed"),
        hidden_before=("slider", "tradeoff"),
        view=_CALM | {"hidden": ["glvq"]},
        curve_beside=True,
    ),
    Step(
        6,
        "limit",
        replace(_LOCAL, beside=("fairglvq", "paritylvq"), C=1.0, max_gap=0.3),
        Prediction("limit", ("fairer", "paid", "worse"), _stronger),
        Gate((
            Deed("strong", lambda numbers: numbers["C"] >= 3),
            Deed("named", lambda numbers: numbers["max_gap"] <= TARGET),
        )),
        (
            Challenge(
                "beyond", "paritylvq", TARGET, 0.92, Question("beyond", ("method", "strength", "nobody"))
            ),
        ),
        before=replace(_LOCAL, beside=("fairglvq",), C=1.0),
        hidden=(*_ALWAYS, "bar", "drag", "timeline", "changed", "opportunity", "groups"),
        hidden_before=("slider", "tradeoff"),
        view=_CALM | {"hidden": ["glvq"]},
        limit_line=True,
    ),
    Step(
        7,
        "measures",
        replace(_XOR, beside=("fairglvq",), C=1.5),
        Prediction("measures", ("smaller", "same", "larger"), _other_measure),
        Gate((Deed("opportunity", lambda numbers: numbers["fairglvq_opportunity"] <= TARGET),)),
        hidden=(*_ALWAYS, "bar", "drag", "timeline", "changed"),
        hidden_before=("slider", "tradeoff", "readout"),
        view=_CALM | {"hidden": ["glvq"]},
        reveals_at_once=True,
    ),
    Step(
        8,
        "people",
        _GERMAN,
        Prediction("people", ("nobody", "older", "younger", "both"), _losers),
        Gate(verdicts=tuple(Question(key, ("yes", "no", "unsure")) for key in ("first", "second", "third"))),
        hidden=(*_ALWAYS, "bar", "drag", "slider", "timeline", "tradeoff", "opportunity"),
        hidden_before=("changed",),
        view=_CALM,
        reveals_at_once=True,
    ),
)  # fmt: skip
"""In their order."""


def step_of(key: str) -> Step:
    """A step by its key."""
    return next(step for step in STEPS if step.key == key)


def questions() -> dict[str, Question]:
    """Everything that can be answered, by key."""
    asked: list[Question] = []
    for step in STEPS:
        whys = [challenge.why for challenge in step.challenges if challenge.why]
        asked += [step.prediction, *step.gate.verdicts, *whys]
    return {question.key: question for question in asked}


def challenges() -> dict[str, Challenge]:
    """All challenges by key."""
    return {challenge.key: challenge for step in STEPS for challenge in step.challenges}
