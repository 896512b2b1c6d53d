// From the unpacked blob to the scene object, and the models that panels show.

import { planeMap } from "./geometry.js";

export function buildScene({ meta, arrays }) {
  const get = (name) => arrays[name]?.data ?? null;
  const F = meta.epochs.length;
  const heldOut = get("held_out");
  const holdsOut = heldOut.includes(1);
  const scene = {
    meta,
    n: arrays.points.shape[0],
    F,
    G: meta.groups.length,
    K: meta.classes.length,
    points: get("points"),
    y: get("y"),
    s: get("s"),
    heldOut,
    holdsOut,
    // The points a number is measured on: the held-out ones, or the training points if none is held out.
    measured: Uint32Array.from(heldOut.keys()).filter((i) => Boolean(heldOut[i]) === holdsOut),
  };
  const { axes } = meta; // of all panels but those in a plane of their own
  scene.panels = meta.panels.map((panel) => buildPanel({ axes, ...panel }, (name) => get(`${panel.key}.${name}`), F));
  scene.films = Object.fromEntries(scene.panels.filter(({ key }) => meta.films[key])
    .map((panel) => [panel.key, buildFilm(meta.films[panel.key], panel, (name) => get(`film.${panel.key}.${name}`))]));
  return scene;
}

/** A panel's method fully trained with every strength. */
function buildFilm(about, panel, get) {
  // Where its strengths stand on a slider: as in the sidebar, C by its size and allowed gaps one after the other.
  const places = about.knob === "C" ? about.values : about.values.map((_, index) => index);
  return {
    ...about, places, panel, prototypes: get("prototypes"), pseudo: get("pseudo"), counts: get("counts"), changed: get("changed"),
    weights: get("weights"), boxes: get("boxes"), labels: get("labels"), models: [],
  };
}

/**
 * Whether the browser can count a panel's decisions from the drawn people: not on a slice, which hides dimensions and people.
 * A file has the drawn people only, and counts those in a model's own plane, which hides no dimension.
 */
export function countsDrawn({ meta }, { points }) {
  return !meta.slice || Boolean(meta.offline && points);
}

/** Where people stand in a panel: in its model's own plane, or where all panels show them. */
export function pointsOf(scene, panel) {
  return panel.points ?? scene.points;
}

/** Where prototypes are drawn, as x, y, x, y, ...; straight steps in model space stay straight in the plane. */
export function drawnPlaces(space, W) {
  const places = new Float64Array(W.length);
  for (let i = 0; i < places.length; i += 2) places.set(space.toPlane(W[i], W[i + 1]), i);
  return places;
}

function buildPanel(panel, get, F) {
  const space = planeMap(panel.map, panel.line);
  const prototypes = get("prototypes");
  return {
    ...panel,
    P: prototypes.length / (2 * F),
    space,
    drawn: drawnPlaces(space, prototypes),
    labels: get("labels") ?? Uint8Array.from(panel.labels), // a tree has other leaves in every frame
    boxes: get("boxes"), // of a tree: its leaves as [x low, x high, y low, y high]
    points: get("points"),
    prototypes,
    pseudo: get("pseudo"),
    pullClass: get("pull_class"),
    pullFair: get("pull_fair"),
    costClass: get("cost_class"),
    costFair: get("cost_fair"),
    flips: get("flips"),
    weights: get("weights"),
    counts: get("counts"),
    changed: get("changed"),
    nearest: get("nearest"),
    models: [],
  };
}

/** Model number `index` of a panel's frames or of a film. A tree may have fewer leaves than P. */
function modelAt({ prototypes, weights, boxes, labels, pseudo }, index, { P, labels: usual }) {
  const start = index * P;
  let end = start + P;
  while (boxes && Number.isNaN(prototypes[2 * end - 2])) end -= 1;
  return {
    W: prototypes.subarray(2 * start, 2 * end),
    weights: weights?.subarray(start, end) ?? null,
    boxes: boxes?.subarray(4 * start, 4 * end) ?? null,
    labels: boxes ? labels.subarray(start, end) : usual,
    pseudo: pseudo.subarray(start, end),
  };
}

/** The recorded model of a panel; one object per frame, so that others can cache by identity. */
export function frameModel(panel, frame) {
  return (panel.models[frame] ??= {
    panel,
    frame,
    ...modelAt(panel, frame, panel),
    source: "frame",
    strength: panel.strength,
  });
}

/** The model trained with strength number `index` of a film. */
export function filmModel(scene, film, index) {
  const { panel } = film;
  return (film.models[index] ??= {
    panel,
    frame: scene.F - 1,
    ...modelAt(film, index, panel),
    source: "film",
    filmIndex: index,
    strength: film.values[index],
  });
}

/** A model moved by hand with what Python counted of it. */
export function countedModel(model, { counts, changed, pseudo }) {
  return {
    ...model, counts: Uint32Array.from(counts), changed: Uint32Array.from(changed), pseudo: Uint8Array.from(pseudo),
  };
}

/** What Python needs to find a shown model. */
export function nameOf(model) {
  const { frame, filmIndex, source, W } = model;
  return { frame, film: filmIndex ?? null, places: source === "dragged" ? pairs(W) : null };
}

function pairs(W) {
  return Array.from({ length: W.length / 2 }, (_, j) => [W[2 * j], W[2 * j + 1]]);
}

/** Model-space prototypes between two recorded frames, for smooth drawing only. */
export function betweenFrames(panel, position) {
  const size = panel.P * 2;
  const frame = Math.floor(position);
  const share = position - frame;
  const from = panel.prototypes.subarray(frame * size, (frame + 1) * size);
  if (share === 0) return from;
  const to = panel.prototypes.subarray((frame + 1) * size, (frame + 2) * size);
  return from.map((value, i) => value + share * (to[i] - value));
}

/** A short fingerprint of the models shown, for tests: equal models, equal text. */
export function modelSignature(models) {
  let hash = 0x811c9dc5;
  for (const { W } of models) {
    for (const byte of new Uint8Array(W.slice().buffer)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}
