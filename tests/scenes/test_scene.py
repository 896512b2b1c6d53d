"""What the stage is given, against direct computation: estimators, transforms, distances."""

import gc
import sys
import threading
from dataclasses import replace
from functools import cache
from types import ModuleType

import numpy as np
import pytest

from fairglvq import GLVQ, FairGLVQ, NullSpaceProjection, ParityLVQ, datasets
from fairglvq.experiments import evaluation
from fairglvq.fairness import metrics
from fairglvq.scenes import effects, own_plane, scene, scoring, service, training
from fairglvq.scenes.planes import lens_of
from fairglvq.scenes.points import UntrainableError, load_points
from fairglvq.scenes.service import CancelledError, ResultCache, TrainingService
from fairglvq.scenes.settings import DEFAULTS, PRESETS, Fold, Point, Settings, for_table
from fairglvq.scenes.sources import dataset_of, register
from fairglvq.scenes.training import FILM_C, film_key, film_strengths, filmed, train_film, train_part
from pages.shared.links import place, start_from
from pages.shared.playground import gestures, stage

QUICK = Settings(epochs=10, batch_size=500)
METHODS = QUICK.methods
GERMAN = replace(DEFAULTS["german"], epochs=10, metric="euclidean", beside=QUICK.beside)
SETTINGS = {
    "xor": QUICK,
    "published": replace(QUICK, step="published", learning_rate=0.005),
    "three_groups": replace(QUICK, dataset="three_groups"),
    "three_classes": replace(QUICK, dataset="three_classes"),
    "nothing held out": replace(QUICK, held_out=0.0),
    "german": GERMAN,
    "german prototypes": replace(GERMAN, plane="prototypes", projections=2),
}
ALL_BESIDE = ("inp", "fairglvq", "paritylvq")
OWN_PLANES = {
    "german": replace(GERMAN, metric="matrix", beside=ALL_BESIDE, prototypes=2),
    "german with ranges": replace(GERMAN, metric="matrix", beside=("paritylvq",), bins=8, held_out=0.0),
    "three groups": replace(QUICK, dataset="three_groups", beside=ALL_BESIDE),
    "three classes": replace(QUICK, dataset="three_classes", beside=("paritylvq",), prototypes=2),
    "xor, learned distance": replace(QUICK, metric="matrix", beside=ALL_BESIDE),
    "local, learned distance": replace(QUICK, dataset="local", metric="matrix", beside=ALL_BESIDE[1:], prototypes=2),
}


def ignore(share):
    pass


@cache
def made(settings):
    points = load_points(settings)
    return scene.compose(settings, points, {m: train_part(settings, points, m, ignore) for m in settings.methods})


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS)
def settings(request):
    return request.param


def parameters(settings):
    return {
        "n_prototypes": settings.prototypes,
        "learning_rate": settings.learning_rate,
        "max_epochs": settings.epochs,
        "batch_size": settings.batch_size,
        "beta": settings.beta,
        "step": settings.step,
        "shuffle": settings.step == "algorithm",
        "random_state": settings.seed,
    }


def squared(Z, W):
    return ((Z[:, None, :] - W[None]) ** 2).sum(axis=2)


def model_space(made_scene, method):
    trained = made_scene.trainings[method]
    X = made_scene.points.X
    return X if trained.matrix is None else X @ trained.matrix.T + trained.shift


def test_fairglvq_is_the_estimator(settings):
    shown = made(settings)
    points, learn = shown.points, ~shown.points.held_out
    model = FairGLVQ(**parameters(settings), C=settings.C, alpha=settings.alpha)
    model.fit(points.X[learn], points.y[learn], sensitive_features=points.s[learn])
    trained = shown.trainings["fairglvq"]
    np.testing.assert_allclose(trained.prototypes[-1], model.prototypes_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(trained.pseudo[-1], model.pseudo_classes_)
    predicted = model.predict(points.X[points.measured])
    np.testing.assert_array_equal(scoring.decide(points, trained, trained.prototypes[-1]), predicted)
    score = scene.final_scores(shown)["fairglvq"]
    truth, s = points.y[points.measured], points.s[points.measured]
    assert score.accuracy == pytest.approx((predicted == truth).mean())
    f = points.favourable
    gap = metrics.statistical_parity_difference(predicted, sensitive_features=s, favourable=f)
    assert score.statistical_parity == pytest.approx(gap)
    gap = metrics.equal_opportunity_difference(truth, predicted, sensitive_features=s, favourable=f)
    assert score.equal_opportunity == pytest.approx(gap)


def test_glvq_is_the_estimator():
    shown = made(QUICK)
    points, learn = shown.points, ~shown.points.held_out
    model = GLVQ(**parameters(QUICK), init="shared-kmeans").fit(points.X[learn], points.y[learn])
    np.testing.assert_allclose(shown.trainings["glvq"].prototypes[-1], model.prototypes_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dataset", ["xor", "local", "three_groups", "three_classes"])
def test_without_a_fairness_push_fairglvq_is_glvq(dataset):
    settings = replace(QUICK, dataset=dataset, C=0.0, beside=("fairglvq",))
    shown = made(settings)
    glvq, fair = (shown.trainings[method].prototypes for method in ("glvq", "fairglvq"))
    np.testing.assert_array_equal(fair, glvq)
    film = train_film(settings, shown.points, "fairglvq", ignore)
    np.testing.assert_array_equal(film.prototypes[FILM_C.index(0)], glvq[-1])
    assert effects.sentences(settings, shown)["C"] == "No fairness push: FairGLVQ is GLVQ."


@pytest.mark.parametrize("own", [{"step": "published", "learning_rate": 0.005}, {"fold": Fold(5, 0, 0)}])
def test_published_runs_and_sweeps_keep_their_starts_and_say_so(own):
    shown = made(settings := replace(QUICK, C=0.0, beside=("fairglvq",), **own))
    points, learn = shown.points, ~shown.points.held_out
    start = GLVQ(settings.prototypes, max_epochs=0, random_state=training.seed_of(settings))  # from each class
    start.fit(points.X[learn], points.y[learn])
    np.testing.assert_allclose(shown.trainings["glvq"].prototypes[0], start.prototypes_, rtol=0, atol=1e-12)
    assert not np.array_equal(shown.trainings["fairglvq"].prototypes[0], start.prototypes_)
    assert "its start, as in the published runs" in effects.sentences(settings, shown)["C"]


def test_inp_map_is_projection_and_scaling(settings):
    shown = made(settings)
    points, learn = shown.points, ~shown.points.held_out
    inp = NullSpaceProjection(settings.projections, random_state=settings.seed)
    inp.fit(points.X[learn], sensitive_features=points.s[learn])
    projected = inp.transform(points.X)
    low, span = projected[learn].min(axis=0), np.ptp(projected[learn], axis=0)
    expected = (projected - low) / np.where(span <= 1e-12, 1.0, span)
    np.testing.assert_allclose(model_space(shown, "inp"), expected, rtol=0, atol=1e-9)


def test_inp_on_the_plane_keeps_a_line():
    panel = made(QUICK).meta["panels"][1]
    A, line = np.array(panel["map"]["A"]), panel["line"]
    assert A @ line["removed"] == pytest.approx([0, 0], abs=1e-12)
    assert np.linalg.norm(A @ line["kept"]) > 0.1
    assert np.linalg.matrix_rank(A, tol=1e-9) == 1


def test_three_groups_leave_inp_nothing():
    panel = made(SETTINGS["three_groups"]).meta["panels"][1]
    assert np.abs(panel["map"]["A"]).max() < 1e-9
    assert panel["line"] is None
    assert "nothing is left" in panel["note"]


def test_points_are_scaled_on_the_training_part(settings):
    points = made(settings).points
    learn = points.X[~points.held_out]
    assert learn.min() == 0
    assert learn.max() == 1
    assert points.held_out.mean() == pytest.approx(settings.held_out, abs=0.01)
    for c in range(len(points.classes)):
        share = points.held_out[points.y == c].mean()
        assert share == pytest.approx(settings.held_out, abs=0.02)


def test_the_blob_is_complete_and_small(settings):
    shown = made(settings)
    film = train_film(replace(settings, epochs=10), shown.points, "fairglvq", ignore)
    whole = scene.with_film(shown, settings, "fairglvq", film)
    F, P = len(whole.meta["epochs"]), len(whole.meta["panels"][0]["labels"])
    assert whole.meta["epochs"][0] == 0
    assert whole.meta["epochs"][-1] == settings.epochs
    for method in METHODS:
        assert whole.arrays[f"{method}.prototypes"].shape == (F, P, 2)
        assert whole.arrays[f"{method}.prototypes"].dtype == np.float64
        assert whole.arrays[f"{method}.pseudo"].shape == (F, P)
    assert whole.arrays["film.fairglvq.prototypes"].shape == (len(FILM_C), P, 2)
    assert len(stage.pack(whole.meta, whole.arrays)) < 300_000


@pytest.mark.parametrize("settings", [Settings(), Settings(prototypes=10), DEFAULTS["three_classes"]])
def test_frames_fit_the_budget(settings):
    n_classes = 3 if settings.dataset == "three_classes" else 2
    P = settings.prototypes * n_classes
    frames = settings.epochs / training.record_interval(settings, n_classes) + 1
    assert frames * 3 * 33 * P < training.FRAME_BYTES
    assert frames > 40


def test_a_slice_shows_the_true_decision_on_its_plane():
    for name in ("german", "german prototypes"):
        shown = made(SETTINGS[name])
        plane = shown.plane
        np.testing.assert_allclose(plane.axes.T @ plane.axes, np.eye(2), atol=1e-9)
        q = np.random.default_rng(0).uniform(-1.5, 1.5, (400, 2))
        on_plane = plane.origin + q @ plane.axes.T  # (400, d)
        for panel in shown.meta["panels"]:
            key, trained = panel["key"], shown.trainings[panel["key"]]
            Z = on_plane if trained.matrix is None else on_plane @ trained.matrix.T + trained.shift
            truth = squared(Z, trained.prototypes[-1])
            A, b = (np.eye(2), np.zeros(2)) if panel["map"] is None else (np.array(panel["map"][k]) for k in "Ab")
            W, r = shown.arrays[f"{key}.prototypes"][-1], shown.arrays[f"{key}.weights"][-1]
            drawn = squared(q @ A.T + b, W) + r
            # Equal up to a term that all prototypes share.
            np.testing.assert_allclose(drawn - drawn[:, :1], truth - truth[:, :1], atol=1e-8)


def test_a_slice_counts_everybody():
    shown = made(SETTINGS["german"])
    points = shown.points
    y, s = points.y[points.measured], points.s[points.measured]
    before = scoring.decide(points, shown.trainings["glvq"], shown.trainings["glvq"].prototypes[-1])
    for method in METHODS:
        trained = shown.trainings[method]
        for frame in (0, -1):
            decided = (
                squared(model_space(shown, method)[points.measured], trained.prototypes[frame]).argmin(axis=1) // 4
            )
            counts = shown.arrays[f"{method}.counts"][frame]
            assert counts.sum() == points.measured.sum()
            for g, t, p in np.ndindex(2, 2, 2):
                assert counts[g, t, p] == ((s == g) & (y == t) & (decided == p)).sum()
            changed = shown.arrays[f"{method}.changed"][frame]
            for g, t in np.ndindex(2, 2):
                mine = (s == g) & (y == t)
                assert changed[g, t, 0] == (mine & (decided == 1) & (before == 0)).sum()
                assert changed[g, t, 1] == (mine & (decided == 0) & (before == 1)).sum()
    nearest = squared(
        model_space(shown, "inp")[np.arange(len(points.y))], shown.trainings["inp"].prototypes[-1]
    ).argmin(1)
    np.testing.assert_array_equal(shown.arrays["inp.nearest"], nearest)


def test_film_and_picture_are_the_same_model():
    C = FILM_C[4]
    settings = replace(QUICK, C=C)
    shown = made(settings)
    film = train_film(settings, shown.points, "fairglvq", ignore)
    np.testing.assert_array_equal(film.prototypes[4], shown.trainings["fairglvq"].prototypes[-1])
    np.testing.assert_array_equal(film.pseudo[4], shown.trainings["fairglvq"].pseudo[-1])


def test_a_film_goes_as_far_as_the_slider():
    for settings, top in ((QUICK, 5.0), (replace(QUICK, C=7.0), 15.0), (DEFAULTS["german"], 15.0)):
        assert film_strengths(settings) == tuple(C * top / 5 for C in FILM_C)
    assert film_key(QUICK, "fairglvq") == film_key(replace(QUICK, C=5.0), "fairglvq")
    assert film_key(QUICK, "fairglvq") != film_key(replace(QUICK, C=7.0), "fairglvq")


def test_painted_points_are_added_and_erased_ones_gone():
    paint = (Point(place(0.5), place(0.5), 1, 0),)
    plain, points = load_points(QUICK), load_points(replace(QUICK, painted=paint, erased=(0, 5)))
    assert len(points.y) == len(plain.y) - 1
    np.testing.assert_array_equal(points.X[:-1], np.delete(plain.X, [0, 5], axis=0))
    np.testing.assert_allclose(points.X[-1], [0.5, 0.5], atol=1e-3)
    assert (points.y[-1], points.s[-1], points.held_out[-1], points.rows[-1]) == (1, 0, False, -1)


def test_a_paint_gesture_names_points_as_the_stage_numbers_them():
    here = replace(QUICK, painted=(Point(0.0, 0.0, 0, 0), Point(1.0, 1.0, 1, 1)), erased=(2,))
    n = len(made(here).points.y)
    gesture = {"added": [[0.25, 0.75, 1, 1]], "erased": [0, 2, n - 2]}
    there = gestures.painted(here, made(here), gesture)
    assert there.erased == (0, 2, 3)  # row 2 is gone already, so the third point shown is row 3
    assert there.painted == (Point(1.0, 1.0, 1, 1), Point(place(0.25), place(0.75), 1, 1))


def test_nothing_to_tell_apart_is_said_in_words():
    rows = tuple(int(row) for row in np.flatnonzero(load_points(QUICK).y == 1))
    with pytest.raises(UntrainableError, match="Only one class is left"):
        load_points(replace(QUICK, erased=rows))
    everybody = tuple(range(len(load_points(QUICK).y)))
    with pytest.raises(UntrainableError, match="No points are left"):
        load_points(replace(QUICK, erased=everybody))


def test_one_group_leaves_inp_without_work():
    rows = tuple(int(row) for row in np.flatnonzero(load_points(QUICK).s == 1))
    shown = made(replace(QUICK, erased=rows))
    assert shown.trainings["inp"].matrix is None
    assert "only one group" in shown.meta["panels"][1]["note"]
    assert scene.final_scores(shown)["fairglvq"].statistical_parity is None
    stage.pack(shown.meta, shown.arrays)


def test_training_goes_on_from_prototypes_put_down_by_hand():
    start = start_from("glvq", made(QUICK).trainings["glvq"].prototypes[-1].tolist())
    moved = made(replace(QUICK, start=start))
    np.testing.assert_allclose(moved.trainings["glvq"].prototypes[0], start.prototypes)
    np.testing.assert_array_equal(moved.trainings["fairglvq"].prototypes, made(QUICK).trainings["fairglvq"].prototypes)


def test_a_drag_is_answered_exactly():
    shown = made(QUICK)
    W = shown.trainings["inp"].prototypes[-1] + 0.3
    dragged = {"frame": 99, "film": None, "places": W.tolist()}
    reply = gestures.reply(shown, {}, {"token": 7, "panel": "inp", "model": dragged, "pseudo": [0] * 8})
    assert reply["token"] == 7
    check_answer(shown, "inp", W, reply)


def check_answer(shown, panel, W, reply):
    """Counts, changes against GLVQ and votes of prototypes W, by definition."""
    points, Z = shown.points, model_space(shown, panel)
    cells = squared(Z, W).argmin(axis=1)
    per_class = len(W) // 2
    decided = cells[points.measured] // per_class
    y, s = points.y[points.measured], points.s[points.measured]
    counts = np.array(reply["counts"]).reshape(2, 2, 2)
    for g, t, p in np.ndindex(2, 2, 2):
        assert counts[g, t, p] == ((s == g) & (y == t) & (decided == p)).sum()
    before = scoring.decide(points, shown.trainings["glvq"], shown.trainings["glvq"].prototypes[-1])
    changed = np.array(reply["changed"]).reshape(2, 2, 2)
    for g, t in np.ndindex(2, 2):
        own = (s == g) & (y == t)
        assert changed[g, t].tolist() == [(own & (decided > before)).sum(), (own & (decided < before)).sum()]
    for j, pseudo in enumerate(reply["pseudo"]):
        votes = np.bincount(points.s[~points.held_out & (cells == j)], minlength=2)
        assert pseudo == (votes.argmax() if votes.any() else 0)


@pytest.mark.parametrize("panel", ["glvq", "inp", "fairglvq"])
def test_a_drag_on_a_slice_moves_along_the_plane_and_counts_everybody(panel):
    shown = made(SETTINGS["german"])
    trained, lens = shown.trainings[panel], shown.plane.lens(shown.trainings[panel])
    base = trained.prototypes[3]
    places = lens.places(base)
    places[2] += (0.7, -0.4)
    name = {"frame": 3, "film": None, "places": places.tolist()}
    W = gestures.prototypes_of(shown, {}, panel, name)
    np.testing.assert_allclose(np.delete(W, 2, axis=0), np.delete(base, 2, axis=0), atol=1e-12)
    np.testing.assert_allclose(lens.places(W), places, atol=1e-12)
    np.testing.assert_allclose(lens.weights(W), lens.weights(base), atol=1e-9)  # as far off the plane as before
    reply = gestures.reply(shown, {}, {"token": 1, "panel": panel, "model": name, "pseudo": [0] * len(W)})
    check_answer(shown, panel, W, reply)


def test_a_model_of_the_film_can_be_moved_too():
    settings = SETTINGS["german"]
    shown = made(settings)
    film = train_film(settings, shown.points, "fairglvq", ignore)
    W = gestures.prototypes_of(shown, {"fairglvq": film}, "fairglvq", {"frame": 0, "film": 2, "places": None})
    np.testing.assert_array_equal(W, film.prototypes[2])
    changed = scene.with_film(shown, settings, "fairglvq", film).arrays["film.fairglvq.changed"][2]
    before, after = shown.trainings["glvq"].decisions[-1], film.decisions[2]
    assert changed.sum(axis=(0, 1)).tolist() == [(after > before).sum(), (after < before).sum()]


def test_facts_of_a_selection_on_a_slice_count_all_dimensions():
    shown = made(SETTINGS["german"])
    points = shown.points
    models = {panel: {"frame": 2, "film": None, "places": None} for panel in METHODS}
    index = 17
    told = gestures.facts(shown, {}, {"key": "k", "subject": "point", "panel": "inp", "index": index, "models": models})
    for panel in METHODS:
        Z = model_space(shown, panel)[shown.shown[[index]]]
        np.testing.assert_allclose(told[panel], squared(Z, shown.trainings[panel].prototypes[2])[0], atol=1e-9)
    assert told["row"] == points.rows[shown.shown[index]] + 1
    question = {"key": "k", "subject": "prototype", "panel": "inp", "index": 1, "models": models}
    told = gestures.facts(shown, {}, question)
    inside = squared(model_space(shown, "inp"), shown.trainings["inp"].prototypes[2]).argmin(axis=1) == 1
    assert told["key"] == "k"
    assert told["votes"] == [(inside & ~points.held_out & (points.s == g)).sum() for g in (0, 1)]
    assert np.sum(told["members"]) == inside.sum() > 0
    assert told["members"][1][0] == (inside & (points.s == 1) & (points.y == 0)).sum()
    assert told["n"] == (inside & points.held_out).sum()
    assert told["right"] == (inside & points.held_out & (points.y == 0)).sum()


def test_training_that_flies_off_stands_still_and_is_said(monkeypatch):
    monkeypatch.setattr("fairglvq.lvq.trainer.FENCE", 0.6)
    settings = replace(QUICK, C=5.0, learning_rate=0.3, epochs=20)
    shown = made(settings)
    assert shown.trainings["fairglvq"].flew_off
    frames = shown.arrays["fairglvq.prototypes"]
    assert len(frames) == len(shown.meta["epochs"])
    assert np.isfinite(frames).all()
    assert "FairGLVQ's prototypes flew off" in effects.warnings(shown)[-1]
    stage.pack(shown.meta, shown.arrays)


def test_every_setting_says_what_it_did(settings):
    said = effects.sentences(settings, made(settings))
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in said.values())
    steps = -(-(~made(settings).points.held_out).sum() // settings.batch_size)
    assert said["batch_size"].startswith(f"{steps:,} step")


def test_the_effect_of_c_is_told_in_the_stage_s_units():
    scores = scene.final_scores(made(QUICK))
    gaps, right = ([100 * score[i] for score in (scores["glvq"], scores["fairglvq"])] for i in (1, 0))
    said = effects.sentences(QUICK, made(QUICK))["C"]
    assert said == "Gap {:.1f} → {:.1f} points, accuracy {:.1f} → {:.1f}% vs GLVQ.".format(*gaps, *right)


def test_alpha_says_whether_it_mattered():
    idle = effects.sentences(QUICK, made(QUICK))["alpha"]
    assert idle == "Not used in any of 25,600 updates: no rival was ever missing."
    alone = replace(PRESETS["alpha"].settings, epochs=10)
    uses = made(alone).trainings["fairglvq"].alpha_uses[-1]
    assert uses > 0
    assert effects.sentences(alone, made(alone))["alpha"].startswith(f"Used in {uses:,} of 25,600 updates")


def test_presets_show_what_their_stories_say():
    scores = {name: scene.final_scores(made(preset.settings)) for name, preset in PRESETS.items()}
    for name in ("xor", "inp", "groups", "classes"):
        before, after = scores[name]["glvq"], scores[name]["fairglvq"]
        assert after.statistical_parity < 0.4 * before.statistical_parity
        assert after.accuracy > 0.7  # of three groups 0.78; there rounding alone can move it by 0.05
    assert scores["inp"]["inp"].accuracy < 0.6
    assert scores["groups"]["inp"].accuracy < 0.55
    strong = scores["strong"]["fairglvq"]
    assert strong.accuracy < 0.55
    assert strong.statistical_parity < 0.1
    assert made(PRESETS["alpha"].settings).trainings["fairglvq"].alpha_uses[-1] > 0
    assert scores["local"]["fairglvq"].accuracy == pytest.approx(0.76, abs=0.05)  # Table 1


def test_a_change_of_c_trains_fairglvq_alone(monkeypatch):
    service, trained = TrainingService(), []
    plain = train_part
    monkeypatch.setattr(training, "train_part", lambda *args: trained.append(args[2]) or plain(*args))
    first = service.submit(QUICK).future.result()
    second = service.submit(replace(QUICK, C=0.5)).future.result()
    assert sorted(trained) == ["fairglvq", "fairglvq", "glvq", "inp"]
    assert second.scene.trainings["glvq"] is first.scene.trainings["glvq"]
    assert second.scene.meta["revision"] != first.scene.meta["revision"]


@pytest.mark.parametrize("method", ["glvq", "fairglvq"])
def test_a_search_ends_in_its_middle_when_it_is_cancelled(method):
    settings = replace(DEFAULTS["german"], prototypes=1)
    calls = []

    def progress(share):
        calls.append(share)
        if len(calls) == 8:
            raise CancelledError

    with pytest.raises(CancelledError):
        train_part(settings, load_points(settings), method, progress)
    assert len(calls) == 8


def test_a_cancelled_job_ends_and_leaves_nothing_behind():
    service = TrainingService()
    long = replace(QUICK, epochs=500, batch_size=10)
    job = service.submit(long)
    job.cancel()
    with pytest.raises(CancelledError):
        job.future.result()
    assert service.results.peek(training.part_key(long, "fairglvq")) is None


def test_a_class_that_waits_for_one_slow_part_leaves_threads_for_others(monkeypatch):
    go_on = threading.Event()

    def slow_inp(settings, points, method, progress):
        if method == "inp":
            go_on.wait(60)
        return train_part(settings, points, method, progress)

    monkeypatch.setattr(training, "train_part", slow_inp)
    service = TrainingService()
    jobs = [service.submit(QUICK) for _ in range(30)]
    try:
        assert service.submit(QUICK, ("glvq", "fairglvq")).finished_within(30)
        assert not any(job.future.done() for job in jobs)
    finally:
        go_on.set()
    assert all("inp" in job.future.result(60).scene.trainings for job in jobs)


def test_a_server_is_cold_until_the_import_for_inp_has_ended(monkeypatch):
    assert not service.cold()
    monkeypatch.setitem(sys.modules, "fairglvq.fairness.projection", ModuleType("listed, but empty yet"))
    assert service.cold()


def test_a_finished_film_is_kept():
    service = TrainingService()
    assert service.film(QUICK, "fairglvq") is None
    film = service.submit_film(QUICK, "fairglvq").future.result()
    assert service.film(replace(QUICK, C=0.1), "fairglvq") is film


def test_a_cache_forgets_the_oldest_and_keeps_no_failure():
    cache = ResultCache(2)
    for key in "aabac":
        assert cache.get(key, lambda key=key: key * 2) == key * 2
    assert [cache.peek(key) for key in "abc"] == ["aa", None, "cc"]
    with pytest.raises(ZeroDivisionError):
        cache.get("d", lambda: 1 / 0)
    assert cache.get("d", lambda: 4) == 4


FOLDED = {
    "xor": Settings(epochs=10, fold=Fold(5, 3, 1)),
    "german": replace(GERMAN, projections=2, fold=Fold(4, 1, 0)),
}


@pytest.mark.parametrize("folded", FOLDED.values(), ids=FOLDED)
@pytest.mark.parametrize("method", METHODS)
def test_a_model_opened_from_a_curve_is_the_one_on_the_curve(folded, method):
    own = {name: value for name, value in parameters(folded).items() if name != "random_state"} | {
        "alpha": folded.alpha
    }
    strength = {"glvq": [], "inp": [folded.projections], "fairglvq": [folded.C]}[method]
    folds, fold, seed = folded.fold
    rows = evaluation.evaluate(dataset_of(folded), method, strength, folds, seed, store=False, **own)
    row = rows[rows.fold == fold].iloc[0]
    found = scene.final_scores(made(folded))[method]
    assert found == (row.accuracy, row.statistical_parity, row.equal_opportunity)
    assert 0 < found.accuracy < 1


def test_an_own_table_is_trained_like_any_other_and_forgotten_with_its_owner():
    data = datasets.load("german")
    settings = replace(for_table(register(data), data), epochs=2, beside=("inp", "fairglvq", "paritylvq"))
    service = TrainingService()
    prepared = own_plane.tasks.futures, training.null_spaces.futures
    show = service.submit(settings).future.result(timeout=60)
    assert show.scene.points.X.shape == data.X.shape
    assert service.results.futures
    assert all(any(settings.table in key for key in kept) for kept in prepared)
    service.forget(settings.table)
    assert not any(settings.table in key for kept in prepared for key in kept)
    assert not service.results.futures
    assert not service.points.futures
    del data
    gc.collect()
    with pytest.raises(UntrainableError, match="choose it again"):
        load_points(settings)


@pytest.fixture(params=OWN_PLANES.values(), ids=OWN_PLANES)
def own(request):
    return request.param


def estimator(settings, method, gap=None):
    """The estimator that a panel in a plane of its own shows."""
    if method == "paritylvq":
        return ParityLVQ(settings.prototypes, max_gap=gap or settings.max_gap, random_state=settings.seed)
    options = {"metric": "matrix", "rank": 2, "random_state": settings.seed}
    if method == "fairglvq":
        return FairGLVQ(settings.prototypes, C=settings.C, alpha=settings.alpha, **options)
    return GLVQ(settings.prototypes, **options)


def decisions_of_estimator(settings, shown, method, gap=None):
    points, learn = shown.points, ~shown.points.held_out
    X, y, s = points.X, points.y, points.s
    if method == "inp":
        inp = NullSpaceProjection(settings.projections, random_state=settings.seed)
        inp.fit(X[learn], sensitive_features=s[learn])
        X = inp.transform(X)
        low, span = X[learn].min(axis=0), np.ptp(X[learn], axis=0)
        X = (X - low) / np.where(span <= 1e-12, 1.0, span)
    groups = {} if method in ("glvq", "inp") else {"sensitive_features": s[learn]}
    if method == "paritylvq":
        groups["favourable"] = points.favourable
    return estimator(settings, method, gap).fit(X[learn], y[learn], **groups).predict(X)


def test_own_planes_hold_everybody_in_the_cell_that_decides(own):
    """What the browser draws, cell by cell and person by person, is what the estimator decides."""
    shown = made(own)
    for panel in shown.meta["panels"]:
        key = panel["key"]
        if not own.in_own_plane(key):
            assert shown.trainings[key].frame_names is None
            continue
        places = shown.arrays.get(f"{key}.points", shown.arrays["points"])
        A = np.array(panel["map"]["A"])
        W, weights = shown.arrays[f"{key}.prototypes"][-1], shown.arrays[f"{key}.weights"][-1]
        drawn = np.array(panel["labels"])[(squared(places @ A.T, W) + weights).argmin(axis=1)]
        decided = decisions_of_estimator(own, shown, key)[shown.shown]
        np.testing.assert_array_equal(drawn, decided)
        if own.real:
            counted = shown.arrays[f"{key}.counts"][-1]
            assert counted.sum() == shown.points.measured.sum()
            right = (decisions_of_estimator(own, shown, key) == shown.points.y)[shown.points.measured].sum()
            assert np.trace(counted.sum(axis=0)) == right


@pytest.mark.parametrize("own", [OWN_PLANES["german"], OWN_PLANES["three classes"]], ids=["german", "three classes"])
def test_a_film_of_gaps_shows_what_the_estimator_finds(own):
    shown = made(own)
    assert "paritylvq" in filmed(own)
    film = train_film(own, shown.points, "paritylvq", ignore)
    whole = scene.with_film(shown, own, "paritylvq", film)
    stage.pack(whole.meta, whole.arrays)
    place_of_five = film.values.index(own.max_gap)
    np.testing.assert_array_equal(film.prototypes[place_of_five], shown.trainings["paritylvq"].prototypes[-1])
    widest = len(film.values) - 1
    decided = scoring.decide(shown.points, shown.trainings["paritylvq"], film.prototypes[widest])
    expected = decisions_of_estimator(own, shown, "paritylvq", film.values[widest])[shown.points.measured]
    np.testing.assert_array_equal(decided, expected)


def test_right_is_favourable_and_up_is_the_last_group():
    shown = made(OWN_PLANES["german"])
    points = shown.points
    for key in shown.trainings:
        x, y = shown.arrays[f"{key}.points"].T
        favoured, last = points.y[shown.shown] == points.favourable, points.s[shown.shown] == 1
        assert x[favoured].mean() > x[~favoured].mean()
        assert y[last].mean() > y[~last].mean()


def test_a_prototype_of_an_own_plane_can_be_moved_and_is_counted():
    shown = made(OWN_PLANES["german"])
    trained = shown.trainings["paritylvq"]
    places = lens_of(trained, None).places(trained.prototypes[-1])
    places[0] += (0.2, -0.1)
    name = {"frame": 99, "film": None, "places": places.tolist()}
    W = gestures.prototypes_of(shown, {}, "paritylvq", name)
    np.testing.assert_allclose(W[:, 2], trained.prototypes[-1][:, 2])  # handicaps stay
    reply = gestures.reply(shown, {}, {"token": 1, "panel": "paritylvq", "model": name, "pseudo": [0] * len(W)})
    check_answer(shown, "paritylvq", W, reply)


def test_own_planes_say_what_each_setting_did(own):
    said = effects.sentences(own, made(own))
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in said.values())
    assert "points, at" in said["max_gap"]
    assert ("batch_size" in said) == any(training.frame_names is None for training in made(own).trainings.values())
