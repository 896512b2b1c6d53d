"""What all browser tests share: one server, since starting and warming one takes longer than most of them."""

import pytest
from browser import chromium, streamlit_app


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """The address of the app, with a store of finished rows of its own."""
    with streamlit_app("app.py", FAIRGLVQ_STORE=str(tmp_path_factory.mktemp("store") / "rows.sqlite")) as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    """A Chromium; one per file, because Playwright's loop must not run on while other tests start their own."""
    with chromium() as chrome:
        yield chrome
