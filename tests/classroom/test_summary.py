"""What a class did, counted by hand."""

import csv
import io

from fairglvq.classroom import summary
from fairglvq.classroom.rooms import Pace, RoomView, StudentView
from fairglvq.lesson.progress import Progress, Result
from fairglvq.lesson.steps import STEPS

FIRST, SECOND = (step.prediction for step in STEPS[:2])
CLASS = (
    Progress(2, {FIRST.key: FIRST.options[1], SECOND.key: SECOND.options[0]}, frozenset({STEPS[0].key})),
    Progress(2, {FIRST.key: FIRST.options[1]}, frozenset({STEPS[0].key}), {"byhand": Result(0.85, 0.04, True)}),
    Progress(1, {FIRST.key: FIRST.options[0]}, frozenset(), {"byhand": Result(0.9, 0.3, False)}),
    Progress(),
)
ROOM = RoomView("ABC", Pace(), tuple(StudentView(i + 1, one, True) for i, one in enumerate(CLASS)), 0.0)


def test_counts():
    assert summary.at_steps(ROOM) == {1: 2, 2: 2, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0}
    assert summary.answers(ROOM, FIRST.key) == {FIRST.options[0]: 1, FIRST.options[1]: 2, FIRST.options[2]: 0}
    assert list(summary.answers(ROOM, SECOND.key).values()) == [1, 0, 0]
    assert summary.results(ROOM, "byhand") == [Result(0.85, 0.04, True), Result(0.9, 0.3, False)]
    assert summary.results(ROOM, "beyond") == []


def test_the_step_in_view_is_where_the_class_is_held_or_where_most_are():
    assert summary.step_in_view(ROOM) == 1  # as many as at step 2, and the earlier one waits
    assert summary.step_in_view(ROOM._replace(students=ROOM.students[:3])) == 2
    assert summary.step_in_view(ROOM._replace(pace=Pace(hold=4))) == 4
    assert summary.step_in_view(ROOM._replace(students=())) == 1


def test_a_table_with_a_row_per_student_and_nothing_that_names_one():
    rows = list(csv.DictReader(io.StringIO(summary.to_csv(ROOM))))
    assert [row["student"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["step"] for row in rows] == ["2", "2", "1", "1"]
    assert [row[f"answer_{FIRST.key}"] for row in rows] == [FIRST.options[1], FIRST.options[1], FIRST.options[0], ""]
    assert [row[f"passed_{STEPS[0].key}"] for row in rows] == ["1", "1", "0", "0"]
    assert [row["accuracy_byhand"] for row in rows] == ["", "0.85", "0.9", ""]
    assert [row["gap_byhand"] for row in rows] == ["", "0.04", "0.3", ""]
    assert [row["solved_byhand"] for row in rows] == ["", "1", "0", ""]
    assert summary.to_csv(ROOM._replace(students=())).count("\n") == 1
