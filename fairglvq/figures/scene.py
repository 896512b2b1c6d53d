"""One model of a scene as a still picture, SVG for paper: cells, people and prototypes, as the stage draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from fairglvq.grammar import SHAPES, class_colours, group_shapes

WIDTH = 400.0
POINT, PROTOTYPE = 3.0, 9.5  # sizes of marks in a picture of this width
PEOPLE = 500  # drawn at most: on paper, more are a blot
INK = "#31333f"
LONGEST_ARROW = 70.0


class Model(NamedTuple):
    """Prototypes as a panel of the stage has them: ``W`` in the model's space z = A x + b of plane points x."""

    W: np.ndarray  # (P, 2)
    weights: np.ndarray  # (P,) squared distances to the plane
    A: np.ndarray  # (2, 2)
    b: np.ndarray  # (2,)
    line: Mapping[str, Sequence[float]] | None  # onto which INP has put everybody
    labels: np.ndarray  # (P,)
    pseudo: np.ndarray  # (P,)

    @property
    def drawn(self) -> np.ndarray:
        """Places (P, 2) in the plane; after INP they are on the line that is left."""
        places = (self.W - self.b) @ np.linalg.pinv(self.A).T
        if self.line is None:
            return places
        removed = np.array(self.line["removed"])
        return places - np.outer((places - self.line["origin"]) @ removed, removed)


class Arrows(NamedTuple):
    """Vectors (P, 2) in the plane that start at the prototypes, and their colour."""

    vectors: np.ndarray
    colour: str
    dash: str = ""


def model_of(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], method: str, at: int | None = None) -> Model:
    """A method's trained model in a scene, or the one of strength number ``at`` of its film."""
    panel = next(panel for panel in meta["panels"] if panel["key"] == method)
    source, frame = (method, -1) if at is None else (f"film.{method}", at)
    W, pseudo = (arrays[f"{source}.{name}"][frame] for name in ("prototypes", "pseudo"))
    weights = arrays[f"{source}.weights"][frame] if f"{source}.weights" in arrays else np.zeros(len(W))
    seen = panel["map"] or {"A": np.eye(2), "b": np.zeros(2)}
    return Model(W, weights, np.array(seen["A"]), np.array(seen["b"]), panel["line"], np.array(panel["labels"]), pseudo)


def cell(model: Model, j: int, box: Sequence[float]) -> np.ndarray:
    """Corners (m, 2) of prototype j's cell inside a box (x low, y low, x high, y high); none where it is empty.

    |z - w_j|² + r_j <= |z - w_k|² + r_k  <=>  2 (w_k - w_j).z <= |w_k|² + r_k - |w_j|² - r_j,  with z = A x + b.
    """
    x0, y0, x1, y1 = box
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)
    sizes = (model.W**2).sum(axis=1) + model.weights
    for k in range(len(model.W)):
        step = model.W[k] - model.W[j]
        normal, limit = step @ model.A, (sizes[k] - sizes[j]) / 2 - step @ model.b
        if k != j and len(corners):
            corners = _clipped(corners, corners @ normal - limit)
    return corners


def _clipped(corners: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """The part of a convex polygon whose corners are not ``beyond`` a line (m,), signed."""
    kept = []
    for here, there, u, v in zip(corners, np.roll(corners, -1, axis=0), beyond, np.roll(beyond, -1), strict=True):
        if u <= 0:
            kept.append(here)
        if (u <= 0) != (v <= 0):
            kept.append(here + u / (u - v) * (there - here))
    return np.array(kept).reshape(-1, 2)


def scene_svg(
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    model: Model,
    *,
    alt: str,
    arrows: Sequence[Arrows] = (),
) -> str:
    """The picture of one model among the people of a scene."""
    x0, y0, x1, y1 = meta["bounds"]
    margin = 0.04 * (x1 - x0)
    box = [x0 - margin, y0 - margin, x1 + margin, y1 + margin]
    scale = WIDTH / (box[2] - box[0])
    height = scale * (box[3] - box[1])

    def place(points: np.ndarray) -> np.ndarray:
        return np.column_stack([points[:, 0] - box[0], box[3] - points[:, 1]]) * scale

    colours, shapes = class_colours(len(meta["classes"])), group_shapes(len(meta["groups"]))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img">',
        f"<title>{escape(alt)}</title>",
    ]
    for j, label in enumerate(model.labels):
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in place(cell(model, j, box)))
        parts.append(
            f'<polygon points="{way}" fill="{colours[label].pale("light")}" stroke="{INK}" stroke-width="0.8"/>'
        )
    some = np.sort(np.random.default_rng(0).permutation(len(arrays["y"]))[:PEOPLE])
    for label, held_out in np.ndindex(len(colours), 2):
        own = some[(arrays["y"][some] == label) & (arrays["held_out"][some] == held_out)]
        marks = [
            f"M{x:.2f} {y:.2f}{SHAPES[shapes[group]].path}"
            for (x, y), group in zip(place(arrays["points"][own]) / POINT, arrays["s"][own], strict=True)
        ]
        colour = colours[label].light
        paint = f'fill="#fff" stroke="{colour}" stroke-width="0.35"' if held_out else f'fill="{colour}"'
        parts.append(f'<path transform="scale({POINT})" {paint} d="{"".join(marks)}"/>')
    at = place(model.drawn)
    for one in arrows:
        parts += _arrows(at, one, max(np.linalg.norm(other.vectors, axis=1).max() for other in arrows))
    for (x, y), label, pseudo in zip(at, model.labels, model.pseudo, strict=True):
        sign = "+" if label == meta["favourable"] else "\N{MINUS SIGN}"
        parts.append(
            f'<path transform="translate({x:.1f} {y:.1f}) scale({PROTOTYPE})" d="M0 0{SHAPES[shapes[pseudo]].path}" '
            f'fill="{colours[label].light}" stroke="{INK}" stroke-width="0.25"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="13" fill="#fff">{sign}</text>'
        )
    return "".join([*parts, "</svg>"])


def _arrows(starts: np.ndarray, arrows: Arrows, longest: float) -> list[str]:
    steps = arrows.vectors * (1, -1) * (LONGEST_ARROW / longest if longest else 0.0)
    parts = []
    for (x, y), (dx, dy) in zip(starts, steps, strict=True):
        length = np.hypot(dx, dy)
        if length < 2:
            continue
        u, v = dx / length, dy / length
        tip = f"M{x + dx:.1f} {y + dy:.1f}l{-9 * u - 4 * v:.1f} {-9 * v + 4 * u:.1f}l{8 * v:.1f} {-8 * u:.1f}z"
        dash = f' stroke-dasharray="{arrows.dash}"' if arrows.dash else ""
        parts.append(
            f'<path d="M{x:.1f} {y:.1f}l{dx:.1f} {dy:.1f}" stroke="{arrows.colour}" stroke-width="3"{dash}/>'
            f'<path d="{tip}" fill="{arrows.colour}"/>'
        )
    return parts
