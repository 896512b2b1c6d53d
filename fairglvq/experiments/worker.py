"""A process that trains for somebody else: pickled orders on standard input, pickled answers on standard output.

A worker is started with COMMAND, needs nothing of the program that keeps it, and can be killed at any moment. It ends
by itself when its input ends, also in the middle of a training: nobody is there to take the answer.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

COMMAND = (sys.executable, "-c", "from fairglvq.experiments.worker import main; main()")
"""Not ``-m``: what it sends back would then be of a module called __main__."""

FORGET = "forget"
"""An order without an answer: the data may be somebody's own, and are not needed any more."""

NICENESS = 10
"""Whoever waits in front of a screen goes first."""


class Order(NamedTuple):
    """Work to do: a function of :mod:`fairglvq.experiments.evaluation` by name, and what it needs beside the data.

    ``data`` are the arrays X, y, s and the favourable label, or None if the worker has them from the order before.
    """

    function: str
    arguments: tuple
    data: tuple | None = None


class Answer(NamedTuple):
    """A result, or what went wrong in words."""

    result: Any = None
    error: str | None = None


def main() -> None:
    """Take orders until there are no more."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not get among the answers
    _warm_up()  # before listening: reading an order imports as well, and two threads at that trip over each other
    orders: SimpleQueue[Order] = SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    data: tuple = ()
    while True:
        order = orders.get()
        if order.function == FORGET:
            data = ()
            continue
        data = order.data or data
        pickle.dump(carry_out(order, data), answers)
        answers.flush()


def _listen(orders: SimpleQueue[Order]) -> None:
    try:
        while True:
            orders.put(pickle.load(sys.stdin.buffer))
    except (EOFError, pickle.UnpicklingError):  # the keeper is gone, perhaps in the middle of an order
        os._exit(0)
    except Exception:  # a thread that ends in silence would leave a process that nobody can reach
        traceback.print_exc()
        os._exit(1)


def carry_out(order: Order, data: tuple) -> Answer:
    """Do what an order says; an error becomes words."""
    from fairglvq.experiments import evaluation

    known: dict[str, Callable] = {"prepare": evaluation.prepare, "train_and_assess": evaluation.train_and_assess}
    try:
        return Answer(known[order.function](*data, *order.arguments)[1])
    except Exception as error:  # the one who ordered decides what to do about it
        return Answer(error=f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")


def _warm_up() -> None:
    """Load what every order needs, kernels included, before the first one comes."""
    import numpy as np

    from fairglvq import FairGLVQ
    from fairglvq.experiments import evaluation  # noqa: F401

    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    FairGLVQ(1, max_epochs=1, random_state=0).fit(X, y, sensitive_features=y)
