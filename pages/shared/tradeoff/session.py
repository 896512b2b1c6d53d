"""The choice in view on the trade-off page, and its link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fairglvq.scenes.settings import TABLE
from fairglvq.tradeoff.choice import Choice, usual, usual_for_table
from pages.shared import own_table
from pages.shared.tradeoff import links, numbers
from pages.shared.visit import visit


def begin() -> Choice:
    """The choice of this run: the link's on arrival and after Back or Forward, the visit's otherwise."""
    curve, settings = visit().curve, visit().model.settings
    query = curve.address.link_to_follow()
    if query and query.get("task") == "numbers":
        visit().regression, curve.repairs = numbers.from_query(query)
        curve.choice = current()
        return curve.choice
    if query is not None:
        visit().regression.shown = "decisions"
    if curve.choice is None and not query and settings.dataset == TABLE:
        curve.choice, curve.repairs = usual_for_table(settings), []
    elif curve.choice is None or query is not None:
        curve.choice, curve.repairs = links.from_query(own_table.mine(query or {}))
    return curve.choice


def current() -> Choice:
    """The choice in view."""
    return visit().curve.choice or usual(Choice().dataset)


def change(choice: Choice) -> None:
    """Go on with another choice."""
    visit().curve.choice = choice


def change_field(name: str, value: Any) -> None:
    """Go on with another value of one field of the choice."""
    change(replace(current(), **{name: value}))
