"""Sweeps on real Dask clusters of two processes: work, cancel, loss of workers, of the whole; also from the page."""

import gc
import os
import re
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pandas as pd
import psutil
import pytest
from browser import ROOT, free_port, streamlit_server, wait_for
from sweeps import LONG, QUICK, SECONDS, SLOW, Visit, finished, slow_query, sweep_run

from fairglvq import datasets
from fairglvq.experiments import evaluation
from fairglvq.experiments.cluster import ClusterConnection
from fairglvq.experiments.engine import make_pool
from fairglvq.experiments.store import Store

CLUSTER = textwrap.dedent("""
    import sys
    from distributed import LocalCluster

    if __name__ == "__main__":
        with LocalCluster(
            scheduler_port=int(sys.argv[1]), n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
        ):
            print("ready", flush=True)
            sys.stdin.read()
""")


@pytest.fixture(scope="module")
def data():
    return datasets.load("xor", size=60)


@pytest.fixture(scope="module")
def cluster(plain_main):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@contextmanager
def cluster_process(port, folder, with_library=True):
    """A cluster that can be killed as a whole."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    command = [sys.executable, str(script), str(port)]
    here = os.environ | {"PYTHONPATH": str(ROOT) if with_library else ""}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=here
    ) as process:
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            kill_tree(process)


def kill_tree(process):
    """A process and all that it started, as when the power fails."""
    if process.poll() is None:
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            one.kill()
        process.wait()


@pytest.fixture
def finished_at(cluster):
    """The worker of every request that is answered from now on, in turn."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Noted(SchedulerPlugin):
        def __init__(self):
            self.workers = []

        def transition(self, key, start, finish, *_, worker="", **__):
            if str(key).startswith("answer_to") and (start, finish) == ("processing", "memory"):
                self.workers.append(worker)

    noted = Noted()
    cluster.scheduler.add_plugin(noted, name="noted")
    yield noted.workers
    cluster.scheduler.remove_plugin("noted")


@pytest.fixture
def pool(cluster):
    pool = make_pool(cluster=cluster.scheduler_address)
    yield pool
    pool.close()


@pytest.mark.long
def test_the_library_s_rows_are_the_same_on_a_cluster(cluster, data, finished_at, tmp_path, monkeypatch):
    here = evaluation.evaluate(data, "fairglvq", [0, 0.5], folds=2, n_jobs=1, **QUICK)
    monkeypatch.setenv("FAIRGLVQ_CLUSTER", cluster.scheduler_address)
    store = Store(tmp_path / "rows.sqlite")
    there = evaluation.evaluate(data, "fairglvq", [0, 0.5], folds=2, store=store, **QUICK)
    pd.testing.assert_frame_equal(here.drop(columns="seconds"), there.drop(columns="seconds"))
    assert len(finished_at) == 4 + 2  # models, and a start for either fold
    assert set(finished_at) <= set(cluster.scheduler.workers)
    again = evaluation.evaluate(data, "fairglvq", [0, 0.5], folds=2, store=store, **QUICK)
    pd.testing.assert_frame_equal(there, again)
    assert len(finished_at) == 4 + 2


@pytest.mark.long
def test_a_run_in_the_background_uses_every_thread_of_the_cluster(pool, data, finished_at):
    run = finished(pool, pool.begin(sweep_run(data, {"glvq": (), "fairglvq": (0, 1)}), "me"))
    assert (run.state, run.problem, run.failures, pool.size) == ("done", "", {}, 2)
    assert (len(run.rows), len(finished_at)) == (6, 6 + 4)


@pytest.mark.long
def test_cancel_frees_the_worker_at_once_and_drops_the_answer(pool, data, finished_at):
    long = pool.begin(sweep_run(data, {"fairglvq": (0,)}, **LONG), "me")
    wait_for(lambda: len(finished_at) == 2, 60, "both starts")
    pool.cancel(long, "me")
    assert finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me")).state == "done"
    assert (long.state, long.rows, long.problem) == ("cancelled", {}, "")


@pytest.mark.long
def test_workers_that_die_are_replaced_and_get_the_data_again(cluster, pool, data, finished_at):
    from distributed import Client

    run = pool.begin(sweep_run(data, {"fairglvq": (0, 1)}, **LONG | SECONDS), "me")
    wait_for(lambda: len(finished_at) >= 2, 60, "both starts")
    with Client(cluster, set_as_default=False) as client:
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
    assert (finished(pool, run).failures, len(run.rows), run.problem) == ({}, 4, "")


@pytest.mark.long
def test_data_stay_on_the_cluster_only_as_long_as_somebody_holds_them(cluster):
    mine, connection = datasets.load("xor", size=30), ClusterConnection(cluster.scheduler_address)
    first = connection.send(mine)
    assert connection.send(mine) is first
    key = first.key
    assert key in cluster.scheduler.tasks
    del mine, first
    gc.collect()
    wait_for(lambda: key not in cluster.scheduler.tasks, 30, "the cluster to forget")
    connection.client.close()


def test_a_cluster_without_workers_says_so(data, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("fairglvq.experiments.cluster.ANSWER_SECONDS", 0.2)
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        pool = make_pool(cluster=empty.scheduler_address)
        run = finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me"))
        pool.close()
    assert run.state == "cancelled"
    assert "has no workers at the moment" in run.problem


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:{port}", "The cluster at {address} does not answer, so nothing can be computed now."),
        ("ftp://127.0.0.1:1", "The cluster at {address} does not answer, so nothing can be computed now."),
        ("not an address", "A Dask cluster has an address like tcp://HOST:PORT; got '{address}'."),
    ],
)
def test_a_wrong_address_is_named_before_any_work(address, words, data, monkeypatch):
    monkeypatch.setattr("fairglvq.experiments.cluster.CONNECT_SECONDS", 0.5)
    address = address.format(port=free_port())  # no one listens there
    pool, told = make_pool(cluster=address), []
    run = finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me"))
    assert run.problem == words.format(address=address)
    pool.close()
    with pytest.raises(OSError, match=re.escape(run.problem)):
        evaluation.evaluate(data, "const", folds=2, cluster=address, progress=lambda *now: told.append(now))
    assert told == []


def test_without_dask_a_cluster_says_what_to_install(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OSError, match="pip install distributed"):
        evaluation.evaluate(data, "const", folds=2, cluster="tcp://127.0.0.1:8786")


def test_a_cluster_that_has_not_this_program_says_so(data, tmp_path):
    port = free_port()
    with cluster_process(port, tmp_path, with_library=False):
        pool = make_pool(cluster=f"tcp://127.0.0.1:{port}")
        run = finished(pool, pool.begin(sweep_run(data, {"glvq": ()}), "me"))
        pool.close()
    assert (run.state, run.rows, run.failures) == ("cancelled", {}, {})
    assert "cannot run this program: is the same version installed there?" in run.problem


# ---- in a browser ----


def worker_processes(server):
    return [
        child
        for child in psutil.Process(server.pid).children()
        if "fairglvq.experiments.worker" in " ".join(child.cmdline())
    ]


@pytest.mark.browser
@pytest.mark.long
def test_the_button_runs_on_the_cluster_and_if_that_dies_or_is_not_there_it_is_named_and_nothing_is_lost(
    browser, tmp_path
):
    port = free_port()
    places = {"FAIRGLVQ_CLUSTER": f"tcp://127.0.0.1:{port}", "FAIRGLVQ_STORE": str(tmp_path / "rows.sqlite")}
    with streamlit_server("app.py", **places) as (url, server), opened(browser, url, slow_query()) as visit:
        visit.button(f"Compute {SLOW} models").click()
        visit.text(f"The cluster at tcp://127.0.0.1:{port} does not answer").wait_for(timeout=60_000)
        with cluster_process(port, tmp_path) as cluster:
            visit.button(f"Compute {SLOW} models").click()
            visit.growing()
            assert worker_processes(server) == []  # no process of the server's own trains anything
            kill_tree(cluster)
            visit.text("stopped answering").wait_for()
        stopped = visit.text(re.compile(rf"Stopped: \d+ of {SLOW} models are finished and kept"))
        kept = int(re.search(r"\d+", stopped.inner_text())[0])
        assert 0 < kept < SLOW
        visit.drawn()
        with cluster_process(port, tmp_path):
            visit.button(f"Compute the {SLOW - kept} new models").click()
            visit.page.wait_for_function(
                "kept => parseInt(document.querySelector('[data-testid=stProgress]')?.innerText) > kept",
                arg=kept, timeout=60_000,
            )  # fmt: skip
            assert visit.text("stopped answering").count() == 0


@contextmanager
def opened(browser, url, query):
    """A visit of its own, in which nothing went wrong."""
    context = browser.new_context()
    visit = Visit(context, url, query)
    yield visit
    assert visit.watch.problems == []
    context.close()
