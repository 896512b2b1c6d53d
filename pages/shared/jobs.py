"""Sweeps under way: a bounded pool of worker processes shared by all visitors. No Streamlit here.

`Pool.begin` returns a `Run` to watch. Runs take turns, one model each, so that a long sweep does not keep a short one
waiting. Every finished row goes to the store at once; cancelling kills the processes that still work for the run. With
a Dask cluster the same runs are trained there.
"""

from __future__ import annotations

import logging
import pickle
import sqlite3
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from fairglvq.datasets import Dataset
from fairglvq.evaluation import Task, row_of
from fairglvq.store import Store
from fairglvq.sweep import Model, Sweep
from fairglvq.worker import COMMAND, Answer, Order, carry_out

ROOT = Path(__file__).resolve().parents[2]
TRIES = 2  # a model whose worker dies is given to another one, once

Part = tuple[str, int, int]
"""Method, seed and fold: what is prepared once for all strengths."""


class StoppedError(Exception):
    """The worker ended before it was done."""


class Worker(Protocol):
    """Somebody who carries out one order at a time."""

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry it out; raises StoppedError if `stop` came first."""

    def stop(self) -> None:
        """Give up what is being done, now."""

    def close(self) -> None:
        """There is no more work."""


class Process:
    """A worker process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._holds: str | None = None  # fingerprint of the data it has
        self.start()

    def start(self) -> subprocess.Popen:
        """The process, begun anew if it is not there."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._holds = None
                # Not multiprocessing: its children would import this server's main script.
                self._process = subprocess.Popen(COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            return self._process

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry out an order; the data are sent only if the process has others."""
        process = self.start()
        if self._holds != data.fingerprint:
            order = order._replace(data=(data.X, data.y, data.s, data.favourable))
            self._holds = data.fingerprint
        try:
            pickle.dump(order, process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            return pickle.load(process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            _bury(process)
            raise StoppedError from error

    def stop(self) -> None:
        """Kill the process; `do` notices."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process for good."""
        with self._lock:
            if self._process is not None:
                _bury(self._process)


def _bury(process: subprocess.Popen) -> None:
    """Kill a process and leave nothing of it behind."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):  # what it has not read is of no use any more
            pipe.close()  # type: ignore[union-attr]


class ClusterWorker:
    """One place on a Dask cluster."""

    def __init__(self, client: Any, scattered: dict[str, Any]) -> None:
        self._client = client
        self._scattered = scattered  # by fingerprint; shared by all places, so that data are sent once
        self._future: Any = None

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry out an order somewhere; the data go to the cluster once."""
        from distributed import CancelledError  # only with a cluster
        from distributed.client import FutureCancelledError

        if data.fingerprint not in self._scattered:
            arrays = (data.X, data.y, data.s, data.favourable)
            self._scattered[data.fingerprint] = self._client.scatter(arrays, hash=False)
        self._future = self._client.submit(carry_out, order, self._scattered[data.fingerprint], pure=False)
        try:
            return self._future.result()
        except (CancelledError, FutureCancelledError, OSError) as error:
            raise StoppedError from error

    def stop(self) -> None:
        """Take the order back; a model that is being trained ends unheard."""
        if self._future is not None:
            self._future.cancel()

    def close(self) -> None:
        """The place stays: it is the cluster's."""


class Job(NamedTuple):
    """The next thing to do for a run: a part to prepare, or one of its models to train."""

    part: Part
    model: Model | None


class Run:
    """A sweep under way: ``rows`` so far, ``failures`` by method, ``state`` of it."""

    def __init__(
        self, sweep: Sweep, data: Dataset, tasks: Mapping[Model, Task], known: Mapping[Model, dict], store: Store | None
    ) -> None:
        self.sweep, self.data, self.tasks, self.store = sweep, data, tasks, store
        self.rows: dict[Model, dict[str, Any]] = dict(known)
        self.failures: dict[str, str] = {}
        self.unkept = ""  # why rows could not be put into the store
        self.watchers: set[str] = set()
        self.began = time.monotonic()
        self.ended: float | None = None
        self.cancelled = False
        self._prepared: dict[Part, Any] = {}
        self._waiting: dict[Part, deque[Model]] = {}  # in the order of the sweep
        self._busy: dict[Part, int] = {}
        self._tries: dict[Job, int] = {}
        self._seconds: dict[str, list[float]] = {}
        for model in tasks:
            if model not in self.rows:
                self._waiting.setdefault((model.method, model.seed, model.fold), deque()).append(model)
        self.n_known = len(self.rows)
        if not self._waiting:
            self.ended = self.began

    @property
    def state(self) -> str:
        """One of "running", "cancelled" and "done"."""
        return "running" if self.ended is None else "cancelled" if self.cancelled else "done"

    @property
    def left(self) -> int:
        """Models that are still to be trained."""
        return sum(model not in self.rows and model.method not in self.failures for model in self.tasks)

    def seconds_left(self, workers: int) -> float | None:
        """An estimate from what models of each method took so far; None before the first."""
        means = {method: sum(took) / len(took) for method, took in self._seconds.items()}
        if not means:
            return None
        usual = sum(means.values()) / len(means)
        waiting = sum(means.get(part[0], usual) * len(models) for part, models in self._waiting.items())
        busy = sum(means.get(part[0], usual) / 2 * n for part, n in self._busy.items())
        return (waiting + busy) / max(1, workers)

    # The pool calls these while it holds its lock.

    def take(self) -> Job | None:
        """The next thing that can be done now."""
        for part, models in self._waiting.items():
            if part in self._prepared:
                if models:
                    self._busy[part] = self._busy.get(part, 0) + 1
                    return Job(part, models.popleft())
            elif not self._busy.get(part):
                self._busy[part] = 1
                return Job(part, None)
        return None

    def give_back(self, job: Job) -> None:
        """A job was not done: once more, or it is a failure."""
        self._busy[job.part] -= 1
        self._tries[job] = self._tries.get(job, 0) + 1
        if self._tries[job] >= TRIES:
            self.fail(job.part[0], "The process that trained it ended unexpectedly, perhaps for lack of memory.")
        elif job.model is not None:
            self._waiting[job.part].appendleft(job.model)

    def done(self, job: Job, result: Any, seconds: float) -> None:
        """A job is done; the row of a model is kept."""
        self._busy[job.part] -= 1
        if job.model is None:
            self._prepared[job.part] = result
            return
        self._seconds.setdefault(job.model.method, []).append(seconds)
        self.rows[job.model] = result
        if not self._waiting[job.part] and not self._busy[job.part]:
            del self._waiting[job.part], self._prepared[job.part]

    def fail(self, method: str, why: str) -> None:
        """A method cannot be trained on these data: leave out what is left of it."""
        self.failures.setdefault(method, why)
        for part in [part for part in self._waiting if part[0] == method]:
            del self._waiting[part]

    def order(self, job: Job) -> Order:
        """What a worker is told."""
        method, seed, fold = job.part
        params, folds = self._params(method), self.sweep.folds
        if job.model is None:
            strengths = [model.strength for model in self._waiting[job.part]]
            return Order("prepare", (method, strengths, (seed, fold), folds, params))
        return Order("train_and_assess", (self.tasks[job.model], self._prepared[job.part], folds, params))

    def _params(self, method: str) -> dict[str, Any]:
        return next(task.key.params for model, task in self.tasks.items() if model.method == method)

    def keep(self, model: Model, result: dict[str, Any]) -> None:
        """Put a row into the store, if there is one; a full disk must not end the run."""
        if self.store is not None:
            try:
                self.store.put(self.tasks[model].key, self.data.name, result)
            except (OSError, sqlite3.Error) as error:
                self.unkept = str(error)

    def table_rows(self) -> list[dict[str, Any]]:
        """All rows so far, in the order of the sweep."""
        found = dict(self.rows)
        return [row_of(self.data.name, task, found[model]) for model, task in self.tasks.items() if model in found]


class Pool:
    """So many workers and no more, for all runs in turn."""

    def __init__(self, make_workers: Callable[[], Iterable[Worker]]) -> None:
        self._changed = threading.Condition()
        self._runs: deque[Run] = deque()
        self._working: dict[int, tuple[Run, Worker]] = {}
        self._numbers = count()
        self._closed = False
        self._workers = list(make_workers())
        self._threads = [threading.Thread(target=self._serve, args=(w,), daemon=True) for w in self._workers]
        for thread in self._threads:
            thread.start()

    @property
    def size(self) -> int:
        """Models that are trained at the same time."""
        return len(self._workers)

    def close(self) -> None:
        """End all runs and all workers."""
        with self._changed:
            self._closed = True
            for run in list(self._runs):
                run.cancelled = True
                self._end(run)
            self._changed.notify_all()
        for worker in self._workers:
            worker.stop()
        for thread, worker in zip(self._threads, self._workers, strict=True):
            thread.join()
            worker.close()

    def begin(self, run: Run, watcher: str) -> Run:
        """Work on this run, or on one for the same rows that is under way already."""
        with self._changed:
            for other in self._runs:
                if other.sweep == run.sweep and other.data.fingerprint == run.data.fingerprint:
                    other.watchers.add(watcher)
                    return other
            run.watchers.add(watcher)
            if run.ended is None:
                self._runs.append(run)
                self._changed.notify_all()
        return run

    def cancel(self, run: Run, watcher: str) -> None:
        """Stop working on it, unless somebody else watches it too; finished rows stay."""
        with self._changed:
            run.watchers.discard(watcher)
            if run.watchers or run.ended is not None:
                return
            run.cancelled = True
            self._end(run)
            for busy_with, worker in list(self._working.values()):
                if busy_with is run:
                    worker.stop()

    def _serve(self, worker: Worker) -> None:
        while True:
            with self._changed:
                found = self._next()
                if found is None:
                    return
                run, job = found
                number = next(self._numbers)
                self._working[number] = run, worker
                order = run.order(job)
            began = time.monotonic()
            try:
                answer: Answer | None = worker.do(order, run.data)
            except StoppedError:
                answer = None
            except Exception as error:  # a thread that died of it would leave the run waiting for ever
                logging.getLogger(__name__).exception("%s failed", order.function)
                answer = Answer(error=f"{type(error).__name__}: {error}")
            with self._changed:
                del self._working[number]
                self._settle(run, job, answer, time.monotonic() - began)
                self._changed.notify_all()
            if answer is None and isinstance(worker, Process) and not self._closed:
                worker.start()  # so that the next order need not wait for it

    def _next(self) -> tuple[Run, Job] | None:
        """The next job of the run whose turn it is; waits until there is one. None: the pool is closed."""
        while not self._closed:
            for _ in range(len(self._runs)):
                run = self._runs[0]
                self._runs.rotate(-1)
                job = run.take()
                if job is not None:
                    return run, job
            self._changed.wait()
        return None

    def _settle(self, run: Run, job: Job, answer: Answer | None, seconds: float) -> None:
        if run.ended is not None or job.part[0] in run.failures:
            return  # nobody waits for it any more
        if answer is None:
            run.give_back(job)
        elif answer.error is not None:
            run.fail(job.part[0], answer.error)
        else:
            if job.model is not None:
                run.keep(job.model, answer.result)
            run.done(job, answer.result, seconds)
        if run.left == 0:
            self._end(run)

    def _end(self, run: Run) -> None:
        run.ended = time.monotonic()
        if run in self._runs:
            self._runs.remove(run)


def local_workers(size: int) -> Callable[[], list[Worker]]:
    """Processes on this computer."""
    return lambda: [Process() for _ in range(size)]


def cluster_workers(address: str) -> Callable[[], list[Worker]]:
    """Every thread of a Dask cluster."""

    def make() -> list[Worker]:
        from distributed import Client

        client = Client(address, set_as_default=False)
        scattered: dict[str, Any] = {}
        return [ClusterWorker(client, scattered) for _ in range(max(1, sum(client.nthreads().values())))]

    return make
