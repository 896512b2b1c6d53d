"""The commands as a person types them, in processes of their own where that matters."""

import os
import re
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import psutil
import pytest

from fairglvq import bench, datasets
from fairglvq.__main__ import main
from fairglvq.experiments import evaluation, paper


def fairglvq(*arguments, store, **env):
    return subprocess.run(
        [sys.executable, "-m", "fairglvq", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"FAIRGLVQ_STORE": str(store)} | env,
    )


def test_sweep_prints_means_and_writes_rows(tmp_path, monkeypatch, capsys):
    command = (
        "sweep", "--dataset", "xor", "--strengths", "0", "1", "--folds", "2", "--set", "max_epochs=5", "--set",
        "activation=identity", "--csv", str(tmp_path / "rows.csv"),
    )  # fmt: skip
    run = fairglvq(*command, store=tmp_path / "s.sqlite")
    assert run.returncode == 0, run.stderr
    assert "accuracy_mean" in run.stdout
    assert "4/4" in run.stderr  # the progress bar
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert len(rows) == 4
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "s.sqlite"))
    assert main(command) == 0
    pd.testing.assert_frame_equal(rows, pd.read_csv(tmp_path / "rows.csv"))
    assert capsys.readouterr().out == run.stdout


@pytest.mark.long
def test_sweep_on_numbers_in_bins(tmp_path):
    command = ("sweep", "--dataset", "german", "--method", "logistic_regression", "--folds", "2")
    run = fairglvq(*command, "--bins", "8", "--csv", str(tmp_path / "rows.csv"), store=tmp_path / "s.sqlite")
    assert run.returncode == 0, run.stderr
    found = evaluation.evaluate(datasets.load("german", bins=8), "logistic_regression", folds=2)
    assert pd.read_csv(tmp_path / "rows.csv").accuracy.to_list() == pytest.approx(found.accuracy.to_list())
    assert "0/2" in fairglvq(*command, store=tmp_path / "s.sqlite").stderr  # plain rows are not taken from these


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sweep", "--dataset", "nowhere"), "xor"),
        (("sweep", "--method", "magic"), "fairglvq"),
        (("sweep", "--set", "alpha"), "NAME=VALUE"),
        (("sweep", "--set", "n_prototypes=0", "--folds", "2", "--strengths", "0"), "n_prototypes"),
        (("sweep", "--set", "colour=red"), "colour"),
        (("sweep", "--set", "=3"), "NAME=VALUE"),
        (("sweep", "--bins", "8"), "Data set 'xor' has no parameter 'bins'"),
        (("sweep", "--bins", "1"), "--bins: a whole number of at least 2"),
        (("sweep", "--set", "C=3"), "C comes from strengths"),
        (("sweep", "--seeds", "0"), "--seeds: a whole number of at least 1"),
        (("sweep", "--seeds", "-2"), "--seeds: a whole number of at least 1"),
        (("sweep", "--folds", "1"), "--folds: a whole number of at least 2"),
        (("sweep", "--jobs", "many"), "--jobs: a whole number of at least 1"),
        (("sweep", "--csv", "/nowhere/rows.csv"), "there is no /nowhere"),
        (("sweep", "--csv", "."), "is a folder"),
        (("sweep", "--store", "."), "finished rows cannot be kept in ."),
        (("sweep", "--cluster", "somewhere"), "tcp://HOST:PORT"),
        (("bundle", "--folds", "3"), "unrecognized arguments"),
        (("frontier", "--seeds", "2"), "unrecognized arguments"),
        (("paper", "table1", "--dataset", "adult"), "'local', 'xor'"),
        (("fetch", "compas", "--wheel", "/nowhere.whl"), "nowhere.whl"),
        (("stream", "--set", "metric=matrix"), "it needs metric=euclidean and decide=majority"),
    ],
)
def test_mistakes_get_a_sentence_and_no_progress_bar(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "s.sqlite"))
    monkeypatch.setenv("FAIRGLVQ_CACHE", str(tmp_path))
    try:
        code = main(arguments)
    except SystemExit as stopped:  # what argparse refuses
        code = stopped.code
    said = capsys.readouterr().err
    assert code == 2
    assert words in said
    assert "it/s" not in said


def test_a_mistake_in_a_process_of_its_own_has_no_traceback(tmp_path):
    run = fairglvq("sweep", "--set", "colour=red", store=tmp_path / "s.sqlite")
    assert run.returncode == 2
    assert "colour" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.long
def test_ctrl_c_ends_the_workers_and_keeps_the_rows(tmp_path):
    command = (
        "sweep", "--dataset", "xor", "--strengths", *map(str, range(10)), "--folds", "5", "--jobs", "2",
        "--set", "max_epochs=5000",
    )  # fmt: skip
    place = os.environ | {"FAIRGLVQ_STORE": str(tmp_path / "s.sqlite")}
    arguments = [sys.executable, "-m", "fairglvq", *command]
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell lets what it starts with & ignore it
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=place, preexec_fn=listen) as run:
        words = ""
        while not re.search(r"[1-9]\d*/50", words):  # a first row
            words += run.stderr.read(1)
        workers = psutil.Process(run.pid).children()
        run.send_signal(signal.SIGINT)
        words += run.stderr.read()
    assert run.returncode == 130
    assert "finished rows are kept" in words
    assert "Traceback" not in words
    assert len(workers) == 2
    assert psutil.wait_procs(workers, timeout=60)[1] == []


def test_ctrl_c_promises_rows_only_where_they_are_kept(monkeypatch, capsys):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr("fairglvq.warm.compile_all", stop)
    assert main(["warm"]) == 130
    assert capsys.readouterr().err == "\nfairglvq: stopped\n"


def test_one_half_of_table1(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "s.sqlite"))
    assert main(("paper", "table1", "--dataset", "xor", "--seeds", "1", "--folds", "2")) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^xor +fairglvq +1\.25 ", printed, re.MULTILINE)
    assert "local" not in printed


def test_help_of_every_command():
    for command in ((), ("paper",), ("paper", "table1"), ("paper", "figure2"), ("sweep",), ("fetch",), ("bench",)):
        run = subprocess.run([sys.executable, "-m", "fairglvq", *command, "--help"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout.startswith("usage: python -m fairglvq")


@pytest.mark.long
def test_table1_agrees_with_the_paper(tmp_path):
    """Five-fold means at the paper's parameters over the five seeds of the command, as the paper reports them."""
    csv = tmp_path / "rows.csv"
    run = fairglvq("paper", "table1", "--csv", str(csv), store=tmp_path / "s.sqlite")
    assert run.returncode == 0, run.stderr
    means = pd.read_csv(csv).groupby(["dataset", "method"])[["accuracy", "statistical_parity"]].mean()
    accuracy, parity = means.accuracy, means.statistical_parity
    assert accuracy["xor", "fairglvq"] == pytest.approx(0.88, abs=0.02)
    assert parity["xor", "fairglvq"] <= 0.06
    assert accuracy["xor", "glvq"] == pytest.approx(0.99, abs=0.01)
    assert parity["xor", "glvq"] == pytest.approx(0.23, abs=0.03)
    assert accuracy["xor", "const"] == pytest.approx(0.50, abs=0.02)
    assert accuracy["local", "fairglvq"] == pytest.approx(0.76, abs=0.03)
    assert accuracy["local", "glvq"] == pytest.approx(0.99, abs=0.01)
    assert parity["local", "glvq"] == pytest.approx(0.65, abs=0.02)
    for name in ("local", "xor"):
        assert parity[name, "const"] == 0
        assert accuracy[name, "inp"] < accuracy[name, "fairglvq"] - 0.02
        assert parity[name, "inp"] > parity[name, "fairglvq"] + 0.05
    assert re.search(r"xor +fairglvq +1\.25 +0\.8800 ± 0\.0100 +0\.8", run.stdout)


def test_comparison_counts_combined_spreads():
    """|own - published| / sqrt(sd² + sd²), by hand: GLVQ on XOR is 0.99 ± 0.00 in print, which may hide 0.005."""
    rows = pd.DataFrame(
        {"dataset": "xor", "method": "glvq", "strength": float("nan"), "fold": [0, 1], "seed": 0,
         "accuracy": [0.95, 0.97], "statistical_parity": [0.3, 0.3], "equal_opportunity": [0.0, 0.0]}
    )  # fmt: skip
    (row,) = paper.compare("Table 1", rows).itertuples()
    assert row.accuracy_off == pytest.approx(0.03 / (0.01**2 + 0.005**2) ** 0.5)
    assert row.statistical_parity_off == pytest.approx(0.07 / 0.04)
    assert row.equal_opportunity_off != row.equal_opportunity_off  # the paper gives none


def test_projections_beyond_the_rank_are_explained():
    """Adult's six one-hot blocks each sum to one, and a fold lacks some categories: 98 columns, fewer dimensions."""
    note = paper.exhausted("adult", paper.experiments("Figure 2", "adult"))
    assert "95 projections" in note
    assert int(re.search(r"rank (\d+)", note).group(1)) in range(88, 94)
    assert paper.exhausted("adult", [paper.Experiment("adult", "inp", 20.0)]) is None


def test_bench_measures_both_versions(monkeypatch):
    """The numbers are real times; how large they are is the machine's business."""
    case = bench.Case("xor", 300, 2, 50, 0.03, 3, 1.0)
    timing = bench.run_case(case, turns=1)
    assert timing.plain_ms > 0
    assert timing.kernel_ms > 0
    assert 0 < timing.measured_again <= 1
    assert timing.fit_seconds > 0
    assert timing.bare_fit_seconds > 0


def test_bench_measures_streams():
    timings = bench.stream_timings(5, turns=1)
    assert list(timings) == ["SGDClassifier", "GLVQ", "FairGLVQ"]
    assert all(0 < microseconds < np.inf for microseconds in timings.values())


@pytest.mark.long
def test_ablation_table_times_the_kernels_without_each_trick(monkeypatch):
    monkeypatch.setattr(bench, "CASES", (bench.Case("xor", 300, 2, 50, 0.03, 3, 1.0),))
    chosen = ("all tricks", "exp of the C library")
    monkeypatch.setattr(bench, "ABLATIONS", {name: bench.ABLATIONS[name] for name in chosen})
    header, _, *rows = bench.ablation_table(turns=1).splitlines()
    assert header == "| ms per step | xor | uniform |"
    assert [row.split(" | ")[0].strip("| ") for row in rows] == list(chosen)
    assert "(1.00 x)" in rows[0]


def test_scaling_table_has_a_row_per_size(monkeypatch):
    monkeypatch.setattr(bench, "SCALING_BASE", {"points": 200, "features": 3, "prototypes_per_class": 2, "classes": 2})
    monkeypatch.setattr(bench, "SCALING_STEPS", {"classes": (3,)})
    table = bench.scaling_table(turns=1).splitlines()
    assert len(table) == 4
    assert table[-1].startswith("| 200 | 3 | 6 | 3 |")
