"""FairGLVQ learns points that arrive batch by batch; half way their distribution changes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from fairglvq import FairGLVQ
from fairglvq.datasets.streams import Batch
from fairglvq.datasets.synthetic import DEFINITIONS, LOAN, TOWNS
from fairglvq.experiments.streaming import LiveStream
from fairglvq.figures.prototypes import Marks, map_alt, map_figure
from fairglvq.figures.stream import stream_alt, stream_figure
from fairglvq.wording import gap, percent
from pages.shared import links, menu
from pages.shared.display import PARAMETERS as DISPLAY_PARAMETERS
from pages.shared.style import CHART, STYLE, theme
from pages.shared.visit import StreamVisit, visit
from pages.shared.widgets import bound, button, one_of, repaired, store

DATASETS = {"xor": "XOR", "local": "Local"}
DRIFTS = {"border": "Everything moves", "groups": "90% of one group", "none": "Nothing"}
INTRO = (
    "A bank decides who gets a loan, day by day. After the first batch, everybody is **decided about first and "
    "learned from afterwards**, so each score is of people whom FairGLVQ had never seen. It keeps its prototypes and "
    "their votes, and nobody's data: memory does not grow."
)
STRENGTHS = tuple(quarters / 4 for quarters in range(13))  # of C
TICK = 0.4  # seconds between two steps


def main() -> None:
    """Choices, play and pause, pictures."""
    here = visit().stream
    _follow_link()
    st.html(STYLE)
    st.title("People arrive, and the world changes", anchor=False)
    with st.container(key="intro"):
        st.markdown(INTRO)
    repaired(here.repairs)
    with st.sidebar:
        one_of("Data set", DATASETS, "stream.dataset")
        one_of("Half way changes", DRIFTS, "stream.drift")
        bound("slider", "Fairness strength C", "stream.C", min_value=0.0, max_value=STRENGTHS[-1], step=0.25)
    # In the link stands only what differs from the usual.
    here.address.write(links.differing(here, StreamVisit(), {"data": "dataset", "drift": "drift", "C": "C"}))
    live = _live()
    with st.container(horizontal=True):
        button(
            "Pause" if here.playing else "Play",
            store,
            "stream.playing",
            not here.playing,
            type="primary",
            disabled=live.done,
        )
        button("Start again", store, "stream.live", None, disabled=not live.history)
    st.fragment(_step, run_every=TICK if here.playing else None)()


def _follow_link() -> None:
    """Take the choices of a link: on arrival, and after Back or Forward."""
    here = visit().stream
    query = here.address.link_to_follow()
    if query is None:
        return
    usual, here.repairs = StreamVisit(), []
    here.dataset = links.one_of(query, "data", DATASETS, usual.dataset, here.repairs)
    here.drift = links.one_of(query, "drift", DRIFTS, usual.drift, here.repairs)
    here.C = links.one_of(query, "C", STRENGTHS, usual.C, here.repairs)
    here.repairs += links.unknown(query, {"data", "drift", "C", *DISPLAY_PARAMETERS, "embed"})


def _live() -> LiveStream:
    """The stream of the choices in view; other choices begin another one."""
    here = visit().stream
    if here.live is None or here.live.key != (here.dataset, here.drift, here.C):
        here.live = LiveStream(here.dataset, here.drift, here.C)
        here.live.step()
    return here.live


def _step() -> None:
    """One step on while it plays, and what there is now."""
    here, live = visit().stream, _live()
    if here.playing:
        live.step()
        if live.done:
            here.playing = False
            st.rerun()
    last = live.history[-1]
    st.markdown(
        f"**{last.seen:,}** of {live.points:,} people have arrived. Of its last {last.decided:,} decisions, "
        f"FairGLVQ (C = {here.C:g}) got **{percent(last.accuracy)}** right, with a statistical parity gap of "
        f"**{gap(last.statistical_parity)}**. Learning took {last.seconds:.2f} s so far."
    )
    left, right = st.columns(2, gap="large")
    with left:
        figure = stream_figure(live.history, points=live.points, change=live.change, theme=theme())
        st.plotly_chart(figure, key="stream_scores", alt=stream_alt(live.history), **CHART)
    with right:
        if live.arrived is not None:
            _map(live.model, live.arrived)


def _map(model: FairGLVQ, arrived: Batch) -> None:
    """The last points and the prototypes, sized by how many of them each decides about."""
    X, y, s = arrived
    shares = np.bincount(model.apply(X), minlength=len(model.prototypes_)) / len(X)
    names = [LOAN[0], f"{LOAN[1]} (favourable)"], list(TOWNS[:2])
    marks = Marks(model.prototype_labels_, np.asarray(model.pseudo_classes_), shares, *names)
    axes = DEFINITIONS[visit().stream.dataset].axes
    figure = map_figure(model.prototypes_, marks, axes=axes, people=(X, y, s), theme=theme(), height=360)
    st.plotly_chart(figure, key="stream_map", alt=map_alt(marks), **CHART)


menu.require_app()
main()
