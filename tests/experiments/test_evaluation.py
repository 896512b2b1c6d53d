"""Cross-validation, the comparison of methods, the store, and a run that is killed."""

import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from fairglvq import FairGLVQ, datasets
from fairglvq.experiments import evaluation, fold, methods
from fairglvq.experiments.store import RowKey, Store, default_path
from fairglvq.fairness import metrics
from fairglvq.lvq.initialisers import initial_prototypes

QUICK = {"n_prototypes": 2, "learning_rate": 0.03, "max_epochs": 5, "batch_size": 50}


@pytest.fixture(scope="module")
def data():
    return datasets.load("xor", size=60, seed=3)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "rows.sqlite")


def test_columns_and_rows_of_the_contract(data):
    rows = evaluation.evaluate(data, "fairglvq", strengths=[0, 0.5], folds=3, seed=1, **QUICK)
    assert list(rows.columns) == [
        "dataset", "method", "strength", "fold", "seed",
        "accuracy", "statistical_parity", "equal_opportunity", "seconds",
    ]  # fmt: skip
    assert len(rows) == 6
    assert set(rows.strength) == {0.0, 0.5}
    assert set(rows.dataset) == {"xor"}
    assert (rows.seed == 1).all()


def test_one_row_equals_the_same_thing_done_by_hand(data):
    """Scaling is fitted on the training fold, the start is shared, and the numbers are those of the test fold."""
    rows = evaluation.evaluate(data, "fairglvq", strengths=[0.7], folds=4, seed=5, **QUICK)
    train, test = list(StratifiedKFold(4, shuffle=True, random_state=5).split(data.X, data.y))[2]
    scaler = MinMaxScaler().fit(data.X[train])
    seed = int(np.random.SeedSequence([5, 2]).generate_state(1)[0])
    X = scaler.transform(data.X[train])
    start = initial_prototypes("shared-kmeans", X, data.y[train], 2, 2, np.random.default_rng(seed))
    model = FairGLVQ(**QUICK, C=0.7, init=start, random_state=seed)
    decided = model.fit(X, data.y[train], sensitive_features=data.s[train]).predict(scaler.transform(data.X[test]))
    row = rows[rows.fold == 2].iloc[0]
    assert row.accuracy == np.mean(decided == data.y[test])
    fairness = {"sensitive_features": data.s[test], "favourable": data.favourable}
    assert row.statistical_parity == metrics.statistical_parity_difference(decided, **fairness)
    assert row.equal_opportunity == metrics.equal_opportunity_difference(data.y[test], decided, **fairness)


def test_every_method_runs_and_ignores_what_it_does_not_have(data):
    for name, method in methods.METHODS.items():
        rows = evaluation.evaluate(data, name, strengths=[1], folds=2, alpha=3.0, **QUICK)
        assert len(rows) == 2
        assert rows.strength.isna().all() == (method.knob is None)
    constant = evaluation.evaluate(data, "const", folds=2)
    assert constant.accuracy.to_numpy() == pytest.approx(max(np.mean(data.y), 1 - np.mean(data.y)), abs=0.01)
    assert (constant.statistical_parity == 0).all()


def test_strengths_share_their_start_and_projections_are_nested(data):
    """A sweep gives the rows that each strength gives alone: what is shared does not depend on the others."""
    for name, strengths in (("fairglvq", [0, 1.0]), ("inp", [0, 1])):
        together = evaluation.evaluate(data, name, strengths, folds=2, **QUICK)
        alone = pd.concat(evaluation.evaluate(data, name, [s], folds=2, **QUICK) for s in strengths)
        measures = ["strength", "fold", "accuracy", "statistical_parity"]
        pd.testing.assert_frame_equal(together[measures], alone[measures].reset_index(drop=True))


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"method": "magic"}, ValueError, "const"),
        ({"strengths": []}, ValueError, "one or more"),
        ({"strengths": [-1]}, ValueError, "at least 0"),
        ({"strengths": [float("nan")]}, ValueError, "at least 0"),
        ({"strengths": None}, ValueError, "strengths of 'fairglvq' must be one or more numbers"),
        ({"strengths": ["much"]}, ValueError, "strengths of 'fairglvq' must be one or more numbers"),
        ({"method": "inp", "strengths": [0.5]}, ValueError, "whole"),
        ({"folds": 1}, ValueError, "folds must be a whole number from 2 to"),
        ({"folds": 10_000}, ValueError, "folds must be a whole number from 2 to"),
        ({"folds": 2.0}, ValueError, "folds must be a whole number from 2 to"),
        ({"folds": "five"}, ValueError, "folds must be a whole number from 2 to"),
        *(({"seed": seed}, ValueError, "seed must be one or more whole") for seed in (1.5, None, -1, 2**32, [])),
        ({"n_prototype": 3}, TypeError, "n_prototypes"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"C": 1}, TypeError, "C comes from strengths"),
        ({"n_projections": 1}, TypeError, "n_projections comes from strengths"),
        ({"random_state": 1}, TypeError, "random_state comes from seed"),
    ],
)
def test_wrong_arguments_are_named(data, wrong, error, words):
    with pytest.raises(error, match=words):
        evaluation.evaluate(data, **{"strengths": [0], "folds": 2, **QUICK, **wrong})


def test_progress_counts_to_the_end(data, store):
    told = []
    evaluation.evaluate(data, "glvq", folds=3, store=store, progress=lambda *now: told.append(now), **QUICK)
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    told.clear()
    evaluation.evaluate(data, "glvq", folds=3, store=store, progress=lambda *now: told.append(now), **QUICK)
    assert told == [(3, 3)]


def test_known_rows_are_not_computed_again(data, store, monkeypatch):
    first = evaluation.evaluate(data, "fairglvq", [0, 1], folds=2, store=store, **QUICK)

    def forbidden(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(fold, "train_and_assess", forbidden)
    second = evaluation.evaluate(data, "fairglvq", [1, 0], folds=2, store=store, **QUICK)
    pd.testing.assert_frame_equal(first, second)
    with pytest.raises(AssertionError, match="computed again"):
        evaluation.evaluate(data, "fairglvq", [2], folds=2, store=store, **QUICK)


def test_a_row_is_known_by_everything_it_depends_on():
    key = RowKey("abc", "fairglvq", 1.0, {"alpha": 2.0}, 5, 0, 0)
    others = [
        key._replace(fingerprint="abd"), key._replace(method="glvq"), key._replace(strength=2.0),
        key._replace(params={"alpha": 3.0}), key._replace(folds=4), key._replace(fold=1), key._replace(seed=1),
        key._replace(version="0"), key._replace(params={"alpha": 2.0, "init": np.zeros((2, 2))}),
        key._replace(params={"alpha": 2.0, "init": np.ones((2, 2))}),
    ]  # fmt: skip
    digests = {entry.digest() for entry in [key, *others]}
    assert len(digests) == 1 + len(others)
    assert key.digest() == RowKey("abc", "fairglvq", np.float64(1.0), {"alpha": 2.0}, 5, 0, 0).digest()


def test_undefined_scores_survive_the_store(store):
    key = RowKey("abc", "glvq", None, {}, 5, 0, 0)
    row = {
        "accuracy": 0.5, "statistical_parity": float("nan"), "equal_opportunity": float("nan"),
        "equalized_odds": float("nan"), "seconds": 1.0, "counts": [[[1, 2], [3, 4]]],
    }  # fmt: skip
    assert not store.has("mine")
    store.put(key, "mine", row)
    assert store.has("mine")
    found = store.get({"mine": key})["mine"]
    assert found["counts"] == row["counts"]
    assert np.isnan(found["statistical_parity"])


def test_a_seed_named_twice_counts_once(data):
    rows = evaluation.evaluate(data, "const", seed=[1, 0, 1], folds=2)
    assert rows.seed.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("not a database, but long enough" * 100)])
def test_a_store_that_cannot_be_names_the_file(tmp_path, make):
    make(tmp_path / "here")
    with pytest.raises(OSError, match=r"cannot be kept in .*here .*FAIRGLVQ_STORE"):
        Store(tmp_path / "here")


def number_of_rows(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT COUNT(*) FROM rows").fetchone()[0]


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_killed_with_sigkill_goes_on_where_it_was(tmp_path, n_jobs):
    """Start a sweep in a process, kill it after its first rows, start it again: the rest is computed, nothing twice."""
    path = tmp_path / "rows.sqlite"
    script = textwrap.dedent(f"""
        from fairglvq import datasets, evaluation
        data = datasets.load("xor", size=100)
        evaluation.evaluate(data, "fairglvq", [0, 0.5, 1, 1.5], folds=5, store={str(path)!r}, n_jobs={n_jobs},
                            progress=lambda done, total: print(done, flush=True), max_epochs=1000, n_prototypes=2)
    """)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        while int(run.stdout.readline()) < 2:
            pass
        workers = psutil.Process(run.pid).children()
        run.send_signal(signal.SIGKILL)
    assert len(workers) == (0 if n_jobs == 1 else n_jobs)
    assert psutil.wait_procs(workers, timeout=60)[1] == []  # they end with their parent
    kept = number_of_rows(path)
    assert 2 <= kept < 20
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = [int(line) for line in again.stdout.split()]
    assert counts == sorted(set(counts))
    assert (counts[0], counts[-1]) == (kept, 20)
    assert number_of_rows(path) == 20


def test_without_a_store_nothing_is_written(data, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "home" / "rows.sqlite"))
    for store in (None, False):  # scripts written by earlier versions say False
        evaluation.evaluate(data, "const", folds=2, store=store)
    assert list(tmp_path.iterdir()) == []
    evaluation.evaluate(data, "const", folds=2, store=default_path())
    assert number_of_rows(tmp_path / "home" / "rows.sqlite") == 2


def test_summary_is_mean_and_population_spread():
    rows = pd.DataFrame(
        {"dataset": "d", "method": "m", "strength": [1.0, 1.0, np.nan], "fold": [0, 1, 0], "accuracy": [0.5, 0.7, 0.9],
         "statistical_parity": [0.0, 0.2, 0.4], "equal_opportunity": [0.1, 0.1, 0.1]}
    )  # fmt: skip
    table = evaluation.summarise(rows)
    assert table.accuracy_mean.tolist() == pytest.approx([0.6, 0.9])
    assert table.accuracy_std.tolist() == pytest.approx([0.1, 0.0])
    assert table.n.tolist() == [2, 1]


def test_two_writers_at_once_lose_nothing(tmp_path):
    """Two processes write to the same file at the same time; every row of both arrives."""
    path = tmp_path / "rows.sqlite"
    script = textwrap.dedent(f"""
        import sys
        from fairglvq.experiments.store import RowKey, Store, default_path
        store = Store({str(path)!r})
        row = dict.fromkeys(("accuracy", "statistical_parity", "equal_opportunity", "equalized_odds", "seconds"), 0.5)
        for fold in range(200):
            store.put(RowKey("f", sys.argv[1], None, {{}}, 200, fold, 0), "d", row | {{"counts": []}})
    """)
    runs = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("a", "b")]
    assert [run.wait() for run in runs] == [0, 0]
    keys = [RowKey("f", name, None, {}, 200, fold, 0) for name in ("a", "b") for fold in range(200)]
    assert len(Store(path).get(dict(enumerate(keys)))) == 400


def test_many_may_make_the_same_file_at_once(tmp_path):
    """Switching a new file to WAL is where SQLite refuses without waiting."""
    start = threading.Barrier(4)

    def make(path):
        start.wait()
        Store(path)

    with ThreadPoolExecutor(4) as pool:
        for number in range(100):
            list(pool.map(make, [tmp_path / f"{number}.sqlite"] * 4))
    with closing(sqlite3.connect(tmp_path / "99.sqlite")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("name", ["xor", datasets.load("student")])
def test_data_must_be_a_data_set_with_labels(name):
    with pytest.raises(TypeError, match=r"such as datasets.load\('xor'\)"):
        evaluation.evaluate(name)
