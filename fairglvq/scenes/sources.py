"""Where the points of a picture come from: a data set with a name, or a visitor's own table. No Streamlit here.

Own tables are only lent: a visit owns its table, and with the visit it is gone from here.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from fairglvq import datasets

if TYPE_CHECKING:
    from fairglvq.scenes.settings import Settings

TABLE = "table"
"""The name of a visitor's own table among the data sets."""

_own: WeakValueDictionary[tuple[str, int], datasets.Dataset] = WeakValueDictionary()
"""By key and owner's copy: two visitors may bring the same table, and one of them may leave."""


class GoneError(LookupError):
    """The visitor's table is no longer there."""


def lend(data: datasets.Dataset) -> str:
    """Let pages find a visitor's table; returns its key."""
    key = key_of(data)
    _own[key, id(data)] = data
    return key


def key_of(data: datasets.Dataset) -> str:
    """What a table is called in links and caches: the same for the same content."""
    words = json.dumps([[str(part) for part in names.items()] for names in (data.class_names, data.group_names)])
    return hashlib.sha256((data.fingerprint + words).encode()).hexdigest()[:12]


def take_back(data: datasets.Dataset) -> None:
    """Pages find it no more, even if something still holds it; another visitor's, alike or not, stays."""
    _own.pop((key_of(data), id(data)), None)


def lent(key: str) -> bool:
    """Whether the table of this key is there."""
    return _find(key) is not None


def _find(key: str) -> datasets.Dataset | None:
    return next((data for (name, _), data in list(_own.items()) if name == key), None)


def dataset_of(settings: Settings) -> datasets.Dataset:
    """The readable data set that these settings are about."""
    if settings.dataset == TABLE:
        data = _find(settings.table)
        if data is None:
            raise GoneError("The table is no longer there: choose it again on the page “Your data”.")
        return data
    if settings.real:
        return _bundled(settings.dataset)
    return datasets.load(settings.dataset, noise=settings.noise, bias=settings.bias, seed=settings.seed)


@lru_cache(maxsize=3)
def _bundled(name: str) -> datasets.Dataset:
    return datasets.load(name)
