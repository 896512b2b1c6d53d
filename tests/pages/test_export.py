"""The buttons that export the model in view, the curve in its report, and the import of a model file."""

import json

import pytest
from models import trained_view
from streamlit.testing.v1 import AppTest

from fairglvq.report import model_file, model_in_view
from fairglvq.scenes.settings import Point, Settings
from pages.shared.prototypes import export

GERMAN = Settings(dataset="german", C=1.0, prototypes=2, batch_size=100, epochs=6, seed=3)


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        (Settings(dataset="xor"), True),
        (Settings(dataset="xor", noise=1.7), False),
        (Settings(dataset="xor", painted=(Point(0.1, 0.2, 0, 1),)), False),
        (Settings(dataset="table"), False),
    ],
)
def test_a_report_has_the_curve_of_its_data(settings, known):
    """Also before the trade-off page was opened, but never that of other points."""
    curve = export.curve_for(settings)
    assert (curve is not None) == known
    if known:
        assert {"glvq", "inp", "fairglvq"} <= set(curve.rows["method"])


def page(content=None):
    """A page that only offers the model of a small training."""
    import streamlit as st

    from pages.shared.prototypes import export
    from tests.models import trained_view
    from tests.pages.test_export import GERMAN

    @st.cache_resource
    def view():
        return trained_view(GERMAN)

    export.offer(view(), "fairglvq")


def test_the_buttons_and_the_import():
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["model_export"] = True
    at.run()
    assert not at.exception
    assert [button.label for button in at.get("download_button")] == ["Report (HTML)", "Report (JSON)", "Model (JSON)"]
    content = model_file.dumps(model_in_view.saved_of(trained_view(GERMAN), "fairglvq")).encode()
    at.file_uploader(key="e_open").set_value(("model.json", content, "application/json")).run()
    assert not at.exception
    said = " ".join(element.proto.body for element in at.get("html"))
    assert "Measured on all 1,000 people. It was trained on these data" in said
    assert "decides with 4 prototypes" in said
    broken = json.loads(content)
    broken["prototypes"][0][0] = "<b>x</b>"
    at.file_uploader(key="e_open").set_value(("model.json", json.dumps(broken).encode(), "application/json")).run()
    assert not at.exception
    said = " ".join(element.proto.body for element in at.get("html"))
    assert "“prototypes[0]” must hold finite numbers" in said
    assert "<b>" not in said
