"""Small pictures of the drawn data sets, made from their real points; inline SVG for the labels of buttons."""

from __future__ import annotations

import base64
from functools import cache

from fairglvq import datasets
from fairglvq.datasets.split import Scaling
from fairglvq.grammar import GROUP_SHAPES, SHAPES, Theme, class_colours

WIDTH, HEIGHT, MARGIN = 84, 60, 5
POINTS = 22  # per cloud: enough to see its shape, few enough for a label
RADIUS = 1.3  # of a point's mark


@cache
def thumbnail(dataset: str, theme: Theme) -> str:
    """A data address of the drawing."""
    svg = _drawn(dataset, theme) if datasets.DATASETS[dataset].synthetic else _people(theme)
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _drawn(dataset: str, theme: Theme) -> str:
    data = datasets.load(dataset, size=POINTS, seed=4)
    places = Scaling.fit(data.X).apply(data.X) * (WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN) + MARGIN
    places[:, 1] = HEIGHT - places[:, 1]
    paths = []
    for label, colour in enumerate(class_colours(len(data.class_names))):
        strokes = [
            f"M{x:.1f} {y:.1f}{SHAPES[GROUP_SHAPES[group]].path}"
            for (x, y), group in zip(places[data.y == label] / RADIUS, data.s[data.y == label], strict=True)
        ]
        paths.append(f'<path fill="{colour.mark(theme)}" d="{"".join(strokes)}"/>')
    return _svg(f'<g transform="scale({RADIUS})">{"".join(paths)}</g>')


def _people(theme: Theme) -> str:
    """A few people of both classes, for tables that have no drawing."""
    figure = "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0m-3 15v-5a6 5.5 0 0 1 12 0v5z"
    first, second = (colour.mark(theme) for colour in class_colours(2))
    marks = [(x, first if number % 3 else second) for number, x in enumerate((15, 33, 51, 69))]
    return _svg("".join(f'<path fill="{colour}" d="M{x} 24{figure}"/>' for x, colour in marks))


def _svg(content: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{content}</svg>'
