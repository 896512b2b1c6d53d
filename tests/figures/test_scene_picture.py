"""Still pictures of scenes: cells against brute force, marks against the data."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fairglvq.fairness.limit import known
from fairglvq.figures.scene import PEOPLE, Arrows, Model, cell, model_of, scene_svg
from fairglvq.figures.strengths import strengths_svg

BOX = (-1.0, -1.0, 1.0, 1.0)
MAPS = {
    "plain": (np.eye(2), np.zeros(2)),
    "affine": (np.array([[1.5, -0.4], [0.3, 0.8]]), np.array([0.2, -0.5])),
    "projection": (np.array([[0.64, 0.48], [0.48, 0.36]]), np.array([0.1, 0.3])),
}


def inside(corners, x):
    """Whether x is inside a convex polygon, whose corners go anticlockwise."""
    if len(corners) < 3:
        return False
    along, to = np.roll(corners, -1, axis=0) - corners, x - corners
    return bool((along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0] > 0).all())


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_the_nearest_prototype_regions(name, weighted):
    rng = np.random.default_rng(1)
    A, b = MAPS[name]
    W, labels = rng.uniform(-1, 1, (7, 2)), np.arange(7) % 2
    weights = rng.uniform(0, 0.5, 7) if weighted else np.zeros(7)
    model = Model(W, weights, A, b, None, labels, labels)
    cells = [cell(model, j, BOX) for j in range(7)]
    for x in rng.uniform(-1, 1, (300, 2)):
        distances = ((A @ x + b - W) ** 2).sum(axis=1) + weights
        assert [inside(corners, x) for corners in cells] == (np.arange(7) == distances.argmin()).tolist()


def test_prototypes_after_inp_are_on_the_line_that_is_left():
    A, b = MAPS["projection"]  # onto the direction (0.8, 0.6)
    line = {"origin": [0.5, 0.5], "removed": [-0.6, 0.8], "kept": [0.8, 0.6]}
    X = np.array([[0.3, 0.9], [-0.4, 0.2]])
    model = Model(X @ A.T + b, np.zeros(2), A, b, line, np.array([0, 1]), np.array([0, 1]))
    assert (model.drawn - [0.5, 0.5]) @ [-0.6, 0.8] == pytest.approx([0, 0])
    assert model.drawn @ [0.8, 0.6] == pytest.approx(X @ [0.8, 0.6])


def scene(n=50):
    rng = np.random.default_rng(0)
    meta = {
        "bounds": [0.0, 0.0, 1.0, 1.0], "classes": ["no", "yes"], "groups": ["A", "B"], "favourable": 1,
        "panels": [{"key": "glvq", "map": None, "line": None, "labels": [0, 1]}],
    }  # fmt: skip
    arrays = {
        "points": rng.random((n, 2)), **{name: rng.integers(0, 2, n) for name in ("y", "s", "held_out")},
        "glvq.prototypes": rng.random((3, 2, 2)), "glvq.pseudo": np.array([[0, 1]] * 3),
        "film.glvq.prototypes": rng.random((4, 2, 2)), "film.glvq.pseudo": np.array([[1, 1]] * 4),
        "film.glvq.weights": rng.random((4, 2)),
    }  # fmt: skip
    return meta, arrays


def test_a_model_is_the_last_frame_or_one_of_the_film():
    meta, arrays = scene()
    assert model_of(meta, arrays, "glvq").W.tolist() == arrays["glvq.prototypes"][-1].tolist()
    assert model_of(meta, arrays, "glvq").weights.tolist() == [0, 0]
    filmed = model_of(meta, arrays, "glvq", 2)
    assert filmed.W.tolist() == arrays["film.glvq.prototypes"][2].tolist()
    assert filmed.weights.tolist() == arrays["film.glvq.weights"][2].tolist()
    assert filmed.pseudo.tolist() == [1, 1]


@pytest.mark.parametrize(("n", "marks"), [(50, 50), (2 * PEOPLE, PEOPLE)])
def test_a_picture_has_a_mark_for_everybody_up_to_a_number(n, marks):
    meta, arrays = scene(n)
    vectors = np.array([[1.0, 0.0], [0.0, 0.5]])
    svg = scene_svg(
        meta, arrays, model_of(meta, arrays, "glvq"), alt="GLVQ & people", arrows=[Arrows(vectors, "#123456")]
    )
    root = ElementTree.fromstring(svg)
    assert root[0].text == "GLVQ & people"
    people = [element.get("d") for element in root.iter() if (element.get("transform") or "").startswith("scale(")]
    assert sum(path.count("M") for path in people) == marks
    if n == marks:
        hollow = [element.get("d") for element in root.iter() if element.get("fill") == "#fff" and element.get("d")]
        assert sum(path.count("M") for path in hollow) == arrays["held_out"].sum()
    assert svg.count("<polygon") == 2
    assert re.findall(r">(.)</text>", svg) == ["\N{MINUS SIGN}", "+"]
    # The longest arrow goes right, the other one up and is half as long.
    assert re.findall(r'l(-?[\d.]+) (-?[\d.]+)" stroke="#123456"', svg) == [("70.0", "-0.0"), ("0.0", "-35.0")]


def test_an_empty_plane_has_the_axes_of_the_full_one():
    curves = {"fairglvq": [(0.3, 0.9), (0.05, 0.8)], "paritylvq": [(0.2, 0.95), (0.0, 0.85)]}
    names = ("gap", "accuracy", "the limit")
    full, empty = (strengths_svg(curves, known("local"), names, drawn=drawn) for drawn in (True, False))
    ticks = re.compile(r"<text[^>]*>([\d.]+)</text>")
    assert ticks.findall(full) == ticks.findall(empty) != []
    assert "the limit" in full
    assert "FairGLVQ" in full
    assert "<polyline" not in empty
