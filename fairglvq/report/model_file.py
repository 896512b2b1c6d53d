"""A trained model as one JSON file and back: everything a decision needs, nothing that runs.

::

    saved = model_file.SavedModel.of(model, data, scaling=Scaling.fit(data.X))
    Path("model.json").write_text(model_file.dumps(saved))
    again = model_file.loads(Path("model.json").read_bytes())
    again.predict(data.X)       # the same decisions, bit for bit, from original units

Numbers are written with all their digits. Files are validated against `model_schema`, then shapes and sizes must agree.
Otherwise a `ModelFileError` names the place.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairglvq.datasets.base import Block, Dataset
from fairglvq.datasets.split import Scaling
from fairglvq.lvq.glvq import GLVQ
from fairglvq.lvq.prototype_classifier import PrototypeClassifier, check_parameters
from fairglvq.report import model_schema
from fairglvq.report.model_schema import ESTIMATORS, FORMAT, FORMAT_VERSION
from fairglvq.version import __version__
from fairglvq.wording import cut, listed

MOST_BYTES = 200 * 2**20
MOST_NUMBERS = 20_000_000  # prototypes x features

Label = int | float | str | bool


class ModelFileError(ValueError):
    """A model file cannot be written or read; the message says where and why."""


@dataclass(frozen=True, eq=False)
class Projection:
    """The map from scaled features to a model's space after INP: z = matrix x + shift."""

    matrix: NDArray[np.float64]  # (d, d)
    shift: NDArray[np.float64]  # (d,)

    def apply(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scaled features (n, d) to the model's own."""
        return np.asarray(X, dtype=np.float64) @ self.matrix.T + self.shift


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted GLVQ, FairGLVQ or ParityLVQ with all that is needed to use and to read it apart from its data.

    Features are first scaled, then projected if the model was trained after INP. ``blocks`` say which original column
    each feature came from, ``class_names`` and ``group_names`` are the words for labels and groups, ``fingerprint`` is
    that of the data it was trained on.
    """

    model: PrototypeClassifier
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
        cls,
        model: PrototypeClassifier,
        data: Dataset,
        *,
        scaling: Scaling | None = None,
        projection: Projection | None = None,
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
    omega: ArrayLike | None = None,
    handicaps: ArrayLike | None = None,
    cell_labels: ArrayLike | None = None,
    typical_distance: tuple[float, int] = (0.0, 0),
    feature_names_in: Sequence[str] | None = None,
) -> PrototypeClassifier:
    """A fitted estimator from its parts, as `fit` would have left it but for what it notes about training.

    ``prototypes`` (P, d) come class by class, ``pseudo`` (P,) are places in ``groups``. ``votes`` (P, K, G) and
    ``typical_distance``, with the number of points behind it, let ``partial_fit`` go on where it was. A learned metric
    has an ``omega`` (r, d), a ParityLVQ ``handicaps`` (P,), too; cells that were decided fairly have ``cell_labels``
    (P,), places in ``classes``.
    """
    model = ESTIMATORS[estimator](**parameters)
    model._check_parameters()
    W = np.array(prototypes, dtype=np.float64, order="C")
    model.classes_ = np.array(classes)
    model.groups_ = None if groups is None else np.array(groups)
    model.prototype_labels_ = np.repeat(model.classes_, len(W) // len(model.classes_))
    model.prototypes_ = W
    model.pseudo_classes_ = None
    if model.groups_ is not None and pseudo is not None:
        model.pseudo_classes_ = model.groups_[np.asarray(pseudo, np.int64)]
    model.n_features_in_, model.history_ = W.shape[1], []
    model._set_metric(None if omega is None else np.array(omega, dtype=np.float64, order="C"))
    if handicaps is not None:
        model.handicaps_ = np.array(handicaps, dtype=np.float64)
    if cell_labels is not None:
        model._decided_labels = model.classes_[np.asarray(cell_labels, np.int64)]
    if isinstance(model, GLVQ):
        model.n_epochs_, model.n_alpha_uses_ = epochs, alpha_uses
    if isinstance(model, GLVQ) and omega is None:
        model._stream_rng, model.typical_distance_ = np.random.default_rng(model._seed()), typical_distance
        shape = (len(W), len(model.classes_), 1 if groups is None else len(groups))
        model.votes_ = np.zeros(shape, np.int64) if votes is None else np.array(votes, np.int64).reshape(shape)
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
        raise ModelFileError(f"Only {listed(list(ESTIMATORS))} can be written to a file; this is a {name}.")
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
        "favourable": classes.index(saved.favourable) if saved.favourable in classes else None,
        "groups": groups,
        "group_names": None if groups is None else [str(saved.group_names.get(group, group)) for group in groups],
        "prototypes": model.prototypes_.tolist(),
        "pseudo_classes": None
        if model.pseudo_classes_ is None or groups is None
        else [groups.index(group) for group in model.pseudo_classes_.tolist()],
        "votes": model.votes_.ravel().tolist() if getattr(model, "omega_", None) is None else [],
        "typical_distance": list(getattr(model, "typical_distance_", (0.0, 0))),
        "epochs": int(getattr(model, "n_epochs_", 0)),
        "alpha_uses": int(getattr(model, "n_alpha_uses_", 0)),
        "feature_names_in": [str(n) for n in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "columns": [_column(block) for block in saved.blocks],
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
    for key in ("omega", "handicaps"):
        if getattr(model, f"{key}_", None) is not None:
            content[key] = getattr(model, f"{key}_").tolist()
    if getattr(model, "decide", "majority") == "fair":
        content["cell_labels"] = [classes.index(label) for label in model.cell_labels_.tolist()]
    try:
        return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    except ValueError:
        raise ModelFileError("The model holds numbers that are not finite and cannot be written.") from None


def _column(block: Block) -> dict[str, Any]:
    found = {"name": block.feature or block.column, "kind": block.kind, "categories": list(block.categories)}
    return found | ({"bins": {"of": block.bins_of, "starts": list(block.starts)}} if block.bins_of else {})


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


# Reading


def loads(content: str | bytes) -> SavedModel:
    """A saved model from JSON text; anything but a complete and sound one is a `ModelFileError`."""
    if len(content) > MOST_BYTES:
        raise ModelFileError(f"The file is larger than {MOST_BYTES // 2**20} MB, which no model is.")
    tree = _parsed(content)
    classes, groups = _sorted_labels(tree, "classes"), _sorted_labels(tree, "groups")
    W = _matrix(tree["prototypes"], "prototypes")
    d = W.shape[1]
    favourable = tree["favourable"]
    if favourable is not None and favourable >= len(classes):
        _fail("favourable", why=f"must be a whole number from 0 to {len(classes) - 1}; got {favourable}")
    return SavedModel(
        model=_estimator(tree, W, classes, groups),
        scaling=_scaling(tree["scaling"], d),
        projection=_projection(tree["projection"], d),
        blocks=_blocks(tree["columns"], d),
        class_names=dict(zip(classes, _entries(tree, "class_names", len(classes)), strict=True)),
        group_names=dict(zip(groups, _entries(tree, "group_names", len(groups)), strict=True)),
        favourable=None if favourable is None else classes[favourable],
        data_title=tree["data"]["title"],
        fingerprint=tree["data"]["fingerprint"],
        library_version=tree["library_version"],
    )


def _parsed(content: str | bytes) -> Any:
    """The file as JSON that keeps to the schema."""

    def refuse(word: str) -> NoReturn:
        raise ModelFileError(f"The file holds {word}, which is no number a model may have.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise ModelFileError(f"The file names {cut(repr(twice), 40)} twice.")
        return found

    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        tree = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
        problem = model_schema.problem(tree)
    except ModelFileError:
        raise
    except UnicodeDecodeError:
        raise ModelFileError("The file is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ModelFileError(f"The file is not JSON: {error.msg} in line {error.lineno}.") from None
    except (ValueError, RecursionError):
        raise ModelFileError("The file is not a model: numbers too long or brackets too deep.") from None
    if problem:
        raise ModelFileError(problem)
    return tree


def _fail(*path: str | int, why: str) -> NoReturn:
    raise ModelFileError(model_schema.sentence(path, why))


def _entries(tree: Mapping[str, Any], name: str, n: int) -> list:
    """A list with as many entries as there are classes, groups, features ...; null, as groups are, has none."""
    found = tree[name]
    if name in ("group_names", "pseudo_classes") and (found is None) != (tree["groups"] is None):
        _fail(name, why="must be a list if groups are one, and null if they are null")
    if found is not None and len(found) != n:
        _fail(name, why=f"must have {n:,} entries; it has {len(found):,}")
    return found or []


def _sorted_labels(tree: Mapping[str, Any], name: str) -> list[Label]:
    """Labels as the estimators keep them: sorted, each there once."""
    values = tree[name] or []
    if any(a >= b for a, b in pairwise(values)):
        _fail(name, why="must be sorted, and each label there once")
    return values


def _numbers(values: list, n: int, *path: str | int) -> NDArray[np.float64]:
    if len(values) != n:
        _fail(*path, why=f"must be a list of {n:,} numbers")
    return np.array(values, dtype=np.float64)


def _matrix(rows: list[list], *path: str | int) -> NDArray[np.float64]:
    """Rows (P, d) of numbers."""
    d = len(rows[0])
    if d * len(rows) > MOST_NUMBERS:
        _fail(*path, why=f"holds more than {MOST_NUMBERS:,} numbers")
    return np.stack([_numbers(row, d, *path, i) for i, row in enumerate(rows)])


def _typical_distance(tree: Mapping[str, Any]) -> tuple[float, int]:
    """The distance and the number of points behind it; files of earlier versions have none."""
    if "typical_distance" not in tree:
        return 0.0, 0
    distance, points = _entries(tree, "typical_distance", 2)
    if min(distance, points) < 0:
        _fail("typical_distance", why=f"must not be negative; got {[distance, points]}")
    return float(distance), int(points)


def _estimator(
    tree: Mapping[str, Any], W: np.ndarray, classes: list[Label], groups: list[Label]
) -> PrototypeClassifier:
    name = tree["estimator"]
    parameters = ESTIMATORS[name]().get_params(deep=False) | tree["parameters"]
    P, K = len(W), len(classes)
    if isinstance(parameters.get("init"), list):
        parameters["init"] = start = _matrix(parameters["init"], "parameters", "init")
        if start.shape != W.shape:
            _fail("parameters", "init", why=f"must have the shape of the prototypes, {W.shape}")
    try:
        check_parameters(parameters, ESTIMATORS[name]._known_parameters)
    except (ValueError, TypeError) as problem:
        _fail("parameters", why=f"cannot be: {problem}")
    if K * parameters["n_prototypes"] != P:
        _fail("prototypes", why=f"has {P} rows, but {K} classes of {parameters['n_prototypes']} prototypes need others")
    if name == "FairGLVQ" and parameters["C"] > 0 and len(groups) < 2:
        _fail("groups", why="must be two or more for a FairGLVQ with C above 0")
    omega, handicaps = _metric(tree, W)
    pseudo = _entries(tree, "pseudo_classes", P)
    wrong = next((i for i, group in enumerate(pseudo) if group >= len(groups)), None)
    if wrong is not None:
        _fail("pseudo_classes", wrong, why=f"must be a whole number from 0 to {len(groups) - 1}")
    return assemble(
        name,
        parameters,
        prototypes=W,
        classes=classes,
        groups=groups or None,
        pseudo=pseudo or None,
        epochs=tree["epochs"],
        alpha_uses=tree["alpha_uses"],
        votes=_entries(tree, "votes", P * K * max(1, len(groups)) if omega is None else 0) or None,
        typical_distance=_typical_distance(tree),
        omega=omega,
        handicaps=handicaps,
        cell_labels=_cell_labels(tree, P, K),
        feature_names_in=_entries(tree, "feature_names_in", W.shape[1]) or None,
    )


def _cell_labels(tree: Mapping[str, Any], P: int, K: int) -> list[int] | None:
    """What cells answer that were decided fairly; there, and only there."""
    if ("cell_labels" in tree) != (tree["parameters"].get("decide") == "fair"):
        _fail("cell_labels", why="must be there if decide is 'fair', and only then")
    found = _entries(tree, "cell_labels", P) if "cell_labels" in tree else None
    if found and max(found) >= K:
        _fail("cell_labels", why=f"must hold whole numbers from 0 to {K - 1}")
    return found


def _metric(tree: Mapping[str, Any], W: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Ω (r, d) and handicaps (P,), each where the estimator has it and only there."""
    parity = tree["estimator"] == "ParityLVQ"
    learned = parity or tree["parameters"].get("metric", "euclidean") != "euclidean"
    for key, needed in (("omega", learned), ("handicaps", parity)):
        if (key in tree) != needed:
            _fail(key, why="is missing" if needed else "does not belong to this estimator and its metric")
    omega = _matrix(tree["omega"], "omega") if learned else None
    if omega is not None and omega.shape[1] != W.shape[1]:
        _fail("omega", why=f"must have rows of {W.shape[1]:,} numbers, as there are features")
    return omega, _numbers(tree["handicaps"], len(W), "handicaps") if parity else None


def _blocks(columns: list[dict], d: int) -> tuple[Block, ...]:
    blocks: list[Block] = []
    start = 0
    for i, column in enumerate(columns):
        kind, categories = column["kind"], tuple(column["categories"])
        width = len(categories) if kind == "category" else 1
        if width == 0 or len(categories) != {"number": 0, "binary": 2}.get(kind, width):
            _fail("columns", i, "categories", why=f"does not fit a {kind}")
        of, starts = _bins(column, blocks, i) if "bins" in column else ("", ())
        blocks.append(Block(column["name"], start, start + width, kind, categories, of, starts))
        start += width
    if blocks and start != d:
        _fail("columns", why=f"describes {start} features, but the prototypes have {d}")
    return tuple(blocks)


def _bins(column: Mapping[str, Any], before: list[Block], i: int) -> tuple[str, tuple[float, ...]]:
    """The number that a column repeats in bins, and where the bins start."""
    of, starts = column["bins"]["of"], column["bins"]["starts"]
    numbers = {block.column for block in before if block.kind == "number"} - {block.bins_of for block in before}
    if of not in numbers:
        _fail("columns", i, "bins", "of", why="must be the name of a number before it, which is not in bins yet")
    if column["kind"] != "category" or len(starts) != len(column["categories"]) - 1:
        _fail("columns", i, "bins", why="must have a start for every category but the first")
    if any(a >= b for a, b in pairwise(starts)):
        _fail("columns", i, "bins", "starts", why="must rise")
    return of, tuple(map(float, starts))


def _scaling(found: Mapping[str, Any] | None, d: int) -> Scaling | None:
    if found is None:
        return None
    first, second = (_numbers(found[name], d, "scaling", name) for name in ("first", "second"))
    divisor, name = (second, "second") if found["kind"] == "divide" else (first, "first")
    if (divisor == 0).any():
        _fail("scaling", name, why="must not hold a 0")
    if found["kind"] == "divide":  # (x - first) / second
        first, second = 1 / second, -first / second
    try:
        return Scaling.from_arrays(first, second)
    except ValueError as problem:
        _fail("scaling", why=f"cannot be used: {problem}")


def _projection(found: Mapping[str, Any] | None, d: int) -> Projection | None:
    if found is None:
        return None
    matrix = _matrix(found["matrix"], "projection", "matrix")
    if matrix.shape != (d, d):
        _fail("projection", "matrix", why=f"must have {d:,} rows of {d:,} numbers, as there are features")
    return Projection(matrix, _numbers(found["shift"], d, "projection", "shift"))
