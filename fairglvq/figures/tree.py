"""A tree as a diagram: a row per question and per leaf, so that words never cover each other, also on a phone.

Leaves of many dimensions are boxes that no plane can show; the questions can be read whatever the dimensions are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fairglvq import wording
from fairglvq.explain.leaves import Node
from fairglvq.figures.base import GRID, INK, base_layout
from fairglvq.figures.prototypes import Marks, plain
from fairglvq.grammar import Theme, class_colours, group_shapes

ROW = 25  # pixels
LONGEST = 38  # letters of a line


def tree_figure(nodes: Sequence[Node], marks: Marks, *, theme: Theme = "light") -> go.Figure:
    """Questions from the left to the right; a leaf is marked like a prototype, its size by its share of people.

    The first entry of a leaf's ``customdata`` is its number from 0.
    """
    figure, ink = go.Figure(), INK.mark(theme)
    edges = [(nodes[node.parent], node) for node in nodes if node.parent >= 0]
    figure.add_scatter(
        x=[x for parent, child in edges for x in (parent.depth, parent.depth, child.depth, None)],
        y=[y for parent, child in edges for y in (parent.row, child.row, child.row, None)],
        mode="lines", hoverinfo="skip", showlegend=False, line={"color": GRID.mark(theme), "width": 2},
    )  # fmt: skip
    asked = [node for node in nodes if node.leaf < 0]
    figure.add_scatter(
        x=[node.depth for node in asked], y=[node.row for node in asked], mode="markers+text", showlegend=False,
        text=[f" {plain(node.words, LONGEST)}?" for node in asked], textposition="middle right",
        marker={"size": 7, "color": ink}, hovertext=[f"{plain(node.words)}? {node.people:,} people" for node in asked],
        hoverinfo="text", textfont={"color": ink, "size": 12},
    )  # fmt: skip
    _add_leaves(figure, [node for node in nodes if node.leaf >= 0], marks, theme)
    depth = max(node.depth for node in nodes)
    margin = {"l": 8, "r": 8, "t": 8, "b": 8}
    base_layout(figure, theme, ROW * len(nodes) + 24, size=12, margin=margin, hovermode="closest", uirevision="tree")
    # Words stand on the right of their marks: beyond the deepest leaf there is room for a line of them.
    figure.update_xaxes(visible=False, range=[-0.2, max(2.2 * depth, depth + 4)], fixedrange=True)
    figure.update_yaxes(visible=False, range=[len(nodes) - 0.4, -0.6], fixedrange=True)
    return figure


def _add_leaves(figure: go.Figure, leaves: Sequence[Node], marks: Marks, theme: Theme) -> None:
    colours, shapes = class_colours(len(marks.classes)), group_shapes(len(marks.groups))
    for label, name in enumerate(map(plain, marks.classes)):
        own = [node for node in leaves if marks.labels[node.leaf] == label]
        if not own:
            continue
        colour = colours[label].mark(theme)
        figure.add_scatter(
            x=[node.depth for node in own], y=[node.row for node in own], mode="markers+text", name=name,
            showlegend=False, textposition="middle right", textfont={"color": INK.mark(theme), "size": 12},
            text=[
                f" <b>{node.leaf + 1}</b> {wording.cut(name, 24)}, {wording.percent(_share(marks, node), 0)}"
                for node in own
            ],
            marker={
                "color": colour, "opacity": 1, "size": [9 + 14 * np.sqrt(_share(marks, node)) for node in own],
                "symbol": [shapes[marks.pseudo[node.leaf]] for node in own],
            },
            customdata=[[node.leaf] for node in own], hoverinfo="text",
            hovertext=[
                f"leaf {node.leaf + 1}: {plain(node.words)}<br>decides {name}, {node.people:,} people" for node in own
            ],
        )  # fmt: skip


def _share(marks: Marks, node: Node) -> float:
    return float(marks.shares[node.leaf])


def tree_alt(nodes: Sequence[Node], marks: Marks) -> str:
    """The picture in one sentence."""
    counts = np.bincount(marks.labels, minlength=len(marks.classes)).tolist()
    leaves = wording.listed([f"{n} for {name}" for name, n in zip(marks.classes, counts, strict=True) if n])
    return (
        f"A tree with {wording.count(len(nodes) - len(marks.labels), 'question')} and {len(marks.labels)} leaves: "
        f"{leaves}. The first question is: {nodes[0].words}."
    )
