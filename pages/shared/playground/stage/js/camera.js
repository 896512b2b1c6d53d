// The shared camera { cx, cy, zoom }: plane point in the middle of every panel; zoom 1 fits the bounds. Equal aspect always.

import { clamp } from "./arithmetic.js";

const MARGIN = 0.94; // share of the panel's width that the bounds fill at zoom 1
export const NAME_BAND = 20; // pixels above and below the bounds, for the names of axes
const MAX_ZOOM = 40;
const MIN_ZOOM = 0.4;

export function fitCamera([x0, y0, x1, y1]) {
  return { cx: (x0 + x1) / 2, cy: (y0 + y1) / 2, zoom: 1 };
}

/** What a panel of width x height CSS pixels shows: one scale for both axes. */
export function viewport(camera, [x0, y0, x1, y1], width, height) {
  const fit = Math.min((MARGIN * width) / (x1 - x0 || 1), (height - 2 * NAME_BAND) / (y1 - y0 || 1));
  return { cx: camera.cx, cy: camera.cy, zoom: camera.zoom, scale: fit * camera.zoom, width, height };
}

export function toScreen(vp, x, y) {
  return [vp.width / 2 + (x - vp.cx) * vp.scale, vp.height / 2 - (y - vp.cy) * vp.scale];
}

/** Where mark j of `places`, [x0, y0, x1, y1, ...] in the plane, is drawn. */
export function markOnScreen(vp, places, j) {
  return toScreen(vp, places[2 * j], places[2 * j + 1]);
}

export function toPlane(vp, sx, sy) {
  return [vp.cx + (sx - vp.width / 2) / vp.scale, vp.cy - (sy - vp.height / 2) / vp.scale];
}

/** The visible part of the plane, a little enlarged so that lines on its rim stay outside the picture. */
export function visibleBox(vp) {
  const halfWidth = (vp.width / 2 + 4) / vp.scale;
  const halfHeight = (vp.height / 2 + 4) / vp.scale;
  return [vp.cx - halfWidth, vp.cy - halfHeight, vp.cx + halfWidth, vp.cy + halfHeight];
}

export function clampZoom(zoom) {
  return clamp(zoom, MIN_ZOOM, MAX_ZOOM);
}

/** Zoom by a factor while the plane point under (sx, sy) stays where it is. */
export function zoomAt(camera, vp, sx, sy, factor) {
  const zoom = clampZoom(camera.zoom * factor);
  const [x, y] = toPlane(vp, sx, sy);
  const shrink = camera.zoom / zoom;
  return { cx: x - (x - camera.cx) * shrink, cy: y - (y - camera.cy) * shrink, zoom };
}

export function panBy(camera, vp, dx, dy) {
  return { ...camera, cx: camera.cx - dx / vp.scale, cy: camera.cy + dy / vp.scale };
}

export function isFitted(camera, bounds) {
  const fitted = fitCamera(bounds);
  return camera.zoom === 1 && camera.cx === fitted.cx && camera.cy === fitted.cy;
}

/** True if the old camera would show the wrong place: the bounds have moved or grown by more than a third. */
export function boundsChangedMuch(before, after) {
  const width = before[2] - before[0] || 1;
  const height = before[3] - before[1] || 1;
  return after.some((value, i) => Math.abs(value - before[i]) > (i % 2 ? height : width) / 3);
}
