"""The stage's engine: its JavaScript modules as real modules in Chromium, and the whole component in a small app."""

import base64
import itertools
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from browser import ROOT, Watch, static_files, streamlit_app, visits, wait_idle
from playwright.sync_api import expect
from stage_demo import EPOCHS, make_scene

from fairglvq import FairTree
from fairglvq.scenes import scoring
from fairglvq.scenes.points import load_points
from fairglvq.scenes.scene import compose
from fairglvq.scenes.settings import Settings
from fairglvq.scenes.training import train_part
from pages.shared.playground import stage
from pages.shared.session import read_view

pytestmark = pytest.mark.browser
STAGE = '.stage[data-ready="1"]'


def packed(meta, arrays):
    """A scene as text: numbers one by one take Playwright seconds."""
    return base64.b64encode(stage.pack(meta, arrays)).decode()


# ---- modules ----


@pytest.fixture(scope="module")
def modules(browser):
    """``modules("name.js", "(m, argument) => ...", argument)`` runs code on one module in a blank page."""
    with static_files(ROOT / "pages/shared/playground/stage/js") as url:
        page = browser.new_page()
        watch = Watch(page)
        page.goto(f"{url}/unpack.js")

        def run(name, code, argument=None):
            return page.evaluate(
                "async ([name, code, argument]) => (0, eval)(code)(await import(`/${name}`), argument)",
                [name, code, argument],
            )

        yield run
        assert watch.problems == []
        page.close()


def test_every_module_stands_alone(modules):
    for path in (ROOT / "pages/shared/playground/stage/js").glob("*.js"):
        assert modules(path.name, "(m) => Object.keys(m).length") >= 1


def test_every_export_is_used():
    """By another module or by these tests; the entry is Streamlit's."""
    sources = {path.name: path.read_text("utf-8") for path in (stage.FOLDER / "js").glob("*.js")}
    exported = {
        (name, export)
        for name, code in sources.items()
        for export in re.findall(r"^export (?:async )?(?:function|class|const|let) (\w+)", code, re.MULTILINE)
    }
    imported = {
        (module, name)
        for code in sources.values()
        for names, module in re.findall(r"^import\s*\{([^}]*)\}\s*from\s*\"\./([\w.]+)\"", code, re.MULTILINE)
        for name in re.findall(r"\w+", names)
    }
    here = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_stage_*.py"))
    unused = {(name, export) for name, export in exported - imported if not re.search(rf"\b{export}\b", here)}
    assert unused == set()
    assert imported <= exported


def test_pack_and_unpack_agree_even_when_unaligned(modules):
    rng = np.random.default_rng(0)
    arrays = {
        "a": rng.normal(size=(3, 2)),
        "b": np.array([[1, 2, 255]], "u1"),
        "c": np.arange(5, dtype="u2"),
        "d": rng.normal(size=3).astype("f4"),
        "e": np.array([2**32 - 1], "u4"),
        "f": np.array([-7, 7], "i4"),
        "none": np.zeros((0, 2)),
    }
    blob = stage.pack({"name": "Größe", "n": [1, None]}, arrays)
    got = modules(
        "unpack.js",
        """(m, text) => {
            const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
            const shifted = new Uint8Array(bytes.length + 3);
            shifted.set(bytes, 3);
            const { meta, arrays } = m.unpack(shifted.subarray(3));
            const plain = Object.entries(arrays).map(([name, { data, shape }]) => [name, [[...data], shape]]);
            return { meta, arrays: Object.fromEntries(plain) };
        }""",
        base64.b64encode(blob).decode(),
    )
    assert got["meta"] == {"name": "Größe", "n": [1, None]}
    for name, array in arrays.items():
        assert got["arrays"][name] == [array.ravel().tolist(), list(array.shape)]


def test_pack_aligns_and_refuses_what_the_browser_cannot_read():
    blob = stage.pack({}, {"a": np.zeros(3, "u1"), "b": np.zeros(1)})
    header = int.from_bytes(blob[:4], "little")
    table = json.loads(blob[4 : 4 + header])["arrays"]
    assert (4 + header) % 8 == 0
    assert table["b"][2] == 8
    with pytest.raises(ValueError, match="'labels' has dtype int64"):
        stage.pack({}, {"labels": np.zeros(3, "i8")})
    with pytest.raises(ValueError, match="JSON"):
        stage.pack({"x": float("nan")}, {})


@pytest.mark.parametrize("text", [None, "", "{", "[1]", "3", '{"epoch": NaN}', '{"epoch": 1e999}', "[" * 100_000])
def test_broken_view_parameter_is_no_view(text):
    assert read_view(text) is None


def test_view_parameter_is_read():
    assert read_view('{"epoch": 3}') == {"epoch": 3}


MAPS = {
    "identity": None,
    "affine": {"A": [[1.5, -0.4], [0.3, 0.8]], "b": [0.2, -0.5]},
    "projection": {"A": [[0.64, 0.48], [0.48, 0.36]], "b": [0.1, 0.3]},
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_the_nearest_prototype_regions(modules, name, weighted):
    rng = np.random.default_rng(len(name))
    plane_map = MAPS[name]
    A, b = (np.eye(2), np.zeros(2)) if plane_map is None else map(np.array, plane_map.values())
    W = rng.uniform(-1, 1, (9, 2)) @ A.T + b
    W[5] = W[2]  # twins: the first takes all
    r = rng.uniform(0, 0.5, 9) if weighted else np.zeros(9)
    box = [-1.0, -1.2, 1.3, 1.0]
    cells = modules(
        "geometry.js",
        "(m, [W, weights, map, box]) => m.cellsOf({ W, weights, panel: { map } }, box)",
        [W.ravel().tolist(), r.tolist() if weighted else None, plane_map, box],
    )
    x, y = np.meshgrid(np.linspace(box[0], box[2], 41), np.linspace(box[1], box[3], 37))
    points = np.column_stack([x.ravel(), y.ravel()])
    D = (((points @ A.T + b)[:, None, :] - W) ** 2).sum(2) + r
    nearest = D.argmin(1)
    sides = []
    area = 0.0
    for j, cell in enumerate(cells):
        corners = np.array(cell["poly"]).reshape(-1, 2)
        if len(corners) == 0:
            sides.append(np.full(len(points), -np.inf))
            continue
        ahead = np.roll(corners, -1, axis=0)
        area += 0.5 * (corners[:, 0] * ahead[:, 1] - corners[:, 1] * ahead[:, 0]).sum()
        edge = ahead - corners
        to_point = points[:, None, :] - corners
        sides.append((edge[:, 0] * to_point[:, :, 1] - edge[:, 1] * to_point[:, :, 0]).min(1))
        for k, middle in zip(cell["edges"], (corners + ahead) / 2, strict=True):
            d = (((A @ middle + b) - W) ** 2).sum(1) + r
            assert k == -1 or d[j] == pytest.approx(d[k], abs=1e-9)
    inside = np.array(sides)[nearest, np.arange(len(points))]
    assert inside.min() > -1e-9
    assert area == pytest.approx((box[2] - box[0]) * (box[3] - box[1]), rel=1e-9)
    found = modules(
        "geometry.js",
        "(m, [Z, W, weights]) => Z.map(([x, y]) => m.nearestPrototype(x, y, { W, weights }))",
        [(points @ A.T + b).tolist(), W.ravel().tolist(), r.tolist() if weighted else None],
    )
    assert found == nearest.tolist()


def test_leaves_are_exact_rectangles(modules):
    """From the packed scene to polygons, borders and decisions; a point on a border belongs to the leaf below."""
    settings = Settings(epochs=1, batch_size=2500, beside=("fairtree",), leaves=9, C=0.5, dataset="three_classes")
    points = load_points(settings)
    shown = compose(
        settings, points, {m: train_part(settings, points, m, lambda share: None) for m in settings.methods}
    )
    learn = ~points.held_out
    tree = FairTree(9, C=0.5).fit(points.X[learn], points.y[learn], sensitive_features=points.s[learn])
    corners = np.array(list(itertools.product(tree.tree_.threshold[tree.tree_.feature >= 0], repeat=2)))
    view = [0.1, -0.2, 0.9, 1.2]
    got = modules(
        "scene.js",
        """async (m, [text, corners, view]) => {
            const [{ unpack }, { assignment }, geometry] = await Promise.all(
                ["unpack", "metrics", "geometry"].map((name) => import(`/${name}.js`)));
            const scene = m.buildScene(unpack(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
            const model = m.frameModel(scene.panels.find(({ key }) => key === "fairtree"), scene.F - 1);
            return {
                leaves: [...assignment(scene, model)], labels: [...model.labels], pseudo: [...model.pseudo],
                corners: corners.map(([x, y]) => geometry.nearestPrototype(x, y, model)),
                cells: geometry.cellsOf(model, view),
            };
        }""",
        [packed(shown.meta, shown.arrays), corners.tolist(), view],
    )
    np.testing.assert_array_equal(got["leaves"], tree.apply(points.X))
    np.testing.assert_array_equal(got["corners"], tree.apply(corners))
    assert (got["labels"], got["pseudo"]) == (tree.leaf_labels_.tolist(), tree.pseudo_classes_.tolist())
    low, high = np.moveaxis(tree.tree_.boxes(2), 2, 0)
    shared = Counter()
    for j, cell in enumerate(got["cells"]):
        around = np.array(cell["poly"]).reshape(-1, 2)
        sides = np.minimum(high[j], view[2:]) - np.maximum(low[j], view[:2])
        ahead = np.roll(around, -1, axis=0)
        area = 0.5 * (around[:, 0] * ahead[:, 1] - around[:, 1] * ahead[:, 0]).sum()
        assert area == pytest.approx(np.prod(np.maximum(sides, 0)))
        for k, length in zip(cell["edges"], np.abs(ahead - around).sum(axis=1), strict=True):
            shared[min(j, k), max(j, k)] += length if j < k else -length if k >= 0 else 0
    assert len(shared) > 9  # two leaves beside each other name each other, along the same stretch
    assert list(shared.values()) == pytest.approx([0] * len(shared))


def test_projection_puts_prototypes_on_the_kept_line(modules):
    kept, removed, origin = np.array([0.8, 0.6]), np.array([-0.6, 0.8]), np.array([0.5, 1.0])
    A = np.outer(kept, kept)
    b = origin - A @ origin
    got = modules(
        "geometry.js",
        """(m, [map, line]) => {
            const space = m.planeMap(map, line);
            const [x, y] = space.toPlane(...space.toModel(2, -1));
            const half = m.foldPoint(2, -1, line, 0.5);
            return { x, y, half, vector: space.toPlaneVector(...line.kept) };
        }""",
        [
            {"A": A.tolist(), "b": b.tolist()},
            {"origin": origin.tolist(), "removed": removed.tolist(), "kept": kept.tolist()},
        ],
    )
    point = np.array([2.0, -1.0])
    foot = origin + kept * (kept @ (point - origin))
    assert [got["x"], got["y"]] == pytest.approx(foot)
    assert got["half"] == pytest.approx((point + foot) / 2)
    assert got["vector"] == pytest.approx(kept)


@pytest.fixture(scope="module")
def learned():
    """A scene of models with learned distances, with equal weights and with handicaps."""
    settings = Settings(dataset="local", metric="matrix", prototypes=2, beside=("fairglvq", "paritylvq"))
    points = load_points(settings)
    trainings = {method: train_part(settings, points, method, lambda share: None) for method in settings.methods}
    return compose(settings, points, trainings)


def squeezing(scene, key, t):
    """Centre and matrix of x' = c + M (x - c), from the learned metric itself."""
    omega = scene.trainings[key].learned.omega
    values, vectors = np.linalg.eigh(omega.T @ omega)
    P = (vectors * np.sqrt(values / values.max())) @ vectors.T
    return np.reshape(scene.meta["bounds"], (2, 2)).mean(axis=0), (1 - t) * np.eye(2) + t * P


SQUEEZED = """async (m, [text, keys, shares]) => {
    const load = (name) => import(`/${name}.js`);
    const [{ unpack }, s, { cellsOf }] = await Promise.all(["unpack", "scene", "geometry"].map(load));
    const scene = s.buildScene(unpack(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
    return keys.flatMap((key) => shares.map((t) => {
        const plain = scene.panels.find((panel) => panel.key === key);
        const panel = m.squeezed(scene, plain, t);
        const model = { ...s.frameModel(plain, scene.F - 1), panel };
        return {
            plain: panel === plain, points: [...s.pointsOf(scene, panel)],
            places: [...s.drawnPlaces(panel.space, model.W)],
            cells: cellsOf(model, [-9, -9, 9, 9]), trail: [...panel.drawn.slice(-2 * panel.P)],
            back: panel.toData?.(...panel.toDrawn(0.3, 0.9)) ?? [0.3, 0.9],
        };
    }));
}"""


def test_squeezing_moves_everything_and_changes_no_decision(modules, learned):
    keys, shares = ["glvq", "fairglvq", "paritylvq"], [0, 0.5, 1]
    found = modules("squeeze.js", SQUEEZED, [packed(learned.meta, learned.arrays), keys, shares])
    for (key, t), got in zip(itertools.product(keys, shares), found, strict=True):
        check_squeezed(learned, key, t, got)


def check_squeezed(learned, key, t, got):
    centre, M = squeezing(learned, key, t)
    assert got["plain"] == (t == 0)
    assert got["back"] == pytest.approx([0.3, 0.9])
    X, training = learned.points.X, learned.trainings[key]
    drawn = np.reshape(got["points"], (-1, 2))
    np.testing.assert_allclose(drawn, centre + (X - centre) @ M.T, atol=1e-9)
    places = np.reshape(got["places"], (-1, 2))
    W = np.linalg.solve(training.learned.omega, training.prototypes[-1][:, :2].T).T
    np.testing.assert_allclose(places, centre + (W - centre) @ M.T, atol=1e-9)
    np.testing.assert_allclose(np.reshape(got["trail"], (-1, 2)), places)
    nearest = scoring.nearest(training, X, training.prototypes[-1])
    slant = []
    for j, cell in enumerate(got["cells"]):
        corners = np.reshape(cell["poly"], (-1, 2))
        edges = np.roll(corners, -1, axis=0) - corners
        to_point = drawn[nearest == j][:, None] - corners
        assert (edges[:, 0] * to_point[..., 1] - edges[:, 1] * to_point[..., 0]).min(initial=0) > -1e-9
        for k, edge in zip(cell["edges"], edges, strict=True):
            if k >= 0:
                way = places[k] - places[j]
                slant.append(abs(edge @ way) / np.linalg.norm(edge) / np.linalg.norm(way))
    assert np.bincount(nearest).max() < len(X)
    assert (max(slant) < 1e-9) == (t == 1)  # only where the plane is as measured, a border stands upright between two


def test_a_prototype_is_grabbed_and_put_down_where_it_is_seen(browser, learned):
    page = browser.new_page()
    mounted_by_hand(page, (learned.meta, learned.arrays))
    got = page.evaluate(
        """() => {
            const { stage } = window;
            const slider = document.querySelector('[data-action="slider-glvq"]');
            slider.value = 1;
            slider.dispatchEvent(new Event("input"));
            stage.render(0);
            stage.hold("glvq", 1);
            stage.moveTo(0.3, 0.6);
            stage.drop(true);
            stage.render(0);
            const found = {
                put: [...stage.positionsOf("glvq").slice(2, 4)],
                view: stage.state.squeeze,
                seen: !slider.closest("[hidden]"),
                sent: window.sent.at(-1)[1][0].model.places[1],
                action: document.querySelector('[data-action="continue-glvq"]').hidden,
                note: document.querySelector('[data-panel="paritylvq"] .note').textContent,
                second: document.querySelector('[data-action="second-slider-paritylvq"]').value,
            };
            stage.togglePaint();
            stage.render(0);
            return { ...found, painting: stage.state.squeeze, off: slider.disabled };
        }"""
    )
    page.close()
    centre, M = squeezing(learned, "glvq", 1)
    x = centre + np.linalg.solve(M, np.array([0.3, 0.6]) - centre)
    assert got["sent"] == pytest.approx(learned.trainings["glvq"].learned.omega @ x)
    assert got["put"] == pytest.approx([0.3, 0.6])
    assert (got["view"], got["second"], got["seen"], got["action"]) == (1, "1", True, True)
    assert got["note"] == learned.meta["panels"][2]["squeeze"]["words"]
    assert (got["painting"], got["off"]) == (0, True)  # a point is painted where it is


def test_the_legend_follows_the_share_held_out(browser):
    page = browser.new_page()
    meta, arrays = demo_scene()
    mounted_by_hand(page)
    legend = page.locator(".legend").first
    expect(legend).to_contain_text("held out")
    nobody = arrays | {"held_out": np.zeros_like(arrays["held_out"])}
    page.evaluate("(scene) => window.show(scene)", packed(meta | {"revision": "nothing held out"}, nobody))
    expect(legend).not_to_contain_text("held out")
    page.close()


def test_camera_has_equal_aspect_and_zooms_around_the_pointer(modules):
    got = modules(
        "camera.js",
        """(m) => {
            const bounds = [-1, 0, 3, 2];
            const camera = m.fitCamera(bounds);
            const vp = m.viewport(camera, bounds, 400, 300);
            const before = m.toPlane(vp, 90, 40);
            const closer = m.zoomAt(camera, vp, 90, 40, 2.5);
            const after = m.toPlane(m.viewport(closer, bounds, 400, 300), 90, 40);
            const moved = m.viewport(m.panBy(camera, vp, 30, -20), bounds, 400, 300);
            return {
                camera, before, after, zoom: closer.zoom,
                back: m.toScreen(vp, ...before),
                origin: m.toScreen(vp, 0, 0),
                unit: m.toScreen(vp, 1, 1),
                pan: m.toScreen(moved, ...before),
                widest: m.zoomAt(camera, vp, 0, 0, 1e9).zoom,
                fits: [m.toScreen(vp, -1, 0), m.toScreen(vp, 3, 2)],
                much: [m.boundsChangedMuch(bounds, [-1, 0, 3.1, 2]), m.boundsChangedMuch(bounds, [5, 0, 9, 2])],
            };
        }""",
    )
    assert got["camera"] == {"cx": 1, "cy": 1, "zoom": 1}
    assert got["back"] == pytest.approx([90, 40])
    assert got["after"] == pytest.approx(got["before"])
    assert got["zoom"] == 2.5
    assert got["unit"][0] - got["origin"][0] == pytest.approx(got["origin"][1] - got["unit"][1])
    assert got["pan"] == pytest.approx([120, 20])
    assert got["widest"] == 40
    assert [0 <= v <= 400 for corner in got["fits"] for v in corner] == [True] * 4
    assert got["much"] == [False, True]


def test_playback_clock(modules):
    got = modules(
        "playback.js",
        """(m) => ({
            on: m.advance(2.5, 0.5, 4, 10), end: m.advance(9, 1, 4, 10),
            long: m.playRate(241, 1), short: m.playRate(11, 1), fast: m.playRate(241, 4),
        })""",
    )
    assert got == {
        "on": {"position": 4.5, "finished": False},
        "end": {"position": 10, "finished": True},
        "long": 30,
        "short": 6,
        "fast": 120,
    }


def test_the_nearest_of_some_values(modules):
    got = modules("arithmetic.js", "(m) => [8, -3, 1.5, 99].map((wanted) => m.nearestIndex([0, 1, 2, 5, 10], wanted))")
    assert got == [4, 0, 1, 4]  # of two that are equally near the first


SCENE = """{ F: 5, n: 3,
  meta: { epochs: [0, 1, 2, 3, 4], bounds: [0, 0, 1, 1], dataset: "a", keep_position: true, view: null },
  panels: [{ key: "glvq", P: 2 }, { key: "inp", P: 2 }], films: { inp: { values: [0, 1] } } }"""


def test_bad_links_are_repaired(modules):
    got = modules(
        "view.js",
        f"""(m) => {{
            const scene = {SCENE};
            const state = m.newState();
            m.firstView(state, scene);
            const clean = m.viewOf(state, scene);
            m.restoreView(state, {{
                epoch: "x", speed: 17, show: {{ regions: 3, forces: true, evil: true }}, hidden: ["glvq", "inp", "no"],
                enlarged: "no", film: ["inp", 9], filmIndex: 0, camera: [0, NaN, -1], fold: 7, squeeze: "1",
                open: ["table", 3, "<b>"],
            }}, scene);
            const repaired = m.viewOf(state, scene);
            m.restoreView(state, {{ camera: [0.5, 0.5, 1e300] }}, scene);
            const {{ zoom }} = state.camera;
            const good = {{ epoch: 2, speed: 2, hidden: ["inp"], enlarged: "glvq", camera: [0.2, 0.3, 4], fold: 0.5 }};
            m.restoreView(state, {{ ...good, squeeze: 0.25 }}, scene);
            const query = new URL(m.linkOf("http://x/play?C=1&view=old", m.viewOf(state, scene))).searchParams;
            return {{ clean, repaired, zoom, link: query.get("view"), C: query.get("C") }};
        }}""",
    )
    assert got["clean"] == {}  # a link holds only what differs from the view at first
    assert got["repaired"] == {"show": {"forces": True}, "fold": 1, "open": ["table"]}
    assert got["zoom"] == 40  # as far as a wheel can zoom
    assert got["C"] == "1"
    view = json.loads(got["link"])
    assert (view["epoch"], view["hidden"], view["enlarged"], view["camera"]) == (2, ["inp"], "glvq", [0.2, 0.3, 4])
    assert (view["fold"], view["squeeze"]) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("position", "change", "expected"),
    [
        (2, "", {"position": 2, "zoom": 3}),
        (4, "", {"position": 4, "zoom": 3}),  # the last frame stays the last frame
        (4, "now.F = 7; now.meta.epochs.push(5, 6);", {"position": 6, "zoom": 3}),
        (2, "now.meta.keep_position = false;", {"position": 4, "zoom": 3}),
        (2, 'now.meta.dataset = "b";', {"position": 2, "zoom": 1}),
        (2, "now.meta.bounds = [0, 0, 9, 9];", {"position": 2, "zoom": 1}),
        (2, "now.panels[0].squeeze = { matrix: [[1, 0], [0, 1]] };", {"position": 2, "zoom": 3, "squeeze": 0.5}),
    ],
)
def test_what_a_new_scene_keeps(modules, position, change, expected):
    got = modules(
        "view.js",
        f"""(m) => {{
            const before = {SCENE}, now = {SCENE};
            const state = m.newState();
            m.firstView(state, before);
            Object.assign(state, {{ position: {position}, camera: {{ cx: 0.5, cy: 0.5, zoom: 3 }} }});
            state.film = {{ panel: "inp", index: 1 }};
            state.squeeze = 0.5;
            state.hidden.add("inp");
            {change}
            m.carryOver(state, before, now);
            const {{ position, camera: {{ zoom }}, film, hidden, squeeze }} = state;
            return {{ position, zoom, film, squeeze, hidden: [...hidden] }};
        }}""",
    )
    assert got == {"film": None, "hidden": ["inp"], "squeeze": 0} | expected


def test_paint_erase_and_undo(modules):
    got = modules(
        "painting.js",
        """(m) => {
            const p = m.createPainting();
            const scene = { n: 2, points: [0, 0, 1, 1], heldOut: [0, 1] };
            const both = { points: true, heldOut: true };
            Object.assign(p, { klass: 1, group: 0 });
            m.beginStroke(p);
            m.strokeTo(p, scene, 0.5, 0.5, 100, both);
            m.strokeTo(p, scene, 0.51, 0.5, 100, both);  // too near for another point
            m.strokeTo(p, scene, 0.7, 0.5, 100, both, () => 0);
            const painted = structuredClone(p.added);
            p.tool = "eraser";
            m.beginStroke(p);
            m.strokeTo(p, scene, 0.5, 0.5, 100, both);
            m.strokeTo(p, scene, 1, 1, 100, { points: true, heldOut: false });  // what is not shown is not erased
            m.strokeTo(p, scene, 0, 0, 100, both);
            const gesture = structuredClone(m.paintGesture(p));
            m.undoStroke(p);
            const undone = structuredClone(m.paintGesture(p));
            return { painted, gesture, undone, more: [m.undoStroke(p), m.undoStroke(p)], has: m.hasPaint(p) };
        }""",
    )
    assert got["painted"] == [[0.5, 0.5, 1, 0], [0.7, 0.5, 1, 0]]
    assert got["gesture"] == {"kind": "paint", "added": [[0.7, 0.5, 1, 0]], "erased": [0]}
    assert got["undone"] == {"kind": "paint", "added": got["painted"], "erased": []}
    assert got["more"] == [True, False]
    assert got["has"] is False


def test_arrow_scale_is_a_round_number(modules):
    got = modules("forces.js", "(m) => [0.0034, 1, 4.99, 5, 99, 2000].map(m.roundDown125)")
    assert got == pytest.approx([0.002, 1, 2, 5, 50, 2000])


def test_a_label_beside_a_curve_covers_nothing(modules):
    got = modules(
        "tradeoff.js",
        """(m) => {
            const size = [40, 15], plot = [400, 180];
            const rising = Array.from({ length: 100 }, (_, i) => [20 + i, 150 - i]);
            const level = Array.from({ length: 100 }, (_, i) => [4 * i, 60]);
            return [
                m.clearPlace([20, 150], size, rising, plot), m.clearPlace([200, 90], size, [], plot),
                m.clearPlace([200, 78], size, level, plot), m.clearPlace([398, 3], size, [], plot),
            ];
        }""",
    )
    (x, y), above, below, corner = got
    assert not any(x - 2 < 20 + i < x + 42 and y < 150 - i < y + 15 for i in range(100))
    assert above == [180, 66]  # where nothing is in the way
    assert below[1] >= 78
    assert corner[0] + 40 <= 398
    assert corner[1] >= 3


def test_stamps_lie_over_one_another(modules):
    got = modules(
        "pointlayer.js",
        """(m) => {
            const sprite = (r, g, b, a) => new ImageData(Uint8ClampedArray.of(r, g, b, a), 1, 1);
            const image = new ImageData(2, 1);
            m.stamp(image, sprite(200, 0, 0, 255), 0, 0);
            m.stamp(image, sprite(0, 100, 0, 51), 0, 0);
            m.stamp(image, sprite(0, 0, 90, 51), 1, 0);
            m.stamp(image, sprite(9, 9, 9, 255), 5, 5);
            return [...image.data];
        }""",
    )
    assert got == [160, 20, 0, 255, 0, 0, 90, 51]


def test_bundle_is_one_module_without_leftovers(browser):
    code = stage.bundle()
    assert not re.search(r"^import ", code, re.MULTILINE)
    assert re.findall(r"^export .*", code, re.MULTILINE) == ["export default mountStage;"]
    page = browser.new_page()
    kind = page.evaluate(
        """async (code) => {
            const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
            return typeof (await import(url)).default;
        }""",
        code,
    )
    page.close()
    assert kind == "function"


# ---- the component in an app ----


@pytest.fixture(scope="module")
def app():
    with streamlit_app("tests/stage_demo.py") as url:
        yield url


class Visit:
    """A page with the stage on it."""

    def __init__(self, context, url, query=""):
        self.page = context.new_page()
        self.watch = Watch(self.page)
        self.sent = []
        self.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self.sent.append(frame)))
        self.page.goto(url + query)
        self.page.wait_for_selector(STAGE)
        wait_idle(self.page)
        self.stage = self.page.locator(STAGE)

    def data(self, name):
        return self.stage.get_attribute(f"data-{name}")

    def wait_data(self, name, value, negate=False):
        sign = f'[data-{name}="{value}"]'
        self.page.wait_for_selector(f"{STAGE}:not({sign})" if negate else f"{STAGE}{sign}", state="attached")

    def act(self, name):
        if name.startswith(("show-", "panel-", "speed")):
            self.stage.evaluate("(root) => { root.querySelector('.view-menu').open = true; }")
        return self.page.locator(f'[data-action="{name}"]')

    def gestures(self):
        return json.loads(self.page.locator("code").first.inner_text())

    def wait_gestures(self, kinds):
        expect(self.page.locator("code").first).to_have_text(json.dumps(kinds))
        wait_idle(self.page)

    def wait_dropped(self, times=1):
        """A prototype moved by hand was sent so many times at least."""
        self.page.wait_for_function(
            "(n) => JSON.parse(document.querySelector('code').textContent).filter((k) => k === 'drag').length >= n",
            arg=times,
        )
        wait_idle(self.page)

    def wait_view(self, part):
        self.page.locator("code").nth(1).filter(has_text=part).wait_for()
        wait_idle(self.page)

    def prototype(self, panel, index, frame=EPOCHS):
        """Where a prototype of a plain panel is drawn, in page pixels."""
        meta, arrays = demo_scene()
        x0, y0, x1, y1 = meta["bounds"]
        canvas = self.page.locator(f'canvas[data-panel="{panel}"]')
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        scale = min(0.94 * box["width"] / (x1 - x0), (box["height"] - 40) / (y1 - y0))
        x, y = arrays[f"{panel}.prototypes"][frame, index]
        return (
            box["x"] + box["width"] / 2 + (x - (x0 + x1) / 2) * scale,
            box["y"] + box["height"] / 2 - (y - (y0 + y1) / 2) * scale,
        )

    def drag(self, start, by):
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(start[0] + by[0], start[1] + by[1], steps=6)

    def tag_canvases(self):
        self.stage.evaluate("(root) => root.querySelectorAll('canvas').forEach((c) => (c.mine = true))")

    def canvases_are_mine(self):
        return self.stage.evaluate("(root) => [...root.querySelectorAll('canvas')].every((c) => c.mine)")

    def start_over(self):
        """As a new visitor, on the page that is there."""
        self.stage.evaluate("(root) => { root.dataset.before = 1; }")
        self.page.get_by_role("button", name="Start over").click()
        self.page.wait_for_selector(f"{STAGE}:not([data-before])")
        expect(self.stage).to_have_count(1)
        wait_idle(self.page)
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement.blur()")
        self.stage.scroll_into_view_if_needed()
        self.sent.clear()


@cache
def demo_scene():
    """What the app shows first."""
    return make_scene(0.75)


@pytest.fixture(scope="module")
def first_visit(browser, app):
    """A page for all visits without a link."""
    for open_page in visits(browser, app, Visit):
        yield open_page()


@pytest.fixture
def visit(request, browser, app):
    """``visit(query="", **context_options)`` opens the app."""
    opening = visits(browser, app, Visit)
    open_page = next(opening)

    def any_visit(query="", **options):
        if query or options:
            return open_page(query, **options)
        v = request.getfixturevalue("first_visit")
        v.start_over()
        return v

    yield any_visit
    yield from opening  # its end


MISNAMED = """(root) => [...root.querySelectorAll("button, th")].filter((one) => {
    const text = one.textContent.trim();
    return one.ariaLabel ? /\\w/.test(text) && !one.ariaLabel.includes(text) : !text;
}).map((one) => one.outerHTML)"""  # names that do not say what can be read, and none at all


def test_first_picture_is_trained_paused_and_described(visit):
    v = visit()
    assert (v.data("frame"), v.data("playing")) == (str(EPOCHS), "0")
    for key in ("glvq", "inp", "fairglvq"):
        canvas = v.page.locator(f'canvas[data-panel="{key}"]')
        v.page.wait_for_selector(f'canvas[data-panel="{key}"][aria-label*="8 prototypes"]')
        assert canvas.get_attribute("role") == "img"
    v.page.locator("summary", has_text="table").click()
    expect(v.page.locator("details table").first).to_be_visible()
    assert v.stage.evaluate(MISNAMED) == []
    levels = v.stage.evaluate(
        "(root) => [...root.querySelectorAll('h1, h2, h3, h4, h5')].map((h) => Number(h.tagName[1]))"
    )
    assert all(level <= before + 1 for before, level in zip([1, *levels], levels, strict=False))


def test_regions_are_the_decisions(visit):
    v = visit()
    for name in ("points", "heldOut", "trails", "borders"):
        v.act(f"show-{name}").click()
    meta, arrays = demo_scene()
    W, labels = arrays["fairglvq.prototypes"][-1], np.array(meta["panels"][2]["labels"])
    x0, y0, x1, y1 = meta["bounds"]
    pixels = v.stage.evaluate(
        """(root) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
            const canvas = root.querySelector('canvas[data-panel="fairglvq"]');
            const { width, height } = canvas;
            const image = canvas.getContext("2d").getImageData(0, 0, width, height).data, colours = [];
            for (let y = 5; y < height; y += 7)
                for (let x = 5; x < width; x += 7) colours.push(...image.subarray(4 * (y * width + x)).subarray(0, 3));
            done({ width, height, colours });
        })))"""
    )
    width, height = pixels["width"], pixels["height"]
    scale = min(0.94 * width / (x1 - x0), (height - 40) / (y1 - y0))
    columns, rows = np.meshgrid(np.arange(5, width, 7), np.arange(5, height, 7))
    px = (columns + 0.5 - width / 2) / scale + (x0 + x1) / 2
    py = (height / 2 - rows - 0.5) / scale + (y0 + y1) / 2
    seen = np.array(pixels["colours"]).reshape(*rows.shape, 3)
    D = ((np.stack([px, py], -1)[..., None, :] - W) ** 2).sum(-1)
    by_class = np.stack([D[..., labels == k].min(-1) for k in (0, 1)])
    clear = np.abs(np.sqrt(by_class[0]) - np.sqrt(by_class[1])) * scale > 2  # off the border by more than a pixel
    clear &= np.sqrt(D.min(-1)) * scale > 16  # and not under a prototype
    clear &= (rows > 24) & (rows < height - 24)  # nor under the names of the axes
    pale = np.array([[int(c["pale_light"][i : i + 2], 16) for i in (1, 3, 5)] for c in meta["grammar"]["classes"]])
    expected = pale[by_class.argmin(0)]
    assert clear.mean() > 0.8
    wrong = clear & (np.abs(seen - expected).max(-1) > 4)
    assert wrong.sum() == 0, list(zip(rows[wrong], columns[wrong], seen[wrong], strict=True))[:5]


def test_playing_needs_no_server_and_stops_on_a_frame(visit):
    v = visit()
    v.act("speed").select_option("0.25")
    v.wait_view('"speed": 0.25')
    before = len(v.sent)
    v.act("play").click()
    v.wait_data("playing", "1")
    v.page.wait_for_function("(root) => root.dataset.frame > 2", arg=v.stage.element_handle())
    assert len(v.sent) == before
    v.act("play").click()
    v.wait_data("playing", "0")
    frame = v.data("frame")
    v.wait_view(f'"epoch": {frame}')
    assert len(v.sent) == before + 1
    assert v.data("frame") == frame


def test_scrubbing_and_the_numbers_go_together(visit):
    v = visit()
    shown = v.page.locator(".panel").first.inner_text()
    scrubber = v.act("scrub")
    scrubber.focus()
    scrubber.press("Home")
    v.wait_data("frame", 0)
    assert "Epoch 0 of" in v.page.locator(".transport").inner_text().replace("\n", "")
    assert v.page.locator(".panel").first.inner_text() != shown
    scrubber.press("End")
    v.wait_data("frame", EPOCHS)


def test_everything_survives_reruns_and_new_scenes(visit):
    v = visit()
    v.tag_canvases()
    v.act("show-regions").click()
    v.act("panel-inp").click()
    v.act("scrub").focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        v.page.keyboard.press(key)
    v.wait_data("frame", 2)
    v.wait_view('"hidden": ["inp"]')
    revision = v.data("revision")
    v.page.get_by_role("slider", name="How fair").press("ArrowRight")
    v.wait_data("revision", revision, negate=True)
    wait_idle(v.page)
    v.page.get_by_role("button", name="Rerun").click()
    v.page.get_by_text("Ran again").wait_for()
    assert v.data("frame") == "2"
    assert v.act("show-regions").get_attribute("aria-pressed") == "false"
    assert v.page.locator('.panel[data-panel="inp"]').is_hidden()
    assert v.canvases_are_mine()


def test_dragging_a_prototype_moves_cells_at_once_and_tells_python_once(visit):
    v = visit()
    signature = v.data("model-signature")
    v.drag(v.prototype("fairglvq", 0), (40, 30))
    v.wait_data("model-signature", signature, negate=True)
    assert v.gestures() == []  # still in the hand
    v.page.mouse.up()
    v.wait_gestures(["drag"])
    v.wait_data("reply", "", negate=True)
    text = v.page.locator('.panel[data-panel="fairglvq"]').inner_text()
    assert "Checked by Python." in text
    assert "75.0%" in text  # 120 of the 160 people whom Python counted
    v.act("undo").click()
    v.wait_data("model-signature", signature)
    assert v.gestures() == ["drag"]


def test_continue_training_plays_the_new_run_and_undo_comes_back(visit):
    v = visit()
    v.act("speed").select_option("4")
    revision = v.data("revision")
    v.drag(v.prototype("fairglvq", 1), (-30, 20))
    v.page.mouse.up()
    v.wait_gestures(["drag"])
    v.act("continue-fairglvq").click()
    v.wait_data("revision", revision, negate=True)
    v.wait_data("playing", "1")
    v.wait_data("frame", EPOCHS)
    v.act("undo").click()
    v.wait_data("revision", revision)


def test_drag_in_the_inp_panel_stays_on_the_kept_line(visit):
    v = visit()
    meta, arrays = demo_scene()
    v.drag(v.prototype("inp", 0), (25, -60))
    v.page.mouse.up()
    v.wait_gestures(["drag"])
    gesture = json.loads(v.page.locator("code").nth(2).inner_text())
    line = meta["panels"][1]["line"]
    places = gesture["model"]["places"]
    off_line = (np.array(places[0]) - line["origin"]) @ np.array(line["removed"])
    assert off_line == pytest.approx(0, abs=1e-9)
    assert not np.allclose(places[0], arrays["inp.prototypes"][-1][0])


def test_keys_of_the_page_and_of_a_focused_slider(visit):
    v = visit()
    v.page.locator("body").press("r")
    v.wait_data("frame", 0)
    v.page.keyboard.press("ArrowRight")
    v.wait_data("frame", 1)
    v.page.keyboard.press("ArrowLeft")
    v.wait_data("frame", 0)
    v.page.keyboard.press(" ")
    v.wait_data("playing", "1")
    v.page.keyboard.press(" ")
    v.wait_data("playing", "0")
    frame, revision = v.data("frame"), v.data("revision")
    v.page.get_by_role("slider", name="How fair").press("ArrowRight")  # Streamlit's own slider keeps its keys
    v.wait_data("revision", revision, negate=True)
    assert v.data("frame") == frame


def test_prototypes_move_by_keyboard(visit):
    v = visit()
    signature = v.data("model-signature")
    v.page.locator('canvas[data-panel="glvq"]').focus()
    for key in ("Enter", "Tab", "Alt+ArrowRight", "Alt+ArrowUp"):
        v.page.keyboard.press(key)
    v.wait_data("model-signature", signature, negate=True)
    v.page.locator('canvas[data-panel="glvq"]').press("Escape")
    v.page.wait_for_selector(".sheet", state="hidden")
    v.wait_dropped()
    assert json.loads(v.page.locator("code").nth(2).inner_text())["prototype"] == 1


def test_a_picture_has_a_name_before_it_rests(visit):
    v = visit()
    described = re.compile("Press Enter to pick a prototype")
    expect(v.page.locator('canvas[data-panel="glvq"]')).to_have_attribute("aria-label", described)
    name = v.stage.evaluate(
        """(root) => {
            const { stage } = root.fairglvqStage, canvas = root.querySelector('canvas[data-panel="glvq"]');
            canvas.removeAttribute("aria-label");
            stage.play(0);
            stage.layout();
            return canvas.getAttribute("aria-label");
        }"""
    )
    assert name == "GLVQ"


@pytest.mark.long
def test_the_name_of_an_axis_gives_way_to_a_prototype(visit):
    v = visit()
    sides = v.stage.evaluate(
        """(root) => {
            const { stage } = root.fairglvqStage, view = stage.panels[0], { ctx } = view, sides = {};
            const write = ctx.fillText;
            ctx.fillText = function (text, ...rest) {
                if (/^↑|→$/.test(text)) sides[ctx.textAlign + text.match(/[↑→]/)] = true;
                write.call(ctx, text, ...rest);
            };
            const { cx, cy, scale, width, height } = stage.viewportOf(view);
            for (let j = 1; j < stage.panelOf(view.key).P; j++) { // out of the way
                stage.hold(view.key, j);
                stage.moveTo(cx, cy);
                stage.drop(true);
            }
            const sidesWith = (x, y) => {
                stage.hold(view.key, 0);
                stage.moveTo(cx + (x - width / 2) / scale, cy + (height / 2 - y) / scale);
                stage.layout();
                stage.drop(false);
                const found = Object.keys(sides);
                for (const side of found) delete sides[side];
                return found;
            };
            return [sidesWith(width / 2, height / 2), sidesWith(width - 30, height - 10), sidesWith(-300, height - 10)];
        }"""
    )
    assert sides == [["right→", "left↑"], ["left→", "left↑"], ["right→", "left↑"]]


def test_keys_on_one_prototype_are_one_move_however_slowly_they_come(visit):
    v = visit()
    signature = v.data("model-signature")
    canvas = v.page.locator('canvas[data-panel="glvq"]')
    canvas.press("Enter")
    for times in (1, 2):
        canvas.press("Alt+ArrowRight")
        v.wait_dropped(times)
    v.act("back-glvq").click()
    v.wait_data("model-signature", signature)


def test_what_follows_a_key_at_once_finds_the_prototype_dropped(visit):
    v = visit()
    signature = v.data("model-signature")
    canvas = v.page.locator('canvas[data-panel="glvq"]')
    moved = v.stage.evaluate(  # in one task: no timer of the nudge can come between
        """(root) => {
            const { stage } = root.fairglvqStage, canvas = root.querySelector('canvas[data-panel="glvq"]');
            const press = (key, altKey = false) =>
                canvas.dispatchEvent(new KeyboardEvent("keydown", { key, altKey, bubbles: true, composed: true }));
            const start = [...stage.shown(stage.panelOf("glvq")).W];
            canvas.focus();
            press("Enter");
            press("ArrowRight", true);
            press("Tab");
            press("ArrowRight", true);
            const end = stage.shown(stage.panelOf("glvq")).W;
            const moved = start.map((place, i) => [i, end[i] !== place]).filter(([, is]) => is).map(([i]) => i);
            stage.undo();
            stage.undo();
            return moved;
        }"""
    )
    assert moved == [0, 2]  # sideways: the first and the second prototype
    v.wait_data("model-signature", signature)
    canvas.press("Alt+ArrowRight")
    canvas.press("r")  # the start of training: another model, nothing left to drop
    v.wait_data("epoch", "0")
    v.wait_dropped(3)
    v.wait_view('"epoch": 0')


def test_film_follows_the_hand_and_trains_on_release(visit):
    v = visit()
    signature, before = v.data("model-signature"), len(v.sent)
    slider = v.act("slider-fairglvq")
    slider.evaluate("(e) => { e.value = 1.9; e.dispatchEvent(new Event('input')); }")
    v.wait_data("model-signature", signature, negate=True)
    assert "C = 2" in v.page.locator('.panel[data-panel="fairglvq"]').inner_text()
    assert len(v.sent) == before
    revision = v.data("revision")
    slider.evaluate("(e) => e.dispatchEvent(new Event('change'))")
    v.wait_data("revision", revision, negate=True)
    v.wait_gestures(["strength"])


def test_painting_trains_on_the_new_points(visit):
    v = visit()
    revision = v.data("revision")
    v.act("paint").click()
    v.act("brush-1-0").click()
    canvas = v.page.locator('canvas[data-panel="glvq"]')
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    v.drag((box["x"] + 60, box["y"] + 60), (120, 90))
    v.page.mouse.up()
    assert v.gestures() == []
    v.act("train").click()
    v.wait_gestures(["paint"])
    v.wait_data("revision", revision, negate=True)
    gesture = json.loads(v.page.locator("code").nth(2).inner_text())
    assert len(gesture["added"]) > 3
    assert {tuple(point[2:]) for point in gesture["added"]} == {(1, 0)}


def test_what_is_painted_stays_while_another_model_of_the_same_points_comes(visit):
    v = visit()
    revision = v.data("revision")
    v.act("paint").click()
    box = v.page.locator('canvas[data-panel="glvq"]').bounding_box()
    v.page.mouse.click(box["x"] + 60, box["y"] + 60)
    slider = v.act("slider-fairglvq")
    slider.evaluate("(e) => { e.value = 1.9; for (const n of ['input', 'change']) e.dispatchEvent(new Event(n)); }")
    v.wait_data("revision", revision, negate=True)
    assert "1 painted, 0 erased" in v.page.locator(".paintbar").inner_text()


def test_link_restores_the_view_and_share_copies_it(visit):
    view = {"epoch": 7, "speed": 2, "show": {"forces": True}, "hidden": ["glvq"], "camera": [0.5, 0.5, 2]}
    v = visit(query="?C=1&view=" + json.dumps(view), permissions=["clipboard-read", "clipboard-write"])
    assert v.data("epoch") == "7"
    assert v.page.locator('.panel[data-panel="glvq"]').is_hidden()
    assert "drawn" in v.page.locator(".legend.forces").inner_text()
    v.act("share").click()
    v.page.get_by_text("Link copied").wait_for()
    link = v.page.evaluate("navigator.clipboard.readText()")
    shared = json.loads(v.page.evaluate("(link) => new URL(link).searchParams.get('view')", link))
    assert shared["camera"] == view["camera"]
    assert "C=1" in link


@pytest.mark.long
def test_broken_link_shows_the_normal_picture(visit):
    v = visit(query="?view={nonsense")
    assert v.data("frame") == str(EPOCHS)


def test_zoom_needs_an_intention_and_double_click_resets(visit):
    v = visit()
    x, y = v.prototype("glvq", 0)
    v.page.mouse.move(x + 40, y)
    v.page.mouse.wheel(0, -200)  # just scrolling by
    assert v.act("fit").is_hidden()
    canvas = v.page.locator('canvas[data-panel="glvq"]')
    canvas.focus()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    v.page.mouse.move(box["x"] + 30, box["y"] + 30)
    v.page.mouse.wheel(0, -200)
    v.act("fit").wait_for()
    canvas.dblclick(position={"x": 6, "y": 6})
    v.act("fit").wait_for(state="hidden")


@pytest.mark.long
def test_last_panel_stays_and_a_panel_can_be_enlarged(visit):
    v = visit()
    small = v.page.locator('canvas[data-panel="glvq"]').bounding_box()["width"]
    v.act("enlarge-glvq").click()
    assert v.page.locator('canvas[data-panel="glvq"]').bounding_box()["width"] > 2 * small
    v.act("enlarge-glvq").click()
    for key in ("glvq", "inp", "fairglvq"):
        v.act(f"panel-{key}").click()
    expect(v.page.locator(".panel:visible")).to_have_count(1)


def test_phone_stacks_panels_and_lets_a_finger_scroll(visit):
    v = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    boxes = [v.page.locator(f'canvas[data-panel="{key}"]').bounding_box() for key in ("glvq", "inp", "fairglvq")]
    assert boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"] < boxes[2]["y"]
    assert v.stage.evaluate("(root) => root.scrollWidth <= root.clientWidth + 2")
    devtools = v.page.context.new_cdp_session(v.page)

    def swipe(x, y, dy):
        devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for share in range(1, 9):
            point = {"x": x, "y": y + dy * share / 8}
            devtools.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    top = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    x, y = v.prototype("glvq", 0)
    scrolled, signature = v.page.evaluate(top), v.data("model-signature")
    swipe(x, y, 50)  # a grabbed prototype moves and the page stays
    v.wait_gestures(["drag"])
    assert v.data("model-signature") != signature
    assert v.page.evaluate(top) == scrolled
    canvas = v.page.locator('canvas[data-panel="glvq"]').bounding_box()
    swipe(canvas["x"] + 8, canvas["y"] + canvas["height"] - 20, -150)
    v.page.wait_for_function(f"(before) => ({top})() > before", arg=scrolled)


@pytest.mark.long
def test_two_fingers_zoom(visit):
    v = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    devtools = v.page.context.new_cdp_session(v.page)
    canvas = v.page.locator('canvas[data-panel="glvq"]')
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind, *apart):
        fingers = [{"x": x + side * d, "y": y, "id": side + 1} for d in apart for side in (-1, 1)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    touch("touchStart", 30)
    for apart in (40, 60, 80, 90):
        touch("touchMove", apart)
    touch("touchEnd")
    v.act("fit").wait_for()
    v.wait_view('"camera": [')
    view = json.loads(v.page.locator("code").nth(1).inner_text())
    assert view["camera"][2] == pytest.approx(3.0, rel=0.01)  # fingers three times as far apart


def test_code_sent_anew_finds_the_stage_that_is_there(browser):
    """A server whose files were edited sends the module again: still one toolbar."""
    page = browser.new_page()
    meta, arrays = demo_scene()
    count = page.evaluate(
        """async ([code, html, scene]) => {
            document.body.innerHTML = html;
            const data = Uint8Array.from(atob(scene), (c) => c.charCodeAt(0));
            for (let load = 0; load < 2; load++) {
                const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
                const { default: mount } = await import(url);
                mount({ data, parentElement: document.body, setStateValue() {}, setTriggerValue() {} });
            }
            return document.querySelectorAll('[data-action="play"]').length;
        }""",
        [
            stage.bundle(),
            stage.markup(),
            packed(meta | {"reply": None, "view": None}, arrays),
        ],
    )
    page.close()
    assert count == 1


def mounted_by_hand(page, scene=None):
    """Mount a stage without Streamlit; returns a scene that acknowledges no gesture, and one that acknowledges all.

    ``window.show(scene)`` stands for a run, ``window.stage`` is the stage, ``window.sent`` holds the gestures that it
    sent, ``window.views`` its views.
    """
    meta, arrays = scene or demo_scene()
    visit = {"reply": None, "view": None}
    before, after = (packed(meta | visit | {"acknowledged": serial}, arrays) for serial in (0, 10**18))
    page.evaluate(
        """async ([code, html, before]) => {
            document.body.innerHTML = html;
            const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
            const { default: mount } = await import(url);
            window.sent = [];
            window.views = [];
            const setTriggerValue = (name, value) => window.sent.push([name, structuredClone(value)]);
            const setStateValue = (name, value) => window.views.push(structuredClone(value));
            window.show = (text) => mount({
                data: Uint8Array.from(atob(text), (c) => c.charCodeAt(0)),
                parentElement: document.body, setStateValue, setTriggerValue });
            window.show(before);
            window.stage = document.querySelector(".stage").fairglvqStage.stage;
        }""",
        [stage.bundle(), stage.markup(), before],
    )
    return before, after


def test_a_gesture_is_sent_again_until_a_scene_acknowledges_it(browser):
    """Streamlit drops a gesture whose run is replaced by that of another message of the page."""
    page = browser.new_page()
    sent = page.evaluate(
        """([before, after]) => {
            const { stage, show, sent } = window;
            stage.post({ kind: "undo" });
            stage.post({ kind: "C", value: 1 });
            show(before); // a run that handled neither of them
            stage.post({ kind: "undo" });
            show(after);
            stage.post({ kind: "C", value: 2 });
            return sent;
        }""",
        mounted_by_hand(page),
    )
    page.close()
    assert [name for name, _ in sent] == ["gestures"] * 5
    kinds = [[gesture["kind"] for gesture in gestures] for _, gestures in sent]
    assert kinds == [["undo"], ["undo", "C"], ["undo", "C"], ["undo", "C", "undo"], ["C"]]
    serials = [gesture["serial"] for gesture in sent[3][1]]
    assert serials == sorted(set(serials))


def test_a_gesture_without_an_answer_is_sent_again_after_a_while(browser):
    """If the run is replaced by one with nothing new to draw, no scene arrives that lacks the gesture."""
    page = browser.new_page()
    page.clock.install()
    _, after = mounted_by_hand(page)
    page.evaluate("window.stage.post({ kind: 'undo' })")
    counts = []
    for seconds in (0, 5, 5, 5, 20):
        page.clock.fast_forward(1000 * seconds)
        counts.append(page.evaluate("window.sent.length"))
    assert counts == [1, 2, 2, 3, 4]  # after 4 s, 8 s more, 16 s more
    page.evaluate("(after) => window.show(after)", after)
    page.clock.fast_forward(600_000)
    assert page.evaluate("window.sent.length") == 4
    page.close()


def test_python_hands_out_a_gesture_until_it_was_handled():
    first, second, third = ({"kind": "undo", "serial": serial} for serial in (5, 6, 9))
    assert stage.gestures_after(0, {"gestures": [first, second]}) == [first, second]
    assert stage.gestures_after(first["serial"], {"gestures": [first, second]}) == [second]
    assert stage.gestures_after(second["serial"], {"gestures": [second, third]}) == [third]
    assert stage.gestures_after(third["serial"], {"gestures": None}) == []


@pytest.mark.parametrize(
    ("change", "frame", "sent_again"),
    [
        ({}, 0, [{"epoch": 0}]),  # Streamlit has dropped the view
        ({"revision": "another model"}, EPOCHS, []),
        pytest.param({"view": {"epoch": 0}}, 0, [], marks=pytest.mark.long),
        pytest.param({"view": {"epoch": 5}}, 5, [], marks=pytest.mark.long),  # from elsewhere since
    ],
)
def test_a_view_that_python_never_received_is_there_when_the_page_is_entered_again(browser, change, frame, sent_again):
    """A page is left while the server is busy: the run that would receive the view is replaced by the next page's."""
    page = browser.new_page()
    page.clock.install()
    first, _ = mounted_by_hand(page)
    meta, arrays = demo_scene()
    again = packed(meta | {"reply": None, "view": None, "acknowledged": 0} | change, arrays)
    views = page.evaluate(
        """([first, again, html]) => {
            const link = Object.assign(document.createElement("a"), { href: "https://localhost/elsewhere" });
            link.addEventListener("click", (event) => event.preventDefault());
            document.body.append(link);
            stage.seek(0);
            link.dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
            show(first); // a run that was under way
            link.click();
            document.body.innerHTML = html;
            show(again);
            return views.splice(0);
        }""",
        [first, again, stage.markup()],
    )
    assert views == [{"epoch": 0}]
    assert page.locator(".stage").get_attribute("data-frame") == str(frame)
    page.clock.fast_forward(10_000)
    assert page.evaluate("views") == sent_again
    page.close()


@pytest.mark.long
def test_leaving_and_coming_back(visit):
    v = visit()
    v.act("show-borders").click()
    v.wait_view('"borders": false')
    toggle = v.page.get_by_text("Stage", exact=True)
    toggle.click()
    v.page.wait_for_selector(STAGE, state="detached")
    wait_idle(v.page)
    toggle.click()
    v.page.wait_for_selector(STAGE)
    assert v.act("show-borders").get_attribute("aria-pressed") == "false"
    v.page.evaluate("document.activeElement.blur()")
    v.page.keyboard.press("r")
    v.wait_data("frame", 0)


@pytest.mark.long
def test_dark_theme_changes_the_picture(visit):
    corner = "(root) => [...root.querySelector('canvas').getContext('2d').getImageData(40, 4, 1, 1).data]"
    light, dark = visit(color_scheme="light"), visit(color_scheme="dark")
    assert sum(light.stage.evaluate(corner)) > sum(dark.stage.evaluate(corner)) + 200
