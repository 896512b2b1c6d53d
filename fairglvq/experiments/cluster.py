"""Workers on a Dask cluster. Dask is imported only if there is a cluster.

A model that is being trained on a cluster cannot be killed from here: after a cancel the worker is free for other
requests at once, and the answer to the cancelled one is dropped.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from fairglvq.datasets import Dataset
from fairglvq.experiments.worker import Answer, Request, StoppedError, Worker, WorkersLostError, answer_to, arrays_of

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""Time that a scheduler has to answer."""

ANSWER_SECONDS = 20.0
"""Time without an answer after which to check for workers. Workers that died may be restarted."""


class ClusterConnection:
    """A connection to a scheduler, and the data that were sent there."""

    def __init__(self, address: str) -> None:
        self.address = address
        if "://" not in address and not re.search(r":\d+$", address):
            raise WorkersLostError(f"A Dask cluster has an address like tcp://HOST:PORT; got {address!r}.")
        try:
            from distributed import Client
        except ImportError as error:
            raise WorkersLostError("A Dask cluster needs one more package: pip install distributed.") from error
        try:
            self.client = Client(address, set_as_default=False, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:  # no scheduler there, or a protocol that Dask does not know
            raise WorkersLostError(
                f"The cluster at {address} does not answer, so nothing can be computed now."
            ) from error
        self._lock = threading.Lock()
        # Released with the data set: a visitor's own table must not stay there when the visit is over.
        self._sent: WeakKeyDictionary[Dataset, Any] = WeakKeyDictionary()

    def n_threads(self) -> int:
        """Models that it trains at the same time; one for a cluster that grows only when there is work."""
        return max(1, sum(self.client.nthreads().values()))

    def send(self, data: Dataset) -> Any:
        """The data as a future; they are sent once, and again if every worker that had them is gone."""
        with self._lock:
            if data not in self._sent or self._sent[data].cancelled():
                scattered = self.client.scatter([arrays_of(data)], hash=False, broadcast=True, timeout=ANSWER_SECONDS)
                (self._sent[data],) = scattered
            return self._sent[data]

    def check_scheduler(self) -> None:
        """Raise WorkersLostError if the scheduler is gone."""
        if self.client.status != "running":
            raise WorkersLostError(f"The cluster at {self.address} stopped answering.")

    def check_workers(self) -> None:
        """Raise WorkersLostError if the cluster has no workers."""
        self.check_scheduler()
        if not self.client.nthreads():
            raise WorkersLostError(f"The cluster at {self.address} has no workers at the moment.")


class ClusterWorker(Worker):
    """One thread's worth of work on a cluster."""

    def __init__(self, connection: ClusterConnection) -> None:
        self._connection = connection
        self.ready()

    def ready(self) -> None:
        """Announce a request, with a new event, because the answer to a cancelled request may still set the old one."""
        self._stopped, self._answered = False, threading.Event()

    def do(self, request: Request, data: Dataset) -> Answer:
        """Carry out a request on any worker of the cluster."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import ClosedClientError

        connection = self._connection
        try:
            future = connection.client.submit(answer_to, request, connection.send(data), pure=False)
            self._wait_for(future)
            return future.result()
        except TimeoutError as error:  # no worker took the data
            connection.check_workers()
            raise StoppedError from error
        except WorkersLostError:
            raise
        except (CancelledError, KilledWorker, ClosedClientError, OSError) as error:  # worker, data or scheduler is gone
            connection.check_scheduler()
            raise StoppedError from error
        except (ImportError, RuntimeError) as error:  # errors of the training itself come as an answer
            log.exception("the cluster cannot read a request")
            raise WorkersLostError(
                f"The cluster at {connection.address} cannot run this program: is the same version installed there?"
            ) from error

    def _wait_for(self, future: Any) -> None:
        answered = self._answered
        future.add_done_callback(lambda _: answered.set())
        while not answered.wait(ANSWER_SECONDS):
            self._connection.check_workers()
        if self._stopped:
            future.cancel()
            raise StoppedError

    def stop(self) -> None:
        """Take the request back."""
        self._stopped = True
        self._answered.set()

    def close(self) -> None:
        """Close the connection, which all workers of a cluster share; the cluster stays."""
        self._connection.client.close()


def cluster_workers(address: str) -> Callable[[], list[Worker]]:
    """For a pool: every thread of the Dask cluster whose scheduler has this address."""

    def connect() -> list[Worker]:
        connection = ClusterConnection(address)
        return [ClusterWorker(connection) for _ in range(connection.n_threads())]

    return connect
