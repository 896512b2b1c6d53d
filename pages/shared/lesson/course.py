"""The visitor's progress in the lesson: the link, the step on the stage, and what opens the next one.

Progress changes through `save` alone, and `may_enter` alone decides whether a step is open.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from fairglvq.lesson.numbers import Known, Seen, UnknownError
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS, Step
from fairglvq.lesson.texts import LANGUAGES
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import filmed
from pages.shared import student
from pages.shared.playground import picture
from pages.shared.server import training_service
from pages.shared.visit import visit


def begin() -> Step:
    """The step of this run: the link's on arrival, the visit's afterwards; its settings are the model's in view."""
    here = visit().lesson
    query = here.address.link_to_follow()
    if query is not None:
        here.language = query["lang"] if query.get("lang") in LANGUAGES else "en"
        student.arrive(query)
        asked = query.get("progress", query.get("step", ""))
        save(Progress.from_text(asked, opened=student.opened()))
        followed = query.get("lang", "en") in LANGUAGES and asked in ("", progress().to_text())
        here.repaired = None if followed else progress()
    here.model.awaited = []
    step = STEPS[progress().step - 1]
    _put_on_stage(step)
    return step


def write_link() -> None:
    """Write the progress into the address."""
    here, query = visit().lesson, student.to_query()
    if here.language != "en":
        query["lang"] = here.language
    if progress() != Progress():
        query["progress"] = progress().to_text()
    here.address.write(query)


def progress() -> Progress:
    """The progress of this visit."""
    return visit().lesson.progress or Progress()


def save(new: Progress) -> None:
    """Every change of progress goes through here."""
    visit().lesson.progress = new
    student.report(new)


def may_enter(number: int) -> bool:
    """Whether a step is open: by its gates, a teacher's link or a room, and the class is not held before it."""
    return student.may_enter(number, number <= progress().reached)


def go(number: int) -> None:
    """Go to another step, if it is open."""
    if may_enter(number):
        save(progress().at(number))


def answer(key: str, option: str) -> None:
    """Give an answer: a prediction, a verdict, or why something cannot be done."""
    save(progress().answered(key, option))


def start_again() -> None:
    """Delete all answers."""
    here = visit().lesson
    here.deeds, here.hints, here.typed, here.shown = set(), {}, None, None
    save(Progress())


def answered(step: Step) -> bool:
    """Whether the step's prediction was given."""
    return step.prediction.key in progress().answers


def passed(step: Step) -> bool:
    """Whether the step's gate is open."""
    return step.key in progress().passed


def revealed(step: Step) -> bool:
    """Whether the outcome is shown: the prediction was given, and no teacher holds the class before it."""
    return answered(step) and (passed(step) or not student.waits(step.number))


def ready(step: Step, seen: Seen) -> bool:
    """Whether the models that the prediction reveals are in view."""
    settings = visit().lesson.model.settings
    return revealed(step) and seen.settings == settings and settings.methods == step.settings.methods


def happened(step: Step, seen: Seen) -> str | None:
    """The option of the prediction that came true; None if a number that it depends on is still being computed."""
    try:
        return step.prediction.happened(Known(seen))
    except UnknownError:
        return None


def hidden(step: Step) -> list[str]:
    """Parts of the stage that are left out now."""
    parts = set(step.hidden)
    parts |= set() if revealed(step) else set(step.hidden_before)
    parts |= set() if passed(step) else set(step.hidden_until_done)
    return sorted(parts)


def in_view(step: Step) -> Seen | None:
    """What is in view of the step, perhaps while another model of it is being trained; None if there is nothing yet."""
    here = visit().lesson
    model = here.model
    if model.shown is None or not _belongs(model.shown[0], step):
        return None
    settings, show = model.shown
    typed = here.typed[1] if here.typed and here.typed[0] == step.key else None
    return Seen(settings, show.scene, picture.films_of(settings), model.view or {}, model.reply, typed)


def check(step: Step, seen: Seen) -> bool:
    """Open the gate if everything was done, and keep what was tried; returns whether it has just been opened."""
    if not ready(step, seen):
        return False
    deeds = visit().lesson.deeds
    deeds |= {(step.key, deed.key) for deed in step.gate.deeds if deed.done(seen)}
    found = progress()
    done = all((step.key, deed.key) in deeds for deed in step.gate.deeds)
    if done and all(verdict.key in found.answers for verdict in step.gate.verdicts):
        found = found.opened(step.key)
    for challenge in step.challenges:
        tried = seen.reply is not None if challenge.method == "hand" else seen.settings != step.settings
        if passed(step) and tried:
            scores = seen[f"{challenge.method}_accuracy"], seen[f"{challenge.method}_gap"]
            found = found.tried(challenge.key, *scores)
    opened = step.key in found.passed and not passed(step)
    if found != progress():
        save(found)
    return opened


def train_ahead(step: Step) -> None:
    """Train the models of this step and of the next one in the background."""
    for coming in STEPS[step.number - 1 : step.number + 1]:
        for settings in (coming.before, coming.settings):
            if settings is not None:
                _submit_once(settings)


@cache
def _submit_once(settings: Settings) -> None:
    """Once per server: the results stay in its cache as long as they are used."""
    training_service().submit(settings)
    for method in filmed(settings):
        training_service().submit_film(settings, method)


def _put_on_stage(step: Step) -> None:
    """Begin another step, or its picture after the prediction, with its settings and without history."""
    here = visit().lesson
    model, now = here.model, (step.number, revealed(step))
    if here.shown == now and _belongs(model.settings, step):
        return
    entered = here.shown is None or here.shown[0] != step.number
    here.shown = now
    settings = step.settings if revealed(step) or step.before is None else step.before
    model.settings, model.fresh, model.history, model.reply = settings, settings, [], None
    if entered:
        here.entries += 1
        model.view = dict(step.view)


def _belongs(settings: Settings, step: Step) -> bool:
    """Whether settings are the step's, apart from what can be turned in it."""
    own = [one for one in (step.settings, step.before) if one is not None]
    return any(settings == replace(one, C=settings.C, max_gap=settings.max_gap) for one in own)
