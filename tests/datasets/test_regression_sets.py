"""Data sets with a number as target."""

import numpy as np
import pytest

from fairglvq import datasets
from fairglvq.__main__ import main
from fairglvq.datasets import RegressionDataset
from fairglvq.datasets.base import Block


@pytest.fixture(scope="module")
def communities():
    return datasets.load("communities")


def test_classification_does_not_know_them():
    assert list(datasets.REGRESSION) == ["communities", "student"]
    assert not set(datasets.DATASETS) & set(datasets.REGRESSION)


def test_a_sweep_of_classifiers_says_so(capsys):
    assert main(["sweep", "--dataset", "student", "--fresh"]) == 2
    assert "student has a number as target" in capsys.readouterr().err


def test_communities(communities):
    assert communities.X.shape == (1993, 100)
    assert np.isfinite(communities.X).all()
    assert not communities.groups
    np.testing.assert_array_equal(communities.s, communities.X[:, communities.feature_names.index("racepctblack")])
    np.testing.assert_array_equal(communities.y, communities.frame["ViolentCrimesPerPop"])
    assert "ViolentCrimesPerPop" not in communities.feature_names
    assert "communityname" not in communities.feature_names
    assert communities.frame.communityname[0] == "Lakewoodcity"
    assert "Correlation of target and protected value: 0.63" in communities.describe()
    assert datasets.load("communities", drop_group=True).X.shape == (1993, 99)


def test_student():
    by_sex, by_age = datasets.load("student"), datasets.load("student", protected="age", drop_group=True)
    assert (by_sex.X.shape, by_age.X.shape) == ((649, 43), (649, 42))
    assert np.bincount(by_sex.s).tolist() == [383, 266]
    assert by_sex.groups
    assert not by_age.groups
    np.testing.assert_array_equal(by_age.s, by_age.frame["age"])
    assert not {"G1", "G2", "G3", "age"} & set(by_age.feature_names)
    assert datasets.load("student", earlier_grades=True).X.shape == (649, 45)
    assert "female 12.25, male 11.41" in by_sex.describe()
    with pytest.raises(ValueError, match="protected must be one of 'sex', 'age'; got 'school'"):
        datasets.load("student", protected="school")


def test_a_cut_makes_classes_and_groups(communities):
    cut = communities.cut(target_at=0.5)
    np.testing.assert_array_equal(cut.y, communities.y >= 0.5)
    assert cut.class_names == {0: "under 0.5", 1: "0.5 or more"}
    assert cut.favourable == 0  # few crimes are wanted
    np.testing.assert_array_equal(cut.s, communities.s > np.median(communities.s))
    by_sex = datasets.load("student").cut(target_at=10)
    assert by_sex.favourable == 1
    assert by_sex.group_names == {0: "female", 1: "male"}
    assert by_sex.y.mean() == pytest.approx(np.mean(datasets.load("student").y >= 10))


def test_a_number_with_few_values_is_cut_above_its_median():
    data = RegressionDataset(
        "tiny", "Tiny", np.arange(4.0)[:, None], np.array([0.0, 0, 0, 1]), np.array([3.0, 3, 3, 3]),
        (Block("x", 0, 1, "number"),), "high", "y", "s", None, None, source="", licence="",
    )  # fmt: skip
    cut = data.cut(protected_at=4)
    assert cut.y.tolist() == [0, 0, 0, 1]
    assert cut.s.tolist() == [0, 0, 0, 0]
