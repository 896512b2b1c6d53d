"""What a class did, for a projector: bars that grow while answers come in, and everybody's best model in one plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import plotly.graph_objects as go

from fairglvq.fairness.limit import Limit
from fairglvq.figures.base import FONT, GRID, INK
from fairglvq.figures.tradeoff import Style, add_limit, styles
from fairglvq.grammar import Theme
from fairglvq.lesson.progress import Result
from fairglvq.lesson.steps import Challenge
from fairglvq.wording import count, gap, in_hundredths, percent

BY_HAND = Style(INK, "star-diamond")
"""How models are drawn that no method has trained."""


class Bar(NamedTuple):
    """A row of a bar chart: what it stands for, its number, and whether it is set apart."""

    words: str
    n: int
    marked: str = ""


def bars_html(rows: Sequence[Bar], label: str) -> str:
    """Bars as plain HTML, each a share of all: they change while on screen, and a new chart would flicker."""
    total = sum(bar.n for bar in rows)
    bars = "".join(_bar(bar, bar.n / total if total else 0.0) for bar in rows)
    return f'<div class="class-bars" role="list" aria-label="{escape(label)}">{bars}</div>'


def _bar(bar: Bar, share: float) -> str:
    note = f' <em class="mark">{escape(bar.marked)}</em>' if bar.marked else ""
    return (
        f'<div role="listitem" class="row"><span class="words">{escape(bar.words)}{note}</span>'
        f'<span class="track"><span class="bar" style="width:{100 * share:.1f}%"></span></span>'
        f'<b class="n">{bar.n}</b></div>'
    )


def plane_figure(
    results: Sequence[Result], challenge: Challenge, *, limit: Limit | None = None, theme: Theme = "light"
) -> go.Figure:
    """Accuracy against gap of everybody's best model for one challenge, with its target and the limit of the data.

    Equal results are one mark with their number beside it. Filled marks have reached the target, hollow ones have not.
    """
    style, ink = styles().get(challenge.method, BY_HAND), INK.mark(theme)
    figure, ranges = go.Figure(), _ranges(results, challenge)
    if limit is not None:
        ranges[1] = add_limit(figure, limit, ranges, ink)
    _add_target(figure, challenge, ranges, ink)
    for solved, name in ((True, "target reached"), (False, "not yet")):
        found = Counter((one.gap, one.accuracy) for one in results if one.solved is solved)
        colour = style.colour.mark(theme)
        figure.add_scatter(
            x=in_hundredths([place[0] for place in found]), y=in_hundredths([place[1] for place in found]), name=name,
            mode="markers+text", text=[f"{n}" if n > 1 else "" for n in found.values()], textposition="middle right",
            textfont={"color": ink, "size": 13},
            marker={"symbol": style.shape if solved else f"{style.shape}-open", "size": 15, "color": colour},
        )  # fmt: skip
    figure.update_layout(template="none", font={"color": ink, "size": 13, "family": FONT})
    axes = {"gridcolor": GRID.mark(theme), "tickformat": ".0f"}
    figure.update_xaxes(**axes, range=ranges[0], title_text="← fairer · statistical parity gap (points)")
    figure.update_yaxes(**axes, range=ranges[1], title_text="accuracy (%) → better")
    return figure


def plane_alt(results: Sequence[Result], challenge: Challenge) -> str:
    """The picture in one sentence."""
    if not results:
        return "Nobody has tried this challenge yet."
    solved = sum(one.solved for one in results)
    best = max(results, key=lambda one: (one.solved, one.accuracy - one.gap))
    return (
        f"{count(len(results), 'student has', 'students have')} tried this challenge and {solved} reached its target, "
        f"a gap of at most {gap(challenge.gap)} with an accuracy of at least {percent(challenge.accuracy)}. "
        f"The best model so far has {percent(best.accuracy)} at {gap(best.gap)}."
    )


def _ranges(results: Sequence[Result], challenge: Challenge) -> list[list[float]]:
    """Axes with all models and the target inside."""
    gaps = in_hundredths([challenge.gap, *(one.gap for one in results)])
    accuracies = in_hundredths([challenge.accuracy, *(one.accuracy for one in results)])
    return [[-1.0, float(gaps.max()) * 1.1 + 5], [float(accuracies.min()) - 5, min(float(accuracies.max()) + 5, 101)]]


def _add_target(figure: go.Figure, challenge: Challenge, ranges: list[list[float]], ink: str) -> None:
    """The corner in which a model has to be."""
    edge, floor = 100 * challenge.gap, 100 * challenge.accuracy
    figure.add_scatter(
        x=[ranges[0][0], edge, edge], y=[floor, floor, ranges[1][1]], mode="lines", name="target: above and left of it",
        line={"color": ink, "width": 3}, hoverinfo="skip",
    )  # fmt: skip
