"""Models of growing strength in one plane, accuracy against the gap, small enough for a handout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from fairglvq.experiments.methods import METHODS
from fairglvq.fairness.limit import Limit
from fairglvq.figures.base import GRID, INK
from fairglvq.figures.svg import to_svg
from fairglvq.figures.tradeoff import add_limit, styles
from fairglvq.wording import in_hundredths

WIDTH, HEIGHT = 400, 300


def strengths_svg(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    limit: Limit | None,
    names: tuple[str, str, str],
    *,
    drawn: bool,
) -> str:
    """Gap and accuracy of each method's models, in the order of their strengths, and the limit line.

    ``names`` are those of both axes and of the line. Without ``drawn`` the plane is left empty, with the same axes.
    """
    gaps, accuracies = in_hundredths(np.array([place for own in curves.values() for place in own])).T
    ranges = [[0.0, float(gaps.max()) * 1.08], [float(accuracies.min()) - 3, min(101.0, float(accuracies.max()) + 3)]]
    figure = go.Figure()
    if limit is not None:
        ranges[1] = add_limit(figure, limit, ranges, INK.light)
        figure.data[0].name = names[2]
    for method, own in curves.items():
        style = styles()[method]
        figure.add_scatter(
            x=in_hundredths(np.array(own)[:, 0]), y=in_hundredths(np.array(own)[:, 1]), mode="lines+markers",
            name=METHODS[method].title, line={"color": style.colour.light, "dash": style.dash},
            marker={"symbol": style.shape, "size": 9, "color": style.colour.light},
        )  # fmt: skip
    if not drawn:
        figure.data = ()
    axes = {"gridcolor": GRID.light, "tickformat": ".0f"}
    figure.update_layout(template="none", font_color=INK.light)
    figure.update_xaxes(**axes, range=ranges[0], title_text=names[0])
    figure.update_yaxes(**axes, range=ranges[1], title_text=names[1])
    return to_svg(figure, width=WIDTH, height=HEIGHT)
