// Exact counts of a model's decisions and the measures made of them. Pure functions; nothing here touches the page.
// Results are cached by scene and model, because every widget asks for the same numbers on every frame.

import { filmModel, frameModel } from "./scene.js";

const measuredCache = new WeakMap(); // scene -> {true: points, false: points}
const decisionCache = new WeakMap(); // model -> {scene, heldOut, decisions}
const tallyCache = new WeakMap(); // model -> {scene, asked, result}
const assignmentCache = new WeakMap(); // model -> {scene, nearest}

/** The points a number is measured on: the held-out ones, or the training points if asked for or if none is held out. */
export function measuredPoints(scene, heldOut = true) {
  let cached = measuredCache.get(scene);
  if (!cached) measuredCache.set(scene, (cached = {}));
  if (!cached[heldOut]) {
    const pick = (flag) => Uint32Array.from(scene.y.keys()).filter((i) => Boolean(scene.heldOut[i]) === flag);
    const wanted = pick(heldOut);
    cached[heldOut] = wanted.length || !heldOut ? { indices: wanted, heldOut } : { indices: pick(false), heldOut: false };
  }
  return cached[heldOut];
}

/** Index of the prototype nearest to each listed point: smallest |z - w|^2 (+ r), the first wins a tie. */
export function nearestPrototypes(scene, model, indices) {
  const { W, weights } = model;
  const P = model.labels.length;
  const { A, b } = model.panel.map ?? { A: [[1, 0], [0, 1]], b: [0, 0] };
  const [[a00, a01], [a10, a11]] = A;
  const [b0, b1] = b;
  const { points } = scene;
  const nearest = new Uint16Array(indices.length);
  for (let m = 0; m < indices.length; m++) {
    const x0 = points[2 * indices[m]];
    const x1 = points[2 * indices[m] + 1];
    const z0 = a00 * x0 + a01 * x1 + b0;
    const z1 = a10 * x0 + a11 * x1 + b1;
    let best = Infinity;
    let winner = 0;
    for (let j = 0; j < P; j++) {
      const e0 = z0 - W[2 * j];
      const e1 = z1 - W[2 * j + 1];
      const d = e0 * e0 + e1 * e1 + (weights ? weights[j] : 0);
      if (d < best) {
        best = d;
        winner = j;
      }
    }
    nearest[m] = winner;
  }
  return nearest;
}

/** Class decided for each measured point. */
export function decisions(scene, model, heldOut = true) {
  const cached = decisionCache.get(model);
  if (cached?.scene === scene && cached.heldOut === heldOut) return cached.decisions;
  const nearest = nearestPrototypes(scene, model, measuredPoints(scene, heldOut).indices);
  const result = Uint8Array.from(nearest, (j) => model.labels[j]);
  decisionCache.set(model, { scene, heldOut, decisions: result });
  return result;
}

/** Nearest prototype of every point; the server's own answer where it was sent (a slice hides dimensions from us). */
export function assignment(scene, model) {
  const cached = assignmentCache.get(model);
  if (cached?.scene === scene) return cached.nearest;
  const { panel } = model;
  const shipped = panel.nearest && model.source === "frame" && Math.round(model.frame) === scene.F - 1;
  const nearest = shipped ? panel.nearest : nearestPrototypes(scene, model, Uint32Array.from(scene.y.keys()));
  assignmentCache.set(model, { scene, nearest });
  return nearest;
}

/** The shipped block of `array` (panel array over frames, or film array over C) that belongs to the model, or null. */
export function shippedBlock(scene, model, name, size) {
  let array = null;
  let index = -1;
  if (model.source === "frame") {
    array = model.panel[name];
    index = Math.round(model.frame);
  } else if (model.source === "film" && scene.film) {
    array = scene.film[name];
    index = model.filmIndex;
  }
  return array && index >= 0 ? array.subarray(index * size, (index + 1) * size) : null;
}

/** Counts [group, truth, predicted] and everything said about them. `exact` is false where only a slice could be counted. */
export function tally(scene, model, { heldOut = true } = {}) {
  const cached = tallyCache.get(model);
  if (cached?.scene === scene && cached.asked === heldOut) return cached.result;
  const { G, K } = scene;
  const measured = measuredPoints(scene, heldOut);
  const shipped = heldOut ? shippedBlock(scene, model, "counts", G * K * K) : null;
  const counts = new Int32Array(G * K * K);
  if (shipped) {
    counts.set(shipped);
  } else {
    const predicted = decisions(scene, model, heldOut);
    for (let m = 0; m < predicted.length; m++) {
      const i = measured.indices[m];
      counts[(scene.s[i] * K + scene.y[i]) * K + predicted[m]] += 1;
    }
  }
  const result = summarise(counts, G, K, scene.meta.favourable);
  result.heldOut = measured.heldOut;
  result.exact = Boolean(shipped) || !scene.meta.slice;
  tallyCache.set(model, { scene, asked: heldOut, result });
  return result;
}

/** Accuracy, SP and EO gaps of counts [group, truth, predicted]; null where nobody is counted. */
export function summarise(counts, G, K, favourable) {
  const groups = [];
  let n = 0;
  let right = 0;
  for (let g = 0; g < G; g++) {
    const row = { n: 0, nFavourableTruth: 0, nFavourable: 0 };
    let correct = 0;
    let truePositive = 0;
    for (let t = 0; t < K; t++) {
      for (let p = 0; p < K; p++) {
        const c = counts[(g * K + t) * K + p];
        row.n += c;
        if (t === p) correct += c;
        if (t === favourable) row.nFavourableTruth += c;
        if (p === favourable) row.nFavourable += c;
        if (t === favourable && p === favourable) truePositive += c;
      }
    }
    row.rate = ratio(row.nFavourable, row.n);
    row.tpr = ratio(truePositive, row.nFavourableTruth);
    row.fpr = ratio(row.nFavourable - truePositive, row.n - row.nFavourableTruth);
    row.accuracy = ratio(correct, row.n);
    groups.push(row);
    n += row.n;
    right += correct;
  }
  const sp = widestGap(groups, "rate")?.gap ?? null;
  const eo = widestGap(groups, "tpr")?.gap ?? null;
  return { counts, n, accuracy: ratio(right, n), sp, eo, groups };
}

/** The two groups furthest apart in `measure`: {gap, low, high, compared}, or null with fewer than two groups to compare. */
export function widestGap(groups, measure) {
  const known = groups.map((g, i) => [g[measure], i]).filter(([value]) => value !== null);
  if (known.length < 2) return null;
  const low = known.reduce((a, b) => (b[0] < a[0] ? b : a));
  const high = known.reduce((a, b) => (b[0] > a[0] ? b : a));
  // With no gap at all every group is both; name the first two.
  if (low[1] === high[1]) return { gap: 0, low: known[1][1], high: known[0][1], compared: known.length };
  return { gap: high[0] - low[0], low: low[1], high: high[1], compared: known.length };
}

/** A panel's model at its last recorded frame: what training ended with. */
export function lastModel(scene, panel) {
  return frameModel(panel, scene.F - 1);
}

/** One tally per C of the film. */
export function filmTallies(scene) {
  const panel = scene.panels.find(({ key }) => key === scene.film.panel);
  return scene.film.C.map((_, index) => tally(scene, filmModel(scene, panel, index)));
}

function ratio(part, whole) {
  return whole ? part / whole : null;
}
