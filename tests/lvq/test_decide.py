"""decide="fair": cells of trained prototypes that answer together within a gap."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fairglvq import GLVQ, FairGLVQ, FairlyDecided, datasets
from fairglvq.fairness.metrics import statistical_parity_difference
from fairglvq.report import model_file
from fairglvq.report.model_file import ModelFileError, SavedModel


@pytest.fixture(scope="module")
def xor():
    return datasets.load("xor", size=150)


MODELS = [
    GLVQ(6, learning_rate=0.03, max_epochs=15, random_state=0),
    FairGLVQ(6, C=0.3, learning_rate=0.03, max_epochs=15, random_state=0),
    GLVQ(4, metric="matrix", max_epochs=10, random_state=0),
]
IDS = ["GLVQ", "FairGLVQ", "GMLVQ"]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_the_cells_stay_and_their_answers_are_the_best_within_the_gap(xor, model):
    about = {"sensitive_features": xor.s}
    plain = clone(model).fit(xor.X, xor.y, **about)
    fair = clone(model).set_params(decide="fair", max_gap=0.05).fit(xor.X, xor.y, **about)
    wrapped = FairlyDecided(clone(model), max_gap=0.05).fit(xor.X, xor.y, **about)
    assert_array_equal(fair.prototypes_, plain.prototypes_)
    assert_array_equal(fair.prototype_labels_, plain.prototype_labels_)
    assert_array_equal(fair.cell_labels_, wrapped.cell_labels_)
    assert_array_equal(fair.predict(xor.X), wrapped.predict(xor.X))
    assert fair.decision_[1:] == wrapped.decision_[1:]
    gap = statistical_parity_difference(fair.predict(xor.X), favourable=1, classes=[0, 1], **about)
    before = statistical_parity_difference(plain.predict(xor.X), favourable=1, classes=[0, 1], **about)
    assert gap <= 0.05 + 1e-12 < before
    assert fair.score(xor.X, xor.y) == pytest.approx(fair.decision_.accuracy)
    lead = fair.decision_function(xor.X)
    assert_array_equal(lead > 0, fair.predict(xor.X) == 1)
    assert plain.decision_ is None


def test_without_it_groups_change_nothing(xor):
    for model in (MODELS[0], MODELS[2]):
        alone = clone(model).fit(xor.X, xor.y)
        told = clone(model).fit(xor.X, xor.y, sensitive_features=xor.s, favourable=1)
        assert_array_equal(alone.prototypes_, told.prototypes_)
        assert told.groups_ is None
        assert_array_equal(told.cell_labels_, told.prototype_labels_)


def test_a_class_that_no_cell_answers_never_wins(xor):
    model = GLVQ(1, learning_rate=0.03, max_epochs=5, random_state=0, decide="fair", max_gap=0.0)
    model.fit(xor.X, xor.y, sensitive_features=xor.s)
    (only,) = set(model.cell_labels_)
    assert_array_equal(model.predict(xor.X), only)
    assert_array_equal(model.decision_function(xor.X), 1.0 if only == 1 else -1.0)


def test_more_than_two_classes_need_the_favourable_one():
    data = datasets.load("three_classes", size=60)
    model = FairGLVQ(3, C=0.2, learning_rate=0.03, max_epochs=5, random_state=0, decide="fair", max_gap=0.1)
    with pytest.raises(ValueError, match="favourable must be one of the classes"):
        model.fit(data.X, data.y, sensitive_features=data.s)
    model.fit(data.X, data.y, sensitive_features=data.s, favourable=2)
    rates = [np.mean(model.predict(data.X[data.s == g]) == 2) for g in (0, 1)]
    assert abs(rates[0] - rates[1]) <= 0.1 + 1e-12
    assert_array_equal(model.decision_function(data.X).argmax(axis=1), model.predict(data.X))


def test_what_cannot_be_is_said(xor):
    for model in (GLVQ(decide="fair"), FairGLVQ(C=0, decide="fair")):
        with pytest.raises(ValueError, match="decide='fair' needs the protected group of every point"):
            model.fit(xor.X, xor.y)
        assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="decide must be one of 'majority', 'fair'; got 'both'"):
        GLVQ(decide="both").fit(xor.X, xor.y)
    with pytest.raises(ValueError, match="max_gap must be a number from 0 to 1; got 2"):
        GLVQ(max_gap=2).fit(xor.X, xor.y)


def test_training_again_forgets_the_decision(xor):
    model = clone(MODELS[0]).set_params(decide="fair").fit(xor.X, xor.y, sensitive_features=xor.s)
    assert (model.cell_labels_ != model.prototype_labels_).any()
    model.set_params(decide="majority").fit(xor.X, xor.y)
    assert_array_equal(model.cell_labels_, model.prototype_labels_)


def test_files_keep_the_answers(xor):
    model = clone(MODELS[1]).set_params(decide="fair").fit(xor.X, xor.y, sensitive_features=xor.s)
    text = model_file.dumps(SavedModel.of(model, xor))
    again = model_file.loads(text.encode())
    assert_array_equal(again.predict(xor.X), model.predict(xor.X))
    assert again.model.get_params() == model.get_params()
    tree = json.loads(text)
    for change, words in (
        ({"cell_labels": [0, 1]}, "must have 12 entries"),
        ({"cell_labels": [7] * 12}, "whole numbers from 0 to 1"),
        ({"cell_labels": None}, "must be a list of whole numbers"),
    ):
        with pytest.raises(ModelFileError, match=words):
            model_file.loads(json.dumps(tree | change).encode())
    del tree["cell_labels"]
    with pytest.raises(ModelFileError, match="must be there if decide is 'fair'"):
        model_file.loads(json.dumps(tree).encode())
