"""A trained model as one JSON file and back: everything a decision needs, nothing that runs.

::

    saved = model_file.SavedModel.of(model, data, scaling=Scaling.fit(data.X))
    Path("model.json").write_text(model_file.dumps(saved))
    again = model_file.loads(Path("model.json").read_bytes())
    again.predict(data.X)       # the same decisions, bit for bit, from original units

Numbers are written with all their digits. Reading trusts nothing: every key, type, size and value is checked first, and
what is wrong is a `ModelFileError` whose message names the place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.datasets.base import Block, Dataset
from fairglvq.datasets.split import Scaling
from fairglvq.lvq.fair_glvq import FairGLVQ
from fairglvq.lvq.glvq import GLVQ, LARGEST, check_parameters
from fairglvq.version import __version__

FORMAT = "fairglvq-model"
FORMAT_VERSION = 1
ESTIMATORS: dict[str, type[GLVQ]] = {"GLVQ": GLVQ, "FairGLVQ": FairGLVQ}

MOST_BYTES = 200 * 2**20
MOST_NUMBERS = 20_000_000  # prototypes x features
MOST_LABELS = 10_000
MOST_LETTERS = 10_000  # of one name

Label = int | float | str | bool


class ModelFileError(ValueError):
    """A model file cannot be written or read; the message says where and why."""


@dataclass(frozen=True, eq=False)
class Projection:
    """What a model sees of scaled features: z = matrix x + shift, as INP leaves them."""

    matrix: NDArray[np.float64]  # (d, d)
    shift: NDArray[np.float64]  # (d,)

    def apply(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scaled features (n, d) to the model's own."""
        return np.asarray(X, dtype=np.float64) @ self.matrix.T + self.shift


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted GLVQ or FairGLVQ with all that is needed to use and to read it apart from its data.

    Features are first scaled, then projected if the model was trained after INP. ``blocks`` say which original column
    each feature came from, ``class_names`` and ``group_names`` are the words for labels and groups, ``fingerprint`` is
    that of the data it was trained on.
    """

    model: GLVQ
    scaling: Scaling | None = None
    projection: Projection | None = None
    blocks: tuple[Block, ...] = ()
    class_names: Mapping[Hashable, str] = field(default_factory=dict)
    group_names: Mapping[Hashable, str] = field(default_factory=dict)
    favourable: Hashable = None
    data_title: str = ""
    fingerprint: str = ""
    library_version: str = __version__

    @classmethod
    def of(
        cls, model: GLVQ, data: Dataset, *, scaling: Scaling | None = None, projection: Projection | None = None
    ) -> SavedModel:
        """A model trained on (some rows of) a data set."""
        groups = () if model.groups_ is None else model.groups_.tolist()
        return cls(
            model=model,
            scaling=scaling,
            projection=projection,
            blocks=data.blocks,
            class_names={label: str(data.class_names[label]) for label in model.classes_.tolist()},
            group_names={group: str(data.group_names[group]) for group in groups},
            favourable=data.favourable,
            data_title=data.title,
            fingerprint=data.fingerprint,
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A name per feature; empty if the model came without."""
        return tuple(name for block in self.blocks for name in block.feature_names)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Decisions for rows (n, d) in original units."""
        rows = X if self.scaling is None else self.scaling.apply(X)
        return self.model.predict(rows if self.projection is None else self.projection.apply(rows))

    def original_prototypes(self) -> NDArray[np.float64]:
        """Prototypes (P, d) in original units; those of a projected model leave some directions open and have none."""
        if self.projection is not None:
            raise ModelFileError(
                "The prototypes lie behind a projection. Their profiles need people to complete them: see "
                "fairglvq.explain.Model.profiles."
            )
        W = self.model.prototypes_
        return W if self.scaling is None else self.scaling.inverse(W)

    def check_fits(self, data: Dataset) -> None:
        """Raise if a data set does not have this model's features; decisions about it would mean nothing."""
        if data.X.shape[1] != self.model.n_features_in_:
            raise ModelFileError(
                f"The model decides by {self.model.n_features_in_:,} features, but the data have {data.X.shape[1]:,}."
            )
        for position, (mine, other) in enumerate(zip(self.feature_names, data.feature_names, strict=False), start=1):
            if mine != other:
                raise ModelFileError(f"Feature {position} of the model is “{mine}”, but that of the data is “{other}”.")


def assemble(
    estimator: str,
    parameters: Mapping[str, Any],
    *,
    prototypes: ArrayLike,
    classes: Sequence[Label],
    groups: Sequence[Label] | None = None,
    pseudo: ArrayLike | None = None,
    epochs: int = 0,
    alpha_uses: int = 0,
    votes: ArrayLike | None = None,
    feature_names_in: Sequence[str] | None = None,
) -> GLVQ:
    """A fitted estimator from its parts, as `fit` would have left it.

    ``prototypes`` (P, d) come class by class, ``pseudo`` (P,) are places in ``groups``. ``votes`` (P, K, G) let
    ``partial_fit`` go on where it was.
    """
    model = ESTIMATORS[estimator](**parameters)
    check_parameters(model.get_params(deep=False))
    W = np.array(prototypes, dtype=np.float64, order="C")
    model.classes_ = np.array(classes)
    model.groups_ = None if groups is None else np.array(groups)
    model.prototype_labels_ = np.repeat(model.classes_, len(W) // len(model.classes_))
    model.prototypes_ = W
    model.pseudo_classes_ = None
    if model.groups_ is not None and pseudo is not None:
        model.pseudo_classes_ = model.groups_[np.asarray(pseudo, np.int64)]
    model.n_features_in_ = W.shape[1]
    model.n_epochs_, model.n_alpha_uses_, model.history_ = epochs, alpha_uses, []
    model._stream_rng = np.random.default_rng(model._seed())
    shape = (len(W), len(model.classes_), 1 if groups is None else len(groups))
    model._votes = np.zeros(shape, np.int64) if votes is None else np.array(votes, np.int64).reshape(shape)
    if feature_names_in is not None:
        model.feature_names_in_ = np.array(feature_names_in, dtype=object)
    return model


# Writing


def dumps(saved: SavedModel) -> str:
    """A saved model as JSON text."""
    model = saved.model
    if not hasattr(model, "prototypes_"):
        raise ModelFileError("The model is not trained yet: call fit first.")
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise ModelFileError(f"Only {' and '.join(ESTIMATORS)} can be written to a file; this is a {name}.")
    classes = _plain_labels(model.classes_, "class")
    groups = None if model.groups_ is None else _plain_labels(model.groups_, "group")
    parameters = {key: _plain_parameter(key, value) for key, value in model.get_params(deep=False).items()}
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": saved.library_version,
        "estimator": name,
        "parameters": parameters,
        "classes": classes,
        "class_names": [str(saved.class_names.get(label, label)) for label in classes],
        "favourable": _place(saved.favourable, classes),
        "groups": groups,
        "group_names": None if groups is None else [str(saved.group_names.get(group, group)) for group in groups],
        "prototypes": model.prototypes_.tolist(),
        "pseudo_classes": None
        if model.pseudo_classes_ is None or groups is None
        else [groups.index(group) for group in model.pseudo_classes_.tolist()],
        "votes": model._votes.ravel().tolist(),
        "epochs": int(model.n_epochs_),
        "alpha_uses": int(model.n_alpha_uses_),
        "feature_names_in": [str(n) for n in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "columns": [{"name": b.column, "kind": b.kind, "categories": list(b.categories)} for b in saved.blocks],
        "scaling": None
        if saved.scaling is None
        else {
            "kind": "multiply",
            "first": saved.scaling.scale.tolist(),
            "second": saved.scaling.offset.tolist(),
        },
        "projection": None
        if saved.projection is None
        else {"matrix": saved.projection.matrix.tolist(), "shift": saved.projection.shift.tolist()},
        "data": {"title": saved.data_title, "fingerprint": saved.fingerprint},
    }
    try:
        return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    except ValueError:
        raise ModelFileError("The model holds numbers that are not finite and cannot be written.") from None


def _plain_labels(labels: np.ndarray, what: str) -> list[Label]:
    values = labels.tolist()
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {int, float, str, bool}:
        raise ModelFileError(f"A {what} must be a number or text to be written; here are {values[:5]!r}.")
    return values


def _plain_parameter(name: str, value: Any) -> Any:
    if name == "random_state":
        # A generator is no number; what it would do next is not part of a trained model.
        return int(value) if isinstance(value, int | np.integer) else None
    if isinstance(value, np.generic):
        return value.item()
    return np.asarray(value, float).tolist() if name == "init" and not isinstance(value, str) else value


def _place(label: Hashable, labels: Sequence[Label]) -> int | None:
    places: dict[Hashable, int] = {known: place for place, known in enumerate(labels)}
    return places.get(label)


# Reading


def loads(content: str | bytes) -> SavedModel:
    """A saved model from JSON text; anything but a complete and sound one is a `ModelFileError`."""
    if len(content) > MOST_BYTES:
        raise ModelFileError(f"The file is larger than {MOST_BYTES // 2**20} MB, which no model is.")
    tree = _Place(_parsed(content), "the file")
    tree.only("format", "format_version", "library_version", "estimator", "parameters", "classes", "class_names",
              "favourable", "groups", "group_names", "prototypes", "pseudo_classes", "votes", "epochs", "alpha_uses",
              "feature_names_in", "columns", "scaling", "projection", "data")  # fmt: skip
    if tree["format"].value != FORMAT:
        tree["format"].fail(f"must be {FORMAT!r}: this is no model of this project")
    if tree["format_version"].whole(1, 10**6) != FORMAT_VERSION:
        tree["format_version"].fail(f"is {tree['format_version'].value}, but this version reads {FORMAT_VERSION} only")
    classes = tree["classes"].labels(2)
    groups = None if tree["groups"].value is None else tree["groups"].labels(1)
    W = tree["prototypes"].matrix()
    d = W.shape[1]
    model = _estimator(tree, W, classes, groups)
    blocks = _blocks(tree["columns"], d)
    class_names = tree["class_names"].texts(len(classes))
    group_names = [] if groups is None else tree["group_names"].texts(len(groups))
    if groups is None and tree["group_names"].value is not None:
        tree["group_names"].fail("must be null, as groups are")
    favourable = tree["favourable"].optional_whole(0, len(classes) - 1)
    data = tree["data"].only("title", "fingerprint")
    return SavedModel(
        model=model,
        scaling=_scaling(tree["scaling"], d),
        projection=_projection(tree["projection"], d),
        blocks=blocks,
        class_names=dict(zip(classes, class_names, strict=True)),
        group_names=dict(zip(groups or [], group_names, strict=True)),
        favourable=None if favourable is None else classes[favourable],
        data_title=data["title"].text(),
        fingerprint=data["fingerprint"].text(),
        library_version=tree["library_version"].text(),
    )


def _parsed(content: str | bytes) -> Any:
    def refuse(word: str) -> NoReturn:
        raise ModelFileError(f"The file holds {word}, which is no number a model may have.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise ModelFileError(f"The file names {_short(twice)} twice.")
        return found

    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except ModelFileError:
        raise
    except UnicodeDecodeError:
        raise ModelFileError("The file is not text in UTF-8.") from None
    except json.JSONDecodeError as problem:
        raise ModelFileError(f"The file is not JSON: {problem.msg} in line {problem.lineno}.") from None
    except (ValueError, RecursionError):
        raise ModelFileError("The file is not a model: numbers too long or brackets too deep.") from None


def _estimator(tree: _Place, W: np.ndarray, classes: list[Label], groups: list[Label] | None) -> GLVQ:
    name = tree["estimator"].text()
    if name not in ESTIMATORS:
        tree["estimator"].fail(f"must be one of {', '.join(ESTIMATORS)}")
    P, K = len(W), len(classes)
    expected = ESTIMATORS[name]().get_params(deep=False)
    given = tree["parameters"].only(*expected)
    parameters = {key: given[key].parameter() for key in expected}
    if isinstance(parameters["init"], list):
        start = given["init"].matrix()
        if start.shape != W.shape:
            given["init"].fail(f"must have the shape of the prototypes, {W.shape}")
        parameters["init"] = start
    random_state = parameters["random_state"]
    if random_state is not None:
        given["random_state"].whole(0, 2**63)
    try:
        check_parameters(parameters)
    except (ValueError, TypeError) as problem:
        given.fail(f"cannot be: {problem}")
    if K * parameters["n_prototypes"] != P:
        tree["prototypes"].fail(f"has {P} rows, but {K} classes of {parameters['n_prototypes']} prototypes need others")
    if name == "FairGLVQ" and parameters["C"] > 0 and (groups is None or len(groups) < 2):
        tree["groups"].fail("must be two or more for a FairGLVQ with C above 0")
    pseudo = None
    if groups is not None:
        pseudo = tree["pseudo_classes"].wholes(P, 0, len(groups) - 1)
    elif tree["pseudo_classes"].value is not None:
        tree["pseudo_classes"].fail("must be null, as groups are")
    names = tree["feature_names_in"]
    return assemble(
        name,
        parameters,
        prototypes=W,
        classes=classes,
        groups=groups,
        pseudo=pseudo,
        epochs=tree["epochs"].whole(0, 2**53),
        alpha_uses=tree["alpha_uses"].whole(0, 2**53),
        votes=tree["votes"].wholes(P * K * len(groups or [0]), 0, 2**53),
        feature_names_in=None if names.value is None else names.texts(W.shape[1]),
    )


def _blocks(columns: _Place, d: int) -> tuple[Block, ...]:
    blocks: list[Block] = []
    start = 0
    for place in columns.items(d):
        place.only("name", "kind", "categories")
        kind, categories = place["kind"].text(), tuple(place["categories"].texts())
        widths = {"number": 1, "binary": 1, "category": len(categories)}
        if kind not in widths:
            place["kind"].fail(f"must be one of {', '.join(widths)}")
        if len(categories) != {"number": 0, "binary": 2}.get(kind, len(categories)) or widths[kind] == 0:
            place["categories"].fail(f"does not fit a {kind}")
        blocks.append(Block(place["name"].text(), start, start + widths[kind], kind, categories))  # type: ignore[arg-type]
        start += widths[kind]
    if blocks and start != d:
        columns.fail(f"describes {start} features, but the prototypes have {d}")
    return tuple(blocks)


def _scaling(place: _Place, d: int) -> Scaling | None:
    if place.value is None:
        return None
    place.only("kind", "first", "second")
    kind = place["kind"].text()
    if kind not in ("divide", "multiply"):
        place["kind"].fail("must be 'divide' or 'multiply'")
    first, second = place["first"].numbers(d), place["second"].numbers(d)
    divisor, name = (second, "second") if kind == "divide" else (first, "first")
    if (divisor == 0).any():
        place[name].fail("must not hold a 0")
    if kind == "divide":  # (x - first) / second
        first, second = 1 / second, -first / second
    try:
        return Scaling.from_arrays(first, second)
    except ValueError as problem:
        place.fail(f"cannot be used: {problem}")


def _projection(place: _Place, d: int) -> Projection | None:
    if place.value is None:
        return None
    place.only("matrix", "shift")
    matrix = place["matrix"].matrix()
    if matrix.shape != (d, d):
        place["matrix"].fail(f"must have {d:,} rows of {d:,} numbers, as there are features")
    return Projection(matrix, place["shift"].numbers(d))


class _Place:
    """A value of the file and the way to it, so that a complaint can say where."""

    def __init__(self, value: Any, path: str):
        self.value, self.path = value, path

    def fail(self, why: str) -> NoReturn:
        raise ModelFileError(f"In the model file, {self.path} {why}.")

    def __getitem__(self, key: str) -> _Place:
        path = f"“{key}”" if self.path == "the file" else f"{self.path[:-1]}.{key}”"
        return _Place(self.value[key], path)

    def only(self, *keys: str) -> _Place:
        """Exactly these keys."""
        if not isinstance(self.value, dict):
            self.fail(f"must be an object with {', '.join(keys[:3])} …")
        missing = [key for key in keys if key not in self.value]
        if missing:
            self.fail(f"lacks {', '.join(missing)}")
        strange = [_short(key) for key in self.value if key not in keys]
        if strange:
            self.fail(f"has {strange[0]}, which is unknown")
        return self

    def items(self, most: int) -> list[_Place]:
        if not isinstance(self.value, list) or len(self.value) > most:
            self.fail(f"must be a list of at most {most:,} entries")
        path = self.path[:-1] if self.path.endswith("”") else self.path
        return [_Place(value, f"{path}[{i}]”") for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str) or len(self.value) > MOST_LETTERS:
            self.fail(f"must be text of at most {MOST_LETTERS:,} letters")
        return self.value

    def texts(self, n: int | None = None) -> list[str]:
        places = self.items(MOST_NUMBERS)
        if n is not None and len(places) != n:
            self.fail(f"must have {n:,} entries; it has {len(places):,}")
        return [place.text() for place in places]

    def whole(self, low: int, high: int) -> int:
        if type(self.value) is not int or not low <= self.value <= high:
            self.fail(f"must be a whole number from {low} to {high}; got {_short(self.value)}")
        return self.value

    def optional_whole(self, low: int, high: int) -> int | None:
        return None if self.value is None else self.whole(low, high)

    def wholes(self, n: int, low: int, high: int) -> np.ndarray:
        places = self.items(MOST_NUMBERS)
        if len(places) != n:
            self.fail(f"must have {n:,} entries; it has {len(places):,}")
        return np.array([place.whole(low, high) for place in places], np.int64)

    def numbers(self, n: int) -> NDArray[np.float64]:
        if not isinstance(self.value, list) or len(self.value) != n:
            self.fail(f"must be a list of {n:,} numbers")
        wrong = next((v for v in self.value if type(v) not in (int, float) or not _sound(v)), None)
        if wrong is not None or any(v is None for v in self.value):
            self.fail(f"must hold finite numbers up to {LARGEST:g} only; got {_short(wrong)}")
        return np.array(self.value, dtype=np.float64)

    def matrix(self) -> NDArray[np.float64]:
        """Rows (P, d) of numbers."""
        places = self.items(MOST_NUMBERS)
        if not places or not isinstance(places[0].value, list) or not places[0].value:
            self.fail("must be a list of rows of numbers")
        d = len(places[0].value)
        if d * len(places) > MOST_NUMBERS:
            self.fail(f"holds more than {MOST_NUMBERS:,} numbers")
        return np.stack([place.numbers(d) for place in places])

    def labels(self, fewest: int) -> list[Label]:
        """Different labels of one type, sorted as the estimators keep them."""
        values = [place.value for place in self.items(MOST_LABELS)]
        kinds = {type(value) for value in values}
        if len(values) < fewest or len(kinds) != 1 or not kinds <= {int, float, str, bool}:
            self.fail(f"must be {fewest} or more labels, all numbers or all text")
        if str in kinds and any(len(value) > MOST_LETTERS for value in values):
            self.fail(f"must be text of at most {MOST_LETTERS:,} letters")
        if not kinds <= {str} and not all(_sound(value) for value in values):
            self.fail("must hold finite numbers only")
        if any(a >= b for a, b in pairwise(values)):
            self.fail("must be sorted, and each label there once")
        return values

    def parameter(self) -> Any:
        """A plain value; `check_parameters` judges it."""
        if isinstance(self.value, dict):
            self.fail("must be a plain value")
        return self.value


def _sound(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= LARGEST if isinstance(value, float) else abs(value) <= 2**62


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
