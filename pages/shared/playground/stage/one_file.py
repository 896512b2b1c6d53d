"""The stage as one HTML file that plays, scrubs and moves prototypes without a server and without a network.

It holds the scene, the drawing code and nothing else; its security policy forbids requests to any host. What needs
Python is not offered in it (`offline` in the scene's description), which the file explains.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fairglvq.datasets import DATASETS
from fairglvq.scenes.scene import TITLES, Scene
from fairglvq.scenes.settings import FIELDS, TABLE, Settings, in_words
from fairglvq.scenes.sources import dataset_of
from fairglvq.version import __version__
from pages.shared.links import missing_in_link, to_query
from pages.shared.playground.stage import pack
from pages.shared.playground.stage.sources import FOLDER, bundle, markup, stylesheet

LIMIT = 1_000_000  # bytes of a file, so that it fits into a mail, a slide or a course


class Heading(NamedTuple):
    """The words above the pictures."""

    title: str
    words: str


def refusal(settings: Settings) -> str:
    """Why there is no file of a picture of these data; empty if there may be one."""
    if settings.dataset == TABLE or DATASETS[settings.dataset].may_be_passed_on:
        return ""
    return (
        f"{FIELDS['dataset'].named(settings.dataset)} may not be passed on, and a file would hold where its people "
        "stand, with label and group. So there is no file of this picture; reports hold counts only, and can be had."
    )


def page(scene: Scene, settings: Settings, heading: Heading, view: Mapping[str, Any] | None = None, **more: Any) -> str:
    """The scene, with the films that it has, as a page of its own.

    ``view`` is what it opens with; ``more`` goes into the scene's description.
    """
    from markupsafe import Markup  # when a file is made: nobody's first picture waits for it

    from fairglvq.report.templating import render

    if reason := refusal(settings):
        raise ValueError(reason)
    filmed = [method for method in scene.meta["filmed"] if method in scene.meta["films"]]
    visit = {"offline": True, "view": view, "filmed": filmed}
    code = bundle((FOLDER / "file.js").read_text("utf-8"))
    return render(
        "stage_file.html.j2",
        heading=heading,
        columns=len(scene.meta["panels"]),
        policy=_policy(code),
        styles=Markup(stylesheet()),
        markup=Markup(markup()),
        scene=base64.b64encode(pack(scene.meta | visit | more, scene.arrays)).decode(),
        code=Markup(code),
        limits=limits(scene),
        facts=facts(scene, settings),
    )


def _policy(code: str) -> str:
    """Nothing but the script of this page may run, and nothing may be loaded from anywhere."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"


def missing_curves(scene: Scene) -> list[str]:
    """Methods whose strengths are a film that is not there yet."""
    return [TITLES[method] for method in scene.meta["filmed"] if method not in scene.meta["films"]]


def limits(scene: Scene) -> list[str]:
    """What a file cannot do, a sentence each."""
    sentences = ["This file shows models that were trained before. It trains nothing and sends nothing."]
    films = [f"{len(film['values'])} of {TITLES[method]}" for method, film in scene.meta["films"].items()]
    if films:
        sentences.append(f"The strengths that can be chosen are those of its curves: {', '.join(films)}.")
    if missing := missing_curves(scene):
        sentences.append(f"The curve of {' and of '.join(missing)} was not computed when the file was made.")
    if not scene.meta["slice"]:
        sentences.append(
            "A prototype can be moved: all points are in the file, and every number is counted anew, exactly."
        )
        return sentences
    own = [TITLES[method] for method in scene.trainings if f"{method}.points" in scene.arrays]
    sliced = [TITLES[method] for method in scene.trainings if f"{method}.points" not in scene.arrays]
    drawn, everybody = len(scene.arrays["points"]), scene.meta["population"]
    if own and drawn < everybody:
        sentences.append(
            f"The numbers of recorded models ({', '.join(own)}) count everybody. A prototype moved by hand is counted "
            f"among the {drawn:,} people drawn: the others are not in the file."
        )
    elif own:
        sentences.append(f"A prototype of {', '.join(own)} can be moved: everybody is in the file and is counted anew.")
    if sliced:
        sentences.append(
            f"A prototype of {', '.join(sliced)} can be moved and its cell follows, but people cannot be counted anew: "
            "the file does not hold the dimensions that the picture does not show."
        )
    return sentences


def facts(scene: Scene, settings: Settings) -> dict[str, str]:
    """What the file is about and where it comes from."""
    data = dataset_of(settings)
    drawn, everybody = len(scene.arrays["points"]), len(scene.points.y)
    what = "points drawn at random, no real people" if not settings.real else (
        f"people with place in the picture, true label and group, of {everybody:,}; nothing else about them"
    )  # fmt: skip
    today = date.today()
    found = {"Data set": data.title, "In this file": f"{drawn:,} {what}"}
    found |= {"Source": data.source, "Licence of the data": data.licence}
    found |= {label: words for label, words in in_words(settings).items() if label != FIELDS["dataset"].label}
    found[FIELDS["metric"].label] = distances(settings)
    if not settings.table and not missing_in_link(settings):
        found["Address in the app"] = f"/?{urlencode(to_query(settings))}"
    found["Made"] = f"{today.day} {today:%B %Y}, FairGLVQ Explorer {__version__} (MIT licence)"
    return {label: words for label, words in found.items() if words}


def distances(settings: Settings) -> str:
    """The distance of each method: ParityLVQ always learns it, INP on drawn data never does, a tree has none."""
    methods: dict[str, list[str]] = {}
    for method in settings.methods:
        if method != "fairtree":
            kind = FIELDS["metric"].named("matrix" if settings.in_own_plane(method) else "euclidean")
            methods.setdefault(kind, []).append(TITLES[method])
    if len(methods) == 1:
        return next(iter(methods))
    return "; ".join(f"{kind} ({', '.join(titles)})" for kind, titles in methods.items())
