"""Settings: links there and back, repairs, presets, and what a change makes meaningless."""

import ast
import gc
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

import fairglvq
from fairglvq.datasets import DATASETS
from fairglvq.scenes.settings import (
    DEFAULTS,
    FIELDS,
    MAIN,
    PRESETS,
    TABLE,
    Fold,
    Point,
    Settings,
    for_table,
    nearest_allowed,
    preset_of,
    shape_of,
    with_changes,
)
from fairglvq.scenes.sources import register
from pages.shared.links import PAINT_LIMIT, from_query, missing_in_link, place, start_from, to_query

PAINT = (Point(place(0.5), place(0.25), 1, 0), Point(place(-0.3), place(1.4), 0, 1))


def test_the_table_covers_every_plain_setting():
    assert {*FIELDS, "painted", "erased", "start", "fold", "table"} == {field.name for field in fields(Settings)}
    assert len({field.query for field in FIELDS.values()}) == len(FIELDS)
    assert set(MAIN) <= set(FIELDS)


@pytest.mark.parametrize("settings", [*DEFAULTS.values(), *(preset.settings for preset in PRESETS.values())])
def test_every_default_and_preset_is_allowed(settings):
    for name, field in FIELDS.items():
        value = getattr(settings, name)
        if field.several:
            assert set(value) <= set(field.choices)
        elif isinstance(value, str):
            assert value in (*field.choices, TABLE)
        else:
            assert nearest_allowed(field, value) == value


def test_defaults_need_no_link_and_every_data_set_has_some():
    assert to_query(Settings()) == {}
    assert set(DEFAULTS) == {*DATASETS, TABLE}
    for name, settings in DEFAULTS.items():
        assert settings.dataset == name
        assert set(to_query(settings)) <= {"data"}


ROUND_TRIPS = {
    "between two steps": Settings(C=1.0234375),
    "numbers": Settings(C=0.35, alpha=5.0, prototypes=7, batch_size=25, learning_rate=0.3, seed=123),
    "words": Settings(dataset="local", step="published"),
    "data": Settings(noise=0.3, bias=0.55, held_out=0.5, beta=9.5, epochs=20),
    "real": replace(DEFAULTS["adult"], plane="prototypes", projections=10),
    "painted": Settings(painted=PAINT, erased=(3, 4, 700)),
    "erased first": Settings(erased=(0, 1)),
    "fold": Settings(fold=Fold(5, 4, 12)),
    "paper": replace(DEFAULTS["adult"], C=12.5, prototypes=20, epochs=500, projections=95),
    "moved": Settings(prototypes=1, start=start_from("inp", [[0.12345, -0.2], [1.5, 0.0]])),
} | {f"preset {name}": preset.settings for name, preset in PRESETS.items()}


@pytest.mark.parametrize("settings", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_a_link_brings_back_the_same_settings(settings):
    query = to_query(settings)
    assert from_query(query) == (settings, [])
    assert all(isinstance(value, str) for value in query.values())


REPAIRS = {
    "too large": ({"C": "99"}, {"C": 15.0}, "Fairness strength C 99 is not possible: 15"),
    "too small": ({"k": "0"}, {"prototypes": 1}, "1 is used"),
    "no choice": ({"batch": "240"}, {"batch_size": 250}, "250"),
    "no number": ({"eta": "fast"}, {"learning_rate": 0.05}, "“fast” is not a number"),
    "nan": ({"seed": "nan"}, {"seed": 0}, "not a number"),
    "infinite": ({"C": "inf"}, {"C": 1.5}, "not a number"),
    "unknown word": ({"step": "huge"}, {"step": "algorithm"}, "“huge” is unknown: Algorithm 1"),
    "unknown data": ({"data": "iris"}, {"dataset": "xor"}, "“iris” is unknown: XOR"),
    "unknown name": ({"colour": "red"}, {}, "“colour” in the link is not known"),
    "a picture as a name": ({"![](//a.b/c)": ""}, {}, "“??????a.b?c?” in the link is not known"),
    "very long": ({"data": "x" * 500}, {}, "xxxx…"),
    "fraction": ({"k": "2.6"}, {"prototypes": 3}, "3 is used"),
    "paint": ({"paint": "abc"}, {"painted": ()}, "could not be read"),
    "paint of no class": ({"paint": "zzzzz"}, {"painted": ()}, "left out"),
    "erase": ({"erase": "1.x"}, {"erased": ()}, "all points are there"),
    "paint on people": ({"data": "german", "paint": "0000_"}, {"painted": ()}, "only be painted on drawn data"),
    "moved": ({"from": "glvq.1.2"}, {"start": None}, "do not fit"),
    "fold": ({"fold": "5.5.0"}, {"fold": None}, "could not be read"),
    "somebody's table": ({"data": "table", "table": "0123456789ab"}, {"dataset": "xor"}, "only its owner's visit"),
}


@pytest.mark.parametrize(("query", "expected", "said"), REPAIRS.values(), ids=REPAIRS)
def test_a_bad_link_is_repaired_and_said(query, expected, said):
    settings, told = from_query(query)
    assert len(told) == 1
    assert said in told[0]
    for name, value in expected.items():
        assert getattr(settings, name) == value
    assert from_query(to_query(settings)) == (settings, [])


def test_what_streamlit_and_lessons_add_to_a_link_is_no_mistake():
    assert from_query({"view": "{}", "embed": "true"}) == (Settings(), [])
    assert from_query({"beside": "inp.inp"}) == (Settings(beside=("inp",)), [])  # said twice, and known


def test_many_painted_points_stay_out_of_the_link():
    many = Settings(painted=PAINT[:1] * (PAINT_LIMIT + 1))
    assert "painted" in missing_in_link(many)
    assert to_query(many) == {}
    full = Settings(painted=PAINT[:1] * PAINT_LIMIT)
    assert from_query(to_query(full)) == (full, [])


@pytest.mark.parametrize("dataset", [name for name, entry in DATASETS.items() if entry.synthetic])
def test_shapes_are_those_of_the_data(dataset):
    data = DATASETS[dataset].loader(size=2)
    assert shape_of(dataset) == (len(data.class_names), len(data.group_names))


def test_presets_are_recognised_whatever_the_seed():
    for name, preset in PRESETS.items():
        assert preset_of(replace(preset.settings, seed=77)) == name
    assert preset_of(Settings()) is None


def test_a_change_forgets_what_no_longer_makes_sense():
    here = Settings(prototypes=1, painted=PAINT, erased=(4,), start=start_from("glvq", [[0, 0], [1, 1]]))
    assert with_changes(here, C=2.0) == replace(here, C=2.0)
    assert with_changes(here, prototypes=1) == here
    assert with_changes(here, prototypes=2).start is None
    assert with_changes(here, prototypes=2).painted == PAINT
    other = with_changes(here, seed=5)
    assert (other.painted, other.erased, other.start) == (PAINT, (), None)
    local = with_changes(here, dataset="local")
    assert (local.painted, local.erased, local.start, local.prototypes) == ((), (), None, 1)


def test_people_are_trained_with_settings_of_their_own():
    adult = with_changes(Settings(learning_rate=0.3, seed=3), dataset="adult")
    assert adult == replace(DEFAULTS["adult"], seed=3)
    assert with_changes(adult, dataset="xor") == Settings(seed=3)


def test_an_own_table_is_known_as_long_as_somebody_holds_it():
    data = DATASETS["local"].loader(size=40)
    settings = for_table(register(data), data)
    assert from_query(to_query(settings)) == (settings, [])
    assert settings.real
    assert settings.prototypes <= 40
    assert with_changes(settings, dataset="xor").table == ""
    del data
    gc.collect()
    assert from_query(to_query(settings))[0].dataset == "xor"


def test_another_split_leaves_the_fold():
    here = Settings(fold=Fold(5, 1, 0))
    assert with_changes(here, C=2.0).fold == here.fold
    assert with_changes(here, held_out=0.5).fold is None
    assert with_changes(here, dataset="local").fold is None


def test_settings_and_links_load_nothing_slow():
    code = "import sys, fairglvq.scenes.settings, fairglvq.scenes.sources, pages.shared.links; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "sklearn", "pandas", "scipy", "streamlit"} & set(done.stdout.split())


def test_no_import_of_the_library_is_for_types_only():
    """An import that only the type checker sees hides a cycle; the facade alone imports its names lazily."""
    facade = Path(fairglvq.__file__)
    hidden = []
    for path in facade.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path != facade and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                lines = map(ast.unparse, node.body)
                hidden += [f"{path.name}: {line}" for line in lines if "fairglvq" in line]
    assert hidden == []
