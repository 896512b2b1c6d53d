"""Pictures of a class: bars by hand, models and target in one plane."""

import re

import pytest

from fairglvq.fairness import limit
from fairglvq.figures.classroom import Bar, bars_html, plane_alt, plane_figure
from fairglvq.figures.svg import to_svg
from fairglvq.lesson.progress import Result
from fairglvq.lesson.steps import challenges

FOUND = [Result(0.85, 0.04, True), Result(0.85, 0.04, True), Result(0.9, 0.3, False)]


def test_a_bar_is_a_share_of_all_and_its_words_are_text():
    page = bars_html([Bar("<b>few</b>", 1), Bar("many", 3, "held here")], 'Answers to "why"')
    assert re.findall(r"width:([\d.]+)%", page) == ["25.0", "75.0"]
    assert "&lt;b&gt;few&lt;/b&gt;" in page
    assert "held here" in page
    assert 'aria-label="Answers to &quot;why&quot;"' in page
    assert re.findall(r"width:([\d.]+)%", bars_html([Bar("nobody", 0)], "")) == ["0.0"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("key", challenges())
def test_everybody_s_models_stand_where_they_are(key, theme):
    challenge = challenges()[key]
    figure = plane_figure(FOUND, challenge, limit=limit.known("xor"), theme=theme)
    traces = {trace.name: trace for trace in figure.data}
    reached, missed = traces["target reached"], traces["not yet"]
    assert (list(reached.x), list(reached.y), list(reached.text)) == ([4.0], [85.0], ["2"])
    assert (list(missed.x), list(missed.y), list(missed.text)) == ([30.0], [90.0], [""])
    assert missed.marker.symbol == f"{reached.marker.symbol}-open"
    target = traces["target: above and left of it"]
    assert (target.x[1], target.y[1]) == pytest.approx((100 * challenge.gap, 100 * challenge.accuracy))
    low, high = figure.layout.yaxis.range
    assert all(low <= y <= high for trace in figure.data for y in trace.y)
    assert figure.layout.xaxis.range[1] > 30
    assert to_svg(figure).count("<polygon") == 4  # two models, and two marks in the legend


def test_the_picture_in_words():
    challenge = challenges()["byhand"]
    assert plane_alt([], challenge) == "Nobody has tried this challenge yet."
    words = plane_alt(FOUND, challenge)
    assert words.startswith("3 students have tried this challenge and 2 reached its target")
    assert words.endswith("The best model so far has 85.0% at 4.0 points.")
