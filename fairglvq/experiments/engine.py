"""Sweeps under way: a bounded pool of worker processes shared by all visitors. No Streamlit here.

`Pool.begin` returns a `Run` to watch. Runs take turns, one model each, so that a long sweep does not keep a short one
waiting. Every finished row goes to the store at once; cancelling kills the processes that still work for the run. On a
Dask cluster (`cluster.py`) the same runs are trained there.
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
from fairglvq.experiments.evaluation import Task, row_of
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import Model, Sweep
from fairglvq.experiments.worker import COMMAND, FORGET, Answer, Order

ROOT = Path(__file__).resolve().parents[2]
AWAY = 3.0  # seconds after which somebody who does not look any more is gone
TRIES = 2  # a model whose worker dies is given to another one, once

Part = tuple[str, int, int]
"""Method, seed and fold: what is prepared once for all strengths."""


class StoppedError(Exception):
    """The worker ended before it was done."""


class LostError(Exception):
    """No worker can be had any more; the words say why, for visitors."""


class Worker(Protocol):
    """Somebody who carries out one order at a time."""

    def ready(self) -> None:
        """An order comes: what `stop` said before is over. Called by whoever may call `stop`, so before it."""

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry it out; raises StoppedError if `stop` came since `ready`, LostError if nobody can work any more."""

    def stop(self) -> None:
        """Give up what is being done or about to be done; returns at once."""

    def close(self) -> None:
        """There is no more work."""


class Process:
    """A worker process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._holds: str | None = None  # fingerprint of the data it has
        self._stopped = False
        self.start()

    def ready(self) -> None:
        """An order comes."""
        self._stopped = False

    def start(self) -> subprocess.Popen:
        """The process, begun anew if it is not there."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                _bury(self._process)
                self._process = None
            if self._process is None:
                self._holds = None
                # Not multiprocessing: its children would import this server's main script.
                self._process = subprocess.Popen(COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            return self._process

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry out an order; the data are sent only if the process has others."""
        process = self.start()
        if self._stopped:  # between `ready` and here: a process just begun would work for nobody
            raise StoppedError
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

    def rest(self) -> None:
        """There is nothing to do: the data, perhaps a visitor's own, are forgotten."""
        with self._lock:
            if self._holds is not None and self._process is not None:
                self._holds = None
                with suppress(OSError):  # a dead process holds nothing
                    pickle.dump(Order(FORGET, ()), self._process.stdin)  # type: ignore[arg-type]
                    self._process.stdin.flush()  # type: ignore[union-attr]

    def stop(self) -> None:
        """Kill the process; `do` notices."""
        with self._lock:
            self._stopped = True
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
        self.problem = ""  # why it was stopped, if it was not by those who watch it
        self._seen: dict[str, float] = {}  # when each of those who watch it looked last
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

    def look(self, watcher: str) -> None:
        """Somebody watches it."""
        self._seen[watcher] = time.monotonic()

    def watched_without(self, watcher: str) -> bool:
        """Whether anybody else looked of late; whoever closed the page or loaded it anew does not come back as such."""
        self._seen.pop(watcher, None)
        return any(time.monotonic() - seen < AWAY for seen in list(self._seen.values()))

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
    """So many workers and no more, for all runs in turn.

    Workers are found in the background, so that nobody waits for a cluster that does not answer. When they are lost,
    all runs stop and say why; the next run that begins looks for workers again.
    """

    def __init__(self, make_workers: Callable[[], Iterable[Worker]]) -> None:
        self._changed = threading.Condition()
        self._runs: deque[Run] = deque()
        self._working: dict[int, tuple[Run, Worker]] = {}
        self._numbers = count()
        self._closed = False
        self._make_workers = make_workers
        self._crew: dict[Worker, threading.Thread] = {}
        self._search: threading.Thread | None = None
        with self._changed:
            self._look_for_workers()

    @property
    def size(self) -> int:
        """Models that are trained at the same time."""
        return len(self._crew)

    def close(self) -> None:
        """End all runs and all workers."""
        with self._changed:
            self._closed = True
            self._stop_all("")
            self._changed.notify_all()
            search = self._search
        if search:
            search.join()
        with self._changed:
            crew = dict(self._crew)
        for worker, thread in crew.items():
            worker.stop()
            thread.join()

    def begin(self, run: Run, watcher: str) -> Run:
        """Work on this run, or on one for the same rows that is under way already."""
        with self._changed:
            for other in self._runs:
                if other.sweep == run.sweep and other.data.fingerprint == run.data.fingerprint:
                    other.look(watcher)
                    return other
            run.look(watcher)
            if run.ended is None:
                self._runs.append(run)
                self._look_for_workers()
                self._changed.notify_all()
        return run

    def under_way(self, sweep: Sweep) -> Run | None:
        """A run of this sweep that somebody has begun."""
        with self._changed:
            return next((run for run in self._runs if run.sweep == sweep), None)

    def cancel(self, run: Run, watcher: str) -> None:
        """Stop working on it, unless somebody else watches it too; finished rows stay."""
        with self._changed:
            if run.watched_without(watcher) or run.ended is not None:
                return
            run.cancelled = True
            self._end(run)
            for busy_with, worker in list(self._working.values()):
                if busy_with is run:
                    worker.stop()

    def _look_for_workers(self) -> None:
        """Unless there are some, or somebody looks for them already."""
        if not self._crew and self._search is None:
            self._search = threading.Thread(target=self._hire, daemon=True)
            self._search.start()

    def _hire(self) -> None:
        try:
            workers, problem = list(self._make_workers()), ""
        except LostError as error:
            workers, problem = [], str(error)
            logging.getLogger(__name__).warning(problem)
        with self._changed:
            self._search = None
            self._crew = {w: threading.Thread(target=self._serve, args=(w,), daemon=True) for w in workers}
            if problem:
                self._stop_all(problem)
            for thread in self._crew.values():
                thread.start()

    def _serve(self, worker: Worker) -> None:
        while True:
            with self._changed:
                found = self._next(worker)
                if found is None:
                    break
                run, job = found
                number = next(self._numbers)
                self._working[number] = run, worker
                order = run.order(job)
                worker.ready()
            began = time.monotonic()
            lost = ""
            try:
                answer: Answer | None = worker.do(order, run.data)
            except StoppedError:
                answer = None
            except LostError as error:
                answer, lost = None, str(error)
            except Exception as error:  # a thread that died of it would leave the run waiting for ever
                logging.getLogger(__name__).exception("%s failed", order.function)
                answer = Answer(error=f"{type(error).__name__}: {error}")
            with self._changed:
                del self._working[number]
                if lost and worker in self._crew:
                    self._crew.clear()  # the others notice, each in its own time
                    self._stop_all(lost)
                self._settle(run, job, answer, time.monotonic() - began)
                self._changed.notify_all()
            if answer is None and isinstance(worker, Process) and not self._closed:
                worker.start()  # so that the next order need not wait for it
            del run, job, found, order, answer  # or this thread would hold a visitor's table until the next order
        worker.close()

    def _next(self, worker: Worker) -> tuple[Run, Job] | None:
        """The next job of the run whose turn it is; waits until there is one. None: this worker is not needed."""
        while worker in self._crew and not self._closed:
            found = self._turn()
            if found is not None:
                return found
            if not self._runs and isinstance(worker, Process):
                worker.rest()
            self._changed.wait()
        return None

    def _turn(self) -> tuple[Run, Job] | None:
        for _ in range(len(self._runs)):
            run = self._runs[0]
            self._runs.rotate(-1)
            job = run.take()
            if job is not None:
                return run, job
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

    def _stop_all(self, problem: str) -> None:
        for run in list(self._runs):
            run.cancelled, run.problem = True, problem
            self._end(run)

    def _end(self, run: Run) -> None:
        run.ended = time.monotonic()
        if run in self._runs:
            self._runs.remove(run)


def local_workers(size: int) -> Callable[[], list[Worker]]:
    """Processes on this computer."""
    return lambda: [Process() for _ in range(size)]
