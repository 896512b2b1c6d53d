// What lies under a pointer.

import { markOnScreen, toScreen } from "./camera.js";
import { prototypeRadius } from "./draw.js";
import { foldPoint } from "./geometry.js";

/** Index of the drawn prototype within reach of (x, y), or -1. `positions` are plane coordinates. */
export function prototypeAt(positions, vp, x, y, slack) {
  let best = -1;
  let bestDistance = prototypeRadius(vp) + slack;
  for (let j = 0; j < positions.length / 2; j++) {
    const [sx, sy] = markOnScreen(vp, positions, j);
    const distance = Math.hypot(sx - x, sy - y);
    if (distance < bestDistance) [best, bestDistance] = [j, distance];
  }
  return best;
}

/** Index of the visible point, of those at `points`, nearest to (x, y) within `slack` pixels, or -1. */
export function pointAt({ heldOut, n }, points, vp, x, y, slack, { show, erased, line, fold }) {
  let best = -1;
  let bestDistance = slack;
  for (let i = 0; i < n; i++) {
    if (!(heldOut[i] ? show.heldOut : show.points) || erased.has(i)) continue;
    let px = points[2 * i], py = points[2 * i + 1];
    if (line && fold) [px, py] = foldPoint(px, py, line, fold);
    const [sx, sy] = toScreen(vp, px, py);
    const distance = Math.hypot(sx - x, sy - y);
    if (distance < bestDistance) [best, bestDistance] = [i, distance];
  }
  return best;
}
