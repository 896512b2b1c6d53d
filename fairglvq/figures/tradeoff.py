"""Trade-off curves: one score against another, a curve per method, with spreads, front, limit and published points.

The colour of a curve is that of the method's family, by its place in METHODS; members of a family differ in shape and
dash. Methods without a knob are grey marks. The colours are none of the class colours, and the shapes none of the first
group shapes, so that no mark of this picture is taken for a class or a group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairglvq.experiments.methods import METHODS
from fairglvq.fairness.limit import Limit
from fairglvq.figures.base import FONT, INK, LEGEND, base_axes, base_layout
from fairglvq.figures.labels import LETTER, halo, label_strengths
from fairglvq.grammar import ClassColour, Theme
from fairglvq.tradeoff.curve import label, pareto, point_id, strength_words
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import in_hundredths

_COLOURS = (
    ClassColour("#7b3fd4", "#b792ff"),  # violet
    ClassColour("#c4123f", "#ff5c7c"),  # crimson
    ClassColour("#960069", "#c35aa5"),  # magenta
    ClassColour("#0a8fc4", "#5fd0ff"),  # sky
    ClassColour("#5a3012", "#f2d9b5"),  # brown and sand
    ClassColour("#6b8000", "#b5cf3a"),  # olive
)
_GREYS = (
    ClassColour("#8a8d98", "#868a96"),
    ClassColour("#23262f", "#f4f5f8"),
    ClassColour("#6a6e7a", "#aeb2bd"),
    ClassColour("#464a55", "#d3d6de"),
)
_SHAPES = (
    "triangle-down", "hexagram", "star-diamond", "triangle-right", "bowtie", "triangle-left", "hourglass",
    "diamond-tall", "star-triangle-up", "star-square",
)  # fmt: skip
_GREY_SHAPES = ("x", "square", "diamond-wide", "cross", "star")
_DASHES = ("solid", "dot", "longdash", "longdashdot")


FEW = 6
"""With more methods than this their error bars are grey and pale, lest they hide the curves."""


@dataclass(frozen=True)
class Style:
    """How one method is drawn."""

    colour: ClassColour
    shape: str
    dash: str = "solid"


def styles() -> dict[str, Style]:
    """Colour, shape and dash of every method; no two methods share all of them."""
    found: dict[str, Style] = {}
    greys = [name for name, method in METHODS.items() if method.knob is None]
    for i, name in enumerate(greys):
        found[name] = Style(_GREYS[i % len(_GREYS)], _GREY_SHAPES[i % len(_GREY_SHAPES)])
    families: dict[str, list[str]] = {}
    for i, name in enumerate(name for name in METHODS if name not in greys):
        members = families.setdefault(METHODS[name].family, [])
        colour = _COLOURS[list(families).index(METHODS[name].family) % len(_COLOURS)]
        # After the last shape they start again, one dash further on.
        dash = _DASHES[(len(members) + i // len(_SHAPES)) % len(_DASHES)]
        found[name] = Style(colour, _SHAPES[i % len(_SHAPES)], dash)
        members.append(name)
    return found


def tradeoff_figure(
    table: pd.DataFrame,
    x: str = "statistical_parity",
    y: str = "accuracy",
    *,
    theme: Theme = "light",
    front: bool = True,
    limits: Iterable[Limit] = (),
    published: pd.DataFrame | None = None,
    height: int = 520,
) -> go.Figure:
    """Draw a summary of :func:`fairglvq.tradeoff.curve.summary`: a curve through the strengths of each method.

    Axes are in percent (accuracy) and points (gaps). Bars are one standard deviation over folds and seeds, in both
    directions. ``front`` joins the points that no other one beats. ``limits`` are drawn where they belong, accuracy
    against statistical parity. ``published`` is :func:`fairglvq.experiments.paper.published`; only points of the
    table's data set are taken. The first entry of a marker's ``customdata`` is its
    :func:`fairglvq.tradeoff.curve.point_id`; published points have none.
    """
    for name in (x, y):
        if name not in MEASURES or f"{name}_mean" not in table:
            known = [measure for measure in MEASURES if f"{measure}_mean" in table]
            raise ValueError(f"an axis must be one of {', '.join(known)}; got {name!r}")
    ink = INK.mark(theme)
    figure = go.Figure()
    shown = _in_hundredths(table.dropna(subset=[f"{x}_mean", f"{y}_mean"]))
    theirs = _in_hundredths(_of_the_same_data(published, shown, x, y))
    ranges = [_range(shown, theirs, x, 0.06), _range(shown, theirs, y, 0.1)]  # words may stand below the lowest mark

    if front and len(shown) > 1:
        best = shown[pareto(shown, x, y)].sort_values(f"{x}_mean")
        figure.add_scatter(
            x=best[f"{x}_mean"], y=best[f"{y}_mean"], mode="lines", name="best points", hoverinfo="skip",
            line={"color": faded(ink, 0.18), "width": 12}, legendrank=2000,
        )  # fmt: skip
    if (x, y) == ("statistical_parity", "accuracy"):
        for line in limits:
            ranges[1] = add_limit(figure, line, ranges, ink)
    for method, own in theirs.groupby("method", sort=False):
        _add_published(figure, str(method), own.sort_values("strength"), x, y, theme)
    for method, own in shown.groupby("method", sort=False):
        _add_curve(figure, str(method), own.sort_values("strength"), x, y, theme)
    many = max(0, shown["method"].nunique() - FEW)
    if many:
        figure.update_traces(error_x_color=faded(ink, 0.13), error_y_color=faded(ink, 0.13))
    label_strengths(figure, ranges)
    lay_out(figure, theme, height + 18 * many)  # on a phone, two names of the legend fill a line
    figure.update_xaxes(title_text=_axis_title(x, "←", "→"), range=ranges[0], tickformat=_tick_format(ranges[0]))
    figure.update_yaxes(title_text=_axis_title(y, "↓", "↑"), range=ranges[1], tickformat=_tick_format(ranges[1]))
    return figure


def strength_figure(
    table: pd.DataFrame,
    method: str,
    measures: Iterable[str] = ("accuracy", "statistical_parity"),
    *,
    log: bool = False,
    theme: Theme = "light",
) -> go.Figure:
    """Draw the scores of one method against its strength, one above the other; ``log`` spreads the small strengths.

    A strength of 0 has no place on a logarithmic axis. It stands at half the smallest other one, with its own tick.
    """
    own = _in_hundredths(table[(table["method"] == method) & table["strength"].notna()]).sort_values("strength")
    if own.empty:
        raise ValueError(f"no strengths of {method!r} in this table")
    names = [name for name in measures if f"{name}_mean" in own]
    style, knob = styles()[method], METHODS[method].knob or "strength"
    strengths = own["strength"].to_numpy(float)
    log = log and bool((strengths > 0).any())
    places = np.where(strengths > 0, strengths, strengths[strengths > 0].min() / 2) if log else strengths
    figure = make_subplots(rows=len(names), cols=1, shared_xaxes=True, vertical_spacing=0.08)
    for row, name in enumerate(names, start=1):
        figure.add_scatter(
            x=places, y=own[f"{name}_mean"], row=row, col=1, mode="lines+markers", name=MEASURES[name].title,
            showlegend=False, line={"color": style.colour.mark(theme), "width": 2},
            marker={"symbol": style.shape, "size": 11, "color": style.colour.mark(theme)},
            error_y=_bars(own[f"{name}_std"], style.colour.mark(theme)),
            customdata=_customdata(own, method, name, name), hovertemplate=_hover(name),
        )  # fmt: skip
        figure.update_yaxes(title_text=MEASURES[name].heading, row=row, col=1)
    lay_out(figure, theme, 420)
    figure.update_layout(margin={"b": 60})
    if log:
        ticks = _apart(np.log(places))
        figure.update_xaxes(type="log", tickvals=places[ticks], ticktext=[f"{value:g}" for value in strengths[ticks]])
    figure.update_xaxes(title_text=knob, row=len(names), col=1)
    return figure


def alt_text(table: pd.DataFrame, x: str = "statistical_parity", y: str = "accuracy") -> str:
    """The picture in one sentence, made from its numbers."""
    parts = []
    for method, points in table.groupby("method", sort=False):
        own = points.dropna(subset=[f"{x}_mean", f"{y}_mean"]).sort_values("strength")
        if own.empty:
            continue
        first, last = own.iloc[0], own.iloc[-1]
        numbers = [
            f"{MEASURES[y].words(end[f'{y}_mean'])} at {MEASURES[x].words(end[f'{x}_mean'])}" for end in (first, last)
        ]
        if len(own) == 1:
            parts.append(f"{label(str(method), first['strength'])} has {numbers[0]}")
        else:
            ends = [strength_words(str(method), end["strength"]) for end in (first, last)]
            parts.append(f"{label(str(method))} goes from {numbers[0]} ({ends[0]}) to {numbers[1]} ({ends[1]})")
    heading = f"{MEASURES[y].title} against {MEASURES[x].title}".capitalize()
    return f"{heading}, means over folds: {'; '.join(parts)}." if parts else f"{heading}: no points yet."


def _add_curve(figure: go.Figure, method: str, own: pd.DataFrame, x: str, y: str, theme: Theme) -> None:
    style = styles()[method]
    colour = style.colour.mark(theme)
    figure.add_scatter(
        x=own[f"{x}_mean"], y=own[f"{y}_mean"], name=label(method), legendgroup=method,
        legendrank=list(METHODS).index(method) + 1, mode="lines+markers" if METHODS[method].knob else "markers",
        textfont={"color": colour, "size": LETTER, "shadow": halo(theme)},
        line={"color": colour, "width": 2, "dash": style.dash},
        marker={"symbol": style.shape, "size": 12, "color": colour, "line": {"width": 0}},
        error_x=_bars(own[f"{x}_std"], colour), error_y=_bars(own[f"{y}_std"], colour),
        customdata=_customdata(own, method, x, y), hovertemplate=_hover(x, y), **_clicked(colour),
    )  # fmt: skip


def _add_published(figure: go.Figure, method: str, own: pd.DataFrame, x: str, y: str, theme: Theme) -> None:
    style = styles()[method]
    colour = style.colour.mark(theme)
    words = [f"{label(method, strength)}, published" for strength in own["strength"]]
    figure.add_scatter(
        x=own[f"{x}_mean"], y=own[f"{y}_mean"], name="published (hollow)", legendgroup="published", legendrank=3000,
        showlegend=not any(trace.legendgroup == "published" for trace in figure.data), mode="lines+markers",
        line={"color": faded(colour, 0.6), "width": 1, "dash": "dot"},
        marker={"symbol": f"{style.shape}-open", "size": 11, "color": colour, "line": {"width": 1.5}},
        customdata=[["", text, math.nan, *spread] for text, spread in zip(words, _spreads(own, x, y), strict=True)],
        hovertemplate=_hover(x, y, counted=False), **_clicked(colour),
    )  # fmt: skip


def add_limit(figure: go.Figure, line: Limit, ranges: list[list[float]], ink: str) -> list[float]:
    """Draw the line across the visible gaps; returns the range of accuracy with the line inside."""
    right = ranges[0][1]
    sp = np.append(in_hundredths(line.sp[in_hundredths(line.sp) < right]), right)
    accuracy = in_hundredths(line.at(sp / 100))
    name = "limit with the group" if line.with_group else "limit"
    promise = "about %{y:.1f}% is within reach" if line.estimated else "in the long run no one exceeds %{y:.1f}%"
    figure.add_scatter(
        x=sp, y=accuracy, mode="lines", name=f"{name} (estimate)" if line.estimated else name, legendrank=2500,
        line={"color": ink, "width": 2, "dash": "dashdot" if line.with_group else "dash"},
        hovertemplate=f"{promise}<br>with a gap of at most %{{x:.1f}} points<extra></extra>",
    )  # fmt: skip
    low, high = ranges[1]
    margin = 0.03 * (high - low)
    return [min(low, accuracy.min() - margin), max(high, accuracy.max() + margin)]


def _of_the_same_data(published: pd.DataFrame | None, shown: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    if published is None or f"{x}_mean" not in published or f"{y}_mean" not in published:
        return shown.iloc[:0]
    same = published["dataset"].isin(shown["dataset"]) & published["method"].isin(list(METHODS))
    return published[same].dropna(subset=[f"{x}_mean", f"{y}_mean"])


def _in_hundredths(table: pd.DataFrame) -> pd.DataFrame:
    """Means and spreads of all measures as an axis shows them."""
    names = [f"{measure}_{what}" for measure in MEASURES for what in ("mean", "std") if f"{measure}_{what}" in table]
    return table.assign(**{name: in_hundredths(table[name].to_numpy(float)) for name in names})


def _range(shown: pd.DataFrame, theirs: pd.DataFrame, name: str, share: float) -> list[float]:
    """Axis range with every point and its bar inside, and a share of margin; a gap starts at 0, where fairness is."""
    means = np.concatenate([shown[f"{name}_mean"], theirs[f"{name}_mean"]]).astype(float)
    spreads = np.concatenate([shown[f"{name}_std"], np.zeros(len(theirs))]).astype(float)
    if len(means) == 0:
        return [0.0, 1.0]
    low, high = float((means - spreads).min()), float((means + spreads).max())
    low = low if MEASURES[name].more_is_better else 0.0
    margin = share * max(high - low, 2.0)
    return [low - margin, high + margin]


def _apart(places: np.ndarray) -> list[int]:
    """Which ticks to keep, from left to right, so that their numbers do not run into each other on a phone."""
    kept = [0]
    for i in range(1, len(places)):
        if places[i] - places[kept[-1]] >= 0.08 * np.ptp(places):
            kept.append(i)
    return kept


def _clicked(colour: str) -> dict:
    """A clicked mark grows; the others stay legible."""
    others = {"marker": {"opacity": 0.65}, "textfont": {"color": colour}}
    return {"selected": {"marker": {"size": 18}}, "unselected": others}


def _bars(spread: pd.Series, colour: str) -> dict:
    return {"type": "data", "array": spread.fillna(0.0), "thickness": 1, "width": 0, "color": faded(colour, 0.55)}


def _spreads(own: pd.DataFrame, *names: str) -> list[tuple[float, ...]]:
    return list(zip(*(own[f"{name}_std"].astype(float) for name in names), strict=True))


def _customdata(own: pd.DataFrame, method: str, x: str, y: str) -> list[list]:
    """Per marker: id for clicks, words, n, spread of x and of y."""
    points = zip(own["strength"], own["n"], _spreads(own, x, y), strict=True)
    return [[point_id(method, strength), label(method, strength), int(n), *spread] for strength, n, spread in points]


def _hover(x: str, y: str | None = None, *, counted: bool = True) -> str:
    """With one name only, the score stands on the y axis."""
    if y is None:
        scores = f"{MEASURES[x].title} %{{y:.1f}} ± %{{customdata[4]:.1f}} {MEASURES[x].unit}"
    else:
        scores = (
            f"{MEASURES[y].title} %{{y:.1f}} ± %{{customdata[4]:.1f}} {MEASURES[y].unit}<br>"
            f"{MEASURES[x].title} %{{x:.1f}} ± %{{customdata[3]:.1f}} {MEASURES[x].unit}"
        )
    n = "<br>n = %{customdata[2]} test folds" if counted else ""
    return f"<b>%{{customdata[1]}}</b><br>{scores}{n}<extra></extra>"


def _axis_title(name: str, down: str, up: str) -> str:
    measure = MEASURES[name]
    return f"{measure.heading} {up} better" if measure.more_is_better else f"{measure.heading} {down} fairer"


def _tick_format(ends) -> str:
    """Whole numbers, or as many decimals as some eight ticks need to differ."""
    return f".{max(0, math.ceil(-math.log10(abs(ends[1] - ends[0]) / 8)))}f"


def lay_out(figure: go.Figure, theme: Theme, height: int, *, top: int = 34, uirevision: str = "tradeoff") -> None:
    """Font, colours, grid and legend; above a curve's plot stand the buttons, which phones always show."""
    ink = INK.mark(theme)
    base_layout(
        figure,
        theme,
        height,
        margin={"l": 10, "r": 16, "t": top, "b": 10},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": faded(ink, 0.5), "activecolor": ink},
        hovermode="closest",
        hoverlabel={"font": {"family": FONT, "size": 13}, "align": "left"},
        legend=LEGEND | {"font": {"size": 12}},
        uirevision=uirevision,
    )
    base_axes(figure, theme)


def faded(colour: str, share: float) -> str:
    """A colour of which only a share covers what is behind it."""
    red, green, blue = bytes.fromhex(colour[1:])
    return f"rgba({red},{green},{blue},{share})"
