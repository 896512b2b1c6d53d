"""The lesson on paper, from the same texts and models: a handout with space for answers, and an answer sheet.

``models`` trains what the steps show, ``to_html`` lays it out; ``handout.html.j2`` prints on four pages of A4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from fairglvq.figures.scene import INK, PEOPLE, Arrows, model_of, scene_svg
from fairglvq.lesson.filling import FORCES, fill, written
from fairglvq.lesson.numbers import Seen, limit_of
from fairglvq.lesson.steps import STEPS, Step
from fairglvq.lesson.texts import ChallengeText, text, words
from fairglvq.report.templating import render
from fairglvq.scenes.scene import TITLES, with_film
from fairglvq.scenes.service import TrainingService
from fairglvq.scenes.settings import KNOBS
from fairglvq.scenes.training import filmed
from fairglvq.version import __version__

SIGNS = {"C": ", C = ", "max_gap": ", ≤ "}
_BOLD = re.compile(r"\*\*(.+?)\*\*")


class Figure(NamedTuple):
    """A picture and the words below it."""

    svg: Markup
    caption: str


def models(service: TrainingService) -> dict[str, Seen]:
    """What each step shows, trained, with the strengths of its curve."""
    ordered = {
        step: (service.submit(step.settings), {m: service.submit_film(step.settings, m) for m in _curves(step)})
        for step in STEPS
    }
    found = {}
    for step, (job, film_jobs) in ordered.items():
        scene = job.future.result().scene
        films = {method: film.future.result() for method, film in film_jobs.items()}
        for method, film in films.items():
            scene = with_film(scene, step.settings, method, film)
        found[step.key] = Seen(step.settings, scene, films)
    return found


def _curves(step: Step) -> tuple[str, ...]:
    """Methods whose strengths a step shows as a curve."""
    return () if "tradeoff" in step.hidden else filmed(step.settings)


def to_html(models: Mapping[str, Seen], language: str, *, answers: bool = False) -> str:
    """The handout, or the answer sheet, as one page that needs nothing else."""
    own = words(language, "handout")
    day = date.today().isoformat()
    return render(
        "handout.html.j2",
        language=language,
        answers=answers,
        words={**words(language), **own},
        steps=[_step(step, models[step.key], language, answers=answers) for step in STEPS],
        drawn=own["drawn"].format(shown=PEOPLE),
        made=own["made"].format(version=__version__, day=day),
    )


def _step(step: Step, seen: Seen, language: str, *, answers: bool) -> dict[str, Any]:
    """A step for the template. What came true, and why, is there on the answer sheet only."""
    texts = text(step.key, language)

    def html(source: str) -> Markup:
        return Markup(_BOLD.sub(r"<b>\1</b>", fill(source, seen, language)).replace("\n\n", "</p><p>"))

    came = step.prediction.happened(seen) if answers else None
    return {
        "number": step.number,
        "title": texts.title,
        "idea": html(texts.idea),
        "terms": {term: html(meaning) for term, meaning in texts.terms.items()},
        "question": html(texts.question),
        "options": [(html(words), key == came) for key, words in texts.options.items()],
        "lines": 2 if step.challenges or _curves(step) or step.gate.verdicts else 3,  # as many as four pages hold
        "judged": bool(step.gate.verdicts),
        "task": html(texts.task),
        "figures": _figures(step, seen, language, answers=answers),
        "happened": html(texts.happened[came]) if came else "",
        "why": html(texts.why) if answers else "",
        "formula": html(texts.formula) if answers else "",
        "more": html(texts.more) if answers else "",
        "challenges": [_challenge(texts.challenges[one.key], html, answers=answers) for one in step.challenges],
    }


def _challenge(texts: ChallengeText, html: Callable[[str], Markup], *, answers: bool) -> dict[str, Any]:
    """A challenge; how it is solved, or why it cannot be, on the answer sheet only."""
    solution = [*texts.hints, texts.answer or texts.solved] if answers else []
    return {
        "task": html(texts.task),
        "why": texts.why,
        "options": [html(words) for words in texts.options.values()],
        "solution": [html(words) for words in solution],
    }


# ---- figures ----


def _figures(step: Step, seen: Seen, language: str, *, answers: bool) -> list[Figure]:
    """The stage of a step before the prediction, or after it; and its curve, which students draw themselves."""
    settings = step.settings if answers else step.before or step.settings
    visible = [method for method in settings.methods if method not in step.view.get("hidden", ())]
    figures = [
        _picture(method, seen, language, forces=answers and _has_forces(step), answers=answers) for method in visible
    ]
    if _curves(step):
        figures.append(_curve(step, seen, language, answers=answers))
    return figures


def _has_forces(step: Step) -> bool:
    return any(deed.key == "forces" for deed in step.gate.deeds)


def _picture(method: str, seen: Seen, language: str, *, forces: bool, answers: bool) -> Figure:
    """A trained model; where C is turned from 0, on the answer sheet the first one that reaches the target."""
    meta, arrays = seen.scene.meta, seen.scene.arrays
    knob, caption, at, arrows = KNOBS.get(method), TITLES[method], None, []
    if knob:
        strength = float(getattr(seen.settings, knob))
        if answers and knob == "C" and strength == 0 and not math.isnan(seen["target_C"]):
            strength = seen["target_C"]
            at = seen.films[method].values.index(strength)
        caption += SIGNS[knob] + written(knob, strength, language)
        arrows = _arrows(arrays, method) if forces else []
    model = model_of(meta, arrays, method, at)
    return Figure(Markup(scene_svg(meta, arrays, model, alt=caption, arrows=arrows)), caption)


def _arrows(arrays: Mapping[str, np.ndarray], method: str) -> list[Arrows]:
    """Pull and push at the end of training, in the colours of the stage."""
    pull, push = (arrays[f"{method}.{name}"][-1] for name in ("pull_class", "pull_fair"))
    return [Arrows(pull, INK), Arrows(push, FORCES["force_push"]["light"], "6 4")]


def _curve(step: Step, seen: Seen, language: str, *, answers: bool) -> Figure:
    """Accuracy against the gap for every strength; without the curve on the handout."""
    from fairglvq.figures.strengths import strengths_svg  # Plotly

    own = words(language, "handout")
    curves = {method: _places(method, seen) for method in seen.films}
    limit = limit_of(step.settings.dataset) if "paritylvq" in curves else None
    names = (own["gap axis"], own["accuracy axis"], own["limit"])
    svg = strengths_svg(curves, limit, names, drawn=answers)
    return Figure(Markup(svg), "" if answers else own["draw"])


def _places(method: str, seen: Seen) -> list[tuple[float, float]]:
    """Gap and accuracy of a method's model of every strength."""
    scores = [seen.filmed(method, value) for value in seen.films[method].values]
    return [
        (score.statistical_parity, score.accuracy)
        for score in scores
        if score is not None and score.statistical_parity is not None
    ]
