"""Pictures of predicted numbers: exactness against dependence on a protected value, and one value against the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairglvq import wording
from fairglvq.experiments.regression import CUT, MEAN, TITLES, TREE
from fairglvq.figures.base import LEGEND, base_axes, base_layout
from fairglvq.figures.tradeoff import Style, faded, styles
from fairglvq.grammar import Theme
from fairglvq.tradeoff.numbers import MEASURES

BINS = 10
DRAWN = 800  # points; means are of all

Floats = NDArray[np.float64]


def _styles() -> dict[str, Style]:
    """The tree and FairGLVQ as in other curves; what has no strength is grey."""
    known = styles()
    return {TREE: known["fairtree"], CUT: known["fairglvq"], MEAN: known["const"]}


def regression_figure(table: pd.DataFrame, measure: str, *, theme: Theme = "light") -> go.Figure:
    """Draw `regression.spread` of one task: R² in percent against a measure, a curve through the strengths.

    Bars are one standard deviation over folds, in both directions.
    """
    figure = go.Figure()
    for method, own in table.groupby("method", sort=False):
        style, colour = _styles()[str(method)], _styles()[str(method)].colour.mark(theme)
        own = own.sort_values("strength")
        strengths = ["" if np.isnan(C) else f"C = {C:g}" for C in own["strength"]]
        ends = [text if i in (0, len(strengths) - 1) else "" for i, text in enumerate(strengths)]
        bars = {"type": "data", "thickness": 1, "width": 0, "color": faded(colour, 0.55)}
        figure.add_scatter(
            x=own[f"{measure}_mean"], y=wording.in_hundredths(own["r2_mean"]), name=TITLES[str(method)],
            mode="markers" if method == MEAN else "lines+markers+text", text=ends, textposition="bottom right",
            textfont={"color": colour, "size": 11},
            line={"color": colour, "width": 2, "dash": style.dash},
            marker={"symbol": style.shape, "size": 12, "color": colour},
            error_x=bars | {"array": own[f"{measure}_std"]},
            error_y=bars | {"array": wording.in_hundredths(own["r2_std"])},
            customdata=[[text, n] for text, n in zip(strengths, own["n"], strict=True)],
            hovertemplate=f"<b>{TITLES[str(method)]}</b> %{{customdata[0]}}<br>R² %{{y:.1f}}%<br>"
            f"{MEASURES[measure].title} %{{x:.2f}}<br>n = %{{customdata[1]}} test folds<extra></extra>",
        )  # fmt: skip
    _lay_out(figure, theme, 440)
    figure.update_layout(legend=LEGEND)
    widest = float((table[f"{measure}_mean"] + table[f"{measure}_std"]).max())
    across = [-0.04 * widest, 1.12 * widest]  # with room on the right for the words of the last point
    figure.update_xaxes(title_text=f"{MEASURES[measure].title} ← fairer", range=across)
    figure.update_yaxes(title_text="R² (%) ↑ more exact")
    return figure


def regression_alt(table: pd.DataFrame, measure: str) -> str:
    """The picture in one sentence."""
    parts = []
    for method, own in table.groupby("method", sort=False):
        own = own.sort_values("strength")
        ends = [own.iloc[0]] if len(own) == 1 else [own.iloc[0], own.iloc[-1]]
        values = [
            f"{wording.percent(end['r2_mean'])} at {wording.number(end[f'{measure}_mean'], 2)}"
            + ("" if np.isnan(end["strength"]) else f" (C = {end['strength']:g})")
            for end in ends
        ]
        parts.append(f"{TITLES[str(method)]} {' to '.join(values)}")
    return f"R² against {MEASURES[measure].title}, means over folds: {'; '.join(parts)}."


def bin_means(protected: Floats, predicted: Floats, bins: int = BINS) -> tuple[Floats, Floats]:
    """Mean protected value and mean prediction in bins of about equal size; fewer where many share a value."""
    cuts = np.unique(np.quantile(protected, np.arange(1, bins) / bins, method="lower"))
    where = np.unique(np.searchsorted(cuts, protected), return_inverse=True)[1]
    n = np.bincount(where)
    return np.bincount(where, weights=protected) / n, np.bincount(where, weights=predicted) / n


def against_protected_figure(
    protected: NDArray, predicted: Floats, *, names: Sequence[str] | None = None, titles: tuple[str, str],
    y_range: tuple[float, float], theme: Theme = "light",
) -> go.Figure:  # fmt: skip
    """Predictions against the protected value, a mark per row, and the mean of them in bins or in each group.

    ``names`` are those of groups, which ``protected`` then holds the positions of. ``titles`` are those of the axes.
    """
    colour, grey = (_styles()[method].colour.mark(theme) for method in (TREE, MEAN))
    figure = go.Figure()
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(len(predicted))[:DRAWN])
    x = np.asarray(protected, float)
    if names is None:
        across, means = bin_means(x, predicted)
        aside = np.zeros(len(x))
    else:
        across = np.arange(len(names), dtype=float)
        means = np.bincount(protected, weights=predicted) / np.bincount(protected)
        aside = rng.uniform(-0.28, 0.28, len(x))  # side by side, or all would stand on one line
    figure.add_scatter(
        x=(x + aside)[some], y=predicted[some], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"size": 5, "color": faded(grey, 0.45)},
    )  # fmt: skip
    mode, shape, size = ("lines+markers", "circle", 11) if names is None else ("markers", "diamond", 16)
    figure.add_scatter(
        x=across, y=means, mode=mode, showlegend=False, line={"color": colour, "width": 3},
        marker={"size": size, "color": colour, "symbol": shape},
        hovertemplate="mean prediction %{y:.3g}<extra></extra>",
    )  # fmt: skip
    _lay_out(figure, theme, 340)
    figure.update_xaxes(title_text=titles[0])
    if names is not None:
        figure.update_xaxes(tickvals=across, ticktext=list(names), range=[-0.5, len(names) - 0.5])
    figure.update_yaxes(title_text=titles[1], range=list(y_range))
    return figure


def against_protected_alt(protected: NDArray, predicted: Floats, names: Sequence[str] | None, what: str) -> str:
    """The picture in one sentence."""
    if names is not None:
        means = np.bincount(protected, weights=predicted) / np.bincount(protected)
        listed = ", ".join(f"{name} {wording.number(mean, 2)}" for name, mean in zip(names, means, strict=True))
        return f"{what}: mean prediction per group: {listed}."
    means = bin_means(np.asarray(protected, float), predicted)[1]
    low, high = (wording.number(float(mean), 2) for mean in (means[0], means[-1]))
    return (
        f"{what}: the mean prediction goes from {low} in the lowest tenth of the protected value to {high} in the "
        "highest."
    )


def _lay_out(figure: go.Figure, theme: Theme, height: int) -> None:
    margin = {"l": 10, "r": 16, "t": 16, "b": 10}
    base_layout(figure, theme, height, margin=margin, hovermode="closest", uirevision="numbers")
    base_axes(figure, theme)
