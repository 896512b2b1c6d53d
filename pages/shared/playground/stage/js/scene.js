// From the unpacked blob to the scene object, and the models that panels show.

import { planeMap, votedPseudo } from "./geometry.js";

export function buildScene({ meta, arrays }) {
  const get = (name) => arrays[name]?.data ?? null;
  const F = meta.epochs.length;
  const scene = {
    meta,
    n: arrays.points.shape[0],
    F,
    G: meta.groups.length,
    K: meta.classes.length,
    points: get("points"),
    y: get("y"),
    s: get("s"),
    heldOut: get("held_out"),
  };
  scene.panels = meta.panels.map((panel) => buildPanel(panel, (name) => get(`${panel.key}.${name}`), F));
  scene.films = Object.fromEntries(scene.panels.filter(({ key }) => meta.films[key])
    .map((panel) => [panel.key, buildFilm(meta.films[panel.key], panel, (name) => get(`film.${panel.key}.${name}`))]));
  return scene;
}

/** A panel's method fully trained with every strength. */
function buildFilm(about, panel, get) {
  return {
    ...about, panel, prototypes: get("prototypes"), pseudo: get("pseudo"), counts: get("counts"), changed: get("changed"),
    weights: get("weights"), models: [],
  };
}

/** Where people stand in a panel: in its model's own plane, or where all panels show them. */
export function pointsOf(scene, panel) {
  return panel.points ?? scene.points;
}

function buildPanel(panel, get, F) {
  const P = panel.labels.length;
  const space = planeMap(panel.map, panel.line);
  const prototypes = get("prototypes");
  // Where every recorded prototype is drawn; straight steps in model space stay straight in the plane.
  const drawn = new Float64Array(F * P * 2);
  for (let i = 0; i < F * P; i++) drawn.set(space.toPlane(prototypes[2 * i], prototypes[2 * i + 1]), 2 * i);
  return {
    ...panel,
    P,
    space,
    drawn,
    labels: Uint8Array.from(panel.labels),
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

/** The recorded model of a panel; one object per frame, so that others can cache by identity. */
export function frameModel(panel, frame) {
  const { P } = panel;
  return (panel.models[frame] ??= {
    panel,
    frame,
    W: panel.prototypes.subarray(frame * P * 2, (frame + 1) * P * 2),
    weights: panel.weights?.subarray(frame * P, (frame + 1) * P) ?? null,
    labels: panel.labels,
    pseudo: panel.pseudo.subarray(frame * P, (frame + 1) * P),
    source: "frame",
    strength: panel.strength,
  });
}

/** The model trained with strength number `index` of a film. */
export function filmModel(scene, film, index) {
  const { panel } = film;
  const { P } = panel;
  return (film.models[index] ??= {
    panel,
    frame: scene.F - 1,
    W: film.prototypes.subarray(index * P * 2, (index + 1) * P * 2),
    weights: film.weights?.subarray(index * P, (index + 1) * P) ?? null,
    labels: panel.labels,
    pseudo: film.pseudo.subarray(index * P, (index + 1) * P),
    source: "film",
    filmIndex: index,
    strength: film.values[index],
  });
}

/** A model with prototype j put to the plane point (x, y); its pseudo-classes are voted anew where the plane is the whole space. */
export function draggedModel(scene, model, j, x, y) {
  const { panel } = model;
  const W = Float64Array.from(model.W);
  W.set(panel.space.toModel(x, y), 2 * j);
  const pseudo = scene.meta.slice ? model.pseudo : votedPseudo(scene, { ...model, W });
  return { ...model, W, pseudo, source: "dragged", token: null, counts: null, changed: null };
}

/** A model moved by hand with what Python counted of it. */
export function countedModel(model, { counts, changed, pseudo }) {
  return {
    ...model, counts: Uint32Array.from(counts), changed: Uint32Array.from(changed), pseudo: Uint8Array.from(pseudo),
  };
}

/** What Python has to know to find a shown model again. */
export function nameOf(model) {
  const { frame, filmIndex, source, W } = model;
  return { frame, film: filmIndex ?? null, places: source === "dragged" ? pairs(W) : null };
}

function pairs(W) {
  return Array.from({ length: W.length / 2 }, (_, j) => [W[2 * j], W[2 * j + 1]]);
}

/** Prototype positions of a model in the plane, as [x, y] pairs. */
export function drawnPositions({ panel, W }) {
  const positions = new Float64Array(W.length);
  for (let j = 0; j < W.length; j += 2) positions.set(panel.space.toPlane(W[j], W[j + 1]), j);
  return positions;
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
