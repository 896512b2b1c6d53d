"""All rooms of a server: in memory, and in a file behind it.

A room has a code, which students read off a projector, and a key, which only the teacher's link contains. No personal
data are kept: a student is a random token in the student's own address. The join link contains no token, so each use of
it is a new student; a reload of a student's own address is the same student. If two sessions report under one token,
because an address was passed on, the second becomes a student of its own.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from fairglvq.classroom.pace import Pace
from fairglvq.classroom.storage import RoomFile, RoomRow, StudentRow
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS

LETTERS = "ACDEFGHJKLMNPQRTUVWXY34679"
"""Characters of codes, none that look alike (0 and O, 1 and I, 2 and Z, 5 and S, 8 and B)."""

CODE_LENGTH = 5
MOST_ROOMS = 100
MOST_STUDENTS = 200
LONGEST_TEXT = 4000  # letters of a progress

HOUR = 3600.0
IDLE = 12 * HOUR  # without use, a room ends
IDLE_EMPTY = 72 * HOUR  # one that nobody has joined: it may have been opened for another day
LONGEST = 7 * 24 * HOUR  # however much it is used

GRACE = 6.0  # seconds without a report until another session with the same token may take it over
HERE = 15.0  # seconds since the last report until a student counts as absent
LEFT = 60.0  # seconds of absence until a student who has done nothing is deleted
SWEEP = 60.0  # seconds between two deletions of rooms that have ended
KEEP_USE = 600.0  # seconds that the file may lag behind the last use of a room


class RoomError(ValueError):
    """An action that a room refuses; the message is a sentence for the user."""


class NoRoomError(RoomError):
    """There is no such room, or no longer."""


class Seat(NamedTuple):
    """A student's place in a room, as one session of the app holds it."""

    code: str
    token: str
    session: str
    since: float


class StudentView(NamedTuple):
    """A student on the teacher's page."""

    number: int
    progress: Progress
    here: bool


class RoomView(NamedTuple):
    """A snapshot of a room for the teacher's page."""

    code: str
    pace: Pace
    students: tuple[StudentView, ...]
    ends: float


@dataclass
class _Student:
    number: int
    progress: Progress
    session: str
    seen: float


@dataclass
class _Room:
    code: str
    key: str
    began: float
    used: float
    kept_use: float  # as the file has it
    pace: Pace = field(default_factory=Pace)
    students: dict[str, _Student] = field(default_factory=dict)
    numbers: int = 0  # given to students so far

    @property
    def ends(self) -> float:
        return min(self.used + (IDLE if self.students else IDLE_EMPTY), self.began + LONGEST)


class Rooms:
    """Rooms of one server; thread-safe."""

    def __init__(self, path: str | os.PathLike, *, clock: Callable[[], float] = time.time):
        self._clock = clock
        self._lock = threading.RLock()
        self._file = RoomFile(path)
        self._rooms: dict[str, _Room] = {}
        self._swept = 0.0
        self._forget_changes()
        self.problem = ""
        """Why the last changes are in memory only; empty if they are in the file."""
        self._read()
        self.sweep()

    def _forget_changes(self) -> None:
        self._changed: set[str] = set()
        self._reported: set[tuple[str, str]] = set()
        self._ended: set[str] = set()
        self._left: set[tuple[str, str]] = set()

    def _read(self) -> None:
        rooms, students = self._file.read()
        seen = self._clock() - HERE - 1  # no student has reported to this server yet
        for row in rooms:
            pace = Pace(row.hold, bool(row.revealed), row.opened)
            self._rooms[row.code] = _Room(row.code, row.key, row.began, row.used, row.used, pace)
        for one in students:
            room = self._rooms[one.code]
            room.students[one.token] = _Student(one.number, _read_progress(one.progress), "", seen)
            room.numbers = max(room.numbers, one.number)

    # what a teacher does

    def open(self) -> tuple[str, str]:
        """A new room: its code, and the key to it."""
        with self._lock:
            self.sweep()
            if len(self._rooms) >= MOST_ROOMS:
                self._evict()
            code, now = self._new_code(), self._clock()
            key = secrets.token_urlsafe(12)
            self._rooms[code] = _Room(code, key, now, now, now)
            self._changed.add(code)
            self._write()
            return code, key

    def _evict(self) -> None:
        """Delete the oldest room that nobody has joined, so that no visitor can take all places."""
        empty = [code for code, room in self._rooms.items() if not room.students]
        if not empty:
            raise RoomError(f"This server has {MOST_ROOMS} rooms in use, and holds no more. Try again later.")
        self._delete(min(empty, key=lambda code: self._rooms[code].used))

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
            if code not in self._rooms:
                return code

    def view(self, code: str, key: str) -> RoomView:
        """The present state of a room."""
        with self._lock:
            room, now = self._teachers(code, key), self._clock()
            for token in [token for token, one in room.students.items() if _came_by_mistake(one, now)]:
                del room.students[token]
                self._left.add((room.code, token))
            self._use(room)
            students = [StudentView(one.number, one.progress, now - one.seen <= HERE) for one in room.students.values()]
            return RoomView(room.code, room.pace, tuple(students), room.ends)

    def set_pace(self, code: str, key: str, pace: Pace) -> None:
        """Hold the class at a step, release it, open steps."""
        with self._lock:
            room = self._teachers(code, key)
            room.pace = pace
            self._changed.add(room.code)
            self._write()

    def end(self, code: str, key: str) -> None:
        """End a room; nothing of it is kept."""
        with self._lock:
            self._delete(self._teachers(code, key).code)
            self._write()

    def _teachers(self, code: str, key: str) -> _Room:
        room = self._room(code)
        if not secrets.compare_digest(room.key.encode(), key.encode()):
            raise RoomError(f"The key in this link does not open room {room.code}: it is the link of another room.")
        return room

    # what a student does

    def join(self, code: str, token: str = "") -> tuple[Seat, Pace]:
        """Join a room, or return to it with the token of the student's own address."""
        with self._lock:
            room, now = self._room(code), self._clock()
            if token not in room.students:
                token = self._admit(room, Progress())
            return Seat(room.code, token, secrets.token_urlsafe(6), now), room.pace

    def report(self, seat: Seat, progress: Progress) -> tuple[Seat, Pace]:
        """Report a student's progress, to be repeated now and then; returns the seat to use from now on, and the pace.

        If another session has used the token within GRACE seconds, nothing is stored yet; if that one goes on
        reporting, this session gets the seat of a new student.
        """
        with self._lock:
            room, now = self._room(seat.code), self._clock()
            student = room.students.get(seat.token)
            if student is None or self._held_by_another(student, seat):
                seat = seat._replace(token=self._admit(room, progress), since=now)
                student = room.students[seat.token]
            if not student.session or now - student.seen > GRACE:
                student.session = seat.session
            if student.session == seat.session:
                student.seen = now
                self._keep(seat, student, progress)
            self._use(room)
            return seat, room.pace

    def _held_by_another(self, student: _Student, seat: Seat) -> bool:
        """Whether another session reported under this token after this one had joined."""
        return student.session not in ("", seat.session) and student.seen > seat.since + GRACE

    def _admit(self, room: _Room, progress: Progress) -> str:
        if len(room.students) >= MOST_STUDENTS:
            raise RoomError(f"Room {room.code} is full: it holds {MOST_STUDENTS} students.")
        token = secrets.token_urlsafe(9)
        room.numbers += 1
        room.students[token] = _Student(room.numbers, progress, "", self._clock())
        self._reported.add((room.code, token))
        self._use(room)
        self._write()
        return token

    def _keep(self, seat: Seat, student: _Student, progress: Progress) -> None:
        if progress == student.progress:
            return
        if len(progress.to_text()) > LONGEST_TEXT:
            raise RoomError("So much progress cannot be kept in a room.")
        student.progress = progress
        self._reported.add((seat.code, seat.token))
        self._write()

    # what both need

    def _room(self, code: str) -> _Room:
        if self._clock() - self._swept > SWEEP:
            self.sweep()
        room = self._rooms.get(_plain(code))
        if room is None or self._clock() > room.ends:
            asked = re.sub("[^A-Z0-9]", "", _plain(code))[:12]  # safe text, whatever the link contained
            raise NoRoomError(f"There is no room {asked}: it has ended, or its code is mistyped.")
        return room

    def _use(self, room: _Room) -> None:
        room.used = self._clock()
        if room.used - room.kept_use > KEEP_USE:
            self._changed.add(room.code)
            self._write()

    def sweep(self) -> None:
        """Delete the rooms that have ended by themselves."""
        with self._lock:
            now = self._swept = self._clock()
            for code in [code for code, room in self._rooms.items() if now > room.ends]:
                self._delete(code)
            self._write()

    def _delete(self, code: str) -> None:
        del self._rooms[code]
        self._ended.add(code)

    def _write(self) -> None:
        """Bring the file up to date. What cannot be written now stays in memory and is tried again next time."""
        if not (self._changed or self._reported or self._ended or self._left):
            return
        changed = [self._rooms[code] for code in self._changed & self._rooms.keys()]
        for room in changed:
            room.kept_use = room.used
        rows = [RoomRow(room.code, room.key, room.began, room.used, *room.pace) for room in changed]
        try:
            self._file.write(rows, self._student_rows(), self._ended, self._left)
        except sqlite3.Error as error:
            logging.getLogger(__name__).warning("Rooms cannot be written to %s: %s", self._file.path, error)
            self.problem = str(error)
        else:
            self.problem = ""
            self._forget_changes()

    def _student_rows(self) -> list[StudentRow]:
        rows = []
        for code, token in self._reported:
            student = self._rooms[code].students.get(token) if code in self._rooms else None
            if student:
                rows.append(StudentRow(code, token, student.number, student.progress.to_text()))
        return rows

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


def _plain(code: str) -> str:
    """A code in upper case and without blanks."""
    return "".join(code.split()).upper()


def _came_by_mistake(student: _Student, now: float) -> bool:
    """Whether a student left without doing anything, or reloaded before the token was in the address."""
    return student.progress == Progress() and now - student.seen > LEFT


def _read_progress(text: str) -> Progress:
    """Progress from the file; the step in view may be any, because a teacher can open steps."""
    return Progress.from_text(text, opened=STEPS[-1].number)
