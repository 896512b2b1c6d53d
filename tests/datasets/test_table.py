"""Your own table: good files, every bad file we could think of as real bytes, plans, encodings, and the profile."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tables import people

from fairglvq import FairGLVQ, datasets
from fairglvq.datasets import german, table
from fairglvq.datasets.files import read_bundled
from fairglvq.datasets.table import Plan, TableError, build, guess, read, read_text, values_of, write
from fairglvq.datasets.table.plan import MOST_CATEGORIES, MOST_CLASSES, MOST_GROUPS
from fairglvq.datasets.table.profile import auc, profile, proxies
from fairglvq.experiments import evaluation
from fairglvq.fairness import limit
from fairglvq.grammar import CLASS_COLOURS, GROUP_SHAPES
from fairglvq.intervals import wilson
from fairglvq.report import scripts

GOOD = b"sex,age,town,hired\nf,31,Ulm,yes\nm,45,Bonn,no\nf,22,Ulm,no\nm,50,Ulm,yes\n"


PLAN = Plan(target="hired", favourable="yes", protected="sex")


def as_csv(frame):
    return frame.to_csv(index=False).encode()


def as_parquet(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def said(data):
    return " ".join(data.caveats)


# Reading


def test_a_plain_file():
    reading = read(GOOD, "people.csv")
    assert reading.summary == "4 rows and 4 columns, separated by commas."
    assert reading.notes == ()
    assert reading.frame.index.tolist() == [2, 3, 4, 5]  # as a spreadsheet counts
    assert reading.frame["age"].tolist() == [31.0, 45.0, 22.0, 50.0]
    assert reading.frame["sex"].tolist() == ["f", "m", "f", "m"]


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_separators_are_found(mark, word):
    reading = read(GOOD.replace(b",", mark.encode()))
    assert word in reading.summary
    pd.testing.assert_frame_equal(reading.frame, read(GOOD).frame)


def test_commas_inside_values_do_not_win_over_the_real_separator():
    frame = read(b"name;pay\nLee, Ada;1,5\nPoe, Bo;2,25\nRay, Cy;3\n").frame
    assert frame["name"].tolist() == ["Lee, Ada", "Poe, Bo", "Ray, Cy"]
    assert frame["pay"].tolist() == [1.5, 2.25, 3.0]  # a decimal comma, where commas do not separate


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_encodings(codec):
    frame = read("näme,größe\nÅsa,1\nZoë,2\nŁucja,3\n".encode(codec)).frame
    assert frame.columns.tolist() == ["näme", "größe"]
    assert frame["näme"].tolist() == ["Åsa", "Zoë", "Łucja"]


def test_windows_text_is_read_and_said():
    reading = read("ort,n\nKöln,1\nMünchen,2\n".encode("cp1252"))
    assert reading.frame["ort"].tolist() == ["Köln", "München"]
    assert "not UTF-8 (line 2)" in reading.notes[0]
    assert "Windows-1252" in reading.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The table is empty"),
        (b"\n  \n\r\n", "The table is empty"),
        (b"\xef\xbb\xbf", "The table is empty"),
        (b"a,b\n", "not a single row"),
        (b"a,b\n1,2\n3,\x81\xff\n", "Line 3 holds the byte 0x81"),
        (b"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8", "not UTF-16"),
        (b"\xef\xbb\xbfa,b\n1,\xff\n", "Line 2 holds the byte 0xFF, which is not UTF-8"),
        (b"\x89PNG\x00\x00\x00\x01\x02\x00\x03\xff", "a picture"),
        (b"\x7fELF\x00\x00\x00\x01\x02\x00\x03\xff", "not text"),
        (b"a,b\n1,2,3\n4,5\n6\n", r"Row 2 has 3 values, but the header names 2 columns .* There are 2 such rows"),
        (b"a,b\n1,2\n\n4,5,6\n", "Row 4 has 3 values"),  # blank rows count, as in a spreadsheet
        (b"a,b,c\n1,2,3\n4\n", "Row 3 has 1 value,"),
        (b'a,b\n1,"x\n3,4\n5,6\n', "In row 2 a quotation mark is opened and never closed"),
        (b'a,b\n1,"' + 200_000 * b"x" + b"\n", r"Row 2 cannot be read .* quotation mark"),
        (b"just\nwords\nhere\n", "Only one column"),
        (b"Dear all,\nthis is a letter, with commas\nBye, me\n", "Only one column"),
        (b"Staff in 2023\n\nname,pay\na,1\nb,2\n", r"Row 1 holds one value, but most rows below it hold 2"),
        (b"a,b,c\n1,2\n3,4\n", r"Row 2 has 2 values, .* So do all other rows"),
        (b"PK\x03\x04rest", "Excel"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"<!doctype html><table>", "web page"),
        (b'[{"a": 1}]', "JSON"),
        (b",".join(b"c%d" % i for i in range(1001)) + b"\n", "1,001 columns; at most 1,000"),
        (b"PAR1 but nothing more", "damaged"),
    ],
)
def test_bad_files_are_explained_in_one_sentence(content, message):
    with pytest.raises(TableError, match=message):
        read(content, "x.csv")


def test_a_parquet_name_does_not_make_a_parquet_file():
    with pytest.raises(TableError, match=r"“x\.parquet” is called Parquet"):
        read(GOOD, "x.parquet")


def test_ragged_rows_can_be_left_out_and_are_counted():
    content = b"a,b\n1,2\n3,4,5\n6\n7,8\n"
    with pytest.raises(table.RaggedError) as caught:
        read(content)
    assert caught.value.n == 2
    reading = read(content, skip_ragged=True)
    assert reading.frame["a"].tolist() == [1.0, 7.0]
    assert reading.frame.index.tolist() == [2, 5]
    assert "2 rows with too many or too few values were left out." in reading.notes


def test_a_separator_at_the_end_of_every_line_is_no_column():
    assert read(b"a,b,\n1,2,\n3,4,\n").frame.columns.tolist() == ["a", "b"]


def test_duplicate_and_nameless_columns_keep_everything():
    reading = read(b"age,,age,age (2)\n1,2,3,4\n5,6,7,8\n")
    assert reading.frame.columns.tolist() == ["age", "column 2", "age (3)", "age (2)"]
    assert reading.frame.iloc[0].tolist() == [1, 2, 3, 4]
    assert any("Columns 1 and 3 are both called “age”" in note for note in reading.notes)
    assert any("Column 2 has no name" in note for note in reading.notes)


def test_a_file_without_a_header_keeps_its_first_row():
    reading = read(b"1,2\n3,4\n")
    assert reading.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert reading.frame.index.tolist() == [1, 2]
    assert "numbers only" in reading.notes[0]


def test_missing_values_and_codes():
    frame = read(b"a,b,c,d\n1,x,007,\n?,NA,012,n/a\n 3 ,-, 100,null\n").frame
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["a"].dtype == float
    assert frame["b"].isna().tolist() == [False, True, True]
    assert frame["c"].tolist() == ["007", "012", "100"]  # zeros in front mean a code
    assert frame["d"].isna().all()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234", "56", "1,234,567"], [1234, 56, 1234567]),
        (["1,234.50", "7.25", "-1,000.00"], [1234.5, 7.25, -1000]),
        (["1.234,50", "7,25", "-3"], [1234.5, 7.25, -3]),
        (["12.5%", "7 %", "0%"], [12.5, 7, 0]),
        (["$1,200.50", "-$3.00", "$4"], [1200.5, -3, 4]),
        (["12,50 €", "7,00 €", ""], [12.5, 7, np.nan]),
        (["1'200", "12", "3'000"], [1200, 12, 3000]),
        (["1\u202f234", "56", "7\u00a0000"], [1234, 56, 7000]),
        (["\u22121.5", "2", "3"], [-1.5, 2, 3]),
        (["1.5", "inf", "-Infinity"], [1.5, np.inf, -np.inf]),
        (["#DIV/0!", "n.a.", "2"], [np.nan, np.nan, 2]),
    ],
)
def test_numbers_as_people_and_spreadsheets_write_them(cells, values):
    rows = "".join(f'x,"{cell}"\n' for cell in cells)
    np.testing.assert_array_equal(read(f"name,n\n{rows}".encode()).frame["n"], values)


@pytest.mark.parametrize(
    "cells",
    [["$1", "€2", "3"], ["12%", "13", "14"], ["1,23,4", "2", "3"], ["inf", "inf", "inf"], ["007", "1,000", "2"]],
)
def test_what_may_not_be_a_number_stays_text(cells):
    rows = "".join(f'x,"{cell}"\n' for cell in cells)
    assert read(f"name,n\n{rows}".encode()).frame["n"].tolist() == cells


def test_numbers_that_were_not_plain_are_said():
    reading = read(b'a,b,c\n1,"1,234",5%\n2,"2,500",6%\n')
    assert reading.notes == (
        "Numbers were read without their signs and separators: “1,234” in “b” as 1234, “5%” in “c” as 5.",
    )
    assert read(b"a;b\n1,5;2\n2,25;3\n").notes == ()


def test_one_decimal_comma_tells_what_the_other_commas_and_points_mean():
    assert read(b"a;b\n1,234;1\n2,500;2\n").frame["a"].tolist() == [1234, 2500]
    frame = read(b"a;b;c\n1,234;0,5;1.500\n2,500;2,25;2.000\n").frame
    assert frame["a"].tolist() == [1.234, 2.5]
    assert frame["c"].tolist() == [1500, 2000]


def test_a_word_among_numbers_is_said_with_its_row():
    cells = [*map(str, range(20, 40)), "unknown", "unknown"]
    reading = read(("name,age\n" + "".join(f"x,{cell}\n" for cell in cells)).encode())
    assert "“age” holds numbers, but not in 2 rows (row 22: “unknown”)" in reading.notes[0]
    assert read(("name,n\n" + "".join(f"x,{i}{'' if i % 2 else 'b'}\n" for i in range(20))).encode()).notes == ()


def test_a_line_that_tells_the_separator_is_no_header():
    reading = read(b"sep=;\r\na;b\r\n1;2\r\n")
    assert reading.frame.columns.tolist() == ["a", "b"]
    assert reading.summary == "1 row and 2 columns, separated by semicolons."


def test_formulas_stay_text_and_are_defused_when_written():
    frame = read(b'=cmd,b\n=1+1,-5\n"+A1",3\n@sum(x),-2.5\n-x,+4\n').frame
    assert frame["=cmd"].tolist() == ["=1+1", "+A1", "@sum(x)", "-x"]
    assert frame["b"].tolist() == [-5.0, 3.0, -2.5, 4.0]
    lines = write(frame).decode("utf-8-sig").splitlines()
    assert lines == ["'=cmd,b", "'=1+1,-5.0", "'+A1,3.0", "'@sum(x),-2.5", "'-x,4.0"]
    assert frame["=cmd"].tolist()[0] == "=1+1"  # the frame itself is left alone


def test_right_to_left_names_and_marks_that_turn_text_around():
    reading = read("גיל,\u202eexe.pay\na,1\nb,2\n".encode())
    assert reading.frame.columns.tolist() == ["גיל", "exe.pay"]
    assert any("control characters" in note for note in reading.notes)


def test_pasted_text_is_what_a_spreadsheet_copies():
    reading = read_text("sex\thired\nf\tyes\nm\tno\n")
    assert reading.frame.columns.tolist() == ["sex", "hired"]
    with pytest.raises(TableError, match="empty"):
        read_text("  ")


def test_a_million_rows_become_a_random_sample_that_is_said():
    n = 1_000_000
    lines = "\n".join(f"{i},{'f' if i % 2 else 'm'}" for i in range(n))
    reading = read(f"number,sex\n{lines}\n".encode(), most_rows=5000)
    assert reading.n_rows == n
    assert "The file has 1,000,000 rows: a random sample of 5,000 of them is used." in reading.notes
    chosen = reading.frame["number"].to_numpy()
    assert len(np.unique(chosen)) == 5000
    assert (np.diff(chosen) > 0).all()
    assert (reading.frame.index == chosen + 2).all()  # rows keep their numbers
    assert abs(chosen.mean() / n - 0.5) < 4 / np.sqrt(12 * 5000)
    again = read(f"number,sex\n{lines}\n".encode(), most_rows=5000)
    assert (again.frame["number"] == chosen).all()


@pytest.mark.parametrize("most", [None, 40])
def test_files_with_and_without_quotation_marks_are_read_alike(most):
    """Two ways through a file, one of them quicker."""
    rng = np.random.default_rng(0)
    lines = [
        f" {i} ,{rng.choice(['x', '', ' y z '])},{rng.integers(9)}{rng.choice(['', ',', ', ,'])}" for i in range(100)
    ]
    for row in (7, 50):
        lines.insert(row, "")
    lines.insert(60, " , ,")
    lines.insert(70, "1,2")
    lines.insert(80, "1,2,3,4")
    plain = ("a,b,c\r\n" + "\r\n".join(lines)).encode()
    quoted = plain.replace(b"a,b", b'"a","b"', 1)
    one, two = (read(content, skip_ragged=True, most_rows=most, seed=3) for content in (plain, quoted))
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert one.notes == two.notes
    assert one.n_rows == two.n_rows == 100
    for content in (plain, quoted):
        with pytest.raises(table.RaggedError, match=r"Row 72 has 2 values.*2 such rows"):
            read(content)


@pytest.mark.parametrize("quote", ["", '"'])
def test_progress_is_reported_and_may_stop_the_work(quote):
    content = f"a,b\n{quote}x{quote},1\n".encode() + b"y,2\n" * 120_000
    shares = []
    read(content, progress=shares.append)
    assert len(shares) == 3
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(content, progress=stop)


def test_progress_goes_on_while_a_sample_is_picked_in_a_second_pass():
    content = b'a,b\n"x",1\n' + b"y,2\n" * 220_000
    shares = []
    assert len(read(content, most_rows=100_000, progress=shares.append).frame) == 100_000
    assert shares == sorted(shares)
    early, late = [share for share in shares if share < 0.45], [share for share in shares if 0.45 < share < 0.9]
    assert len(early) == len(late) == 4


def test_parquet_types():
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "f": [0.5, np.nan, 2.0],
            "b": [True, False, None],
            "t": pd.Categorical(["x", "y", None]),
            "d": pd.to_datetime(["2020-01-01", "2021-07-01", None]),
            "l": [[1], [2, 3], None],
        }
    )
    reading = read(as_parquet(frame), "x.parquet")
    assert reading.summary == "3 rows and 6 columns, Parquet."
    found = reading.frame
    assert found["n"].tolist() == [1.0, 2.0, 3.0]
    assert found["b"].tolist()[:2] == ["true", "false"]
    assert found["t"].tolist()[:2] == ["x", "y"]
    assert found["d"].dt.year.tolist()[:2] == [2020, 2021]
    assert found["l"].tolist()[:2] == ["[1]", "[2, 3]"]
    assert found.isna().sum().tolist() == [0, 1, 1, 1, 1, 1]


def test_parquet_samples_and_limits(monkeypatch):
    content = as_parquet(pd.DataFrame({"i": range(200_000), "s": ["a", "b"] * 100_000}))
    reading = read(content, most_rows=1000)
    assert len(reading.frame) == 1000
    assert (reading.frame.index == reading.frame["i"] + 2).all()
    assert "200,000 rows: a random sample of 1,000" in reading.notes[0]
    monkeypatch.setattr("fairglvq.datasets.table.parquet.MOST_ROWS", 100_000)
    with pytest.raises(TableError, match=r"unpacks to 200,000 rows"):
        read(content)
    with pytest.raises(TableError, match="damaged"):
        read(content[:-50])
    with pytest.raises(TableError, match="not a single row"):
        read(as_parquet(pd.DataFrame({"a": [], "b": []})))


# Guessing


def test_kinds_are_guessed():
    n = 60
    frame = pd.DataFrame(
        {
            "customer id": range(1000, 1000 + n),
            "count": range(n),
            "pay": np.linspace(1, 2, n) ** 2,
            "smoker": ["yes", "no"] * (n // 2),
            "flag": [0.0, 1.0] * (n // 2),
            "town": ["a", "b", "c"] * (n // 3),
            "born": [f"19{i:02}-03-0{i % 9 + 1}" for i in range(n)],
            "day": [f"{i % 28 + 1}.12.2020" for i in range(n)],
            "remark": [f"person {i} said something" for i in range(n)],
            "empty": [None] * n,
            "same": ["x"] * n,
        }
    )
    plan = guess(frame)
    assert dict(plan.kinds) == {
        "customer id": "text", "count": "text", "pay": "number", "smoker": "binary", "flag": "binary",
        "town": "category", "born": "date", "day": "date", "remark": "text", "empty": "text", "same": "category",
    }  # fmt: skip
    assert set(plan.left_out) == {"empty", "same"}


def test_guesses_of_the_bundled_files():
    frame = read(read_bundled(german.FILE, german.SHA256).read()).frame
    plan = guess(frame)
    assert (plan.target, plan.favourable, plan.protected) == ("credit", "good", "sex")
    assert plan.immutable == ("sex", "age")
    plan = guess(frame.drop(columns="sex"))
    assert (plan.protected, plan.cut) == ("age", 33.0)


def test_another_column_is_no_stand_in_for_a_decision_that_cannot_be_used():
    frame = people(200).assign(hired="yes")
    assert guess(frame).target is None
    assert guess(frame.assign(member=["x", "y"] * 100).drop(columns="hired")).target == "member"
    assert guess(frame.drop(columns="hired")).target is None  # a town is no decision


def test_no_guess_is_better_than_a_wrong_one():
    plan = guess(pd.DataFrame({"x": [1.5, 2.5, 3.5], "z": [0.1, 0.2, 0.3]}))
    assert (plan.target, plan.favourable, plan.protected) == (None, None, None)


def test_german_credit_as_a_file_is_german_credit():
    """The same people, encoded the same way, up to the order of columns."""
    frame = read(read_bundled(german.FILE, german.SHA256).read()).frame
    plan = replace(guess(frame), protected="age", cut=25.0, left_out=("sex",), rare=0.0)
    data, bundled = build(frame, plan), datasets.load("german")
    np.testing.assert_array_equal(data.y, bundled.y)
    np.testing.assert_array_equal(data.s, bundled.s)
    assert data.group_names == {0: "under 25", 1: "25 or more"}
    assert data.X.shape == bundled.X.shape
    own = dict(zip(data.feature_names, data.X.T, strict=True))
    for name, column in zip(bundled.feature_names, bundled.X.T, strict=True):
        expected = column - 1 if name == "people_liable_for" else column  # 1 and 2 are two values: 0 and 1
        np.testing.assert_array_equal(own[name], expected, err_msg=name)
    assert data.group_column == "age group"
    assert data.frame["age"].tolist() == bundled.frame["age"].tolist()


# Building


def test_a_small_table_worked_by_hand():
    data = build(read(GOOD).frame, Plan(target="hired", favourable="yes", protected="sex", rare=0.0))
    assert data.name == "table"
    assert data.feature_names == ("sex", "age", "town")
    np.testing.assert_array_equal(data.X, [[0, 31, 1], [1, 45, 0], [0, 22, 1], [1, 50, 1]])
    assert data.blocks[2].categories == ("Bonn", "Ulm")
    assert data.y.tolist() == [1, 0, 0, 1]
    assert data.class_names == {0: "no", 1: "yes"}
    assert data.favourable == 1
    assert data.s.tolist() == [0, 1, 0, 1]
    assert data.group_names == {0: "f", 1: "m"}
    assert data.frame["hired"].tolist() == ["yes", "no", "no", "yes"]
    assert data.frame["age"].tolist() == [31, 45, 22, 50]


def test_the_favourable_class_is_the_last_one():
    frame = people(200).assign(hired=lambda f: f["hired"].map({"yes": "a", "no": "b"}))
    data = build(frame, replace(PLAN, favourable="a"))
    assert data.class_names == {0: "b", 1: "a"}
    assert data.favourable == 1
    assert (data.frame["hired"] == frame["hired"]).all()


def test_limits_are_those_of_the_pictures():
    assert len(CLASS_COLOURS) == MOST_CLASSES
    assert len(GROUP_SHAPES) == MOST_GROUPS


@pytest.mark.parametrize(
    ("changes", "plan", "message"),
    [
        ({"hired": "yes"}, {}, r"Column “hired” holds only “yes”"),
        ({"hired": np.arange(200)}, {"favourable": "7"}, r"Column “hired” has 200 different values.*cut"),
        ({"hired": None}, {}, "Column “hired” is empty in all rows"),
        ({"sex": "f"}, {}, "In column “sex” everybody is in the group “f”"),
        ({"sex": None}, {}, "Column “sex” is empty in all rows"),
        ({"sex": ["x", *["f", "m"] * 99, "f"]}, {}, "Only row 0 has “x” in column “sex”"),
        ({"hired": ["perhaps", *["yes", "no"] * 99, "no"]}, {}, "Only row 0 has “perhaps” in column “hired”"),
        ({"sex": [f"g{i % 9}" for i in range(200)]}, {}, "Column “sex” has 9 groups, but at most 6"),
        ({}, {"favourable": "maybe"}, "Choose the favourable value of column “hired”: “no”, “yes”"),
        ({}, {"target": None}, "Choose the column that is the target"),
        ({}, {"protected": None}, "Choose the column that is the protected attribute"),
        ({}, {"protected": "gender"}, "no column “gender”"),
        ({}, {"protected": "hired"}, "cannot be both"),
        ({}, {"protected": "age", "cut": 99.0}, "everybody is in the group “under 99”: choose another cut"),
        ({}, {"protected": "town", "cut": 3.0}, "Column “town” is to be a number, but row 0 holds"),
        ({}, {"kinds": {"town": "number"}}, "Column “town” is to be a number, but row 0 holds"),
        ({}, {"kinds": {"town": "date"}}, "Column “town” is to be a date, but row 0 holds"),
        ({}, {"kinds": {"town": "binary"}}, "Column “town” is to be binary, but it has 3"),
        ({}, {"kinds": {"town": "colour"}}, "Column “town” is to be 'colour'"),
        ({}, {"left_out": ("sex", "height", "town", "age")}, "No column is left"),
        ({}, {"rare": 1.5}, "from 0 to below 1"),
        ({}, {"missing": "hope"}, "none of drop, impute"),
        ({"age": [1e300, *[20.0] * 100, *[30.0] * 99]}, {}, r"Row 0 holds 1e\+300 in column “age”"),
        (
            {"age": [20.0, 30.0] + [None] * 198, "height": [None] * 2 + [1.0, 2.0] * 99},
            {},
            r"misses 198 of 200: leave it",
        ),
    ],
)
def test_bad_plans_and_columns_are_explained(changes, plan, message):
    frame = people(200).assign(**changes)
    with pytest.raises(TableError, match=message):
        build(frame, replace(PLAN, **plan))


def test_bad_frames_are_explained():
    with pytest.raises(TableError, match="Two columns are called “a”"):
        build(pd.DataFrame([[1, 2]], columns=["a", "a"]), PLAN)
    with pytest.raises(TableError, match="empty"):
        guess(pd.DataFrame())
    with pytest.raises(TableError, match="reset_index"):
        guess(pd.DataFrame({"a": [1, 2]}, index=[0, 0]))
    with pytest.raises(TableError, match="must be text"):
        guess(pd.DataFrame({3: [1, 2]}))


def test_a_target_with_500_values_can_be_cut_or_taken_against_the_rest():
    frame = people(600).assign(hired=np.arange(600) % 500)
    plan = replace(PLAN, target_cut=400.0)
    assert values_of(frame, plan, "hired") == ["under 400", "400 or more"]
    data = build(frame, replace(plan, favourable="400 or more"))
    assert data.y.sum() == 100
    assert data.class_names == {0: "under 400", 1: "400 or more"}
    assert data.label_column == "hired group"
    data = build(frame, replace(PLAN, favourable="7", others_as_one=True))
    assert data.class_names == {0: "all others", 1: "7"}
    assert data.y.sum() == 2


@pytest.mark.parametrize(
    ("wanted", "names"), [("no", ["all others", "yes", "no"]), ("all others", ["no", "yes", "all others"])]
)
def test_a_class_of_the_table_may_be_called_all_others(wanted, names):
    frame = people(90).assign(hired=["yes", "no", "all others"] * 30)
    data = build(frame, replace(PLAN, favourable=wanted))
    assert data.class_names == dict(enumerate(names))
    assert np.bincount(data.y).tolist() == [30, 30, 30]


def test_small_groups_are_flagged_merged_or_dropped():
    sex = ["f"] * 90 + ["m"] * 95 + ["x"] * 10 + ["y"] * 4 + ["z"]
    frame = people(200).assign(sex=sex)
    data = build(frame.iloc[:-1], PLAN)
    assert "fewer than 30 people, whose rates are uncertain: “x (10)” and “y (4)”" in said(data)
    data = build(frame, replace(PLAN, small_groups="merge"))
    assert data.group_names == {0: "f", 1: "m", 2: "other"}
    assert np.bincount(data.s).tolist() == [90, 95, 15]
    data = build(frame, replace(PLAN, small_groups="drop"))
    assert np.bincount(data.s).tolist() == [90, 95]
    assert "15 rows of groups of fewer than 30 were left out" in said(data)


@pytest.mark.parametrize("treated", ["merge", "drop"])
def test_groups_that_are_all_small_are_said_to_be_the_problem(treated):
    frame = people().assign(sex=[f"group {i % 100}" for i in range(300)])
    with pytest.raises(TableError, match="Fewer than two groups of column “sex” are left once those of fewer than 30"):
        build(frame, replace(guess(frame), small_groups=treated))


def test_rows_without_gaps_that_are_all_alike_are_said_to_be_the_problem():
    frame = pd.DataFrame(
        {
            "age": [30.0, 30.0, 30.0, 30.0, None, 32.0],
            "pay": [5.0, 5.0, 5.0, 5.0, 6.0, None],
            "sex": ["f", "m"] * 3,
            "hired": ["yes", "yes", "no", "no", "no", "no"],
        }
    )
    with pytest.raises(TableError, match=r"in the rows that are left \(4\): fill gaps instead of dropping rows"):
        build(frame, replace(PLAN, left_out=("sex",)))


def test_a_suggested_cut_has_no_more_digits_than_it_needs():
    frame = people().assign(score=np.random.default_rng(0).normal(size=300))
    cut = table.with_protected(frame, guess(frame), "score").cut
    assert len(f"{cut:g}") <= 6
    assert float(f"{cut:g}") == cut
    assert (frame.score < cut).sum() == 150


def test_many_large_groups_are_merged_into_what_pictures_can_show():
    frame = people(800).assign(sex=[f"g{min(i % 10, 8)}" for i in range(800)])
    data = build(frame, replace(PLAN, small_groups="merge"))
    assert len(data.group_names) == MOST_GROUPS
    assert data.group_names[5] == "other"
    assert np.bincount(data.s).sum() == 800


def test_missing_values_dropped():
    frame = people(200)
    frame.loc[3, "age"] = None
    frame.loc[[3, 5], "town"] = None
    frame.loc[7, "hired"] = None
    frame.loc[[9, 11], "sex"] = None
    data = build(frame, PLAN)
    assert len(data.y) == 195
    assert "1 row without a value in “hired” left out." in data.caveats
    assert "2 rows without a value in “sex” left out." in data.caveats
    assert "2 rows with a missing value left out (1.0% of all 200; most in “town” 2, “age” 1)." in data.caveats


def test_missing_values_imputed():
    frame = people(200)
    frame.loc[3, "age"] = None
    frame.loc[[3, 5], "town"] = None
    data = build(frame, replace(PLAN, missing="impute"))
    assert len(data.y) == 200
    median = frame["age"].median()
    assert data.X[3, data.feature_names.index("age")] == median
    assert data.X[:, data.feature_names.index("town=(missing)")].sum() == 2
    assert f"1 row without “age”: filled with the median of all, {median:g}." in data.caveats
    assert "2 rows without “town”: put into a category of their own." in data.caveats


def test_infinite_numbers_count_as_missing():
    frame = people(200)
    frame["age"] = frame["age"].astype(float)
    frame.loc[4, "age"] = np.inf
    assert len(build(frame, PLAN).y) == 199


def test_columns_without_a_use_are_left_out_and_said():
    frame = people(200).assign(
        nothing=None, same="x", id=[f"P{i}" for i in range(200)], secret=[1.5, 2.5, 3.5, 4.5] * 50
    )
    data = build(frame, replace(PLAN, left_out=("secret",)))
    assert {block.column for block in data.blocks} == {"sex", "height", "town", "age"}
    text = said(data)
    assert "does not see “secret”" in text
    assert "Empty in all rows and left out: “nothing”" in text
    assert "The same in all rows and left out: “same”" in text
    assert "Text or identifiers and left out: “id”" in text
    assert data.frame["id"].tolist()[:2] == ["P0", "P1"]  # still there to read


def test_two_thousand_categories():
    n = 20_000
    rng = np.random.default_rng(0)
    shop = np.where(rng.random(n) < 0.5, "main", [f"shop {i}" for i in rng.integers(0, 2000, n)])
    reading = read(as_csv(people(n).assign(shop=shop, street=[f"road {i % 2000}" for i in range(n)])))
    plan = guess(reading.frame)
    assert plan.kinds["shop"] == plan.kinds["street"] == "category"
    data = build(reading.frame, plan)
    # Only two values are left of the shops, and of the streets nothing.
    block = next(block for block in data.blocks if block.column == "shop")
    assert block.categories == ("main", "other")
    assert f"{len(set(shop)) - 1:,} rare values of “shop” ({(shop != 'main').sum():,} rows)" in said(data)
    assert "“street” has 2,000 values, each rarer than 1% of" in said(data)
    data = build(reading.frame, replace(plan, rare=0.0))
    widths = {block.column: len(block.categories) for block in data.blocks}
    assert widths["street"] == widths["shop"] == MOST_CATEGORIES + 1


def test_one_rare_value_keeps_its_name():
    frame = people(1000).assign(town=["Bonn"] * 600 + ["Ulm"] * 397 + ["Au"] * 3)
    block = next(block for block in build(frame, PLAN).blocks if block.column == "town")
    assert block.categories == ("Au", "Bonn", "Ulm")


@pytest.mark.parametrize(
    ("dates", "years"),
    [
        (["1990-07-02", "2000-01-01", "2010-01-01"], [1990.4983, 2000, 2010]),
        (["02.07.1990", "01.01.2000", "01.01.2010"], [1990.4983, 2000, 2010]),
        (["07/31/1990", "01/01/2000", "01/01/2010"], [1990.5777, 2000, 2010]),
        (["1990-07-02 12:00", "2000-01-01 00:00", "2010-01-01 00:00"], [1990.4997, 2000, 2010]),
    ],
)
def test_dates_become_decimal_years(dates, years):
    frame = people(300).assign(start=dates * 100)
    data = build(frame, PLAN)
    np.testing.assert_allclose(data.X[:3, data.feature_names.index("start")], years, atol=2e-4)
    assert "Dates became decimal years" in said(data)
    assert data.frame["start"].tolist()[:3] == dates


@pytest.mark.parametrize(
    ("dates", "years"),
    [
        (["0800-12-25", "2024-12-31"], [800.98, 2025.0]),  # long ago
        ([19900702, 20000101], [1990.5, 2000.0]),  # not recognised as dates, but said to be some
    ],
)
def test_a_column_is_a_date_if_the_plan_says_so(dates, years):
    data = build(people(100).assign(when=dates * 50), replace(PLAN, kinds={"when": "date"}))
    assert sorted(set(data.X[:, data.feature_names.index("when")].round(2))) == years


def test_days_before_months_are_said():
    frame = people(300).assign(start=["02/07/1990", "01/01/2000", "03/01/2010"] * 100)
    assert "“start” were read with the day first" in said(build(frame, PLAN))


def test_dates_of_a_parquet_file():
    frame = people(300).assign(start=pd.to_datetime(["1990-07-02", "2000-01-01", "2010-01-01"] * 100))
    reading = read(as_parquet(frame))
    data = build(reading.frame, replace(guess(reading.frame), target="hired", favourable="yes"))
    np.testing.assert_allclose(data.X[:3, data.feature_names.index("start")], [1990.4983, 2000, 2010], atol=2e-4)


def test_too_many_cells_are_sampled_and_said():
    data = build(people(1000), PLAN, most_cells=6 * 100)
    assert len(data.y) == 100
    assert "a random sample of 100 rows is used" in said(data)
    assert len(data.frame) == 100
    assert build(people(1000), PLAN, most_cells=6 * 1000).X.shape == (1000, 6)


def test_strange_names_travel_unharmed():
    script, rtl = "<script>alert(1)</script>", "מין"
    content = as_csv(people(200).rename(columns={"town": script, "sex": rtl, "age": "![x](http://evil.example/a.png)"}))
    reading = read(content)
    plan = replace(guess(reading.frame), target="hired", favourable="yes", protected=rtl, left_out=(script,))
    data = build(reading.frame, plan)
    assert data.group_column == rtl
    assert f"does not see “{script}”" in said(data)
    assert "![x](http://evil.example/a.png)" in data.feature_names


def test_library_frames_of_many_types():
    frame = people(200).assign(
        sex=lambda f: f["sex"].astype("category"),
        hired=lambda f: f["hired"] == "yes",
        age=lambda f: f["age"].astype("Int64"),
        mixed=[1, "a", "b", None] * 50,
    )
    frame.index = frame.index[::-1]
    data = build(frame, replace(PLAN, favourable="true", missing="impute"))
    assert data.class_names == {0: "false", 1: "true"}
    assert data.y.tolist() == frame["hired"].astype(int).tolist()
    assert len(data.blocks[-1].categories) == 4


# The data set works wherever another one does


@pytest.fixture(scope="module")
def mine():
    return build(read(as_csv(people(300))).frame, PLAN)


def test_it_evaluates_trains_and_has_a_limit(mine):
    rows = evaluation.evaluate(mine, "fairglvq", [0, 1], folds=3, store=False, learning_rate=0.03, max_epochs=5)
    assert rows["dataset"].unique().tolist() == ["table"]
    assert rows["accuracy"].between(0.3, 1).all()
    FairGLVQ(2, max_epochs=3, random_state=0).fit(mine.X / 200, mine.y, sensitive_features=mine.s)
    found = limit.estimate(mine, folds=3)
    assert 0.5 < np.max(found.accuracy) <= 1


def test_the_pages_can_load_it(mine):
    from fairglvq.scenes import points, sources
    from fairglvq.scenes import settings as state

    settings = state.for_table(sources.register(mine), mine)
    loaded = points.load_points(settings)
    assert loaded.classes == ["no", "yes"]
    assert loaded.groups == ["female", "male"]
    assert loaded.favourable == 1
    np.testing.assert_array_equal(loaded.y, mine.y)


def test_the_lines_of_a_script_make_the_same_data(tmp_path, monkeypatch, mine):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's.csv").write_bytes(as_csv(people(300)))
    names = {}
    exec(scripts.load_table(PLAN, "it's.csv"), names)
    assert names["data"].fingerprint == mine.fingerprint


# The profile


def test_wilson_against_published_numbers():
    """Newcombe (1998), Statistics in Medicine 17, table I: 81/263, 15/148, 0/20, 1/29."""
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (k, n), interval in published.items():
        np.testing.assert_allclose(wilson(k, n), interval, atol=5e-5)
    assert wilson(20, 20) == (pytest.approx(1 - 0.1611, abs=5e-5), 1.0)
    assert wilson(0, 0) == (0, 1)


def test_rates_and_gap_worked_by_hand():
    """The difference 56/70 - 48/80 of Newcombe (1998), Statistics in Medicine 17, 873: 0.0524 to 0.3339."""
    frame = pd.DataFrame({"sex": ["m"] * 70 + ["f"] * 80, "x": np.arange(150) % 7 * 1.5})
    frame["hired"] = ["yes"] * 56 + ["no"] * 14 + ["yes"] * 48 + ["no"] * 32
    found = profile(build(frame, PLAN), protected="sex")
    assert [(rate.group, rate.n, rate.favourable) for rate in found.rates] == [("f", 80, 48), ("m", 70, 56)]
    assert found.gap == pytest.approx(0.2)
    assert (found.gap_low, found.gap_high) == (pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5))
    assert not any(rate.small for rate in found.rates)
    few = profile(build(frame.iloc[40:], PLAN))
    assert [rate.small for rate in few.rates] == [False, False]
    assert [rate.small for rate in profile(build(frame.iloc[41:], PLAN)).rates] == [False, True]


def test_proxies_find_what_tells_the_group():
    data = build(people(3000), PLAN)
    found = {proxy.column: proxy for proxy in proxies(data, protected="sex")}
    assert [proxy.column for proxy in proxies(data)][:2] == ["sex", "height"]
    assert found["sex"].auc == 1.0
    assert found["sex"].protected
    # Two normals 13 cm apart with a spread of 6: P(member taller) = Phi(13 / (6 sqrt 2)) = 0.937.
    assert found["height"].auc == pytest.approx(0.937, abs=0.012)
    assert not found["height"].protected
    for noise in ("town", "age"):
        assert found[noise].auc == pytest.approx(0.5, abs=0.04)
        assert 0 < found[noise].spread < 0.06


def test_proxies_see_what_is_not_monotone():
    rng = np.random.default_rng(1)
    frame = people(4000)
    frame["odd"] = np.where(frame["sex"] == "male", rng.normal(0, 0.2, 4000), rng.choice([-2, 2], 4000))
    assert proxies(build(frame, PLAN))[0].column in ("sex", "odd")
    assert next(p for p in proxies(build(frame, PLAN)) if p.column == "odd").auc > 0.99


def test_the_area_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    score, inside, outside = rng.integers(0, 4, 9) / 4, rng.integers(0, 5, 9), rng.integers(1, 5, 9)
    truth = np.repeat([1, 0], [inside.sum(), outside.sum()])
    scores = np.concatenate([np.repeat(score, inside), np.repeat(score, outside)])
    assert auc(score, inside, outside) == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)


def test_a_profile_of_three_groups():
    frame = people(900).assign(sex=["a", "b", "c"] * 300)
    found = profile(build(frame, PLAN), protected="sex")
    assert len(found.rates) == 3
    assert np.isnan(found.gap_low)
    assert found.proxies[0].column == "sex"
    assert found.proxies[0].auc == 1.0


# Numbers in bins


def with_bins(bins=4, **columns):
    """People with these columns, whose numbers become bins, too."""
    frame = people(200).assign(**columns)
    return build(frame, replace(guess(frame), target="hired", favourable="yes", protected="sex", bins=bins))


def bins_of(data, column):
    return next((block for block in data.blocks if block.bins_of == column), None)


def test_numbers_of_a_table_in_bins_are_those_of_the_bundled_sets():
    frame = datasets.load("german").readable
    plan = guess(frame)
    plain, binned = build(frame, plan), build(frame, replace(plan, bins=8))
    numbers = [block.column for block in plain.blocks if block.kind == "number"]
    assert len(numbers) > 3
    d = plain.X.shape[1]
    np.testing.assert_array_equal(binned.X[:, :d], plain.X)
    bundled = datasets.load("german", bins=8)
    for column in numbers:
        own, theirs = bins_of(binned, column), bins_of(bundled, column)
        assert (own.categories, own.starts) == (theirs.categories, theirs.starts)
        np.testing.assert_array_equal(binned.X[:, own.columns], bundled.X[:, theirs.columns])
    assert [proxy.column for proxy in proxies(plain)] == [proxy.column for proxy in proxies(binned)]


def test_off_unless_asked_for():
    assert Plan().bins == 0
    assert not any(block.bins_of for block in with_bins(0).blocks)


def test_a_filled_gap_is_a_range_of_its_own():
    gaps = people(200)["height"].where(np.arange(200) % 2 == 0)
    frame = people(200).assign(height=gaps)
    plan = Plan(target="hired", favourable="yes", protected="sex", missing="impute", bins=4)
    data = build(frame, plan)
    block = bins_of(data, "height")
    codes = data.X[:, block.columns].argmax(axis=1)
    median = gaps.median()
    own = block.categories.index(f"{median:.12g}")
    np.testing.assert_array_equal(codes == own, gaps.isna() | (gaps == median))


def test_dates_constants_and_few_values_in_bins():
    days = pd.date_range("1990-01-01", periods=200, freq="30D").strftime("%Y-%m-%d")
    data = with_bins(born=days, same=7, third=np.arange(200) % 3, two=np.arange(200) % 2)
    dates = bins_of(data, "born")
    assert len(dates.categories) == 4
    assert dates.categories[0].startswith("1990")
    assert np.abs(data.X[:, dates.columns].mean(axis=0) - 0.25).max() < 0.01
    assert bins_of(data, "third").categories == ("0", "1", "2")
    assert bins_of(data, "same") is None  # left out altogether
    assert bins_of(data, "two") is None  # two values are words: 0 or 1
    assert bins_of(data, "town") is None


def test_large_values_keep_their_names_apart():
    data = with_bins(salary=1_000_000 + np.arange(200))
    assert len(set(data.feature_names)) == data.X.shape[1]


def test_bins_count_when_a_table_is_too_large():
    frame = people(200)
    plan = replace(PLAN, bins=8)
    fits = build(frame, plan, most_cells=10_000)
    assert len(fits.y) == 200
    few = build(frame, plan, most_cells=1_000)
    assert few.X.size <= 1_000
    assert "a random sample" in said(few)


@pytest.mark.parametrize("bins", [1, -3, 2.5])
def test_an_impossible_number_of_bins(bins):
    with pytest.raises(TableError, match="bins must be 0 or a whole number of at least 2"):
        with_bins(bins)
