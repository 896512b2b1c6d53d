"""A visitor's own table: kept in the visit and nowhere else."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

from starlette.formparsers import MultiPartParser

from fairglvq.datasets import Dataset
from fairglvq.scenes import sources
from pages.shared.server import training_service
from pages.shared.visit import begin_anew, visit

# Else Streamlit's web server would write an upload of more than 1 MB to a temporary file; `server.maxUploadSize` is the
# limit for all uploads.
MultiPartParser.spool_max_size = 2**40


def keep(data: Dataset) -> str:
    """Make this the table of the visit; what was trained on it is deleted when the visit ends."""
    visit().table.data = data
    key = sources.register(data)
    weakref.finalize(data, _forget_trained, key)
    return key


def _forget_trained(key: str) -> None:
    if not sources.is_registered(key):  # else another visitor has the same table
        training_service().forget(key)


def current() -> Dataset | None:
    """The table of this visit."""
    return visit().table.data


def mine(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a link, without the table of another visitor, whose key must not give access to it."""
    data = current()
    if "table" not in query or (data is not None and query["table"] == sources.key_of(data)):
        return dict(query)
    return {**query, "table": ""}


def forget() -> None:
    """Begin the visit anew, without the table and everything computed from it."""
    data = current()
    if data is not None:
        sources.unregister(data)
        _forget_trained(sources.key_of(data))
    begin_anew()
