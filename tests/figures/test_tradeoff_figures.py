"""Pictures of trade-off curves: what is drawn, where, and in which colours."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from colours import SIGHT, THEMES, contrast, lab, linear
from curves import curve_of

from fairglvq.experiments import bundle, methods, paper
from fairglvq.fairness import limit
from fairglvq.figures import tradeoff as figures
from fairglvq.grammar import BACKGROUNDS, CLASS_COLOURS, GROUP_SHAPES
from fairglvq.tradeoff import curve

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
    assert list(fair.x) == [24, 20, 2]
    assert list(fair.y) == [98, 96, 86]
    assert list(fair.error_x.array) == [1] * 3
    assert list(fair.error_y.array) == [2] * 3
    assert [entry[0] for entry in fair.customdata] == ["fairglvq@0.0", "fairglvq@1.0", "fairglvq@2.0"]
    assert fair.customdata[0][1:3] == ["FairGLVQ (C = 0)", 5]
    assert "n = %{customdata[2]}" in fair.hovertemplate
    assert list(fair.text) == ["", "", "C = 2"]
    assert drawn["GLVQ"].mode == "markers"
    front = drawn["best points"]
    assert list(zip(front.x, front.y, strict=True)) == [(2, 86), (20, 96), (24, 98)]


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
    assert points == {(3, 88), (24, 84), (23, 99), (0, 50)}  # Table 1, XOR
    assert all(entry[0] == "" for trace in hollow for entry in trace.customdata)
    assert all(trace.marker.symbol.endswith("-open") for trace in hollow)
    other = figures.tradeoff_figure(table, "equalized_odds", published=paper.published())  # never published
    assert not [trace for trace in other.data if trace.legendgroup == "published"]


def test_the_limit_is_drawn_where_it_belongs(table):
    figure = figures.tradeoff_figure(table, limits=[LINE])
    line = traces(figure)["limit"]
    assert line.x[-1] == figure.layout.xaxis.range[1]
    np.testing.assert_allclose(line.y, 100 * LINE.at(np.array(line.x) / 100))
    assert figure.layout.yaxis.range[1] > 100  # its highest point is inside
    estimated = limit.Limit(LINE.sp, LINE.accuracy, estimated=True, with_group=True)
    assert "limit with the group (estimate)" in traces(figures.tradeoff_figure(table, limits=[estimated]))
    assert "limit" not in traces(figures.tradeoff_figure(table, "equalized_odds", limits=[LINE]))


def test_axes_can_be_switched(table):
    figure = figures.tradeoff_figure(table, "equalized_odds", "statistical_parity")
    assert list(traces(figure)["FairGLVQ"].y) == [24, 20, 2]
    assert "equalised odds gap (points)" in figure.layout.xaxis.title.text
    with pytest.raises(ValueError, match=r"one of accuracy, statistical_parity, equalized_odds; got 'equal_oppor"):
        figures.tradeoff_figure(table, "equal_opportunity")


def test_points_without_a_score_are_left_out(table):
    holes = table.assign(statistical_parity_mean=[math.nan, 0.2, math.nan, 0.02])
    drawn = traces(figures.tradeoff_figure(holes))
    assert "GLVQ" not in drawn
    assert list(drawn["FairGLVQ"].x) == [20, 2]
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
    line = bundle.load().limits[name, False] if name in bundle.ESTIMATED else limit.known(name)
    table = curve.summary(bundle.rows(paper.paper_sweep(name)))
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
    assert not {style.shape for style in found.values()} & set(GROUP_SHAPES[:3])
    marks = {name: style.colour.mark(theme) for name, style in found.items()}
    for mark, own in itertools.product(marks.values(), CLASS_COLOURS):
        assert np.linalg.norm(lab(linear(mark)) - lab(linear(own.mark(theme)))) > 20
    for one, other in itertools.combinations(found, 2):
        seen = [[lab(sight @ linear(marks[name])) for name in (one, other)] for sight in SIGHT.values()]
        by_colour = min(np.linalg.norm(a - b) for a, b in seen) >= 15
        lines = methods.METHODS[one].knob and methods.METHODS[other].knob
        by_form = found[one].shape != found[other].shape and (not lines or found[one].dash != found[other].dash)
        assert by_colour or by_form, (one, other)


def test_families_share_their_colour_and_nobody_else_does():
    found = figures.styles()
    with_knob = {name: method.family for name, method in methods.METHODS.items() if method.knob}
    for one, other in itertools.combinations(with_knob, 2):
        assert (found[one].colour == found[other].colour) == (with_knob[one] == with_knob[other])


def test_many_methods_get_pale_bars_and_room_for_their_names():
    """Error bars in colour are readable for six methods; on a phone the legend of fifteen takes half of the height."""
    names = list(methods.METHODS)
    few, many = (
        figures.tradeoff_figure(pd.concat([curve_of(name, [(0.5, 0.1, 0.9)]) for name in chosen]), front=False)
        for chosen in (names[: figures.FEW], names)
    )
    assert all(trace.error_y.color != many.data[0].error_y.color for trace in few.data)
    assert len({trace.error_y.color for trace in many.data}) == 1
    assert many.layout.height - few.layout.height == 18 * (len(names) - figures.FEW)


def test_more_methods_than_marks_never_look_the_same(monkeypatch):
    many = {f"m{i}": methods.METHODS["fairglvq"] for i in range(30)}
    monkeypatch.setattr(figures, "METHODS", many)
    assert len(set(figures.styles().values())) == 30


def test_scores_against_the_strength_on_both_scales(table):
    plain = figures.strength_figure(table, "fairglvq")
    assert list(plain.data[0].x) == [0.0, 1.0, 2.0]
    assert list(plain.data[1].y) == [24, 20, 2]
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
        "Accuracy against statistical parity gap, means over folds: GLVQ has 97.0% at 25.0 points; FairGLVQ goes from "
        "98.0% at 24.0 points (C = 0) to 86.0% at 2.0 points (C = 2)."
    )
    assert figures.alt_text(table.iloc[:0]) == "Accuracy against statistical parity gap: no points yet."


def test_ticks_of_a_narrow_axis_do_not_repeat():
    narrow, wide = (
        figures.tradeoff_figure(curve_of("glvq", [(math.nan, 0.1, 0.75), (math.nan, 0.1, 0.75 + span)]).assign(
            accuracy_std=0.001
        ))
        for span in (0.01, 0.2)
    )  # fmt: skip
    assert (narrow.layout.yaxis.tickformat, wide.layout.yaxis.tickformat) == (".1f", ".0f")
