"""A visitor's own table: kept in the visit and nowhere else."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

from starlette.formparsers import MultiPartParser

from fairglvq.datasets import Dataset
from fairglvq.scenes import sources
from pages.shared.server import training_service
from pages.shared.visit import begin_anew, visit

# Streamlit's web server would put an upload of more than 1 MB into a temporary file before Streamlit gets it. How
# large an upload may be at all is for Streamlit to say.
MultiPartParser.spool_max_size = 2**40


def keep(data: Dataset) -> str:
    """Make this the table of the visit; what was trained on it is forgotten when the visit ends."""
    visit().table.data = data
    key = sources.lend(data)
    weakref.finalize(data, _forget_trained, key)
    return key


def _forget_trained(key: str) -> None:
    if not sources.lent(key):  # else another visitor has the same table
        training_service().forget(key)


def current() -> Dataset | None:
    """The table of this visit."""
    return visit().table.data


def mine(query: Mapping[str, str]) -> dict[str, str]:
    """What a link says, but for a table of somebody else: to know its key is not to own it."""
    data = current()
    if "table" not in query or (data is not None and query["table"] == sources.key_of(data)):
        return dict(query)
    return {**query, "table": ""}


def forget() -> None:
    """Begin the visit anew: the table is gone, and with it everything that any page kept of it."""
    data = current()
    if data is not None:
        sources.take_back(data)
        _forget_trained(sources.key_of(data))
    begin_anew()
