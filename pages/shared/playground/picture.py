"""The model in view on a stage, with the films of its strengths."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairglvq.scenes.scene import Scene, with_film
from fairglvq.scenes.service import TrainedScene
from fairglvq.scenes.settings import KNOBS, Settings
from fairglvq.scenes.training import Film, film_key, filmed
from pages.shared import training
from pages.shared.links import missing_in_link
from pages.shared.playground import gestures, stage
from pages.shared.server import training_service
from pages.shared.visit import visit


def mount(settings: Settings, show: TrainedScene, *, key: str = gestures.STAGE, **more: Any) -> Scene:
    """The stage with everything that belongs to this visit; ``more`` goes into the scene's description.

    With ``linked=True`` the view stands in the address. Returns the scene with its films.
    """
    model = visit().model
    model.films = films_of(settings)
    scene = show.scene._replace(meta=show.scene.meta | {"filmed": films_wanted(settings)})
    for method, film in model.films.items():
        scene = with_film(scene, settings, method, film)
    meta = scene.meta | {
        "reply": model.reply,
        "facts": model.facts,
        "acknowledged": model.acknowledged,
        "view": model.view,
        "can_undo": bool(model.history),
        "autoplay": model.autoplay == settings,
        "keep_position": model.fresh != settings,
        "left_out": missing_in_link(settings),
        "busy": training.pending(),
    }
    stage.mount(
        stage.pack(meta | more, scene.arrays),
        key=key,
        on_gestures=partial(gestures.receive, key),
        on_view=partial(gestures.keep_view, key),
    )
    return scene


def films_wanted(settings: Settings) -> list[str]:
    """Methods whose strength may be turned on the stage."""
    return [method for method in filmed(settings) if not visit().fixes(KNOBS[method])]


def films_of(settings: Settings) -> dict[str, Film]:
    """The films that are trained, by method."""
    found = {}
    for method in films_wanted(settings):
        job = visit().model.film_jobs.get(method)
        if job and job.key == film_key(settings, method) and job.future.done() and not job.future.exception():
            found[method] = job.future.result()
        elif film := training_service().film(settings, method):
            found[method] = film
    return found


def submit_films(settings: Settings) -> None:
    """Have the films trained, now that the picture is there; those for other settings are no longer needed."""
    model = visit().model
    methods = films_wanted(settings)
    wanted = {method: film_key(settings, method) for method in methods if method not in model.films}
    for method, job in list(model.film_jobs.items()):
        if job.key != wanted.get(method, job.key) or job.cancelled or method not in methods:
            job.cancel()
            del model.film_jobs[method]
    for method in wanted:
        if method not in model.film_jobs:
            model.film_jobs[method] = training_service().submit_film(settings, method)
        job = model.film_jobs[method]
        if not (job.future.done() and job.future.exception()):
            model.awaited.append(job)
