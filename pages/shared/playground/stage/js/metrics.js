// Exact counts of a model's decisions, and metrics from them. Pure functions.

import { nearestPrototype } from "./geometry.js";
import { countsDrawn, frameModel, pointsOf } from "./scene.js";

/** `compute(scene, model)`, cached per model: every widget needs the same numbers on every frame. */
export function oncePerModel(compute) {
  const cache = new WeakMap();
  return (scene, model) => {
    if (!cache.has(model)) cache.set(model, compute(scene, model));
    return cache.get(model);
  };
}

/** Class decided for each measured point, with the index of the point: [[i, class], ...]. Not for slices. */
export function decisions(scene, model) {
  const nearest = assignment(scene, model);
  return Array.from(scene.measured, (i) => [i, model.labels[nearest[i]]]);
}

/** Nearest prototype of every point. On a slice, which hides dimensions: what Python sent, or null. */
export const assignment = oncePerModel((scene, model) => {
  const trained = model.source === "frame" && model.frame === scene.F - 1;
  return countsDrawn(scene, model.panel) ? nearestOfAll(scene, model) : (trained && model.panel.nearest) || null;
});

function nearestOfAll(scene, model) {
  const { toModel } = model.panel.space;
  const points = pointsOf(scene, model.panel);
  const nearest = new Uint16Array(scene.n);
  for (let i = 0; i < scene.n; i++) {
    const [zx, zy] = toModel(points[2 * i], points[2 * i + 1]);
    nearest[i] = nearestPrototype(zx, zy, model);
  }
  return nearest;
}

/** A model with prototype j put to the plane point (x, y); its pseudo-classes are voted anew where people can be counted. */
export function draggedModel(scene, model, j, x, y) {
  const { panel } = model;
  const W = Float64Array.from(model.W);
  W.set(panel.space.toModel(x, y), 2 * j);
  const moved = { ...model, W, source: "dragged", token: null, counts: null, changed: null };
  if (countsDrawn(scene, panel)) moved.pseudo = votedPseudo(scene, moved);
  return moved;
}

/** Pseudo-classes of a model by vote of the training points in each cell; an empty cell keeps the one it had. */
function votedPseudo(scene, model) {
  const { s, heldOut, G } = scene;
  const votes = new Uint32Array(model.pseudo.length * G);
  assignment(scene, model).forEach((j, i) => {
    if (!heldOut[i]) votes[j * G + s[i]]++;
  });
  return model.pseudo.map((before, j) => {
    let [most, winner] = [0, before];
    for (let g = 0; g < G; g++) if (votes[j * G + g] > most) [most, winner] = [votes[j * G + g], g];
    return winner;
  });
}

/** What Python counted of a model: its block of a panel's array over frames or of the film's over C, its own, or null. */
export function shippedBlock(scene, model, name, size) {
  if (model.source === "dragged") return model[name] ?? null;
  const [from, index] = model.source === "film" ? [scene.films[model.panel.key], model.filmIndex] : [model.panel, model.frame];
  return from?.[name]?.subarray(index * size, (index + 1) * size) ?? null;
}

/**
 * Counts [group, truth, predicted] and metrics from them. `known` is false for a model moved by hand on a slice until
 * Python has counted it, and always in a file: then only numbers of people are given, not of decisions.
 */
export const metricsOf = oncePerModel((scene, model) => {
  const { G, K } = scene;
  const shipped = shippedBlock(scene, model, "counts", G * K * K);
  const counts = new Int32Array(G * K * K);
  const known = Boolean(shipped) || countsDrawn(scene, model.panel);
  if (shipped) {
    counts.set(shipped);
  } else if (!known) {
    counts.set(shippedBlock(scene, lastModel(scene, model.panel), "counts", G * K * K));
  } else {
    for (const [i, predicted] of decisions(scene, model)) counts[(scene.s[i] * K + scene.y[i]) * K + predicted] += 1;
  }
  const summary = summarise(counts, G, K, scene.meta.favourable);
  return { ...(known ? summary : withoutDecisions(summary)), known, heldOut: scene.holdsOut };
});

/** A summary without what depends on decisions. */
function withoutDecisions({ counts, n, groups }) {
  const blank = { nFavourable: null, rate: null, tpr: null };
  return { counts, n, accuracy: null, sp: null, eo: null, groups: groups.map((group) => ({ ...group, ...blank })) };
}

/** Accuracy, SP and EO gaps of counts [group, truth, predicted]; null where nobody is counted. */
export function summarise(counts, G, K, favourable) {
  const groups = [];
  let n = 0;
  let right = 0;
  for (let g = 0; g < G; g++) {
    const row = { n: 0, nFavourableTruth: 0, nFavourable: 0 };
    let truePositive = 0;
    for (let t = 0; t < K; t++) {
      for (let p = 0; p < K; p++) {
        const c = counts[(g * K + t) * K + p];
        row.n += c;
        if (t === p) right += c;
        if (t === favourable) row.nFavourableTruth += c;
        if (p === favourable) row.nFavourable += c;
        if (t === favourable && p === favourable) truePositive += c;
      }
    }
    row.rate = ratio(row.nFavourable, row.n);
    row.tpr = ratio(truePositive, row.nFavourableTruth);
    groups.push(row);
    n += row.n;
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

function ratio(part, whole) {
  return whole ? part / whole : null;
}
