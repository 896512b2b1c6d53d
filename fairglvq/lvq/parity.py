"""Training to a given gap: the loss of soft decisions plus a price on the gap between groups, and the search for it.

A soft decision is σ(m / T), m being how much closer the favourable side is. As T falls, soft decisions become the hard
ones, and their mean loss the error rate. The price of the gap is the multiplier of an augmented Lagrangian: after every
round it changes by how far the gap of the hard decisions on the training set is from the one allowed (dual ascent).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairglvq.lvq.activations import sigmoid
from fairglvq.lvq.initialisers import class_kmeans
from fairglvq.lvq.projected import Pair, Projected, gradient, minimise, pair_up

SMOOTH = 1e-3
"""Gaps below this are rounded off, so that the cost has a gradient at a gap of 0."""

TEMPERATURES = (0.6, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2)
"""T of each round of training, in medians of |m|."""

STIFFNESS = 20.0
"""How fast the price of the gap rises where it is beyond the one allowed."""


class Rates(NamedTuple):
    """Group means that should be alike: of everybody, or only of those with (or without) the favourable label."""

    member: np.ndarray  # (n,) place of the group among those counted; the last place is for those who are not
    counts: np.ndarray  # (G,)

    def means(self, q) -> np.ndarray:
        """Mean of q (n,) per group."""
        return np.bincount(self.member, q, len(self.counts) + 1)[:-1] / self.counts

    def gap(self, q) -> float:
        """Largest difference between two groups."""
        return float(np.ptp(self.means(q)))

    def smooth_gap(self, q) -> tuple[float, np.ndarray]:
        """sqrt(2 Σ (rate - mean rate)²), which is the gap of two groups, and its derivative by q."""
        rates = self.means(q)
        off = rates - rates.mean()
        gap = float(np.sqrt(2 * (off**2).sum() + SMOOTH**2))
        return gap, np.append(2 * off / gap / self.counts, 0.0)[self.member]


COUNTED: dict[str, Callable[[np.ndarray], tuple[np.ndarray, ...]]] = {
    "statistical_parity": lambda favourable: (np.ones_like(favourable),),
    "equal_opportunity": lambda favourable: (favourable,),
    "equalized_odds": lambda favourable: (favourable, ~favourable),
}
"""Who is counted by each measure: one set of people per gap, from who has the favourable label."""


def rates_of(measure: str, favourable: np.ndarray, groups: np.ndarray) -> tuple[Rates, ...]:
    """The rates that a measure compares; sets with fewer than two groups compare nothing."""
    compared = []
    for counted in COUNTED[measure](favourable):
        present, places = np.unique(groups[counted], return_inverse=True)
        if len(present) > 1:
            member = np.full(len(groups), len(present))
            member[counted] = places
            compared.append(Rates(member, np.bincount(places)))
    return tuple(compared)


def standard_error(rates: tuple[Rates, ...], decided: np.ndarray) -> float:
    """Of the gap, if decisions were drawn anew: the largest over all pairs of groups."""
    errors = [0.0]
    for one in rates:
        means = one.means(decided)
        errors.append(float(np.sqrt(np.sort(means * (1 - means) / one.counts)[-2:].sum())))
    return max(errors)


class People(NamedTuple):
    """A training set, as far as costs need it."""

    X: np.ndarray  # or CSR
    y: np.ndarray  # (n,) class codes
    rates: tuple[Rates, ...]


class Layout(NamedTuple):
    """What stays as it is: classes of prototypes, the favourable class, Ω unless it is trained."""

    labels: np.ndarray  # (P,)
    n_classes: int
    favourable: int
    train_omega: bool


class Margins(NamedTuple):
    """Images, and how clearly each point is decided, for its true class and for the favourable one."""

    Z: np.ndarray  # (n, r)
    own: Pair  # the closest prototypes of the true class and of another
    favourable: Pair | None  # likewise of the favourable class; None with two classes: the same two prototypes
    ahead: np.ndarray  # (n,) by how much the favourable class is closer


def margins(people: People, model: Projected, layout: Layout, Z=None) -> Margins:
    """Compare every point with the prototypes that matter for it."""
    Z = model.project(people.X) if Z is None else Z
    own = pair_up(Z, model, layout.labels, people.y)
    if layout.n_classes == 2:
        return Margins(Z, own, None, np.where(people.y == layout.favourable, own.advantage, -own.advantage))
    favourable = pair_up(Z, model, layout.labels, np.full(len(Z), layout.favourable))
    return Margins(Z, own, favourable, favourable.advantage)


class Prices(NamedTuple):
    """Prices of gaps: ``multipliers`` (one per rate compared) at the gap allowed, and more beyond it."""

    multipliers: np.ndarray
    allowed: float

    def of(self, k: int, gap: float) -> tuple[float, float]:
        """Cost of a gap, and its slope: the augmented Lagrangian of gap <= allowed."""
        slope = max(0.0, self.multipliers[k] + STIFFNESS * (gap - self.allowed))
        return (slope**2 - self.multipliers[k] ** 2) / (2 * STIFFNESS), slope


def cost(people: People, model: Projected, layout: Layout, T: float, prices: Prices | None, Z=None):
    """Mean loss of the soft decisions, plus the price of their gaps; with its gradient as a model.

    With prices the loss is the chance of a wrong decision, σ(-m / T); without, the log loss, which is easier to start
    with.
    """
    Z, own, favourable, ahead = margins(people, model, layout, Z)
    n, X = len(Z), people.X if layout.train_omega else None
    right = sigmoid(own.advantage / T, 1.0)
    if prices is None:
        total = np.logaddexp(0.0, -own.advantage / T).mean()
        return total, gradient(X, Z, model, own.who, _by_distance(-(1 - right) / T / n))
    total, slope = (1 - right).mean(), -right * (1 - right) / T / n
    q = sigmoid(ahead / T, 1.0)
    favoured = np.zeros(n)
    for k, rates in enumerate(people.rates):
        gap, by_q = rates.smooth_gap(q)
        price, by_gap = prices.of(k, gap)
        total += price
        favoured += by_gap * by_q
    favoured *= q * (1 - q) / T
    if favourable is None:
        slope += np.where(people.y == layout.favourable, favoured, -favoured)
        return total, gradient(X, Z, model, own.who, _by_distance(slope))
    who = np.concatenate([own.who, favourable.who], axis=1)
    return total, gradient(X, Z, model, who, np.hstack([_by_distance(slope), _by_distance(favoured)]))


def _by_distance(slope) -> np.ndarray:
    """∂cost/∂distance (n, 2) from ∂cost/∂m, where m = the rival's distance - the own one's."""
    return np.stack([-slope, slope], axis=1)


def descend(
    people: People, model: Projected, layout: Layout, T: float, prices: Prices | None, max_steps: int
) -> Projected:
    """The model after up to ``max_steps`` steps."""
    Z = None if layout.train_omega else model.project(people.X)
    trained = ("V", "handicaps", "omega") if layout.train_omega else ("V", "handicaps")
    return minimise(lambda one: cost(people, one, layout, T, prices, Z), model, trained, max_steps)[0]


class Round(NamedTuple):
    """The model after one round: its prices, and accuracy and gaps of its decisions on the training set."""

    model: Projected
    prices: Prices
    accuracy: float
    gaps: np.ndarray  # one per rate compared

    @property
    def gap(self) -> float:
        """The largest."""
        return float(self.gaps.max(initial=0.0))


def judge(people: People, model: Projected, layout: Layout, prices: Prices) -> Round:
    """Measure a model's hard decisions."""
    _, own, _, ahead = margins(people, model, layout)
    q = (ahead > 0).astype(float)
    gaps = np.array([rates.gap(q) for rates in people.rates])
    return Round(model, prices, float((own.advantage > 0).mean()), gaps)


Report = Callable[[float], None]
"""Called with the share of rounds done; may raise to stop the work."""


def train(
    people: People, start: Projected, layout: Layout, allowed: float, max_steps: int, report: Report | None = None
) -> list[Round]:
    """Models with gaps that approach ``allowed``: the first trained on the label alone, then one per round."""
    prices = Prices(np.zeros(len(people.rates)), allowed)
    model = descend(people, start, layout, _typical_margin(people, start, layout), None, 2 * max_steps)
    typical = _typical_margin(people, model, layout)
    steps = [judge(people, model, layout, prices)]
    for temperature in TEMPERATURES:
        if report:
            report(len(steps) / (len(TEMPERATURES) + 1))
        model = descend(people, model, layout, temperature * typical, prices, max_steps)
        steps.append(judge(people, model, layout, prices))
        risen = prices.multipliers + STIFFNESS * (steps[-1].gaps - allowed)
        prices = prices._replace(multipliers=np.maximum(0.0, risen))
    return steps


def best(steps: list[Round], allowed: float) -> Round:
    """The most accurate within the gap; if there is none, the one with the smallest gap."""
    within = [step for step in steps if step.gap <= allowed]
    return max(within, key=lambda step: step.accuracy) if within else min(steps, key=lambda step: step.gap)


def _typical_margin(people, model, layout) -> float:
    return float(np.median(np.abs(margins(people, model, layout).own.advantage))) or 1.0


class Task(NamedTuple):
    """All that training needs but the gap allowed, so that many gaps can share it."""

    people: People
    start: Projected
    layout: Layout
    omega: np.ndarray  # (r, d), or (d,) for a diagonal Ω
    error: float  # standard error of the gap of the true labels


class Outcome(NamedTuple):
    """What training to one gap found."""

    margin: float  # by which training aimed lower than the gap allowed
    steps: list[Round]
    found: Round


def prepare(X, codes, groups, layout: Layout, measure: str, metric: tuple[np.ndarray, np.ndarray], rng) -> Task:
    """The start of training; ``metric`` is Ω and the images to train on."""
    omega, images = metric
    wanted = codes == layout.favourable
    rates = rates_of(measure, wanted, groups)
    people = People(X if layout.train_omega else images, codes, rates)
    per_class = len(layout.labels) // layout.n_classes
    start = Projected(
        omega if layout.train_omega else np.eye(images.shape[1]),
        class_kmeans(images, codes, per_class, layout.n_classes, rng),
        np.zeros(len(layout.labels)),
    )
    return Task(people, start, layout, omega, standard_error(rates, wanted.astype(float)))


def settled(model: Projected, task: Task) -> Projected:
    """The same decisions by prototypes that stand among the people they decide for.

    Only differences of |z - v|² - b decide, so v may become c v + t for all prototypes at once if handicaps follow:
    b' = |v'|² - c (|v|² - b). Scale c and shift t bring prototypes as close to the means of their cells as possible. A
    prototype that decides for nobody goes back to its start, with the largest handicap that leaves it without people.
    """
    Z = model.project(task.people.X)
    cells = model.cells(Z)
    sizes = np.bincount(cells, minlength=len(model.V))
    used = np.flatnonzero(sizes)
    means = np.stack([Z[cells == j].mean(axis=0) for j in used])
    weights = sizes[used] / len(Z)
    v, m = (part - weights @ part for part in (model.V[used], means))
    length = float(weights @ (v**2).sum(axis=1))
    c = float(weights @ (v * m).sum(axis=1)) / length if length > 0 else 1.0
    if c <= 0:
        return model
    V = c * model.V + weights @ (means - c * model.V[used])
    handicaps = (V**2).sum(axis=1) - c * ((model.V**2).sum(axis=1) - model.handicaps)
    idle = np.flatnonzero(sizes == 0)
    V[idle] = task.start.V[idle]
    far = ((Z[:, None] - V[used]) ** 2).sum(axis=2) - handicaps[used]
    for j in idle:
        handicaps[j] = (((Z - V[j]) ** 2).sum(axis=1) - far.min(axis=1)).min()
        handicaps[j] -= 1e-9 * (1 + abs(handicaps[j]))
    return model._replace(V=V, handicaps=handicaps - handicaps[used].min())


def solve(task: Task, max_gap: float, max_steps: int, report: Report | None = None) -> Outcome:
    """Train to a gap, and choose the best round."""
    margin = min(task.error, max_gap / 2)
    allowed = max_gap - margin
    steps = train(task.people, task.start, task.layout, allowed, max_steps, report)
    steps = [step._replace(model=settled(step.model, task)) for step in steps]
    if not task.layout.train_omega:  # it was trained on images
        steps = [step._replace(model=step.model._replace(omega=task.omega)) for step in steps]
    # Dual ascent ends by alternating around the gap, by far less than another sample of people would change it.
    return Outcome(margin, steps, best(steps, allowed + task.error / 5))
