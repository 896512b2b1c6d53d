"""A message that follows at once: the one before is carried out, and its training is not waited for."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest, app_test
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from fairglvq.scenes.service import Job
from pages.shared import training


class Hasty(LocalScriptRunner):
    """A second message comes as soon as Streamlit has taken the first out of its queue."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.runs = 0
        self.on_event.connect(self._send_another, weak=False)

    def _send_another(self, sender, event, **_):
        if event == ScriptRunnerEvent.SCRIPT_STARTED:
            self.runs += 1
            if self.runs == 1:
                self.request_rerun(RerunData(widget_states=WidgetStates()))


def page():
    import streamlit as st

    from pages.shared import widgets

    done = st.session_state.setdefault("done", [])

    def look_at_the_session_and_go_on():
        done.append(len(st.session_state))
        done.append("went on")

    widgets.button("Press", done.append, "pressed")
    widgets.button("Look", look_at_the_session_and_go_on)
    widgets.control("slider", "C", 1, done.append, name="C", min_value=0, max_value=5)


@pytest.fixture
def at(monkeypatch):
    at = AppTest.from_function(page).run()
    monkeypatch.setattr(app_test, "LocalScriptRunner", Hasty)
    return at


def test_a_click_is_not_lost_when_another_message_follows_at_once(at):
    at.button[0].click().run()
    assert at.session_state["done"] == ["pressed"]


def test_a_callback_is_not_stopped_where_it_looks_at_the_session(at):
    at.button[1].click().run()
    assert at.session_state["done"][1:] == ["went on"]


def test_a_slider_is_followed_once_when_another_message_follows_at_once(at):
    at.slider[0].set_value(3).run()
    assert at.session_state["done"] == [3]


class Newer(BaseException):
    """Stands for what Streamlit raises where a run looks at its session and a newer message has come."""


def test_a_run_that_waits_for_a_training_ends_when_another_message_comes(monkeypatch):
    looks = []

    def visit():
        looks.append(True)
        if len(looks) == 3:
            raise Newer

    monkeypatch.setattr(training, "visit", visit)
    with pytest.raises(Newer):
        training.finished(Job("never done"), 30)
