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
from sockets import SUBPROTOCOLS, Session, stream_of

VISITORS, WITHIN = 30, 4.5
SESSIONS, PAUSE, MOVES = 60, 5.0, 6


def connect(url):
    return websockets.connect(stream_of(url), max_size=None, subprotocols=SUBPROTOCOLS)


async def arrive(url, delay):
    await asyncio.sleep(delay)
    start = time.perf_counter()
    async with connect(url) as socket:
        await Session(socket).run()
        return time.perf_counter() - start


async def arrivals(url):
    await arrive(url, 0)  # of a server that was just started: the first visitor
    return await asyncio.gather(*(arrive(url, WITHIN * i / VISITORS) for i in range(VISITORS)))


async def work(url, number):
    took = []
    async with connect(url) as socket:
        session = Session(socket)
        await asyncio.sleep(PAUSE * number / SESSIONS)
        await session.run()
        for move in range(MOVES):
            await asyncio.sleep(PAUSE)
            strength = round(0.05 * ((7 * number + 13 * move) % 60), 2)
            took.append(await session.run(slider=("Fairness strength C", strength)))
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
        for when in ("right after a server's first visitor", "later"):
            print(summary(f"{VISITORS} arrivals at the playground, {when}", asyncio.run(arrivals(url))))
        print(summary(f"{SESSIONS} sessions that move C every {PAUSE:g} s", asyncio.run(sliders(url))))


if __name__ == "__main__":
    main()
