"""Places on a Dask cluster, for the pool of `jobs.py`. No Streamlit here, and Dask only if there is a cluster.

A model that is being trained on a cluster cannot be killed from here: who cancels gets the place back at once, and the
model ends unheard.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from fairglvq.datasets import Dataset
from fairglvq.experiments.engine import LostError, StoppedError, Worker
from fairglvq.experiments.worker import Answer, Order, carry_out

log = logging.getLogger(__name__)

CONNECT = 5.0
"""Seconds that a scheduler has to answer."""

PATIENCE = 20.0
"""Seconds without an answer after which to ask whether anybody is at work at all. Workers that die may come back."""


class Cluster:
    """A connection to a scheduler, and the data that were sent there."""

    def __init__(self, address: str) -> None:
        from distributed import Client

        self.address = address
        try:
            self.client = Client(address, set_as_default=False, timeout=CONNECT)
        except (OSError, ValueError) as error:  # nobody there, or no address at all
            raise LostError(f"The cluster at {address} does not answer, so nothing can be computed now.") from error
        self._lock = threading.Lock()
        # Gone with the data set: a visitor's own table must not stay there when the visit is over.
        self._sent: WeakKeyDictionary[Dataset, Any] = WeakKeyDictionary()

    def places(self) -> int:
        """Models that it trains at the same time; one for a cluster that grows only when there is work."""
        return max(1, sum(self.client.nthreads().values()))

    def send(self, data: Dataset) -> Any:
        """The data as a future; they go there once, and again if every worker that had them is gone."""
        with self._lock:
            if data not in self._sent or self._sent[data].cancelled():
                arrays = (data.X, data.y, data.s, data.favourable)
                (self._sent[data],) = self.client.scatter([arrays], hash=False, broadcast=True, timeout=PATIENCE)
            return self._sent[data]

    def check(self) -> None:
        """Raise LostError if the scheduler is gone."""
        if self.client.status != "running":
            raise LostError(f"The cluster at {self.address} stopped answering.")

    def check_workers(self) -> None:
        """Raise LostError if nobody is at work there."""
        self.check()
        if not self.client.nthreads():
            raise LostError(f"The cluster at {self.address} has no workers at the moment.")


class Place:
    """One place on a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.ready()

    def ready(self) -> None:
        """An order comes; what is left of the one before wakes nobody."""
        self._stopped, self._woken = False, threading.Event()

    def do(self, order: Order, data: Dataset) -> Answer:
        """Carry out an order somewhere."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import ClosedClientError

        cluster = self._cluster
        try:
            future = cluster.client.submit(carry_out, order, cluster.send(data), pure=False)
            self._wait_for(future)
            return future.result()
        except TimeoutError as error:  # nobody took the data
            cluster.check_workers()
            raise StoppedError from error
        except (CancelledError, KilledWorker, ClosedClientError, OSError) as error:  # worker, data or scheduler is gone
            cluster.check()
            raise StoppedError from error
        except (ImportError, RuntimeError) as error:  # carry_out itself turns all of its errors into words
            log.exception("the cluster cannot read an order")
            raise LostError(
                f"The cluster at {cluster.address} cannot run this program: is the same version installed there?"
            ) from error

    def _wait_for(self, future: Any) -> None:
        woken = self._woken
        future.add_done_callback(lambda _: woken.set())
        while not woken.wait(PATIENCE):
            self._cluster.check_workers()
        if self._stopped:
            future.cancel()
            raise StoppedError

    def stop(self) -> None:
        """Take the order back."""
        self._stopped = True
        self._woken.set()

    def close(self) -> None:
        """The connection ends with its first place; the cluster stays."""
        self._cluster.client.close()


def cluster_workers(address: str) -> Callable[[], list[Worker]]:
    """Every thread of a Dask cluster."""

    def make() -> list[Worker]:
        cluster = Cluster(address)
        return [Place(cluster) for _ in range(cluster.places())]

    return make
