"""The paper's page without a browser: its sections, its numbers, its link, and a cell that is run here."""

import re

import apptest
import pytest
from apptest import labelled
from sweeps import FakeWorker

from fairglvq.experiments import paper
from fairglvq.experiments.engine import Pool
from fairglvq.experiments.worker import answer_to, arrays_of
from pages.shared import runs
from pages.shared.paper import session
from pages.shared.visit import PaperVisit


def words(at):
    return " ".join(one.value for one in [*at.main.markdown, *at.main.caption, *at.main.header])


def html(at):
    return " ".join(one.proto.body for one in at.get("html"))


def link(at):
    """The address: AppTest holds what a test has set as it is, and what the page has set as lists."""
    return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}


def here(at):
    return at.session_state["visit"].paper


def test_table_1_has_every_printed_number_in_its_layout():
    at = apptest.visit("paper")
    table = html(at)
    rows = re.findall(r"<tr class=.*?</tr>", table)
    assert len(rows) == 4
    printed = paper.published().query("source == 'Table 1'")
    for name, pair in (("local", rows[:2]), ("xor", rows[2:])):
        for measure, row in zip(("accuracy", "statistical_parity"), pair, strict=True):
            found = re.findall(r"<td class='.*?'>([^<]*)<br><b>([^<]*)</b>", row)
            own = printed[printed.dataset == name]
            expected = [
                f"{100 * mean:.0f} ± {100 * sd:.0f}"
                for mean, sd in zip(own[f"{measure}_mean"], own[f"{measure}_std"], strict=True)
            ]
            assert [one for one, _ in found] == expected
            assert all(re.fullmatch(r"[\d.]+ ± [\d.]+", mine) for _, mine in found)
    assert "**15 of 16 numbers agree**" in words(at)
    assert table.count("class='far'") == 1
    assert len(at.get("plotly_chart")) == 2
    assert not at.query_params


@pytest.mark.parametrize("reason", session.REASONS)
def test_every_reason_has_its_measurement(reason):
    at = apptest.visit("paper", section="reasons", reason=reason)
    said = {
        "step": "7.81 on XOR",
        "seeds": "over 10 seeds. In print both are 24.0 points",
        "rank": "After 95 projections: published 76.2%, this library 75.2%, one answer for all 75.2%",
        "alpha": "alpha did nothing on Local, XOR and Adult; it was used on COMPAS (1.7% of the time)",
        "labels": "**868 of 868** among the 6,167 used",
    }
    assert said[reason] in words(at)


def test_figure_2_and_its_other_data_set():
    at = apptest.visit("paper", section="figure2")
    assert "**42 of 45 numbers agree**" in words(at)
    labelled(at.button_group, "Data set").set_value("adult").run()
    assert link(at) == {"section": "figure2", "figure": "adult"}
    assert "INP + GLVQ (95 projections)" in words(at)
    assert len(at.get("plotly_chart")) == 2


def test_figure_2_without_compas_shows_the_bundled_results_and_offers_to_fetch_it(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRGLVQ_CACHE", str(tmp_path))
    at = apptest.visit("paper", section="figure2")
    assert "**42 of 45 numbers agree**" in words(at)
    assert "**COMPAS is not on this computer yet.**" in words(at)
    assert labelled(at.button, "Run").disabled
    labelled(at.button, "Back").click().run()
    assert link(at)["figure"] == "adult"
    assert not labelled(at.button, "Run").disabled
    assert "not on this computer" not in words(at)


def test_what_goes_further_says_where_it_fails():
    at = apptest.visit("paper", section="beyond")
    assert "The paper's FairGLVQ has no strength with a gap of at most 5.0 points on Adult, COMPAS" in words(at)
    labelled(at.button_group, "Largest gap allowed").set_value(10).run()
    assert re.search(
        r"\*\*ParityLVQ\*\* \(handicaps\) keeps to the bound on 5 of 5 data sets; more accurate", words(at)
    )
    assert re.search(
        r"\*\*FairTree\*\* .*less accurate on Local .*no better than one answer for all on Local", words(at)
    )
    assert link(at)["gap"] == "10"


def test_a_point_is_followed_through_algorithm_1():
    at = apptest.visit("paper", section="algorithm", point="200", epochs="1")
    assert "class: w⁺ = prototype 8, d⁺ = **0.0141**; w⁻ = prototype 4, d⁻ = **0.0054**" in words(at)
    assert "μ = **0.4440**" in words(at)
    assert "**The group**, C times: its own group comes, the other goes (turned round: Φ' < 0)" in words(at)
    labelled(at.slider, "Point of the mini-batch").set_value(3).run()
    assert "Point 3 at" in words(at)
    assert link(at)["point"] == "3"
    assert not at.code
    at = apptest.visit(
        "paper", section="algorithm", dataset="local", prototypes="1", epochs="10", C="1.5", batch="11", point="250"
    )
    assert "alpha is used by 60 of 60 points" in words(at)
    assert here(at).point == 60  # the last batch is shorter
    assert not at.exception


def test_links_are_read_repaired_and_written():
    values, repairs = session.from_query({"section": "algorithm", "C": "1.25", "point": "999", "step": "algorithm"})
    assert (values["section"], values["C"], values["point"], values["step"]) == ("algorithm", 1.25, 1, "algorithm")
    assert repairs == ["point “999” is not possible here: 1 is used instead."]
    _, repairs = session.from_query({"gap": "![](//a.b/c)", "[x](y)": ""})
    assert repairs == [
        "gap “??????a.b?c?” is not possible here: 5 is used instead.",
        "“?x??y?” in the link is not known here and was left out.",
    ]
    visit = PaperVisit()
    assert session.to_query(visit) == {}
    for name, value in values.items():
        setattr(visit, name, value)
    assert session.from_query(session.to_query(visit)) == (values, [])
    at = apptest.visit("paper", section="nonsense", other="1")
    assert "The link was repaired." in words(at)
    assert here(at).section == "table1"
    labelled(at.button, "Dismiss").click().run()
    assert "repaired" not in words(at)


def test_a_projector_s_link_is_kept():
    at = apptest.visit("paper", section="beyond", projector="1")
    labelled(at.button_group, "Largest gap allowed").set_value(10).run()
    assert link(at) == {"section": "beyond", "gap": "10", "projector": "1"}
    assert "repaired" not in words(at)


class ThreadWorker(FakeWorker):
    """A worker that really trains, in the pool's thread."""

    def do(self, request, data):
        return answer_to(request, arrays_of(data))


@pytest.fixture
def workers(monkeypatch, tmp_path):
    """A pool of one worker in this process, and a store of its own."""
    monkeypatch.setenv("FAIRGLVQ_STORE", str(tmp_path / "rows.sqlite"))
    pool = Pool(lambda: [ThreadWorker()])
    monkeypatch.setattr(runs, "pool", lambda: pool)
    yield pool
    pool.close()


def test_a_cell_is_run_here_and_has_the_bundled_numbers(workers):
    at = apptest.visit("paper")
    cell = next(one for one in paper.experiments("Table 1") if (one.dataset, one.method) == ("xor", "glvq"))
    labelled(at.selectbox, "Run it here").set_value(cell).run()
    labelled(at.button, "Run").click().run()
    run = here(at).run
    assert workers.wait_for(lambda: run.state == "done", 60)
    at.run()
    assert "XOR, GLVQ: 5 models run here; on 5 folds they have exactly the bundled numbers." in words(at)
    assert "✕ run here 99" in html(at)
    assert not at.exception
    labelled(at.button_group, "Section").set_value("algorithm").run()
    labelled(at.button_group, "Section").set_value("table1").run()
    assert "5 models run here" in words(at)


def test_a_run_can_be_cancelled(workers, monkeypatch):
    at = apptest.visit("paper")
    monkeypatch.setattr(ThreadWorker, "do", FakeWorker.do)
    labelled(at.button, "Run").click().run()
    assert runs.pool().under_way(paper.cell_sweep(paper.experiments("Table 1")[0])) is here(at).run
    labelled(at.button, "Cancel").click().run()
    assert here(at).run.state == "cancelled"
    assert "Stopped before the first model." in words(at)
