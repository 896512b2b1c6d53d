"""Worker processes on this computer, reached through pipes."""

from __future__ import annotations

import pickle
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fairglvq.datasets import Dataset
from fairglvq.experiments.worker import COMMAND, FORGET, Answer, Request, StoppedError, Worker, arrays_of

ROOT = Path(__file__).resolve().parents[2]


class WorkerProcess(Worker):
    """One process; cancelling kills it, and the next request goes to a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._fingerprint: str | None = None  # of the data that the process has
        self._stopped = False

    def start(self) -> None:
        """Start the process if it does not run."""
        with suppress(OSError):  # `do` tries again, and its error is reported
            self._running()

    def _running(self) -> subprocess.Popen:
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                _end(self._process)
                self._process = None
            if self._process is None:
                self._fingerprint = None
                # Not multiprocessing: its children would import the main script of a Streamlit server. In a session of
                # its own, because Ctrl-C goes to all processes of a terminal's session.
                self._process = subprocess.Popen(
                    COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
                )
            return self._process

    def ready(self) -> None:
        """A request follows."""
        self._stopped = False

    def do(self, request: Request, data: Dataset) -> Answer:
        """Send a request and read its answer; the data are sent only if the process has others."""
        process = self._running()
        if self._stopped:  # between `ready` and here
            raise StoppedError
        if self._fingerprint != data.fingerprint:
            request = request._replace(data=arrays_of(data))
            self._fingerprint = data.fingerprint
        try:
            _send(process, request)
            return pickle.load(process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            _end(process)
            raise StoppedError from error

    def forget(self) -> None:
        """Make the process drop its data."""
        with self._lock:
            if self._fingerprint is not None and self._process is not None:
                self._fingerprint = None
                with suppress(OSError):  # a dead process holds nothing
                    _send(self._process, Request(FORGET, ()))

    def stop(self) -> None:
        """Kill the process; `do` then raises StoppedError."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process for good."""
        with self._lock:
            if self._process is not None:
                _end(self._process)


def _send(process: subprocess.Popen, request: Request) -> None:
    pickle.dump(request, process.stdin)  # type: ignore[arg-type]
    process.stdin.flush()  # type: ignore[union-attr]


def _end(process: subprocess.Popen) -> None:
    """Kill a process, wait for its end and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):  # unread input is lost with it
            pipe.close()  # type: ignore[union-attr]


def local_workers(size: int) -> Callable[[], list[Worker]]:
    """For a pool: so many processes on this computer."""
    return lambda: [WorkerProcess() for _ in range(size)]
