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

/** Nearest prototype of every point. A slice hides dimensions from us: there only what the server sent, or null. */
export function assignment(scene, model) {
  const cached = assignmentCache.get(model);
  if (cached?.scene === scene) return cached.nearest;
  const trained = model.source === "frame" && Math.round(model.frame) === scene.F - 1;
  const nearest = scene.meta.slice
    ? (trained && model.panel.nearest) || null
    : nearestPrototypes(scene, model, Uint32Array.from(scene.y.keys()));
  assignmentCache.set(model, { scene, nearest });
  return nearest;
}

/** What Python counted of a model: its block of a panel's array over frames or of the film's over C, its own, or null. */
export function shippedBlock(scene, model, name, size) {
  if (model.source === "dragged") return model[name] ?? null;
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

/**
 * Counts [group, truth, predicted] and everything said about them. `known` is false for a model moved by hand on a slice
 * until Python has counted it: it says how many people there are, and nothing about decisions.
 */
export function tally(scene, model, { heldOut = true } = {}) {
  const cached = tallyCache.get(model);
  if (cached?.scene === scene && cached.asked === heldOut) return cached.result;
  const { G, K } = scene;
  const measured = measuredPoints(scene, heldOut);
  const shipped = heldOut ? shippedBlock(scene, model, "counts", G * K * K) : null;
  const counts = new Int32Array(G * K * K);
  const known = Boolean(shipped) || !scene.meta.slice;
  if (shipped) {
    counts.set(shipped);
  } else if (!known) {
    counts.set(shippedBlock(scene, lastModel(scene, model.panel), "counts", G * K * K));
  } else {
    const predicted = decisions(scene, model, heldOut);
    for (let m = 0; m < predicted.length; m++) {
      const i = measured.indices[m];
      counts[(scene.s[i] * K + scene.y[i]) * K + predicted[m]] += 1;
    }
  }
  const summary = summarise(counts, G, K, scene.meta.favourable);
  const result = { ...(known ? summary : withoutDecisions(summary)), known, heldOut: measured.heldOut };
  tallyCache.set(model, { scene, asked: heldOut, result });
  return result;
}

/** How many people there are, whatever is decided about them. */
function withoutDecisions({ counts, n, groups }) {
  const blank = { nFavourable: null, rate: null, tpr: null, fpr: null, accuracy: null };
  return { counts, n, accuracy: null, sp: null, eo: null, groups: groups.map((group) => ({ ...group, ...blank })) };
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
