"""The grammar of pictures: colours that everybody can tell apart, on light and dark pages, and shapes Plotly knows."""

import itertools
import re

import numpy as np
import pytest
from colours import SIGHT, THEMES, contrast, lab, linear

from fairglvq.grammar import BACKGROUNDS, CLASS_COLOURS, GROUP_SHAPES, SHAPES, class_colours, mix, stage_grammar


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
