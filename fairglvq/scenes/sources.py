"""The data set that settings are about: one by name, or a visitor's own table.

This module keeps weak references to visitors' tables only: a table is deleted with the visit that holds it.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from weakref import WeakValueDictionary

from fairglvq import datasets
from fairglvq.scenes.settings import TABLE, Settings

_own: WeakValueDictionary[tuple[str, int], datasets.Dataset] = WeakValueDictionary()
"""By key and identity: two visitors may have equal tables, and one of them may leave."""


class GoneError(LookupError):
    """The visitor's table is no longer there."""


def register(data: datasets.Dataset) -> str:
    """Make a visitor's table available; returns its key."""
    key = key_of(data)
    _own[key, id(data)] = data
    return key


def key_of(data: datasets.Dataset) -> str:
    """The key of a table in links and caches: the same for the same content."""
    words = json.dumps([[str(part) for part in names.items()] for names in (data.class_names, data.group_names)])
    return hashlib.sha256((data.fingerprint + words).encode()).hexdigest()[:12]


def unregister(data: datasets.Dataset) -> None:
    """Make a table unavailable, although references to it may remain; an equal table of another visitor stays."""
    _own.pop((key_of(data), id(data)), None)


def is_registered(key: str) -> bool:
    """Whether a table with this key is available."""
    return _find(key) is not None


def _find(key: str) -> datasets.Dataset | None:
    return next((data for (name, _), data in list(_own.items()) if name == key), None)


def dataset_of(settings: Settings) -> datasets.Dataset:
    """The data set that these settings are about."""
    if settings.dataset == TABLE:
        data = _find(settings.table)
        if data is None:
            raise GoneError("The table is no longer there: choose it again on the page “Your data”.")
        return data
    if settings.real:
        return in_bins(settings.dataset, settings.bins)
    return datasets.load(settings.dataset, noise=settings.noise, bias=settings.bias, seed=settings.seed)


@lru_cache(maxsize=3)
def in_bins(name: str, bins: int) -> datasets.Dataset:
    """A real data set, with numbers also in bins unless ``bins`` is 0."""
    return datasets.load(name, bins=bins)
