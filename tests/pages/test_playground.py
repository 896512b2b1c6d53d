"""The playground's script without a browser: every preset and data set, links, undo, and what can go wrong."""

import json
import threading

import pytest
from apptest import labelled, settle, visit
from browser import ROOT
from streamlit.testing.v1 import AppTest

from fairglvq.datasets import DATASETS
from fairglvq.scenes.settings import DEFAULTS, FIELDS, PRESETS, Settings
from pages.shared.links import to_query


def scene_of(at):
    """The description of the scene that the stage was given."""
    (component,) = at.get("bidi_component")
    blob = component.proto.bytes
    header = int.from_bytes(blob[:4], "little")
    return json.loads(blob[4 : 4 + header])["meta"]


def captions(at):
    return [caption.value for caption in at.sidebar.caption]


def test_the_first_picture_needs_no_click():
    at = visit()
    meta = scene_of(at)
    assert [panel["key"] for panel in meta["panels"]] == ["glvq", "inp", "fairglvq"]
    assert meta["dataset"] == "xor"
    assert meta["epochs"][-1] == Settings().epochs
    assert at.query_params == {}
    assert not at.error
    assert not at.warning
    assert any("steps per epoch" in text for text in captions(at))
    assert any("updates" in text for text in captions(at))


def test_a_cold_server_does_not_wait_for_inp(monkeypatch):
    from fairglvq.scenes import training

    loaded, train_part = threading.Event(), training.train_part

    def after_loading(settings, points, method, progress):
        if method == "inp":
            assert loaded.wait(60)
        return train_part(settings, points, method, progress)

    monkeypatch.setattr(training, "train_part", after_loading)
    monkeypatch.setattr("fairglvq.scenes.service.cold", lambda: True)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["seed"] = "4711"  # never trained before
    at.run()
    assert [panel["key"] for panel in scene_of(at)["panels"]] == ["glvq", "fairglvq"]
    loaded.set()
    assert [panel["key"] for panel in scene_of(settle(at))["panels"]] == ["glvq", "inp", "fairglvq"]


@pytest.mark.parametrize(("page", "seed"), [(None, 4712), ("prototypes", 4713)])  # neither was trained before
def test_while_a_model_is_trained_the_one_shown_is_named_and_its_numbers_are_gone(monkeypatch, page, seed):
    from fairglvq.scenes import training

    go_on, train_part = threading.Event(), training.train_part

    def held(settings, points, method, progress):
        assert settings.seed != seed or go_on.wait(60)
        return train_part(settings, points, method, progress)

    monkeypatch.setattr(training, "train_part", held)
    monkeypatch.setattr("pages.shared.training.PATIENCE", 0)
    at = visit(page, beside="fairglvq", k="3", epochs="10")
    assert captions(at)
    at.session_state["visit"].model.settings = Settings(dataset="three_groups", seed=seed, beside=("fairglvq",))
    at.run()
    assert f"Training {DATASETS['three_groups'].title}: GLVQ, FairGLVQ" in at.get("progress")[0].proto.text
    assert "Dimmed until then: XOR." in [caption.value for caption in at.caption]
    assert captions(at) == []  # what settings did in another model
    if page is None:
        assert scene_of(at)["busy"] is True
        assert scene_of(at)["dataset"] == "xor"
    go_on.set()
    settle(at)
    assert not at.get("progress")
    assert captions(at)
    if page is None:
        assert scene_of(at)["busy"] is False
        assert scene_of(at)["dataset"] == "three_groups"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_shows_its_picture_and_story(name):
    at = visit()
    labelled(at.button_group, "Start from").set_value(name).run()
    settle(at)
    assert scene_of(at)["dataset"] == PRESETS[name].settings.dataset
    assert PRESETS[name].story in [text.value for text in at.markdown]
    assert dict(at.query_params) == to_query(PRESETS[name].settings)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name == "adult")) for name in DATASETS if name != "compas"],
)
def test_every_data_set_can_be_chosen(name):
    at = visit(epochs="10") if DEFAULTS[name].real else visit()
    labelled(at.button_group, "Data set").set_value(name).run()
    settle(at)
    meta = scene_of(at)
    assert meta["dataset"] == name
    assert (meta["slice"] is None) == DATASETS[name].synthetic


def test_compas_is_offered_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_CACHE", str(tmp_path))
    monkeypatch.setenv("FAIRGLVQ_COMPAS_WHEEL", str(tmp_path / "none.whl"))
    at = visit()
    labelled(at.button_group, "Data set").set_value("compas").run()
    assert any("COMPAS is not on this computer yet" in text.value for text in at.markdown)
    fetch = next(button for button in at.button if button.label == "Fetch COMPAS")
    fetch.click().run()
    at.session_state["visit"].download.thread.join()
    at.run()
    assert not at.exception
    assert any("It did not work" in text.value for text in at.markdown)
    assert "pip download" in at.code[0].value
    at.button(key="back_from_fetching").click().run()
    assert scene_of(settle(at))["dataset"] == "xor"


VALUES = {"C": 1.0, "prototypes": 2, "batch_size": 500, "alpha": 3.0, "learning_rate": 0.1, "epochs": 50, "beta": 3.0}
VALUES |= {"step": "published", "held_out": 0.3, "noise": 1.2, "bias": 0.5, "seed": 3, "beside": ("fairglvq",)}


@pytest.mark.parametrize("name", VALUES)
def test_every_control_changes_the_picture_and_the_link(name):
    at = visit()
    at.session_state["more"] = True
    at.run()
    before = scene_of(at)["revision"]
    value = VALUES[name]
    find = {"seed": at.number_input, "step": at.button_group, "beside": at.button_group}
    find |= {key: at.select_slider for key in ("alpha", "batch_size", "learning_rate", "epochs")}
    labelled(find.get(name, at.slider), FIELDS[name].label).set_value(value).run()
    settle(at)
    assert scene_of(at)["revision"] != before
    assert list(at.query_params) == [FIELDS[name].query]
    assert getattr(at.session_state["visit"].model.settings, name) == value


def test_every_method_can_stand_beside_glvq():
    at = visit(beside=".".join(FIELDS["beside"].choices), epochs="10")
    shown = scene_of(settle(at))
    assert [panel["key"] for panel in shown["panels"]] == ["glvq", *FIELDS["beside"].choices]
    words = next(text.value for text in at.main.markdown if "The pictures show the same people" in text.value)
    assert all(f"**{name}**" in words for name in FIELDS["beside"].names.values())


@pytest.mark.parametrize(("beside", "asked"), [("fairglvq", "Drag a"), ("inp", "Press play, drag a")])
def test_a_learned_distance_is_told_and_nothing_is_played_that_was_not_recorded(beside, asked):
    at = visit(metric="matrix", k="1", epochs="10", beside=beside)
    words = next(text.value for text in at.main.markdown if "is learned, and **Squeeze** shows it" in text.value)
    assert f"{asked} prototype" in words
    shown = scene_of(settle(at))
    assert (len(shown["epochs"]) > 1) == (beside == "inp")
    assert [bool(panel.get("squeeze")) for panel in shown["panels"]] == [True, beside == "fairglvq"]


def test_real_data_have_a_plane_and_projections():
    at = visit(data="german", epochs="10", metric="euclidean", beside="inp.fairglvq")
    at.session_state["more"] = True
    at.run()
    labelled(at.button_group, "Plane shown").set_value("prototypes").run()
    assert "busiest prototype" in scene_of(settle(at))["slice"]
    labelled(at.select_slider, "Directions INP removes").set_value(5).run()
    assert "5 of 59" in scene_of(settle(at))["panels"][1]["note"]


def test_a_link_restores_settings_and_view():
    at = visit(data="local", C="2", view='{"epoch":40}')
    assert scene_of(at)["view"] == {"epoch": 40}
    assert at.session_state["visit"].model.settings == Settings(dataset="local", C=2.0)
    assert labelled(at.slider, "Fairness strength C").value == 2.0


def test_a_bad_link_is_repaired_said_and_dismissed():
    at = visit(C="999", k="many", view="{", what="ever")
    told = next(text.value for text in at.markdown if "link was repaired" in text.value)
    for part in ("Fairness strength C 999", "“many” is not a number", "“what”", "view could not be read"):
        assert part in told
    assert dict(at.query_params) == {"C": "15"}
    next(button for button in at.button if button.label == "Dismiss").click().run()
    assert not any("link was repaired" in text.value for text in at.markdown)


@pytest.mark.parametrize(
    ("link", "end"),
    [
        ({"beside": "paritylvq"}, "**ParityLVQ** keeps to the gap that you allow. Press play, drag a prototype."),
        ({"data": "german", "beside": "fairtree"}, "**GLVQ** only maximises accuracy. Drag a prototype, turn C."),
    ],
)
def test_the_story_speaks_of_what_is_there(link, end):
    story = next(text.value for text in visit(**link).markdown if "Each point is a person" in text.value)
    assert story.endswith(end)
    assert "picture is of" not in story


def test_reset_keeps_the_seed_and_new_seed_keeps_the_rest():
    at = visit(C="0.5", k="2", seed="7")
    button = {button.label: button for button in at.button}
    button["New seed"].click().run()
    settings = settle(at).session_state["visit"].model.settings
    assert (settings.C, settings.prototypes) == (0.5, 2)
    assert settings.seed != 7
    next(button for button in at.button if button.label == "Reset").click().run()
    assert settle(at).session_state["visit"].model.settings == Settings(seed=settings.seed)


def test_painting_away_a_class_is_explained_and_undone():
    from fairglvq.scenes.points import load_points

    rows = [int(row) for row in (load_points(Settings()).y == 1).nonzero()[0]]
    at = visit()
    before = scene_of(at)
    at.session_state["visit"].model.history = [at.session_state["visit"].model.settings]
    at.session_state["visit"].model.settings = Settings(erased=tuple(rows))
    settle(at.run())
    assert any("Only one class is left" in text.value for text in at.markdown)
    assert scene_of(at)["revision"] == before["revision"]
    at.button(key="undo_problem").click().run()
    assert not any("Only one class is left" in text.value for text in settle(at).markdown)


def late_page():
    """A run on the playground for a message of the lesson's stage, sent before the lesson was left."""
    import streamlit as st

    from pages.shared.playground import gestures
    from pages.shared.visit import visit

    here = visit()
    here.page = ""
    here.own_model.history = [here.own_model.settings]
    st.session_state["lesson_stage_1"] = {"view": {"epoch": 3}, "gestures": [{"kind": "undo", "serial": 5}]}
    gestures.keep_view("lesson_stage_1")
    gestures.receive("lesson_stage_1")


def test_what_the_lesson_s_stage_tells_late_does_not_change_the_playground_s_model():
    at = AppTest.from_function(late_page, default_timeout=60).run()
    assert not at.exception
    here = at.session_state["visit"]
    assert (here.own_model.view, here.lesson.model.view) == (None, {"epoch": 3})
    assert (len(here.own_model.history), here.own_model.acknowledged) == (1, 0)
