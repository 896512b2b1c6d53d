"""Thirty visitors who arrive within 4.5 seconds: when the first run of each has ended, against an empty page.

Visitors are WebSocket connections, as a browser opens them, without the browser's own work. The server is started as
`streamlit run app.py` starts it. A second part lets sixty sessions move a slider every five seconds for half a minute.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import websockets
from browser import ROOT, streamlit_app
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

VISITORS, WITHIN = 30, 4.5
SESSIONS, PAUSE, MOVES = 60, 5.0, 6


class Session:
    """One visitor: asks for runs and waits for their end."""

    def __init__(self, socket):
        self.socket, self.sliders = socket, {}

    async def run(self, widgets=()):
        """Ask for a run; seconds until it has ended."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        for name, value in widgets:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.double_array_value.data[:] = name, [value]
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await self.socket.recv())
            element = answer.delta.new_element
            if element.WhichOneof("type") == "slider":
                self.sliders[element.slider.label] = element.slider.id
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - start


def connect(url):
    return websockets.connect(url.replace("http", "ws") + "/_stcore/stream", max_size=None, subprotocols=["streamlit"])


async def arrive(url, delay):
    await asyncio.sleep(delay)
    start = time.perf_counter()
    async with connect(url) as socket:
        await Session(socket).run()
        return time.perf_counter() - start


async def arrivals(url):
    await arrive(url, 0)  # a warm server
    return await asyncio.gather(*(arrive(url, WITHIN * i / VISITORS) for i in range(VISITORS)))


async def work(url, number):
    took = []
    async with connect(url) as socket:
        session = Session(socket)
        await asyncio.sleep(PAUSE * number / SESSIONS)
        await session.run()
        for move in range(MOVES):
            await asyncio.sleep(PAUSE)
            slider = session.sliders["Fairness strength C"]
            took.append(await session.run([(slider, round(0.05 * ((7 * number + 13 * move) % 60), 2))]))
    return took


async def sliders(url):
    return [took for one in await asyncio.gather(*(work(url, i) for i in range(SESSIONS))) for took in one]


def summary(name, took):
    p95 = sorted(took)[int(0.95 * len(took))]
    return f"{name}: median {statistics.median(took):.2f} s, p95 {p95:.2f} s, longest {max(took):.2f} s"


def main():
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        (Path(folder) / "empty.py").write_text("import streamlit as st\nst.write('empty')\n")
        with streamlit_app(Path(folder) / "empty.py") as url:
            print(summary(f"{VISITORS} arrivals at an empty page", asyncio.run(arrivals(url))))
    with streamlit_app("app.py") as url:
        print(summary(f"{VISITORS} arrivals at the playground", asyncio.run(arrivals(url))))
        print(summary(f"{SESSIONS} sessions that move C every {PAUSE:g} s", asyncio.run(sliders(url))))


if __name__ == "__main__":
    main()
