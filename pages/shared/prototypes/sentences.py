"""Sentences of the prototypes page. Plain functions from numbers to words; names of a visitor's table are escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairglvq import wording
from fairglvq.explain import CellGroup, Contributions, Explained, Measure, Removal, Score, decision
from fairglvq.explain.decision import Change, Verdict
from fairglvq.explain.leaves import ExplainedTree
from fairglvq.explain.traits import Trait
from fairglvq.explain.view import View
from fairglvq.fairness.cells import Cells
from fairglvq.grammar import CLASS_COLOURS, GROUP_SHAPES, SHAPES, Theme
from fairglvq.intervals import SMALL
from fairglvq.report.templating import render
from fairglvq.scenes.scene import TITLES
from fairglvq.scenes.settings import Settings, points_of
from fairglvq.wording import AxisTrait
from pages.shared.prototypes.view import marks_of

MEASURES: dict[Measure, str] = {"statistical_parity": "Statistical parity", "equal_opportunity": "Equal opportunity"}
CLOSE = 0.05  # |mu| below which a decision is called a close one
CLOSE_SHARE = 0.1  # the same in a learned metric: if fewer people than this are decided about less clearly


def md(text: object) -> str:
    """A visitor's text inside Markdown: every sign of Markdown is escaped, line breaks become spaces.

    Addresses would become links even where their signs are escaped; an invisible joiner prevents that.
    """
    plain = re.sub(r"(?i)(?<=www)(?=\.)|(?<=:)(?=//)|(?<=@)", "\N{WORD JOINER}", " ".join(str(text).split()))
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", plain)


def quoted(text: object) -> str:
    """A name in quotation marks, for Markdown."""
    return md(wording.quoted(text))


# ---- the model ----


def summary(view: View, method: str) -> str:
    """One paragraph on the model, its accuracy and its gaps."""
    explained, settings = view.cells(method), view.settings
    score, n = explained.score, len(explained.answers)
    with_c = f" with C = {settings.C:g}"
    allowed = f", allowed a gap of {points_of(settings.max_gap)},"
    strength = {"fairglvq": with_c, "fairtree": with_c, "paritylvq": allowed}.get(method, "")
    noun = "leaves" if isinstance(explained, ExplainedTree) else f"prototypes{_where(explained)}"
    if isinstance(explained, Explained) and explained.model.blind:
        strength = f", blind along {explained.model.blind} of {view.people.X.shape[1]} directions,"
    text = (
        f"**{TITLES[method]}**{strength} decides with {n} {noun}{_fold(settings)}. Measured on "
        f"{view.measured_words}, "
        f"**{wording.percent(score.accuracy)}** of its decisions are right."
    )
    if math.isnan(score.statistical_parity):
        return f"{text} There are no two groups to compare."
    text += " " + _gap(view, explained, "statistical_parity")
    return text if math.isnan(score.equal_opportunity) else f"{text} {_gap(view, explained, 'equal_opportunity')}"


LAW = (
    "The law usually forbids deciding by such an attribute, and asks for a good reason where a rule that does not "
    "name it still puts one group at a disadvantage."
)


def protected(view: View, method: str) -> str:
    """Whether the model sees the group, how many decisions hang on it alone, and what the law usually asks."""
    found, name = decision.flip_counts(view.people, view.cells(method).model), quoted(view.people.group_column)
    if found is not None:
        changed, n = (sum(counts) for counts in found)
        sentence = f"The model sees {name}. If nothing but this changed, {changed:,} of {n:,} decisions would change"
    elif decision.named_after_group(view.people):
        sentence = f"The model sees {name} only together with other values, so it cannot be changed alone"
    else:
        sentence = f"The model does not see {name}: no decision changes if only this does. Other columns may reveal it"
    return f"**Protected attribute.** {sentence}. {LAW}"


def _where(explained: Explained) -> str:
    """Where a model decides that has learned how much each direction counts, or a few directions to decide by."""
    omega = explained.model.omega
    if omega is None:
        return ""
    if len(omega) >= explained.people.X.shape[1]:
        return " by a distance that it has learned"
    return " in a plane that it has learned" if len(omega) == 2 else f" by {len(omega)} directions that it has learned"


def _fold(settings: Settings) -> str:
    """Where a model opened from a curve comes from."""
    if settings.fold is None:
        return ""
    folds, fold, seed = settings.fold
    return f" (fold {fold + 1} of {folds} of a trade-off curve, seed {seed})"


def _gap(view: View, explained: Cells, measure: Measure) -> str:
    """A gap in people; where one of the groups is small, with that caution."""
    parts, (rates, n) = explained.contributions(measure), explained.rates(measure)
    (behind, less), (ahead, more) = (
        (md(view.who[g]), wording.of_hundred(rates[g])) for g in (parts.behind, parts.ahead)
    )
    few = [f"{n[g]} {md(view.who[g])}" for g in (parts.behind, parts.ahead) if n[g] < SMALL]
    caution = f" (uncertain: there are only {wording.listed(few)})" if few else ""
    if measure == "statistical_parity":
        wanted = quoted(view.people.classes[view.people.favourable])
        shares = f"Of 100 {behind}, {less} get {wanted}; of 100 {ahead}, {more}: a"
    else:
        shares = f"Among those whose true label it is, {less} of 100 {behind} get it and {more} of 100 {ahead}: an"
    return f"{shares} {MEASURES[measure].lower()} gap of **{wording.points(parts.gap)} points**{caution}."


def waterfall_caption(view: View, parts: Contributions) -> str:
    """Why most bars are of one class, and which group is ahead."""
    wanted = quoted(view.people.classes[view.people.favourable])
    who = [md(view.who[g]) for g in (parts.ahead, parts.behind)]
    whom = " among those whose true label is the same" if parts.measure == "equal_opportunity" else ""
    return (
        f"Only prototypes that decide {wanted} can add to the gap. A bar upwards: a larger part of all {who[0]} than "
        f"of all {who[1]} is in that cell{whom}. A hatched bar downwards narrows the gap. Together they are exactly "
        "the gap on the right."
    )


def own_plane(axes: Sequence[Sequence[AxisTrait]]) -> str:
    """What the directions of a plane mean in which a model decides."""
    across, up = (md(wording.axis_direction(axis)) or "nothing" for axis in axes)
    return (
        f"The map is the plane in which the model decides: nothing else counts. To the right: {across}. Upwards: {up}."
    )


def far_away(far: int) -> str:
    """Where prototypes are drawn that lie far from everybody; empty if none does."""
    if not far:
        return ""
    verbs = ("lies", "is") if far == 1 else ("lie", "are")
    return f" {wording.count(far, 'prototype')} {verbs[0]} far from all people and {verbs[1]} drawn at the edge."


# ---- a card ----


def noun(view: View, method: str) -> str:
    """What the cells of a method are of."""
    return "prototype" if method in view.models else "leaf"


def heading(view: View, method: str, p: int, theme: Theme, level: int = 3) -> str:
    """HTML: the mark of a prototype or leaf, number, class and pseudo-class."""
    marks = marks_of(view, method)
    return render(
        "prototype_heading.html.j2",
        level=level,
        noun=noun(view, method).capitalize(),
        number=p + 1,
        colour=CLASS_COLOURS[marks.labels[p]].mark(theme),
        glyph=SHAPES[GROUP_SHAPES[marks.pseudo[p]]].glyph,
        decides=marks.classes[marks.labels[p]],
        mostly=marks.groups[marks.pseudo[p]],
    )


def size(view: View, explained: Explained, p: int) -> str:
    """How many people a prototype decides for."""
    n, all_of_them = int(explained.sizes[p]), explained.score.n
    if n == 0:
        return f"It decides for none of the {view.measured_words}."
    return f"It decides for **{wording.percent(n / all_of_them)}** of them: {n:,} of {view.measured_words}."


BEYOND = (
    "Training may push a prototype to where nobody is; these values are beyond everybody in the data. Shares of a "
    "category are then cut at 0 and brought to 100% to be read."
)


def aside(distance: float) -> str:
    """Where training took a prototype off all places that the model can see."""
    return (
        f"Training has pushed this prototype {distance:.2f} aside from every place where INP can put a person (the "
        "range of one feature is 1). That is equally far for everybody, so no column tells it."
    )


def trait(found: Trait, most: int = 3) -> str:
    """A number, or the largest shares of a category."""
    if not found.shares:
        return found.words()
    order = np.argsort(-np.array(found.shares), kind="stable")[:most]
    return ", ".join(found.words(int(c)) for c in order if wording.percent(found.shares[c], 0) != "0%")


def mix(names: Sequence[str], counts: Sequence[int]) -> str:
    """Counts and shares by name; a name may be a number itself, so it stands in quotation marks."""
    return wording.counted([quoted(name) for name in names], counts, shares=True)


def contribution(view: View, explained: Cells, p: int) -> str:
    """What a cell adds to both gaps, in people."""
    parts, rows = explained.contributions(), explained.cell(p)
    wanted = view.people.favourable
    if math.isnan(parts.gap):
        return "There are no two groups to compare."
    (ahead, more), (behind, less) = (
        (md(view.who[g]), wording.of_hundred(rows[g].share_of_group)) for g in (parts.ahead, parts.behind)
    )
    here = f"Of 100 {ahead}, {more} are in this cell; of 100 {behind}, {less}"
    value = parts.values[p]
    if value == 0.0:
        nobody = f": nobody here gets {quoted(view.people.classes[wanted])}"
        return f"{here}. It adds nothing to the gap{'' if explained.answers[p] == wanted else nobody}."
    verb, way = ("adds", "to") if value > 0 else ("takes", "off")
    sentence = f"{here}: it **{verb} {wording.points(abs(value))} points** {way} the parity gap."
    chance = explained.contributions("equal_opportunity").values[p]
    if math.isnan(chance):
        return sentence
    return f"{sentence} Its part in the opportunity gap is {wording.signed_points(chance)} points."


def removal(view: View, removed: Removal) -> str:
    """What would happen without a prototype."""
    text = f"{_score_change(removed.before, removed.after)}. "
    if not removed.changed:
        return text + "Nobody would get another decision."
    moves = []
    for counts, verb in ((removed.gained, "gain"), (removed.lost, "lose")):
        who = [f"{n:,} {md(word)}" for n, word in zip(counts, view.who, strict=True) if n]
        if who:
            moves.append(f"{wording.listed(who)} would {verb} the favourable decision")
    text += f"{wording.people(removed.changed)} would get another decision"
    return f"{text}: {'; '.join(moves)}." if moves else f"{text}, none of them the favourable one or away from it."


def _score_change(before: Score, after: Score) -> str:
    parity = f"{wording.points(before.statistical_parity)} → {wording.points(after.statistical_parity)}"
    chance = f"{wording.points(before.equal_opportunity)} → {wording.points(after.equal_opportunity)}"
    return (
        f"Accuracy {wording.percent(before.accuracy)} → {wording.percent(after.accuracy)}, parity gap {parity} points, "
        f"opportunity gap {chance} points"
    )


def few(rows: Sequence[CellGroup], view: View) -> str:
    """A warning where rates rest on few people."""
    small = [f"{md(view.who[row.group])} (n = {row.n:,})" for row in rows if row.group >= 0 and row.n > 0 and row.small]
    return f"Small n, so these rates say little: {wording.listed(small)}." if small else ""


# ---- one person ----


def along_with(change: Change) -> str:
    """What changes together with a column: "and with it education Masters, all else the same"."""
    moved = [f"{md(name)} {md(wording.value(now))}" for name, _, now in change.also]
    return f"and with it {wording.listed(moved)}, all else the same" if moved else "all else the same"


def clarity(verdict: Verdict, explained: Explained) -> str:
    """How clear a decision is: by mu, or in a learned metric by how many people are decided about less clearly."""
    if explained.model.omega is None:
        size, close = abs(verdict.mu), CLOSE
    else:
        size, close = float(np.mean(explained.margins[explained.people.measured] < abs(verdict.lead))), CLOSE_SHARE
    if size < close:
        return "a close call"
    return "clear" if size > 4 * close else "fairly clear"


def leaf_accuracy(explained: ExplainedTree, x: NDArray[np.float64]) -> str:
    """How often the leaf of a scaled person is right."""
    here = explained.cell(int(explained.model.tree.apply(x[None])[0]))[-1]
    return f"right for {wording.percent(here.accuracy, 0)} of its leaf" if here.n else "nobody else in its leaf"
