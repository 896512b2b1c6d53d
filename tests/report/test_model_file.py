"""Models as files: nothing changes on the way there and back, and nothing unsound comes in."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler

from fairglvq import GLVQ, FairGLVQ, ParityLVQ, datasets
from fairglvq.datasets.split import Scaling
from fairglvq.report.model_file import ModelFileError, Projection, SavedModel, assemble, dumps, loads
from fairglvq.report.model_schema import LATER


@pytest.fixture(scope="module")
def german():
    return datasets.load("german")


@pytest.fixture(scope="module")
def saved(german):
    scaling = Scaling.fit(german.X)
    model = FairGLVQ(3, C=1.5, max_epochs=5, learning_rate=0.1, random_state=4)
    model.fit(scaling.apply(german.X), german.y, sensitive_features=german.s)
    return SavedModel.of(model, german, scaling=scaling)


@pytest.fixture
def tree(saved):
    return json.loads(dumps(saved))


def test_the_round_trip_changes_no_bit(saved, german):
    again = loads(dumps(saved).encode())
    Z = MinMaxScaler().fit_transform(german.X)
    assert again.scaling.apply(german.X).tobytes() == Z.tobytes()
    model, back = saved.model, again.model
    assert type(back) is FairGLVQ
    assert back.prototypes_.tobytes() == model.prototypes_.tobytes()
    for name in ("predict", "decision_function", "transform"):
        assert getattr(back, name)(Z).tobytes() == getattr(model, name)(Z).tobytes()
    np.testing.assert_array_equal(again.predict(german.X), model.predict(Z))
    for name in ("classes_", "groups_", "prototype_labels_", "pseudo_classes_"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    assert back.get_params() == model.get_params()
    assert (back.n_epochs_, back.n_alpha_uses_) == (model.n_epochs_, model.n_alpha_uses_)
    assert again.blocks == german.blocks
    assert again.feature_names == german.feature_names
    assert again.class_names == german.class_names
    assert again.group_names == german.group_names
    assert again.favourable == german.favourable
    assert again.fingerprint == german.fingerprint
    assert dumps(again) == dumps(saved)


def test_numbers_of_every_size_survive():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(4, 6)) * 10.0 ** rng.integers(-300, 25, (4, 6))
    W[0, 0], W[0, 1] = 5e-324, -0.0
    model = assemble("GLVQ", {"n_prototypes": 2}, prototypes=W, classes=[0, 1])
    assert loads(dumps(SavedModel(model))).model.prototypes_.tobytes() == W.tobytes()


@pytest.mark.parametrize(
    "scaling",
    [
        {"kind": "divide", "first": [1.0, 10.0], "second": [4.0, 0.5]},
        {"kind": "multiply", "first": [0.25, 2.0], "second": [-0.25, -20.0]},
    ],
)
def test_both_kinds_of_scaling_can_be_read(scaling):
    model = assemble("GLVQ", {"n_prototypes": 1}, prototypes=np.eye(2), classes=[0, 1])
    content = json.loads(dumps(SavedModel(model)))
    found = loads(json.dumps(content | {"scaling": scaling})).scaling
    np.testing.assert_array_equal(found.apply([[3.0, 10.25]]), [[0.5, 0.5]])
    np.testing.assert_array_equal(found.inverse([[0.5, 0.5]]), [[3.0, 10.25]])


def test_a_model_behind_a_projection(saved, german):
    rng = np.random.default_rng(0)
    projection = Projection(rng.normal(size=(59, 59)), rng.normal(size=59))
    again = loads(dumps(replace(saved, projection=projection)))
    assert again.projection.matrix.tobytes() == projection.matrix.tobytes()
    assert again.projection.shift.tobytes() == projection.shift.tobytes()
    Z = saved.scaling.apply(german.X) @ projection.matrix.T + projection.shift
    np.testing.assert_array_equal(again.predict(german.X), saved.model.predict(Z))
    assert (again.predict(german.X) != saved.predict(german.X)).any()


@pytest.mark.parametrize("labels", [["no", "yes"], [1.0, 2.0], [False, True], [-3, 7], ["<b>", "מין"]])
def test_labels_of_every_kind_and_glvq_without_groups(labels):
    X, y = np.random.default_rng(0).random((40, 3)), np.array(labels * 20)
    model = GLVQ(2, learning_rate=0.03, max_epochs=3, random_state=0).fit(X, y)
    back = loads(dumps(SavedModel(model))).model
    assert back.groups_ is None
    assert back.pseudo_classes_ is None
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.predict(X).dtype == model.predict(X).dtype


def test_names_of_a_frame_are_kept_and_checked():
    X = pd.DataFrame(np.random.default_rng(0).random((40, 2)), columns=["a", "b"])
    model = GLVQ(1, learning_rate=0.03, max_epochs=2, random_state=0).fit(X, [0, 1] * 20)
    back = loads(dumps(SavedModel(model))).model
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        back.predict(X.rename(columns={"a": "z"}))


def test_an_array_start_and_a_generator():
    X, start = np.random.default_rng(0).random((40, 2)), [[0.0, 0.25], [1.0, 1 / 3]]
    model = GLVQ(1, learning_rate=0.03, max_epochs=2, init=start, random_state=np.random.default_rng(1)).fit(
        X, [0, 1] * 20
    )
    back = loads(dumps(SavedModel(model))).model
    np.testing.assert_array_equal(back.init, start)
    assert back.random_state is None


def test_a_stream_goes_on_where_it_was(german):
    X = MinMaxScaler().fit_transform(german.X)
    order = np.random.default_rng(0).permutation(len(X))
    first, second = order[:300], order[300:600]
    model = FairGLVQ(2, C=1.0, random_state=0)
    model.partial_fit(X[first], german.y[first], sensitive_features=german.s[first], classes=[0, 1], groups=[0, 1])
    back = loads(dumps(SavedModel(model))).model
    for one in (model, back):
        one.partial_fit(X[second], german.y[second], sensitive_features=german.s[second])
    assert back.prototypes_.tobytes() == model.prototypes_.tobytes()
    np.testing.assert_array_equal(back.pseudo_classes_, model.pseudo_classes_)


def test_other_data_are_refused(saved, german):
    saved.check_fits(german)
    with pytest.raises(ModelFileError, match="decides by 59 features, but the data have 2"):
        saved.check_fits(datasets.load("xor", size=5))
    renamed = replace(german, blocks=(replace(german.blocks[0], column="months"), *german.blocks[1:]))
    with pytest.raises(ModelFileError, match=r"Feature 1 of the model is “duration_months”.*“months”"):
        saved.check_fits(renamed)


def test_what_cannot_be_written_is_said():
    with pytest.raises(ModelFileError, match="not trained"):
        dumps(SavedModel(GLVQ()))
    X = np.random.default_rng(0).random((40, 2))

    class Mine(GLVQ):
        pass

    with pytest.raises(ModelFileError, match="this is a Mine"):
        dumps(SavedModel(Mine(1, max_epochs=1).fit(X, [0, 1] * 20)))
    model = GLVQ(1, max_epochs=1).fit(X, [0, 1] * 20)
    model.prototypes_[0, 0] = np.nan
    with pytest.raises(ModelFileError, match="not finite"):
        dumps(SavedModel(model))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"{", "not JSON: .* in line 1"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
        (b'"text"', "must be an object"),
        (b"{}", "lacks format"),
        (b'{"format": "fairglvq-report"}', "the report of a model: open the file that “Model"),
        (b"NaN", "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"format": 1, "format": 2}', "names 'format' twice"),
        (b"[" * 100_000, "not a model"),
        (b"9" * 5000, "not a model"),
    ],
)
def test_what_is_no_model_is_refused(content, message):
    with pytest.raises(ModelFileError, match=message):
        loads(content)


def test_a_huge_file_is_refused_unread(monkeypatch):
    monkeypatch.setattr("fairglvq.report.model_file.MOST_BYTES", 1000)
    with pytest.raises(ModelFileError, match="larger than"):
        loads(b" " * 1001)


def put(tree, path, value):
    *way, last = path
    for key in way:
        tree = tree[key]
    tree[last] = value


GONE = object()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "pickle", "“format” must be 'fairglvq-model'"),
        (["format_version"], 2, "“format_version” must be 1, all that is read here; got 2"),
        (["format_version"], True, "“format_version” must be 1"),
        (["library_version"], 3, "“library_version” must be text"),
        (["estimator"], "os.system", "“estimator” must be one of GLVQ, FairGLVQ, ParityLVQ"),
        (["estimator"], ["GLVQ"], "“estimator” must be one of GLVQ, FairGLVQ, ParityLVQ"),
        (["estimator"], "GLVQ", "“parameters” has 'C', which is unknown"),
        (["surprise"], 1, "has 'surprise', which is unknown"),
        (["parameters", "C"], -1, "C must be a number of at least 0"),
        (["parameters", "C"], "1", "C must be a number"),
        (["parameters", "C"], True, "C must be a number"),
        (["parameters", "C"], 1e999, "C must be a number"),
        (["parameters", "C"], {"a": 1}, "“parameters.C” must be a plain value"),
        (["parameters", "alpha"], None, "alpha must be a number above 1"),
        (["parameters", "n_prototypes"], 4, "“prototypes” has 6 rows"),
        (["parameters", "n_prototypes"], 0, "n_prototypes must be"),
        (["parameters", "activation"], "exec", "activation must be one of"),
        (["parameters", "init"], [[1.0]], "“parameters.init” must have the shape"),
        (["parameters", "init"], [["a"]], "“parameters.init"),
        (["parameters", "random_state"], "0", "“parameters.random_state” must be a whole number"),
        (["parameters", "learning_rate"], GONE, "“parameters” lacks learning_rate"),
        (["parameters"], [], "“parameters” must be an object"),
        (["classes"], [1, 0], "“classes” must be sorted"),
        (["classes"], [0, 0], "“classes” must be sorted"),
        (["classes"], [0, "1"], "all finite numbers or all text"),
        (["classes"], [0], "2 or more labels"),
        (["classes"], [0, [1]], "2 or more labels"),
        (["classes"], [0, None], "2 or more labels"),
        (["classes"], [0.0, 1e999], "finite numbers"),
        (["classes"], list(range(10_001)), "at most 10,000"),
        (["class_names"], ["a"], "“class_names” must have 2 entries; it has 1"),
        (["class_names"], ["a", "b" * 10_001], "“class_names” must be a list of texts of at most 10,000 .* 'bbb"),
        (["favourable"], 2, "“favourable” must be a whole number from 0 to 1"),
        (["groups"], None, "“groups” must be two or more"),
        (["groups"], [0], "“groups” must be two or more"),
        (["group_names"], None, "“group_names” must be a list"),
        (["prototypes"], [[1.0]] * 100_001, "“prototypes” must have at most 100,000 entries"),
        (["columns"], [{}] * 100_001, "“columns” must have at most 100,000 entries"),
        (["prototypes"], [], "“prototypes” must be a list of rows"),
        (["prototypes"], [[]] * 6, r"prototypes\[0\]” must hold finite numbers"),
        (["prototypes"], [1, 2], r"prototypes\[0\]” must hold finite numbers .* got 1"),
        (["prototypes"], {"0": [1]}, "“prototypes” must be a list"),
        (["prototypes", 2], [1.0], r"prototypes\[2\]” must be a list of 59 numbers"),
        (["prototypes", 2, 5], "1", r"prototypes\[2\]” must hold finite numbers up to 1e\+30 only; got '1'"),
        (["prototypes", 2, 5], None, r"prototypes\[2\]” must hold finite numbers"),
        (["prototypes", 2, 5], True, r"prototypes\[2\]” must hold finite numbers"),
        (["prototypes", 2, 5], 1e31, r"prototypes\[2\]” must hold finite numbers"),
        (["prototypes", 2, 5], 10**400, r"prototypes\[2\]” must hold finite numbers"),
        (["pseudo_classes"], None, "“pseudo_classes” must be a list"),
        (["pseudo_classes", 0], 2, r"pseudo_classes\[0\]” must be a whole number from 0 to 1"),
        (["pseudo_classes", 0], -1, "“pseudo_classes” must be a list of whole numbers from 0 to .* got -1"),
        (["votes"], [1], "“votes” must have 24 entries; it has 1"),
        (["votes", 3], -1, "“votes” must be a list of whole numbers from 0 to .* got -1"),
        (["epochs"], 1.5, "“epochs” must be a whole number"),
        (["alpha_uses"], "many", "“alpha_uses” must be a whole number"),
        (["feature_names_in"], ["a"], "must have 59 entries"),
        (["columns"], "all", "“columns” must be a list"),
        (["columns", 0, "kind"], "image", r"columns\[0\].kind” must be one of"),
        (["columns", 0, "categories"], ["x"], r"columns\[0\].categories” does not fit a number"),
        (["columns", 0], {"name": "x"}, r"columns\[0\]” lacks kind, categories"),
        (["columns"], [{"name": "x", "kind": "number", "categories": []}], "describes 1 features, but the"),
        (["scaling", "kind"], "eval", "“scaling.kind” must be"),
        (["scaling", "first"], [1.0], "“scaling.first” must be a list of 59"),
        (["scaling", "first", 7], 0, "“scaling.first” must not hold a 0"),
        (["scaling", "first", 7], 1e-320, "“scaling” cannot be used"),
        (["scaling"], 3, "“scaling” must be an object"),
        (["projection"], 3, "“projection” must be an object"),
        (["projection"], {"matrix": [[1.0]], "shift": [0.0]}, "“projection.matrix” must have 59 rows of 59 numbers"),
        (["projection"], {"matrix": [["a"]], "shift": [0.0]}, r"“projection.matrix\[0\]” must hold finite numbers"),
        (["projection"], {"matrix": [[0.0] * 59] * 59, "shift": [0.0]}, "“projection.shift” must be a list of 59"),
        (["projection"], {"matrix": [[0.0]]}, "“projection” lacks shift"),
        (["data", "title"], None, "“data.title” must be text"),
        (["data"], {}, "“data” lacks title, fingerprint"),
    ],
)  # fmt: skip
def test_every_part_is_checked(tree, path, value, message):
    if value is GONE:
        del tree[path[0]][path[1]]
    else:
        put(tree, path, value)
    text = json.dumps(tree).replace("Infinity", "1e999")
    with pytest.raises(ModelFileError, match=message):
        loads(text)


@pytest.mark.parametrize("key", ["format", "classes", "prototypes", "parameters", "scaling", "surprise"])
def test_values_nested_too_deep_to_be_shown_are_refused(tree, key):
    """JSON may be nested deep enough to be read, but not to be shown in a message from deep inside a page."""
    deep = "[" * 900 + "]" * 900
    text = json.dumps(tree | {key: "HERE"}).replace('"HERE"', deep)

    def below(frames):
        return below(frames - 1) if frames else loads(text)

    for frames in (0, 60):
        with pytest.raises(ModelFileError):
            below(frames)


def test_a_model_with_names_of_every_length_opens_again(saved):
    longest = replace(saved, data_title="x" * 10_000)
    assert loads(dumps(longest)).data_title == longest.data_title


def test_every_key_of_the_first_files_is_needed(tree):
    for key in tree.keys() - {"typical_distance"}:
        with pytest.raises(ModelFileError, match=f"lacks {key}"):
            loads(json.dumps({name: value for name, value in tree.items() if name != key}))


def test_a_file_from_before_the_automatic_rate(tree):
    parameters = {name: value for name, value in tree["parameters"].items() if name not in LATER}
    old = {name: value for name, value in tree.items() if name != "typical_distance"} | {"parameters": parameters}
    model = loads(json.dumps(old)).model
    assert model.get_params()["learning_rate"] == tree["parameters"]["learning_rate"]
    assert (model.metric, model.tol, model.typical_distance_) == ("euclidean", GLVQ().tol, (0.0, 0))
    with pytest.raises(ModelFileError, match=r"typical_distance.*must not be negative"):
        loads(json.dumps(tree | {"typical_distance": [-1.0, 5]}))


# Learned metrics and handicaps

LEARNED = {
    "diagonal": lambda: GLVQ(2, metric="diagonal", max_epochs=5, random_state=0),
    "matrix": lambda: GLVQ(2, metric="matrix", max_epochs=5, random_state=0),
    "rank 2": lambda: FairGLVQ(2, metric="matrix", rank=2, max_epochs=5, random_state=0),
    "parity": lambda: ParityLVQ(2, max_epochs=3, random_state=0),
    "parity in the Euclidean metric": lambda: ParityLVQ(2, metric="euclidean", max_epochs=3, random_state=0),
}


@cache
def learned(data, name):
    model, scaling = LEARNED[name](), Scaling.fit(data.X)
    groups = {} if type(model) is GLVQ else {"sensitive_features": data.s}
    return SavedModel.of(model.fit(scaling.apply(data.X), data.y, **groups), data, scaling=scaling)


@pytest.fixture(scope="module")
def binned():
    return datasets.load("german", bins=4)


@pytest.mark.parametrize("name", LEARNED)
def test_a_learned_metric_and_handicaps_survive(binned, name):
    saved = learned(binned, name)
    again = loads(dumps(saved))
    Z, model, back = saved.scaling.apply(binned.X), saved.model, again.model
    assert type(back) is type(model)
    for learnt in ("prototypes_", "omega_", "relevances_", *(["handicaps_"] if "parity" in name else [])):
        assert getattr(back, learnt).tobytes() == getattr(model, learnt).tobytes()
    for method in ("predict", "decision_function", "transform"):
        assert getattr(back, method)(Z).tobytes() == getattr(model, method)(Z).tobytes()
    np.testing.assert_array_equal(again.predict(binned.X), model.predict(Z))
    np.testing.assert_array_equal(back.pseudo_classes_, model.pseudo_classes_)
    assert back.get_params() == model.get_params()
    assert again.blocks == binned.blocks
    assert dumps(again) == dumps(saved)


def test_a_file_from_before_there_were_metrics_still_opens(tree, saved, german):
    for name in ("metric", "rank"):
        del tree["parameters"][name]
    assert not {"omega", "handicaps"} & set(tree)
    assert not any("bins" in column for column in tree["columns"])
    back = loads(json.dumps(tree))
    assert back.model.get_params() == saved.model.get_params()
    assert back.model.omega_ is None
    np.testing.assert_array_equal(back.predict(german.X), saved.predict(german.X))


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("parity", ["omega"], GONE, "“omega” is missing"),
        ("parity", ["handicaps"], GONE, "“handicaps” is missing"),
        ("rank 2", ["omega"], GONE, "“omega” is missing"),
        ("rank 2", ["handicaps"], [0.0] * 4, "“handicaps” does not belong to this estimator"),
        ("rank 2", ["parameters", "metric"], "euclidean", "“omega” does not belong to this estimator and its metric"),
        ("rank 2", ["parameters", "metric"], "cosine", "metric must be one of"),
        ("rank 2", ["omega", 1], [0.5], r"“omega\[1\]” must be a list of 83 numbers"),
        ("rank 2", ["omega"], [[0.5]], "“omega” must have rows of 83 numbers, as there are features"),
        ("rank 2", ["omega", 0, 3], "x", r"“omega\[0\]” must hold finite numbers"),
        ("parity", ["handicaps"], [0.5], "“handicaps” must be a list of 4 numbers"),
        ("parity", ["handicaps", 0], None, "“handicaps” must hold finite numbers"),
        ("parity", ["parameters", "max_gap"], 2, "max_gap must be a number from 0 to 1"),
        ("parity", ["parameters", "rank"], GONE, "“parameters” lacks rank"),
        ("parity", ["columns", -1, "bins", "of"], "nothing", "must be the name of a number before it"),
        ("parity", ["columns", -1, "bins", "starts"], [1.0] * 9, "a start for every category but the first"),
        ("parity", ["columns", -1, "bins"], {"of": "age"}, "bins” lacks starts"),
    ],
)
def test_every_part_of_a_metric_is_checked(binned, name, path, value, message):
    content = json.loads(dumps(learned(binned, name)))
    if value is GONE:
        del (content if len(path) == 1 else content[path[0]])[path[-1]]
    else:
        put(content, path, value)
    with pytest.raises(ModelFileError, match=message):
        loads(json.dumps(content))


def test_bins_must_rise(binned):
    content = json.loads(dumps(learned(binned, "diagonal")))
    column = next(c for c in content["columns"] if len(c.get("bins", {"starts": []})["starts"]) > 1)
    column["bins"]["starts"].reverse()
    with pytest.raises(ModelFileError, match="starts” must rise"):
        loads(json.dumps(content))
