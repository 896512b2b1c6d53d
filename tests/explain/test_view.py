"""A training explained: models that decide in a plane of their own, as the stage keeps them."""

import numpy as np
import pytest

from fairglvq import GLVQ, ParityLVQ, datasets, explain, wording
from fairglvq.explain import PrototypeModel
from fairglvq.explain.people import population
from fairglvq.explain.view import View, model_in_plane
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import Settings

SETTINGS = Settings(dataset="german", held_out=0.0)


@pytest.fixture(scope="module")
def german():
    data = datasets.load("german")
    return data, population(data)


@pytest.fixture(scope="module", params=["parity", "metric"])
def fitted(request, german):
    people = german[1]
    if request.param == "metric":
        return GLVQ(2, metric="matrix", rank=2, max_epochs=10, random_state=0).fit(people.X, people.y)
    return ParityLVQ(3, max_epochs=5, random_state=0).fit(people.X, people.y, sensitive_features=people.s)


def on_stage(model):
    """Matrix, shift and prototypes as the stage keeps a model: turned, scaled, moved; handicaps as heights."""
    turned = 0.3 * np.array([[0.8, 0.6], [-0.6, 0.8]])
    offset = np.array([0.5, 0.2])
    handicaps = getattr(model, "handicaps_", np.zeros(len(model.prototypes_)))
    places = model.prototypes_ @ model.omega_.T @ turned.T + offset
    heights = 0.3 * np.sqrt(handicaps.max() - handicaps)
    matrix = np.vstack([turned @ model.omega_, np.zeros(model.omega_.shape[1])])
    return matrix, np.append(offset, 0.0), np.column_stack([places, heights])


def test_a_model_of_the_stage_decides_as_its_estimator(german, fitted):
    people = german[1]
    labels = fitted.prototype_labels_
    model = model_in_plane(people.X, *on_stage(fitted), labels)
    np.testing.assert_array_equal(model.decide(people.X), fitted.predict(people.X))
    np.testing.assert_allclose(model.distances(people.X), 0.09 * fitted.transform(people.X) ** 2)
    assert (model.handicaps is None) == isinstance(fitted, GLVQ)
    # The profile of a prototype does not depend on how its plane is turned and scaled.
    np.testing.assert_allclose(model.prototypes, fitted.prototypes_, atol=1e-8)


def test_the_map_is_the_plane_in_which_a_model_decides(german, fitted):
    data, people = german
    model = PrototypeModel.of(fitted, range(2), range(2))
    plain = PrototypeModel(fitted.prototypes_, fitted.prototype_labels_)
    view = View(SETTINGS, data, load_points(SETTINGS), people, {"fairglvq": model, "glvq": plain}, None)
    assert view.in_own_plane("fairglvq")
    assert not view.in_own_plane("glvq")
    places = view.places("fairglvq", people.X)
    np.testing.assert_allclose(places, people.X @ fitted.omega_.T)
    assert view.own_axes("glvq") == []
    assert view.axes("fairglvq") == tuple(wording.axis_name(axis) for axis in view.own_axes("fairglvq"))
    # Everybody stands in the cell that decides about them.
    away = places[:, None] - model.images
    costs = (away**2).sum(axis=2) - (0.0 if model.handicaps is None else model.handicaps)
    np.testing.assert_array_equal(costs.argmin(axis=1), explain.explain(people, model).nearest)
