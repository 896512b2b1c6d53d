"""Visitors without a browser: WebSocket connections as a browser opens them, hundreds of them if need be."""

import math
import time

from browser import wait_for
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from pages.shared.training import POLL

SUBPROTOCOLS = ["streamlit"]


def stream_of(url):
    return url.replace("http", "ws") + "/_stcore/stream"


class Client:
    """What a browser holds of a page: its address, its widgets by label, its words, its fragments with a clock.

    Sending and receiving are left to the caller.
    """

    def __init__(self, page="", query=""):
        self.page, self.page_hash, self.query = page, "", query
        self.pages, self.widgets, self.words, self.timers, self.problems = {}, {}, [], {}, []
        self.whole = True  # whether the run under way is one of the whole page
        self.kept, self.references = set(), []  # messages a browser would keep, and those the server then left out

    def request(self, *, fragment="", menu=None, **widget):
        """The message that requests a run.

        ``slider=(label, value)`` moves a widget, ``button=label`` presses one, ``menu=page`` chooses another page.
        """
        self.whole = not fragment
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name, asked.page_script_hash = self.query, self.page, self.page_hash
        asked.context_info.url = f"http://localhost/{self.page}"
        asked.cached_message_hashes.extend(self.kept)
        if menu is not None:
            asked.query_string, asked.page_script_hash = "", self.pages[menu]
        asked.fragment_id, asked.is_auto_rerun = fragment, bool(fragment)
        if "button" in widget:
            state = asked.widget_states.widgets.add()
            state.id, state.trigger_value = self.widgets[widget["button"]], True
        if "slider" in widget:
            label, value = widget["slider"]
            state = asked.widget_states.widgets.add()
            state.id, state.double_array_value.data[:] = self.widgets[label], [value]
        return message.SerializeToString()

    def hear(self, data):
        """Handle one message; returns whether it ends the run."""
        answer = ForwardMsg()
        answer.ParseFromString(data)
        kind = answer.WhichOneof("type")
        if answer.metadata.cacheable:
            self.kept.add(answer.hash)
        if kind == "ref_hash":
            self.references.append(answer.ref_hash)
        elif kind == "new_session" and self.whole:
            self.widgets, self.words, self.timers = {}, [], {}
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in answer.navigation.app_pages}
            self.page_hash = answer.navigation.page_script_hash
            self.page = next(name for name, known in self.pages.items() if known == self.page_hash)
        elif kind == "page_info_changed":
            self.query = answer.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.timers[answer.auto_rerun.fragment_id] = answer.auto_rerun.interval
        elif kind == "delta":
            self._see(answer.delta.new_element)
        elif kind == "script_finished":
            self.whole = answer.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            return not self.whole
        return False

    def _see(self, element):
        kind = element.WhichOneof("type")
        if kind in ("slider", "button"):
            widget = getattr(element, kind)
            self.widgets[widget.label] = widget.id
        elif kind == "markdown":
            self.words.append(element.markdown.body)
        elif kind == "alert":
            self.words.append(element.alert.body)
        elif kind == "exception":
            self.problems.append(element.exception.message)


class Visitor:
    """One visitor, who waits for every answer, until the ``stack`` of contexts is closed."""

    def __init__(self, stack, url, page="", query=""):
        self.client = Client(page, query)
        self.socket = stack.enter_context(connect(stream_of(url), max_size=None, subprotocols=SUBPROTOCOLS))

    def run(self, **asked):
        """Request a run and wait until it has ended."""
        self.send(self.client.request(**asked))

    def send(self, message):
        """Send a message and wait until its run has ended."""
        self.socket.send(message)
        while not self.client.hear(self.socket.recv()):
            pass
        assert self.client.problems == []

    def wait_trained(self, words):
        """Poll as often as the page does, until it shows a model with these words."""
        wait_for(lambda: words in " ".join(self.client.words) or self.tick(POLL), 120, words)

    def tick(self, seconds):
        """What the browser does when so many seconds have passed: run the fragment with this clock."""
        clocks = self.client.timers.items()  # intervals come as 32-bit numbers
        self.run(fragment=next(name for name, every in clocks if math.isclose(every, seconds, rel_tol=1e-6)))


class Session:
    """One visitor in an asynchronous program."""

    def __init__(self, socket, page="", query=""):
        self.socket, self.client = socket, Client(page, query)

    async def run(self, **asked):
        """Ask for a run; seconds until it has ended."""
        start = time.perf_counter()
        await self.socket.send(self.client.request(**asked))
        while not self.client.hear(await self.socket.recv()):
            pass
        return time.perf_counter() - start
