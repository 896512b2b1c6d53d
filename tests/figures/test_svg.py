"""Figures as SVG: everything that Plotly draws is there, and what cannot be drawn is an error."""

import xml.etree.ElementTree as ET

import plotly.graph_objects as go
import pytest

from fairglvq.experiments import bundle, paper
from fairglvq.figures.svg import ticks, to_svg
from fairglvq.figures.tradeoff import styles, tradeoff_figure
from fairglvq.tradeoff import curve

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figure():
    table = curve.summary(bundle.rows(paper.paper_sweep("adult")))
    lines = [bundle.load().limits["adult", False]]
    return tradeoff_figure(table, limits=lines, published=paper.published())


def test_the_picture_is_sound_xml_with_every_name_and_mark(figure):
    root = ET.fromstring(to_svg(figure, alt="Accuracy <against> fairness"))
    words = [node.text for node in root.iter(f"{SVG}text")]
    for trace in figure.data:
        if trace.showlegend is not False:
            assert trace.name in words
    assert root.find(f"{SVG}title").text == "Accuracy <against> fairness"
    n_marks = sum(len(trace.x) for trace in figure.data if "markers" in trace.mode)
    n_entries = sum("markers" in trace.mode and trace.showlegend is not False for trace in figure.data)
    assert len(list(root.iter(f"{SVG}polygon"))) == n_marks + n_entries


def test_marks_stand_where_the_axes_say():
    figure = go.Figure(
        go.Scatter(x=[0.0, 1.0], y=[0.0, 1.0], mode="markers", marker={"symbol": "circle", "color": "red"})
    )
    figure.update_xaxes(range=[0, 1])
    figure.update_yaxes(range=[0, 1])
    root = ET.fromstring(to_svg(figure, width=400, height=300))
    first, last = root.iter(f"{SVG}circle")
    frame = root.find(f"{SVG}clipPath/{SVG}rect")
    left, top = float(frame.get("x")), float(frame.get("y"))
    right, bottom = left + float(frame.get("width")), top + float(frame.get("height"))
    assert (float(first.get("cx")), float(first.get("cy"))) == pytest.approx((left, bottom))
    assert (float(last.get("cx")), float(last.get("cy"))) == pytest.approx((right, top))


def test_every_method_s_mark_can_be_drawn():
    for style in styles().values():
        marker = {"symbol": style.shape, "color": style.colour.light}
        assert "<polygon" in to_svg(go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="markers", marker=marker)))


@pytest.mark.parametrize(
    "figure",
    [
        go.Figure(go.Bar(x=[1], y=[2])),
        go.Figure(go.Scatter(x=[1], y=[2], mode="markers", marker={"symbol": "pentagon"})),
        go.Figure(go.Scatter(x=[1, 2], y=[2, 3]), layout={"xaxis": {"type": "log"}}),
    ],
)
def test_what_cannot_be_drawn_is_an_error(figure):
    with pytest.raises(ValueError, match="drawn"):
        to_svg(figure)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.74, 0.87, [0.74, 0.76, 0.78, 0.8, 0.82, 0.84, 0.86])],
)
def test_ticks_are_round(low, high, found):
    assert ticks(low, high) == found
