"""What is left of a visitor's own table once its run is over: nothing, neither in the server nor in its workers."""

import gc
import pickle
import subprocess
import weakref

import numpy as np
import pandas as pd
from browser import wait_for
from sweeps import FakeWorker, finished, sweep_run

from fairglvq.datasets import table
from fairglvq.experiments.engine import Pool, make_pool
from fairglvq.experiments.processes import ROOT
from fairglvq.experiments.worker import COMMAND, FORGET, Request, arrays_of


def own_table():
    rng = np.random.default_rng(0)
    sex, hired = rng.choice(["f", "m"], 60), rng.choice(["yes", "no"], 60)
    frame = pd.DataFrame({"sex": sex, "score": rng.random(60), "hired": hired})
    return table.build(frame, table.guess(frame))


def test_a_finished_run_leaves_no_table_in_the_server():
    pool, data = make_pool(2), own_table()
    left = weakref.ref(data)
    run = finished(pool, pool.begin(sweep_run(data, {"const": ()}), "me"))
    assert len(run.rows) == 2
    del data, run
    wait_for(lambda: gc.collect() >= 0 and left() is None, 10, "the table to be gone from the server")
    pool.close()


def test_workers_are_told_to_forget_when_the_last_run_has_ended():
    worker, data = FakeWorker(), own_table()
    pool = Pool(lambda: [worker])
    run = pool.begin(sweep_run(data, {"const": ()}), "me")
    worker.wait_for_requests(1)
    before = worker.forgot  # perhaps once, before there was anything to do
    for _ in range(4):
        worker.release()
    finished(pool, run)
    wait_for(lambda: worker.forgot > before, 10, "the worker to be told")
    assert len(worker.requests) == 4
    pool.close()


def test_a_worker_that_was_told_to_forget_has_no_data():
    data = own_table()
    run = sweep_run(data, {"glvq": ()})
    request = run.request(run.take())
    worker = subprocess.Popen(COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        errors = []
        for sent in (request._replace(data=arrays_of(data)), request, Request(FORGET, ()), request):
            pickle.dump(sent, worker.stdin)
            worker.stdin.flush()
            if sent.function != FORGET:
                errors.append(pickle.load(worker.stdout).error)
        assert errors[:2] == [None, None]
        assert "missing" in str(errors[2])  # arguments: there are no data to prepare any more
    finally:
        worker.kill()
        worker.communicate()
