"""Rooms: who may do what, what outlives the server, limits, the end of a room, and many threads at once."""

import sqlite3
import threading

import pytest

from fairglvq.classroom import rooms as module
from fairglvq.classroom.rooms import (
    GRACE,
    HERE,
    HOUR,
    IDLE,
    IDLE_EMPTY,
    LEFT,
    LONGEST,
    NoRoomError,
    Pace,
    RoomError,
    Rooms,
)
from fairglvq.lesson.progress import Progress
from fairglvq.lesson.steps import STEPS


def at(number):
    """Somebody who has come to a step and has answered its question."""
    passed = [step.key for step in STEPS if step.number < number]
    question = STEPS[number - 1].prediction
    return Progress(number, {question.key: question.options[0]}, frozenset(passed))


SOME = at(2)


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "rooms.sqlite"


@pytest.fixture
def rooms(path, clock):
    rooms = Rooms(path, clock=clock)
    yield rooms
    rooms.close()


def progress_of(rooms, code, key):
    return {student.number: student.progress for student in rooms.view(code, key).students}


def test_a_code_has_no_letters_that_look_alike_and_may_be_typed_carelessly(rooms):
    assert set(module.LETTERS).isdisjoint("0O1I2Z5S8B")
    code, key = rooms.open()
    assert len(code) == module.CODE_LENGTH
    assert set(code) <= set(module.LETTERS)
    assert rooms.join(f" {code.lower()[:2]} {code.lower()[2:]}")[0].code == code
    assert rooms.view(code.lower(), key).code == code


def test_only_the_key_opens_the_teacher_s_side(rooms):
    code, key = rooms.open()
    _, other_key = rooms.open()
    for wrong in ("", key[:-1], other_key, "ключ"):
        for act in (rooms.view, rooms.end, lambda code, key: rooms.set_pace(code, key, Pace(1))):
            with pytest.raises(RoomError, match="does not open room"):
                act(code, wrong)
    assert rooms.view(code, key).pace == Pace()
    with pytest.raises(NoRoomError, match="There is no room NOPE"):
        rooms.view("nope", key)
    with pytest.raises(NoRoomError, match=r"There is no room BOLDHTTPX: it has"):
        rooms.join("**bold**[](http://x)")


def test_the_join_link_makes_everybody_somebody_else_and_the_own_address_the_same_student(rooms):
    code, key = rooms.open()
    one, two = rooms.join(code)[0], rooms.join(code)[0]
    assert one.token != two.token
    rooms.report(one, SOME)
    again = rooms.join(code, one.token)[0]  # a reload
    assert again.token == one.token
    guessed = rooms.join(code, "guessed")[0]
    assert guessed.token not in (one.token, two.token, "guessed")
    assert progress_of(rooms, code, key) == {1: SOME, 2: Progress(), 3: Progress()}


def test_a_token_is_worth_nothing_in_another_room(rooms):
    (code, _), (other, other_key) = rooms.open(), rooms.open()
    seat = rooms.join(code)[0]
    rooms.report(seat, SOME)
    assert rooms.join(other, seat.token)[0].token != seat.token
    assert progress_of(rooms, other, other_key) == {1: Progress()}


def test_a_reload_takes_its_token_over_when_the_session_before_is_silent(rooms, clock):
    code, key = rooms.open()
    before = rooms.join(code)[0]
    rooms.report(before, SOME)
    clock.now += 1
    after = rooms.join(code, before.token)[0]
    later = at(3)
    clock.now += GRACE - 2
    seat, _ = rooms.report(after, later)
    assert seat == after
    assert progress_of(rooms, code, key) == {1: SOME}  # the session before may still be there
    clock.now += 2
    assert rooms.report(after, later)[0] == after
    assert progress_of(rooms, code, key) == {1: later}


def test_an_address_passed_on_makes_a_student_of_its_own(rooms, clock):
    code, key = rooms.open()
    owner = rooms.join(code)[0]
    rooms.report(owner, SOME)
    friend, theirs = rooms.join(code, owner.token)[0], at(5)
    for _ in range(4):
        clock.now += GRACE / 2
        owner = rooms.report(owner, SOME)[0]
        friend = rooms.report(friend, theirs)[0]
    assert friend.token != owner.token
    assert progress_of(rooms, code, key) == {1: SOME, 2: theirs}


def test_two_sessions_of_one_address_part_also_when_the_first_was_silent_for_a_while(rooms, clock):
    code, key = rooms.open()
    owner = rooms.join(code)[0]
    rooms.report(owner, SOME)
    friend, theirs = rooms.join(code, owner.token)[0], at(5)
    clock.now += GRACE + 1
    assert rooms.report(friend, theirs)[0] == friend  # took it over
    assert rooms.report(owner, SOME)[0].token != friend.token
    assert progress_of(rooms, code, key) == {1: theirs, 2: SOME}


def test_a_class_is_held_and_steps_are_opened(rooms):
    code, key = rooms.open()
    seat = rooms.join(code)[0]
    assert rooms.report(seat, SOME)[1] == Pace()
    rooms.set_pace(code, key, Pace(hold=3, opened=2))
    assert rooms.report(seat, SOME)[1] == Pace(hold=3, opened=2) == rooms.view(code, key).pace


@pytest.mark.parametrize(
    ("pace", "step", "passed", "allowed"),
    [
        (Pace(), 3, True, True),
        (Pace(), 3, False, False),
        (Pace(hold=2), 2, True, True),
        (Pace(hold=2), 3, True, False),
        (Pace(opened=3), 3, False, True),
        (Pace(opened=3), 4, False, False),
        (Pace(hold=2, opened=8), 3, False, False),
    ],
)
def test_which_steps_may_be_entered(pace, step, passed, allowed):
    assert pace.allows(step, passed) is allowed


def test_what_happened_is_hidden_only_in_the_step_at_which_the_class_is_held():
    held = Pace(hold=3)
    assert [held.hides_outcome(step) for step in (2, 3, 4)] == [False, True, False]
    assert not held._replace(revealed=True).hides_outcome(3)
    assert not Pace().hides_outcome(1)


def test_a_restarted_server_has_every_room(path, clock):
    before = Rooms(path, clock=clock)
    code, key = before.open()
    other, other_key = before.open()
    seat, second = before.join(code)[0], before.join(code)[0]
    before.report(seat, SOME)
    before.report(second, at(4))
    before.set_pace(code, key, Pace(4, True, 2))
    # not closed: the server was killed
    after = Rooms(path, clock=clock)
    found, kept = after.view(code, key), before.view(code, key)
    assert found.pace == kept.pace
    assert found.ends == kept.ends
    assert found.students == tuple(student._replace(here=False) for student in kept.students)
    assert after.view(other, other_key).students == ()
    assert after.join(code, seat.token)[0].token == seat.token
    later = at(5)
    assert after.report(seat, later)[0] == seat  # a session that outlived the server
    assert progress_of(after, code, key)[1] == later
    assert after.join(code)[0].token not in (seat.token, second.token)
    assert [student.number for student in after.view(code, key).students] == [1, 2, 3]
    before.close(), after.close()


def test_a_progress_that_can_no_longer_be_read_begins_anew(path, clock):
    rooms = Rooms(path, clock=clock)
    code, key = rooms.open()
    rooms.report(rooms.join(code)[0], SOME)
    rooms.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE students SET progress = 'of another version'")
    db.close()
    rooms = Rooms(path, clock=clock)
    assert progress_of(rooms, code, key) == {1: Progress()}
    rooms.close()


def test_students_without_a_room_are_of_no_concern(path, clock):
    rooms = Rooms(path, clock=clock)
    code, _ = rooms.open()
    rooms.join(code)
    rooms.close()
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM rooms")
    db.close()
    Rooms(path, clock=clock).close()
    assert rows(path) == [0, 0]


def test_who_looked_in_and_did_nothing_is_forgotten(rooms, clock):
    code, key = rooms.open()
    busy, gone = rooms.join(code)[0], rooms.join(code)[0]
    rooms.report(busy, SOME)
    rooms.report(gone, Progress())
    clock.now += HERE + 1
    assert [student.here for student in rooms.view(code, key).students] == [False, False]
    rooms.report(busy, SOME)
    assert [student.here for student in rooms.view(code, key).students] == [True, False]
    clock.now += LEFT
    assert [student.number for student in rooms.view(code, key).students] == [1]
    assert rooms.report(gone, Progress())[0].token != gone.token  # back from a break: a student again
    assert [student.number for student in rooms.view(code, key).students] == [1, 3]


def rows(path):
    with sqlite3.connect(path) as db:
        found = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("rooms", "students")]
    db.close()
    return found


def test_a_room_ends_by_itself_and_nothing_of_it_is_kept(rooms, path, clock):
    code, key = rooms.open()
    seat = rooms.join(code)[0]
    rooms.report(seat, SOME)
    empty, empty_key = rooms.open()
    assert rows(path) == [2, 1]
    clock.now += IDLE + 1
    for act in (lambda: rooms.view(code, key), lambda: rooms.report(seat, SOME), lambda: rooms.join(code)[0]):
        with pytest.raises(NoRoomError, match="it has ended"):
            act()
    assert rows(path) == [1, 0]
    assert rooms.view(empty, empty_key).ends == clock.now + IDLE_EMPTY  # opened for another day
    clock.now += IDLE_EMPTY + 1
    with pytest.raises(NoRoomError):
        rooms.view(empty, empty_key)
    assert rows(path) == [0, 0]


def test_a_room_in_use_lives_on_but_not_for_ever(path, clock):
    rooms = Rooms(path, clock=clock)
    code, key = rooms.open()
    seat, began = rooms.join(code)[0], clock.now
    while clock.now < began + LONGEST - 11 * HOUR:
        clock.now += 11 * HOUR
        rooms.report(seat, SOME)
    rooms.close()
    rooms = Rooms(path, clock=clock)  # the file knows of the last use
    assert rooms.view(code, key).ends == began + LONGEST
    clock.now = began + LONGEST + 1
    with pytest.raises(NoRoomError):
        rooms.report(seat, SOME)
    rooms.close()


def test_a_room_that_ended_while_no_server_ran_is_gone(path, clock):
    rooms = Rooms(path, clock=clock)
    code, _ = rooms.open()
    rooms.report(rooms.join(code)[0], SOME)
    rooms.close()
    clock.now += IDLE + 1
    Rooms(path, clock=clock).close()
    assert rows(path) == [0, 0]


def test_the_teacher_ends_a_room(rooms, path):
    code, key = rooms.open()
    seat = rooms.join(code)[0]
    rooms.end(code, key)
    with pytest.raises(NoRoomError):
        rooms.report(seat, SOME)
    assert rows(path) == [0, 0]


def test_limits(rooms, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROOMS", 2)
    monkeypatch.setattr(module, "MOST_STUDENTS", 2)
    code, _ = rooms.open()
    rooms.open()
    assert rooms.join(code)[0].code == code
    later, _ = rooms.open()  # the empty one has made way
    assert rooms.join(later)[0].code == later
    with pytest.raises(RoomError, match="has 2 rooms in use"):
        rooms.open()
    seat = rooms.join(code)[0]
    with pytest.raises(RoomError, match="is full"):
        rooms.join(code)
    assert rooms.join(code, seat.token)[0].token == seat.token
    with pytest.raises(RoomError, match="So much progress"):
        rooms.report(seat, Progress(answers={"prototype": "x" * module.LONGEST_TEXT}))


def test_a_file_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="set FAIRGLVQ_ROOMS"):
        Rooms(tmp_path / "file" / "rooms.sqlite")


def test_what_cannot_be_written_is_tried_again(rooms, path, clock, monkeypatch):
    monkeypatch.setattr("fairglvq.classroom.storage.LOCK_SECONDS", 0.0)
    rooms = Rooms(path, clock=clock)
    code, key = rooms.open()
    seat = rooms.join(code)[0]
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        rooms.report(seat, SOME)  # no error: the class goes on
        assert "locked" in rooms.problem
    other.close()
    later = rooms.join(code)[0]
    assert rooms.problem == ""
    rooms.close()
    again = Rooms(path, clock=clock)
    assert progress_of(again, code, key) == {1: SOME, 2: Progress()}
    assert again.join(code, later.token)[0].token == later.token
    again.close()


def test_a_hundred_students_at_once(path):
    """Sessions are threads: no report is lost, no number given twice."""
    rooms = Rooms(path)
    code, key = rooms.open()
    start, failed = threading.Barrier(20), []

    def student(number):
        try:
            start.wait()
            for _ in range(5):
                seat = rooms.join(code)[0]
                for step in (1, 2, 3):
                    seat, _ = rooms.report(seat, at(step))
                rooms.view(code, key)
        except Exception as problem:
            failed.append(problem)

    threads = [threading.Thread(target=student, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    students = rooms.view(code, key).students
    assert sorted(student.number for student in students) == list(range(1, 101))
    assert {student.progress.step for student in students} == {3}
    rooms.close()
    again = Rooms(path)
    assert len(progress_of(again, code, key)) == 100
    assert {progress.step for progress in progress_of(again, code, key).values()} == {3}
    again.close()
