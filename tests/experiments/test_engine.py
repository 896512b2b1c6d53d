"""The engine: same rows wherever they are trained, fair turns, cancel, dead workers, bad methods, lost workers."""

import os
import pickle
import signal
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import psutil
import pytest
from sweeps import LONG, QUICK, SECONDS, FakeWorker, finished, sweep_run

from fairglvq import datasets
from fairglvq.experiments import engine, evaluation, sweep
from fairglvq.experiments.engine import Engine, Pool, make_pool
from fairglvq.experiments.processes import ROOT, WorkerProcess, local_workers
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import ModelKey
from fairglvq.experiments.worker import COMMAND, Answer, Request, StoppedError, WorkersLostError, answer_to, arrays_of

COMPARED = {"glvq": (), "inp": (0, 1), "fairglvq": (0, 1)}


@pytest.fixture(scope="module")
def data():
    return datasets.load("xor", size=60)


@pytest.fixture(scope="module")
def pool():
    pool = Pool(local_workers(1))
    yield pool
    pool.close()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "rows.sqlite")


@pytest.fixture
def full_store(store, monkeypatch):
    def refuse(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store, "put", refuse)
    return store


class ThreadWorker(FakeWorker):
    """A worker that really trains, in the pool's thread."""

    def do(self, request, data):
        self.requests.append((data.name, request.function))
        return answer_to(request, arrays_of(data))


def pool_of(*workers):
    return Pool(lambda: workers)


def scores(rows):
    return evaluation.tidy(rows).drop(columns="seconds")


# ---- waiting for rows: Engine ----


def test_worker_processes_give_the_rows_of_this_process_and_keep_them(data, store):
    plan, told = sweep.of("xor", COMPARED, folds=2, **QUICK), []
    with Engine(n_jobs=1) as here:
        expected = scores(here.compute(plan, data))
    with Engine(n_jobs=2) as there:
        found = there.compute(plan, data, store=store, progress=lambda *now: told.append(now))
    pd.testing.assert_frame_equal(scores(found), expected)
    assert told[0] == (0, 10)
    assert told[-1] == (10, 10)
    assert told == sorted(set(told))
    assert len(store.get(plan.keys(data))) == 10


def test_workers_are_started_only_when_there_is_enough_to_do(data, monkeypatch):
    """What was done in this process before is not done again."""
    plan, worker = sweep.of("xor", {"fairglvq": (0, 1, 2)}, folds=2, **QUICK), ThreadWorker()
    monkeypatch.setattr(engine, "make_pool", lambda *_: pool_of(worker))
    monkeypatch.setattr(engine, "n_processes", lambda n_jobs: 2)
    with Engine() as short:
        expected = scores(short.compute(plan, data))
    assert worker.requests == []
    monkeypatch.setattr(engine, "SHORT_SECONDS", 1e-9)
    with Engine() as long:
        found = long.compute(plan, data)
    pd.testing.assert_frame_equal(scores(found), expected)
    trained = [function for _, function in worker.requests]
    assert (trained.count("prepare"), trained.count("train_and_assess")) == (1, 5)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_method_that_cannot_be_trained_is_an_error_for_the_caller(n_jobs):
    three = datasets.load("three_classes", size=90)
    with pytest.raises(ValueError, match="needs two labels"):
        evaluation.evaluate(three, "exponentiated_gradient", [1], folds=2, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, "all"])
def test_a_wrong_number_of_processes_is_named(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number of at least 1"):
        Engine(n_jobs)


def test_rows_that_cannot_be_kept_are_returned_with_a_warning(data, full_store):
    with Engine(n_jobs=1) as here, pytest.warns(RuntimeWarning, match="disk is full"):
        assert len(here.compute(sweep.of("xor", {"const": ()}, folds=2), data, store=full_store)) == 2


def test_workers_lost_while_somebody_waits_are_an_error_that_keeps_the_rows(data, store, monkeypatch):
    class Leaving(ThreadWorker):
        def do(self, request, data):
            if len(self.requests) == 2:
                raise WorkersLostError("They are gone.")
            return super().do(request, data)

    monkeypatch.setattr(engine, "make_pool", lambda *_: pool_of(Leaving()))
    plan = sweep.of("xor", {"fairglvq": (0, 1)}, folds=2, **QUICK)
    with Engine(n_jobs=2) as there, pytest.raises(WorkersLostError, match="They are gone"):
        there.compute(plan, data, store=store)
    assert len(store.get(plan.keys(data))) == 1


# ---- in the background: Pool ----


def test_a_run_that_ended_is_known_to_the_next_one(data, pool, store):
    run = finished(pool, pool.begin(sweep_run(data, COMPARED, store), "me"))
    assert (run.state, len(run.rows), run.failures) == ("done", 10, {})
    glvq = evaluation.evaluate(data, "glvq", folds=2, n_jobs=1, **QUICK)
    assert [row["accuracy"] for row in run.tidy_rows() if row["method"] == "glvq"] == glvq.accuracy.tolist()
    again = sweep_run(data, COMPARED, store)
    assert (again.state, len(again.rows)) == ("done", 10)


def test_cancel_kills_at_once_keeps_what_is_done_and_goes_on_from_there(data, pool, store):
    run = pool.begin(sweep_run(data, {"const": (), "fairglvq": (0, 1)}, store, **LONG), "me")
    assert pool.wait_for(lambda: run.rows, 60), "the constant's first row"
    pool.cancel(run, "me")
    assert run.state == "cancelled"
    next_run = sweep_run(data, {"const": (), "glvq": ()}, store)
    assert len(next_run.rows) == len(run.rows) >= 1
    assert finished(pool, pool.begin(next_run, "me"), 30).state == "done"  # the worker is free


def test_a_run_watched_by_two_ends_only_when_both_leave(data, pool):
    run = pool.begin(sweep_run(data, {"fairglvq": (0, 1)}, **LONG), "one")
    same = pool.begin(sweep_run(data, {"fairglvq": (0, 1)}, **LONG), "two")
    assert same is run
    pool.cancel(run, "one")
    assert run.state == "running"
    pool.cancel(run, "two")
    assert run.state == "cancelled"


def test_a_watcher_that_is_gone_does_not_keep_a_run_alive(data, pool, monkeypatch):
    """A page that was loaded again watches under another name, and must be able to cancel."""
    run = pool.begin(sweep_run(data, {"fairglvq": (0, 1)}, **LONG), "before")
    assert pool.under_way(run.sweep) is run
    assert pool.begin(sweep_run(data, {"fairglvq": (0, 1)}, **LONG), "after") is run
    monkeypatch.setattr(engine, "WATCHER_SECONDS", 0.0)
    pool.cancel(run, "after")
    assert run.state == "cancelled"
    assert pool.under_way(run.sweep) is None


def test_runs_take_turns():
    slow, short = datasets.load("xor", size=60), datasets.load("local", size=60)
    worker = FakeWorker()
    pool = pool_of(worker)
    first = pool.begin(sweep_run(slow, {"fairglvq": range(6)}), "one")
    worker.wait_for_requests(1)
    second = pool.begin(sweep_run(short, {"glvq": ()}), "two")
    for n in range(2, 11):
        worker.release()
        worker.wait_for_requests(n)
    assert second.state == "done"
    assert first.state == "running"
    names = [name for name, _ in worker.requests]
    assert names[1:9] == ["xor", "local"] * 4
    pool.close()
    assert first.state == "cancelled"


def test_a_method_that_cannot_be_trained_fails_alone_and_says_why(pool):
    three = datasets.load("three_classes", size=90)
    run = finished(pool, pool.begin(sweep_run(three, {"glvq": (), "exponentiated_gradient": (1,)}), "me"))
    assert run.state == "done"
    assert "needs two labels" in str(run.failures["exponentiated_gradient"])
    assert {model.method for model in run.rows} == {"glvq"}


def test_a_dead_worker_is_replaced_and_its_model_trained_again(data):
    before = set(psutil.Process().children())
    pool = make_pool(1)
    run = pool.begin(sweep_run(data, {"const": (), "fairglvq": (1,)}, **LONG | SECONDS), "me")
    assert pool.wait_for(lambda: run.rows, 60), "a first row"
    (first,) = set(psutil.Process().children()) - before
    os.kill(first.pid, signal.SIGKILL)
    finished(pool, run)
    assert (run.state, run.failures, len(run.rows)) == ("done", {}, 4)
    pool.close()
    assert not set(psutil.Process().children()) - before


@pytest.mark.parametrize(
    "share",
    [
        pytest.param(0.0, id="between two requests", marks=pytest.mark.long),
        pytest.param(0.5, id="in the middle of one"),
    ],
)
def test_a_worker_ends_with_its_parent(share):
    request = pickle.dumps(Request("prepare", ("glvq",), ("some data",) * 100))
    with subprocess.Popen(COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        worker.stdin.write(request[: int(share * len(request))])
        worker.stdin.close()
        try:
            assert worker.wait(60) == 0
        finally:
            worker.kill()


def test_a_model_that_kills_every_worker_is_given_up(data):
    worker = FakeWorker()
    worker.error = StoppedError()
    worker.release()
    worker.release()
    pool = pool_of(worker)
    run = finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me"), 10)
    assert "unexpectedly" in str(run.failures["glvq"])
    assert run.rows == {}
    pool.close()


def test_a_full_disk_does_not_end_the_run(data, pool, full_store):
    run = finished(pool, pool.begin(sweep_run(data, {"const": ()}, full_store), "me"))
    assert (run.state, len(run.rows)) == ("done", 2)
    assert "full" in run.store_error


def test_the_time_left_comes_from_each_method_s_own_models(data):
    run = sweep_run(data, {"const": (), "fairglvq": (0, 1)})
    assert run.seconds_left(1) is None
    for _ in range(2):
        run.settle(run.take(), Answer({"accuracy": 1.0}), 4.0)
    assert ModelKey("const", None, 0, 0) in run.rows
    assert run.seconds_left(1) == pytest.approx(4.0 * 5)
    assert run.seconds_left(2) == pytest.approx(4.0 * 5 / 2)


def test_a_cancel_just_before_the_request_arrives_is_kept(data):
    """Else the process that was killed would be started again, and train for no one."""
    worker, run = WorkerProcess(), sweep_run(data, {"glvq": ()})
    try:
        worker.start()
        worker.ready()
        worker.stop()
        with pytest.raises(StoppedError):
            worker.do(run.request(run.take()), data)
    finally:
        worker.close()


def test_without_workers_every_run_stops_with_the_reason_and_the_next_one_starts_them_again(data):
    available, worker = [], FakeWorker()

    def make_workers():
        if not available:
            raise WorkersLostError("There are none.")
        return available

    pool = Pool(make_workers)
    run = finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me"), 10)
    assert (run.state, run.problem, run.rows) == ("cancelled", "There are none.", {})
    available.append(worker)
    again = pool.begin(sweep_run(data, {"glvq": ()}), "me")
    worker.wait_for_requests(1)
    assert (again.state, again.problem, pool.size) == ("running", "", 1)
    pool.close()


def test_workers_lost_in_the_middle_stop_all_runs_and_leave_their_rows(data, store):
    other = datasets.load("local", size=60)
    row = dict.fromkeys(("accuracy", "statistical_parity", "equal_opportunity", "equalized_odds", "seconds"), 1.0)
    first, second = FakeWorker(Answer(row | {"counts": []})), FakeWorker()
    available = [[first], [second]]
    pool = Pool(lambda: available.pop(0))
    runs = [pool.begin(sweep_run(one, {"glvq": ()}, store), "me") for one in (data, other)]
    for n in range(1, 4):  # the start of either run, then a model of the first
        first.wait_for_requests(n)
        first.release()
    first.wait_for_requests(4)
    first.error = WorkersLostError("They are gone.")
    first.release()
    assert [finished(pool, run, 10).problem for run in runs] == ["They are gone."] * 2
    assert sum(len(run.rows) for run in runs) == 1
    again = sweep_run(data, {"glvq": ()}, store)
    assert len(again.rows) == 1
    pool.begin(again, "me")
    second.wait_for_requests(1)
    pool.close()


def test_a_row_does_not_depend_on_the_order_of_finishing(data):
    """The second model of a fold may be trained first; each still gets its own numbers."""
    forwards, backwards = (sweep.of("xor", {"fairglvq": values}, folds=2, **QUICK) for values in ((0, 2), (2, 0)))
    with Engine(n_jobs=1) as here:
        one, other = (scores(here.compute(plan, data)) for plan in (forwards, backwards))
    pd.testing.assert_frame_equal(one, other)
    assert np.isfinite(one.accuracy).all()
