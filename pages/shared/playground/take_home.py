"""The picture in view as a file to keep, to send or to show without a server."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from fairglvq.scenes.scene import Scene
from fairglvq.scenes.settings import TABLE, Settings
from pages.shared.playground.stage import one_file
from pages.shared.widgets import download

CONTENT = (
    "One HTML file that plays, scrubs, turns C along its curve and lets prototypes be moved, in any browser, without a "
    "server and without a network: for slides, a course or a USB stick. It opens with what you look at now."
)
OWN_TABLE = (
    "**It holds rows of your table:** for {drawn:,} people where they stand in the picture, their label and their "
    "group. Everybody who has the file has these."
)


def offer(scene: Scene, settings: Settings, heading: one_file.Heading, view: dict[str, Any] | None) -> None:
    """A button that makes the file when it is pressed, and its limits in words."""
    box = st.expander("Take this picture home", key="take_home", on_change="rerun")
    if not box.open:
        return
    with box:
        if reason := one_file.refusal(settings):
            st.markdown(reason)
            return
        st.markdown(CONTENT)
        if settings.dataset == TABLE:
            st.markdown(OWN_TABLE.format(drawn=len(scene.arrays["points"])))
        if scene.meta["coming"]:
            st.markdown("One of the pictures is still being trained: the file can be made as soon as it is there.")
            return
        if missing := one_file.missing_curves(scene):
            st.markdown(
                f"The curve of {' and of '.join(missing)} is still being computed: a file made now is without it."
            )
        button(scene, settings, heading, view)


def button(
    scene: Scene,
    settings: Settings,
    heading: one_file.Heading,
    view: dict[str, Any] | None,
    label: str = "Picture (HTML)",
    **more: Any,
) -> None:
    """The button alone, for data that may be passed on; ``more`` goes into the scene's description."""
    made = partial(one_file.page, scene, settings, heading, view, **more)
    name = f"fairglvq-{settings.dataset}.html"
    download(label, made, name, "text/html", key="take_home_file")
