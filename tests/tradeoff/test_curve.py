"""Tables, fronts, paired comparisons, knees and receipts of a sweep; numbers worked by hand."""

import io
import itertools
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_grammar import SIGHT, THEMES, contrast, lab, linear

from fairglvq import datasets
from fairglvq.experiments import bundle, evaluation, methods, paper
from fairglvq.fairness import limit
from fairglvq.figures import tradeoff as figures
from fairglvq.grammar import BACKGROUNDS, CLASS_COLOURS, GROUP_SHAPES
from fairglvq.tradeoff import curve


def curve_of(method, points, dataset="d"):
    """A summary with these (strength, gap, accuracy)."""
    table = pd.DataFrame(points, columns=["strength", "statistical_parity_mean", "accuracy_mean"])
    spreads = {"statistical_parity_std": 0.01, "accuracy_std": 0.02, "n": 5}
    return table.assign(dataset=dataset, method=method, **spreads)


def rows_of(method, strength, accuracy, gap=0.1, seed=0):
    n = len(accuracy)
    return pd.DataFrame(
        {"dataset": "d", "method": method, "strength": math.nan if strength is None else strength, "fold": range(n),
         "seed": seed, "accuracy": accuracy, "statistical_parity": gap, "equal_opportunity": 0.2, "seconds": 1.0}
    )  # fmt: skip


# Points


def test_a_point_has_one_name_and_comes_back_from_it():
    for point in (("fairglvq", 0.1), ("glvq", None), ("correlation_remover", 1.0)):
        assert curve.point_of(curve.point_id(*point)) == point
    assert curve.point_id("glvq", math.nan) == "glvq@"
    for wrong in ("fairglvq", "magic@1", ""):
        with pytest.raises(ValueError, match="is not a point"):
            curve.point_of(wrong)


def test_points_in_words():
    assert curve.label("fairglvq", 0.5) == "FairGLVQ (C = 0.5)"
    assert curve.label("inp", 1) == "INP + GLVQ (1 projection)"
    assert curve.label("inp", 20) == "INP + GLVQ (20 projections)"
    assert curve.label("glvq", math.nan) == "GLVQ"


# Tables


def test_summary_has_every_measure_in_the_order_of_the_registry():
    rows = pd.concat(
        [rows_of("fairglvq", 1.0, [0.8, 0.9]), rows_of("fairglvq", 0.5, [0.7, 0.7]), rows_of("glvq", None, [0.6, 0.8])]
    ).assign(equalized_odds=[0.1, 0.3, 0.2, 0.2, 0.5, 0.5])
    table = curve.summary(rows)
    assert table.method.tolist() == ["glvq", "fairglvq", "fairglvq"]
    assert table.strength.tolist()[1:] == [0.5, 1.0]
    assert table.accuracy_mean.tolist() == pytest.approx([0.7, 0.7, 0.85])
    assert table.accuracy_std.tolist() == pytest.approx([0.1, 0.0, 0.05])
    assert table.equalized_odds_mean.tolist() == pytest.approx([0.5, 0.2, 0.2])
    assert table.equalized_odds_std.tolist() == pytest.approx([0.0, 0.0, 0.1])
    assert "equalized_odds_mean" not in curve.summary(rows.drop(columns="equalized_odds"))


def test_pareto_by_hand():
    table = curve_of("fairglvq", [(0, 0.3, 0.9), (1, 0.2, 0.8), (2, 0.2, 0.7), (3, 0.25, 0.8), (4, 0.0, 0.5)])
    assert curve.pareto(table).tolist() == [True, True, False, False, True]
    table = curve_of("fairglvq", [(0, 0.1, 0.9), (1, 0.1, 0.9), (2, math.nan, 1.0)])
    assert curve.pareto(table).tolist() == [True, True, False]  # equals do not beat each other


def test_pareto_knows_which_direction_is_better():
    table = curve_of("fairglvq", [(0, 0.3, 0.9), (1, 0.2, 0.8)]).assign(equal_opportunity_mean=[0.1, 0.2])
    assert curve.pareto(table, "accuracy", "equal_opportunity").tolist() == [True, False]
    assert curve.pareto(table, "statistical_parity", "equal_opportunity").tolist() == [True, True]


def test_distance_to_the_limit():
    line = limit.Limit(np.array([0.0, 0.2, 1.0]), np.array([0.8, 1.0, 1.0]), estimated=False)
    told = limit.Limit(np.array([0.0, 1.0]), np.array([1.0, 1.0]), estimated=False, with_group=True)
    table = pd.concat(
        [curve_of("fairglvq", [(0, 0.3, 0.9), (1, 0.1, 0.7)]), curve_of("threshold_optimizer", [(1.0, 0.0, 0.9)])]
    )
    found = curve.distances(table, line)
    assert found["fairglvq"] == pytest.approx((0.1 + 0.2) / 2)
    assert math.isnan(found["threshold_optimizer"])  # it sees the group: this line does not bound it
    assert curve.distances(table, line, told)["threshold_optimizer"] == pytest.approx(0.1)


# Comparisons


def test_corrected_t_test_by_hand():
    """Differences 0.01, 0.02, 0.03, 0.04, 0.05: mean 0.03, variance 0.00025, 5 folds: error² = (1/5 + 1/4) 0.00025."""
    rows = pd.concat(
        [rows_of("fairglvq", 1.0, [0.81, 0.72, 0.63, 0.94, 0.55]), rows_of("glvq", None, [0.8, 0.7, 0.6, 0.9, 0.5])]
    )
    found = curve.compare(rows, ("fairglvq", 1.0), ("glvq", None))
    error = math.sqrt(0.45 * 0.00025)
    assert found.difference == pytest.approx(0.03)
    assert found.n == 5
    assert found.p == pytest.approx(2 * stats.t.sf(0.03 / error, 4))
    assert (found.low, found.high) == pytest.approx((0.03 - 2.7764451 * error, 0.03 + 2.7764451 * error))
    assert found.told_apart
    plain = stats.ttest_1samp([0.01, 0.02, 0.03, 0.04, 0.05], 0).pvalue
    assert found.p > plain  # the correction makes it harder
    many = curve.compare(rows, ("fairglvq", 1.0), ("glvq", None), together=10)
    assert many.p == pytest.approx(10 * found.p)
    assert many.low < 0 < found.low
    assert not many.told_apart


def test_pairs_are_the_same_fold_and_seed():
    """Rows in another order, and folds that only one of the two has."""
    first = pd.concat([rows_of("fairglvq", 1.0, [0.5, 0.6], seed=1), rows_of("fairglvq", 1.0, [0.7, 0.9], seed=0)])
    second = rows_of("glvq", None, [0.6, 0.7], seed=0)
    found = curve.compare(pd.concat([first, second.iloc[::-1]]), ("fairglvq", 1.0), ("glvq", None))
    assert found.n == 2
    assert found.difference == pytest.approx((0.1 + 0.2) / 2)
    with pytest.raises(ValueError, match="no fold in common"):
        curve.compare(first, ("fairglvq", 1.0), ("glvq", None))


def test_extremes_of_the_test():
    same = pd.concat([rows_of("fairglvq", 1.0, [0.7, 0.8]), rows_of("glvq", None, [0.7, 0.8])])
    assert curve.compare(same, ("fairglvq", 1.0), ("glvq", None)).p == 1
    assert "the same in all 2 folds" in curve.comparison_words([curve.compare(same, ("fairglvq", 1.0), ("glvq", None))])
    for n, p in ((2, 0.5), (5, 0.0625), (8, 2**-7)):  # without a spread, a few equal folds may be chance
        alike = pd.concat([rows_of("fairglvq", 1.0, [0.75] * n), rows_of("glvq", None, [0.5] * n)])
        found = curve.compare(alike, ("fairglvq", 1.0), ("glvq", None))
        assert found.p == p
        assert found.told_apart == (n == 8)
        assert (f"25.0 in each of only {n} folds" in curve.comparison_words([found])) == (n < 8)
    one = pd.concat([rows_of("fairglvq", 1.0, [0.7]), rows_of("glvq", None, [0.6])])
    alone = curve.compare(one, ("fairglvq", 1.0), ("glvq", None))
    assert math.isnan(alone.p)
    assert not alone.told_apart
    assert "One fold alone tells nothing apart" in curve.comparison_words([alone])


def test_the_test_keeps_its_level():
    """Without any difference, and folds correlated as overlapping training sets make them, it errs about 1 in 20."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        common = rng.standard_normal() * math.sqrt(0.25)  # what all folds share: correlation n_test / (n_test+n_train)
        differences = common + rng.standard_normal(5)
        rows = pd.concat([rows_of("fairglvq", 1.0, differences), rows_of("glvq", None, np.zeros(5))])
        wrong += curve.compare(rows, ("fairglvq", 1.0), ("glvq", None)).told_apart
    assert 0.02 < wrong / 400 < 0.09


def test_best_points_within_a_budget():
    table = pd.concat(
        [
            curve_of("glvq", [(math.nan, 0.3, 0.95)]),
            curve_of("fairglvq", [(0, 0.3, 0.9), (1, 0.1, 0.8), (2, 0.05, 0.85), (3, 0.0, 0.6)]),
            curve_of("inp", [(0, 0.3, 0.9), (1, 0.08, 0.7)]),
        ],
        ignore_index=True,
    )
    assert curve.shared_budget(table) == pytest.approx(0.08)
    assert curve.within(table, 0.08) == [("fairglvq", 2.0), ("inp", 1.0)]
    assert curve.within(table, 0.3) == [("glvq", None), ("fairglvq", 0.0), ("inp", 0.0)]
    assert curve.shared_budget(table[table.method == "glvq"]) == pytest.approx(0.3)


def test_words_name_who_is_ahead_and_who_cannot_be_told_apart():
    rng = np.random.default_rng(1)
    base = rng.normal(0.7, 0.02, 5)
    rows = pd.concat(
        [
            rows_of("const", None, base - 0.3),
            rows_of("inp", 1.0, base),
            rows_of("fairglvq", 0.5, base + 0.1 + rng.normal(0, 0.002, 5)),
            rows_of("correlation_remover", 1.0, base + rng.normal(0, 0.03, 5)),
        ]
    )
    found = curve.compare_within(rows, 0.1, against="fairglvq")
    assert [(one.first[0], one.second[0]) for one in found] == [
        ("inp", "fairglvq"), ("fairglvq", "correlation_remover"),
    ]  # fmt: skip
    assert len(curve.compare_within(rows, 0.1)) == 3
    words = curve.comparison_words(curve.compare_within(rows, 0.1))
    assert "FairGLVQ (C = 0.5) has higher accuracy than INP + GLVQ (1 projection), by 10." in words
    assert "cannot tell apart" in words
    assert words.endswith("The intervals are wide enough for all 3 to hold at once.")
    unknown = words[words.index("cannot tell apart") :]
    assert "INP + GLVQ (1 projection) and CorrelationRemover + GLVQ (alpha = 1)" in unknown
    assert curve.comparison_words([]) == "There is nothing to compare yet: it takes two methods."


# Knees


def test_knee_by_hand():
    """Ends (0, 0.6) and (0.2, 0.9); at gap 0.1, accuracy 0.86 is highest above the chord (0.75)."""
    table = curve_of(
        "fairglvq", [(0, 0.2, 0.9), (1, 0.1, 0.86), (2, 0.05, 0.7), (3, 0.0, 0.6), (9, 0.15, 0.5)]
    )  # the last one is beaten and must not count
    found = curve.knee(table, "fairglvq")
    assert found.strength == 1
    assert found.at == pytest.approx((0.1, 0.86))
    assert found.words() == (
        "The knee of FairGLVQ is at C = 1: up to there the statistical parity gap shrinks by 10.0 points for 4.0 "
        "points of accuracy; beyond it, another 10.0 points cost 26.0."
    )


def test_straight_and_short_curves_have_no_knee():
    straight = curve_of("fairglvq", [(0, 0.2, 0.9), (1, 0.1, 0.8), (2, 0.0, 0.7)])
    assert curve.knee(straight, "fairglvq") is None
    assert curve.knee(straight.iloc[:2], "fairglvq") is None
    assert curve.knee(straight, "inp") is None
    with pytest.raises(ValueError, match="accuracy against a gap"):
        curve.knee(straight, "fairglvq", "accuracy", "statistical_parity")


# Receipts


def test_a_receipt_prints_the_numbers():
    data = datasets.load("xor", size=40, seed=2)
    params = {"n_prototypes": np.int64(2), "max_epochs": 3, "init": "shared-kmeans"}
    sweeps = {"glvq": [], "fairglvq": [0, 0.5]}
    shown = curve.summary(
        pd.concat(
            evaluation.evaluate(data, method, strengths, folds=2, seed=[0, 1], store=False, **params)
            for method, strengths in sweeps.items()
        )
    )
    program = curve.receipt("xor", sweeps, folds=2, seeds=range(2), knobs={"size": 40, "seed": 2}, params=params)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    printed = pd.read_csv(io.StringIO(run.stdout), sep=r"\s+")
    pd.testing.assert_frame_equal(printed, shown.round(4), check_dtype=False)
    assert len(program.splitlines()) < 30


def test_a_receipt_refuses_what_it_cannot_write():
    with pytest.raises(ValueError, match="init is a ndarray"):
        curve.receipt("xor", {"glvq": []}, params={"init": np.zeros((2, 2))})
    assert "data = mine()" in curve.receipt("mine", {"glvq": []}, load="data = mine()")


def test_every_method_has_a_label():
    for name, method in methods.METHODS.items():
        strength = method.strengths[0] if method.strengths else None
        assert curve.label(name, strength).startswith(method.title)


# Pictures

LINE = limit.Limit(np.array([0.0, 0.2, 1.0]), np.array([0.87, 1.0, 1.0]), estimated=False)


@pytest.fixture
def table():
    return pd.concat(
        [
            curve_of("glvq", [(math.nan, 0.25, 0.97)], "xor"),
            curve_of("fairglvq", [(1.0, 0.2, 0.96), (0.0, 0.24, 0.98), (2.0, 0.02, 0.86)], "xor"),
        ],
        ignore_index=True,
    ).assign(equalized_odds_mean=0.3, equalized_odds_std=0.1)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_a_curve_runs_through_the_strengths_with_bars_and_ids(table):
    drawn = traces(figures.tradeoff_figure(table))
    fair = drawn["FairGLVQ"]
    assert list(fair.x) == [0.24, 0.2, 0.02]
    assert list(fair.y) == [0.98, 0.96, 0.86]
    assert list(fair.error_x.array) == [0.01] * 3
    assert list(fair.error_y.array) == [0.02] * 3
    assert [entry[0] for entry in fair.customdata] == ["fairglvq@0.0", "fairglvq@1.0", "fairglvq@2.0"]
    assert fair.customdata[0][1:3] == ["FairGLVQ (C = 0)", 5]
    assert "n = %{customdata[2]}" in fair.hovertemplate
    assert list(fair.text) == ["", "", "C = 2"]
    assert drawn["GLVQ"].mode == "markers"
    front = drawn["best points"]
    assert list(zip(front.x, front.y, strict=True)) == [(0.02, 0.86), (0.2, 0.96), (0.24, 0.98)]


def test_every_mark_can_be_clicked_and_nothing_needs_webgl(table):
    figure = figures.tradeoff_figure(table, limits=[LINE], published=paper.published())
    assert {trace.type for trace in figure.data} == {"scatter"}
    for trace in figure.data:
        assert ("markers" in trace.mode) == (trace.customdata is not None)
    figure.to_json()


def test_published_points_of_the_same_data_only(table):
    drawn = figures.tradeoff_figure(table, published=paper.published())
    hollow = [trace for trace in drawn.data if trace.legendgroup == "published"]
    assert sum(trace.showlegend for trace in hollow) == 1
    points = {(x, y) for trace in hollow for x, y in zip(trace.x, trace.y, strict=True)}
    assert points == {(0.03, 0.88), (0.24, 0.84), (0.23, 0.99), (0.0, 0.5)}  # Table 1, XOR
    assert all(entry[0] == "" for trace in hollow for entry in trace.customdata)
    assert all(trace.marker.symbol.endswith("-open") for trace in hollow)
    other = figures.tradeoff_figure(table, "equalized_odds", published=paper.published())  # never published
    assert not [trace for trace in other.data if trace.legendgroup == "published"]


def test_the_limit_is_drawn_where_it_belongs(table):
    figure = figures.tradeoff_figure(table, limits=[LINE])
    line = traces(figure)["limit"]
    assert line.x[-1] == figure.layout.xaxis.range[1]
    np.testing.assert_allclose(line.y, LINE.at(line.x))
    assert figure.layout.yaxis.range[1] > 1.0  # its highest point is inside
    estimated = limit.Limit(LINE.sp, LINE.accuracy, estimated=True, with_group=True)
    assert "limit with the group (estimate)" in traces(figures.tradeoff_figure(table, limits=[estimated]))
    assert "limit" not in traces(figures.tradeoff_figure(table, "equalized_odds", limits=[LINE]))


def test_axes_can_be_switched(table):
    figure = figures.tradeoff_figure(table, "equalized_odds", "statistical_parity")
    assert list(traces(figure)["FairGLVQ"].y) == [0.24, 0.2, 0.02]
    assert "equalised odds gap" in figure.layout.xaxis.title.text
    with pytest.raises(ValueError, match=r"one of accuracy, statistical_parity, equalized_odds; got 'equal_oppor"):
        figures.tradeoff_figure(table, "equal_opportunity")


def test_points_without_a_score_are_left_out(table):
    holes = table.assign(statistical_parity_mean=[math.nan, 0.2, math.nan, 0.02])
    drawn = traces(figures.tradeoff_figure(holes))
    assert "GLVQ" not in drawn
    assert list(drawn["FairGLVQ"].x) == [0.2, 0.02]
    assert len(figures.tradeoff_figure(table.iloc[:0]).data) == 0


def test_labels_that_would_overlap_are_moved_or_left_out():
    same = pd.concat(
        [
            curve_of(name, [(0.8, 0.3, 0.9), (1.0, 0.15, 0.7), (1.1, 0.15, 0.7)])
            for name in ("fairglvq", "inp", "exponentiated_gradient", "threshold_optimizer", "correlation_remover")
        ],
        ignore_index=True,
    )
    figure = figures.tradeoff_figure(same)
    placed = [trace.textposition for trace in figure.data if "text" in trace.mode]
    assert len(placed) == len(set(placed))
    assert 2 <= len(placed) < 5


def bundled_figure(name, published):
    plan = paper.paper_sweep(name)
    rows = [
        {"dataset": name, "method": m.method, "strength": math.nan if m.strength is None else m.strength}
        | {"fold": m.fold, "seed": m.seed}
        | row
        for m, row in bundle.load().known(plan).items()
    ]
    line = bundle.load().limits[name, False] if name in bundle.ESTIMATED else limit.known(name)
    table = curve.summary(pd.DataFrame(rows))
    return figures.tradeoff_figure(table, limits=[line], published=paper.published() if published else None)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("name", ["local", "xor", "adult", "compas"])
def test_labels_cover_no_line_and_no_mark(name, published):
    """Lines cut into a thousand points each; none of them is where the words are, on a phone or on a desk."""
    figure = bundled_figure(name, published)
    low, high = np.array([figure.layout.xaxis.range, figure.layout.yaxis.range]).T
    labelled = [trace for trace in figure.data if "text" in trace.mode]
    assert labelled
    for size in ((250, 330), (720, 400)):
        drawn = []
        for trace in figure.data:
            corners = (np.column_stack([trace.x, trace.y]).astype(float) - low) / (high - low) * size
            steps = np.linspace(0, len(corners) - 1, 1000 * len(corners))
            ways = [np.interp(steps, np.arange(len(corners)), corners[:, axis]) for axis in (0, 1)]
            drawn.append(np.column_stack(ways) if "lines" in trace.mode else corners)
        everything = np.concatenate(drawn)
        for trace in labelled:
            x, y = (np.array([trace.x[-1], trace.y[-1]]) - low) / (high - low) * size
            wide, place = 5.5 * len(trace.text[-1]), trace.textposition
            left = x + 8.5 if "right" in place else x - 8.5 - wide if "left" in place else x - wide / 2
            bottom = y + 8.5 if "top" in place else y - 19.5 if "bottom" in place else y - 5.5
            inside = (everything > [left, bottom]) & (everything < [left + wide, bottom + 11])
            assert not inside.all(axis=1).any(), (trace.name, size)
            assert 0 <= left <= size[0] - wide
            assert 0 <= bottom <= size[1] - 11


@pytest.mark.parametrize("theme", THEMES)
def test_both_themes_are_transparent_and_legible(table, theme):
    figure = figures.tradeoff_figure(table, theme=theme)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert contrast(figure.layout.font.color, BACKGROUNDS[theme]) > 7
    for trace in figure.data:
        if "markers" in trace.mode:
            assert contrast(trace.marker.color, BACKGROUNDS[theme]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_methods_can_be_told_apart_and_are_no_classes(theme):
    found = figures.styles()
    assert set(found) == set(methods.METHODS)
    assert len({style.shape for style in found.values()}) == len(found)
    assert not {style.shape for style in found.values()} & set(GROUP_SHAPES[:3])
    marks = {name: style.colour.mark(theme) for name, style in found.items()}
    for mark, own in itertools.product(marks.values(), CLASS_COLOURS):
        assert np.linalg.norm(lab(linear(mark)) - lab(linear(own.mark(theme)))) > 20
    coloured = [marks[name] for name, method in methods.METHODS.items() if method.knob]
    for sight in SIGHT.values():
        seen = [lab(sight @ linear(mark)) for mark in coloured]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 15


def test_more_methods_than_colours_never_share_colour_and_shape(monkeypatch):
    many = {f"m{i}": methods.METHODS["fairglvq"] for i in range(30)}
    monkeypatch.setattr(figures, "METHODS", many)
    found = figures.styles()
    assert len({(style.colour, style.shape) for style in found.values()}) == 30


def test_scores_against_the_strength_on_both_scales(table):
    plain = figures.strength_figure(table, "fairglvq")
    assert list(plain.data[0].x) == [0.0, 1.0, 2.0]
    assert list(plain.data[1].y) == [0.24, 0.2, 0.02]
    assert plain.layout.xaxis2.title.text == "C"
    log = figures.strength_figure(table, "fairglvq", log=True)
    assert list(log.data[0].x) == [0.5, 1.0, 2.0]
    assert list(log.layout.xaxis2.ticktext) == ["0", "1", "2"]
    assert log.layout.xaxis2.type == "log"
    assert log.data[0].customdata[0][0] == "fairglvq@0.0"
    with pytest.raises(ValueError, match="no strengths of 'glvq'"):
        figures.strength_figure(table, "glvq")


def test_alt_text_is_one_sentence_of_numbers(table):
    assert figures.alt_text(table) == (
        "Accuracy against statistical parity gap, means over folds: GLVQ has 0.97 at 0.25; FairGLVQ goes from 0.98 at "
        "0.24 (C = 0) to 0.86 at 0.02 (C = 2)."
    )
    assert figures.alt_text(table.iloc[:0]) == "Accuracy against statistical parity gap: no points yet."
