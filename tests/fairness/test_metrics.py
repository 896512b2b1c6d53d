"""Group metrics: hand-worked tables, fairlearn as the oracle, and every case in which a rate has no value."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as oracle
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from fairglvq.fairness import metrics

# Group a: 4 people, 3 of them selected; of the 2 with favourable truth both, of the 2 others one.
# Group b: 5 people, 2 of them selected; of the 4 with favourable truth one, of the 1 other one.
S = np.array(["a", "a", "a", "a", "b", "b", "b", "b", "b"])
Y = np.array([1, 1, 0, 0, 1, 1, 1, 1, 0])
D = np.array([1, 1, 1, 0, 1, 0, 0, 0, 1])
COUNTS = np.array([[[1, 1], [0, 2]], [[0, 1], [3, 1]]])


def all_gaps(y_true, y_pred, s, favourable):
    return {
        "statistical_parity": metrics.statistical_parity_difference(
            y_pred, sensitive_features=s, favourable=favourable
        ),
        "equal_opportunity": metrics.equal_opportunity_difference(
            y_true, y_pred, sensitive_features=s, favourable=favourable
        ),
        "equalized_odds": metrics.equalized_odds_difference(
            y_true, y_pred, sensitive_features=s, favourable=favourable
        ),
        "disparate_impact": metrics.disparate_impact(y_pred, sensitive_features=s, favourable=favourable),
    }


BY_HAND = {
    "statistical_parity": 3 / 4 - 2 / 5,
    "equal_opportunity": 2 / 2 - 1 / 4,
    "equalized_odds": 3 / 4,  # of 3/4 and 1 - 1/2
    "disparate_impact": (2 / 5) / (3 / 4),
}


class TestByHand:
    def test_gaps(self):
        assert all_gaps(Y, D, S, 1) == pytest.approx(BY_HAND)

    def test_gaps_of_the_other_outcome(self):
        # Selected for outcome 0: 1 of 4 and 3 of 5. Truth 0: 1 of 2 and 0 of 1. Truth 1 given 0: 0 of 2 and 3 of 4.
        expected = {
            "statistical_parity": 3 / 5 - 1 / 4,
            "equal_opportunity": 1 / 2,
            "equalized_odds": 3 / 4,
            "disparate_impact": (1 / 4) / (3 / 5),
        }
        assert all_gaps(Y, D, S, 0) == pytest.approx(expected)

    def test_table_of_counts(self):
        groups, counts = metrics.count_table(Y, D, sensitive_features=S, favourable=1)
        assert_array_equal(groups, ["a", "b"])
        assert_array_equal(counts, COUNTS)

    def test_table_of_rates(self):
        table = metrics.group_rates(Y, D, sensitive_features=S, favourable=1)
        expected = pd.DataFrame(
            {
                "n": [4, 5],
                "n_favourable": [2, 4],
                "selection_rate": [3 / 4, 2 / 5],
                "true_positive_rate": [1.0, 1 / 4],
                "false_positive_rate": [1 / 2, 1.0],
                "accuracy": [3 / 4, 1 / 5],
            },
            index=pd.Index(["a", "b"], name="group"),
        )
        pd.testing.assert_frame_equal(table, expected)

    def test_accuracy_tells_unfavourable_labels_apart(self):
        table = metrics.group_rates([0, 1, 2], [0, 2, 2], sensitive_features=[0, 0, 0], favourable=0)
        assert table.loc[0, "accuracy"] == pytest.approx(2 / 3)  # as a table of favourable or not, all three agree

    def test_largest_gap_of_three_groups(self):
        s = np.repeat(["x", "y", "z"], 4)
        y_pred = np.array([1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0])
        assert metrics.statistical_parity_difference(y_pred, sensitive_features=s, favourable=1) == pytest.approx(3 / 4)
        assert metrics.disparate_impact(y_pred, sensitive_features=s, favourable=1) == pytest.approx(1 / 4)


class TestAgainstFairlearn:
    @pytest.mark.parametrize("n_groups", [2, 3])
    @pytest.mark.parametrize("favourable", [0, 1])
    def test_gaps(self, n_groups, favourable):
        rng = np.random.default_rng(n_groups)
        for _ in range(5):
            s = rng.integers(n_groups, size=200)
            y_true = rng.integers(2, size=200)
            y_pred = (rng.random(200) < 0.2 + 0.2 * s + 0.2 * y_true).astype(int)
            truth, decision = y_true == favourable, y_pred == favourable
            expected = {
                "statistical_parity": oracle.demographic_parity_difference(truth, decision, sensitive_features=s),
                "equal_opportunity": oracle.equal_opportunity_difference(truth, decision, sensitive_features=s),
                "equalized_odds": oracle.equalized_odds_difference(truth, decision, sensitive_features=s),
                "disparate_impact": oracle.demographic_parity_ratio(truth, decision, sensitive_features=s),
            }
            assert all_gaps(y_true, y_pred, s, favourable) == pytest.approx(expected, abs=1e-12)

    def test_table_of_rates(self):
        rng = np.random.default_rng(7)
        s, y_true, y_pred = rng.choice(["p", "q", "r"], 300), rng.integers(2, size=300), rng.integers(2, size=300)
        columns = {
            "n": oracle.count,
            "selection_rate": oracle.selection_rate,
            "true_positive_rate": oracle.true_positive_rate,
            "false_positive_rate": oracle.false_positive_rate,
            "accuracy": accuracy_score,
        }
        frame = oracle.MetricFrame(metrics=columns, y_true=y_true, y_pred=y_pred, sensitive_features=s).by_group
        table = metrics.group_rates(y_true, y_pred, sensitive_features=s, favourable=1)
        assert list(table.index) == list(frame.index)
        assert_allclose(table[list(columns)].to_numpy(float), frame.to_numpy(float), atol=1e-12)


class TestFromCounts:
    def test_same_as_from_rows(self):
        assert metrics.gaps_from_counts(COUNTS)._asdict() == pytest.approx(BY_HAND)
        rates = metrics.rates_from_counts(COUNTS)
        assert_allclose(rates.selection_rate, [3 / 4, 2 / 5])
        assert_allclose(rates.true_positive_rate, [1, 1 / 4])
        assert_allclose(rates.false_positive_rate, [1 / 2, 1])

    def test_a_stack_of_tables(self):
        rng = np.random.default_rng(0)
        stack = rng.integers(3, size=(6, 4, 3, 2, 2))  # zeros make some rates undefined
        gaps = metrics.gaps_from_counts(stack)
        for position in np.ndindex(6, 4):
            one = metrics.gaps_from_counts(stack[position])
            for field in metrics.Gaps._fields:
                assert getattr(gaps, field).shape == (6, 4)
                assert_array_equal(getattr(gaps, field)[position], getattr(one, field))

    def test_nobody_counted(self):
        assert all(np.isnan(value) for value in metrics.gaps_from_counts(np.zeros((2, 2, 2))))

    @pytest.mark.parametrize("shape", [(2, 2), (0, 2, 2), (3, 2, 3)])
    def test_wrong_shape(self, shape):
        with pytest.raises(ValueError, match="n_groups, 2, 2"):
            metrics.gaps_from_counts(np.ones(shape))


class TestUndefinedRates:
    def test_a_group_without_favourable_truth_is_left_out(self):
        s = ["a", "a", "b", "b", "c", "c"]
        y_true = [1, 0, 1, 1, 0, 0]
        y_pred = [1, 0, 1, 0, 1, 1]
        table = metrics.group_rates(y_true, y_pred, sensitive_features=s, favourable=1)
        assert_array_equal(table["true_positive_rate"], [1, 1 / 2, np.nan])
        assert_array_equal(table["false_positive_rate"], [0, np.nan, 1])
        gaps = all_gaps(y_true, y_pred, s, 1)
        assert gaps["equal_opportunity"] == pytest.approx(1 / 2)  # a and b; with rate 0 for c it were 1
        assert gaps["equalized_odds"] == pytest.approx(1)  # the false-positive rates of a and c

    def test_one_rate_left_is_no_gap(self):
        y_true, y_pred, s = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
        gaps = all_gaps(y_true, y_pred, s, 1)
        assert np.isnan(gaps["equal_opportunity"])
        assert np.isnan(gaps["equalized_odds"])
        assert gaps["statistical_parity"] == 0

    def test_one_group_only(self):
        assert all(np.isnan(gap) for gap in all_gaps([1, 0, 1], [1, 0, 0], ["a", "a", "a"], 1).values())

    def test_nobody_gets_the_favourable_outcome(self):
        gaps = all_gaps(Y, np.zeros_like(Y), S, 1)
        assert gaps["statistical_parity"] == gaps["equal_opportunity"] == gaps["equalized_odds"] == 0
        assert np.isnan(gaps["disparate_impact"])

    def test_everybody_gets_the_favourable_outcome(self):
        expected = {"statistical_parity": 0, "equal_opportunity": 0, "equalized_odds": 0, "disparate_impact": 1}
        assert all_gaps(Y, np.ones_like(Y), S, 1) == expected


class TestLabels:
    @pytest.mark.parametrize(
        ("labels", "favourable"),
        [
            (np.array(["no", "yes"]), "yes"),
            (np.array(["no", "yes"], dtype=object), "yes"),
            (np.array([False, True]), True),
            (np.array([False, True]), 1),
            (np.array([-1.0, 1.0]), 1),
        ],
    )
    def test_any_labels(self, labels, favourable):
        assert all_gaps(labels[Y], labels[D], S, favourable) == pytest.approx(BY_HAND)

    @pytest.mark.parametrize("dtype", ["str", "category", object])
    def test_series_count_by_position_not_by_index(self, dtype):
        words = np.array(["no", "yes"])
        y_true = pd.Series(words[Y], index=np.arange(9), dtype=dtype)
        y_pred = pd.Series(words[D], index=np.arange(9)[::-1], dtype=dtype)
        s = pd.Series(S, index=np.arange(9) + 100, dtype=dtype)
        assert all_gaps(y_true, y_pred, s, "yes") == pytest.approx(BY_HAND)

    def test_lists(self):
        assert all_gaps(Y.tolist(), D.tolist(), S.tolist(), 1) == pytest.approx(BY_HAND)

    def test_a_table_of_one_column(self):
        assert all_gaps(Y, D, pd.DataFrame({"group": S}), 1) == pytest.approx(BY_HAND)

    def test_labels_that_are_tuples(self):
        pairs = [("no", 0), ("yes", 1)]
        y_true, y_pred = ([pairs[label] for label in labels] for labels in (Y, D))
        assert all_gaps(y_true, y_pred, S, ("yes", 1)) == pytest.approx(BY_HAND)
        table = metrics.group_rates(y_true, y_pred, sensitive_features=S, favourable=("yes", 1))
        assert (
            table["accuracy"].tolist()
            == metrics.group_rates(Y, D, sensitive_features=S, favourable=1)["accuracy"].tolist()
        )

    def test_a_list_of_text_and_numbers_stays_what_it_is(self):
        table = metrics.group_rates([1, 0, 1], [1, 0, 0], sensitive_features=["1", 1, 1], favourable=1)
        assert table["n"].to_dict() == {"1": 1, 1: 2}

    def test_groups_are_sorted_or_else_in_order_of_appearance(self):
        groups, group = metrics.encode_groups(np.array(["q", "p", "q"], dtype=object))
        assert_array_equal(groups, ["p", "q"])
        assert_array_equal(group, [1, 0, 1])
        groups, group = metrics.encode_groups(np.array(["q", 3, "q", "p"], dtype=object))
        assert groups.tolist() == ["q", 3, "p"]
        assert_array_equal(group, [0, 1, 0, 2])


class TestErrors:
    def test_length_mismatch_names_the_arrays(self):
        with pytest.raises(ValueError, match="lengths are y_pred 9, sensitive_features 8"):
            metrics.statistical_parity_difference(D, sensitive_features=S[:-1], favourable=1)
        with pytest.raises(ValueError, match="lengths are y_true 8, y_pred 9, sensitive_features 9"):
            metrics.equal_opportunity_difference(Y[:-1], D, sensitive_features=S, favourable=1)

    @pytest.mark.parametrize(
        ("labels", "favourable", "listed"),
        [
            ([0, 1], 7, "0, 1"),
            ([0, 1], -1, "0, 1"),
            ([0, 1], 2.5, "0, 1"),
            ([0, 1], None, "0, 1"),
            ([0, 1], float("nan"), "0, 1"),
            ([0, 1], pd.NA, "0, 1"),
            ([0, 1], "1", "0, 1"),
            ([0, 1], [1], "0, 1"),
            ([0, 1], (1,), "0, 1"),
            ([0, 1], np.array([1]), "0, 1"),
            ([0.0, 1.0], "1.0", "0.0, 1.0"),
            ([False, True], "True", "False, True"),
            ([False, True], 2, "False, True"),
            (["no", "yes"], "Yes", "'no', 'yes'"),
            (["0", "1"], 1, "'0', '1'"),
            (["no", "yes"], None, "'no', 'yes'"),
            ([("no", 0), ("yes", 1)], ("yes", 2), r"\('no', 0\), \('yes', 1\)"),
        ],
    )
    def test_a_favourable_outcome_that_does_not_exist_is_an_error_in_every_metric(self, labels, favourable, listed):
        y_true, y_pred = ([labels[i] for i in positions] for positions in (Y, D))
        about = {"sensitive_features": S, "favourable": favourable}
        both = (
            metrics.count_table,
            metrics.equal_opportunity_difference,
            metrics.equalized_odds_difference,
            metrics.group_rates,
        )
        words = rf"is not among the labels {listed}\. "
        for metric in (metrics.statistical_parity_difference, metrics.disparate_impact):
            with pytest.raises(ValueError, match=words):
                metric(y_pred, **about)
        for metric in both:
            with pytest.raises(ValueError, match=words):
                metric(y_true, y_pred, **about)
            with pytest.raises(ValueError, match="is not among the classes"):
                metric(y_true, y_pred, **about, classes=labels)

    @pytest.mark.parametrize("favourable", [1, 1.0, True, np.int64(1), np.float32(1), np.bool_(True)])
    @pytest.mark.parametrize("dtype", [int, float, bool, np.uint8, object])
    def test_numbers_of_any_type_are_the_same_label(self, favourable, dtype):
        assert all_gaps(Y.astype(dtype), D.astype(dtype), S, favourable) == pytest.approx(BY_HAND)

    def test_an_outcome_only_in_the_truth_or_only_in_the_decisions_exists(self):
        zeros = np.zeros_like(Y)
        _, counts = metrics.count_table(Y, zeros, sensitive_features=S, favourable=1)
        assert_array_equal(counts, [[[2, 0], [2, 0]], [[1, 0], [4, 0]]])
        _, counts = metrics.count_table(zeros, D, sensitive_features=S, favourable=1)
        assert_array_equal(counts, [[[1, 3], [0, 0]], [[3, 2], [0, 0]]])

    def test_a_constant_decision_has_no_gap(self):
        constant = {"sensitive_features": ["a", "a", "b"], "favourable": 1}
        assert metrics.statistical_parity_difference([0, 0, 0], **constant) == 0
        assert metrics.statistical_parity_difference([0, 0, 0], **constant, classes=[0, 1]) == 0
        assert np.isnan(metrics.disparate_impact([0, 0, 0], **constant))
        with pytest.raises(ValueError, match=r"favourable=1 is not among the classes 0, 2\."):
            metrics.statistical_parity_difference([0, 0, 0], **constant, classes=[0, 2])

    @pytest.mark.parametrize("favourable", ["1", None, np.nan, pd.NA, (1,), [1]])
    def test_a_constant_decision_of_another_kind_is_an_error(self, favourable):
        with pytest.raises(ValueError, match="is not among the labels 0"):
            metrics.statistical_parity_difference([0, 0], sensitive_features=["a", "b"], favourable=favourable)

    def test_of_three_outcomes_nobody_gets_the_favourable_one(self):
        about = {"sensitive_features": ["a", "a", "b", "b"], "favourable": 2}
        with pytest.raises(ValueError, match="name all outcomes in classes"):
            metrics.statistical_parity_difference([0, 1, 0, 1], **about)
        assert metrics.statistical_parity_difference([0, 1, 0, 1], **about, classes=range(3)) == 0
        assert metrics.statistical_parity_difference([0, 1, 0, 2], **about, classes=range(3)) == pytest.approx(1 / 2)

    def test_labels_outside_the_classes_are_an_error(self):
        about = {"sensitive_features": S, "favourable": "1", "classes": ["0", "1"]}
        with pytest.raises(ValueError, match="labels 0, 1 are not among the classes '0', '1'"):
            metrics.statistical_parity_difference(D, **about)

    def test_a_long_list_of_labels_is_cut(self):
        with pytest.raises(ValueError, match="and 40 more"):
            metrics.statistical_parity_difference(range(50), sensitive_features=[0, 1] * 25, favourable=-1)

    def test_a_subset_where_all_have_the_same_unfavourable_outcome_needs_the_classes(self):
        subset = {"sensitive_features": ["a", "b"], "favourable": 1}
        with pytest.raises(ValueError, match="favourable=1 is not among the labels 0"):
            metrics.group_rates([0, 0], [0, 0], **subset)
        table = metrics.group_rates([0, 0], [0, 0], **subset, classes=[0, 1])
        assert_array_equal(table["selection_rate"], [0, 0])
        assert table["true_positive_rate"].isna().all()

    def test_empty(self):
        with pytest.raises(ValueError, match="y_pred is empty"):
            metrics.statistical_parity_difference([], sensitive_features=[], favourable=1)

    def test_two_columns(self):
        with pytest.raises(ValueError, match="sensitive_features must be one column"):
            metrics.statistical_parity_difference(D, sensitive_features=np.c_[S, S], favourable=1)

    @pytest.mark.parametrize("s", [[0.0, np.nan], ["a", None], ["a", np.nan], pd.Series(["a", pd.NA])])
    def test_missing_groups(self, s):
        with pytest.raises(ValueError, match="sensitive_features contains NaN or other missing values"):
            metrics.statistical_parity_difference([0, 1], sensitive_features=s, favourable=1)


class TestConsistency:
    # Neighbours on the line: 0 -> 1, 1 -> 0, 3 -> 1, 10 -> 3.
    X = np.array([[0.0], [1.0], [3.0], [10.0]])

    @pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, csr_array])
    def test_by_hand(self, make):
        assert metrics.consistency(make(self.X), ["u", "v", "v", "v"], n_neighbors=1) == pytest.approx(2 / 4)

    def test_two_neighbours(self):
        # 0 -> {1, 3}, 1 -> {0, 3}, 3 -> {1, 0}, 10 -> {3, 1}: agreeing 0, 1, 1 and 2 of 2.
        assert metrics.consistency(self.X, [0, 1, 1, 1], n_neighbors=2) == pytest.approx(4 / 8)

    def test_duplicates_do_not_count_themselves(self):
        X = np.zeros((4, 1))  # whichever three neighbours: of the pair one agrees, of the singles none
        assert metrics.consistency(X, ["u", "u", "v", "w"], n_neighbors=3) == pytest.approx((1 / 3 + 1 / 3) / 4)

    def test_constant_decision(self):
        assert metrics.consistency(self.X, [1, 1, 1, 1], n_neighbors=3) == 1

    def test_errors(self):
        with pytest.raises(ValueError, match="n_neighbors must be between 1 and 3"):
            metrics.consistency(self.X, [0, 1, 1, 1], n_neighbors=4)
        with pytest.raises(ValueError, match="lengths are X 4, y_pred 3"):
            metrics.consistency(self.X, [0, 1, 1], n_neighbors=1)


def test_the_module_itself_loads_nothing_slow():
    code = "import sys, fairglvq.fairness.metrics; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "sklearn", "fairlearn", "scipy"} & set(done.stdout.split())


def test_text_as_truth_and_numbers_as_decisions():
    for truth, decisions, favourable in ((Y.astype(str), D, "1"), (Y.astype(str), D, 1), (Y, D.astype(str), 1)):
        with pytest.raises(ValueError, match="so that no decision can be right: give both the same labels"):
            metrics.equal_opportunity_difference(truth, decisions, sensitive_features=S, favourable=favourable)
    assert metrics.equal_opportunity_difference(Y, np.zeros_like(Y), sensitive_features=S, favourable=1) == 0
