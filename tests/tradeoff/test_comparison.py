"""Paired comparisons of methods over the same folds; numbers worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from curves import curve_of, rows_of
from scipy import stats

from fairglvq.tradeoff import comparison


def test_corrected_t_test_by_hand():
    """Differences 0.01, 0.02, 0.03, 0.04, 0.05: mean 0.03, variance 0.00025, 5 folds: error² = (1/5 + 1/4) 0.00025."""
    rows = pd.concat(
        [rows_of("fairglvq", 1.0, [0.81, 0.72, 0.63, 0.94, 0.55]), rows_of("glvq", None, [0.8, 0.7, 0.6, 0.9, 0.5])]
    )
    found = comparison.compare(rows, ("fairglvq", 1.0), ("glvq", None))
    error = math.sqrt(0.45 * 0.00025)
    assert found.difference == pytest.approx(0.03)
    assert found.n == 5
    assert found.p == pytest.approx(2 * stats.t.sf(0.03 / error, 4))
    assert (found.low, found.high) == pytest.approx((0.03 - 2.7764451 * error, 0.03 + 2.7764451 * error))
    assert found.distinguishable
    plain = stats.ttest_1samp([0.01, 0.02, 0.03, 0.04, 0.05], 0).pvalue
    assert found.p > plain  # the correction makes it harder
    many = comparison.compare(rows, ("fairglvq", 1.0), ("glvq", None), together=10)
    assert many.p == pytest.approx(10 * found.p)
    assert many.low < 0 < found.low
    assert not many.distinguishable


def test_pairs_are_the_same_fold_and_seed():
    """Rows in another order, and folds that only one of the two has."""
    first = pd.concat([rows_of("fairglvq", 1.0, [0.5, 0.6], seed=1), rows_of("fairglvq", 1.0, [0.7, 0.9], seed=0)])
    second = rows_of("glvq", None, [0.6, 0.7], seed=0)
    found = comparison.compare(pd.concat([first, second.iloc[::-1]]), ("fairglvq", 1.0), ("glvq", None))
    assert found.n == 2
    assert found.difference == pytest.approx((0.1 + 0.2) / 2)
    with pytest.raises(ValueError, match="no fold in common"):
        comparison.compare(first, ("fairglvq", 1.0), ("glvq", None))


def test_extremes_of_the_test():
    same = pd.concat([rows_of("fairglvq", 1.0, [0.7, 0.8]), rows_of("glvq", None, [0.7, 0.8])])
    assert comparison.compare(same, ("fairglvq", 1.0), ("glvq", None)).p == 1
    (said,) = comparison.comparison_words([comparison.compare(same, ("fairglvq", 1.0), ("glvq", None))])
    assert "none in both folds" in said
    for n, p in ((2, 0.5), (5, 0.0625), (8, 2**-7)):  # without a spread, a few equal folds may be chance
        alike = pd.concat([rows_of("fairglvq", 1.0, [0.75] * n), rows_of("glvq", None, [0.5] * n)])
        found = comparison.compare(alike, ("fairglvq", 1.0), ("glvq", None))
        assert found.p == p
        assert found.distinguishable == (n == 8)
        assert (f"25.0 points in each of only {n} folds" in comparison.comparison_words([found])[0]) == (n < 8)
    one = pd.concat([rows_of("fairglvq", 1.0, [0.7]), rows_of("glvq", None, [0.6])])
    alone = comparison.compare(one, ("fairglvq", 1.0), ("glvq", None))
    assert math.isnan(alone.p)
    assert not alone.distinguishable
    assert comparison.comparison_words([alone]) == ["One fold alone tells nothing apart: run more folds or seeds."]


@pytest.mark.long
def test_the_test_keeps_its_level():
    """Without any difference, and folds correlated as overlapping training sets make them, it errs about 1 in 20."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        common = rng.standard_normal() * math.sqrt(0.25)  # what all folds share: correlation n_test / (n_test+n_train)
        differences = common + rng.standard_normal(5)
        rows = pd.concat([rows_of("fairglvq", 1.0, differences), rows_of("glvq", None, np.zeros(5))])
        wrong += comparison.compare(rows, ("fairglvq", 1.0), ("glvq", None)).distinguishable
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
    assert comparison.shared_budget(table) == pytest.approx(0.08)
    assert comparison.within(table, 0.08) == [("fairglvq", 2.0), ("inp", 1.0)]
    assert comparison.within(table, 0.3) == [("glvq", None), ("fairglvq", 0.0), ("inp", 0.0)]
    assert comparison.shared_budget(table[table.method == "glvq"]) == pytest.approx(0.3)


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
    found = comparison.compare_within(rows, 0.1, against="fairglvq")
    assert [(one.first[0], one.second[0]) for one in found] == [
        ("inp", "fairglvq"), ("fairglvq", "correlation_remover"),
    ]  # fmt: skip
    assert len(comparison.compare_within(rows, 0.1)) == 3
    *told, last = comparison.comparison_words(comparison.compare_within(rows, 0.1), 0.1)
    assert all(said.startswith("If the statistical parity gap may be at most 10.0 points, ") for said in told)
    inp = next(said for said in told if "than INP" in said)
    assert "FairGLVQ (C = 0.5) is right 10." in inp
    assert "points more often than INP + GLVQ (1 projection) (95% interval " in inp
    unknown = next(said for said in told if "cannot be told apart" in said)
    assert "INP + GLVQ (1 projection) and CorrelationRemover + GLVQ (alpha = 1) cannot be told apart" in unknown
    assert ": the first may be right " in unknown
    assert last == "The intervals are wide enough for all 3 to hold at once."
    assert comparison.comparison_words([]) == ["There is nothing to compare yet: it takes two methods."]


def test_the_budget_that_is_said_is_the_budget_that_was_kept():
    """Rounded to the nearest, "at most 7.1 points" would contradict a chosen point of 7.14."""
    table = pd.concat(
        [curve_of("fairglvq", [(0, 0.3, 0.9), (1, 0.07, 0.8)]), curve_of("inp", [(0, 0.3, 0.9), (1, 0.0714, 0.7)])],
        ignore_index=True,
    )
    budget = comparison.shared_budget(table)
    assert budget == pytest.approx(0.072)
    assert comparison.within(table, budget) == [("fairglvq", 1.0), ("inp", 1.0)]


def test_points_without_a_common_fold_are_left_out_while_a_run_goes_on():
    first, second = rows_of("fairglvq", 1.0, [0.9, 0.8]), rows_of("glvq", None, [0.7, 0.6])
    inp = rows_of("inp", 1.0, [0.5, 0.5, 0.5]).query("fold == 2")
    assert len(comparison.compare_within(pd.concat([first, second, inp]), 1.0)) == 1


def test_an_interval_wider_than_accuracy_itself_is_not_told():
    """Two folds: half the interval is 12.7 errors, so that "398 points less often" would be said."""
    rows = pd.concat([rows_of("fairglvq", 1.0, [0.9, 0.7]), rows_of("glvq", None, [0.8, 0.8])])
    told = comparison.comparison_words([comparison.compare(rows, ("fairglvq", 1.0), ("glvq", None))])
    assert told == ["FairGLVQ (C = 1) and GLVQ cannot be told apart: 2 folds say too little about their difference."]
