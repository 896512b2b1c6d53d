"""One visit: the browser's Back and Forward, widgets that only a visitor changes, and no loose keys."""

import ast
from types import SimpleNamespace

import pytest
from browser import ROOT

from fairglvq.scenes.settings import Settings
from pages.shared import controls, widgets
from pages.shared import visit as visits
from pages.shared.playground import gestures
from pages.shared.visit import Address


class Query(dict):
    """The parameters of an address, as the browser last sent them."""

    to_dict = dict.copy

    def __init__(self):
        self.sent = []

    def from_dict(self, query):
        self.sent.append(query)
        self.arrive(query)

    def arrive(self, query):
        """Take the parameters of a message of the browser."""
        self.clear()
        self.update(query)


class Browser:
    """Stands for Streamlit: session state, address, and the widgets that a run has drawn."""

    def __init__(self):
        self.session_state, self.query_params, self.drawn = {}, Query(), {}
        self.is_history_navigation = False

    def slider(self, label, *, key, on_change, args, value):
        self.drawn[label] = SimpleNamespace(key=key, first=value, callback=lambda: on_change(*args))
        return self.session_state.setdefault(key, value)

    def move(self, label, value):
        widget = self.drawn[label]
        self.session_state[widget.key] = value
        widget.callback()


@pytest.fixture
def browser(monkeypatch):
    browser = Browser()
    monkeypatch.setattr(visits, "st", browser)
    monkeypatch.setattr(visits, "get_script_run_ctx", lambda: browser)
    monkeypatch.setattr(widgets, "st", browser)
    return browser


def test_the_first_address_is_followed_and_then_the_visit_goes_its_own_way(browser):
    browser.query_params.arrive({"data": "xor"})
    address = Address()
    assert address.link_to_follow() == {"data": "xor"}
    address.write({"data": "german"})
    assert browser.query_params == {"data": "german"}
    assert address.link_to_follow() is None


def test_a_click_may_bring_the_address_from_before_but_back_is_followed(browser):
    address = Address()
    address.link_to_follow()
    address.write({"data": "german"})
    browser.query_params.arrive({})  # the browser has not received German yet, or the menu led here
    assert address.link_to_follow() is None
    address.write({"data": "german"})
    browser.query_params.arrive({})
    browser.is_history_navigation = True
    assert address.link_to_follow() == {}


def test_a_link_that_leads_to_the_page_is_followed_and_the_menu_is_not(browser):
    address = Address()
    address.link_to_follow()
    browser.query_params.arrive({"data": "german"})
    visits.visit().entries += 1
    assert address.link_to_follow() == {"data": "german"}
    assert address.link_to_follow() is None
    browser.query_params.arrive({})
    visits.visit().entries += 1
    assert address.link_to_follow() is None


def test_what_stands_in_the_address_is_not_written_again(browser):
    browser.query_params.arrive({"data": "xor"})
    address = Address()
    address.link_to_follow()
    address.write({"data": "xor"})
    address.write({"data": "xor"})
    assert browser.query_params.sent == []


def test_a_run_that_brings_the_address_of_the_page_before_leaves_no_bare_one(browser):
    """The browser empties the address when it enters a page; a message on its way may still bring the one before."""
    address = Address()
    address.link_to_follow()
    address.write({"data": "german"})
    browser.query_params.sent.clear()
    visits.visit().entries += 1
    browser.query_params.arrive({})
    assert address.link_to_follow() is None  # the run of the menu's choice ends here: a newer message has come
    browser.query_params.arrive({"data": "german"})
    assert address.link_to_follow() is None
    address.write({"data": "german"})
    assert browser.query_params.sent == [{"data": "german"}]


def test_settings_changed_and_changed_back_faster_than_the_browser_hears(browser):
    address = Address()
    address.link_to_follow()
    for settings in ({"data": "xor"}, {"data": "german"}):
        address.write(settings)
    browser.query_params.arrive({"data": "xor"})  # sent before it had received German
    address.write({"data": "xor"})
    assert browser.query_params.sent[-2:] == [{"data": "german"}, {"data": "xor"}]


def draw(value, chosen):
    widgets.control("slider", "C", value, chosen.append, name="C")


def test_a_widget_begins_with_its_value_and_reports_what_a_visitor_makes_of_it(browser):
    chosen = []
    draw(1.5, chosen)
    first = browser.drawn["C"]
    assert first.first == 1.5
    browser.move("C", 2.0)
    assert chosen == [2.0]
    draw(2.0, chosen)  # what the visitor chose: the widget stays as it is
    assert browser.drawn["C"].key == first.key
    assert browser.drawn["C"].first == 1.5


def test_a_value_that_changes_elsewhere_makes_another_widget(browser):
    chosen = []
    draw(1.5, chosen)
    before = browser.drawn["C"]
    draw(3.0, chosen)
    assert browser.drawn["C"].key != before.key
    assert browser.drawn["C"].first == 3.0
    assert chosen == []


def test_a_replaced_widget_that_a_slow_browser_still_names_changes_nothing_unless_it_was_touched(browser):
    chosen = []
    draw(1.5, chosen)
    browser.move("C", 2.0)
    before = browser.drawn["C"]
    draw(1.5, chosen)  # a button took the value back
    before.callback()  # its old value arrives with the next message, and Streamlit has forgotten it
    assert chosen == [2.0]
    browser.session_state[before.key] = 4.0
    before.callback()
    assert chosen == [2.0, 4.0]


def test_a_widget_that_left_the_page_comes_back_with_its_value(browser):
    chosen = []
    draw(1.5, chosen)
    browser.move("C", 2.0)
    draw(2.0, chosen)
    browser.session_state.pop(browser.drawn["C"].key)  # what Streamlit does with widgets that are not drawn
    draw(2.0, chosen)
    assert browser.drawn["C"].first == 2.0


def test_what_a_browser_holds_of_a_session_before_a_restart_of_the_server_is_of_no_widget_of_the_next(browser):
    keys = []
    for _ in range(2):
        browser.session_state.clear()
        draw(1.5, [])
        keys.append(browser.drawn["C"].key)
    assert keys[0] != keys[1]


def test_a_slider_of_the_playground_that_comes_after_the_lesson_was_entered_changes_the_playground_s_model(browser):
    here = visits.visit()
    here.page = visits.LESSON
    controls._set("C", 2.5)
    assert (here.own_model.settings.C, here.lesson.model.settings) == (2.5, Settings())


def test_a_strength_turned_on_the_stage_keeps_what_was_chosen_just_before(browser):
    model = visits.visit().own_model
    model.shown, model.settings = (Settings(), None), Settings(prototypes=7)  # seven are still being trained
    gestures.apply({"kind": "strength", "name": "C", "value": 2.5})
    assert model.settings == Settings(prototypes=7, C=2.5)


def test_a_visit_that_begins_anew_knows_only_where_it_is(browser):
    before = visits.visit()
    before.page, before.table.name = "your_data", "people.csv"
    key = next(before.numbers)
    browser.session_state |= {"a-1": 1, "b-2": 2}
    visits.begin_anew()
    after = visits.visit()
    assert set(browser.session_state) == {visits.KEY}
    assert (after.page, after.table.name) == ("your_data", "")
    assert next(after.numbers) == key + 1  # no key is used twice


def test_only_the_visit_and_widgets_stand_in_session_state():
    """Loose string keys are what one page writes and another reads without anybody knowing."""
    loose = []
    for path in [*(ROOT / "pages").rglob("*.py")]:
        if path.name in ("visit.py", "widgets.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            writes = isinstance(node, ast.Assign | ast.AugAssign)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if writes else []
            loose += [f"{path.name}:{t.lineno}" for t in targets if "session_state" in ast.unparse(t)]
    assert loose == []
