"""The trade-off page's own decisions: scenarios kept side by side, and the buttons that say what they compute."""

import pandas as pd
import pytest
from apptest import labelled
from streamlit.testing.v1 import AppTest

from fairglvq.tradeoff.choice import usual
from pages.shared.tradeoff import results


def page():
    """Only the section about the gap, for a curve of three strengths."""
    import pandas as pd

    from fairglvq.tradeoff import curve
    from fairglvq.tradeoff.choice import usual
    from pages.shared.tradeoff import results, scenarios

    def row(strength, accuracy, gap, women, men):
        counts = [[[10 - women, women], [0, 0]], [[0, 0], [20 - men, men]]]
        return {"dataset": "adult", "method": "fairglvq", "strength": strength, "fold": 0, "seed": 0,
                "accuracy": accuracy, "statistical_parity": gap, "equal_opportunity": 0.1, "seconds": 1.0,
                "counts": counts}  # fmt: skip

    rows = pd.DataFrame([row(0.0, 0.9, 0.25, 1, 10), row(1.0, 0.8, 0.1, 3, 8), row(2.0, 0.7, 0.02, 5, 5)])
    found = results.Found(rows, 0, 0, ["Female", "Male"])
    scenarios.draw(usual("adult"), found, curve.summary(rows))


@pytest.fixture
def at():
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    return at


def text(at):
    return " ".join(element.proto.body for element in at.get("html"))


def press(at, label):
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception


def test_a_gap_can_be_chosen_and_scenarios_are_kept_side_by_side(at):
    assert at.slider[0].value == 25.0
    assert "within 25.0 points is FairGLVQ (C = 0): its gap is 25.0 points, and 90.0% of its" in text(at)
    press(at, "Save scenario")
    at.slider[0].set_value(12.0).run()
    assert "Women: 2 more get the favourable decision than with the most accurate model (3 of 10)." in text(at)
    assert "Men: 2 fewer get" in text(at)
    at.text_input[0].set_value("Mild").run()
    press(at, "Save scenario")
    kept = at.dataframe[0].value
    assert kept.columns.tolist() == ["scenario", "at most 25.0 points", "Mild"]
    assert kept["Mild"].tolist()[1:4] == ["FairGLVQ (C = 1)", "10.0 points", "80.0%"]
    assert at.text_input[0].value == ""
    press(at, "Delete scenarios")
    assert not at.dataframe


def test_a_name_is_kept_also_when_the_button_is_pressed_before_the_page_has_heard_of_it(at):
    at.text_input[0].set_value("Mild")
    press(at, "Save scenario")
    assert at.dataframe[0].value.columns.tolist() == ["scenario", "Mild"]


def test_no_model_within_the_gap_is_said(at):
    at.slider[0].set_value(1.0).run()
    assert any("No model here keeps to 1.0 points" in words.value for words in at.markdown)


@pytest.mark.parametrize(
    ("known", "missing", "words"),
    [(0, 25, "Compute 25 models"), (10, 25, "Compute the 25 new models"), (10, 1, "Compute the 1 new model")],
)
def test_the_button_says_what_it_computes(known, missing, words):
    assert results.compute_words(known, missing) == words


def test_strengths_are_added_to_the_choice_where_its_curve_jumps():
    choice = usual("xor").with_strengths("fairglvq", (0.0, 1.0))
    rows = pd.DataFrame(
        [
            {"dataset": "xor", "method": "fairglvq", "strength": strength, "fold": 0, "seed": 0, "accuracy": 0.9,
             "statistical_parity": gap, "equal_opportunity": gap, "seconds": 1.0}
            for strength, gap in ((0.0, 0.25), (1.0, 0.04))
        ]
    )  # fmt: skip
    more = results.with_missing_strengths(choice, results.Found(rows, 0, 0, []))
    assert dict(more.strengths)["fairglvq"] == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert dict(more.strengths)["inp"] == dict(choice.strengths)["inp"]
    assert results.with_missing_strengths(choice, results.Found(pd.DataFrame(), 0, 0, [])) == choice


def failed(methods):
    """What stands above a curve of which ExponentiatedGradient failed."""
    from types import SimpleNamespace

    from fairglvq.tradeoff.choice import usual
    from pages.shared.tradeoff import results
    from pages.shared.visit import visit

    choice = usual("three_classes").with_methods(methods, 2)
    models = [model for model in choice.sweep().models() if model.method == "glvq"]
    scores = {"accuracy": 0.9, "statistical_parity": 0.1, "equal_opportunity": 0.1, "seconds": 1.0}
    visit().curve.run = SimpleNamespace(
        sweep=choice.sweep(), rows=dict.fromkeys(models, scores), state="done", problem="", store_error="",
        failures={"exponentiated_gradient": ValueError("this method needs two labels")},
    )  # fmt: skip
    results.status(choice, results.collect(choice))


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (["glvq", "exponentiated_gradient"], "5 of 5 models are finished."),
        (["exponentiated_gradient"], "No chosen method works on these data."),
    ],
)
def test_models_of_methods_that_failed_are_not_called_finished(methods, words):
    at = AppTest.from_function(failed, default_timeout=60, args=(methods,)).run()
    assert not at.exception
    assert at.markdown[0].value == words
    assert "was left out: this method needs two labels" in at.warning[0].value


def to_compute():
    """What is chosen, and the buttons that compute it."""
    from pages.shared.tradeoff import controls, results, session

    controls.panel(session.current())
    results.status(session.current(), results.collect(session.current()))


def test_strengths_typed_just_before_are_those_that_are_computed(monkeypatch):
    begun = []
    monkeypatch.setattr(results.runs, "begin", lambda section, sweep, *rest: begun.append(sweep))
    at = AppTest.from_function(to_compute, default_timeout=60).run()
    labelled(at.text_input, "FairGLVQ: C").set_value("0.123")
    press(at, "Compute again")
    assert [dict(sweep.strengths)["fairglvq"] for sweep in begun] == [(0.123,)]


def constant():
    """The point of a constant answer."""
    import pandas as pd

    from pages.shared.tradeoff import picture, results

    row = {"dataset": "xor", "method": "const", "strength": None, "fold": 0, "seed": 0, "accuracy": 0.5,
           "statistical_parity": 0.0, "equal_opportunity": 0.0, "seconds": 1.0,
           "counts": [[[0, 5], [0, 5]], [[0, 5], [0, 5]]]}  # fmt: skip
    picture.point_details(results.Found(pd.DataFrame([row]), 0, 0, ["town A", "town B"]), "const", None)


def test_groups_with_the_same_rate_are_not_compared_with_themselves():
    at = AppTest.from_function(constant, default_timeout=60).run()
    assert not at.exception
    assert "All groups get the favourable decision equally often." in text(at)
