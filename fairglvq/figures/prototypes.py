"""Pictures of prototypes and single decisions: map, gap, profile, what a metric counts, shares of columns, pairs.

Class = colour, pseudo-class = shape, as everywhere; the average is a thin line in ink. Prototypes carry their number,
in ``customdata`` too, so that a click finds them. Names of columns and categories are a visitor's: they are escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from fairglvq import wording
from fairglvq.explain import Contributions
from fairglvq.explain.metric import Relevance
from fairglvq.explain.traits import Difference, Trait
from fairglvq.figures.base import GRID, INK, LEGEND, base_axes, base_layout
from fairglvq.figures.numbering import numbers
from fairglvq.grammar import BACKGROUNDS, ClassColour, Theme, class_colours, group_shapes

LONGEST = 26  # letters of a label: half a phone
PROFILE = 8  # columns of a profile


class Marks(NamedTuple):
    """Prototypes to draw: class, pseudo-class and share of all people, an entry each; and the names of both."""

    labels: NDArray[np.int64]
    pseudo: NDArray[np.int64]
    shares: NDArray[np.float64]
    classes: Sequence[str]
    groups: Sequence[str]

    def only(self, some: Sequence[int] | NDArray[np.int64]) -> Marks:
        """Some of the prototypes, in this order."""
        return self._replace(labels=self.labels[some], pseudo=self.pseudo[some], shares=self.shares[some])


def plain(text: object, longest: int | None = None) -> str:
    """A text for Plotly: tags escaped, no line breaks, cut to ``longest`` letters."""
    words = " ".join(str(text).split())
    return html.escape(wording.cut(words, longest) if longest else words, quote=False)


def name(p: int) -> str:
    """What a prototype is called: numbers start at 1."""
    return f"prototype {p + 1}"


# ---- map ----


def map_figure(
    places: ArrayLike,
    marks: Marks,
    *,
    axes: tuple[str, str],
    people: tuple[NDArray, NDArray, NDArray] | None = None,
    theme: Theme = "light",
    height: int = 420,
) -> go.Figure:
    """All prototypes at places (P, 2), larger the more people they decide for, the small ones on top.

    ``people`` are places (n, 2), classes and groups of some people, drawn small behind them. ``customdata[0]`` of a
    prototype is its index.
    """
    where = np.asarray(places, float)
    sizes = _sizes(marks)
    order = np.argsort(-sizes, kind="stable")
    figure = go.Figure()
    colours, shapes = class_colours(len(marks.classes)), group_shapes(len(marks.groups))
    if people is not None:
        points, y, s = people
        figure.add_scatter(
            x=points[:, 0], y=points[:, 1], mode="markers", hoverinfo="skip", showlegend=False, opacity=0.35,
            marker={"size": 4, "color": [colours[c].mark(theme) for c in y], "symbol": [shapes[g] for g in s]},
        )  # fmt: skip
    font = 12 if len(where) <= 20 else 9
    drawn = where if people is None else np.vstack([where, people[0]])
    customdata, names = _customdata(marks), [int(p) + 1 for p in order]
    labels = numbers(where[order], sizes[order], names, font=font, extent=float(np.ptp(drawn, axis=0).max()))
    figure.add_scatter(
        x=where[order, 0], y=where[order, 1], mode="markers+text", showlegend=False,
        text=labels.texts, textposition=labels.sides, textfont={"size": font}, cliponaxis=False,
        marker=_prototype_marker(marks.only(order), theme, sizes[order]),
        customdata=[customdata[p] for p in order],
        hovertemplate=(
            "<b>prototype %{customdata[1]}</b><br>decides %{customdata[2]}<br>mostly %{customdata[3]}"
            "<br>%{customdata[4]} of the people<extra></extra>"
        ),
    )  # fmt: skip
    _legend(figure, marks, theme)
    _lay_out_map(figure, axes, theme, height)
    return figure


def map_alt(marks: Marks) -> str:
    """The map in one sentence."""
    parts = []
    for c, word in enumerate(marks.classes):
        own = np.flatnonzero(marks.labels == c)
        if len(own):
            biggest = own[np.argmax(marks.shares[own])]
            share = wording.percent(marks.shares[biggest])
            parts.append(f"{len(own)} for “{word}”, the largest being {name(biggest)} with {share}")
    return f"Map of {len(marks.labels)} prototypes: {'; '.join(parts)} of the people."


# ---- waterfall ----


def waterfall_figure(
    parts: Contributions,
    marks: Marks,
    *,
    measure: str,
    most: int = 12,
    theme: Theme = "light",
) -> go.Figure:
    """A gap as a sum of what each prototype adds, largest first, in points of 100; the last bar is the gap.

    Cells that add nothing are left out. Beyond ``most`` bars the smallest are drawn as one. Bars that narrow the gap
    are hatched. ``customdata[0]`` is the prototype's index, -1 for the others together and for the sum.
    """
    steps = waterfall_steps(parts.values, most)
    ink, shapes = INK.mark(theme), group_shapes(len(marks.groups))
    colours = [colour.mark(theme) for colour in class_colours(len(marks.classes))]
    figure = go.Figure()
    x = [*(str(p + 1) if p >= 0 else "rest" for p, _ in steps), "gap"]
    size = np.array([100 * value for _, value in steps])
    ends = np.cumsum(size)
    start = np.append(0.0, ends)[:-1]
    gap = float(100 * parts.gap)
    fill = [colours[marks.labels[p]] if p >= 0 else GRID.mark(theme) for p, _ in steps]
    figure.add_bar(
        x=x, y=[*size, gap], base=[*start, 0.0], showlegend=False,
        text=[*(wording.signed_points(value) for _, value in steps), wording.points(parts.gap)],
        textposition="outside", cliponaxis=False, textfont={"color": ink, "size": 11}, textangle=0,
        constraintext="none",
        marker={"color": [*fill, ink], "line": {"width": 1, "color": [*fill, ink]},
                "pattern": {"shape": ["/" if value < 0 else "" for value in size] + [""], "fillmode": "overlay",
                            "fgcolor": INK.mark("dark" if theme == "light" else "light")}},
        customdata=[[p, _hover(p, value)] for p, value in steps] + [[-1, f"gap: {wording.points(parts.gap)} points"]],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )  # fmt: skip
    links: list[tuple[str | None, float | None]] = []
    for i, end in enumerate(ends.tolist()):  # from the end of a bar to the start of the next
        links += [(x[i], end), (x[i + 1], end), (None, None)]
    figure.add_scatter(
        x=[place for place, _ in links], y=[level for _, level in links], mode="lines", hoverinfo="skip",
        showlegend=False, line={"width": 1, "color": ink, "dash": "dot"},
    )  # fmt: skip
    named = [(i, p) for i, (p, _) in enumerate(steps) if p >= 0]
    if named:
        figure.add_scatter(
            x=[x[i] for i, _ in named], y=[start[i] + size[i] / 2 for i, _ in named], mode="markers", showlegend=False,
            marker={"symbol": [shapes[marks.pseudo[p]] for _, p in named], "size": 9, "opacity": 1,
                    "color": BACKGROUNDS[theme], "line": {"width": 1, "color": ink}},
            customdata=[[p, _hover(p, steps[i][1])] for i, p in named], hovertemplate="%{customdata[1]}<extra></extra>",
        )  # fmt: skip
    for g, word in enumerate(marks.groups):
        if any(marks.pseudo[p] == g for _, p in named):
            _legend_mark(figure, f"mostly {plain(word)}", shapes[g], BACKGROUNDS[theme], ink)
    _lay_out(figure, theme, 340)
    figure.update_layout(bargap=0.25, margin={"t": 28})
    figure.update_xaxes(
        title_text="number of the prototype", type="category", showgrid=False, tickangle=0, tickfont_size=11
    )
    figure.update_yaxes(title_text=f"{plain(measure)} gap in points", zeroline=True, zerolinecolor=ink)
    return figure


def waterfall_steps(values: NDArray[np.float64], most: int) -> list[tuple[int, float]]:
    """(prototype, part) from the largest part to the smallest; the last one may be (-1, all others together)."""
    order = [int(p) for p in np.argsort(-np.abs(values), kind="stable") if values[p] != 0 and not np.isnan(values[p])]
    shown, rest = _largest(order, most)
    steps = [(p, float(values[p])) for p in shown]
    return [*steps, (-1, float(values[rest].sum()))] if rest else steps


def waterfall_alt(parts: Contributions, groups: Sequence[str]) -> str:
    """The waterfall in one sentence."""
    steps = waterfall_steps(parts.values, len(parts.values))
    if not steps:
        return "No prototype adds to the gap."
    largest = ", ".join(f"{name(p)} {wording.signed_points(value)}" for p, value in steps[:3])
    ahead, behind = groups[parts.ahead], groups[parts.behind]
    return (
        f"The gap of {wording.points(parts.gap)} points between “{ahead}” and “{behind}” is the sum over {len(steps)} "
        f"prototypes; the largest parts are {largest} points."
    )


# ---- profile ----


def profile_figure(
    found: Sequence[Difference],
    *,
    colour: ClassColour,
    rival: Sequence[Trait] = (),
    rival_colour: ClassColour | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """What a prototype is like: a bar per column, a line where the average is, and a cross where its rival is.

    A number's bar goes from the smallest to the largest value in the data, a category's from 0 to 100%. ``found`` are
    the differences to the average, ``rival`` the traits of the rival. A star marks a number beyond everybody.
    """
    rows = found[:PROFILE]
    theirs = {trait.column: trait for trait in rival}
    y = list(range(len(rows)))
    figure = go.Figure()
    figure.add_bar(
        x=[_position(d.own, d.category) for d in rows], y=y, orientation="h", showlegend=False,
        marker={"color": colour.mark(theme)}, hoverinfo="skip", width=0.55,
    )  # fmt: skip
    figure.add_scatter(  # on the right, where no mark covers them
        x=[108] * len(rows), y=y, mode="text", text=[plain(_amount(d.own, d.category)) for d in rows],
        textposition="middle right", cliponaxis=False, hoverinfo="skip", showlegend=False,
        textfont={"color": INK.mark(theme)},
    )  # fmt: skip
    figure.add_scatter(
        x=[_position(d.other, d.category) for d in rows], y=y, mode="markers", name="average",
        marker={"symbol": "line-ns", "size": 20, "line": {"width": 2.5, "color": INK.mark(theme)}},
        text=[plain(_amount(d.other, d.category)) for d in rows], hovertemplate="average %{text}<extra></extra>",
    )  # fmt: skip
    if rival:
        crosses = [(_position(theirs[d.own.column], d.category), theirs[d.own.column]) for d in rows]
        figure.add_scatter(
            x=[place for place, _ in crosses], y=y, mode="markers", name="nearest rival",
            marker={"symbol": "x-thin", "size": 9,
                    "line": {"width": 2.5, "color": (rival_colour or INK).mark(theme)}},
            text=[plain(_amount(trait, d.category)) for (_, trait), d in zip(crosses, rows, strict=True)],
            hovertemplate="nearest rival %{text}<extra></extra>",
        )  # fmt: skip
    _lay_out(figure, theme, 90 + 42 * len(rows))
    figure.update_xaxes(range=[0, 140], tickvals=[0, 50, 100], ticktext=["lowest, 0%", "", "highest, 100%"])
    _rows(figure, [_row_label(d) for d in rows])
    return figure


def profile_alt(p: int, found: Sequence[Difference]) -> str:
    """The profile in one sentence."""
    differences = ", ".join(d.words("average") for d in found[:PROFILE])
    return f"Profile of {name(p)}, largest differences first: {differences}."


# ---- a learned metric ----


def relevance_figure(found: Sequence[Relevance], *, most: int = 10, theme: Theme = "light") -> go.Figure:
    """How much each column counts in a learned metric, largest first; beyond ``most`` bars the rest is one."""
    rows = relevance_rows(found, most)
    figure = go.Figure()
    figure.add_bar(
        x=[100 * share for _, share in rows], y=list(range(len(rows))), orientation="h", showlegend=False, width=0.6,
        marker={"color": INK.mark(theme)}, text=[wording.percent(share) for _, share in rows], textposition="outside",
        cliponaxis=False, textfont={"color": INK.mark(theme)}, customdata=[plain(name) for name, _ in rows],
        hovertemplate="%{customdata}: %{text}<extra></extra>",
    )  # fmt: skip
    _lay_out(figure, theme, 70 + 30 * len(rows))
    widest = max((100 * share for _, share in rows), default=1.0)
    figure.update_xaxes(
        title_text="share of the distance between people, %", range=[0, 1.25 * widest], rangemode="tozero"
    )
    _rows(figure, [plain(name, LONGEST) for name, _ in rows])
    return figure


def relevance_rows(found: Sequence[Relevance], most: int) -> list[tuple[str, float]]:
    """(name, share) of the largest; the last row may be all others together."""
    shown, rest = _largest(found, most)
    rows = [(one.column, one.share) for one in shown]
    return [*rows, (f"{len(rest)} other columns", sum(one.share for one in rest))] if rest else rows


def relevance_alt(found: Sequence[Relevance]) -> str:
    """The same in one sentence."""
    largest = [f"{one.column} {wording.percent(one.share)}" for one in found[:3]]
    return f"How much columns count in the learned metric: of {len(found)} columns, most {wording.listed(largest)}."


# ---- one person ----


def shares_figure(
    columns: Sequence[str],
    values: Sequence[str],
    parts: NDArray[np.float64],
    *,
    plus: int,
    minus: int,
    classes: Sequence[str],
    most: int = 10,
    theme: Theme = "light",
) -> go.Figure:
    """Each column's part of d+ - d-: to the left it supports class ``plus``, to the right class ``minus``.

    Beyond ``most`` bars the smallest are drawn as one, so that all bars add up to d+ - d-.
    """
    order = np.argsort(-np.abs(parts), kind="stable")
    shown, rest = _largest(order, most)
    rows = [(_two_lines(columns[i], values[i]), float(parts[i])) for i in shown]
    if len(rest):
        rows.append((f"{len(rest)} other columns", float(parts[rest].sum())))
    colours = class_colours(len(classes))
    figure = go.Figure()
    for c, sign in ((plus, -1), (minus, 1)):
        own = [(row, part) for row, (_, part) in enumerate(rows) if part * sign > 0]
        figure.add_bar(
            x=[part for _, part in own], y=[row for row, _ in own], orientation="h",
            name=f"speaks for {plain(classes[c])}", marker={"color": colours[c].mark(theme)}, width=0.6,
            text=[wording.number(part, 3) for _, part in own], textposition="outside", cliponaxis=False,
            textfont={"color": INK.mark(theme)}, customdata=[rows[row][0] for row, _ in own],
            hovertemplate="%{customdata}: %{x:.4f}<extra></extra>",
        )  # fmt: skip
    _lay_out(figure, theme, 110 + 40 * len(rows))
    widest = max((abs(part) for _, part in rows), default=1.0) or 1.0
    figure.update_xaxes(
        title_text="part of d+ − d−",  # noqa: RUF001
        range=[-1.6 * widest, 1.6 * widest],
        zeroline=True,
        zerolinecolor=INK.mark(theme),
    )
    _rows(figure, [label for label, _ in rows])
    return figure


def shares_alt(
    columns: Sequence[str], parts: NDArray[np.float64], *, plus: int, minus: int, classes: Sequence[str]
) -> str:
    """The shares in one sentence."""
    order = np.argsort(-np.abs(parts), kind="stable")[:3]
    largest = ", ".join(
        f"{columns[i]} {wording.number(parts[i], 3)} (for “{classes[plus if parts[i] < 0 else minus]}”)" for i in order
    )
    return f"The columns' parts add up to {wording.number(float(np.sum(parts)), 3)}; the largest are {largest}."


# ---- pairs ----


def pairs_figure(
    before: ArrayLike,
    after: ArrayLike,
    marks: Marks,
    pseudo_before: NDArray[np.int64],
    *,
    titles: tuple[str, str],
    axes: tuple[str, str],
    names: Sequence[tuple[int, int]],
    theme: Theme = "light",
) -> go.Figure:
    """Matched prototypes, row by row: hollow and small where they were, filled where they are, an arrow between.

    ``marks`` are those of ``after``, in the same order as both places (P, 2). ``names`` are the indices of a pair in
    both models; the second one is written beside the filled mark.
    """
    old, new = np.asarray(before, float), np.asarray(after, float)
    colours, shapes = class_colours(len(marks.classes)), group_shapes(len(marks.groups))
    ink = [colours[c].mark(theme) for c in marks.labels]
    figure = go.Figure()
    for (x0, y0), (x1, y1), colour in zip(old, new, ink, strict=True):
        figure.add_annotation(
            x=x1, y=y1, ax=x0, ay=y0, axref="x", ayref="y", showarrow=True, arrowhead=2, arrowwidth=1.5, standoff=7,
            arrowcolor=colour, text="",
        )  # fmt: skip
    figure.add_scatter(
        x=old[:, 0], y=old[:, 1], mode="markers", name=plain(titles[0]), hoverinfo="skip", showlegend=False,
        marker={"symbol": [f"{shapes[g]}-open" for g in pseudo_before], "size": 8, "color": ink,
                "line": {"width": 1.5}},
    )  # fmt: skip
    sizes = np.full(len(new), 12.0)
    extent = float(np.ptp(np.vstack([old, new]), axis=0).max())
    labels = numbers(new, sizes, [p + 1 for _, p in names], font=12, extent=extent, others=old)
    pairs = [f"{plain(titles[0])} {p + 1} → {plain(titles[1])} {q + 1}" for p, q in names]
    figure.add_scatter(
        x=new[:, 0], y=new[:, 1], mode="markers+text", name=plain(titles[1]), showlegend=False,
        text=labels.texts, textposition=labels.sides, textfont={"size": 12}, cliponaxis=False,
        marker=_prototype_marker(marks, theme, sizes),
        customdata=[[*own, pair] for own, pair in zip(_customdata(marks), pairs, strict=True)],
        hovertemplate=(
            "<b>%{customdata[5]}</b><br>decides %{customdata[2]}<br>mostly %{customdata[3]}<extra></extra>"
        ),
    )  # fmt: skip
    _legend(figure, marks, theme)
    grey = INK.mark(theme)
    _legend_mark(figure, f"{plain(titles[0])} (hollow)", f"{shapes[0]}-open", grey, grey, size=8)
    _legend_mark(figure, f"{plain(titles[1])} (filled)", shapes[0], grey, grey)
    _lay_out_map(figure, axes, theme, 420)
    return figure


def pairs_alt(distances: Sequence[float], flipped: int, titles: tuple[str, str]) -> str:
    """The pairs in one sentence."""
    return (
        f"{len(distances)} matched prototypes of {titles[0]} and {titles[1]}: the longest way is {max(distances):.2f}, "
        f"the median {float(np.median(distances)):.2f} (the range of one feature is 1); "
        f"{flipped} of them stand for another group than before."
    )


# ---- parts ----


def _largest(ordered: Any, most: int) -> tuple[Any, Any]:
    """What is shown one by one, and what is drawn as one so that there are no more than ``most``."""
    shown = len(ordered) if len(ordered) <= most else most - 1
    return ordered[:shown], ordered[shown:]


def _sizes(marks: Marks) -> NDArray[np.float64]:
    """Diameters in pixels: area by people, and none so small that it cannot be clicked."""
    return np.maximum(11.0, 44.0 * np.sqrt(np.nan_to_num(marks.shares)))


def _prototype_marker(marks: Marks, theme: Theme, sizes: NDArray[np.float64]) -> dict[str, Any]:
    colours, shapes = class_colours(len(marks.classes)), group_shapes(len(marks.groups))
    return {
        "size": sizes,
        "symbol": [shapes[g] for g in marks.pseudo],
        "color": [colours[c].mark(theme) for c in marks.labels],
        "line": {"width": 1.5, "color": INK.mark(theme)},
        "opacity": 0.92,
    }


def _customdata(marks: Marks) -> list[list]:
    """Per prototype: index, number, class, pseudo-class, share."""
    return [
        [p, p + 1, plain(marks.classes[c]), plain(marks.groups[g]), wording.percent(share)]
        for p, (c, g, share) in enumerate(zip(marks.labels, marks.pseudo, marks.shares, strict=True))
    ]


def _legend(figure: go.Figure, marks: Marks, theme: Theme) -> None:
    """What colours and shapes mean."""
    shapes, ink = group_shapes(len(marks.groups)), INK.mark(theme)
    for word, colour in zip(marks.classes, class_colours(len(marks.classes)), strict=True):
        _legend_mark(figure, plain(word, LONGEST), "square", colour.mark(theme), colour.mark(theme))
    for word, shape in zip(marks.groups, shapes, strict=True):
        _legend_mark(figure, f"mostly {plain(word, LONGEST)}", shape, BACKGROUNDS[theme], ink)


def _legend_mark(figure: go.Figure, words: str, shape: str, colour: str, line: str, size: int = 11) -> None:
    figure.add_scatter(
        x=[None], y=[None], mode="markers", name=words,
        marker={"symbol": shape, "size": size, "color": colour, "line": {"width": 1.5, "color": line}},
    )  # fmt: skip


def _lay_out(figure: go.Figure, theme: Theme, height: int) -> None:
    legend = LEGEND | {"font": {"size": 12}, "itemclick": False, "itemdoubleclick": False}  # a click hides nothing
    base_layout(
        figure, theme, height, margin={"l": 10, "r": 16, "t": 16, "b": 10}, hovermode="closest",
        clickmode="event+select", dragmode=False, legend=legend,
    )  # fmt: skip
    base_axes(figure, theme)
    figure.update_xaxes(zeroline=False, title_font_size=13)
    figure.update_yaxes(zeroline=False, title_font_size=13)


def _lay_out_map(figure: go.Figure, axes: tuple[str, str], theme: Theme, height: int) -> None:
    """Two directions with their names, equally long."""
    _lay_out(figure, theme, height)
    figure.update_xaxes(title_text=plain(axes[0]))
    figure.update_yaxes(title_text=plain(axes[1]), scaleanchor="x")


def _rows(figure: go.Figure, labels: list[str]) -> None:
    """Words beside rows 0, 1, 2... from the top; by number, so that rows of the same name stay apart."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        ticklabelstandoff=9,  # a mark at the very left must not cover the words
    )


def _hover(p: int, value: float) -> str:
    who = name(p) if p >= 0 else "all others together"
    return f"{who}: {wording.signed_points(value)} points"


def _two_lines(column: str, value: str) -> str:
    return f"{plain(column, LONGEST)}<br>{plain(value, LONGEST)}"


def _row_label(d: Difference) -> str:
    if d.category < 0:
        return plain(d.own.column, LONGEST)
    return _two_lines(d.own.column, d.own.categories[d.category])


def _position(trait: Trait, category: int) -> float:
    """Where a trait stands between 0 and 100; what lies beyond the data stands at the end."""
    return 100 * (float(np.clip(trait.place, 0.0, 1.0)) if category < 0 else trait.shares[category])


def _amount(trait: Trait, category: int) -> str:
    if category < 0:
        return trait.words() + (" *" if trait.outside else "")
    return wording.percent(trait.shares[category], 0)
