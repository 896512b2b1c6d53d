"""A bounded cache of finished work, shared by threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class CancelledError(Exception):
    """The work was cancelled."""


class ResultCache:
    """A bounded cache of finished work; a request for work under way waits for it."""

    def __init__(self, size: int):
        self.size = size
        self.lock = threading.Lock()
        self.futures: OrderedDict[Any, Future] = OrderedDict()

    def peek(self, key: Any) -> Any:
        """What is finished under this key, or None."""
        with self.lock:
            future = self.futures.get(key)
        done = future is not None and future.done() and not future.exception()
        return future.result() if future is not None and done else None

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is kept under this key, made now if it is missing. Failures are not kept."""
        while True:
            with self.lock:
                future = self.futures.get(key)
                mine = future is None
                if future is None:
                    future = self.futures[key] = Future()
                self.futures.move_to_end(key)
            if mine:
                return self._make(key, future, make)
            try:
                return future.result()
            except CancelledError:
                continue  # another visitor cancelled it: try again

    def forget(self, about: Any) -> None:
        """Drop everything whose key contains ``about``."""
        with self.lock:
            for key in [key for key in self.futures if about in key]:
                del self.futures[key]

    def _make(self, key: Any, future: Future, make: Callable[[], Any]) -> Any:
        try:
            result = make()
        except BaseException as error:
            with self.lock:
                self.futures.pop(key, None)
            future.set_exception(error)
            raise
        future.set_result(result)
        with self.lock:
            while len(self.futures) > self.size:
                self.futures.popitem(last=False)
        return result
