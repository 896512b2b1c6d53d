"""Numbers, names and lists in words: one test per idea, by example."""

import math

import pytest

from fairglvq import wording

MINUS = "\N{MINUS SIGN}"
NAN = math.nan


@pytest.mark.parametrize(
    ("value", "decimals", "words"),
    [
        (0, 0, "0"), (1234.56, 1, "1,234.6"), (-1234.56, 0, f"{MINUS}1,235"), (-0.04, 1, "0.0"), (-0.0, 2, "0.00"),
        (-0.06, 1, f"{MINUS}0.1"), (NAN, 1, "unknown"),
    ],
)  # fmt: skip
def test_number(value, decimals, words):
    assert wording.number(value, decimals) == words


@pytest.mark.parametrize(("value", "words"), [(2.04, "+2.0"), (-2, f"{MINUS}2.0"), (0.04, "0.0"), (NAN, "unknown")])
def test_signed(value, words):
    assert wording.signed(value, 1) == words


@pytest.mark.parametrize(
    ("share", "decimals", "words"),
    [
        (0, 0, "0%"), (0.004, 0, "under 1%"), (0.006, 0, "1%"), (1, 0, "100%"), (0.996, 1, "99.6%"),
        (0.0004, 1, "under 0.1%"), (0.0006, 1, "0.1%"), (0.12345, 1, "12.3%"), (NAN, 1, "unknown"),
    ],
)  # fmt: skip
def test_percent(share, decimals, words):
    assert wording.percent(share, decimals) == words


def test_gaps_have_one_unit():
    assert wording.gap(0.0718) == "7.2 points"
    assert wording.gap(math.nan) == "unknown"
    assert wording.in_hundredths([0.07, 0.29]).tolist() == [7.0, 29.0]
    assert [wording.at_most(gap) for gap in (0.0714, 0.07, 0.0, 0.28)] == [0.072, 0.07, 0.0, 0.28]


def test_a_difference_is_that_of_what_is_shown():
    a, b = 0.99375, 0.89531  # shown as 99.4% and 89.5%; 9.84 points apart
    assert wording.points(wording.shown_difference(a, b)) == "9.9"


def test_points_of_a_gap():
    assert [wording.points(share) for share in (0.1234, -0.05, 0, NAN)] == ["12.3", f"{MINUS}5.0", "0.0", "unknown"]
    assert [wording.signed_points(share) for share in (0.1234, -0.05, 0)] == ["+12.3", f"{MINUS}5.0", "0.0"]
    assert wording.interval(-0.015, 0.123) == f"{MINUS}1.5 to 12.3"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0"), (0.004, "0.4"), (0.123, "12"), (0.996, "99.6"), (1, "100"), (NAN, "unknown")],
)
def test_of_hundred(share, words):
    assert wording.of_hundred(share) == words


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("yes", "yes"), (3, "3"), (12345.0, "12,345"), (-2.5, f"{MINUS}2.5"), (1 / 3, "0.333333"), (NAN, "nan"),
        (math.inf, "inf"),
    ],
)  # fmt: skip
def test_value_of_a_column(found, words):
    assert wording.value(found) == words


def test_a_border_has_all_digits():
    assert wording.value(1234.56789012, 12) == "1234.56789012"


@pytest.mark.parametrize(("found", "words"), [(3.0, "3"), (-2.0, "-2"), (0.1, "0.1"), (1e20, "1" + 20 * "0")])
def test_exact_number(found, words):
    assert wording.exact(found) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "about 1 s to go"), (89, "about 89 s to go"), (120, "about 2 min to go"), (5400, "about 1.5 h to go")],
)
def test_time_left(seconds, words):
    assert wording.time_left(seconds) == words


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 rows"), (1, "1 row"), (1.0, "1 row"), (20.0, "20 rows"), (0.5, "0.5 rows"), (1234567, "1,234,567 rows")],
)
def test_count_with_a_noun(n, words):
    assert wording.count(n, "row") == words


def test_people_and_rows():
    assert [wording.people(n) for n in (1, 2000)] == ["1 person", "2,000 people"]
    assert [wording.rows(n) for n in (1, 2000)] == ["1 row", "2,000 rows"]


def test_counts_by_name():
    assert wording.counted(["“1”", "“0”"], [3, 1000]) == "3 “1”, 1,000 “0”"
    assert wording.counted(["“1”", "“0”"], [3, 7], shares=True) == "3 “1” (30.0%), 7 “0” (70.0%)"
    assert wording.counted(["“1”", "“0”"], [0, 0], shares=True) == "0 “1”, 0 “0”"


def test_small_n():
    assert [wording.n_equals(n, n < 30) for n in (12, 1200)] == ["n = 12, small n", "n = 1,200"]
    assert [wording.flagged("women", small) for small in (True, False)] == ["women (small n)", "women"]


@pytest.mark.parametrize(
    ("items", "most", "words"),
    [
        ([], None, ""), (["a"], None, "a"), (["a", "b"], None, "a and b"), (["a", "b", "c"], None, "a, b and c"),
        (["a", "b", "c"], 3, "a, b and c"), (["a", "b", "c", "d"], 2, "a, b and 2 more"),
    ],
)  # fmt: skip
def test_listed(items, most, words):
    assert wording.listed(items, most) == words


def test_cut():
    assert [wording.cut(text, 5) for text in ("short", "longer", 1234567)] == ["short", "long…", "1234…"]


def test_quoted():
    assert wording.quoted("age") == "“age”"
    assert wording.quoted("x" * 61) == "“" + "x" * 59 + "…”"
    assert wording.quoted("גיל") == "“\u2068" + "גיל" + "\u2069”"


def test_quoted_names():
    assert wording.quoted_names(["a", 1]) == "“a” and “1”"
    assert wording.quoted_names("abcdefgh") == "“a”, “b”, “c”, “d”, “e”, “f” and 2 more"


def test_articles_and_both():
    assert [wording.with_article(noun) for noun in ("gap", "equal opportunity gap")] == [
        "a gap",
        "an equal opportunity gap",
    ]
    assert [wording.all_of(n) for n in (2, 3, 1200)] == ["both", "all 3", "all 1,200"]


@pytest.mark.parametrize(
    ("value", "decimals", "text"), [(2020.73, 2, "2020.73"), (-1987, 0, "\N{MINUS SIGN}1987"), (12345, 0, "12,345")]
)
def test_a_year_in_a_table_has_no_mark_of_thousands(value, decimals, text):
    assert wording.of_column(value, decimals) == text
