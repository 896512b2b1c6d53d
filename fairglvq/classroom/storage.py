"""Rooms in one SQLite file, so that a restarted server still has them. One server uses a file at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from fairglvq.experiments import store

LOCK_SECONDS = 2.0  # the class waits meanwhile; what cannot be written is tried again


class RoomRow(NamedTuple):
    """A room as it stands in the file."""

    code: str
    key: str
    began: float
    used: float
    hold: int | None
    revealed: bool
    opened: int


class StudentRow(NamedTuple):
    """A student as it stands in the file."""

    code: str
    token: str
    number: int
    progress: str


def default_path() -> Path:
    """$FAIRGLVQ_ROOMS, or beside the finished rows."""
    chosen = os.environ.get("FAIRGLVQ_ROOMS")
    return Path(chosen) if chosen else store.default_path().with_name("rooms.sqlite")


class RoomFile:
    """The file; not thread-safe: `Rooms` calls it under its lock."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        try:
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise OSError(f"rooms cannot be kept in {path} ({error}): set FAIRGLVQ_ROOMS to another file") from error

    def _prepare(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(self.path, timeout=LOCK_SECONDS, check_same_thread=False)
        store.use_wal(self._db)
        self._db.execute("PRAGMA synchronous = NORMAL")  # writes survive the process, without waiting for the disk
        with self._db:
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS rooms (code TEXT PRIMARY KEY, key TEXT, began REAL, used REAL, "
                "hold INTEGER, revealed INTEGER, opened INTEGER)"
            )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS students (code TEXT, token TEXT, number INTEGER, progress TEXT, "
                "PRIMARY KEY (code, token))"
            )
            self._db.execute("DELETE FROM students WHERE code NOT IN (SELECT code FROM rooms)")

    def read(self) -> tuple[list[RoomRow], list[StudentRow]]:
        """All rooms, and all students in the order in which they joined."""
        rooms = self._db.execute(f"SELECT {', '.join(RoomRow._fields)} FROM rooms")
        students = self._db.execute(f"SELECT {', '.join(StudentRow._fields)} FROM students ORDER BY number")
        return [RoomRow(*row) for row in rooms], [StudentRow(*row) for row in students]

    def write(
        self,
        rooms: Iterable[RoomRow],
        students: Iterable[StudentRow],
        ended: Iterable[str] = (),
        left: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Write these rows, delete ended rooms and students who left: all of it or nothing."""
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?, ?, ?, ?)", rooms)
            self._db.executemany("INSERT OR REPLACE INTO students VALUES (?, ?, ?, ?)", students)
            self._db.executemany("DELETE FROM students WHERE code = ? AND token = ?", left)
            for table in ("students", "rooms"):
                self._db.executemany(f"DELETE FROM {table} WHERE code = ?", [(code,) for code in ended])

    def close(self) -> None:
        """Close the file."""
        self._db.close()
