"""Settings as the parameters of a link, and back; what cannot be read is repaired, with a sentence. No Streamlit."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from fairglvq.scenes.settings import (
    DEFAULTS,
    FIELDS,
    TABLE,
    Field,
    Fold,
    Point,
    Settings,
    Start,
    nearest_allowed,
    shape_of,
)
from fairglvq.scenes.sources import is_registered
from pages.shared.display import PARAMETERS as DISPLAY_PARAMETERS
from pages.shared.display import short

PAINT_LIMIT = 150
"""Painted and erased points that a link carries at most; more would not survive mail programs."""

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
_PLACES = 4095  # two letters
_PLANE = (-1.0, 2.0)  # where points may be painted: the data and as much again on every side
_IGNORED = DISPLAY_PARAMETERS | {"view", "method", "embed", "embed_options"}


def to_query(settings: Settings) -> dict[str, str]:
    """The link's parameters: only what differs from the data set's defaults."""
    usual = replace(DEFAULTS[settings.dataset], dataset=Settings().dataset)
    query = differing(settings, usual, {field.query: name for name, field in FIELDS.items()})
    if not _too_much_paint(settings):
        if settings.painted:
            query["paint"] = "".join(map(_encode_point, settings.painted))
        if settings.erased:
            query["erase"] = _encode_rows(settings.erased)
    if settings.start and not settings.real:
        numbers = ".".join(f"{round(1e4 * v)}" for pair in settings.start.prototypes for v in pair)
        query["from"] = f"{settings.start.panel}.{numbers}"
    if settings.fold:
        query["fold"] = ".".join(map(str, settings.fold))
    if settings.table:
        query["table"] = settings.table
    return query


def missing_in_link(settings: Settings) -> str | None:
    """What a link to these settings leaves out, and why."""
    if _too_much_paint(settings):
        return "So many painted or erased points do not fit into a link: Share leaves them out."
    if settings.start and settings.real:
        return "Prototypes of so many dimensions do not fit into a link: Share leaves out that you moved some."
    return None


def _too_much_paint(settings: Settings) -> bool:
    return len(settings.painted) + len(settings.erased) > PAINT_LIMIT


def from_query(params: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """Settings of a link, and a sentence for everything in it that had to be repaired."""
    repairs: list[str] = []
    table = params.get("table", "") if params.get("data") == TABLE else ""
    if table and is_registered(table):
        dataset = TABLE
    elif params.get("data") == TABLE:
        dataset, table = "xor", ""
        repairs.append("The link is about a table that only its owner's visit holds: XOR is shown instead.")
    else:
        dataset = read_value(FIELDS["dataset"], params.get("data"), "xor", repairs)
    own = DEFAULTS[dataset]
    values = {
        name: read_value(field, params.get(field.query), getattr(own, name), repairs)
        for name, field in FIELDS.items()
        if name != "dataset"
    }
    settings = replace(own, **values, table=table, fold=_read_fold(params.get("fold"), repairs))
    known = {field.query for field in FIELDS.values()} | {"paint", "erase", "from", "fold", "table"} | _IGNORED
    repairs += unknown(params, known)
    settings = _read_paint(settings, params, repairs)
    return _read_start(settings, params.get("from"), repairs), repairs


def unknown(params: Iterable[str], known: Collection[str]) -> list[str]:
    """A sentence for each parameter of a link that is not known."""
    return [f"“{short(name)}” in the link is not known here and was left out." for name in params if name not in known]


def written(value: Any) -> str:
    """A value as it stands in a link."""
    if isinstance(value, tuple):
        return ".".join(value)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def read_value(field: Field, text: str | None, default: Any, repairs: list[str]) -> Any:
    """The value of a parameter, moved to the nearest allowed one where it is not allowed."""
    if text is None:
        return default
    if field.several:
        chosen = tuple(one for one in field.choices if one in text.split("."))
        if set(text.split(".")) - set(chosen):
            repairs.append(f"{field.label}: “{short(text)}” names something unknown, which was left out.")
        return chosen or default
    if field.choices and isinstance(field.choices[0], str):
        if text in field.choices:
            return text
        repairs.append(f"{field.label} “{short(text)}” is unknown: {field.named(default)} is shown instead.")
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        repairs.append(f"{field.label} “{short(text)}” is not a number: {written(default)} is used instead.")
        return default
    value = nearest_allowed(field, number)
    if abs(value - number) > 1e-9:
        repairs.append(f"{field.label} {short(text)} is not possible: {written(value)} is used, the nearest that is.")
    return value


def place(value: float) -> float:
    """A coordinate rounded as in a link, so that a painted picture and its link are the same."""
    low, high = _PLANE
    return _after_steps(_steps(min(max(value, low), high)))


def _steps(value: float) -> int:
    low, high = _PLANE
    return round((value - low) / (high - low) * _PLACES)


def _after_steps(steps: int) -> float:
    low, high = _PLANE
    return low + steps * (high - low) / _PLACES


def _encode_point(point: Point) -> str:
    digits = [digit for value in (point.x, point.y) for digit in divmod(_steps(value), 64)]
    return "".join(_ALPHABET[digit] for digit in (*digits, 8 * point.label + point.group))


def _decode_point(letters: str) -> Point:
    x1, x0, y1, y0, kind = (_ALPHABET.index(letter) for letter in letters)
    return Point(_after_steps(64 * x1 + x0), _after_steps(64 * y1 + y0), kind // 8, kind % 8)


def _encode_rows(rows: tuple[int, ...]) -> str:
    """Row numbers as gaps between neighbours: short, and still plain digits."""
    return ".".join(str(row - before) for row, before in zip(rows, (0, *rows), strict=False))


def _read_paint(settings: Settings, params: Mapping[str, str], repairs: list[str]) -> Settings:
    paint, erase = params.get("paint", ""), params.get("erase", "")
    if settings.real and (paint or erase):
        repairs.append("Points can only be painted on drawn data: the link's painted points were left out.")
        return settings
    painted: tuple[Point, ...] = ()
    if re.fullmatch(rf"(?:[\w-]{{5}}){{0,{PAINT_LIMIT}}}", paint, re.ASCII):
        points = [_decode_point(paint[i : i + 5]) for i in range(0, len(paint), 5)]
        n_classes, n_groups = shape_of(settings.dataset)
        painted = tuple(p for p in points if p.label < n_classes and p.group < n_groups)
        if len(painted) < len(points):
            repairs.append("Some painted points have a class or group that this data set does not: they were left out.")
    elif paint:
        repairs.append("The painted points in the link could not be read and were left out.")
    erased: tuple[int, ...] = ()
    if re.fullmatch(r"\d{1,6}(\.\d{1,6})*", erase):
        erased = tuple(sorted(set(accumulate(map(int, erase.split("."))))))
    elif erase:
        repairs.append("The erased points in the link could not be read: all points are there.")
    return replace(settings, painted=painted, erased=erased)


def _read_start(settings: Settings, text: str | None, repairs: list[str]) -> Settings:
    if text is None:
        return settings
    panel, *numbers = text.split(".")
    wanted = 2 * settings.prototypes * shape_of(settings.dataset)[0]
    sound = len(numbers) == wanted and all(re.fullmatch(r"-?\d{1,7}", number) for number in numbers)
    if settings.real or not sound or panel not in ("glvq", "inp", "fairglvq") or settings.in_own_plane(panel):
        repairs.append("The moved prototypes in the link do not fit its settings: training starts as usual.")
        return settings
    values = [int(number) / 1e4 for number in numbers]
    return replace(settings, start=Start(panel, tuple(zip(values[::2], values[1::2], strict=True))))


def _read_fold(text: str | None, repairs: list[str]) -> Fold | None:
    if text is None:
        return None
    if re.fullmatch(r"\d{1,3}\.\d{1,3}\.\d{1,6}", text, re.ASCII):
        fold = Fold(*map(int, text.split(".")))
        if fold.folds >= 2 and fold.fold < fold.folds:
            return fold
    repairs.append(f"Fold “{short(text)}” could not be read: the points are split anew.")
    return None


def start_from(panel: str, prototypes: list[list[float]]) -> Start:
    """Prototypes placed by hand, rounded as in a link."""
    return Start(panel, tuple(tuple(round(value, 4) for value in prototype) for prototype in prototypes))


def differing(shown: Any, usual: Any, fields: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a link for the fields that are not as usual; ``fields`` has the field of each parameter."""
    return {
        name: written(getattr(shown, field))
        for name, field in fields.items()
        if getattr(shown, field) != getattr(usual, field)
    }


def one_of(query: Mapping[str, str], name: str, allowed: Iterable[Any], usual: Any, repairs: list[str]) -> Any:
    """The allowed value that a link's parameter names; the usual one, and a sentence about it, where it names none."""
    if name not in query:
        return usual
    for value in allowed:
        if written(value) == query[name]:
            return value
    repairs.append(f"{name} “{short(query[name])}” is not possible here: {usual} is used instead.")
    return usual
