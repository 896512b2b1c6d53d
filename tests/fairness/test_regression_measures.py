"""Measures of predicted numbers: worked by hand, and where the answer is known."""

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import mutual_info_score, r2_score, root_mean_squared_error

from fairglvq.fairness import regression


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    s = rng.normal(size=2000)
    return 0.6 * s + 0.8 * rng.normal(size=2000), s


def test_accuracy_is_that_of_scikit_learn(pairs):
    assert regression.r2(*pairs) == pytest.approx(r2_score(*pairs))
    assert regression.rmse(*pairs) == pytest.approx(root_mean_squared_error(*pairs))
    assert np.isnan(regression.r2([3, 3], [1, 2]))


def test_mean_difference_by_hand():
    found = regression.mean_difference([1, 3, 10, 20, 5], sensitive_features=["a", "a", "b", "b", "c"])
    assert found == 15 - 2
    assert np.isnan(regression.mean_difference([1, 2], sensitive_features=["a", "a"]))


def test_correlation(pairs):
    assert regression.correlation(-pairs[0], sensitive_features=pairs[1]) == pytest.approx(pearsonr(*pairs)[0])
    assert regression.correlation(np.ones(3), sensitive_features=[1, 2, 3]) == 0


def test_mutual_information_by_hand():
    told = regression.mutual_information([0, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    assert told == pytest.approx(np.log(2))
    assert regression.mutual_information([0, 0, 1, 1], sensitive_features=["a", "b", "a", "b"]) == 0
    # 3 of 4 in one corner, 1 in the other
    some = 0.5 * np.log(0.5 / (0.5 * 0.75)) + 0.25 * np.log(0.25 / (0.5 * 0.75)) + 0.25 * np.log(0.25 / (0.5 * 0.25))
    assert regression.mutual_information([0, 0, 1, 1], sensitive_features=[7, 7, 7, 9]) == pytest.approx(some)


def test_bins_are_of_equal_size(pairs):
    codes = [np.argsort(np.argsort(values, kind="stable")) * 10 // 2000 for values in pairs]
    found = regression.mutual_information(pairs[0], sensitive_features=pairs[1])
    assert found == pytest.approx(mutual_info_score(*codes), abs=0.01)
    assert found == pytest.approx(-0.5 * np.log(1 - 0.36), abs=0.05)  # of two normal variables, a little less in bins


def test_maximal_correlation():
    """Of two yes or no it is the correlation; of a square and its root 1, where the correlation is 0."""
    a, b = np.repeat([0, 0, 1, 1], [5, 2, 1, 4]), np.repeat([0, 1, 0, 1], [5, 2, 1, 4])
    assert regression.maximal_correlation(a, sensitive_features=b) == pytest.approx(abs(np.corrcoef(a, b)[0, 1]))
    x = np.array([-2, -1, 0, 1, 2] * 20)
    assert regression.correlation(x**2, sensitive_features=x) == pytest.approx(0)
    assert regression.maximal_correlation(x**2, sensitive_features=x) == pytest.approx(1)
    assert regression.maximal_correlation(np.ones(100), sensitive_features=x) == 0


def test_maximal_correlation_of_normal_variables_is_their_correlation(pairs):
    assert regression.maximal_correlation(pairs[0], sensitive_features=pairs[1]) == pytest.approx(0.6, abs=0.05)


def test_all_at_once(pairs):
    of_values = regression.dependence(pairs[0], sensitive_features=pairs[1], groups=False)
    assert np.isnan(of_values.mean_difference)
    assert of_values.correlation == regression.correlation(pairs[0], sensitive_features=pairs[1])
    codes = np.arange(2000) % 30  # more groups than bins: still groups
    of_groups = regression.dependence(pairs[0], sensitive_features=codes, groups=True)
    assert np.isnan(of_groups.correlation)
    assert of_groups.mean_difference == regression.mean_difference(pairs[0], sensitive_features=codes)
    assert of_groups.mutual_information > regression.mutual_information(pairs[0], sensitive_features=codes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: regression.r2([1, 2], [1]), "lengths are y_true 2, y_pred 1"),
        (lambda: regression.rmse([], []), "empty"),
        (lambda: regression.correlation([1, np.nan], sensitive_features=[1, 2]), "contains NaN"),
        (lambda: regression.mutual_information([1, 2], sensitive_features=[1, 2], bins=1), "bins must be at least 2"),
    ],
)
def test_what_is_wrong_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
