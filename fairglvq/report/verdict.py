"""The first page of a report in words: gap and accuracy, beside a model without a fairness term; losers; sign-off."""

from __future__ import annotations

import math

from fairglvq.intervals import SMALL
from fairglvq.report.content import Report, rates
from fairglvq.wording import capital, gap, listed, of_hundred, percent, quoted, shown_difference

CELLS = {"prototype": "typical cases", "leaf": "leaves of a tree"}


def headline(report: Report) -> str:
    """The gap in people, and what the same data give without a fairness term."""
    parity, before = report.gaps[0], report.baseline
    if math.isnan(parity.value):
        return f"There are no two groups to compare. {percent(report.accuracy.value)} of the decisions are right."
    sentence = f"{rates(report)}: a gap of {gap(parity.value)}."
    if before is None or math.isnan(before.gaps[0].value):
        return sentence
    return f"{sentence} {_beside(parity.value, before.gaps[0].value, before.method)}"


def _beside(value: float, before: float, method: str) -> str:
    change = f"{method}, trained for accuracy alone, has a gap of {gap(before)}"
    if gap(value) == gap(before):
        return f"{change}: the same."
    apart = gap(abs(shown_difference(before, value)))
    return f"{change}: this one is {apart} {'narrower' if value < before else 'wider'}."


def price(report: Report) -> str:
    """How many decisions are right, and how many are with accuracy alone in mind."""
    now, before = report.accuracy.value, report.baseline
    sentence = f"Of 100 decisions, {of_hundred(now)} are right"
    if before is None:
        return f"{sentence}."
    less = before.accuracy.value - now
    how = "as many as" if gap(abs(less)) == gap(0.0) else f"{gap(abs(less))} {'fewer' if less > 0 else 'more'} than"
    return f"{sentence} ({percent(now)}), {how} with {before.method} ({percent(before.accuracy.value)})."


def who_loses(report: Report) -> list[str]:
    """Per group, how many lose and how many gain the favourable decision next to the baseline."""
    before = report.baseline
    if before is None:
        return []
    wanted = quoted(report.data.favourable)
    return [
        f"{capital(group.who)}: {lost:,} {'loses' if lost == 1 else 'lose'} {wanted} and {gained:,} "
        f"{'gains' if gained == 1 else 'gain'} it, of {group.n:,} measured."
        for group, gained, lost in zip(report.groups, before.gained, before.lost, strict=True)
    ]


def cautions(report: Report) -> list[str]:
    """Warnings where few people were measured."""
    parity, sentences = report.gaps[0], []
    if parity.value > 0 >= parity.low:
        sentences.append("With this many people measured, such a gap may be chance.")
    small = [group.who for group in report.groups if group.n < SMALL]
    if small:
        sentences.append(f"Fewer than {SMALL} {listed(small)} were measured: take their rates with care.")
    return sentences


def decided(report: Report) -> dict[str, str]:
    """What was decided, and by whom."""
    data = report.data
    chosen = "; ".join([f"{name}: {value}" for name, value in report.settings.items()][:4])
    parity = report.gaps[0].value
    ask = "" if math.isnan(parity) else f"whether a gap of {gap(parity)} can be accepted, and who answers for it."
    return {
        "People, before training": (
            f"that {quoted(data.favourable)} is the favourable outcome of {quoted(data.label_column)}, that groups are "
            f"compared by {quoted(data.group_column)}, and the method, {report.method}"
            f"{f' ({chosen})' if chosen else ''}."
        ),
        "The computer, by training": (
            f"the {len(report.cards)} {CELLS[report.cells]} by which it decides, and with them every single decision: "
            "no person takes part in it."
        ),
        "Still to be decided by people": ask or "whether the model may be used, and who answers for it.",
    }
