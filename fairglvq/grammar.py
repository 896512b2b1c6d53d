"""The one grammar of every picture: class = colour, group = shape, prototype = a large mark in its class colour
whose outline is the shape of its pseudo-class, decision region = pale class colour.

Every chart, canvas, table and legend uses this module, so that a colour or a shape means the same everywhere.
The colours were chosen so that any two of them differ by at least 15 in CIELAB for normal, protan, deutan and tritan
sight (Machado et al., 2009), the first two also by 20 in lightness, and every mark has a contrast of at least 3:1
against its page. The tests measure all of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Literal, NamedTuple, TypeVar

Theme = Literal["light", "dark"]
T = TypeVar("T")

BACKGROUNDS: dict[Theme, str] = {"light": "#ffffff", "dark": "#0e1117"}
"""The pages the colours were checked against (Streamlit's two themes)."""

PALE: dict[Theme, float] = {"light": 0.16, "dark": 0.26}
"""Share of class colour in a decision region; dark pages need more of it to be seen."""


@dataclass(frozen=True)
class ClassColour:
    """One class colour, as a mark on a light and on a dark page."""

    light: str
    dark: str

    def mark(self, theme: Theme) -> str:
        """Colour of points, prototypes and text marks."""
        return self.light if theme == "light" else self.dark

    def pale(self, theme: Theme) -> str:
        """Colour of the decision region: the mark mixed into the page."""
        return mix(self.mark(theme), BACKGROUNDS[theme], PALE[theme])


CLASS_COLOURS: tuple[ClassColour, ...] = (
    ClassColour("#1f57ad", "#4a8ae8"),  # blue
    ClassColour("#e0711a", "#ffb04f"),  # orange
    ClassColour("#4d1147", "#f3cdf5"),  # plum
    ClassColour("#12876f", "#23ab8e"),  # teal
)


class Shape(NamedTuple):
    """A group's shape as a text character and as an outline."""

    glyph: str
    path: str
    """SVG path data in a box from -1 to 1 with y down; all steps are relative, so that it can follow any ``M x y``."""


def _outline(*corners: Sequence[float]) -> str:
    """Path data of a closed polygon, in steps from corner to corner."""
    steps = [(x - u, y - v) for (u, v), (x, y) in zip([(0, 0), *corners], corners, strict=False)]
    first, *others = (f"{round(x, 3):g},{round(y, 3):g}" for x, y in steps)
    return f"m{first}l{' '.join(others)}z"


def _star(points: int = 5, inner: float = 0.45) -> str:
    angles = [pi * i / points - pi / 2 for i in range(2 * points)]
    return _outline(*((cos(a) * r, sin(a) * r) for a, r in zip(angles, [1, inner] * points, strict=True)))


_ARM, _TIP = 0.35, 0.95  # half the width and the length of the cross's arms

SHAPES: dict[str, Shape] = {
    "circle": Shape("●", "m-.85,0a.85,.85 0 1 1 1.7,0a.85,.85 0 1 1 -1.7,0z"),
    "diamond": Shape("◆", _outline((0, -1), (1, 0), (0, 1), (-1, 0))),
    "triangle-up": Shape("▲", _outline((0, -0.95), (0.95, 0.75), (-0.95, 0.75))),
    "square": Shape("■", _outline((-0.78, -0.78), (0.78, -0.78), (0.78, 0.78), (-0.78, 0.78))),
    "cross": Shape(
        "✚",
        _outline(
            *((-_ARM, -_TIP), (_ARM, -_TIP), (_ARM, -_ARM), (_TIP, -_ARM), (_TIP, _ARM), (_ARM, _ARM)),
            *((_ARM, _TIP), (-_ARM, _TIP), (-_ARM, _ARM), (-_TIP, _ARM), (-_TIP, -_ARM), (-_ARM, -_ARM)),
        ),
    ),
    "star": Shape("★", _star()),
}
"""The shapes of groups by Plotly's name of the marker symbol, in the order of the groups."""

GROUP_SHAPES: tuple[str, ...] = tuple(SHAPES)
"""Plotly's marker symbols by group index."""


def mix(colour: str, background: str, share: float) -> str:
    """``share`` of ``colour`` and the rest of ``background``, as ``#rrggbb``."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(background[1:]), strict=True)
    return "#" + "".join(f"{round(share * c + (1 - share) * b):02x}" for c, b in pairs)


def class_colours(n_classes: int) -> tuple[ClassColour, ...]:
    """The first ``n_classes`` colours; more than can be told apart is an error, never a repeated colour."""
    return _first(CLASS_COLOURS, n_classes, "classes", "colour")


def group_shapes(n_groups: int) -> tuple[str, ...]:
    """The first ``n_groups`` shapes; more than can be told apart is an error, never a repeated shape."""
    return _first(GROUP_SHAPES, n_groups, "groups", "shape")


def stage_grammar(n_classes: int, n_groups: int) -> dict[str, list]:
    """The grammar as JSON for the stage: ``{"classes": [{light, dark, pale_light, pale_dark}], "groups": [path]}``."""
    return {
        "classes": [
            {"light": c.light, "dark": c.dark, "pale_light": c.pale("light"), "pale_dark": c.pale("dark")}
            for c in class_colours(n_classes)
        ],
        "groups": [SHAPES[name].path for name in group_shapes(n_groups)],
    }


def _first(items: tuple[T, ...], n: int, what: str, sign: str) -> tuple[T, ...]:
    if not 1 <= n <= len(items):
        raise ValueError(f"Pictures show 1 to {len(items)} {what}, each with its own {sign}; got {n}.")
    return items[:n]
