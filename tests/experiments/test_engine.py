"""Sweeps in the pool: same rows as the library's, fair turns, cancel, dead workers, bad methods, lost workers."""

import os
import pickle
import signal
import sqlite3
import subprocess
import threading

import pandas as pd
import pytest
from browser import wait_for

from fairglvq import datasets
from fairglvq.experiments import engine, evaluation, sweep
from fairglvq.experiments.engine import Job, LostError, Pool, Process, Run, StoppedError, local_workers
from fairglvq.experiments.store import Store
from fairglvq.experiments.sweep import Model
from fairglvq.experiments.worker import COMMAND, Answer, Order

QUICK = {"n_prototypes": 2, "max_epochs": 3, "batch_size": 100}
LONG = {"n_prototypes": 10, "max_epochs": 200_000, "batch_size": 10}


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


def ordered(data, strengths, store=None, **params):
    plan = sweep.of(data.name, strengths, folds=2, **(QUICK | params))
    tasks = plan.tasks(data)
    known = {}
    if store:
        found = store.get(task.key for task in tasks.values())
        known = {m: found[task.key.digest()] for m, task in tasks.items() if task.key.digest() in found}
    return Run(plan, data, tasks, known, store)


def finished(run, seconds=90):
    wait_for(lambda: run.state != "running", seconds, "the run")
    return run


class Fake:
    """A worker that answers when it is let go."""

    def __init__(self, answer=None):
        self.orders, self.gate, self.answer, self.stopped = [], threading.Semaphore(0), answer, False
        self.error = None

    def ready(self):
        pass

    def do(self, order, data):
        self.orders.append((data.name, order.function))
        self.gate.acquire()
        if self.stopped:
            self.stopped = False
            raise StoppedError
        if self.error:
            raise self.error
        return self.answer or Answer({"accuracy": 1.0})

    def stop(self):
        self.stopped = True
        self.gate.release()

    def close(self):
        self.stop()


def test_the_pool_gives_the_rows_of_the_library_and_keeps_them(data, pool, store):
    run = finished(pool.begin(ordered(data, {"glvq": (), "inp": (0, 1), "fairglvq": (0, 1)}, store), "me"))
    assert (run.state, run.left, run.failures) == ("done", 0, {})
    found = evaluation.tidy(run.table_rows()).drop(columns="seconds")
    direct = pd.concat(
        evaluation.evaluate(data, method, strengths, folds=2, store=False, **QUICK)
        for method, strengths in (("fairglvq", [0, 1]), ("glvq", []), ("inp", [0, 1]))
    )
    pd.testing.assert_frame_equal(found, direct.drop(columns="seconds").reset_index(drop=True))
    again = ordered(data, {"glvq": (), "inp": (0, 1), "fairglvq": (0, 1)}, store)
    assert (again.state, again.n_known) == ("done", 10)


def test_cancel_kills_at_once_keeps_what_is_done_and_goes_on_from_there(data, pool, store):
    quick = finished(pool.begin(ordered(data, {"fairglvq": (0,)}, store, **LONG | {"max_epochs": 1}), "me"))
    assert len(quick.rows) == 2
    run = pool.begin(ordered(data, {"const": (), "fairglvq": (0, 1)}, store, **LONG), "me")
    wait_for(lambda: len(run.rows) >= 1, 60, "the constant's first row")
    pool.cancel(run, "me")
    assert run.state == "cancelled"
    known = len(run.rows)
    after = finished(pool.begin(ordered(data, {"const": (), "glvq": ()}, store), "me"), 30)  # the worker is free
    assert after.state == "done"
    assert after.n_known == known >= 1


def test_a_run_watched_by_two_ends_only_when_both_leave(data, pool):
    run = pool.begin(ordered(data, {"fairglvq": (0, 1)}, **LONG), "one")
    same = pool.begin(ordered(data, {"fairglvq": (0, 1)}, **LONG), "two")
    assert same is run
    pool.cancel(run, "one")
    assert run.state == "running"
    pool.cancel(run, "two")
    assert run.state == "cancelled"


def test_whoever_looks_no_more_does_not_keep_a_run_alive(data, pool, monkeypatch):
    """A page that was loaded anew watches under another name, and must be able to cancel."""
    run = pool.begin(ordered(data, {"fairglvq": (0, 1)}, **LONG), "before")
    assert pool.under_way(run.sweep) is run
    assert pool.begin(ordered(data, {"fairglvq": (0, 1)}, **LONG), "after") is run
    monkeypatch.setattr(engine, "AWAY", 0.0)
    pool.cancel(run, "after")
    assert run.state == "cancelled"
    assert pool.under_way(run.sweep) is None


def test_runs_take_turns():
    slow, short = datasets.load("xor", size=60), datasets.load("local", size=60)
    worker = Fake()
    pool = Pool(lambda: [worker])
    first = pool.begin(ordered(slow, {"fairglvq": range(6)}), "one")
    wait_for(lambda: worker.orders, 10, "the first order")
    second = pool.begin(ordered(short, {"glvq": ()}), "two")
    for _ in range(9):
        n = len(worker.orders)
        worker.gate.release()
        wait_for(lambda n=n: len(worker.orders) > n or second.state == "done", 10, "the next order")
    assert second.state == "done"
    assert first.state == "running"
    names = [name for name, _ in worker.orders]
    assert names[1:9] == ["xor", "local"] * 4
    pool.close()
    assert first.state == "cancelled"


def test_a_method_that_cannot_be_trained_fails_alone_and_says_why(pool):
    three = datasets.load("three_classes", size=90)
    run = finished(pool.begin(ordered(three, {"glvq": (), "exponentiated_gradient": (1,)}), "me"))
    assert run.state == "done"
    assert "needs two labels" in run.failures["exponentiated_gradient"]
    assert {model.method for model in run.rows} == {"glvq"}


def test_a_dead_worker_is_replaced_and_its_model_trained_again(data, pool):
    worker = Process()
    own = Pool(lambda: [worker])
    run = own.begin(ordered(data, {"fairglvq": (1,)}, **LONG | {"max_epochs": 2_000}), "me")
    wait_for(lambda: run._prepared, 60, "the start")
    first = worker.start().pid
    os.kill(first, signal.SIGKILL)
    finished(run)
    assert (run.state, run.failures, len(run.rows)) == ("done", {}, 2)
    assert worker.start().pid != first
    own.close()


@pytest.mark.parametrize("share", [0.0, 0.5], ids=["between two orders", "in the middle of one"])
def test_a_worker_ends_with_its_keeper(share):
    order = pickle.dumps(Order("prepare", ("glvq",), ("some data",) * 100))
    with subprocess.Popen(COMMAND, cwd=engine.ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        worker.stdin.write(order[: int(share * len(order))])
        worker.stdin.close()
        try:
            assert worker.wait(60) == 0
        finally:
            worker.kill()


def test_a_model_that_kills_every_worker_is_given_up(data):
    worker = Fake()
    worker.do = lambda order, data: (_ for _ in ()).throw(StoppedError)
    run = finished(Pool(lambda: [worker]).begin(ordered(data, {"glvq": ()}), "me"), 10)
    assert "unexpectedly" in run.failures["glvq"]
    assert run.rows == {}


def test_a_full_disk_does_not_end_the_run(data, pool, store, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store, "put", full)
    run = finished(pool.begin(ordered(data, {"const": ()}, store), "me"))
    assert (run.state, len(run.rows)) == ("done", 2)
    assert "full" in run.unkept


def test_the_time_left_comes_from_each_method_s_own_models(data):
    run = ordered(data, {"const": (), "fairglvq": (0, 1)})
    assert run.seconds_left(1) is None
    for _ in range(2):
        job = run.take()
        run.done(job, {"accuracy": 1.0}, 4.0)
    assert Model("const", None, 0, 0) in run.rows
    assert run.seconds_left(1) == pytest.approx(4.0 * 5)
    assert run.seconds_left(2) == pytest.approx(4.0 * 5 / 2)


def test_a_cancel_just_before_the_order_arrives_is_heard(data):
    """Else the process that was killed would be started again, and train for nobody."""
    worker = Process()
    try:
        worker.ready()
        worker.stop()
        with pytest.raises(StoppedError):
            worker.do(ordered(data, {"glvq": ()}).order(Job(("glvq", 0, 0), None)), data)
    finally:
        worker.close()


def test_without_workers_every_run_stops_with_the_reason_and_the_next_one_looks_again(data):
    there, worker = threading.Event(), Fake()

    def look():
        if not there.is_set():
            raise LostError("Nobody is there.")
        return [worker]

    pool = Pool(look)
    run = finished(pool.begin(ordered(data, {"glvq": ()}), "me"), 10)
    assert (run.state, run.problem, run.rows) == ("cancelled", "Nobody is there.", {})
    there.set()
    again = pool.begin(ordered(data, {"glvq": ()}), "me")
    wait_for(lambda: worker.orders, 10, "an order")
    assert (again.state, again.problem, pool.size) == ("running", "", 1)
    pool.close()


def test_workers_lost_in_the_middle_stop_all_runs_and_leave_their_rows(data, store):
    other = datasets.load("local", size=60)
    first, second = Fake(), Fake()
    crews = [[first], [second]]
    pool = Pool(lambda: crews.pop(0))
    runs = [pool.begin(ordered(one, {"glvq": ()}, store), "me") for one in (data, other)]
    row = dict.fromkeys(("accuracy", "statistical_parity", "equal_opportunity", "equalized_odds", "seconds"), 1.0)
    first.answer = Answer(row | {"counts": []})
    for n in range(1, 4):  # a start of either run, then a model of the first
        wait_for(lambda n=n: len(first.orders) == n, 10, "an order")
        first.gate.release()
    wait_for(lambda: len(first.orders) == 4, 10, "an order")
    first.error = LostError("They all went home.")
    first.gate.release()
    assert [finished(run, 10).problem for run in runs] == ["They all went home."] * 2
    assert sum(len(run.rows) for run in runs) == 1
    again = pool.begin(ordered(data, {"glvq": ()}, store), "me")
    assert again.n_known == 1
    wait_for(lambda: second.orders, 10, "an order for the others")
    pool.close()
