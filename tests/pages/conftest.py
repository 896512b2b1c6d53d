"""What several tests of pages share."""

import pytest

from pages.shared import server


@pytest.fixture
def own_rooms(tmp_path, monkeypatch):
    """A server that has no rooms yet, and a file of its own for them."""
    monkeypatch.setenv("FAIRGLVQ_ROOMS", str(tmp_path / "rooms.sqlite"))
    server.rooms.clear()
    yield
    server.rooms().close()
    server.rooms.clear()
