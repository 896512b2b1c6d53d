"""What a class did: counts by step and by answer, results of challenges, and all of it as a table."""

from __future__ import annotations

import csv
import io
from collections import Counter

from fairglvq.classroom.rooms import RoomView
from fairglvq.lesson.progress import Result
from fairglvq.lesson.steps import STEPS, challenges, questions


def at_steps(room: RoomView) -> dict[int, int]:
    """Number of students who look at each step."""
    found = Counter(student.progress.step for student in room.students)
    return {step.number: found[step.number] for step in STEPS}


def answers(room: RoomView, question: str) -> dict[str, int]:
    """Number of students who gave each answer, in the order of the options."""
    found = Counter(student.progress.answers.get(question) for student in room.students)
    return {option: found[option] for option in questions()[question].options}


def results(room: RoomView, challenge: str) -> list[Result]:
    """The best result of every student who tried a challenge."""
    return [student.progress.results[challenge] for student in room.students if challenge in student.progress.results]


def step_in_view(room: RoomView) -> int:
    """The step shown to the teacher: where the class is held, or else where most students are."""
    counts = at_steps(room)
    return room.pace.hold or max(counts, key=lambda step: counts[step])


def to_csv(room: RoomView) -> str:
    """A row per student: the step in view, every answer, every gate, every challenge."""
    tried = [(name, key) for key in challenges() for name in Result._fields]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ["student", "step"]
        + [f"answer_{key}" for key in questions()]
        + [f"passed_{step.key}" for step in STEPS]
        + [f"{name}_{key}" for name, key in tried]
    )
    for number, progress, _ in room.students:
        row: list[object] = [number, progress.step]
        row += [progress.answers.get(key, "") for key in questions()]
        row += [int(step.key in progress.passed) for step in STEPS]
        for name, key in tried:
            found = progress.results.get(key)
            value = "" if found is None else getattr(found, name)
            row.append(int(value) if isinstance(value, bool) else value)
        table.writerow(row)
    return text.getvalue()
