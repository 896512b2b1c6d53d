"""A room with a hundred students on one server: how long a report by the clock and a saved answer take.

Students are WebSocket connections without the browser's own work. They arrive within 20 seconds, report every three
seconds as the page asks them to, and answer the first question; a teacher looks on.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs

import psutil
import websockets
from browser import streamlit_server
from sockets import SUBPROTOCOLS, Session, stream_of

STUDENTS, WITHIN, LONG = 100, 20.0, 40.0


def connect(url):
    return websockets.connect(stream_of(url), max_size=None, subprotocols=SUBPROTOCOLS)


async def student(url, code, number, took):
    await asyncio.sleep(WITHIN * number / STUDENTS)
    async with connect(url) as socket:
        one = Session(socket, "lesson", f"room={code}")
        took["arrival"].append(await one.run())
        end, answer_at = time.perf_counter() + LONG, time.perf_counter() + 5 + LONG / 2 * number / STUDENTS
        while time.perf_counter() < end:
            await asyncio.sleep(3.0)
            fragment = next((name for name, every in one.client.timers.items() if every == 3.0), None)
            if fragment:
                took["report by the clock"].append(await one.run(fragment=fragment))
            option = next((label for label in one.client.widgets if label.startswith("Whichever")), None)
            if option and time.perf_counter() > answer_at:
                took["saved answer"].append(await one.run(button=option))
        assert one.client.problems == []


async def teacher(url, took, began, done):
    async with connect(url) as socket:
        one = Session(socket, "teach")
        await one.run()
        await one.run(button="Open a room")
        began.set_result(parse_qs(one.client.query)["room"][0])
        while not done.done():
            await asyncio.sleep(2.0)
            took["teacher's look"].append(await one.run(fragment=next(iter(one.client.timers))))
        return one.client.words


async def lesson(url, server):
    took = {name: [] for name in ("arrival", "report by the clock", "saved answer", "teacher's look")}
    loop = asyncio.get_running_loop()
    began, done = loop.create_future(), loop.create_future()
    watching = asyncio.create_task(teacher(url, took, began, done))
    code = await began
    await student(url, code, 0, {name: [] for name in took} | {"warm": []})  # a warm server
    start, busy = time.perf_counter(), sum(server.cpu_times()[:2])
    await asyncio.gather(*(student(url, code, number, took) for number in range(STUDENTS)))
    share = (sum(server.cpu_times()[:2]) - busy) / (time.perf_counter() - start)
    done.set_result(None)
    said = next(words for words in reversed(await watching) if "students**" in words)
    return took, said, share


def summary(name, took):
    p95 = sorted(took)[int(0.95 * len(took))]
    return f"{name} ({len(took)}): median {1000 * statistics.median(took):.0f} ms, p95 {1000 * p95:.0f} ms"


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "rows.sqlite")
        with streamlit_server("app.py", FAIRGLVQ_STORE=store) as (url, process):
            took, said, share = asyncio.run(lesson(url, psutil.Process(process.pid)))
    print(f"{STUDENTS} students in a room; the teacher reads: {said}")
    for name, seconds in took.items():
        print(summary(name, seconds))
    print(f"the server was busy for {100 * share:.0f}% of one core")


if __name__ == "__main__":
    main()
