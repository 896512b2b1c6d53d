"""A Plotly figure of lines, markers and error bars as a picture of its own: SVG without Plotly, a browser or fonts.

Only what this project's trade-off figures hold is drawn: scatter traces on two linear axes. Anything else is an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fairglvq.figures.base import FONT, GRID, INK

_DASHES = {"dash": "8 5", "dot": "2 4", "dashdot": "8 4 2 4", "longdash": "13 5", "longdashdot": "13 4 2 4"}


def to_svg(
    figure: go.Figure, *, width: int = 900, height: int = 560, background: str = "#ffffff", alt: str = ""
) -> str:
    """The figure as an SVG document of this size in pixels, legend included."""
    traces = [trace for trace in figure.data if trace.visible in (None, True)]
    wrong = [trace.type for trace in traces if trace.type != "scatter"]
    if wrong or "yaxis2" in figure.to_plotly_json()["layout"]:
        raise ValueError(f"only scatter traces on one pair of axes can be drawn; got {wrong or 'several axes'}")
    ink = figure.layout.font.color or INK.light
    grid = figure.layout.xaxis.gridcolor or GRID.light
    entries = _legend_entries(traces)
    rows = _legend_rows(entries, width - 40)
    left, right, top, bottom = 72, width - 20, 20, height - 62 - 22 * len(rows)
    x_range, y_range = (_range(getattr(figure.layout, axis), traces, axis[0]) for axis in ("xaxis", "yaxis"))
    place = _Place(x_range, y_range, left, right, top, bottom)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{escape(FONT)}" font-size="13" role="img">',
        f"<title>{escape(alt)}</title>" if alt else "",
        f'<rect width="{width}" height="{height}" fill="{background}"/>',
        *_axes(figure, place, ink, grid),
        f'<clipPath id="plot"><rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"/></clipPath>',
        '<g clip-path="url(#plot)">',
    ]
    for trace in traces:
        parts += _trace(trace, place)
    parts += ["</g>", *_labels(traces, place, background), *_legend(rows, bottom + 62, ink), "</svg>"]
    return "\n".join(part for part in parts if part)


class _Place(NamedTuple):
    """From values to pixels."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float
    right: float
    top: float
    bottom: float

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


def _range(axis: Any, traces: Iterable[Any], letter: str) -> tuple[float, float]:
    if axis.type == "log":
        raise ValueError("only linear axes can be drawn")
    if axis.range:
        return float(axis.range[0]), float(axis.range[1])
    values = np.concatenate([np.asarray(trace[letter], dtype=float) for trace in traces])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.05 * max(high - low, 1e-6)
    return low - margin, high + margin


def ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round values from low to high, no more than ``most``."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _axes(figure: go.Figure, place: _Place, ink: str, grid: str) -> list[str]:
    parts = []
    for value in ticks(*place.x_range):
        x = place.x(value)
        parts.append(f'<path d="M{x:.1f} {place.top}V{place.bottom}" stroke="{grid}"/>')
        parts.append(_text(_tick(value, figure.layout.xaxis), x, place.bottom + 18, ink, "middle"))
    for value in ticks(place.y_range[0], place.y_range[1], most=7):
        y = place.y(value)
        parts.append(f'<path d="M{place.left} {y:.1f}H{place.right}" stroke="{grid}"/>')
        parts.append(_text(_tick(value, figure.layout.yaxis), place.left - 8, y + 4, ink, "end"))
    names = [figure.layout[axis].title.text or "" for axis in ("xaxis", "yaxis")]
    parts.append(_text(names[0], (place.left + place.right) / 2, place.bottom + 40, ink, "middle"))
    middle = (place.top + place.bottom) / 2
    parts.append(
        f'<text transform="translate(18 {middle:.1f}) rotate(-90)" text-anchor="middle" fill="{ink}">'
        f"{escape(names[1])}</text>"
    )
    return parts


def _tick(value: float, axis: Any) -> str:
    return format(value, axis.tickformat or ".2f")


def _text(words: str, x: float, y: float, colour: str, anchor: str, size: int = 13) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} fill="{colour}" font-size="{size}">{escape(words)}</text>'


def _points(trace: Any, place: _Place) -> list[tuple[float, float] | None]:
    """Pixels of every point, None where there is none."""
    pairs = zip(np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float), strict=True)
    return [(place.x(x), place.y(y)) if np.isfinite(x) and np.isfinite(y) else None for x, y in pairs]


def _trace(trace: Any, place: _Place) -> list[str]:
    points, mode = _points(trace, place), trace.mode or "lines+markers"
    parts = []
    for letter, bars in (("x", trace.error_x), ("y", trace.error_y)):
        if bars.array is not None:
            parts += _bars(trace, place, letter, np.asarray(bars.array, dtype=float), bars.color or trace.line.color)
    there = [point for point in points if point is not None]
    if "lines" in mode and len(there) > 1:
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in there)
        colour, width = trace.line.color, trace.line.width or 2
        parts.append(
            f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"'
            f' stroke-linecap="round"{_dash(trace.line)}/>'
        )
    if "markers" in mode:
        parts += [_mark(trace, x, y) for x, y in there]
    return parts


def _dash(line: Any) -> str:
    return f' stroke-dasharray="{_DASHES[line.dash]}"' if line.dash in _DASHES else ""


def _bars(trace: Any, place: _Place, letter: str, array: np.ndarray, colour: str) -> list[str]:
    parts = []
    for x, y, reach in zip(trace.x, trace.y, array, strict=True):
        if not (np.isfinite(x) and np.isfinite(y) and reach > 0):
            continue
        if letter == "x":
            path = f"M{place.x(x - reach):.1f} {place.y(y):.1f}H{place.x(x + reach):.1f}"
        else:
            path = f"M{place.x(x):.1f} {place.y(y - reach):.1f}V{place.y(y + reach):.1f}"
        parts.append(f'<path d="{path}" stroke="{colour}" fill="none"/>')
    return parts


def _mark(trace: Any, x: float, y: float) -> str:
    symbol, size = trace.marker.symbol or "circle", float(trace.marker.size or 8)
    hollow = symbol.endswith("-open")
    colour = trace.marker.color
    paint = f'fill="none" stroke="{colour}" stroke-width="1.5"' if hollow else f'fill="{colour}"'
    shape = symbol.removesuffix("-open")
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size / 2:.1f}" {paint}/>'
    outline = " ".join(f"{x + px * size / 2:.1f},{y + py * size / 2:.1f}" for px, py in _outline(shape))
    return f'<polygon points="{outline}" {paint}/>'


def _outline(shape: str) -> list[tuple[float, float]]:
    """Corners in a box from -1 to 1, y downwards."""

    def star(n: int, inner: float) -> list[tuple[float, float]]:
        reach = [1.0, inner] * n
        return [(r * math.sin(math.pi * i / n), -r * math.cos(math.pi * i / n)) for i, r in enumerate(reach)]

    def turned(corners: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [((px - py) * math.sqrt(0.5), (px + py) * math.sqrt(0.5)) for px, py in corners]

    thick = 0.36
    cross = [
        (-thick, -1), (thick, -1), (thick, -thick), (1, -thick), (1, thick), (thick, thick),
        (thick, 1), (-thick, 1), (-thick, thick), (-1, thick), (-1, -thick), (-thick, -thick),
    ]  # fmt: skip
    known: dict[str, list[tuple[float, float]]] = {
        "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)],
        "triangle-up": [(0, -1), (1, 0.8), (-1, 0.8)],
        "triangle-down": [(0, 1), (1, -0.8), (-1, -0.8)],
        "triangle-left": [(-1, 0), (0.8, -1), (0.8, 1)],
        "triangle-right": [(1, 0), (-0.8, -1), (-0.8, 1)],
        "hourglass": [(-1, -1), (1, -1), (-1, 1), (1, 1)],
        "bowtie": [(-1, -1), (1, 1), (1, -1), (-1, 1)],
        "cross": cross,
        "x": turned(cross),
        "star": star(5, 0.42),
        "hexagram": star(6, 0.58),
        "star-diamond": star(4, 0.45),
        "star-triangle-up": star(3, 0.3),
        "star-square": turned(star(4, 0.45)),
        "diamond-tall": [(0, -1.3), (0.65, 0), (0, 1.3), (-0.65, 0)],
        "diamond-wide": [(0, -0.65), (1.3, 0), (0, 0.65), (-1.3, 0)],
    }
    if shape not in known:
        raise ValueError(f"the marker {shape!r} cannot be drawn")
    return known[shape]


def _labels(traces: Iterable[Any], place: _Place, background: str) -> list[str]:
    """Words beside points, with a rim of background."""
    parts = [f'<g stroke="{background}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">']
    for trace in traces:
        if "text" not in (trace.mode or "") or trace.text is None:
            continue
        position = trace.textposition or "top right"
        anchor = "start" if "right" in position else "end" if "left" in position else "middle"
        right = {"start": 9, "end": -9}.get(anchor, 0)
        down = -9 if "top" in position else 18 if "bottom" in position else 4
        for words, point in zip(trace.text, _points(trace, place), strict=True):
            if words and point:
                parts.append(_text(words, point[0] + right, point[1] + down, trace.textfont.color, anchor, 11))
    return [*parts, "</g>"]


def _legend_entries(traces: Iterable[Any]) -> list[Any]:
    shown = [trace for trace in traces if trace.showlegend is not False and trace.name]
    return sorted(shown, key=lambda trace: 1000 if trace.legendrank is None else trace.legendrank)


def _legend_rows(entries: list[Any], width: float) -> list[list[tuple[float, Any]]]:
    """Entries in rows, each with its place from the left; a letter takes about 7 pixels."""
    rows: list[list[tuple[float, Any]]] = [[]]
    x = 0.0
    for entry in entries:
        wide = 46 + 7.2 * len(entry.name)
        if rows[-1] and x + wide > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, entry))
        x += wide
    return rows


def _legend(rows: list[list[tuple[float, Any]]], top: float, ink: str) -> list[str]:
    parts = []
    for number, row in enumerate(rows):
        y = top + 22 * number
        for x, entry in row:
            left = 20 + x
            if "lines" in (entry.mode or ""):
                line = entry.line
                paint = f'stroke="{line.color}" stroke-width="{min(8, line.width or 2)}"{_dash(line)}'
                parts.append(f'<path d="M{left} {y}h26" {paint}/>')
            if "markers" in (entry.mode or ""):
                parts.append(_mark(entry, left + 13, y))
            parts.append(_text(entry.name, left + 32, y + 4, ink, "start"))
    return parts
