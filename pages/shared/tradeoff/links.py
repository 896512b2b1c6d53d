"""The choice of the trade-off page as the parameters of a link, and back; what cannot be read is repaired and said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fairglvq.experiments import methods
from fairglvq.scenes.settings import FIELDS, PARAMETERS, TABLE
from fairglvq.scenes.sources import is_registered
from fairglvq.tradeoff.choice import FOLDS, SEEDS, Choice, digits, has_bins, read_strengths, usual
from fairglvq.tradeoff.measures import MEASURES
from pages.shared.display import PARAMETERS as DISPLAY_PARAMETERS
from pages.shared.links import differing, one_of, read_value, short, unknown


def to_query(choice: Choice) -> dict[str, str]:
    """The link's parameters: only what differs from the data set's usual choice."""
    own = usual(choice.dataset)
    query = {} if choice.dataset == Choice().dataset else {"data": choice.dataset}
    fields = {FIELDS[name].query: name for name in PARAMETERS}
    fields |= {name: name for name in ("folds", "seeds", "x", "y", "table", "bins")}
    query |= differing(choice, own, fields)
    if choice.strengths != own.strengths:
        query["methods"] = ".".join(name for name, _ in choice.strengths)
        known = dict(own.strengths)
        for name, values in choice.strengths:
            if values != known.get(name):
                query[f"s_{name}"] = "_".join(digits(value) for value in values)
    return query


def from_query(params: Mapping[str, str]) -> tuple[Choice, list[str]]:
    """The choice of a link, and a plain sentence for everything in it that had to be repaired."""
    repairs: list[str] = []
    dataset, table = params.get("data", Choice().dataset), params.get("table", "")
    if dataset == TABLE and not is_registered(table):
        repairs.append("The link is about a table that only its owner's visit holds: Adult is shown instead.")
        dataset, table = Choice().dataset, ""
    elif dataset != TABLE:
        dataset = read_value(FIELDS["dataset"], dataset, Choice().dataset, repairs)
    own = usual(dataset)
    values = {n: read_value(FIELDS[n], params.get(FIELDS[n].query), getattr(own, n), repairs) for n in PARAMETERS}
    bins = FIELDS["bins"].choices if has_bins(dataset) else (0,)
    for name, allowed in (("folds", FOLDS), ("seeds", SEEDS), ("bins", bins), ("x", MEASURES), ("y", MEASURES)):
        values[name] = one_of(params, name, allowed, getattr(own, name), repairs)
    strengths = _read_methods(params, own, repairs)
    known = {FIELDS[n].query for n in PARAMETERS} | {"data", "table", *values, "methods", "embed"} | DISPLAY_PARAMETERS
    repairs += unknown((name for name in params if not name.startswith("s_")), known)
    return replace(own, **values, strengths=strengths, table=table), repairs


def _read_methods(
    params: Mapping[str, str], own: Choice, repairs: list[str]
) -> tuple[tuple[str, tuple[float, ...]], ...]:
    names = params["methods"].split(".") if params.get("methods") else [name for name, _ in own.strengths]
    unknown = [name for name in names if name not in methods.METHODS]
    if unknown:
        repairs.append(f"Method “{short(unknown[0])}” is unknown and was left out.")
    chosen = own.with_methods([name for name in names if name in methods.METHODS], 100)
    for name, _ in chosen.strengths:
        text = params.get(f"s_{name}")
        if text and methods.get(name).knob:
            try:
                chosen = chosen.with_strengths(name, read_strengths(name, text.replace("_", " ")))
            except ValueError as problem:
                repairs.append(f"{problem} The usual strengths are used instead.")
    return chosen.strengths or own.strengths
