"""Pictures of predicted numbers: every mark is a number of the table, every mean one of the people drawn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from fairglvq.experiments.regression import CUT, MEAN, TREE, bundled, spread
from fairglvq.figures import regression as figures
from fairglvq.tradeoff import numbers


@pytest.fixture(scope="module", params=["communities", "student", "student_age"])
def case(request):
    rows = bundled()
    protected = {"communities": "racepctblack", "student": "sex", "student_age": "age"}[request.param]
    return request.param, rows[rows["protected"] == protected]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_curve_through_the_strengths_with_the_spread_of_the_folds(case, theme):
    task, rows = case
    for measure in numbers.measures_of(task):
        drawn = {trace.name: trace for trace in figures.regression_figure(spread(rows), measure, theme=theme).data}
        assert list(drawn) == ["FairTreeRegressor", "FairGLVQ on a cut", "the mean of all"]
        for method, name in ((TREE, "FairTreeRegressor"), (CUT, "FairGLVQ on a cut")):
            own = rows[rows["method"] == method].groupby("strength")
            assert_allclose(drawn[name].x, own[measure].mean())
            assert_allclose(drawn[name].y, 100 * own["r2"].mean())
            assert_allclose(drawn[name].error_y.array, 100 * own["r2"].std(ddof=0))
            assert_allclose(drawn[name].error_x.array, own[measure].std(ddof=0))
            assert drawn[name].text[0] == "C = 0"
        assert drawn["the mean of all"].mode == "markers"


def test_words_are_the_numbers(case):
    task, rows = case
    table = spread(rows)
    trees = rows[rows["method"] == TREE].groupby("strength")
    for measure in numbers.measures_of(task):
        told = numbers.sentence(rows, task, measure, 1.0)
        for C in (0.0, 1.0):
            assert f"{100 * trees['r2'].mean()[C]:.1f}%" in told
            assert f"is {trees[measure].mean()[C]:.2f}" in told
        assert f"{100 * trees['r2'].mean()[0.0]:.1f}% at" in figures.regression_alt(table, measure)
    chance = " On these folds the difference in R² and"
    assert (chance in told) == (task != "communities")
    cut = rows[(rows["method"] == CUT) & (rows["strength"] == 0)]["r2"].mean()
    assert f"explains {100 * cut:.1f}%, the tree {100 * trees['r2'].mean()[0.0]:.1f}%" in numbers.what_the_cut_loses(
        table, task
    )
    assert ("mean_difference" in numbers.measures_of(task)) == (task == "student")


def test_means_in_bins_are_those_of_equal_parts():
    rng = np.random.default_rng(0)
    s, numbers = rng.permutation(100).astype(float), rng.normal(size=100)
    across, means = figures.bin_means(s, numbers, bins=4)
    order = np.argsort(s)
    parts = np.split(order, [25, 50, 75])
    assert_allclose(across, [s[part].mean() for part in parts])
    assert_allclose(means, [numbers[part].mean() for part in parts])
    assert len(figures.bin_means(np.repeat([0.0, 1.0], [97, 3]), np.ones(100))[0]) <= 2


def test_predictions_against_a_number():
    s, numbers = np.linspace(0, 1, 2000), np.linspace(0, 2, 2000) ** 2
    figure = figures.against_protected_figure(s, numbers, titles=("age", "grade"), y_range=(0, 4))
    crowd, line = figure.data
    assert len(crowd.x) == figures.DRAWN
    assert_allclose((2 * np.array(crowd.x)) ** 2, crowd.y)
    assert_allclose(line.y, [part.mean() for part in np.split(numbers, 10)])
    assert tuple(figure.layout.yaxis.range) == (0, 4)
    told = figures.against_protected_alt(s, numbers, None, "Before")
    assert told.startswith(f"Before: the mean prediction goes from {line.y[0]:.2f} in the lowest tenth")


def test_predictions_against_a_group():
    s, numbers = np.array([0, 1, 1, 0]), np.array([1.0, 2, 4, 3])
    figure = figures.against_protected_figure(
        s, numbers, names=["women", "men"], titles=("sex", "grade"), y_range=(0, 4)
    )
    crowd, means = figure.data
    assert_allclose(means.y, [2, 3])
    assert list(figure.layout.xaxis.ticktext) == ["women", "men"]
    np.testing.assert_array_equal(np.round(crowd.x), s)
    assert figures.against_protected_alt(s, numbers, ["women", "men"], "After") == (
        "After: mean prediction per group: women 2.00, men 3.00."
    )
    assert isinstance(spread(bundled()), pd.DataFrame)
    assert MEAN in figures.TITLES
