"""Helpers for AppTest: a visit to a page, its trainings awaited, and widgets by what a visitor reads beside them."""

from concurrent import futures
from functools import cache

from browser import ROOT
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

# AppTest looks for components in all installed packages at every visit: a third of a second, always the same answer.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def visit(page=None, **query):
    """A page opened by a link; the first one without a name."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if page:
        at.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        at.query_params[name] = value
    return settle(at.run())


def settle(at):
    """Rerun, as the page's own fragment does, whenever a training has ended."""
    assert not at.exception
    while (model := at.session_state["visit"].model).job in model.awaited:
        futures.wait([model.job.future])
        at.run()
        assert not at.exception
    return at


def labelled(widgets, label):
    """The one widget with this label; a label may be given by its beginning."""
    found = [widget for widget in widgets if widget.label == label] or [w for w in widgets if w.label.startswith(label)]
    assert len(found) == 1, f"{len(found)} widgets are called {label!r} among {[w.label for w in widgets]}"
    return found[0]
