"""The engine that trains the models of sweeps, for the command line, scripts and the app alike.

A `SweepRun` is the queue of models that a sweep still lacks. A `Pool` trains the models of many runs on worker
processes or on a Dask cluster, one model of each run in turn, so that a long sweep does not delay a short one;
`Pool.begin` returns at once and `Pool.cancel` kills the processes that work for a run. An `Engine` waits for the rows:
it trains short sweeps in this process and long ones on a pool of its own.

Every finished row goes to the store at once.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from fairglvq.datasets import Dataset
from fairglvq.experiments.cluster import cluster_workers
from fairglvq.experiments.processes import local_workers
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import ModelKey, Sweep
from fairglvq.experiments.worker import Answer, Request, StoppedError, Worker, WorkersLostError, arrays_of, perform

Progress = Callable[[int, int], None]
"""Called with rows done and rows in all."""

WATCHER_SECONDS = 3.0
"""Time after `seen_by` until a watcher counts as gone."""

ATTEMPTS = 2
"""A model whose worker dies is trained once more by another one."""

SHORT_SECONDS = 10.0
"""Less work than this is done in one process: on two cores, workers take as long to start as they would save."""


class FoldKey(NamedTuple):
    """What is prepared once for all strengths."""

    method: str
    seed: int
    fold: int


class Job(NamedTuple):
    """The next thing to do for a run: a fold to prepare, or one of its models to train."""

    fold: FoldKey
    model: ModelKey | None


class SweepRun:
    """A sweep being trained: ``rows`` so far, ``failures`` by method, ``state``.

    ``known`` rows are not trained again; new ones are put into ``store``, if there is one. A sweep that cannot be
    trained on these data is a ValueError here.
    """

    def __init__(
        self, sweep: Sweep, data: Dataset, known: Mapping[ModelKey, dict] | None = None, store: Store | None = None
    ) -> None:
        self.sweep, self.data, self.store = sweep, data, store
        self.keys = sweep.keys(data)
        self.rows: dict[ModelKey, dict[str, Any]] = dict(known or {})
        self.failures: dict[str, Exception] = {}
        self.store_error = ""  # why rows could not be put into the store
        self.problem = ""  # why the run was stopped, if not by a watcher
        self._last_seen: dict[str, float] = {}  # by watcher
        self._prepared: dict[FoldKey, Any] = {}
        self._waiting: dict[FoldKey, deque[ModelKey]] = {}  # in the order of the sweep; a fold stays until it is done
        self._busy: Counter[FoldKey] = Counter()
        self._attempts: Counter[Job] = Counter()
        self._seconds: defaultdict[str, list[float]] = defaultdict(list)
        for model in self.keys:
            if model not in self.rows:
                fold = FoldKey(model.method, model.seed, model.fold)
                self._waiting.setdefault(fold, deque()).append(model)
        self.state = "running" if self._waiting else "done"  # or "cancelled"

    def seen_by(self, watcher: str) -> None:
        """Note that a visitor with this name watches the run."""
        self._last_seen[watcher] = time.monotonic()

    def left_by(self, watcher: str) -> None:
        """Note that a visitor with this name no longer watches it."""
        self._last_seen.pop(watcher, None)

    def watchers(self) -> list[str]:
        """The names of those who watched it lately."""
        return [name for name, seen in list(self._last_seen.items()) if time.monotonic() - seen < WATCHER_SECONDS]

    def seconds_left(self, workers: int) -> float | None:
        """An estimate from the time that models of each method took so far; None before the first."""
        means = {method: sum(took) / len(took) for method, took in self._seconds.items()}
        if not means:
            return None
        usual = sum(means.values()) / len(means)
        waiting = sum(means.get(fold.method, usual) * len(models) for fold, models in self._waiting.items())
        busy = sum(means.get(fold.method, usual) / 2 * n for fold, n in self._busy.items())
        return (waiting + busy) / max(1, workers)

    def tidy_rows(self) -> list[dict[str, Any]]:
        """All rows so far, in the order of the sweep."""
        found = dict(self.rows)
        return [model.row(self.data.name, found[model]) for model in self.keys if model in found]

    # Called by a pool, under its lock, or by an engine.

    def take(self) -> Job | None:
        """The next thing that can be done now."""
        for fold, models in self._waiting.items():
            if fold in self._prepared:
                if models:
                    self._busy[fold] += 1
                    return Job(fold, models.popleft())
            elif not self._busy[fold]:
                self._busy[fold] = 1
                return Job(fold, None)
        return None

    def request(self, job: Job) -> Request:
        """What a worker has to do for a job."""
        if job.model is None:
            models = self._waiting[job.fold]
            return Request("prepare", (self.keys[models[0]], [model.strength for model in models]))
        return Request("train_and_assess", (self.keys[job.model], self._prepared[job.fold]))

    def settle(self, job: Job, answer: Answer | None, seconds: float) -> None:
        """Take the answer to a job; None: its worker died, so it is tried again."""
        if self.state != "running" or job.fold.method in self.failures:
            return  # the answer is not needed any more
        self._busy[job.fold] -= 1
        if answer is None:
            self._retry(job)
        elif answer.error is not None:
            self._fail(job.fold.method, answer.error)
        elif job.model is None:
            self._prepared[job.fold] = answer.result
        else:
            self._keep(job.model, answer.result)
            self._seconds[job.model.method].append(seconds)
            if not self._waiting[job.fold] and not self._busy[job.fold]:
                del self._waiting[job.fold], self._prepared[job.fold]
        if not self._waiting:
            self.state = "done"

    def _retry(self, job: Job) -> None:
        self._attempts[job] += 1
        if self._attempts[job] >= ATTEMPTS:
            words = "The process that trained it ended unexpectedly, perhaps for lack of memory."
            self._fail(job.fold.method, RuntimeError(words))
        elif job.model is not None:
            self._waiting[job.fold].appendleft(job.model)

    def _fail(self, method: str, error: Exception) -> None:
        """Drop the remaining models of a method that cannot be trained on these data."""
        self.failures.setdefault(method, error)
        for fold in [fold for fold in self._waiting if fold.method == method]:
            del self._waiting[fold]

    def _keep(self, model: ModelKey, row: dict[str, Any]) -> None:
        """Put a row into the store, if there is one; a full disk must not end the run."""
        if self.store is not None:
            try:
                self.store.put(self.keys[model], self.data.name, row)
            except (OSError, sqlite3.Error) as error:
                self.store_error = str(error)
        self.rows[model] = row

    def stop(self, problem: str = "") -> None:
        """End it before all models are trained."""
        self.state, self.problem = "cancelled", problem


class Pool:
    """A fixed number of workers for all runs in turn.

    Workers are started in the background, so that no page waits for a cluster that does not answer. When they are lost,
    all runs stop with a ``problem``; the next run that begins starts workers again.
    """

    def __init__(self, make_workers: Callable[[], Iterable[Worker]]) -> None:
        self._changed = threading.Condition()
        self._runs: deque[SweepRun] = deque()
        self._working: dict[Worker, SweepRun] = {}
        self._closed = False
        self._make_workers = make_workers
        self._threads: dict[Worker, threading.Thread] = {}
        self._starting: threading.Thread | None = None
        with self._changed:
            self._ensure_workers()

    @property
    def size(self) -> int:
        """Models that are trained at the same time."""
        return len(self._threads)

    def close(self) -> None:
        """End all runs and all workers."""
        with self._changed:
            self._closed = True
            self._stop_all("")
            starting = self._starting
        if starting:
            starting.join()
        with self._changed:
            threads = dict(self._threads)
        for worker in threads:
            worker.stop()
        for thread in threads.values():
            thread.join()

    def begin(self, run: SweepRun, watcher: str) -> SweepRun:
        """Train this run, or return one of the same sweep and data that is being trained already."""
        with self._changed:
            for other in self._runs:
                if other.sweep == run.sweep and other.data.fingerprint == run.data.fingerprint:
                    other.seen_by(watcher)
                    return other
            run.seen_by(watcher)
            if run.state == "running":
                self._runs.append(run)
                self._ensure_workers()
                self._changed.notify_all()
        return run

    def under_way(self, sweep: Sweep) -> SweepRun | None:
        """The run of this sweep that is being trained, for any watcher."""
        with self._changed:
            return next((run for run in self._runs if run.sweep == sweep), None)

    def wait_for(self, check: Callable[[], Any], timeout: float | None = None) -> bool:
        """Wait until a check holds, repeated after every job and when a run ends; False after ``timeout`` seconds."""
        with self._changed:
            return bool(self._changed.wait_for(check, timeout))

    def cancel(self, run: SweepRun, watcher: str) -> None:
        """Stop training it, unless another visitor watches it too; finished rows stay."""
        with self._changed:
            run.left_by(watcher)
            if run.watchers() or run.state != "running":
                return
            run.stop()
            self._runs.remove(run)
            for worker, trained in self._working.items():
                if trained is run:
                    worker.stop()
            self._changed.notify_all()

    def _ensure_workers(self) -> None:
        """Start workers, unless there are some or they are being started."""
        if not self._threads and self._starting is None:
            self._starting = threading.Thread(target=self._start_workers, daemon=True)
            self._starting.start()

    def _start_workers(self) -> None:
        try:
            workers, problem = list(self._make_workers()), ""
        except WorkersLostError as error:
            workers, problem = [], str(error)
        with self._changed:
            self._starting = None
            self._threads = {w: threading.Thread(target=self._serve, args=(w,), daemon=True) for w in workers}
            if problem:
                self._stop_all(problem)
            for thread in self._threads.values():
                thread.start()
            self._changed.notify_all()

    def _serve(self, worker: Worker) -> None:
        """Give one worker its jobs, one after the other."""
        while True:
            if not self._closed:
                worker.start()  # now, so that the next job need not wait for it
            with self._changed:
                found = self._next(worker)
                if found is None:
                    break
                run, job = found
                self._working[worker] = run
                request = run.request(job)
                worker.ready()
            began = time.monotonic()
            problem = ""
            try:
                answer: Answer | None = worker.do(request, run.data)
            except StoppedError:
                answer = None
            except WorkersLostError as error:
                answer, problem = None, str(error)
            except Exception as error:  # a thread that ended here would leave the run waiting for ever
                logging.getLogger(__name__).exception("%s failed", request.function)
                answer = Answer(error=RuntimeError(f"{type(error).__name__}: {error}"))
            with self._changed:
                del self._working[worker]
                if problem and worker in self._threads:
                    self._threads.clear()  # the other threads end when they are not in it
                    self._stop_all(problem)
                run.settle(job, answer, time.monotonic() - began)
                if run.state != "running" and run in self._runs:
                    self._runs.remove(run)
                self._changed.notify_all()
            del run, job, found, request, answer  # else this thread would hold a visitor's table until the next job
        worker.close()

    def _next(self, worker: Worker) -> tuple[SweepRun, Job] | None:
        """The next job of the run whose turn it is; waits until there is one. None: the worker is not needed."""
        while worker in self._threads and not self._closed:
            found = self._turn()
            if found is not None:
                return found
            if not self._runs:
                worker.forget()
            self._changed.wait()
        return None

    def _turn(self) -> tuple[SweepRun, Job] | None:
        # Apart from `_next`, whose variables live while it waits: they must not hold a run and its data.
        for _ in range(len(self._runs)):
            run = self._runs[0]
            self._runs.rotate(-1)
            job = run.take()
            if job is not None:
                return run, job
        return None

    def _stop_all(self, problem: str) -> None:
        for run in self._runs:
            run.stop(problem)
        self._runs.clear()
        self._changed.notify_all()


def make_pool(n_jobs: int | None = None, cluster: str | None = None) -> Pool:
    """A pool on the Dask cluster at this address ($FAIRGLVQ_CLUSTER), else of `n_processes` here."""
    address = cluster or os.environ.get("FAIRGLVQ_CLUSTER")
    return Pool(cluster_workers(address) if address else local_workers(n_processes(n_jobs)))


def n_processes(n_jobs: int | None) -> int:
    """``n_jobs``, or $FAIRGLVQ_WORKERS, or one per core."""
    return max(1, n_jobs or int(os.environ.get("FAIRGLVQ_WORKERS", os.cpu_count() or 1)))


class Engine:
    """Trains sweeps one after the other and waits for their rows; a context manager, which ends its workers.

    ``n_jobs=1`` trains in this process and ``n_jobs > 1`` on so many worker processes. None, the default, begins in
    this process and starts a worker process per core once what is left is worth it. With a ``cluster`` (or
    $FAIRGLVQ_CLUSTER), the address of a Dask scheduler, all models are trained there.
    """

    def __init__(self, n_jobs: int | None = None, cluster: str | None = None) -> None:
        if n_jobs is not None and not (isinstance(n_jobs, Integral) and n_jobs >= 1):
            raise ValueError(f"n_jobs must be None or a whole number of at least 1; got {n_jobs!r}")
        self._n_jobs, self._cluster = n_jobs, cluster
        self._in_process = n_jobs in (None, 1) and not (cluster or os.environ.get("FAIRGLVQ_CLUSTER"))
        self._pool: Pool | None = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def compute(
        self, sweep: Sweep, data: Dataset, *, store: Store | None = None, progress: Progress | None = None
    ) -> list[dict[str, Any]]:
        """Rows of a sweep in its order; those in the store are not computed again, a method that fails is an error."""
        known = store.get(sweep.keys(data)) if store else {}
        run = SweepRun(sweep, data, known, store)
        report = progress or (lambda done, total: None)
        if run.state == "done" or (self._in_process and self._pool is None):
            self._train_here(run, report)
        if run.state == "running":
            self._train_on_pool(run, report)
        if run.store_error:
            warnings.warn(f"rows could not be kept on disk ({run.store_error})", RuntimeWarning, stacklevel=2)
        return run.tidy_rows()

    def compute_all(
        self, plans: Sequence[tuple[Sweep, Dataset]], *, store: Store | None, progress: Progress | None
    ) -> Iterator[list[dict[str, Any]]]:
        """Rows of several sweeps, one sweep after the other; progress counts through all of them."""
        total, before = sum(len(sweep) for sweep, _ in plans), 0
        for sweep, data in plans:

            def report(done: int, _: int, before: int = before) -> None:
                if progress:
                    progress(before + done, total)

            yield self.compute(sweep, data, store=store, progress=report)
            before += len(sweep)

    def _train_here(self, run: SweepRun, report: Progress) -> None:
        """Train in this process until all is done, or until worker processes are worth their start."""
        arrays = arrays_of(run.data)
        report(len(run.rows), len(run.keys))
        while (n_processes(self._n_jobs) == 1 or (run.seconds_left(1) or 0) < SHORT_SECONDS) and (job := run.take()):
            began = time.monotonic()
            run.settle(job, Answer(perform(run.request(job), arrays)), time.monotonic() - began)
            if job.model is not None:
                report(len(run.rows), len(run.keys))

    def _train_on_pool(self, run: SweepRun, report: Progress) -> None:
        self._pool = pool = self._pool or make_pool(self._n_jobs, self._cluster)
        reported = -1

        def news() -> bool:
            return run.state != "running" or bool(run.failures) or (pool.size > 0 and len(run.rows) > reported)

        pool.begin(run, "engine")
        try:
            while True:
                pool.wait_for(news)
                over = run.state != "running" or bool(run.failures)  # before counting: no row comes after that
                if len(run.rows) > reported and not run.problem:
                    reported = len(run.rows)
                    report(reported, len(run.keys))
                if over:
                    break
        finally:
            pool.cancel(run, "engine")
        if run.failures:
            raise next(iter(run.failures.values()))
        if run.problem:
            raise WorkersLostError(run.problem)
