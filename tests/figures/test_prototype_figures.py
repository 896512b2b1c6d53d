"""The pictures of prototypes: what is drawn is what was computed, by the grammar, and no name becomes markup."""

import json

import numpy as np
import pytest

from fairglvq.datasets import Block
from fairglvq.explain import Contributions
from fairglvq.explain.metric import Relevance
from fairglvq.explain.people import Population
from fairglvq.explain.traits import differences, traits
from fairglvq.figures import numbering
from fairglvq.figures import prototypes as figures
from fairglvq.grammar import CLASS_COLOURS, GROUP_SHAPES

THEMES = ("light", "dark")
NASTY = "<script>alert(1)</script> & <b>x</b>"
PLACES = np.array([[0.0, 0.0], [1.0, 0.5], [0.2, 0.8], [0.4, 0.1]])
MARKS = figures.Marks(
    labels=np.array([0, 0, 1, 1]),
    pseudo=np.array([0, 1, 1, 0]),
    shares=np.array([0.5, 0.1, 0.25, 0.15]),
    classes=("no", "yes"),
    groups=("women", "men"),
)
NAMES = [(0, 0), (1, 1), (2, 2), (3, 3)]
PARTS = Contributions("statistical_parity", 1, 0, np.array([0.0, 0.0, 0.25, -0.05]), 0.2)


def people():
    """Columns: a number, and a category of three."""
    X = np.array([[20.0, 1, 0, 0], [60.0, 0, 1, 0], [40.0, 0, 0, 1]])
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    return Population(
        X=(X - low) / span, y=np.array([0, 1, 1]), s=np.array([0, 1, 0]), measured=np.ones(3, bool), low=low, span=span,
        blocks=(Block("age", 0, 1, "number"), Block("town", 1, 4, "category", ("Aa", "Bb", NASTY))),
        classes=("no", "yes"), groups=("women", "men"), favourable=1,
    )  # fmt: skip


def trace(figure, **wanted):
    """The one trace with these properties."""
    (found,) = [t for t in figure.data if all(getattr(t, key, None) == value for key, value in wanted.items())]
    return found


def texts(figure):
    """Everything Plotly would show as text."""
    return json.dumps(json.loads(figure.to_json()), ensure_ascii=False)


@pytest.mark.parametrize("theme", THEMES)
def test_the_map_follows_the_grammar(theme):
    crowd = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([0, 1]), np.array([1, 0])
    figure = figures.map_figure(PLACES, MARKS, axes=("x", "y"), people=crowd, theme=theme)
    marks = trace(figure, mode="markers+text")
    order = [0, 2, 3, 1]  # the small ones are drawn last, on top
    assert [entry[0] for entry in marks.customdata] == order
    assert np.column_stack([marks.x, marks.y]).tolist() == PLACES[order].tolist()
    assert list(marks.marker.color) == [CLASS_COLOURS[c].mark(theme) for c in MARKS.labels[order]]
    assert list(marks.marker.symbol) == [GROUP_SHAPES[g] for g in MARKS.pseudo[order]]
    assert list(marks.text) == ["1", "3", "4", "2"]
    assert sorted(marks.marker.size, reverse=True) == list(marks.marker.size)
    assert "Source Sans" in figure.layout.font.family
    points = figure.data[0]
    assert list(points.marker.color) == [CLASS_COLOURS[0].mark(theme), CLASS_COLOURS[1].mark(theme)]
    assert list(points.marker.symbol) == [GROUP_SHAPES[1], GROUP_SHAPES[0]]
    assert points.customdata is None
    assert figure.layout.yaxis.scaleanchor == "x"
    assert {"no", "yes", "mostly women", "mostly men"} == {t.name for t in figure.data if t.name}


def test_marks_at_one_place_are_named_together():
    """Prototype 2 is inside the large mark of prototype 1, prototype 4 at the place of prototype 3."""
    places = np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 1.0], [1.0, 1.0]])
    marks = trace(figures.map_figure(places, MARKS, axes=("x", "y")), mode="markers+text")
    said = {entry[0]: text for entry, text in zip(marks.customdata, marks.text, strict=True)}
    assert said == {0: "1, 2", 1: "", 2: "3, 4", 3: ""}
    turned = MARKS._replace(shares=MARKS.shares[::-1])  # now 2 and 4 are the larger ones
    marks = trace(figures.map_figure(places, turned, axes=("x", "y")), mode="markers+text")
    assert set(marks.text) == {"1, 2", "3, 4", ""}


def test_numbers_of_neighbours_go_to_free_sides():
    """A row of marks that touch, one above the first: its number cannot stand on top, the others' can."""
    places, sizes = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) * 14, np.full(3, 12.0)
    said = numbering.numbers(places, sizes, [1, 2, 3], font=12, extent=float(numbering.PLOT))
    assert said.texts == ["1", "2", "3"]
    assert said.sides == ["bottom center", "top center", "top center"]
    hidden = np.array([[14.0, 11.0]])  # where the number of mark 2 would be
    said = numbering.numbers(places, sizes, [1, 2, 3], font=12, extent=float(numbering.PLOT), others=hidden)
    assert said.sides[1] != "top center"


def test_the_maps_sentence():
    words = figures.map_alt(MARKS)
    assert "4 prototypes" in words
    assert "2 for “no”, the largest being prototype 1 with 50.0%" in words
    assert "prototype 3 with 25.0%" in words


@pytest.mark.parametrize("theme", THEMES)
def test_the_waterfall_adds_up(theme):
    figure = figures.waterfall_figure(PARTS, MARKS, measure="parity", theme=theme)
    bars = trace(figure, type="bar")
    assert list(bars.x) == ["3", "4", "gap"]
    assert list(bars.y) == pytest.approx([25.0, -5.0, 20.0])
    assert list(bars.base) == pytest.approx([0.0, 25.0, 0.0])
    assert bars.base[-2] + bars.y[-2] == pytest.approx(bars.y[-1])
    assert list(bars.text) == ["+25.0", "\N{MINUS SIGN}5.0", "20.0"]
    assert list(bars.marker.pattern.shape) == ["", "/", ""]
    assert bars.marker.color[:2] == (CLASS_COLOURS[1].mark(theme),) * 2
    assert [entry[0] for entry in bars.customdata] == [2, 3, -1]
    ends = next(t for t in figure.data if t.type == "scatter" and t.customdata is not None)
    assert list(ends.marker.symbol) == [GROUP_SHAPES[1], GROUP_SHAPES[0]]
    assert [entry[0] for entry in ends.customdata] == [2, 3]


def test_many_small_parts_become_one_bar_and_still_add_up():
    values = np.linspace(-0.02, 0.09, 20)
    steps = figures.waterfall_steps(values, 8)
    assert len(steps) == 8
    assert steps[-1][0] == -1
    assert sum(value for _, value in steps) == pytest.approx(values.sum())
    sizes = [abs(value) for _, value in steps[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert figures.waterfall_steps(np.full(4, np.nan), 8) == []
    many = figures.Marks(np.ones(20, int), np.zeros(20, int), np.full(20, 0.05), MARKS.classes, MARKS.groups)
    parts = Contributions("statistical_parity", 0, 1, values, float(values.sum()))
    bars = trace(figures.waterfall_figure(parts, many, measure="parity", most=8), type="bar")
    assert bars.x[-2:] == ("rest", "gap")
    assert sum(bars.y[:-1]) == pytest.approx(bars.y[-1])


def test_the_waterfalls_sentence():
    words = figures.waterfall_alt(PARTS, MARKS.groups)
    assert "20.0 points between “men” and “women”" in words
    assert "prototype 3 +25.0, prototype 4 \N{MINUS SIGN}5.0" in words
    nothing = PARTS._replace(values=np.zeros(4), gap=0.0)
    assert figures.waterfall_alt(nothing, MARKS.groups) == "No prototype adds to the gap."


@pytest.mark.parametrize("theme", THEMES)
def test_the_profile_shows_own_value_average_and_rival(theme):
    crowd = people()
    z, rival = crowd.scaled(np.array([50.0, 0.2, 0.8, 0.0])), crowd.scaled(np.array([30.0, 0.5, 0.5, 0.0]))
    found = differences(crowd, z, crowd.mean)
    figure = figures.profile_figure(
        found, colour=CLASS_COLOURS[1], rival=traits(crowd, rival), rival_colour=CLASS_COLOURS[0], theme=theme
    )
    rows = {words.split("<br>")[0]: row for row, words in enumerate(figure.layout.yaxis.ticktext)}
    bars, average, cross = trace(figure, type="bar"), trace(figure, name="average"), trace(figure, name="nearest rival")
    age, town = rows["age"], rows["town"]
    assert (bars.x[age], average.x[age], cross.x[age]) == pytest.approx((75.0, 50.0, 25.0))
    assert trace(figure, mode="text").text[age] == "50.0"
    assert trace(figure, mode="text").text[town] == "80%"
    assert figure.layout.yaxis.ticktext[town] == "town<br>Bb"
    assert (bars.x[town], average.x[town], cross.x[town]) == pytest.approx((80.0, 100 / 3, 50.0))
    assert bars.marker.color == CLASS_COLOURS[1].mark(theme)
    assert cross.marker.line.color == CLASS_COLOURS[0].mark(theme)
    words = figures.profile_alt(0, found)
    assert "prototype 1" in words
    assert "town: Bb 80% (average 33%)" in words


def test_a_profile_beyond_the_data_says_so():
    crowd = people()
    z = crowd.scaled(np.array([75.0, 0.2, 0.8, 0.0]))
    figure = figures.profile_figure(differences(crowd, z, crowd.mean), colour=CLASS_COLOURS[0])
    assert max(trace(figure, type="bar").x) == 100
    assert "75.0 *" in trace(figure, mode="text").text


@pytest.mark.parametrize("theme", THEMES)
def test_shares_point_to_the_class_they_speak_for(theme):
    parts = np.array([-0.3, 0.1, 0.02])
    figure = figures.shares_figure(
        ["age", "town", "job"], ["50", "Bb", "none"], parts, plus=1, minus=0, classes=("no", "yes"), theme=theme
    )
    towards_yes, towards_no = trace(figure, name="speaks for yes"), trace(figure, name="speaks for no")
    assert list(towards_yes.x) == [-0.3]
    assert list(towards_no.x) == [0.1, 0.02]
    assert towards_yes.marker.color == CLASS_COLOURS[1].mark(theme)
    assert towards_no.marker.color == CLASS_COLOURS[0].mark(theme)
    assert list(figure.layout.yaxis.ticktext) == ["age<br>50", "town<br>Bb", "job<br>none"]
    words = figures.shares_alt(["age", "town", "job"], parts, plus=1, minus=0, classes=("no", "yes"))
    assert words.startswith("The columns' parts add up to \N{MINUS SIGN}0.180")
    assert "age \N{MINUS SIGN}0.300 (for “yes”)" in words


def test_all_shares_are_drawn_even_if_there_are_many():
    parts = np.random.default_rng(0).normal(size=30)
    figure = figures.shares_figure(
        ["same name"] * 30, ["v"] * 30, parts, plus=0, minus=1, classes=("no", "yes"), most=10
    )
    drawn = [x for bar in figure.data for x in bar.x]
    assert len(drawn) == 10
    assert sum(drawn) == pytest.approx(parts.sum())
    assert figure.layout.yaxis.ticktext[-1] == "21 other columns"
    assert sorted(y for bar in figure.data for y in bar.y) == list(range(10))


@pytest.mark.parametrize("theme", THEMES)
def test_pairs_are_joined_by_arrows(theme):
    figure = figures.pairs_figure(
        PLACES, PLACES[::-1], MARKS, np.array([1, 1, 1, 1]), titles=("GLVQ", "FairGLVQ"), axes=("x", "y"), theme=theme,
        names=[(0, 3), (1, 2), (2, 1), (3, 0)],
    )  # fmt: skip
    arrows = [((a.ax, a.ay), (a.x, a.y)) for a in figure.layout.annotations]
    assert arrows == [(tuple(b), tuple(a)) for b, a in zip(PLACES.tolist(), PLACES[::-1].tolist(), strict=True)]
    old, new = trace(figure, name="GLVQ"), trace(figure, name="FairGLVQ")
    assert list(new.text) == ["4", "3", "2", "1"]
    assert [entry[5] for entry in new.customdata][:2] == ["GLVQ 1 → FairGLVQ 4", "GLVQ 2 → FairGLVQ 3"]
    assert set(old.marker.symbol) == {f"{GROUP_SHAPES[1]}-open"}
    assert list(new.marker.symbol) == [GROUP_SHAPES[g] for g in MARKS.pseudo]
    assert list(new.marker.color) == list(old.marker.color) == [CLASS_COLOURS[c].mark(theme) for c in MARKS.labels]
    words = figures.pairs_alt([0.5, 0.1, 0.3], 2, ("GLVQ", "FairGLVQ"))
    assert "longest way is 0.50, the median 0.30" in words
    assert "2 of them stand for another group" in words


def test_names_never_become_markup():
    nasty = MARKS._replace(classes=(NASTY, "yes"), groups=("women", NASTY))
    crowd = people()
    found = differences(crowd, crowd.scaled(np.array([50.0, 0.0, 0.1, 0.9])), crowd.mean)
    drawn = [
        figures.map_figure(PLACES, nasty, axes=(NASTY, "y")),
        figures.waterfall_figure(PARTS, nasty, measure=NASTY),
        figures.profile_figure(found, colour=CLASS_COLOURS[0]),
        figures.shares_figure([NASTY], [NASTY], np.array([0.1]), plus=0, minus=1, classes=(NASTY, NASTY)),
        figures.pairs_figure(PLACES, PLACES, nasty, MARKS.pseudo, titles=(NASTY, "b"), axes=("x", NASTY), names=NAMES),
    ]
    for figure in drawn:
        assert "<script" not in texts(figure)
        assert "&lt;script" in texts(figure)


def test_long_names_are_shortened_before_they_are_escaped():
    assert figures.plain("a" * 30, 10) == "a" * 9 + "…"
    assert figures.plain("<" * 30, 3) == "&lt;&lt;…"
    assert figures.plain("one\ntwo") == "one two"


@pytest.mark.parametrize("theme", THEMES)
def test_relevances_are_bars_that_add_up(theme):
    found = [Relevance(NASTY, 0.5), Relevance("b", 0.3), Relevance("c", 0.15), Relevance("d", 0.05)]
    figure = figures.relevance_figure(found, most=3, theme=theme)
    (bars,) = figure.data
    assert list(bars.x) == pytest.approx([50.0, 30.0, 20.0])
    assert list(bars.text) == ["50.0%", "30.0%", "20.0%"]
    assert figure.layout.yaxis.ticktext[2] == "2 other columns"
    assert "<script>" not in texts(figure)
    assert figures.relevance_rows(found, 4) == [tuple(one) for one in found]
    assert "of 4 columns, most" in figures.relevance_alt(found)
    assert "b 30.0% and c 15.0%" in figures.relevance_alt(found)
