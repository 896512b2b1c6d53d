"""How a link wants the app shown: read, written, repaired; and kept on every page."""

import apptest
import pytest
from apptest import labelled

from fairglvq.scenes.settings import DEFAULTS, FIELDS
from pages.shared import display
from pages.shared.display import ALL, PRESETS, Display

SOME = Display(projector=True, hidden=frozenset({"alpha", PRESETS}), locked=frozenset({"C", "dataset"}))


def test_a_display_in_a_link_and_back():
    assert SOME.to_query() == {"projector": "1", "hide": "alpha.presets", "lock": "data.C"}
    assert display.from_query(SOME.to_query()) == (SOME, [])
    assert display.from_query({}) == (Display(), [])
    assert Display().to_query() == {}


def test_what_cannot_be_read_is_left_out_and_said():
    found, told = display.from_query({"projector": "yes", "hide": "C.nonsense", "lock": "all.k"})
    assert found == Display(hidden=frozenset({"C"}), locked=frozenset({"prototypes"}))
    assert [sentence.split(":")[0].split(" “")[0] for sentence in told] == ["projector", "hide", "lock"]
    _, told = display.from_query(dict.fromkeys(display.PARAMETERS, "![](//a/x)"))
    assert all("?" in sentence and "[" not in sentence for sentence in told)  # Markdown would fetch a picture


def test_what_is_hidden_or_locked_is_fixed():
    assert SOME.fixes("alpha")
    assert SOME.fixes("C")
    assert not SOME.fixes("seed")
    assert SOME.shows("C")
    assert not SOME.shows("alpha")
    assert all(Display(hidden=frozenset({ALL})).fixes(name) for name in FIELDS)


@pytest.mark.parametrize(
    ("shown", "presets"),
    [
        (Display(), True),
        (Display(projector=True), True),
        (Display(hidden=frozenset({PRESETS})), False),
        (Display(hidden=frozenset({"alpha"})), False),
        (Display(locked=frozenset({"C"})), False),
    ],
)
def test_presets_go_with_the_first_setting_that_is_fixed(shown, presets):
    assert shown.shows_presets is presets


def address(at):
    return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}


def labels(at):
    return [slider.label for slider in [*at.slider, *at.select_slider]]


def test_a_link_hides_and_locks_controls_and_stays_in_the_address():
    at = apptest.visit(data="local", C="0.35", epochs="10", hide="alpha.batch", lock="C.seed", projector="1")
    assert "Missing rival alpha" not in labels(at)
    assert "Batch size" not in labels(at)
    locked = labelled(at.slider, "Fairness strength C")
    assert (locked.value, locked.disabled) == (0.35, True)
    assert not labelled(at.slider, "Prototypes per class").disabled
    assert labelled(at.button, "New seed").disabled
    assert not [one for one in at.button_group if one.label == "Start from"]
    asked = {"hide": "batch.alpha", "lock": "C.seed", "projector": "1"}
    assert asked.items() <= address(at).items()
    assert not at.session_state["visit"].model.films  # no curve to choose another C from
    labelled(at.slider, "Prototypes per class").set_value(2).run()
    labelled(at.button_group, "Data set").set_value("xor").run()
    settings = apptest.settle(at).session_state["visit"].model.settings
    assert (settings.dataset, settings.C, settings.prototypes) == ("xor", 0.35, 2)
    labelled(at.button, "Reset").click().run()
    settings = apptest.settle(at).session_state["visit"].model.settings
    assert settings.prototypes == DEFAULTS["xor"].prototypes
    assert settings.C == 0.35
    assert asked.items() <= address(at).items()


def test_a_bad_link_is_repaired_and_said():
    at = apptest.visit(data="local", epochs="10", hide="nonsense")
    assert at.session_state["visit"].model.repairs == ["hide: there is no control “nonsense”; it was left out."]
    assert "hide" not in at.query_params
