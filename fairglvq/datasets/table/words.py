"""Words of the sentences about a table, and the error that is such a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

OTHER = "other"
"""What merged categories and groups are called."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


class TableError(ValueError):
    """A table cannot be used; the message is one sentence for whoever brought it."""


def quoted(name: object, most: int = 60) -> str:
    """A name as it stands in a sentence: in quotation marks, cut if long, its reading direction kept to itself."""
    text = str(name)
    text = text if len(text) <= most else text[: most - 1] + "…"
    return f"“\u2068{text}\u2069”" if _RIGHT_TO_LEFT.search(text) else f"“{text}”"


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def number_word(value: float) -> str:
    """A number without a needless decimal point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def percent(share: float) -> str:
    """A share as it is read."""
    return f"{100 * share:.3g} %"


def rows(n: int) -> str:
    """How many rows."""
    return f"{n:,} row" if n == 1 else f"{n:,} rows"
