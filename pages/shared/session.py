"""The model in view: its settings, undo, its link. Everything that changes it goes through `change`."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from fairglvq.scenes.settings import DEFAULTS, FIELDS, Settings, with_changes
from pages.shared import display, links, own_table
from pages.shared.visit import ModelVisit, visit

STEPS_BACK = 50
NOTICE_LIMIT = 5


def begin() -> Settings:
    """The settings of this run: those of the link on arrival, of the visit afterwards."""
    model = visit().model
    first = model.address.written is None
    query = model.address.link_to_follow()
    if query is not None:
        if not first:
            model.history.append(model.settings)
        _adopt(query, model)
    model.awaited = []
    return model.settings


def _adopt(query: dict[str, str], model: ModelVisit) -> None:
    model.settings, repairs = links.from_query(own_table.mine(query))
    model.view = read_view(query.get("view"))
    open_folds = (model.view or {}).get("open")
    if isinstance(open_folds, list) and "controls" in open_folds:
        visit().more_open = True, True
    if query.get("view") and model.view is None:
        repairs.append("What the link says about the view could not be read: the whole picture is shown.")
    repairs += display.from_query(query)[1]
    model.repairs = repairs[:NOTICE_LIMIT]
    visit().prototypes.method = query.get("method", "")


def change(settings: Settings, model: ModelVisit | None = None) -> None:
    """Change the settings of a model, of the page in view by default; `undo` restores the ones before."""
    model = model or visit().model
    if settings == model.settings:
        return
    model.history = [*model.history[-STEPS_BACK:], model.settings]
    model.settings, model.reply = settings, None


def begin_with(settings: Settings) -> None:
    """Change to settings chosen as a whole: the stage shows the end of their training, not the epoch in view before."""
    model = visit().model
    model.fresh = settings
    model.view = _lasting_view()
    change(settings)


def enter(settings: Settings, method: str) -> None:
    """Make this the model in view of all pages; ``method`` is the one chosen on the prototypes page."""
    model = visit().model
    if model.address.written is None:
        model.address.written = {}
    visit().prototypes.method = method
    begin_with(settings)


def link_to(settings: Settings, method: str = "") -> dict[str, str]:
    """The parameters of a link that opens another model; ``method`` is the one chosen, if not the last."""
    return _query(settings, _lasting_view(), method) | visit().display.to_query()


def _lasting_view() -> dict[str, Any] | None:
    """The part of the view that is kept for another model."""
    view = visit().model.view or {}
    return {name: kept for name, kept in view.items() if name not in ("epoch", "film")} or None


def undo() -> None:
    """Back to the settings before the last change."""
    model = visit().model
    if model.history:
        model.settings, model.reply = model.history.pop(), None


def reset() -> None:
    """The data set as it comes; the seed stays."""
    settings = visit().model.settings
    change(with_fixed(replace(DEFAULTS[settings.dataset], seed=settings.seed, table=settings.table)))


def with_fixed(settings: Settings) -> Settings:
    """These settings, but the present values of those that the visitor cannot change."""
    here = visit()
    kept = {name: getattr(here.own_model.settings, name) for name in FIELDS if here.display.fixes(name)}
    return replace(settings, **kept)


def leave_fold() -> None:
    """Split the points as usual, and no longer as for a trade-off curve."""
    change(replace(visit().model.settings, fold=None))


def new_seed() -> None:
    """Change to a new random seed."""
    settings, field = visit().model.settings, FIELDS["seed"]
    others = [seed for seed in range(int(field.low), int(field.high) + 1) if seed != settings.seed]
    change(with_changes(settings, seed=random.choice(others)))


def write_link(method: str = "") -> None:
    """Write exactly what is shown into the address."""
    model = visit().model
    model.address.write(_query(model.settings, model.view, method))


def _query(settings: Settings, view: dict[str, Any] | None, method: str) -> dict[str, str]:
    query = links.to_query(settings)
    if view:
        query["view"] = json.dumps(view, separators=(",", ":"))
    if method in settings.methods[:-1]:
        query["method"] = method
    return query


def read_view(text: str | None) -> dict[str, Any] | None:
    """The view of a link's ``view`` parameter; None if it is missing or broken."""
    try:
        view = json.loads(text or "")
        json.dumps(view, allow_nan=False)  # the stage takes no NaN and no infinity
    except (ValueError, RecursionError):
        return None
    return view if isinstance(view, dict) else None
