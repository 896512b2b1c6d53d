"""The plane as a learned distance sees it, against the distance itself; its words against weights worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from fairglvq.scenes import effects, scene
from fairglvq.scenes.points import load_points
from fairglvq.scenes.settings import DEFAULTS, FIELDS, Settings
from fairglvq.scenes.squeeze import FLOOR, squeeze_of, weights_in_words
from fairglvq.scenes.training import filmed, part_key, train_part
from pages.shared.links import from_query, to_query

LEARNED = Settings(metric="matrix", beside=("fairglvq",))
NAMES = ["income", "savings"]


def turned(degrees, first, second):
    """A metric whose first direction, so many degrees above the horizontal, is ``first`` long, the other ``second``."""
    angle = np.radians(degrees)
    directions = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.array([[0.6, -0.8], [0.8, 0.6]]) @ (np.array([[first], [second]]) * directions)


@pytest.mark.parametrize("omega", [turned(0, 4, 1), turned(37, 3, 2), turned(80, 0.02, 5), turned(200, 7e4, 9e3)])
def test_plain_distance_in_the_squeezed_plane_is_the_learned_one(omega):
    P = np.array(squeeze_of(omega, NAMES)["matrix"])
    np.testing.assert_allclose(P, P.T)  # nothing turns
    assert np.linalg.eigvalsh(P).max() == pytest.approx(1)  # and what counts most keeps its length
    steps = np.random.default_rng(0).normal(size=(50, 2))
    ratio = np.linalg.norm(steps @ omega.T, axis=1) / np.linalg.norm(steps @ P.T, axis=1)
    np.testing.assert_allclose(ratio, np.linalg.norm(omega, 2))


def test_a_direction_that_does_not_count_can_still_be_drawn_back():
    P = np.array(squeeze_of(turned(0, 4, 0), NAMES)["matrix"])
    np.testing.assert_allclose(P, np.diag([1, FLOOR]), atol=1e-12)


@pytest.mark.parametrize(
    ("omega", "words", "slanted"),
    [
        (turned(0, 4, 1), "weight on income: 4.0 times that on savings", False),
        (turned(90, 12.4, 1), "weight on savings: 12 times that on income", False),
        (turned(0, 60, 1), "nearly all weight on income", False),
        (turned(0, 4, 0), "nearly all weight on income", False),
        # A step along income is sqrt(9 cos² + sin²) of 10 degrees long, one along savings sqrt(9 sin² + cos²).
        (turned(10, 3, 1), "weight on income: 2.7 times that on savings", False),
        (turned(45, 3, 1), "weight along a slant: 3.0 times that across", True),
        (turned(-40, 1, 0), "nearly all weight along a slant", True),
        (turned(45, 1.05, 1), "about the same weight on income and savings", False),
    ],
)
def test_weights_in_words(omega, words, slanted):
    assert weights_in_words(omega, NAMES) == words
    found = squeeze_of(omega, NAMES)
    assert (found["words"], found["slanted"]) == (words, slanted)


def test_the_distance_can_be_learned_on_drawn_data():
    assert {"glvq", "fairglvq"} == {m for m in ("glvq", "inp", "fairglvq", "fairtree") if LEARNED.in_own_plane(m)}
    assert all(FIELDS["metric"].applies(settings) for settings in DEFAULTS.values())
    assert not any(Settings().in_own_plane(method) for method in ("glvq", "inp", "fairglvq", "fairtree"))
    stepwise = ("batch_size", "learning_rate", "epochs", "step")
    assert not any(FIELDS[name].applies(LEARNED) for name in stepwise)
    assert all(FIELDS[name].applies(replace(LEARNED, beside=("inp",))) for name in stepwise)
    assert filmed(LEARNED) == ()
    assert part_key(LEARNED, "glvq") != part_key(replace(LEARNED, metric="euclidean"), "glvq")
    assert part_key(LEARNED, "inp") == part_key(replace(LEARNED, metric="euclidean"), "inp")


def test_a_link_brings_the_learned_distance_and_no_start_of_ones_own():
    assert to_query(LEARNED)["metric"] == "matrix"
    assert from_query(to_query(LEARNED)) == (LEARNED, [])
    moved = {"k": "1", "from": "glvq.0.0.10000.10000"}
    assert from_query(moved)[0].start is not None
    settings, told = from_query(moved | {"metric": "matrix"})
    assert settings.start is None
    assert "do not fit" in told[0]


def test_panels_and_the_setting_say_what_was_learned():
    settings = replace(LEARNED, beside=("inp", "fairglvq", "paritylvq"), prototypes=2, epochs=10)
    points = load_points(settings)
    trainings = {m: train_part(settings, points, m, lambda share: None) for m in settings.methods}
    shown = scene.compose(settings, points, trainings)
    panels = {panel["key"]: panel for panel in shown.meta["panels"]}
    assert "squeeze" not in panels["inp"]
    for key in ("glvq", "fairglvq", "paritylvq"):
        omega = trainings[key].learned.omega
        assert panels[key]["squeeze"] == squeeze_of(omega, points.axes)
        words = weights_in_words(omega, points.axes)
        assert (panels[key]["note"] == words) == (key != "paritylvq")
        assert words in effects.sentences(settings, shown)["metric"]
    assert effects.sentences(settings, shown)["metric"].endswith("INP stays plain.")
    plain = replace(settings, metric="euclidean", beside=("inp",))
    told = effects.sentences(plain, scene.compose(plain, points, {"glvq": trainings["inp"]}))["metric"]
    assert told == "For all, income and savings count alike."
