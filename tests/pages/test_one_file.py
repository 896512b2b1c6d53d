"""The stage as one file, without a browser: its size, what it says about itself, what it must not hold, its button."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from browser import ROOT
from streamlit.testing.v1 import AppTest
from tables import people

from fairglvq.datasets.table import Plan, build
from fairglvq.scenes.points import load_points
from fairglvq.scenes.scene import compose, with_film
from fairglvq.scenes.settings import DEFAULTS, PRESETS, Fold, Point, Settings, for_table, in_words
from fairglvq.scenes.sources import register
from fairglvq.scenes.training import FILM_C, Film, train_part
from fairglvq.version import __version__
from pages.shared.playground.stage import one_file

HEADING = one_file.Heading("A <b>title</b>", "Some words.")
QUICK = Settings(epochs=50, batch_size=2500)  # as many frames as there can be
CASES = {name: replace(preset.settings, epochs=50, batch_size=2500) for name, preset in PRESETS.items()} | {
    "largest": replace(QUICK, dataset="three_classes", prototypes=20),
    "trees": replace(QUICK, beside=("fairglvq", "fairtree")),
    "german": replace(DEFAULTS["german"], epochs=50, metric="euclidean", prototypes=20, beside=("inp", "fairglvq")),
}


@cache
def scene_of(settings):
    points = load_points(settings)
    return compose(settings, points, {m: train_part(settings, points, m, lambda share: None) for m in settings.methods})


def filmed(settings):
    """The scene with a film of the right size: its last model for every strength."""
    scene = scene_of(settings)
    last = scene.trainings["fairglvq"]
    decisions = None if last.decisions is None else np.repeat(last.decisions[-1:], len(FILM_C), axis=0)
    many = [np.repeat(array[-1:], len(FILM_C), axis=0) for array in (last.prototypes, last.pseudo)]
    return with_film(scene, settings, "fairglvq", Film(FILM_C, *many, decisions))


def packed(page):
    blob = base64.b64decode(re.search(r'id="scene">([^<]+)<', page)[1])
    return json.loads(blob[4 : 4 + int.from_bytes(blob[:4], "little")])["meta"]


@pytest.mark.parametrize("name", CASES)
def test_every_file_is_under_a_megabyte(name):
    page = one_file.page(filmed(CASES[name]), CASES[name], HEADING)
    assert 200_000 < len(page.encode()) < one_file.LIMIT


def test_a_file_asks_no_host_and_runs_only_its_own_script():
    page = one_file.page(filmed(QUICK), QUICK, HEADING)
    assert not re.search(r"<[^>]*\s(src|href|srcset|action)=|@import|url\(|https?://(?!www\.w3\.org/)", page)
    (code,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"
    )
    assert not re.search(r"\beval\(|new Function", code)
    assert page.count("<script") == 2
    assert "<h1><bdi>A &lt;b&gt;title&lt;/b&gt;</bdi></h1>" in page


def test_it_opens_with_what_was_looked_at_and_holds_the_films_that_are_there():
    view = {"epoch": 10, "film": ["fairglvq", 3]}
    with_curve = packed(one_file.page(filmed(QUICK), QUICK, HEADING, view))
    assert with_curve["offline"] is True
    assert with_curve["view"] == view
    assert with_curve["films"]["fairglvq"]["values"] == list(FILM_C)
    assert with_curve["filmed"] == ["fairglvq"]
    without = one_file.page(scene_of(QUICK), QUICK, HEADING)
    assert packed(without)["filmed"] == []
    assert "The curve of FairGLVQ was not computed when the file was made." in without


def test_what_it_says_about_itself():
    settings = replace(QUICK, painted=(Point(0.1, 0.2, 1, 0),))
    said = one_file.facts(scene_of(settings), settings)
    assert said["Data set"] == "XOR"
    assert said["In this file"] == "3,201 points drawn at random, no real people"
    assert said["Share held out"] == "20%"
    assert said["Beside GLVQ"] == "INP, FairGLVQ"
    assert said["By hand"] == "points painted: 1"
    assert said["Address in the app"].startswith("/?batch=2500&epochs=50&paint=")
    assert said["Licence of the data"] == "None needed: no real data"
    assert __version__ in said["Made"]
    assert "MIT licence" in said["Made"]
    assert "Largest gap allowed" not in said  # nothing here keeps to a gap


@pytest.mark.parametrize(
    ("dataset", "metric", "beside", "words"),
    [
        ("xor", "euclidean", ("inp", "fairglvq", "fairtree"), "Plain"),
        ("xor", "matrix", ("fairglvq", "fairtree"), "Learned"),
        ("xor", "matrix", ("inp", "fairglvq"), "Learned (GLVQ, FairGLVQ); Plain (INP + GLVQ)"),
        ("german", "matrix", ("inp", "fairglvq"), "Learned"),
        ("german", "euclidean", ("inp", "paritylvq"), "Plain (GLVQ, INP + GLVQ); Learned (ParityLVQ)"),
    ],
)
def test_the_distance_is_said_for_each_method_where_they_differ(dataset, metric, beside, words):
    settings = replace(DEFAULTS[dataset], metric=metric, beside=beside)
    assert one_file.facts(scene_of(QUICK), settings)["Distance"] == words


def test_what_a_moved_prototype_is_counted_among():
    drawn = one_file.limits(scene_of(QUICK))
    assert drawn[0].endswith("It trains nothing and sends nothing.")
    assert "exactly" in drawn[-1]
    sliced = CASES["german"]
    assert "A prototype of GLVQ, INP + GLVQ, FairGLVQ can be moved and its cell follows, but" in " ".join(
        one_file.limits(scene_of(sliced))
    )
    own = replace(DEFAULTS["german"], beside=("fairglvq",), prototypes=2)
    scene = scene_of(own)
    assert "A prototype of GLVQ, FairGLVQ can be moved: everybody is in the file" in one_file.limits(scene)[-1]
    more = scene._replace(meta=scene.meta | {"population": 45_222})
    assert "is counted among the 1,000 people drawn" in one_file.limits(more)[-1]
    assert one_file.facts(scene, own)["In this file"].startswith("1,000 people with place in the picture, true label")


def test_compas_is_refused_with_a_reason():
    settings = DEFAULTS["compas"]
    assert "may not be passed on" in one_file.refusal(settings)
    with pytest.raises(ValueError, match="may not be passed on"):
        one_file.page(scene_of(QUICK), settings, HEADING)
    assert [name for name in DEFAULTS if one_file.refusal(DEFAULTS[name])] == ["compas"]


def test_names_of_a_table_stay_text():
    frame = people(120).replace({"female": "</script><script>alert(1)</script>"})
    data = build(frame, Plan(target="hired", favourable="yes", protected="sex"), title="<img src=x>")
    settings = replace(for_table(register(data), data), epochs=10, metric="euclidean", beside=("fairglvq",))
    page = one_file.page(scene_of(settings), settings, HEADING)
    assert "alert(1)" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
    assert "Address in the app" not in page  # nobody else has the table
    assert "</script><script>alert(1)</script>" in packed(page)["groups"]


def test_writing_a_file_needs_no_streamlit():
    code = "import sys, pages.shared.playground.stage.one_file; print('streamlit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_settings_in_words_name_every_setting_that_counts():
    words = in_words(replace(Settings(), fold=Fold(5, 1, 3)))
    assert words["Test fold"] == "2 of 5, seed 3"
    assert words["Step rule"] == "Algorithm 1"
    assert words["Distance"] == "Plain"
    assert "Plane shown" not in words


def page():
    """A page that only offers the file."""
    import streamlit as st

    from fairglvq.scenes.settings import DEFAULTS
    from pages.shared.playground import take_home
    from tests.pages.test_one_file import HEADING, QUICK, scene_of

    dataset, scene = st.query_params.get("data"), scene_of(QUICK)
    settings = DEFAULTS.get(dataset, QUICK)
    scene = scene._replace(meta=scene.meta | {"coming": int(dataset == "coming")})
    take_home.offer(scene, settings, HEADING, None)


@pytest.mark.parametrize(
    ("dataset", "buttons", "words"),
    [
        ("", ["Picture (HTML)"], "The curve of FairGLVQ is still being computed"),
        ("table", ["Picture (HTML)"], "It holds rows of your table:** for 3,200 people"),
        ("compas", [], "COMPAS may not be passed on"),
        ("coming", [], "One of the pictures is still being trained"),
    ],
)
def test_the_button_and_what_to_know_before(dataset, buttons, words):
    at = AppTest.from_function(page, default_timeout=60)
    at.query_params["data"] = dataset
    assert not at.run().get("download_button")  # closed
    at.session_state["take_home"] = True
    at.run()
    assert not at.exception
    assert [button.label for button in at.get("download_button")] == buttons
    assert words in " ".join(element.value for element in at.markdown)
