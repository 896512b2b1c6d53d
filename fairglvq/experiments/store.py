"""Finished rows in one SQLite file: a killed run loses nothing, and the next one computes only what is missing.

The key of a row is everything that its numbers depend on: the data's fingerprint, method, strength, parameters, folds,
fold, seed and the library's version.
"""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Hashable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from platformdirs import user_data_path

from fairglvq.version import __version__

MEASURES = ("accuracy", "statistical_parity", "equal_opportunity", "equalized_odds", "seconds")
_COLUMNS = (*MEASURES, "counts")

LOCK_SECONDS = 60.0
"""Time to wait while other threads or processes write to the same file."""

Name = TypeVar("Name", bound=Hashable)


class RowKey(NamedTuple):
    """Everything that one row depends on."""

    fingerprint: str
    method: str
    strength: float | None
    params: dict[str, Any]
    folds: int
    fold: int
    seed: int
    version: str = __version__

    def digest(self) -> str:
        """A hash of all of it."""
        return hashlib.sha256(json.dumps(self, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any):
    """JSON for parameters that are not plain values."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": content, "shape": value.shape, "dtype": str(value.dtype)}
    raise TypeError(f"a parameter of type {type(value).__name__} cannot be part of a row's key")


def default_path() -> Path:
    """Where the command line and the app keep rows: $FAIRGLVQ_STORE, or the user's data folder."""
    chosen = os.environ.get("FAIRGLVQ_STORE")
    return Path(chosen) if chosen else user_data_path("fairglvq") / "results.sqlite"


class Store:
    """The rows in one file; many threads and processes may use the same file, each with a Store of its own."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        try:
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise OSError(
                f"finished rows cannot be kept in {self.path} ({error}): name another file, or set FAIRGLVQ_STORE to it"
            ) from error

    def _prepare(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as db:
            use_wal(db)
            db.execute(
                "CREATE TABLE IF NOT EXISTS rows (digest TEXT PRIMARY KEY, dataset TEXT, fingerprint TEXT, "
                "method TEXT, strength REAL, params TEXT, folds INTEGER, fold INTEGER, seed INTEGER, version TEXT, "
                f"{', '.join(f'{name} REAL' for name in MEASURES)}, counts TEXT, "
                "finished TEXT DEFAULT CURRENT_TIMESTAMP)"
            )

    def has(self, dataset: str) -> bool:
        """Whether there is any row of a data set of this name, without loading the data for its keys."""
        with self._open() as db:
            return db.execute("SELECT 1 FROM rows WHERE dataset = ? LIMIT 1", (dataset,)).fetchone() is not None

    def get(self, keys: Mapping[Name, RowKey]) -> dict[Name, dict[str, Any]]:
        """The results known for these keys, by the same names."""
        names = {key.digest(): name for name, key in keys.items()}
        wanted, found = list(names), {}
        with self._open() as db:
            for start in range(0, len(wanted), 500):  # SQLite limits the number of values in one question
                part = wanted[start : start + 500]
                marks = ",".join("?" * len(part))
                question = f"SELECT digest, {', '.join(_COLUMNS)} FROM rows WHERE digest IN ({marks})"
                for digest, *values in db.execute(question, part):
                    row = dict(zip(_COLUMNS, values, strict=True))
                    row["counts"] = json.loads(row["counts"])
                    found[names[digest]] = {name: np.nan if value is None else value for name, value in row.items()}
        return found

    def put(self, key: RowKey, dataset: str, row: dict[str, Any]) -> None:
        """Keep one finished row; it is on disk when this returns."""
        record = {"digest": key.digest(), "dataset": dataset, **key._asdict(), **{name: row[name] for name in _COLUMNS}}
        record["strength"] = None if key.strength is None else float(key.strength)
        record["params"] = json.dumps(key.params, sort_keys=True, default=_plain)
        record["counts"] = json.dumps(row["counts"])
        places = ", ".join(f":{name}" for name in record)
        with self._open() as db, db:
            db.execute(f"INSERT OR REPLACE INTO rows ({', '.join(record)}) VALUES ({places})", record)

    def _open(self):
        return closing(sqlite3.connect(self.path, timeout=LOCK_SECONDS))


def use_wal(db: sqlite3.Connection) -> None:
    """Switch to SQLite's write-ahead log, with which readers and a writer do not wait for each other.

    When two connections switch a new file at the same moment, SQLite refuses one of them at once, whatever its timeout,
    to avoid a deadlock: it has to try again.
    """
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.005)
