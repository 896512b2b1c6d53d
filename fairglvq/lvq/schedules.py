"""How a step size is lowered in the course of training, and when training ends."""

import numpy as np

# Each time the rate is lowered, it is divided by LOWERING; it has so many LEVELS, the first included.
LOWERING, LEVELS = 4.0, 3

# With a fair term, the parts of all epochs after which the rate is lowered.
PARTS = (0.8, 0.9)

# A cost that changes by more than so many times ``tol`` changes fast.
FAST = 100


class Timetable:
    """The factor of the first rate, by the epoch alone.

    This is for training with a fair term: its cost also changes by votes, and its slopes lack the pulls of simulated
    rivals.
    """

    watched = False  # whether costs are needed
    over = False  # whether training ends before its last epoch
    problem: str | None = None  # why the model may not be what it could be

    def __init__(self, max_epochs: int):
        self.epoch, self.turns = 0, [round(part * max_epochs) for part in PARTS]

    def see(self, cost: float) -> None:
        """Record the end of an epoch."""
        self.epoch += 1

    @property
    def factor(self) -> float:
        """What the first rate is multiplied with now."""
        return LOWERING ** -sum(turn <= self.epoch for turn in self.turns)


class Plateau:
    """The same by the cost of every epoch: the rate is lowered when the cost stays, and in the end training is over."""

    watched = True

    def __init__(self, tol: float, patience: int):
        self.tol, self.patience = tol, patience
        self.costs: list[float] = []
        self.lowest, self.waited, self.lowered = np.inf, 0, 0

    def see(self, cost: float) -> None:
        """Record an epoch's cost."""
        self.costs.append(cost)
        if cost < self.lowest - self.tol:  # smaller gains add up until they count
            self.lowest, self.waited = cost, 0
            return
        self.waited += 1
        if self.waited == self.patience:
            self.waited, self.lowered = 0, self.lowered + 1

    @property
    def factor(self) -> float:
        """What the first rate is multiplied with now."""
        return LOWERING**-self.lowered

    @property
    def over(self) -> bool:
        """Whether the cost has stayed at every level."""
        return self.lowered >= LEVELS

    @property
    def problem(self) -> str | None:
        """Why the model may not be what it could be."""
        window = min(self.patience, len(self.costs) // 2)
        if not window:
            return None
        before, last = np.mean(self.costs[-2 * window : -window]), np.mean(self.costs[-window:])
        if last > self.costs[0] + FAST * self.tol:
            return f"The cost rose from {self.costs[0]:.4f} to {last:.4f}. Give a learning_rate, or scale the features"
        if not self.lowered and before - last > FAST * self.tol:
            return f"The cost still fell fast in the last of {len(self.costs)} epochs. Raise max_epochs"
        return None
