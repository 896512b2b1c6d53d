"""What tests of sweeps share: small runs, a worker under the test's control, and a visitor of the trade-off page."""

import itertools
import threading

from browser import Watch, choose, wait_idle

from fairglvq.experiments import sweep
from fairglvq.experiments.engine import SweepRun
from fairglvq.experiments.worker import Answer, StoppedError, Worker

QUICK = {"n_prototypes": 2, "learning_rate": 0.03, "max_epochs": 3, "batch_size": 100}
LONG = {"n_prototypes": 10, "learning_rate": 0.03, "max_epochs": 200_000, "batch_size": 10}
SECONDS = {"max_epochs": 2_000}  # with LONG: a model takes about a second


def sweep_run(data, strengths, store=None, **params):
    """A run of two folds that continues from the store."""
    plan = sweep.of(data.name, strengths, folds=2, **(QUICK | params))
    return SweepRun(plan, data, store.get(plan.keys(data)) if store else {}, store)


def finished(pool, run, seconds=90):
    assert pool.wait_for(lambda: run.state != "running", seconds), "the run did not end in time"
    return run


class FakeWorker(Worker):
    """Answers each request when `release` is called; ``error`` is raised instead of the answer."""

    def __init__(self, answer=None):
        self.requests, self.answer, self.error, self.forgot = [], answer or Answer({"accuracy": 1.0}), None, 0
        self._changed = threading.Condition()
        self._released, self._stopped = 0, False

    def ready(self):
        self._stopped = False

    def do(self, request, data):
        with self._changed:
            self.requests.append((data.name, request.function))
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._released or self._stopped)
            if self._stopped:
                raise StoppedError
            self._released -= 1
            if self.error:
                raise self.error
            return self.answer

    def release(self):
        with self._changed:
            self._released += 1
            self._changed.notify_all()

    def wait_for_requests(self, n, seconds=30):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= n, seconds), f"{n} requests did not come"

    def forget(self):
        self.forgot += 1

    def stop(self):
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


CHART = ".st-key-curve_chart .js-plotly-plot .scatterlayer"
BETAS = itertools.count(2)  # halves: the models of a test are not known to the store from the test before
SLOW = 500  # models; more than are trained in a test on any machine


def slow_query():
    return f"?data=three_classes&epochs=500&batch=10&k=10&folds=10&seeds=5&beta={next(BETAS) / 2}"


class Visit:
    """One visitor on the trade-off page."""

    def __init__(self, context, url, query):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.page.goto(f"{url}/tradeoff{query}")
        self.page.wait_for_selector("h1", timeout=60_000)
        wait_idle(self.page)

    def drawn(self):
        self.growing()
        wait_idle(self.page)
        return self

    def growing(self):
        """The first picture of a run is there; the page need not rest before the run ends."""
        self.page.wait_for_selector(CHART, timeout=60_000)

    def button(self, name):
        return self.page.get_by_role("button", name=name)

    def text(self, words):
        return self.page.get_by_text(words)

    def choose(self, label, option):
        choose(self.page, label, option)
