"""What is left of a visitor's own table once its run is over: nothing, neither in the server nor in its workers."""

import gc
import pickle
import subprocess
import weakref

import numpy as np
import pandas as pd
import pytest
from browser import ROOT, wait_for

from fairglvq.datasets import table
from fairglvq.experiments import sweep
from fairglvq.experiments.engine import Pool, Run, local_workers
from fairglvq.experiments.worker import COMMAND, FORGET, Order


def own_table():
    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 60), rng.choice(["yes", "no"], 60)
    frame = pd.DataFrame({"sex": sex, "score": rng.random(60), "hired": hired})
    return table.build(frame, table.guess(frame))


def small_run(data):
    plan = sweep.of(data.name, {"glvq": ()}, folds=5, n_prototypes=1, max_epochs=1, batch_size=20)
    return Run(plan, data, plan.tasks(data), {}, None)


@pytest.fixture
def pool():
    pool = Pool(local_workers(3))
    yield pool
    pool.close()


def test_a_finished_run_leaves_no_table_behind(pool):
    data = own_table()
    left = weakref.ref(data)
    run = pool.begin(small_run(data), "me")
    wait_for(lambda: run.ended is not None, what="the run")
    assert len(run.rows) == 5
    data = run = None
    wait_for(lambda: gc.collect() >= 0 and left() is None, 10, "the table to be gone from the server")
    wait_for(lambda: all(worker._holds is None for worker in pool._crew), 10, "the workers to be told")


def test_a_worker_that_was_told_to_forget_has_no_data():
    data = own_table()
    run = small_run(data)
    order = run.order(run.take())
    worker = subprocess.Popen(COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        errors = []
        arrays = (data.X, data.y, data.s, data.favourable)
        for told in (order._replace(data=arrays), order, Order(FORGET, ()), order):
            pickle.dump(told, worker.stdin)
            worker.stdin.flush()
            if told.function != FORGET:
                errors.append(pickle.load(worker.stdout).error)
        assert errors[:2] == [None, None]
        assert "missing" in errors[2]  # arguments: there are no data to prepare any more
    finally:
        worker.kill()
        worker.communicate()
