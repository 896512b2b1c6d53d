"""Parameters of links that change how the app is shown: for a projector, with controls hidden or locked. No Streamlit.

These parameters belong to the visit, not to a page: they stand in the address of every page. Streamlit's own
``embed=true`` goes with them; it never reaches a script as a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fairglvq.scenes.settings import FIELDS

PARAMETERS = frozenset({"projector", "hide", "lock"})
ALL, PRESETS = "all", "presets"
"""What can be hidden beside the settings: the whole panel of controls, and the row of pictures to start from."""

_SETTINGS = {field.query: name for name, field in FIELDS.items()}
_CONTROLS = {**_SETTINGS, PRESETS: PRESETS, ALL: ALL}


@dataclass(frozen=True)
class Display:
    """Settings are named as in `FIELDS`; hidden may also be ``ALL`` and ``PRESETS``."""

    projector: bool = False
    hidden: frozenset[str] = frozenset()
    locked: frozenset[str] = frozenset()

    def shows(self, name: str) -> bool:
        """Whether a setting's control is on the page."""
        return not self.hidden & {ALL, name}

    def fixes(self, name: str) -> bool:
        """Whether a visitor cannot change a setting."""
        return name in self.locked or not self.shows(name)

    @property
    def shows_presets(self) -> bool:
        """Presets change everything: they go with the first setting that is fixed."""
        return self.shows(PRESETS) and not self.locked and not self.hidden & FIELDS.keys()

    def to_query(self) -> dict[str, str]:
        """As parameters of a link, in the order of the controls."""
        query = {"projector": "1"} if self.projector else {}
        for parameter, names in (("hide", self.hidden), ("lock", self.locked)):
            if names:
                query[parameter] = ".".join(written for written, name in _CONTROLS.items() if name in names)
        return query


def from_query(params: Mapping[str, str]) -> tuple[Display, list[str]]:
    """The display of a link, and a sentence for everything in it that had to be left out."""
    repairs: list[str] = []
    projector = params.get("projector", "")
    if projector not in ("", "0", "1"):
        repairs.append(f"projector “{short(projector)}” is not possible: 1 is on.")
    hidden = _read("hide", params, _CONTROLS, repairs)
    return Display(projector == "1", hidden, _read("lock", params, _SETTINGS, repairs)), repairs


def _read(parameter: str, params: Mapping[str, str], known: Mapping[str, str], repairs: list[str]) -> frozenset[str]:
    names = [name for name in params.get(parameter, "").split(".") if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        repairs.append(f"{parameter}: there is no control “{short(unknown[0])}”; it was left out.")
    return frozenset(known[name] for name in names if name in known)


def short(text: str) -> str:
    """Text of a link, for a sentence about it: cut, and without Markdown's signs for pictures and links."""
    plain = re.sub(r"[^\w\s.,:;+%-]", "?", text)
    return plain if len(plain) <= 24 else plain[:23] + "…"
