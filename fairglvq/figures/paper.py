"""Pictures for the paper's page: published numbers beside own ones, why they differ, and one step taken apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from fairglvq.experiments.anatomy import PointTerm, StepData
from fairglvq.figures.base import INK
from fairglvq.figures.tradeoff import faded, lay_out, styles, tradeoff_figure
from fairglvq.grammar import BACKGROUNDS, Theme, class_colours, group_shapes
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import in_hundredths, number

ARROW = 0.22
"""Length of the longest arrow, as a share of the picture."""


class Dots(NamedTuple):
    """A row of a dot picture: its words, the score on every test fold, and what stands beside them."""

    label: str
    folds: Sequence[float]
    method: str = "fairglvq"  # for its colour and shape
    published: tuple[float, float] | None = None  # mean and spread
    here: Sequence[float] = ()  # folds that were computed on this computer


def dots_figure(rows: Sequence[Dots], measure: str, *, theme: Theme = "light", height: int | None = None) -> go.Figure:
    """One row below the other: every test fold a dot, their mean, the published mean with its spread.

    The dots of a row are spread a little, in the order of folds, so that they do not hide each other.
    """
    figure, ink = go.Figure(), INK.mark(theme)
    own = [styles()[row.method] for row in rows]
    colours = [style.colour.mark(theme) for style in own]
    unit = MEASURES[measure].unit
    _add_folds(figure, [row.folds for row in rows], colours, "one test fold", 0.0, f"%{{x:.1f}} {unit}")
    figure.add_scatter(
        x=[float(in_hundredths(np.mean(row.folds))) if len(row.folds) else None for row in rows],
        y=list(range(len(rows))), mode="markers", name="mean of these folds",
        marker={"symbol": [style.shape for style in own], "size": 13, "color": colours,
                "line": {"width": 1.5, "color": BACKGROUNDS[theme]}},
        hovertemplate=f"mean %{{x:.1f}} {unit}<extra></extra>",
    )  # fmt: skip
    printed = [(i, *row.published) for i, row in enumerate(rows) if row.published]
    if printed:
        places, means, spreads = zip(*printed, strict=True)
        figure.add_scatter(
            x=in_hundredths(means), y=[place - 0.36 for place in places], mode="markers", name="published, ± spread",
            marker={"symbol": "diamond-open", "size": 10, "color": ink, "line": {"width": 1.8}},
            error_x={"type": "data", "array": in_hundredths(spreads), "thickness": 1.6, "width": 4, "color": ink},
            hovertemplate=f"published: %{{x:.1f}} {unit}<extra></extra>",
        )  # fmt: skip
    if any(len(row.here) for row in rows):
        _add_folds(
            figure, [row.here for row in rows], colours, "run here", 0.36, f"run here: %{{x:.1f}} {unit}",
            symbol="x-thin-open", size=7,
        )  # fmt: skip
    lay_out(figure, theme, height or 120 + 52 * len(rows), top=10, uirevision="paper")
    figure.update_xaxes(title_text=MEASURES[measure].heading)
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[row.label for row in rows], range=[len(rows) - 0.45, -0.6],
        showgrid=False, zeroline=False,
    )  # fmt: skip
    return figure


def _add_folds(
    figure: go.Figure, folds: Sequence[Sequence[float]], colours: Sequence[str], name: str, below: float, hover: str,
    *, symbol: str = "circle", size: int = 5,
) -> None:  # fmt: skip
    """All folds of all rows; ``below`` is how far from the middle of the row."""
    spread = 0.5 if below == 0 else 0.12
    x = [value for row in folds for value in row]
    y = [i + below + spread * _jitter(len(row))[k] for i, row in enumerate(folds) for k in range(len(row))]
    shown = [colours[i] for i, row in enumerate(folds) for _ in row]
    figure.add_scatter(
        x=in_hundredths(x), y=y, mode="markers", name=name, opacity=0.55 if below == 0 else 1.0,
        marker={"symbol": symbol, "size": size, "color": shown, "line": {"width": 1.6, "color": shown}
                if symbol.endswith("open") else {"width": 0}},
        hovertemplate=f"{hover}<extra></extra>",
    )  # fmt: skip


def _jitter(n: int) -> NDArray[np.float64]:
    """Places from -1/2 to 1/2, neighbours far apart."""
    return np.mod(np.arange(n) * 0.618, 1.0) - 0.5


def dots_alt(rows: Sequence[Dots], measure: str) -> str:
    """The picture in one sentence."""
    words = MEASURES[measure].words
    parts = [
        f"{row.label} {words(float(np.mean(row.folds)))}"
        + (f" (published {words(row.published[0])})" if row.published else "")
        for row in rows
        if len(row.folds)
    ]
    return f"{MEASURES[measure].title.capitalize()}, means over test folds: {'; '.join(parts)}."


def figure2(
    table: pd.DataFrame, rows: pd.DataFrame, published: pd.DataFrame, measure: str, *,
    here: pd.DataFrame | None = None, theme: Theme = "light",
) -> go.Figure:  # fmt: skip
    """Accuracy against a gap as in the paper's Figure 2: published points hollow, own ones full, a dot per test fold.

    ``table`` is the summary of ``rows``; both kinds of points have bars of one standard deviation. ``here`` are rows
    that were computed on this computer, drawn as crosses.
    """
    figure = tradeoff_figure(table, measure, theme=theme, front=False, published=published, height=460)
    for trace in figure.data:
        if trace.legendgroup == "published":
            bars = {"type": "data", "thickness": 1, "width": 3, "color": faded(INK.mark(theme), 0.55)}
            trace.error_x = bars | {"array": [one[3] for one in trace.customdata]}
            trace.error_y = bars | {"array": [one[4] for one in trace.customdata]}
    for found, name, marker in (
        (rows, "one test fold", {"size": 4, "opacity": 0.45}),
        (here, "run here", {"size": 8, "symbol": "x-thin-open"}),
    ):
        if found is not None and len(found):
            _add_single_folds(figure, found[found[measure].notna()], measure, name, marker, theme)
    figure.update_layout(uirevision=f"figure2-{measure}")
    return figure


def _add_single_folds(
    figure: go.Figure, rows: pd.DataFrame, measure: str, name: str, marker: dict, theme: Theme
) -> None:
    """Rows as small marks in the colours of their methods, behind the means, with everything in view."""
    colours = [styles()[method].colour.mark(theme) for method in rows["method"]]
    x, y = (in_hundredths(rows[one].to_numpy(float)) for one in (measure, "accuracy"))
    figure.add_scatter(
        x=x, y=y, mode="markers", name=name, hoverinfo="skip", legendrank=4000,
        marker=marker | {"color": colours, "line": {"width": 1.6 if "symbol" in marker else 0, "color": colours}},
    )  # fmt: skip
    figure.data = (figure.data[-1], *figure.data[:-1])
    figure.update_xaxes(range=_with(figure.layout.xaxis.range, x))
    figure.update_yaxes(range=_with(figure.layout.yaxis.range, y))


def _with(ends: Sequence[float], values: ArrayLike) -> list[float]:
    """A range that also holds these values."""
    found = np.asarray(values, float)
    margin = 0.02 * float(ends[1] - ends[0])
    return [min(ends[0], float(found.min()) - margin), max(ends[1], float(found.max()) + margin)]


def angles_figure(
    angles: Mapping[str, Sequence[float]], gaps: Mapping[str, Sequence[float]], *, theme: Theme = "light"
) -> go.Figure:
    """INP's gap on each test fold against the direction of the plane that it kept, by data set."""
    figure = go.Figure()
    colour = styles()["inp"].colour.mark(theme)
    for (name, found), symbol in zip(angles.items(), ("circle", "x-thin-open"), strict=True):
        figure.add_scatter(
            x=list(found), y=in_hundredths(gaps[name]), mode="markers", name=name, opacity=0.75,
            marker={"symbol": symbol, "size": 8, "color": colour, "line": {"width": 1.6, "color": colour}},
            hovertemplate=f"{name}: direction %{{x:.0f}}°, gap %{{y:.1f}} points<extra></extra>",
        )  # fmt: skip
    lay_out(figure, theme, 320, top=10, uirevision="paper")
    figure.update_xaxes(title_text="direction that INP keeps (degrees)", range=[-4, 184])
    figure.update_yaxes(title_text=MEASURES["statistical_parity"].heading, rangemode="tozero")
    return figure


class Projections(NamedTuple):
    """INP by the number of its projections: accuracies as published, and by this library."""

    strengths: Sequence[float]
    published: Sequence[float]
    own: Sequence[float]


def projections_figure(
    found: Projections, ranks: Sequence[int], constant: float, noise: float, *, theme: Theme = "light"
) -> go.Figure:
    """Accuracy against projections; the band is the rank of the training folds, where nothing is left to project.

    ``constant`` is the accuracy of one answer for all, ``noise`` that of GLVQ on rounding errors alone.
    """
    figure, ink = go.Figure(), INK.mark(theme)
    style = styles()["inp"]
    colour = style.colour.mark(theme)
    for name, values, symbol, dash in (
        ("published", found.published, f"{style.shape}-open", "dot"),
        ("this library", found.own, style.shape, "solid"),
    ):
        figure.add_scatter(
            x=list(found.strengths), y=in_hundredths(values), mode="lines+markers", name=f"INP, {name}",
            line={"color": colour, "width": 1.5, "dash": dash}, marker={"symbol": symbol, "size": 11, "color": colour},
            hovertemplate=f"{name}: %{{y:.1f}}% after %{{x}} projections<extra></extra>",
        )  # fmt: skip
    last = max(*found.strengths, max(ranks))
    for value, words, dash in ((constant, "one answer for all", "dash"), (noise, "rounding errors, scaled up", "dot")):
        figure.add_scatter(
            x=[0, last], y=[float(in_hundredths(value))] * 2, mode="lines", name=words, hoverinfo="skip",
            line={"color": ink, "width": 1.2, "dash": dash},
        )  # fmt: skip
    lay_out(figure, theme, 330, top=10, uirevision="paper")
    band = faded(ink, 0.18)
    figure.add_vrect(x0=min(ranks) - 0.3, x1=max(ranks) + 0.3, fillcolor=band, line_width=0)
    figure.add_scatter(
        x=[None], y=[None], mode="markers", name="rank: from here on nothing is left",
        marker={"symbol": "square", "size": 12, "color": band},
    )  # fmt: skip
    figure.update_xaxes(title_text="projections")
    figure.update_yaxes(title_text=MEASURES["accuracy"].heading)
    return figure


def months_figure(months: Sequence[tuple[str, int, int]], first_late: str, *, theme: Theme = "light") -> go.Figure:
    """Share of people labelled as arrested again, by month of the screening: name, people, arrested again.

    Months from ``first_late`` on are drawn in the colour of the label.
    """
    figure = go.Figure()
    early, late = INK.mark(theme), class_colours(2)[1].mark(theme)
    figure.add_bar(
        x=[month for month, _, _ in months], y=in_hundredths([again / n for _, n, again in months]),
        marker={"color": [late if month >= first_late else faded(early, 0.45) for month, _, _ in months]},
        customdata=[[n, again] for _, n, again in months], showlegend=False,
        hovertemplate="%{x}: %{customdata[1]} of %{customdata[0]} people, %{y:.0f}%<extra></extra>",
    )  # fmt: skip
    lay_out(figure, theme, 260, top=10, uirevision="paper")
    figure.update_layout(bargap=0.15)
    figure.update_xaxes(title_text="month of the screening", type="category", nticks=8)
    figure.update_yaxes(title_text="arrested again (%)", range=[0, 104])
    return figure


# ---- one step ----


def step_figure(
    opened: StepData, i: int, term: PointTerm | None, kind: str, scale: float, *,
    names: tuple[str, str], theme: Theme = "light",
) -> go.Figure:  # fmt: skip
    """The batch, the chosen point, and how one term of its cost pulls on the two closest prototypes.

    Class = colour, group = shape; a prototype's shape is its pseudo-class. Arrows are the pulls times ``scale``.
    ``names`` are those of w+ and w-.
    """
    figure, ink = go.Figure(), INK.mark(theme)
    colours, shapes = [c.mark(theme) for c in class_colours(2)], group_shapes(2)
    figure.add_scatter(
        x=opened.X[:, 0], y=opened.X[:, 1], mode="markers", name="points of the mini-batch", opacity=0.3,
        marker={"size": 5, "color": [colours[c] for c in opened.y], "symbol": [shapes[g] for g in opened.s]},
        customdata=np.arange(1, len(opened.X) + 1), hovertemplate="point %{customdata}<extra></extra>",
        showlegend=False,
    )  # fmt: skip
    x = opened.X[i]
    if term is not None:
        for j, name, dash in ((term.plus, names[0], "solid"), (term.minus, names[1], "dot")):
            if j >= 0:
                figure.add_scatter(
                    x=[x[0], opened.W[j, 0]], y=[x[1], opened.W[j, 1]], mode="lines", name=name, hoverinfo="skip",
                    line={"color": faded(ink, 0.6), "width": 1.5, "dash": dash},
                )  # fmt: skip
    figure.add_scatter(
        x=opened.W[:, 0], y=opened.W[:, 1], mode="markers+text", showlegend=False, cliponaxis=False,
        text=[str(j + 1) for j in range(len(opened.W))], textposition="top right",
        marker={"size": 15, "symbol": [shapes[g] for g in opened.pseudo],
                "color": [colours[c] for c in opened.labels], "line": {"width": 1.5, "color": ink}},
        hovertemplate="prototype %{text}<extra></extra>",
    )  # fmt: skip
    for name, symbol, size, width in (("the chosen point", "circle-open", 24, 2), ("", shapes[opened.s[i]], 11, 0)):
        figure.add_scatter(
            x=[x[0]], y=[x[1]], mode="markers", name=name, hoverinfo="skip", showlegend=bool(name),
            marker={"size": size, "symbol": symbol, "color": ink if name else colours[opened.y[i]],
                    "line": {"width": width}},
        )  # fmt: skip
    lay_out(figure, theme, 380, top=10, uirevision=f"step-{kind}")
    for pull in term.pulls if term is not None else ():
        _arrow(figure, opened.W[pull.prototype], opened.W[pull.prototype] + scale * pull.moves, ink)
    figure.update_xaxes(showticklabels=False, zeroline=False)
    figure.update_yaxes(scaleanchor="x", showticklabels=False, zeroline=False)
    return figure


def arrow_scale(opened: StepData, term: PointTerm | None) -> float:
    """By how much to lengthen a point's pulls so that the longest arrow can be seen."""
    lengths = [float(np.linalg.norm(pull.moves)) for pull in term.pulls] if term is not None else []
    extent = float(np.ptp(np.vstack([opened.X, opened.W]), axis=0).max())
    return ARROW * extent / max(lengths) if lengths and max(lengths) > 0 else 1.0


def _arrow(figure: go.Figure, tail: NDArray, head: NDArray, colour: str) -> None:
    figure.add_annotation(
        x=head[0], y=head[1], ax=tail[0], ay=tail[1], xref="x", yref="y", axref="x", ayref="y", showarrow=True,
        arrowhead=2, arrowsize=1.1, arrowwidth=2.6, arrowcolor=colour, text="",
    )  # fmt: skip


def step_alt(i: int, term: PointTerm | None, kind: str) -> str:
    """The picture in one sentence."""
    if term is None:
        return "Without a fairness term nothing is pushed."
    verb = ("towards", "away from") if (kind == "class") == (term.slope > 0) else ("away from", "towards")
    parts = [
        f"prototype {j + 1} moves {word} the point"
        for j, word in zip((term.plus, term.minus), verb, strict=True)
        if j >= 0
    ]
    return f"Point {i + 1} of the mini-batch, μ = {number(term.mu, 3)}: {' and '.join(parts)}."
