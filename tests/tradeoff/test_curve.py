"""Tables, fronts and knees of a sweep; numbers worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from curves import curve_of, rows_of

from fairglvq.experiments import methods
from fairglvq.fairness import limit
from fairglvq.tradeoff import curve

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
    assert curve.label("paritylvq", 0.95) == "ParityLVQ (gap ≤ 5 points)"
    assert curve.label("exponentiated_gradient", 1.0).endswith("(gap ≤ 0 points)")
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
        "Up to C = 1, FairGLVQ narrows the statistical parity gap by 10.0 points and loses 4.0 points of accuracy; "
        "beyond that, another 10.0 points of the gap cost 26.0 points of accuracy."
    )


def test_straight_and_short_curves_have_no_knee():
    straight = curve_of("fairglvq", [(0, 0.2, 0.9), (1, 0.1, 0.8), (2, 0.0, 0.7)])
    assert curve.knee(straight, "fairglvq") is None
    assert curve.knee(straight.iloc[:2], "fairglvq") is None
    assert curve.knee(straight, "inp") is None


def test_every_method_has_a_label():
    for name, method in methods.METHODS.items():
        strength = method.strengths[0] if method.strengths else None
        assert curve.label(name, strength).startswith(method.title)


# Where strengths are missing


def test_strengths_are_added_where_the_gap_jumps():
    """From 25 points to 4 between C = 1 and 1.4: three in the wide hole, none where the curve is dense."""
    table = curve_of("fairglvq", [(0, 0.26, 0.99), (1, 0.25, 0.98), (1.4, 0.04, 0.9), (2, 0.02, 0.87)])
    assert curve.missing_strengths(table, "fairglvq") == (1.1, 1.2, 1.3)
    filled = curve_of("fairglvq", [(1, 0.25, 0.98), (1.1, 0.22, 0.97), (1.2, 0.15, 0.95), (1.4, 0.04, 0.9)])
    assert curve.missing_strengths(filled, "fairglvq") == (1.13, 1.17, 1.25, 1.3, 1.35)  # jumps of 7 and 11 of 23
    even = curve_of("fairglvq", [(i, 0.1 - 0.01 * i, 0.9) for i in range(10)])
    assert curve.missing_strengths(even, "fairglvq") == ()


def test_added_strengths_keep_to_what_a_knob_allows():
    jump = [(0, 0.3, 0.9), (1, 0.29, 0.9), (4, 0.0, 0.7)]
    assert curve.missing_strengths(curve_of("inp", jump), "inp") == (2.0, 3.0)
    assert curve.missing_strengths(curve_of("inp", [(0, 0.3, 0.9), (1, 0.0, 0.7)]), "inp") == ()
    assert curve.missing_strengths(curve_of("fairglvq", [(0, 0.008, 0.9), (1, 0.0, 0.7)]), "fairglvq") == ()
    assert curve.missing_strengths(curve_of("glvq", [(math.nan, 0.3, 0.9)]), "glvq") == ()
