"""Helpers for AppTest: widgets by what a visitor reads beside them."""


def labelled(widgets, label):
    """The one widget with this label; a label may be given by its beginning."""
    found = [widget for widget in widgets if widget.label == label] or [w for w in widgets if w.label.startswith(label)]
    assert len(found) == 1, f"{len(found)} widgets are called {label!r} among {[w.label for w in widgets]}"
    return found[0]
