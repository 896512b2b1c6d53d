"""How far a teacher lets a class go."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Limits that the teacher sets for all students."""

    hold: int | None = None
    """Students cannot enter steps beyond this one."""
    revealed: bool = False
    """Whether the step at which the class is held goes on after the prediction."""
    opened: int = 0
    """Students may enter the steps up to this one without passing the gates before it."""

    def allows(self, step: int, passed: bool) -> bool:
        """Whether a student may enter a step; ``passed`` says whether the gates before it are."""
        return (self.hold is None or step <= self.hold) and (passed or step <= self.opened)

    def hides_outcome(self, step: int) -> bool:
        """Whether a step waits, after the prediction, until the teacher goes on."""
        return step == self.hold and not self.revealed
