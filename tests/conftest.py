"""What several test files share; one server for all browser tests: starting one takes longer than most of them."""

import sys
from contextlib import ExitStack
from types import ModuleType

import pytest
from browser import ONE_PROCESS, chromium, open_browsers, streamlit_app
from playwright.sync_api import Error as PlaywrightError
from sockets import Visitor

STARTING = ("test_command_line.py", "test_cluster.py", "test_engine.py", "test_evaluation.py")  # many processes


def pytest_collection_modifyitems(items):
    """Files with a browser come first, then those that start processes: the last file of a run has nobody beside it."""
    for item in items:
        if "check_estimator_sparse_matrix" in item.name:  # as with sparse arrays, in scipy's older class
            item.add_marker(pytest.mark.long)
    browsing = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in browsing, item.path.name not in STARTING))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A failed browser test prints the text of its pages."""
    report = yield
    if report.failed:
        report.sections += [_text_of(page) for browser in open_browsers for c in browser.contexts for page in c.pages]
    return report


def _text_of(page):
    try:
        return page.url, page.locator("body").inner_text(timeout=5000)
    except PlaywrightError as problem:
        return page.url, f"cannot be read: {problem}"


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """The address of the app, with a store of its own, and one worker: another test may need the other core.

    A first visitor was there until INP was trained: loading scikit-learn takes half a minute on a busy machine.
    """
    store = tmp_path_factory.mktemp("store") / "rows.sqlite"
    with streamlit_app("app.py", FAIRGLVQ_STORE=str(store), FAIRGLVQ_WORKERS="1") as url:
        with ExitStack() as stack:
            first = Visitor(stack, url, "prototypes", "data=local&k=1&epochs=1")
            first.run()
            first.wait_trained("decides with 2 prototypes")
        yield url


_kept = ExitStack()  # the browser that test files share


def pytest_runtest_setup(item):
    """Playwright's loop must not run on while other tests start their own; browser tests come first."""
    if not item.get_closest_marker("browser"):
        _kept.close()


def pytest_unconfigure():
    _kept.close()


@pytest.fixture(scope="module")
def browser():
    """A Chromium for all files, in one process for all pages: scripts compiled for one page are there for the next."""
    return open_browsers[0] if open_browsers else _kept.enter_context(chromium(*ONE_PROCESS))


@pytest.fixture(scope="module")
def plain_main():
    """A main module that processes may start from: AppTest leaves its script there, and Dask's workers would run it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        yield
