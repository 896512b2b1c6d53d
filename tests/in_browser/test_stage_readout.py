"""Numbers and words of the stage, run as the browser runs them: real modules on a blank page in Chromium."""

import itertools

import numpy as np
import pytest
from browser import ROOT, Watch, static_files
from playwright.sync_api import expect

from fairglvq.grammar import stage_grammar

pytestmark = pytest.mark.browser

ARRAY_TYPES = {"f8": "Float64Array", "f4": "Float32Array", "u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array"}

WIDGETS = [
    "createReadout",
    "createReadoutNotes",
    "createTimeline",
    "createTradeoff",
    "createChangedDecisions",
    "createCard",
    "createPrototypeTable",
]

# Every module's exports and a scene builder as globals of the page, so that the tests read like calls.
BLANK = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/readout.css"><body><script type="module">
const names = "scene metrics sentences rivals readout timeline tradeoff changed_decisions cards table";
for (const name of names.split(" ")) {
  Object.assign(window, await import(`/js/${name}.js`));
}
window.makeScene = ({ meta, arrays }) => {
  const typed = ([type, shape, data]) => ({ shape, data: globalThis[type].from(data) });
  return buildScene({ meta, arrays: Object.fromEntries(Object.entries(arrays).map(([k, v]) => [k, typed(v)])) });
};
window.shown = (scene, frame) => Object.fromEntries(scene.panels.map((p) => [p.key, frameModel(p, frame)]));
window.mounted = (create, scene, frame, view = {}) => {
  document.body.replaceChildren();
  window.calls = [];
  const note = (name) => (...args) => calls.push([name, ...args]);
  const noted = Object.fromEntries(["seek", "pickStrength", "select"].map((name) => [name, note(name)]));
  const widget = create(document.body, create === createReadout ? view.panel ?? "fairglvq" : noted);
  const full = { frame, selection: null, film: null, ...view };
  widget.update(scene, shown(scene, frame), full);
  return { widget, view: full };
};
window.changes = (scene) => { // FairGLVQ at frame 1 against trained GLVQ
  const change = changedDecisions(scene, lastModel(scene, scene.panels[0]), frameModel(scene.panels[2], 1));
  return { gained: [...change.gained], lost: [...change.lost], n: [...change.n] };
};
window.ready = true;
</script>"""


@pytest.fixture(scope="module")
def page(browser):
    with static_files(ROOT / "pages" / "shared" / "playground" / "stage") as url:
        tab = browser.new_page(viewport={"width": 800, "height": 900})
        watch = Watch(tab)
        tab.route("**/blank.html", lambda route: route.fulfill(body=BLANK, content_type="text/html"))
        tab.goto(f"{url}/blank.html")
        tab.wait_for_function("window.ready")
        yield tab
        assert watch.problems == []
        tab.close()


def random_scene(seed=0, *, n=400, K=2, G=2, P=6, F=3, mapped=False, weighted=False, held_out=0.4, film=False, **meta):
    """A scene of random points and prototypes, as the wrapper packs it."""
    rng = np.random.default_rng(seed)
    arrays = {
        "points": rng.normal(size=(n, 2)),
        "y": rng.integers(0, K, n).astype("u1"),
        "s": rng.integers(0, G, n).astype("u1"),
        "held_out": (rng.random(n) < held_out).astype("u1"),
    }
    labels = [j % K for j in range(P)]
    panels = []
    for key in ("glvq", "inp", "fairglvq"):
        space = {"A": rng.normal(size=(2, 2)).tolist(), "b": rng.normal(size=2).tolist()} if mapped else None
        fair = {"knob": "C", "strength": 0.5} if key == "fairglvq" else {"knob": None, "strength": None}
        panels.append(
            {"key": key, "title": key.upper(), "note": "", "labels": labels, "map": space, "line": None} | fair
        )
        arrays[f"{key}.prototypes"] = rng.normal(size=(F, P, 2))
        arrays[f"{key}.pseudo"] = rng.integers(0, G, (F, P)).astype("u1")
        arrays[f"{key}.cost_class"] = rng.random(F).astype("f4")
        arrays[f"{key}.cost_fair"] = (rng.random(F) if key == "fairglvq" else np.zeros(F)).astype("f4")
        arrays[f"{key}.flips"] = (np.arange(F) % 2 if key == "fairglvq" else np.zeros(F)).astype("u2")
        if weighted:
            arrays[f"{key}.weights"] = rng.random((F, P))
    strengths = [0.0, 0.5, 1.0, 2.0]
    if film:
        arrays["film.fairglvq.prototypes"] = rng.normal(size=(len(strengths), P, 2))
        arrays["film.fairglvq.pseudo"] = np.zeros((len(strengths), P), "u1")
    return arrays, {
        "revision": str(seed), "dataset": "random", "favourable": 1, "slice": None, "axes": ["x1", "x2"],
        "classes": ["no", "yes", "maybe"][:K], "groups": ["A", "B", "C"][:G], "bounds": [-3, -3, 3, 3],
        "epochs": [10 * f for f in range(F)], "grammar": stage_grammar(K, G), "panels": panels,
        "filmed": ["fairglvq"],
        "films": {"fairglvq": {"revision": "1", "values": strengths, "knob": "C"}} if film else {},
        "reply": None, "view": None, **meta,
    }  # fmt: skip


def to_js(arrays, meta):
    def packed(a):
        return [ARRAY_TYPES[a.dtype.str[1:]], list(a.shape), a.ravel().tolist()]

    return {"meta": meta, "arrays": {name: packed(np.asarray(a)) for name, a in arrays.items()}}


def nearest(arrays, panel, frame, points):
    """The nearest prototype by the definition: |A x + b - w|^2 + r, first index wins."""
    space = panel["map"] or {"A": np.eye(2), "b": [0, 0]}
    z = points @ np.array(space["A"]).T + space["b"]
    d = ((z[:, None] - arrays[f"{panel['key']}.prototypes"][frame]) ** 2).sum(-1)
    if f"{panel['key']}.weights" in arrays:
        d = d + arrays[f"{panel['key']}.weights"][frame]
    return d.argmin(1)


def expected_metrics(y, s, predicted, G, K, favourable=1):
    counts = np.zeros((G, K, K), int)
    np.add.at(counts, (s, y, predicted), 1)
    rate = [np.mean(predicted[s == g] == favourable) for g in range(G)]
    tpr = [np.mean(predicted[(s == g) & (y == favourable)] == favourable) for g in range(G)]
    return counts.ravel().tolist(), np.mean(y == predicted), np.ptp(rate), np.ptp(tpr)


@pytest.mark.parametrize(
    ("G", "K", "mapped", "weighted", "held_out"),
    [(2, 2, False, False, 0.4), (3, 3, True, False, 0.3), (2, 3, False, True, 0.5), (3, 2, True, True, 0.0)],
)
def test_metrics_follow_from_the_counts_by_definition(page, G, K, mapped, weighted, held_out):
    arrays, meta = random_scene(7 * G + K, G=G, K=K, mapped=mapped, weighted=weighted, held_out=held_out, P=2 * K + 1)
    answers = page.evaluate(
        "data => { const scene = makeScene(data); return scene.panels.map((p) => {"
        " const t = metricsOf(scene, frameModel(p, 1)); return { ...t, counts: [...t.counts] }; }); }",
        to_js(arrays, meta),
    )
    measured = arrays["held_out"] == (1 if held_out else 0)
    y, s = arrays["y"][measured], arrays["s"][measured]
    for panel, answer in zip(meta["panels"], answers, strict=True):
        predicted = np.array(panel["labels"])[nearest(arrays, panel, 1, arrays["points"][measured])]
        counts, accuracy, sp, eo = expected_metrics(y, s, predicted, G, K)
        assert answer["counts"] == counts
        assert (answer["n"], answer["heldOut"]) == (measured.sum(), held_out > 0)
        assert [answer["accuracy"], answer["sp"], answer["eo"]] == pytest.approx([accuracy, sp, eo], abs=1e-12)


def test_shipped_counts_are_believed_over_the_plane(page):
    arrays, meta = random_scene(1, slice="a plane of many dimensions")
    shipped = np.arange(3 * 8, dtype="u4").reshape(3, 2, 2, 2)
    answer = page.evaluate(
        "data => { const scene = makeScene(data); const [p] = scene.panels;"
        " const model = frameModel(p, 2); const here = metricsOf(scene, model);"
        " const held = draggedModel(scene, model, 0, 0, 0); const moved = metricsOf(scene, held);"
        " const reply = { counts: [9, 0, 0, 0, 0, 0, 0, 3], changed: [1, 0, 0, 0, 0, 0, 0, 2],"
        " pseudo: [1, 0, 1, 0, 1, 0] };"
        " const counted = countedModel(held, reply); const now = metricsOf(scene, counted);"
        " const change = changedDecisions(scene, model, counted);"
        " return [[...here.counts], here.known, [moved.known, moved.accuracy, moved.sp, moved.n],"
        " [now.known, now.accuracy, now.n], [...change.gained], [...change.lost], [...counted.pseudo],"
        " changedDecisions(scene, model, held).known]; }",
        to_js({**arrays, "glvq.counts": shipped}, meta),
    )
    counts, known, moved, counted, gained, lost, pseudo, held_known = answer
    assert (counts, known) == (shipped[2].ravel().tolist(), True)
    assert moved == [False, None, None, shipped[2].sum()]  # in the hand: who there is, and no guess from the plane
    assert counted == [True, 1.0, 12]
    assert (gained, lost, pseudo) == ([1, 0, 0, 0], [0, 0, 0, 2], [1, 0, 1, 0, 1, 0])
    assert not held_known


def summary(page, counts):
    counts = np.asarray(counts)
    G, K = counts.shape[:2]
    return page.evaluate("([c, G, K]) => summarise(Int32Array.from(c), G, K, 1)", [counts.ravel().tolist(), G, K])


def test_nobody_counted_is_null_and_never_nan(page):
    answer = summary(
        page, [[[3, 1], [0, 0]], [[0, 0], [0, 0]]]
    )  # nobody in group 0 has a favourable true label, group 1 is empty
    assert (answer["accuracy"], answer["sp"], answer["eo"]) == (0.75, None, None)
    assert [g["rate"] for g in answer["groups"]] == [0.25, None]
    assert [g["tpr"] for g in answer["groups"]] == [None, None]


HAND_WORKED = [
    # counts [group, truth, predicted]; people sentence; opportunity sentence
    (
        [
            [[40, 10], [10, 40]],
            [[64, 0], [10, 26]],
        ],  # favourable: A 50 of 100, B 26 of 100; of a favourable true label: 40/50, 26/36
        "Of 100 people of group B, 24 fewer get the favourable decision than of 100 of group A.",
        "Of 100 people of group B with a favourable true label, 8 fewer get that decision than of 100 such people of "
        "group A.",
    ),
    (
        [[[50, 0], [0, 50]], [[51, 0], [0, 49]]],
        "Of 100 people of group B and of 100 of group A, about as many get the favourable decision "
        "(difference: 1 in 100).",
        "Of 100 people of group B with a favourable true label and of 100 such people of group A, "
        "equally many get that decision.",
    ),
    (
        [[[50, 0], [0, 50]], [[70, 0], [0, 30]], [[60, 0], [20, 20]]],
        "Of 100 people of group C, 30 fewer get the favourable decision than of 100 of group A. "
        "No two of the 3 groups are further apart.",
        "Of 100 people of group C with a favourable true label, 50 fewer get that decision than of 100 such people of "
        "group A. No two of the 3 groups are further apart.",
    ),
    (
        [[[9, 1], [0, 0]], [[0, 0], [0, 0]]],
        "Fewer than two groups have anybody here: there is nothing to compare.",
        "Fewer than two groups have anybody with a favourable true label: there is nothing to compare.",
    ),
]


@pytest.mark.parametrize(("counts", "people", "opportunity"), HAND_WORKED)
def test_sentences_name_who_loses(page, counts, people, opportunity):
    names = {"meta": {"groups": ["A", "B", "C"]}}
    result = summary(page, counts)
    sentences = page.evaluate(
        "([scene, t]) => [peopleSentence(scene, t), opportunitySentence(scene, t)]", [names, result]
    )
    assert sentences == [people, opportunity]


def test_sentences_use_the_nouns_of_the_data_set_and_flag_small_groups(page):
    names = {"meta": {"groups": ["female", "male"], "people": ["women", "men"]}}
    result = {**summary(page, [[[11, 0], [0, 1]], [[500, 0], [0, 700]]]), "heldOut": True}
    sentences = page.evaluate(
        "([scene, t]) => [peopleSentence(scene, t), smallGroupSentence(scene, t), basisSentence(scene, t)]",
        [names, result],
    )
    assert sentences == [
        "Of 100 women, 50 fewer get the favourable decision than of 100 men.",
        "Small n: there are only 12 women here, so one person changes the rates a lot.",
        "Measured on 1,212 held-out points, not used for training (12 women, 1,200 men).",
    ]


def test_alternative_text_is_made_of_the_picture_s_numbers(page):
    arrays, meta = random_scene(3)
    numbers, text = page.evaluate(
        "data => { const scene = makeScene(data); const model = frameModel(scene.panels[2], 1);"
        " const t = metricsOf(scene, model); return [t, panelAlt(scene, model, t)]; }",
        to_js(arrays, meta),
    )
    assert text.startswith(
        "FAIRGLVQ, epoch 10 of 20, C = 0.5: 6 prototypes (3 of class “no”, 3 of class “yes”) over 400 points. "
        f"{100 * numbers['accuracy']:.1f}% of decisions are right; statistical parity gap {100 * numbers['sp']:.1f} "
        f"points, equal opportunity gap {100 * numbers['eo']:.1f} points. Of 100 people of group "
    )


@pytest.mark.parametrize(
    ("mapped", "weighted", "K"), [(False, False, 2), (True, False, 3), (False, True, 2), (True, True, 3)]
)
def test_rivals_and_the_smallest_flip_agree_with_brute_force(page, mapped, weighted, K):
    arrays, meta = random_scene(11 + K, n=8, K=K, P=3 * K, mapped=mapped, weighted=weighted)
    panel = meta["panels"][0]
    answers = page.evaluate(
        "data => { const scene = makeScene(data); const m = frameModel(scene.panels[0], 1);"
        " return Array.from(scene.y, (_, i) => rivals(scene, m, i)); }",
        to_js(arrays, meta),
    )
    labels = np.array(panel["labels"])
    W, r = arrays["glvq.prototypes"][1], arrays["glvq.weights"][1] if weighted else 0
    space = panel["map"] or {"A": np.eye(2), "b": np.zeros(2)}
    for x, y, answer in zip(arrays["points"], arrays["y"], answers, strict=True):
        d = ((np.array(space["A"]) @ x + space["b"] - W) ** 2).sum(1) + r
        d_plus, d_minus = d[labels == y].min(), d[labels != y].min()
        assert [answer["dPlus"], answer["dMinus"]] == pytest.approx([d_plus, d_minus])
        assert answer["mu"] == pytest.approx((d_plus - d_minus) / (d_plus + d_minus))
        assert d[[answer["plus"], answer["minus"]]] == pytest.approx([d_plus, d_minus])
        decision = labels[d.argmin()]

        # A ring of directions, each searched outwards: the first change of decision anywhere is the smallest flip.
        reach = 1.3 * answer["flip"]["distance"]
        angles, steps = np.linspace(0, 2 * np.pi, 361), np.linspace(0, reach, 301)[1:]
        ring = x + steps[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], -1)
        changed = labels[nearest(arrays, panel, 1, ring.reshape(-1, 2))].reshape(ring.shape[:2]) != decision
        first = steps[changed.any(1)][0]
        assert first >= answer["flip"]["distance"] * (1 - 1e-9)  # nothing nearer
        assert first <= answer["flip"]["distance"] + 0.03 * reach  # and something that near, up to the grid

        target = np.array([answer["flip"]["x"], answer["flip"]["y"]])
        d = ((np.array(space["A"]) @ target + space["b"] - W) ** 2).sum(1) + r
        assert d[answer["flip"]["prototype"]] == pytest.approx(d.min())  # the target does lie in the rival's cell
        assert answer["flip"]["to"] == labels[answer["flip"]["prototype"]] != decision


def test_flip_on_a_projected_line_moves_along_it(page):
    arrays, meta = random_scene(0, n=1, P=2)
    arrays["points"][0] = [0.2, 5.0]
    arrays["y"][0] = 0
    arrays["inp.prototypes"][1] = [[0.0, 0.0], [1.0, 0.0]]
    meta["panels"][1]["map"] = {"A": [[1, 0], [0, 0]], "b": [0, 0]}  # only x1 is kept
    answer = page.evaluate(
        "data => { const scene = makeScene(data); return rivals(scene, frameModel(scene.panels[1], 1), 0); }",
        to_js(arrays, meta),
    )
    assert answer["flip"] == pytest.approx({"x": 0.5, "y": 5.0, "distance": 0.3, "to": 1, "prototype": 1})
    assert answer["mu"] == pytest.approx((0.04 - 0.64) / 0.68)


def test_changed_decisions_are_counted_by_group_and_true_label(page):
    arrays, meta = random_scene(5, G=3, K=3)
    answer = page.evaluate("data => changes(makeScene(data))", to_js(arrays, meta))
    held = arrays["held_out"] == 1
    y, s, points = arrays["y"][held], arrays["s"][held], arrays["points"][held]
    labels = np.array(meta["panels"][0]["labels"])
    was = labels[nearest(arrays, meta["panels"][0], 2, points)] == 1
    now = labels[nearest(arrays, meta["panels"][2], 1, points)] == 1
    for got, who in zip(answer.values(), (now & ~was, was & ~now, np.ones(len(y), bool)), strict=True):
        assert got == [int(np.sum(who & (s == g) & (y == k))) for g, k in itertools.product(range(3), range(3))]


def test_readout_shows_the_metrics_with_units_and_where_it_was_measured(page):
    arrays, meta = random_scene(3)
    numbers = page.evaluate(
        "data => { const scene = makeScene(data); mounted(createReadout, scene, 1);"
        " return metricsOf(scene, frameModel(scene.panels[2], 1)); }",
        to_js(arrays, meta),
    )
    card = page.locator('[data-method="fairglvq"]')
    assert card.locator(".fgs-measures dd:not(.fgs-track)").all_inner_texts() == [
        f"{100 * numbers['accuracy']:.1f}%",
        f"{100 * numbers['sp']:.1f} points",
        f"{100 * numbers['eo']:.1f} points",
    ]
    assert "epoch 10 of 20, C = 0.5" in card.inner_text()
    assert f"of {numbers['groups'][1]['n']}" in card.locator(".fgs-groups li").nth(1).inner_text()


def test_a_point_of_a_slice_is_explained_by_its_distances_in_all_dimensions(page):
    """Three dimensions of which two are shown: the rivals, mu and the flip are those of the whole space."""
    rng = np.random.default_rng(7)
    W, x = rng.random((6, 3)), rng.random(3)
    arrays, meta = random_scene(0, n=1, slice="two of three")
    arrays["points"][0], arrays["y"][0] = x[:2], 0
    arrays["glvq.prototypes"][1], arrays["glvq.weights"] = W[:, :2], np.zeros((3, 6))
    d = ((W - x) ** 2).sum(axis=1)
    answer = page.evaluate(
        "([data, d]) => { const scene = makeScene(data); const model = frameModel(scene.panels[0], 1);"
        " return rivals(scene, modelFor(scene, model, 0, { glvq: d }), 0); }",
        [to_js(arrays, meta), d.tolist()],
    )
    labels = np.array(meta["panels"][0]["labels"])
    assert [answer["dPlus"], answer["dMinus"]] == pytest.approx([d[labels == 0].min(), d[labels == 1].min()])
    flip = np.array([answer["flip"]["x"], answer["flip"]["y"]])
    for share, flipped in ((0.999, False), (1.001, True)):
        there = np.append(x[:2] + share * (flip - x[:2]), x[2])
        decision = labels[((W - there) ** 2).sum(axis=1).argmin()]
        assert (decision != labels[d.argmin()]) == flipped


def test_cards_of_a_slice_wait_for_python_and_then_count_everybody(page):
    arrays, meta = random_scene(10, slice="two of many", population=5000)
    arrays["glvq.counts"] = np.ones((3, 2, 2, 2), "u4")
    selection = {"panel": "glvq", "kind": "prototype", "index": 3}
    show = (
        "([data, selection, facts]) => { mounted(createCard, makeScene(data), 1, { selection, facts });"
        " return document.querySelector('.fgs-card').innerText; }"
    )
    waiting = page.evaluate(show, [to_js(arrays, meta), selection, None])
    assert waiting.count("counted when the picture rests") == 3
    facts = {"votes": [700, 300], "members": [[600, 200], [300, 150]], "n": 250, "right": 200}
    card = page.evaluate(show, [to_js(arrays, meta), selection, facts])
    assert "1,000 training points: 700 of group A, 300 of group B" in card
    assert "25.0% (1,250 of 5,000)" in card
    assert "80.0% (200 of 250 held-out points)" in card
    point = {"panel": "glvq", "kind": "point", "index": 0}
    assert page.evaluate(show, [to_js(arrays, meta), point, None]).count("counted when the picture rests") == 7
    d, labels = np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.6]), np.array(meta["panels"][0]["labels"])
    facts = dict.fromkeys(("glvq", "inp", "fairglvq"), d.tolist()) | {"row": 1234}
    card = page.evaluate(show, [to_js(arrays, meta), point, facts])
    assert card.startswith("Person 1,234")
    for label, name in ((0, "no"), (1, "yes")):
        nearest_of = int(np.where(labels == label, d, np.inf).argmin())
        assert f"prototype {nearest_of + 1} (“{name}”), distance {np.sqrt(d[nearest_of]):.3g}" in card


def test_readout_says_training_points_dragged_models_and_the_servers_answer(page):
    arrays, meta = random_scene(3, held_out=0)
    text = page.evaluate(
        "data => { const scene = makeScene(data);"
        " const { widget, view } = mounted(createReadout, scene, 1, { panel: 'glvq' });"
        " const models = shown(scene, 1); models.glvq = draggedModel(scene, models.glvq, 0, 9, 9);"
        " const reply = { counts: [5, 3, 4, 4, 6, 2, 0, 0], changed: Array(8).fill(0), pseudo: models.glvq.pseudo };"
        " models.glvq = countedModel(models.glvq, reply); widget.update(scene, models, view);"
        " return document.querySelector('[data-method=glvq]').innerText; }",
        to_js(arrays, meta),
    )
    assert "dragged by hand" in text
    assert "18.8 points" in text  # 7 of 16 against 2 of 8
    assert "\u2013" in text


def test_parity_without_equal_opportunity_is_said(page):
    say = "([sp, eo]) => lessonSentence({ sp, eo })"
    sentence = page.evaluate(say, [0.012, 0.225])
    assert "1.2 points" in sentence
    assert "22.5 points" in sentence
    assert [page.evaluate(say, gaps) for gaps in ([0.25, 0.02], [0.01, 0.02], [0.3, 0.4], [None, 0.3])] == [""] * 4


def test_what_cells_reveal_is_the_fairness_cost_with_lower_as_fairer(page):
    assert page.evaluate("() => revealed({ costFair: Float32Array.of(0.5, -0.25) })") == [-0.5, 0.25]


def test_a_group_without_members_never_shows_nan(page):
    arrays, meta = random_scene(2, G=3)
    arrays["s"][:] = 0
    for name in WIDGETS:
        text = page.evaluate(
            "([name, data, selection]) => { mounted(window[name], makeScene(data), 0, { selection });"
            " return document.body.innerText; }",
            [name, to_js(arrays, meta), {"panel": "inp", "kind": "prototype", "index": 0}],
        )
        assert not any(bad in text for bad in ("NaN", "undefined", "null", "Infinity")), name


def test_timeline_seeks_by_click_key_and_flip(page):
    arrays, meta = random_scene(4, F=5)  # flips at frames 1 and 3, epochs 0, 10, ... 40
    page.evaluate(
        "data => { window.kept = makeScene(data); window.now = mounted(createTimeline, kept, 2); }", to_js(arrays, meta)
    )
    slider = page.get_by_role("slider", name="Epoch shown")
    assert slider.get_attribute("aria-valuenow") == "20"
    assert "cells reveal the group" in slider.get_attribute("aria-valuetext")
    expect(page.locator(".fgs-tick")).to_have_count(2)
    slider.focus()
    for key in ("ArrowRight", "ArrowLeft", "Home", "End"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Next flip").click()
    page.get_by_role("button", name="Flip before").click()
    assert [call[1] for call in page.evaluate("calls.splice(0)")] == [3, 1, 0, 4, 3, 1]

    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.99 * box["width"], box["y"] + 25)
    page.mouse.click(box["x"] + 0.75 * box["width"] + 6, box["y"] + box["height"] - 5)  # beside the tick of frame 3
    assert page.evaluate("calls") == [["seek", 4, False], ["seek", 4, True], ["seek", 3, False], ["seek", 3, True]]

    page.evaluate("now.widget.update(kept, shown(kept, 4), { ...now.view, frame: 4 })")
    assert slider.get_attribute("aria-valuenow") == "40"
    assert page.evaluate("document.querySelector('.fgs-cursor').style.left") == "100%"


def test_tradeoff_waits_for_the_film_then_picks_c_on_the_curve(page):
    arrays, meta = random_scene(6, film=True)
    page.evaluate(
        "data => { window.kept = makeScene(data); window.films = kept.films; kept.films = {};"
        " window.now = mounted(createTradeoff, kept, 1); }",
        to_js(arrays, meta),
    )
    expect(page.get_by_text("Computing the curve")).to_be_visible()
    expect(page.get_by_role("slider", name="Strength")).to_be_hidden()
    page.evaluate("kept.films = films; now.widget.update(kept, shown(kept, 1), now.view)")
    expect(page.get_by_text("Computing the curve")).to_be_hidden()
    plot = page.get_by_role("slider", name="Strength")
    assert plot.get_attribute("aria-valuenow") == "1"  # the panel's C of 0.5
    expect(page.locator(".fgs-plot .fgs-dot")).to_have_count(4)
    dots = [d.bounding_box() for d in page.locator(".fgs-plot .fgs-dot").all()]
    page.mouse.move(dots[3]["x"] + 3, dots[3]["y"] + 3)
    page.mouse.down()
    page.mouse.move(dots[0]["x"] + 3, dots[0]["y"] + 3)
    page.mouse.up()
    plot.focus()
    page.keyboard.press("ArrowRight")
    calls = page.evaluate("calls")
    assert calls[0] == ["pickStrength", "fairglvq", 3, False, False]
    assert calls[-2:] == [["pickStrength", "fairglvq", 0, True, False], ["pickStrength", "fairglvq", 2, True, True]]

    # The ring is the model shown: on the dot of the film model.
    page.evaluate(
        "(() => { const models = { ...shown(kept, 1), fairglvq: filmModel(kept, kept.films.fairglvq, 3) };"
        " now.widget.update(kept, models, { ...now.view, film: { panel: 'fairglvq', index: 3 } }); })()"
    )
    ring = page.locator(".fgs-plot .fgs-ring").bounding_box()
    for axis, size in (("x", "width"), ("y", "height")):
        assert ring[axis] + ring[size] / 2 == pytest.approx(dots[3][axis] + dots[3][size] / 2, abs=1)
    assert plot.get_attribute("aria-valuetext").startswith("C = 2: ")


def test_the_limit_line_is_drawn_as_far_as_the_plot_goes(page):
    arrays, meta = random_scene(6, film=True)
    draw = "data => { window.kept = makeScene(data); mounted(createTradeoff, kept, 1); }"
    page.evaluate(draw, to_js(arrays, meta))
    expect(page.locator(".fgs-line-limit")).to_have_count(0)
    ticks = [float(text) for text in page.locator(".fgs-y-ticks span").all_inner_texts()]
    low, high = min(ticks), max(ticks)
    right = float(page.locator(".fgs-x-ticks span").last.inner_text())
    limit = [[0, low / 100], [right / 200, high / 100], [right / 100 + 0.01, high / 100]]  # the last is outside
    page.evaluate(draw, to_js(arrays, meta | {"limit": limit}))
    line = page.locator(".fgs-plot .fgs-line-limit").last
    assert line.get_attribute("d") == "M0,1L0.5,0"
    expect(page.get_by_text("no method at all can be above it")).to_be_visible()


def test_table_of_changed_decisions_names_people(page):
    arrays, meta = random_scene(5)
    change = page.evaluate(
        "data => { const scene = makeScene(data); mounted(createChangedDecisions, scene, 1); return changes(scene); }",
        to_js(arrays, meta),
    )
    table = page.locator('[data-method="fairglvq"]')
    row = table.locator("tbody tr").first  # group A with the favourable true label, class 1
    assert row.locator("th").inner_text() == "group A, truly “yes”"
    assert row.get_attribute("title") == (
        f"lost the favourable decision: {change['lost'][1]} of {change['n'][1]} people of group A with true label "
        f"“yes”; gained it: {change['gained'][1]}"
    )
    assert f"takes the favourable decision from {sum(change['lost'])} people" in table.inner_text()


def test_card_of_a_prototype_counts_its_cell(page):
    arrays, meta = random_scene(10, n=397)
    page.evaluate(
        "([data, selection]) => { mounted(createCard, makeScene(data), 1, { selection }); }",
        [to_js(arrays, meta), {"panel": "glvq", "kind": "prototype", "index": 3}],
    )
    inside = nearest(arrays, meta["panels"][0], 1, arrays["points"]) == 3
    held = arrays["held_out"] == 1
    votes = [int(np.sum(inside & ~held & (arrays["s"] == g))) for g in (0, 1)]
    right = int(np.sum(inside & held & (arrays["y"] == 1)))
    text = page.locator(".fgs-card").inner_text()
    assert f"{sum(votes)} training points: {votes[0]} of group A, {votes[1]} of group B" in text
    assert f"{100 * inside.mean():.1f}% ({inside.sum()} of 397)" in text
    assert f"({right} of {np.sum(inside & held)} held-out points" in text
    cells = page.locator(".fgs-members tbody td").all_inner_texts()
    expected = [np.sum(inside & (arrays["s"] == g) & (arrays["y"] == k)) for g, k in itertools.product((0, 1), (0, 1))]
    assert cells == [str(n) for n in expected]
    page.get_by_role("button", name="Close the card").click()
    assert page.evaluate("calls") == [["select", None]]


def test_card_of_a_point_explains_mu_and_the_flip(page):
    arrays, meta = random_scene(0, n=1, P=2)
    arrays["points"][0] = [0.4, 0.0]
    arrays["y"][0] = 0
    for key in ("glvq", "inp", "fairglvq"):
        arrays[f"{key}.prototypes"][1] = [[0.0, 0.0], [1.0, 0.0]]
    arrays["inp.prototypes"][1] = [[1.0, 0.0], [0.0, 0.0]]
    page.evaluate(
        "([data, selection]) => { mounted(createCard, makeScene(data), 1, { selection }); }",
        [to_js(arrays, meta), {"panel": "glvq", "kind": "point", "index": 0}],
    )
    facts = dict(
        zip(
            page.locator(".fgs-facts:visible dt").all_inner_texts(),
            page.locator(".fgs-facts:visible dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts["Nearest of its own class"] == "prototype 1 (“no”), distance 0.4"
    assert facts["Nearest of another class"] == "prototype 2 (“yes”), distance 0.6"
    assert facts["How sure (mu)"].startswith("\u22120.38: its own class is nearer: decided rightly")
    assert facts["What would flip it"] == "x1 up by 0.1: a straight step of 0.1 to “yes”"
    assert (facts["GLVQ decides"], facts["INP decides"]) == ("“no”, right", "“yes”, wrong")


def test_prototype_table_fills_when_opened_and_opens_cards(page):
    arrays, meta = random_scene(9)
    page.evaluate("data => { mounted(createPrototypeTable, makeScene(data), 2); }", to_js(arrays, meta))
    assert page.locator("tbody tr").count() == 0
    page.get_by_text("All prototypes as a table").click()
    page.locator('[data-method="inp"] tbody tr').first.wait_for()
    winners = nearest(arrays, meta["panels"][1], 2, arrays["points"])
    rows = page.locator('[data-method="inp"] tbody tr')
    assert [row.locator("td").nth(4).inner_text() for row in rows.all()] == [
        str(np.sum(winners == j)) for j in range(6)
    ]
    share = np.mean(arrays["s"][winners == 1] == 0)
    assert rows.nth(1).locator("td").nth(5).inner_text() == f"{100 * share:.0f}%"
    rows.nth(1).get_by_role("button").click()
    assert page.evaluate("calls") == [["select", {"panel": "inp", "kind": "prototype", "index": 1}]]


def test_prototype_table_names_the_axes_of_the_scene_shown(page):
    first, second = (to_js(*random_scene(seed, axes=axes)) for seed, axes in ((1, ["x1", "x2"]), (2, ["age", "pay"])))
    page.evaluate("data => { window.now = mounted(createPrototypeTable, makeScene(data), 1); }", first)
    page.get_by_text("All prototypes as a table").click()
    page.evaluate("data => { const s = makeScene(data); now.widget.update(s, shown(s, 1), now.view); }", second)
    heads = page.locator('[data-method="glvq"] thead th').all_inner_texts()
    assert heads == ["Prototype", "Class", "Pseudo-class", "age", "pay", "Members", "of group A", "of group B"]


def test_a_new_training_keeps_focus_and_open_details(page):
    first, second = (to_js(*random_scene(seed)) for seed in (1, 2))
    page.evaluate("data => { window.now = mounted(createReadoutNotes, makeScene(data), 1); }", first)
    page.get_by_text("What do these numbers mean?").click()
    page.evaluate("data => { const s = makeScene(data); now.widget.update(s, shown(s, 1), now.view); }", second)
    assert page.evaluate("document.querySelector('details').open")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_long_names_do_not_widen_a_card(page):
    arrays, meta = random_scene(6)
    meta |= {
        "classes": ["not arrested again", "arrested again"],
        "people": ["people who are not Caucasian", "Caucasians"],
    }
    page.set_viewport_size({"width": 300, "height": 900})  # as wide as the sheet that a card lies on
    page.evaluate(
        "([data, selection]) => { mounted(createCard, makeScene(data), 1, { selection }); }",
        [to_js(arrays, meta), {"panel": "inp", "kind": "prototype", "index": 0}],
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 300


@pytest.mark.parametrize("width", [390, 1280])
def test_no_widget_is_wider_than_its_place(page, width):
    arrays, meta = random_scene(6, film=True, G=3, K=3)
    page.set_viewport_size({"width": width, "height": 900})
    for name in WIDGETS:
        page.evaluate(
            "([name, data, selection]) => { mounted(window[name], makeScene(data), 1, { selection });"
            " document.querySelectorAll('details').forEach((d) => (d.open = true)); }",
            [name, to_js(arrays, meta), {"panel": "inp", "kind": "point", "index": 0}],
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
