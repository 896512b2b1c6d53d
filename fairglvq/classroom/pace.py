"""What a teacher asks of a whole class."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """What the teacher asks of all students."""

    hold: int | None = None
    """Nobody enters a step beyond this one."""
    revealed: bool = False
    """Whether the step at which the class is held goes on after the prediction."""
    opened: int = 0
    """Everybody may enter the steps up to this one, whether their gates are passed or not."""

    def allows(self, step: int, passed: bool) -> bool:
        """Whether a student may enter a step; ``passed`` says whether the gates before it are."""
        return (self.hold is None or step <= self.hold) and (passed or step <= self.opened)

    def hides_outcome(self, step: int) -> bool:
        """Whether a step waits, after the prediction, until the teacher goes on."""
        return step == self.hold and not self.revealed
