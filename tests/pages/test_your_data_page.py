"""The page "Your data" without a browser: good and bad tables, choices, and that nothing entered is lost."""

import asyncio
import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from apptest import labelled, settle
from browser import ROOT, wait_for
from starlette.requests import Request
from streamlit.testing.v1 import AppTest
from tables import csv, people

from fairglvq.datasets import table
from fairglvq.datasets.table.profile import profile
from fairglvq.explain.view import NOUNS
from pages.shared.visit import TableVisit


@pytest.fixture
def at():
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    page.switch_page("pages/your_data.py")
    return fine(page.run())


def fine(at):
    assert not at.exception
    return at


def upload(at, content, name="people.csv"):
    at.file_uploader[0].set_value((name, content, "text/csv")).run()
    return fine(at)


def text(at):
    """Everything said in plain HTML."""
    return " ".join(element.proto.body for element in at.get("html"))


def click(at, label):
    next(button for button in at.button if button.label == label).click()
    return fine(at.run())


def edit(at, rows):
    """Type into the table of columns."""
    edits = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    at.session_state[f"editor-{at.session_state['visit'].table.editor}"] = edits
    return fine(at.run())


def draft(at):
    return at.session_state["visit"].table.draft


def test_the_empty_page_says_what_to_do(at):
    assert any("one row per person" in element.value for element in at.markdown)
    assert any("written to no disk" in element.value for element in at.caption)
    assert [tab.label for tab in at.tabs] == ["Upload a file", "Paste a table", "Try an example"]
    assert not at.selectbox


def test_the_page_says_where_a_table_goes(at, monkeypatch):
    assert "written to no disk, goes nowhere else, and is forgotten" in at.caption[0].value
    monkeypatch.setenv("FAIRGLVQ_CLUSTER", "tcp://127.0.0.1:1")
    assert "goes to the computers that compute trade-off curves" in fine(at.run()).caption[0].value


def test_an_uploaded_file_is_guessed_and_shown_before_any_model(at):
    upload(at, csv(people()))
    assert labelled(at.selectbox, "Decision or outcome").value == "hired"
    assert labelled(at.selectbox, "The outcome people want").value == "yes"
    assert labelled(at.selectbox, "Group to compare by").value == "sex"
    data = table.build(table.read(csv(people())).frame, draft(at))
    found = profile(data, protected="sex")
    low, high = sorted(found.rates, key=lambda rate: rate.rate)
    said = text(at)
    assert f"Of 100 {NOUNS[low.group]}, {100 * low.rate:.0f} have the outcome “yes”" in said
    assert f"{100 * high.low:.1f} to {100 * high.high:.1f}" in said
    assert f"The gap is {100 * found.gap:.1f} points" in said
    strongest = next(proxy for proxy in found.proxies if not proxy.protected)
    assert strongest.column == "height"
    assert f"{100 * strongest.auc:.0f}%" in said
    assert "under 30" not in said


def test_parquet_and_paste_bring_the_same(at):
    import io

    file = io.BytesIO()
    people().to_parquet(file)
    upload(at, file.getvalue(), "people.parquet")
    first = at.session_state["visit"].table.built[2][0].fingerprint
    labelled(at.text_area, "Copy cells").set_value(people().to_csv(index=False, sep="\t")).run()
    click(at, "Read this table")
    assert "Your pasted table: 300 rows" in text(at)
    assert at.session_state["visit"].table.built[2][0].fingerprint == first


def test_the_example_is_german_credit(at):
    from fairglvq import datasets

    click(at, "Use the example")
    data = at.session_state["visit"].table.built[2][0]
    bundled = datasets.load("german")
    np.testing.assert_array_equal(data.s, bundled.s)
    np.testing.assert_array_equal(data.y, bundled.y)
    assert data.X.shape == (1000, bundled.X.shape[1] - 1)  # all but age, by which the groups are told
    assert draft(at).cut == 25


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "“bad.csv”: The table is empty."),
        (b"a,b\n1,\x81\xff\n", "Line 2 holds the byte 0x81"),
        (b"PK\x03\x04", "Excel"),
        (b"one\ntwo\n", "Only one column"),
    ],
)
def test_a_bad_file_is_explained_and_the_table_before_it_stays(at, content, message):
    upload(at, content, "bad.csv")
    assert message in text(at)
    assert not at.selectbox
    upload(at, csv(people()))
    assert message not in text(at)
    labelled(at.selectbox, "Group to compare by").set_value("town").run()
    upload(at, content, "bad.csv")
    assert message in text(at)
    assert "Your last table is still there." in text(at)
    assert draft(at).protected == "town"
    assert labelled(at.selectbox, "Group to compare by").value == "town"
    assert "Before any model" in [header.value for header in at.header]


def test_ragged_rows_can_be_left_out(at):
    upload(at, csv(people()) + b"male,1\nfemale,2,3\n")
    assert "Row 302 has 2 values, but the header names 5 columns" in text(at)
    click(at, "Go on without these 2 rows")
    assert "2 rows with too many or too few values were left out." in text(at)
    assert len(at.session_state["visit"].table.built[2][0].y) == 300


def test_a_bad_choice_is_explained_and_kept(at):
    upload(at, csv(people().assign(constant="x")))
    labelled(at.selectbox, "Group to compare by").set_value("constant").run()
    assert "In column “constant” everybody is in the group “x”" in text(fine(at))
    assert labelled(at.selectbox, "Group to compare by").value == "constant"
    assert not any(button.label == "Use this table" for button in at.button)
    labelled(at.selectbox, "Group to compare by").set_value("sex").run()
    assert any(button.label == "Use this table" for button in fine(at).button)


def test_numbers_are_cut(at):
    upload(at, csv(people()))
    labelled(at.selectbox, "Group to compare by").set_value("age").run()
    assert labelled(at.number_input, "Cut into two groups at").value == people()["age"].median()
    labelled(at.number_input, "Cut into two groups at").set_value(30.0).run()
    assert "“under 30”" in text(fine(at))
    labelled(at.selectbox, "Decision or outcome").set_value("height").run()
    labelled(at.number_input, "Cut it at").set_value(170.0).run()
    assert labelled(at.selectbox, "The outcome people want").options == ["under 170", "170 or more"]
    assert labelled(at.selectbox, "The outcome people want").value == "170 or more"
    data = fine(at).session_state["visit"].table.built[2][0]
    assert data.y.sum() == (people()["height"] >= 170).sum()
    assert data.s.sum() == (people()["age"] >= 30).sum()


def test_many_outcomes_are_taken_together(at):
    frame = people().assign(hired=[f"grade {i % 7}" for i in range(300)])
    upload(at, csv(frame))
    labelled(at.selectbox, "Decision or outcome").set_value("hired").run()
    assert labelled(at.checkbox, "Merge all other outcomes").value
    labelled(at.selectbox, "The outcome people want").set_value("grade 3").run()
    assert at.session_state["visit"].table.built[2][0].class_names == {0: "all others", 1: "grade 3"}
    labelled(at.checkbox, "Merge all other outcomes").set_value(False).run()
    assert "has 7 different values" in text(fine(at))


def test_gaps_rare_and_small(at):
    frame = people()
    frame.loc[:9, "town"] = None
    frame.loc[290:, "sex"] = "other"
    upload(at, csv(frame))
    assert "10 rows with a missing value left out" in text(at)
    assert "small n" in text(at)
    labelled(at.segmented_control, "Where a value is missing").set_value("impute").run()
    assert "10 rows without “town”: put into a category of their own." in text(fine(at))
    labelled(at.segmented_control, "Groups of fewer").set_value("drop").run()
    assert "small n" not in text(fine(at))
    labelled(at.number_input, "Merge categories").set_value(40.0).run()
    assert draft(at).rare == 0.4
    assert "rare values of “town”" in text(fine(at)) or "“town” has" in text(at)


def test_numbers_are_cut_into_ranges_where_asked_for(at):
    upload(at, csv(people()))
    assert not labelled(at.checkbox, "Cut numbers and dates").value
    labelled(at.checkbox, "Cut numbers and dates").set_value(True).run()
    assert draft(fine(at)).bins == 8
    data = at.session_state["visit"].table.built[2][0]
    assert {block.bins_of for block in data.blocks if block.bins_of} == {"height", "age"}
    shown = next(frame.value for frame in at.dataframe if "Becomes" in frame.value)
    assert shown["Column"].tolist() == ["height", "age", "town"]
    assert shown["Becomes"].tolist()[0] == "the number itself, and a 0 or 1 for each range"
    assert shown["Features"].sum() == data.X.shape[1]
    click(at, "Use this table")
    assert "bins=8" in at.session_state["visit"].table.script
    at.switch_page("pages/prototypes.py").run()
    at.switch_page("pages/your_data.py").run()
    assert labelled(fine(at).checkbox, "Cut numbers and dates").value
    labelled(at.checkbox, "Cut numbers and dates").set_value(False).run()
    assert draft(fine(at)).bins == 0


def test_the_protected_column_is_hidden_from_the_model_unless_it_is_shown(at):
    upload(at, csv(people()))

    def seen():
        return {block.column for block in at.session_state["visit"].table.built[2][0].blocks}

    assert "sex" in draft(fine(at)).left_out
    assert "sex" not in seen()
    assert "does not see “sex”" in text(at)
    labelled(at.checkbox, "The model may see this column").set_value(True).run()
    assert draft(fine(at)).left_out == ()
    assert "sex" in seen()
    labelled(at.selectbox, "Group to compare by").set_value("town").run()
    assert draft(fine(at)).left_out == ("town",)
    labelled(at.selectbox, "Group to compare by").set_value("sex").run()
    assert draft(fine(at)).left_out == ("sex",)


def test_what_was_left_out_is_said_first_and_of_how_many(at):
    """30 rows without a group, and of the others 27 without a height: 57 of 300, and 27 are 9% of all 300."""
    holes = people()
    holes.loc[:29, "sex"] = None
    holes.loc[30:56, "height"] = np.nan
    said = text(upload(at, csv(holes)))
    first = said.index("243 of 300 rows of your table are described here; 57 (19.0%) were left out.")
    assert first < said.index("27 rows with a missing value left out (9.0% of all 300;") < said.index("The gap is ")
    assert "of the 243 rows used" in said
    assert "All 300 rows of your table are described here." in text(upload(at, csv(people())))


def test_kinds_can_be_corrected(at):
    upload(at, csv(people()))
    edit(at, {3: {"Kind": "category"}, 1: {"Model sees it": False}, 2: {"Fixed": True}})
    plan = draft(at)
    assert plan.kinds["age"] == "category"
    assert plan.left_out == ("sex", "height")
    assert plan.immutable == ("sex", "town", "age")
    blocks = {block.column: block for block in at.session_state["visit"].table.built[2][0].blocks}
    assert blocks["age"].kind == "category"
    assert "height" not in blocks


def test_the_table_of_columns_shows_what_an_edit_brought_along(at):
    names = [f"Ms {i} Example of Some Street" for i in range(300)]
    upload(at, csv(people().assign(name=names)))
    assert draft(at).kinds["name"] == "text"
    seen = at.data_editor[0].value["Model sees it"].tolist()
    assert seen == [False, True, True, True, False, False]
    edit(at, {5: {"Model sees it": True}, 4: {"Model sees it": True}})  # a text, and the target
    assert draft(at).kinds["name"] == "category"
    assert draft(at).left_out == ("sex",)
    assert at.data_editor[0].value["Model sees it"].tolist() == [False, True, True, True, False, True]
    edit(at, {5: {"Kind": "text (not used)"}})
    assert at.data_editor[0].value["Model sees it"].tolist() == seen
    edit(at, {5: {"Kind": "category"}})
    assert at.data_editor[0].value["Model sees it"].tolist() == [False, True, True, True, False, True]


def test_a_table_can_be_forgotten(at):
    upload(at, csv(people()))
    click(at, "Use this table")
    key = at.session_state["visit"].model.settings.table
    from fairglvq.scenes import sources

    assert sources.is_registered(key)
    click(at, "Forget this table")
    assert not sources.is_registered(key)
    assert "What you need" in at.markdown[-1].value
    table = at.session_state["visit"].table
    assert replace(table, uploader=-1) == TableVisit()
    assert at.session_state["visit"].model.settings.dataset == "xor"
    upload(at, csv(people()))
    assert "Of 100 women, " in text(at)


def test_a_link_to_somebody_elses_table_does_not_open_it(at):
    upload(at, csv(people()))
    click(at, "Use this table")
    key = at.session_state["visit"].model.settings.table
    for page in ("pages/playground.py", "pages/tradeoff.py", "pages/prototypes.py"):
        other = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        other.switch_page(page)
        other.query_params.update({"data": "table", "table": key})
        fine(other.run())
        assert "table" not in other.query_params
        assert not any(getattr(value, "dataset", "") == "table" for value in other.session_state.values())


def test_when_the_visit_is_over_nothing_holds_the_table():
    from fairglvq.scenes import sources
    from pages.shared.server import training_service

    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    page.switch_page("pages/your_data.py")
    click(upload(fine(page.run()), csv(people(seed=5))), "Use this table")
    settings = page.session_state["visit"].model.settings
    for name in ("playground", "tradeoff", "prototypes"):
        page.query_params.clear()
        page.switch_page(f"pages/{name}.py")
        fine(page.run())

    def kept():
        caches = (training_service().results, training_service().points)
        return [key for cache in caches for key in list(cache.futures) if settings.table in str(key)]

    assert sources.is_registered(settings.table)
    assert kept()
    page = None
    wait_for(lambda: gc.collect() >= 0 and not sources.is_registered(settings.table), 10, "the table to be gone")
    wait_for(lambda: not kept(), 10, "what was trained on it to be gone")


def test_an_upload_is_never_put_into_a_temporary_file(at):
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n' + b"1,2\n" * 10**6
    sent = [{"type": "http.request", "body": body + b"\r\n--x--\r\n", "more_body": False}]

    async def receive():
        return sent.pop()

    async def taken():
        headers = [(b"content-type", b"multipart/form-data; boundary=x")]
        async with Request({"type": "http", "method": "PUT", "headers": headers}, receive).form() as form:
            return form["f"].size, form["f"].file._rolled

    assert asyncio.run(taken()) == (4 * 10**6, False)


def test_use_makes_it_the_data_set_of_every_page(at):
    upload(at, csv(people()))
    click(at, "Use this table")
    assert "Every page now works with your table." in text(at)
    settings = at.session_state["visit"].model.settings
    assert settings.dataset == "table"
    assert at.session_state["visit"].table.used[1].immutable == ("sex", "age")
    from fairglvq.scenes.sources import dataset_of

    assert dataset_of(settings).fingerprint == at.session_state["visit"].table.built[2][0].fingerprint
    labelled(at.selectbox, "Group to compare by").set_value("town").run()
    assert "press the button to take over your changes" in text(fine(at))
    click(at, "Use this table")
    assert at.session_state["visit"].model.settings.table != settings.table


@pytest.mark.long
def test_the_trade_off_page_follows_from_table_to_table(at):
    for frame in (people(), people(seed=1)):
        at.switch_page("pages/tradeoff.py")
        fine(at.run())
        at.switch_page("pages/your_data.py")
        upload(fine(at.run()), csv(frame))
        click(at, "Use this table")
        at.query_params.clear()  # as a browser does on the way to another page
        at.switch_page("pages/tradeoff.py")
        fine(at.run())
        assert at.session_state["visit"].curve.choice.table == at.session_state["visit"].model.settings.table != ""
        at.switch_page("pages/your_data.py")
        fine(at.run())


@pytest.mark.long
def test_a_table_without_caveats_leaves_no_empty_sentence_on_the_playground(at):
    labelled(upload(at, csv(people())).checkbox, "The model may see this column").set_value(True).run()
    click(at, "Use this table")
    at.switch_page("pages/playground.py")
    assert "Caveats:" not in text(fine(settle(at.run())))
    at.switch_page("pages/your_data.py")
    fine(at.run())
    labelled(at.selectbox, "Group to compare by").set_value("town").run()
    click(at, "Use this table")
    at.switch_page("pages/playground.py")
    assert "Caveats: The model does not see “town”" in text(fine(settle(at.run())))


def test_going_back_to_a_table_that_is_gone_is_explained(at):
    from fairglvq.scenes import sources

    click(upload(at, csv(people(seed=7))), "Use this table")  # that no other test has
    gone = at.session_state["visit"].model.settings
    click(upload(at, csv(people(seed=1))), "Use this table")
    for page in ("pages/playground.py", "pages/prototypes.py"):
        at.switch_page(page)
        fine(at.run())
        wait_for(lambda: gc.collect() >= 0 and not sources.is_registered(gone.table), 10, "the first table to be gone")
        at.session_state["visit"].model.settings = gone  # what Undo does
        fine(at.run())
        said = text(at) + " ".join(element.value for element in [*at.markdown, *at.caption, *at.warning, *at.error])
        assert "The table is no longer there" in said


def test_two_visitors_may_bring_the_same_table_and_one_may_leave(at):
    click(upload(at, csv(people(seed=8))), "Use this table")
    other = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    other.switch_page("pages/your_data.py")
    click(upload(fine(other.run()), csv(people(seed=8))), "Use this table")
    assert other.session_state["visit"].model.settings.table == at.session_state["visit"].model.settings.table
    first = weakref.ref(at.session_state["visit"].table.data)
    click(at, "Forget this table")
    fine(at.run())
    wait_for(lambda: gc.collect() >= 0 and first() is None, 10, "the first visitor's table to be gone")
    other.switch_page("pages/playground.py")
    assert "no longer there" not in text(fine(settle(other.run())))
    assert other.session_state["visit"].model.shown[0] == other.session_state["visit"].model.settings


def test_the_encoding_is_shown_in_words(at):
    upload(at, csv(people().assign(born=[f"19{60 + i % 40}-03-0{1 + i % 9}" for i in range(300)])))
    labelled(at.checkbox, "The model may see this column").set_value(True).run()
    shown = next(frame.value for frame in at.dataframe if "Becomes" in frame.value).set_index("Column")
    assert shown.loc["sex", ["Becomes", "Values"]].tolist() == ["0 or 1", "female is 0, male is 1"]
    assert shown.loc["town", ["Becomes", "Features"]].tolist() == ["a 0 or 1 for each value", 3]
    assert shown.loc["born", "Becomes"] == "a decimal year"


def test_what_goes_wrong_is_logged_without_values(at, monkeypatch, caplog):
    def broken(frame, plan, **options):
        raise RuntimeError(f"cannot use {frame['town'].iloc[0]}")

    upload(at, csv(people().assign(town="a secret town")))
    monkeypatch.setattr(table, "build", broken)
    labelled(at.selectbox, "Group to compare by").set_value("age").run()
    assert "Something unexpected went wrong with this table" in text(fine(at))
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_coming_back_finds_everything_as_it_was(at):
    upload(at, csv(people()))
    labelled(at.selectbox, "Group to compare by").set_value("age").run()
    labelled(at.number_input, "Cut into two groups at").set_value(33.0).run()
    edit(at, {2: {"Model sees it": False}})
    before = draft(at)
    at.switch_page("pages/playground.py")
    fine(at.run())
    at.switch_page("pages/your_data.py")
    fine(at.run())
    assert draft(at) == before
    assert labelled(at.selectbox, "Group to compare by").value == "age"
    assert labelled(at.number_input, "Cut into two groups at").value == 33.0
    assert not at.data_editor[0].value["Model sees it"][2]


def test_strange_names_are_shown_as_they_are(at):
    names = {"town": "<script>alert(1)</script>", "sex": "מין", "age": "![x](http://evil.example/a.png)"}
    upload(at, csv(people().rename(columns=names)), "<img src=x onerror=alert(1)>.csv")
    labelled(at.selectbox, "Group to compare by").set_value("מין").run()
    labelled(at.selectbox, "Decision or outcome").set_value("hired").run()
    said = text(fine(at))
    assert "<script>" not in said
    assert "<img" not in said
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in said
    assert not any("evil.example" in element.value for element in [*at.markdown, *at.caption])
