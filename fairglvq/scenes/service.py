"""Finished trainings and those under way, shared by all visitors.

`TrainingService.submit` trains a scene on threads (the kernels release the GIL) and returns a `Job` that reports its
progress and can be waited for or cancelled. Results are cached part by part: a change of C retrains FairGLVQ alone, and
thirty visitors with the same settings train once. The caches hold plain arrays only and are bounded.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from fairglvq.scenes import effects, training
from fairglvq.scenes.cache import CancelledError, ResultCache
from fairglvq.scenes.points import Points, load_points, points_key
from fairglvq.scenes.scene import Scene, compose
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import Film, Progress, Training, film_key, part_key

CORES = os.cpu_count() or 1
PARTS = 160  # parts kept: about 0.2 MB each on the plane
POINTS = 4  # loaded data sets kept: a real one takes tens of megabytes


def fulfil(future: Future, make: Callable[[], Any]) -> None:
    """Give the future what `make` returns or raises."""
    try:
        future.set_result(make())
    except BaseException as error:
        future.set_exception(error)


def on_own_thread(make: Callable[[], Any], future: Future | None = None) -> Future:
    """Have `make` called on a thread of its own: for work that mostly waits for other work."""
    result: Future = future or Future()
    threading.Thread(target=fulfil, args=(result, make), name="waiting", daemon=True).start()
    return result


class ThreadPool:
    """A few threads for a queue of work; daemons, unlike a ThreadPoolExecutor's, so that a server can end at once."""

    def __init__(self, size: int, name: str):
        self.queue: SimpleQueue[tuple[Future, Callable[[], Any]]] = SimpleQueue()
        for number in range(size):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def submit(self, make: Callable[[], Any], future: Future | None = None) -> Future:
        """Have `make` called on a thread; the future gets its result or its exception."""
        result: Future = future or Future()
        self.queue.put((result, make))
        return result

    def _work(self) -> None:
        while True:
            fulfil(*self.queue.get())


class TrainedScene(NamedTuple):
    """A trained scene, the effect of each setting in it, and warnings."""

    scene: Scene
    effects: dict[str, str]
    warnings: list[str]


class Job:
    """Work under way: ``future`` for its end, ``share`` of it done, ``cancel`` to stop it."""

    def __init__(self, key: Any):
        self.key = key
        self.future: Future = Future()
        self.began = time.monotonic()
        self._shares: dict[str, float] = {}
        self._cancelled = threading.Event()

    @property
    def share(self) -> float:
        """How much of the work is done, from 0 to 1."""
        return sum(self._shares.values()) / max(1, len(self._shares))

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None during the first 5 % of the work."""
        share = self.share
        return (time.monotonic() - self.began) * (1 - share) / share if share > 0.05 else None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled before it was done."""
        return self._cancelled.is_set() and not (self.future.done() and self.future.exception() is None)

    def cancel(self) -> None:
        """Stop at the next opportunity."""
        self._cancelled.set()

    def part(self, name: str) -> Progress:
        """The function that takes the progress of one part."""
        self._shares[name] = 0.0

        def progress(share: float) -> None:
            self._shares[name] = share
            if self._cancelled.is_set():
                raise CancelledError

        return progress

    def finished_within(self, seconds: float) -> bool:
        """Wait at most so long; return whether the work has ended."""
        return bool(wait([self.future], timeout=seconds).done)


class TrainingService:
    """Threads and caches of one server process."""

    def __init__(self) -> None:
        # These threads only train. Waiting for a part has threads of its own, or many visitors who wait for one slow
        # part would occupy all of these.
        self.parts = ThreadPool(2 * CORES, "part")
        # Films must not slow down the next picture: few threads.
        self.films = ThreadPool(max(1, CORES // 2), "film")
        self.results = ResultCache(PARTS)
        self.points = ResultCache(POINTS)

    def submit(self, settings: Settings, methods: Sequence[str] = ()) -> Job:
        """Train the methods of a scene, all or some; the job's result is a `TrainedScene`."""
        job = Job(settings)
        progress = {method: job.part(method) for method in methods or settings.methods}
        on_own_thread(lambda: self._show(settings, progress), job.future)
        return job

    def submit_film(self, settings: Settings, method: str) -> Job:
        """Train a method over the whole range of its strength, in the background; the job's result is a `Film`."""
        return self.submit_work(
            film_key(settings, method),
            lambda progress: training.train_film(settings, self._points(settings), method, progress),
        )

    def submit_work(self, key: tuple, make: Callable[[Progress], Any]) -> Job:
        """Any work that need not be done before the next picture; its result is kept under its key."""
        job = Job(key)
        progress = job.part("work")

        def work() -> Any:
            progress(0.0)  # raises if the job was cancelled before it began
            return self.results.get(key, lambda: make(progress))

        self.films.submit(work, job.future)
        return job

    def film(self, settings: Settings, method: str) -> Film | None:
        """A method's film if it is finished."""
        return self.results.peek(film_key(settings, method))

    def forget(self, table: str) -> None:
        """Drop everything made from the visitor's table with this key."""
        training.forget(table)
        self.results.forget(table)
        self.points.forget(table)

    def _show(self, settings: Settings, progress: dict[str, Progress]) -> TrainedScene:
        points = self._points(settings)
        futures = {
            method: on_own_thread(partial(self._part, settings, points, method, report))
            for method, report in progress.items()
        }
        wait(futures.values())
        trainings = {method: future.result() for method, future in futures.items()}
        trained = compose(settings, points, trainings)
        return TrainedScene(trained, effects.sentences(settings, trained), effects.warnings(trained))

    def _part(self, settings: Settings, points: Points, method: str, progress: Progress) -> Training:
        progress(0.0)
        train = partial(training.train_part, settings, points, method, progress)
        trained = self.results.get(part_key(settings, method), lambda: self.parts.submit(train).result())
        progress(1.0)
        return trained

    def _points(self, settings: Settings) -> Points:
        return self.points.get(points_key(settings), lambda: load_points(settings))


def cold() -> bool:
    """Whether INP must wait two seconds for scikit-learn; the first picture then comes without INP.

    A module is listed as soon as its import begins, and has its classes once that has ended.
    """
    return not hasattr(sys.modules.get("fairglvq.fairness.projection"), "NullSpaceProjection")
