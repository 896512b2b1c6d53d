"""Accuracy and gap of a model on a stream, over the points that have arrived."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from fairglvq.experiments.streaming import Moment
from fairglvq.figures.tradeoff import FONT, GRID, INK
from fairglvq.grammar import ClassColour, Theme

LINES = {
    "accuracy": ("accuracy", ClassColour("#7b3fd4", "#b792ff"), "solid"),
    "statistical_parity": ("statistical parity gap", ClassColour("#c4123f", "#ff5c7c"), "dash"),
}


def stream_figure(
    moments: Sequence[Moment], *, points: int, change: int | None, theme: Theme = "light", height: int = 360
) -> go.Figure:
    """Both scores over time; ``change`` is after how many points the world is another one."""
    figure, ink = go.Figure(), INK.mark(theme)
    for name, (title, colour, dash) in LINES.items():
        figure.add_scatter(
            x=[moment.seen for moment in moments], y=[getattr(moment, name) for moment in moments], name=title,
            mode="lines", line={"color": colour.mark(theme), "width": 2.5, "dash": dash},
            hovertemplate=f"{title} %{{y:.3f}}<br>up to point %{{x:,}}<extra></extra>",
        )  # fmt: skip
    if change is not None:
        figure.add_vline(x=change, line={"color": ink, "width": 1, "dash": "dot"})
        figure.add_annotation(x=change, y=1.06, text="the world changes", showarrow=False, font={"color": ink})
    figure.update_layout(
        template="none", paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", height=height,
        font={"color": ink, "size": 13, "family": FONT}, margin={"l": 10, "r": 16, "t": 20, "b": 10},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}, uirevision="stream",
    )  # fmt: skip
    axes = {"gridcolor": GRID.mark(theme), "zerolinecolor": GRID.mark(theme), "automargin": True, "title_standoff": 8}
    figure.update_xaxes(**axes, range=[0, points], title_text="points that have arrived", tickformat=",")
    figure.update_yaxes(**axes, range=[0, 1.1], tickformat=".1f")
    return figure


def stream_alt(moments: Sequence[Moment]) -> str:
    """The picture in one sentence."""
    if not moments:
        return "Accuracy and gap over time: no points yet."
    first, last = moments[0], moments[-1]
    return (
        f"Accuracy and statistical parity gap over {last.seen:,} points: from {first.accuracy:.2f} and "
        f"{first.statistical_parity:.2f} at first to {last.accuracy:.2f} and {last.statistical_parity:.2f} now."
    )
