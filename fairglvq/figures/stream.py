"""Accuracy and gap of a model on a stream, over the points that have arrived."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from fairglvq.experiments.streaming import StreamScores
from fairglvq.figures.base import INK, LEGEND, base_axes, base_layout
from fairglvq.grammar import ClassColour, Theme
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import gap, in_hundredths, percent

FEW = 3  # batches that would be too short a line to see
LINES = {
    "accuracy": (ClassColour("#7b3fd4", "#b792ff"), "solid"),
    "statistical_parity": (ClassColour("#c4123f", "#ff5c7c"), "dash"),
}


def stream_figure(
    history: Sequence[StreamScores], *, points: int, change: int | None, theme: Theme = "light"
) -> go.Figure:
    """Both scores over time; ``change`` is the number of points after which the distribution changes."""
    figure, ink = go.Figure(), INK.mark(theme)
    for name, (colour, dash) in LINES.items():
        title = MEASURES[name].heading
        figure.add_scatter(
            x=[scores.seen for scores in history], name=title,
            y=in_hundredths([getattr(scores, name) for scores in history]),
            mode="lines+markers" if len(history) < FEW else "lines",
            line={"color": colour.mark(theme), "width": 2.5, "dash": dash},
            hovertemplate=f"{title} %{{y:.1f}} {MEASURES[name].unit}<br>up to point %{{x:,}}<extra></extra>",
        )  # fmt: skip
    if change is not None:
        figure.add_vline(x=change, line={"color": ink, "width": 1, "dash": "dot"})
        beside = {"xanchor": "left", "xshift": 4, "showarrow": False}
        figure.add_annotation(x=change, y=106, text="the world changes", font={"color": ink}, **beside)
    margin = {"l": 10, "r": 16, "t": 20, "b": 10}
    base_layout(figure, theme, 360, margin=margin, legend=LEGEND, uirevision="stream")
    base_axes(figure, theme)
    figure.update_xaxes(range=[0, points], title_text="people who have arrived", tickformat=",")
    figure.update_yaxes(range=[0, 110], tickformat=".0f")
    return figure


def stream_alt(history: Sequence[StreamScores]) -> str:
    """The picture in one sentence."""
    if not history:
        return "Accuracy and gap over time: nobody has arrived yet."
    first, last = history[0], history[-1]
    return (
        f"Accuracy and statistical parity gap while {last.seen:,} people arrived: from {percent(first.accuracy)} and "
        f"{gap(first.statistical_parity)} at first to {percent(last.accuracy)} and {gap(last.statistical_parity)} now."
    )
