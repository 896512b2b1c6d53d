"""What charts have in common: ink and grid, a transparent background, axes, a legend below the plot."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from fairglvq.grammar import ClassColour, Theme

FONT = '"Source Sans", "Source Sans Pro", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
"""The page's own font, and others like it for exported pictures."""

INK = ClassColour("#31333f", "#e6e8ee")
GRID = ClassColour("#dfe1e8", "#31353f")

LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
"""Below the plot, where a phone has room; it pushes the plot up by what it needs."""


def base_layout(figure: go.Figure, theme: Theme, height: int, *, size: int = 13, **layout: Any) -> None:
    """Font, ground and height, with whatever else a picture sets."""
    figure.update_layout(
        template="none",  # every colour is set here; another would cost 30 ms and 7 KB a picture
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK.mark(theme), "size": size, "family": FONT},
        height=height,
        **layout,
    )


def base_axes(figure: go.Figure, theme: Theme) -> None:
    """Grid and titles of both axes."""
    axes = {"gridcolor": GRID.mark(theme), "zerolinecolor": GRID.mark(theme), "automargin": True, "title_standoff": 8}
    figure.update_xaxes(**axes)
    figure.update_yaxes(**axes)
