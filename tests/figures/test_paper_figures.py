"""Pictures of the paper's page: what is drawn, and where."""

import numpy as np
import pytest

from fairglvq.experiments import anatomy, bundle, paper
from fairglvq.experiments.anatomy import ChosenStep
from fairglvq.figures import paper as figures
from fairglvq.figures.paper import Dots, Projections
from fairglvq.grammar import class_colours, group_shapes
from fairglvq.tradeoff import curve

ROWS = [
    Dots("a", (0.7, 0.9), "fairglvq", (0.75, 0.02)),
    Dots("b", (0.5, 0.5, 0.6), "inp", None, (0.4,)),
]


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_dots_have_a_row_each_with_mean_print_and_what_was_computed_here():
    drawn = traces(figures.dots_figure(ROWS, "accuracy"))
    folds = drawn["one test fold"]
    assert list(folds.x) == [70, 90, 50, 50, 60]
    assert [round(y) for y in folds.y] == [0, 0, 1, 1, 1]
    assert len(set(folds.y)) == 5
    assert list(drawn["mean of these folds"].x) == pytest.approx([80, 160 / 3])
    printed = drawn["published, ± spread"]
    assert (list(printed.x), list(printed.error_x.array)) == ([75], [2])
    assert list(drawn["run here"].x) == [40]
    assert drawn["run here"].y[0] > 1.2
    alone = traces(figures.dots_figure([Dots("a", (0.7,))], "accuracy"))
    assert set(alone) == {"one test fold", "mean of these folds"}


def test_dots_in_words():
    assert figures.dots_alt(ROWS, "accuracy") == (
        "Accuracy, means over test folds: a 80.0% (published 75.0%); b 53.3%."
    )


@pytest.mark.parametrize("measure", ["statistical_parity", "equal_opportunity"])
def test_figure_2_has_every_published_point_with_its_bars_and_all_folds(measure):
    rows = bundle.rows(paper.paper_sweep("adult"))
    printed = paper.published().query("source == 'Figure 2'")
    here = rows[rows.method == "inp"].head(5)
    figure = figures.figure2(curve.summary(rows), rows, printed, measure, here=here)
    hollow = [trace for trace in figure.data if trace.legendgroup == "published"]
    adult = printed[printed.dataset == "adult"]
    points = sorted((x, y) for trace in hollow for x, y in zip(trace.x, trace.y, strict=True))
    expected = sorted(zip(100 * adult[f"{measure}_mean"], 100 * adult.accuracy_mean, strict=True))
    assert np.array(points) == pytest.approx(np.array(expected))
    bars = sorted(value for trace in hollow for value in trace.error_x.array)
    assert bars == pytest.approx(sorted(100 * adult[f"{measure}_std"]))
    drawn = traces(figure)
    assert len(drawn["one test fold"].x) == len(rows)
    assert len(drawn["run here"].x) == 5
    low, high = figure.layout.yaxis.range
    assert low < min(drawn["one test fold"].y)
    assert high > max(drawn["one test fold"].y)


def test_projections_with_the_rank_as_a_band():
    figure = figures.projections_figure(Projections([0, 90, 95], [0.8, 0.7, 0.6], [0.8, 0.7, 0.5]), [91, 92], 0.5, 0.79)
    drawn = traces(figure)
    assert list(drawn["INP, published"].y) == [80, 70, 60]
    assert list(drawn["INP, this library"].y) == [80, 70, 50]
    assert list(drawn["one answer for all"].y) == [50, 50]
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (90.7, 92.3)


def test_angles_and_months():
    figure = figures.angles_figure({"Local": [90, 91], "XOR": [3, 170]}, {"Local": [0.1, 0.2], "XOR": [0.3, 0.4]})
    assert [(trace.name, list(trace.y)) for trace in figure.data] == [("Local", [10, 20]), ("XOR", [30, 40])]
    months = figures.months_figure([("2014-03", 200, 50), ("2014-04", 80, 80)], "2014-04")
    assert list(months.data[0].y) == [25, 100]
    assert months.data[0].marker.color[1] == class_colours(2)[1].light
    assert months.data[0].marker.color[0] != months.data[0].marker.color[1]


def test_a_step_shows_its_point_its_rivals_and_arrows_along_the_pulls():
    opened = anatomy.open_step(ChosenStep(batch=2))
    term, _ = anatomy.terms_of(opened, 199)
    scale = figures.arrow_scale(opened, term)
    figure = figures.step_figure(opened, 199, term, "class", scale, names=("w+", "w-"))
    drawn = traces(figure)
    assert (drawn["the chosen point"].x[0], drawn["the chosen point"].y[0]) == tuple(opened.X[199])
    assert list(drawn["w+"].x) == [opened.X[199, 0], opened.W[term.plus, 0]]
    prototypes = next(trace for trace in figure.data if trace.text is not None)
    assert list(prototypes.marker.symbol) == [group_shapes(2)[g] for g in opened.pseudo]
    assert list(prototypes.marker.color) == [class_colours(2)[c].light for c in opened.labels]
    arrows = figure.layout.annotations
    assert len(arrows) == 2
    for arrow, pull in zip(arrows, term.pulls, strict=True):
        tail = opened.W[pull.prototype]
        assert (arrow.ax, arrow.ay) == tuple(tail)
        assert np.array([arrow.x, arrow.y]) - tail == pytest.approx(scale * pull.moves)
    words = figures.step_alt(199, term, "class")
    assert words.startswith("Point 200 of the mini-batch, μ = 0.444: prototype 8 moves towards the point and")


@pytest.mark.parametrize("i", [0, 100, 199])
@pytest.mark.parametrize("kind", ["class", "fair"])
def test_a_step_in_words_says_which_way_prototypes_go(i, kind):
    """Also where swish falls, and everything goes the other way."""
    opened = anatomy.open_step(ChosenStep(batch=2))
    term = anatomy.terms_of(opened, i)[kind == "fair"]
    comes = (opened.X[i] - opened.W[term.plus]) @ term.pulls[0].moves > 0
    assert ("towards" if comes else "away from") in figures.step_alt(i, term, kind).split(" and ")[0]


def test_a_step_without_a_fair_term():
    opened = anatomy.open_step(ChosenStep(C=0.0))
    assert figures.arrow_scale(opened, None) == 1.0
    figure = figures.step_figure(opened, 0, None, "fair", 1.0, names=("a", "b"))
    assert not figure.layout.annotations
    assert figures.step_alt(0, None, "fair") == "Without a fairness term nothing is pushed."
