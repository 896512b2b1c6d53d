"""Workers: they receive requests to prepare or to train, and answer with results.

`main` is a worker process: pickled requests on standard input, pickled answers on standard output. It needs nothing of
the program that started it, can be killed at any moment, and ends when its input ends, also during a training.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import Any, NamedTuple

from fairglvq.datasets import Dataset

COMMAND = (sys.executable, "-c", "from fairglvq.experiments.worker import main; main()")
"""Not ``-m``: the classes in its answers would then belong to a module called __main__."""

FORGET = "forget"
"""A request without an answer: drop the data, which may be a visitor's own."""

NICENESS = 10
"""Workers have a lower priority than the pages that visitors are using."""


class Request(NamedTuple):
    """Work to do: a function of :mod:`fairglvq.experiments.fold` by name, and its arguments after the data.

    ``data`` are X, y, s and the favourable label, or None if the worker has them from the request before.
    """

    function: str
    arguments: tuple
    data: tuple | None = None


class Answer(NamedTuple):
    """A result, or an error that can be pickled and whose text can be shown."""

    result: Any = None
    error: Exception | None = None


class StoppedError(Exception):
    """The worker ended before it had an answer."""


class WorkersLostError(OSError):
    """No worker is available any more; the text says why, for users."""


class Worker:
    """Carries out one request at a time, for the pool of :mod:`fairglvq.experiments.engine`."""

    def start(self) -> None:
        """Get ready to take requests; called again after a request was stopped."""

    def ready(self) -> None:
        """Announce a request, which earlier calls of `stop` do not concern. The pool holds its lock, as for `stop`."""

    def do(self, request: Request, data: Dataset) -> Answer:
        """Carry it out; raises StoppedError if `stop` came since `ready`, WorkersLostError if no worker is left."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop the data, because there is no work at the moment."""

    def stop(self) -> None:
        """Give up the present request; returns at once."""
        raise NotImplementedError

    def close(self) -> None:
        """End the worker."""


def arrays_of(data: Dataset) -> tuple:
    """What a request needs of a data set."""
    return data.X, data.y, data.s, data.favourable


def perform(request: Request, data: tuple) -> Any:
    """The result of a request."""
    from fairglvq.experiments import fold

    return getattr(fold, request.function)(*data, *request.arguments)


def answer_to(request: Request, data: tuple) -> Answer:
    """The result of a request, or its error; only a ValueError keeps its type, others may not survive pickling."""
    try:
        return Answer(perform(request, data))
    except ValueError as error:
        return Answer(error=ValueError(str(error)))
    except Exception as error:  # handled by the sender of the request
        return Answer(error=RuntimeError(f"{type(error).__name__}: {error}"))


def main() -> None:
    """Answer requests until standard input ends."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not get among the answers
    _warm_up()  # before the thread starts: unpickling a request imports too, and parallel imports can fail
    requests: SimpleQueue[Request] = SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    data: tuple = ()
    while True:
        request = requests.get()
        if request.function == FORGET:
            data = ()
            continue
        data = request.data or data
        pickle.dump(answer_to(request, data), answers)
        answers.flush()


def _read(requests: SimpleQueue[Request]) -> None:
    try:
        while True:
            requests.put(pickle.load(sys.stdin.buffer))
    except (EOFError, pickle.UnpicklingError):  # the parent process ended, perhaps in the middle of a request
        os._exit(0)
    except Exception:  # without this the process would go on and could not be reached
        traceback.print_exc()
        os._exit(1)


def _warm_up() -> None:
    """Load what every request needs, compiled kernels included."""
    import numpy as np

    from fairglvq import FairGLVQ
    from fairglvq.experiments import fold  # noqa: F401

    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    FairGLVQ(1, max_epochs=1, random_state=0).fit(X, y, sensitive_features=y)
