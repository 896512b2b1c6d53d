"""The grammar of pictures: colours that everybody can tell apart, on light and dark pages, and shapes Plotly knows."""

import itertools
import re
from typing import Literal

import numpy as np
import pytest

from fairglvq.grammar import BACKGROUNDS, CLASS_COLOURS, GROUP_SHAPES, SHAPES, class_colours, mix, stage_grammar

THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a, b):
    low, high = sorted(TO_XYZ[1] @ linear(c) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_marks_stand_out_from_their_page_and_regions_stay_pale(theme):
    page = BACKGROUNDS[theme]
    for colour in CLASS_COLOURS:
        assert contrast(colour.mark(theme), page) >= 3
        assert 1.02 < contrast(colour.pale(theme), page) < 2
        assert contrast(colour.mark(theme), colour.pale(theme)) > 2.3  # a point is seen in its own region


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHT)
def test_every_pair_of_classes_can_be_told_apart(theme, sight):
    seen = [lab(SIGHT[sight] @ linear(c.mark(theme))) for c in CLASS_COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 15


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_two_classes_differ_in_lightness_too(theme):
    first, second = (lab(linear(c.mark(theme)))[0] for c in CLASS_COLOURS[:2])
    assert abs(first - second) >= 20


def test_shapes_are_plotly_markers():
    scatter = pytest.importorskip("plotly.graph_objects").Scatter
    for shape in GROUP_SHAPES:
        assert scatter(marker={"symbol": shape}).marker.symbol == shape


def test_mix_of_known_colours():
    assert mix("#000000", "#ffffff", 0.25) == "#bfbfbf"
    assert mix("#ff0000", "#0000ff", 1.0) == "#ff0000"


def test_stage_grammar_has_one_sign_for_each():
    grammar = stage_grammar(3, 2)
    assert [c["light"] for c in grammar["classes"]] == [c.light for c in CLASS_COLOURS[:3]]
    assert set(grammar["classes"][0]) == {"light", "dark", "pale_light", "pale_dark"}
    assert grammar["groups"] == [SHAPES["circle"].path, SHAPES["diamond"].path]


def test_every_shape_has_its_own_character_and_a_closed_outline_of_relative_steps():
    assert len({shape.glyph for shape in SHAPES.values()}) == len({s.path for s in SHAPES.values()}) == len(SHAPES)
    for shape in SHAPES.values():
        assert re.fullmatch(r"m[-.\d, al]+z", shape.path)


def test_too_many_classes_is_an_error_not_a_repeated_colour():
    with pytest.raises(ValueError, match="1 to 4 classes"):
        class_colours(5)
