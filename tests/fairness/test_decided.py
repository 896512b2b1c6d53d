"""Cells of fitted models decided anew."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from fairglvq import GLVQ, FairGLVQ, FairlyDecided, FairTree, ParityLVQ, datasets
from fairglvq.fairness.cells import Cells, majority
from fairglvq.fairness.metrics import statistical_parity_difference


@pytest.fixture(scope="module")
def xor():
    return datasets.load("xor", size=150)


@pytest.mark.parametrize(
    "model",
    [
        GLVQ(8, max_epochs=20, random_state=0),
        FairGLVQ(8, C=0.5, max_epochs=20, random_state=0),
        ParityLVQ(3, max_gap=1.0, random_state=0),
        FairTree(16, C=-1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_partition_model_keeps_to_the_gap(xor, model):
    decided = FairlyDecided(model, max_gap=0.05).fit(xor.X, xor.y, sensitive_features=xor.s)
    answers = decided.predict(xor.X)
    gap = statistical_parity_difference(answers, sensitive_features=xor.s, favourable=1, classes=[0, 1])
    assert gap <= 0.05 + 1e-12
    assert gap == pytest.approx(decided.decision_.gap, abs=1e-12)
    assert decided.score(xor.X, xor.y) == pytest.approx(decided.decision_.accuracy, abs=1e-12)
    before = decided.estimator_
    assert_array_equal(before.apply(xor.X), decided.apply(xor.X))
    most = Cells(decided.cells_.counts, majority(decided.cells_.counts), 1).score
    assert decided.decision_.accuracy <= most.accuracy
    assert most.statistical_parity > 0.05
    assert decided.cells_.score.accuracy == decided.decision_.accuracy


def test_a_fitted_model_keeps_its_cells(xor):
    fitted = GLVQ(4, learning_rate=0.03, max_epochs=10, random_state=0).fit(xor.X, xor.y)
    labels = np.array(["no", "yes"])
    named = GLVQ(4, learning_rate=0.03, max_epochs=10, random_state=0).fit(xor.X, labels[xor.y])
    one = FairlyDecided(FrozenEstimator(fitted), max_gap=0.1).fit(xor.X, xor.y, sensitive_features=xor.s)
    two = FairlyDecided(FrozenEstimator(named), max_gap=0.1).fit(
        xor.X, labels[xor.y], sensitive_features=xor.s, favourable="no"
    )
    assert one.estimator_.estimator is fitted
    assert_array_equal(labels[one.predict(xor.X)], two.predict(xor.X))  # two classes: either one may be favourable
    assert clone(one).max_gap == 0.1


def test_what_is_missing_is_said(xor):
    with pytest.raises(ValueError, match="FairlyDecided needs the protected group of every row"):
        FairlyDecided(GLVQ()).fit(xor.X, xor.y)
    with pytest.raises(NotFittedError):
        FairlyDecided(GLVQ()).predict(xor.X)


def test_what_cannot_be_decided(xor):
    with pytest.raises(TypeError, match="needs a model with cells, such as GLVQ"):
        FairlyDecided(LogisticRegression()).fit(xor.X, xor.y, sensitive_features=xor.s)
    with pytest.raises(ValueError, match="max_gap must be a number of at least 0"):
        FairlyDecided(FairTree(4), max_gap="0.1").fit(xor.X, xor.y, sensitive_features=xor.s)
    with pytest.raises(ValueError, match="sensitive_features must be one column"):
        FairlyDecided(FairTree(4)).fit(xor.X, xor.y, sensitive_features=1)
    with pytest.warns(UserWarning, match="a single group"):
        FairlyDecided(GLVQ(2, random_state=0)).fit(xor.X, xor.y, sensitive_features=np.zeros(len(xor.y)))
