"""Trees on the stage: rectangles, marks and decisions are those of FairTree."""

from dataclasses import replace

import numpy as np
import pytest

from fairglvq import FairTree
from fairglvq.scenes import effects, scene
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import DEFAULTS, Point, Settings, with_changes
from fairglvq.scenes.training import FILM_C, film_key, filmed, part_key, train_film, train_part
from pages.shared.links import from_query, to_query
from pages.shared.playground import stage

SETTINGS = {
    "xor": Settings(epochs=10, beside=("fairtree",), leaves=8),
    "three classes": Settings(dataset="three_classes", epochs=10, beside=("fairglvq", "fairtree"), C=0.5, leaves=12),
    "painted": Settings(epochs=10, beside=("fairtree",), held_out=0.0, painted=(Point(0.5, 0.5, 1, 0),) * 9, C=5.0),
}


def ignore(share):
    pass


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS, scope="module")
def settings(request):
    return request.param


@pytest.fixture(scope="module")
def shown(settings):
    points = load_points(settings)
    return scene.compose(settings, points, {m: train_part(settings, points, m, ignore) for m in settings.methods})


def estimator(settings, points, C=None):
    learn = ~points.held_out
    tree = FairTree(settings.leaves, C=settings.C if C is None else C)
    return tree.fit(points.X[learn], points.y[learn], sensitive_features=points.s[learn])


def boxes_around(boxes, X):
    """Which of the boxes (P, d, 2) each point (n, d) lies in: (n, P)."""
    return ((boxes[:, :, 0] < X[:, None]) & (X[:, None] <= boxes[:, :, 1])).all(axis=2)


def check_drawn(arrays, prefix, number, points, tree):
    """Every point lies in exactly one of the boxes that are drawn: the one of its leaf, which decides as the tree."""
    boxes, labels = arrays[f"{prefix}.boxes"][number], arrays[f"{prefix}.labels"][number]
    inside = boxes_around(boxes, points.X)
    np.testing.assert_array_equal(inside.sum(axis=1), 1)
    leaf = inside.argmax(axis=1)
    np.testing.assert_array_equal(leaf, tree.apply(points.X))
    np.testing.assert_array_equal(labels[leaf], tree.predict(points.X))
    P = tree.n_leaves_
    np.testing.assert_array_equal(arrays[f"{prefix}.pseudo"][number][:P], tree.pseudo_classes_)
    learn = ~points.held_out
    means = [points.X[learn & (leaf == j)].mean(axis=0) for j in range(P)]
    np.testing.assert_allclose(arrays[f"{prefix}.prototypes"][number][:P], means)
    assert np.isnan(arrays[f"{prefix}.prototypes"][number][P:]).all()
    assert np.isnan(boxes[P:]).all()


def test_the_last_picture_is_the_tree_itself(settings, shown):
    tree = estimator(settings, shown.points)
    check_drawn(shown.arrays, "fairtree", -1, shown.points, tree)
    panel = shown.meta["panels"][-1]
    assert (panel["key"], panel["knob"], panel["strength"]) == ("fairtree", "C", settings.C)
    assert panel["frame_names"][0] == "1 leaf"
    assert panel["frame_names"][-1] == f"{tree.n_leaves_} leaves"
    measured = shown.points.measured
    right = np.mean(tree.predict(shown.points.X[measured]) == shown.points.y[measured])
    assert scene.final_scores(shown)["fairtree"].accuracy == pytest.approx(right)
    assert stage.pack(shown.meta, shown.arrays)


def test_a_frame_is_a_tree_with_fewer_leaves(settings, shown):
    frames = shown.trainings["fairtree"]
    points = shown.points
    for number in range(len(frames.epochs)):
        tree = estimator(replace(settings, leaves=number + 1), points)
        inside = boxes_around(frames.leaves.boxes[number], points.X)
        np.testing.assert_array_equal(inside.argmax(axis=1), tree.apply(points.X))
        np.testing.assert_array_equal(frames.leaves.labels[number][: number + 1], tree.leaf_labels_)


def test_a_film_holds_the_tree_of_every_strength(settings, shown):
    assert "fairtree" in filmed(settings)
    film = train_film(settings, shown.points, "fairtree", ignore)
    whole = scene.with_film(shown, settings, "fairtree", film)
    for number in (0, 6, len(FILM_C) - 1):
        tree = estimator(settings, shown.points, FILM_C[number])
        check_drawn(whole.arrays, "film.fairtree", number, shown.points, tree)
    about = whole.meta["films"]["fairtree"]
    assert (about["knob"], about["values"]) == ("C", FILM_C)


def test_effects_speak_of_leaves_and_of_prototypes(settings, shown):
    told = effects.sentences(settings, shown)
    grown = estimator(settings, shown.points).n_leaves_
    assert told["leaves"].startswith(
        f"All {grown}" if grown == settings.leaves else f"The tree stopped at {grown} leaves"
    )
    per_class = settings.prototypes * len(shown.points.classes)
    assert told["prototypes"].startswith(f"{per_class} in all")


def test_only_what_a_tree_depends_on_grows_it_anew():
    base = SETTINGS["xor"]
    for changes in ({"leaves": 9}, {"seed": 1}, {"noise": 2.0}):
        assert part_key(replace(base, **changes), "fairtree") != part_key(base, "fairtree")
        assert film_key(replace(base, **changes), "fairtree") != film_key(base, "fairtree")
    assert part_key(replace(base, C=0.3), "fairtree") != part_key(base, "fairtree")
    assert film_key(replace(base, C=0.3), "fairtree") == film_key(base, "fairtree")
    assert part_key(replace(base, epochs=20, prototypes=7), "fairtree") == part_key(base, "fairtree")


def test_trees_are_offered_on_all_data():
    drawn = SETTINGS["xor"]
    assert with_changes(drawn, dataset="german").beside == DEFAULTS["german"].beside
    for settings in (drawn, replace(DEFAULTS["german"], beside=("fairglvq", "fairtree"), leaves=7)):
        assert from_query(to_query(settings)) == (settings, [])


@pytest.mark.parametrize("metric", ["matrix", "euclidean"])
def test_a_tree_of_real_data_is_trained_and_scored_but_not_drawn(metric):
    settings = replace(DEFAULTS["german"], beside=("fairtree",), metric=metric, leaves=9, C=0.5, epochs=10, bins=8)
    points = load_points(settings)
    shown = scene.compose(settings, points, {m: train_part(settings, points, m, ignore) for m in settings.methods})
    assert [panel["key"] for panel in shown.meta["panels"]] == ["glvq"]
    assert not any(name.startswith("fairtree") for name in shown.arrays)
    assert shown.meta["coming"] == 0
    assert filmed(settings) == ()
    tree, m = estimator(settings, points), points.measured
    found = shown.trainings["fairtree"].leaves
    np.testing.assert_array_equal(found.last.apply(points.X), tree.apply(points.X))
    np.testing.assert_array_equal(found.labels[-1][: tree.n_leaves_], tree.leaf_labels_)
    right = np.mean(tree.predict(points.X[m]) == points.y[m])
    assert scene.final_scores(shown)["fairtree"].accuracy == pytest.approx(right)
    assert effects.sentences(settings, shown)["leaves"] == f"All {tree.n_leaves_} are used."
    assert stage.pack(shown.meta, shown.arrays)
