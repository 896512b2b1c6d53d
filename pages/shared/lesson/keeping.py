"""The picture of a step as a file to keep."""

from __future__ import annotations

from markupsafe import Markup

from fairglvq.lesson.filling import fill
from fairglvq.lesson.numbers import limit_points
from fairglvq.lesson.steps import Step
from fairglvq.lesson.texts import text, words
from fairglvq.scenes.scene import Scene
from fairglvq.scenes.settings import Settings
from pages.shared.playground import take_home
from pages.shared.playground.stage.one_file import Heading
from pages.shared.visit import visit


def draw(step: Step, scene: Scene, settings: Settings) -> None:
    """A button for the picture of a step that is done: nothing of the stage is hidden in the file."""
    here = visit().lesson
    texts = text(step.key, here.language)
    why = Markup(fill(texts.why, {}, here.language)).striptags()  # a reason has marks in it, but no numbers
    limit = {"limit": limit_points(step.settings.dataset)} if step.limit_line else {}
    heading = Heading(f"{step.number} · {texts.title}", why)
    take_home.button(scene, settings, heading, here.model.view, words(here.language, "handout")["take home"], **limit)
