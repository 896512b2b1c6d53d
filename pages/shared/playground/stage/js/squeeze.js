// The plane of drawn data, squeezed by a share: 0 shows it as it is, 1 as a model with a learned distance measures it.

import { fitCamera } from "./camera.js";
import { planeMap } from "./geometry.js";
import { drawnPlaces, pointsOf } from "./scene.js";

const cache = new WeakMap(); // panel -> how it was squeezed last

/**
 * A panel whose plane is squeezed by the share t of what its model has learned: x' = c + M (x - c), M = (1 - t) I + t P.
 * All its places are squeezed ones, so it is drawn and edited like any other. `toDrawn` and `toData` convert places.
 * With t = 0 it is the panel itself.
 */
export function squeezed(scene, panel, t) {
  if (t === 0) return panel;
  if (cache.get(panel)?.squeezedBy !== t) cache.set(panel, squeezePanel(scene, panel, t));
  return cache.get(panel);
}

function squeezePanel(scene, panel, t) {
  const { cx, cy } = fitCamera(scene.meta.bounds);
  const [[p, q], [, r]] = panel.squeeze.matrix; // symmetric
  const [a, b, d] = [1 - t + t * p, t * q, 1 - t + t * r];
  const det = a * d - b * b;
  const toDrawn = (x, y) => [cx + a * (x - cx) + b * (y - cy), cy + b * (x - cx) + d * (y - cy)];
  const toData = (x, y) => [cx + (d * (x - cx) - b * (y - cy)) / det, cy + (a * (y - cy) - b * (x - cx)) / det];
  const rows = panel.map.A.map(([u, v]) => [(u * d - v * b) / det, (v * a - u * b) / det]); // A M^-1
  // So that z = A' x' + b' stays the same.
  const shift = rows.map(([u, v], i) => panel.map.b[i] + (panel.map.A[i][0] - u) * cx + (panel.map.A[i][1] - v) * cy);
  const map = { A: rows, b: shift };
  const space = planeMap(map, null);
  const points = Float64Array.from(pointsOf(scene, panel));
  for (let i = 0; i < points.length; i += 2) points.set(toDrawn(points[i], points[i + 1]), i);
  const axes = panel.squeeze.slanted ? ["", ""] : panel.axes; // on a slanted plane neither direction is one column
  return {
    ...panel, map, space, points, axes, toDrawn, toData, squeezedBy: t, drawn: drawnPlaces(space, panel.prototypes),
  };
}
