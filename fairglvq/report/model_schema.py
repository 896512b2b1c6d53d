"""What a model file holds, as a JSON Schema, and what is wrong with a file, as a sentence that names the place.

``description`` says what a value must be, in the words of that sentence. Long lists of numbers and names have types of
their own, which are checked in one pass. What no schema can say, such as shapes that must agree, `model_file` checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any

from fairglvq.lvq.fair_glvq import FairGLVQ
from fairglvq.lvq.glvq import GLVQ
from fairglvq.lvq.parity_lvq import ParityLVQ
from fairglvq.lvq.prototype_classifier import LARGEST, PrototypeClassifier
from fairglvq.wording import cut

FORMAT = "fairglvq-model"
FORMAT_VERSION = 1
ESTIMATORS: dict[str, type[PrototypeClassifier]] = {"GLVQ": GLVQ, "FairGLVQ": FairGLVQ, "ParityLVQ": ParityLVQ}
LATER = ("metric", "rank", "tol", "n_iter_no_change", "decide", "max_gap")
"""Parameters that GLVQ and FairGLVQ did not have when the first files were written; without them, the defaults."""

MOST_ROWS = 100_000  # of one list of lists or objects
MOST_LABELS = 10_000
MOST_LETTERS = 10_000  # of one name
LARGEST_WHOLE = 2**53


def sentence(path: Iterable[str | int], why: str) -> str:
    """A complaint about the value at ``path``, such as ["prototypes", 2]: "In the model file, “prototypes[2]” …"."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"In the model file, {f'“{place[1:]}”' if place else 'the file'} {why}."


def problem(tree: Any) -> str | None:
    """What is wrong with a parsed file, in one sentence; None if it keeps to the schema."""
    if isinstance(tree, dict) and tree.get("format") == "fairglvq-report":
        return "The file is the report of a model: open the file that “Model (JSON)” has saved."
    error = next(_validator().iter_errors(tree), None)
    return None if error is None else sentence(error.absolute_path, _why(error))


def _why(error: Any) -> str:
    found, schema = error.instance, error.schema
    if error.validator == "required":
        return f"lacks {', '.join(name for name in schema['required'] if name not in found)}"
    if error.validator == "additionalProperties":
        unknown = next(name for name in found if name not in schema["properties"])
        return f"has {cut(repr(unknown), 40)}, which is unknown"
    if error.validator == "maxItems":
        return f"must have at most {error.validator_value:,} entries; it has {len(found):,}"
    if isinstance(found, list):  # show the entry that is wrong, if it is one alone
        tests = [ENTRIES[name] for name in ENTRIES if name in schema.get("type", ())]
        wrong = [entry for entry in found if tests and not tests[0](entry)][:1]
    else:
        wrong = [found]
    return schema["description"] + "".join(f"; got {cut(repr(value), 40)}" for value in wrong)


# Types


def _is_number(value: Any) -> bool:
    """A finite number that training could have made; true and false are none."""
    if type(value) is float:
        return math.isfinite(value) and abs(value) <= LARGEST
    return type(value) is int and abs(value) <= 2**62


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_LETTERS


ENTRIES: Mapping[str, Callable[[Any], bool]] = {
    "numbers": _is_number,
    "wholes": lambda value: type(value) is int and 0 <= value <= LARGEST_WHOLE,
    "texts": _is_text,
    "labels": lambda value: isinstance(value, bool) or _is_text(value) or _is_number(value),
}
"""Types of lists, by what each entry must be; labels must also be of one type."""


def _is_list_of(name: str, found: Any) -> bool:
    if not isinstance(found, list) or not all(map(ENTRIES[name], found)):
        return False
    return name != "labels" or len(set(map(type, found))) == 1


# The schema


def _object(properties: Mapping[str, Any], *, optional: Collection[str] = (), null: bool = False) -> dict[str, Any]:
    """Exactly these entries; only those named ``optional`` may be missing."""
    return {
        "type": ["object", "null"] if null else "object",
        "description": "must be an object or null" if null else "must be an object",
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        "properties": dict(properties),
    }


def _labels(fewest: int, *, null: bool = False) -> dict[str, Any]:
    return {
        "maxItems": MOST_LABELS,
        "type": ["labels", "null"] if null else "labels",
        "minItems": fewest,
        "description": f"must be {fewest} or more labels, all finite numbers or all text of at most {MOST_LETTERS:,} "
        "letters",
    }


def _whole(high: int, *, null: bool = False) -> dict[str, Any]:
    return {
        "type": ["integer", "null"] if null else "integer",
        "minimum": 0,
        "maximum": high,
        "description": f"must be a whole number from 0 to {high}" + (", or null" if null else ""),
    }


def _one_of(*values: Any) -> dict[str, Any]:
    return {"enum": list(values), "description": f"must be one of {', '.join(map(str, values))}"}


def _parameters(estimator: type[PrototypeClassifier]) -> dict[str, Any]:
    """Parameters by name; `check_parameters` judges their values."""
    plain = {"type": ["number", "string", "boolean", "null"], "description": "must be a plain value"}
    start = {"type": ["string", "array"], "description": "must be text or a list of rows of numbers"} | ROWS
    own = {"init": start, "random_state": _whole(2**63, null=True)}
    later = LATER if issubclass(estimator, GLVQ) else ()
    return _object({name: own.get(name, plain) for name in estimator().get_params(deep=False)}, optional=later)


TEXT = {"type": "string", "maxLength": MOST_LETTERS, "description": f"must be text of at most {MOST_LETTERS:,} letters"}
TEXTS = {"type": "texts", "description": f"must be a list of texts of at most {MOST_LETTERS:,} letters"}
WHOLES = {"type": "wholes", "description": f"must be a list of whole numbers from 0 to {LARGEST_WHOLE}"}
NUMBERS = {"type": "numbers", "minItems": 1, "description": f"must hold finite numbers up to {LARGEST:g} only"}
ROWS = {"maxItems": MOST_ROWS, "minItems": 1, "items": NUMBERS}
MATRIX = {"type": "array", "description": "must be a list of rows of numbers"} | ROWS

SCHEMA = _object(
    {
        "format": {"const": FORMAT, "description": f"must be {FORMAT!r}: this is no model of this project"},
        "format_version": {"const": FORMAT_VERSION, "description": f"must be {FORMAT_VERSION}, all that is read here"},
        "library_version": TEXT,
        "estimator": _one_of(*ESTIMATORS),
        "parameters": {"type": "object", "description": "must be an object"},
        "classes": _labels(2),
        "class_names": TEXTS,
        "favourable": _whole(MOST_LABELS, null=True),
        "groups": _labels(1, null=True),
        "group_names": TEXTS | {"type": ["texts", "null"]},
        "prototypes": MATRIX,
        "omega": MATRIX,
        "handicaps": NUMBERS,
        "cell_labels": WHOLES,  # places of classes; only with decide="fair"
        "pseudo_classes": WHOLES | {"type": ["wholes", "null"]},
        "votes": WHOLES,
        "typical_distance": NUMBERS,
        "epochs": _whole(LARGEST_WHOLE),
        "alpha_uses": _whole(LARGEST_WHOLE),
        "feature_names_in": TEXTS | {"type": ["texts", "null"]},
        "columns": {
            "type": "array",
            "description": "must be a list of columns",
            "maxItems": MOST_ROWS,
            "items": _object(
                {
                    "name": TEXT,
                    "kind": _one_of("number", "binary", "category"),
                    "categories": TEXTS,
                    "bins": _object({"of": TEXT, "starts": NUMBERS}),
                },
                optional=("bins",),
            ),
        },
        "scaling": _object({"kind": _one_of("divide", "multiply"), "first": NUMBERS, "second": NUMBERS}, null=True),
        "projection": _object({"matrix": MATRIX, "shift": NUMBERS}, null=True),
        "data": _object({"title": TEXT, "fingerprint": TEXT}),
    },
    optional=("omega", "handicaps", "cell_labels", "typical_distance"),  # not every model has them
) | {
    "allOf": [
        {
            "if": {"properties": {"estimator": {"const": name}}},
            "then": {"properties": {"parameters": _parameters(estimator)}},
        }
        for name, estimator in ESTIMATORS.items()
    ]
}  # fmt: skip


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, validators  # only needed to open a file

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, found: type(found) is int)  # 1.0 is none
    for name in ENTRIES:
        types = types.redefine(name, lambda _, found, name=name: _is_list_of(name, found))
    return validators.extend(Draft202012Validator, type_checker=types)(SCHEMA)
