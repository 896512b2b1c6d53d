// View state: what a visitor chose to look at. One plain object, the same for Python, for the link and for a new page.

import { clamp, nearestIndex } from "./arithmetic.js";
import { boundsChangedMuch, clampZoom, fitCamera, isFitted } from "./camera.js";
import { SPEEDS } from "./playback.js";

const SHOW_AT_FIRST = { regions: true, borders: true, trails: true, points: true, heldOut: true, forces: false };

/** The state of a stage without a scene. */
export function newState() {
  return {
    position: 0, // frame number; has a fraction only while playing
    playing: false,
    speed: 1,
    show: { ...SHOW_AT_FIRST },
    hidden: new Set(),
    enlarged: null,
    film: null, // {panel, index}: a strength picked from a film
    camera: null,
    fold: 0,
    squeeze: 0, // 0: the plane of the data, 1: as learned distances measure it
    open: new Set(), // names of open expanders
    selection: null,
  };
}

/** State to plain object: only what differs from the view that a visitor gets at first. */
export function viewOf(state, scene) {
  const { cx, cy, zoom } = state.camera;
  const round = (value) => Number(value.toPrecision(6));
  const frame = Math.floor(state.position);
  const shown = Object.entries(state.show).filter(([name, on]) => on !== SHOW_AT_FIRST[name]);
  const view = {
    speed: state.speed !== 1 && state.speed,
    hidden: state.hidden.size && [...state.hidden].sort(),
    enlarged: state.enlarged,
    film: state.film && [state.film.panel, state.film.index],
    camera: !isFitted(state.camera, scene.meta.bounds) && [cx, cy, zoom].map(round),
    fold: round(state.fold),
    squeeze: round(state.squeeze),
    open: state.open.size && [...state.open].sort(),
    show: shown.length && Object.fromEntries(shown),
  };
  const differs = Object.fromEntries(Object.entries(view).filter(([, value]) => value));
  return frame === scene.F - 1 ? differs : { ...differs, epoch: scene.meta.epochs[frame] };
}

/** Set what is valid in a plain object; links may be edited or cut short. */
export function restoreView(state, raw, scene) {
  if (!raw || typeof raw !== "object") return;
  const keys = scene.panels.map((panel) => panel.key);
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  if (isNumber(raw.epoch)) state.position = nearestIndex(scene.meta.epochs, raw.epoch); // frames may skip epochs
  if (SPEEDS.includes(raw.speed)) state.speed = raw.speed;
  for (const name of Object.keys(state.show)) {
    if (typeof raw.show?.[name] === "boolean") state.show[name] = raw.show[name];
  }
  if (Array.isArray(raw.hidden)) {
    const hidden = raw.hidden.filter((key) => keys.includes(key));
    if (hidden.length < keys.length) state.hidden = new Set(hidden);
  }
  state.enlarged = keys.includes(raw.enlarged) && !state.hidden.has(raw.enlarged) ? raw.enlarged : null;
  const [panel, index] = Array.isArray(raw.film) ? raw.film : ["fairglvq", raw.filmIndex]; // older links: C only
  if (Number.isInteger(index) && index >= 0 && index < (scene.films[panel]?.values.length ?? 0)) state.film = { panel, index };
  if (Array.isArray(raw.open)) state.open = new Set(raw.open.filter((name) => /^[a-z]{1,20}$/.test(name)));
  for (const name of ["fold", "squeeze"]) if (isNumber(raw[name])) state[name] = clamp(raw[name], 0, 1);
  if (Array.isArray(raw.camera) && raw.camera.length === 3 && raw.camera.every(isNumber)) {
    const [cx, cy, zoom] = raw.camera;
    state.camera = { cx, cy, zoom: clampZoom(zoom) };
  }
}

/** The view of a page's first scene: the end of training, paused, unzoomed; or a view that was kept or came by a link. */
export function firstView(state, scene, view = scene.meta.view) {
  state.position = scene.F - 1;
  state.camera = fitCamera(scene.meta.bounds);
  restoreView(state, view, scene);
}

/** Adapt the state to a new scene: keep what is still valid. */
export function carryOver(state, before, scene) {
  const [old, now] = [before.meta, scene.meta];
  const keys = scene.panels.map((panel) => panel.key);
  const last = scene.F - 1;
  // The last frame stays the last frame.
  const keeps = now.keep_position && state.position < before.F - 1;
  state.position = keeps ? nearestIndex(now.epochs, old.epochs[Math.floor(state.position)]) : last;
  state.playing = state.playing && state.position < last;
  state.film = null;
  if (!scene.panels.some((panel) => panel.squeeze)) state.squeeze = 0; // or it would come back with the next learned distance
  state.hidden = new Set([...state.hidden].filter((key) => keys.includes(key)));
  if (state.hidden.size === keys.length) state.hidden.clear();
  if (!keys.includes(state.enlarged)) state.enlarged = null;
  const elsewhere = old.dataset !== now.dataset || boundsChangedMuch(old.bounds, now.bounds);
  if (elsewhere || isFitted(state.camera, old.bounds)) state.camera = fitCamera(now.bounds);
  const { selection } = state;
  const chosen = selection && scene.panels.find(({ key }) => key === selection.panel);
  const samePoints = old.dataset === now.dataset && before.n === scene.n;
  const stays = chosen && (selection.kind === "point" ? samePoints : selection.index < chosen.P);
  if (!stays) state.selection = null;
}

/** The address of this page with the view added; everything else in it belongs to the settings and stays. */
export function linkOf(href, view) {
  const url = new URL(href);
  if (Object.keys(view).length) url.searchParams.set("view", JSON.stringify(view));
  else url.searchParams.delete("view");
  return url.href;
}

/** Copy text; pages that are not served over https have only the old way. Resolves to whether it worked. */
export async function copyText(text, host) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.style.cssText = "position:fixed;opacity:0";
    host.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}
