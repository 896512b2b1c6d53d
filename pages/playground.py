"""The landing page: training you can watch, stop, scrub and grab."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairglvq import wording
from fairglvq.datasets import DATASETS
from fairglvq.scenes.scene import Scene, final_scores
from fairglvq.scenes.service import TrainedScene
from fairglvq.scenes.settings import FIELDS, PRESETS, TABLE, Settings, preset_of
from fairglvq.scenes.sources import dataset_of
from pages.shared import controls, download, menu, safe_text, session, training
from pages.shared.links import missing_in_link
from pages.shared.playground import picture, take_home
from pages.shared.playground.stage.one_file import Heading
from pages.shared.style import STYLE
from pages.shared.visit import visit
from pages.shared.widgets import boxed, button, repaired

TITLE = "See a classifier become fair, and what it costs"
STORIES = {
    "three_classes": "A school rejects, admits or puts on a waiting list.",
    "table": "Your table.",
}
BANK = "A bank decides who gets a loan."
PEOPLE = (
    "Each point is a person: colour is the true label, shape is {group}. Each large mark is a **prototype** that "
    "decides for everyone nearest to it{how}."
)
SLICE = ", in all dimensions at once; the picture is a slice"
OWN_PLANE = "; each model shows the two directions that its decisions need"
LEARNED = "; how much each direction counts is learned, and **Squeeze** shows it"
METHODS = {
    "glvq": "**GLVQ** only maximises accuracy",
    "inp": "**INP** first removes what gives the group away",
    "fairglvq": "**FairGLVQ** pushes against what tells groups apart",
    "paritylvq": "**ParityLVQ** keeps to the gap that you allow",
    "fairtree": "**FairTree** cuts the plane into boxes, and avoids cuts that tell groups apart",
}


def main() -> None:
    """Settings, training, picture."""
    settings = session.begin()
    st.html(STYLE)
    head = st.container(key="head")
    missing = download.needed(settings.dataset)
    first = visit().model.shown is None
    if first:  # words before the picture, for a server that has to train it first
        heading(head, settings)
    show = None if missing else training.trained(without_inp_first=True)
    if not first:
        heading(head, settings)
    top, below = training.picture()
    if show:
        with below:
            draw(show)
    with st.sidebar:
        controls.panel(settings, show.effects if show and not training.pending() else {})
    if missing:
        download.offer(session.undo)
    else:
        with top:
            training.watch()
    session.write_link()


def heading(place: DeltaGenerator, settings: Settings) -> None:
    """Title, presets, story and notices."""
    with place:
        st.title(TITLE, anchor=False)
        controls.presets(settings)
        with st.container(key="intro"):
            st.markdown(intro(settings))
        notices(settings)


def intro(settings: Settings) -> str:
    """What the pictures show: a preset's story, or whose decisions these are; and why there are several pictures."""
    if preset := preset_of(settings):
        return PRESETS[preset].story
    what = DATASETS[settings.dataset].description if settings.real and settings.dataset != TABLE else BANK
    learned = settings.metric == "matrix"
    how = (OWN_PLANE if learned else SLICE) if settings.real else LEARNED if learned else ""
    people = PEOPLE.format(group="their group" if settings.real else "their town (the group)", how=how)
    story = STORIES.get(settings.dataset, what)
    turn = ", turn C" if FIELDS["C"].applies(settings) and not visit().fixes("C") else ""
    play = "Press play, drag" if plays(settings) else "Drag"
    return f"**{story}** {people} {why_several(settings)} {play} a prototype{turn}."


def plays(settings: Settings) -> bool:
    """Whether any picture was recorded while it was trained; learned distances are found in one go."""
    return any(
        method == "paritylvq" or not (settings.in_own_plane(method) or (method == "fairtree" and settings.real))
        for method in settings.methods
    )


def why_several(settings: Settings) -> str:
    """Why there is more than one picture."""
    drawn = [method for method in settings.methods if method != "fairtree" or not settings.real]
    ways = ", ".join(METHODS[method] for method in drawn)
    if len(drawn) == 1:
        return f"{ways}."
    return f"The pictures show the same people, decided in {len(drawn)} ways: {ways}."


def notices(settings: Settings) -> None:
    """What was repaired in the link, until it is dismissed; and what a link cannot hold."""
    repaired(visit().model.repairs)
    if settings.fold:
        folds, fold, seed = settings.fold
        words = (
            f"**From a trade-off curve:** fold {fold + 1} of {folds}, seed {seed}, split and started as there. "
            "FairGLVQ starts from other prototypes than GLVQ."
        )
        with boxed("fold", words):
            button("Leave", session.leave_fold, help="Split the points as usual.")
    missing = missing_in_link(settings)
    if missing:
        st.caption(missing)


def draw(show: TrainedScene) -> None:
    """The stage with everything that belongs to this visit."""
    model = visit().model
    if model.shown is None:
        return
    settings = model.shown[0]
    for warning in show.warnings:
        st.warning(warning)
    scene = picture.mount(settings, show, linked=True, controls_open=controls.more_is_open())
    if settings != model.settings:  # another model is being trained, and the table before may be gone
        return
    if settings.real and "fairtree" in scene.trainings:
        without_picture(scene)
    if settings.real and (caveats := dataset_of(settings).caveats):
        st.html(safe_text.STYLE)
        safe_text.write("Caveats: " + " ".join(caveats), "small")
    take_home.offer(scene, settings, Heading(TITLE, intro(settings).replace("**", "")), model.view)
    picture.submit_films(settings)


def without_picture(scene: Scene) -> None:
    """Words about a tree on real data, which has no picture."""
    found = final_scores(scene)["fairtree"]
    gap = "" if found.statistical_parity is None else f", with a gap of {wording.gap(found.statistical_parity)}"
    st.markdown(
        f"**FairTree** decides {wording.percent(found.accuracy)} rightly{gap}. Its leaves are boxes of many "
        "dimensions, which no plane can show as they are: so it has no picture here, but a diagram of its questions."
    )
    st.page_link("pages/prototypes.py", label="Its tree and its leaves")


menu.require_app()
main()
