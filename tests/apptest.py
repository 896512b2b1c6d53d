"""Helpers for AppTest: a visit to a page, its trainings awaited, and widgets by what a visitor reads beside them."""

from browser import ROOT
from streamlit.testing.v1 import AppTest

LIMIT = 300  # runs of the script until a training must have ended


def visit(page=None, **query):
    """A page opened by a link; the first one without a name."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if page:
        at.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        at.query_params[name] = value
    return settle(at.run())


def settle(at):
    """Rerun like the page's own fragment does, until the training asked for is over."""
    for _ in range(LIMIT):
        assert not at.exception
        job = at.session_state["visit"].model.job
        if job is None or job.future.done():
            return at.run()
        at.run()
    raise TimeoutError("the training did not end")


def labelled(widgets, label):
    """The one widget with this label; a label may be given by its beginning."""
    found = [widget for widget in widgets if widget.label == label] or [w for w in widgets if w.label.startswith(label)]
    assert len(found) == 1, f"{len(found)} widgets are called {label!r} among {[w.label for w in widgets]}"
    return found[0]
