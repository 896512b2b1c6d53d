// A point's two rival prototypes, and the smallest step that would change its decision.

import { cellHalfPlanes, nearestPrototype, squaredDistance } from "./geometry.js";
import { countsDrawn, pointsOf } from "./scene.js";

const placeOf = (scene, model, i) => pointsOf(scene, model.panel).subarray(2 * i, 2 * i + 2);
const modelPoint = (scene, model, i) => model.panel.space.toModel(...placeOf(scene, model, i));

/**
 * A model as it decides point i; null while that is not known. On a slice Python sends `facts`: by panel, the point's
 * squared distances in all dimensions. The part that the plane does not show is constant along the plane, so it goes into
 * the weights.
 */
export function modelFor(scene, model, i, facts) {
  if (!facts) return countsDrawn(scene, model.panel) ? model : null;
  const z = modelPoint(scene, model, i);
  const shown = { W: model.W, weights: null };
  const weights = Float64Array.from(facts[model.panel.key], (d, j) => d - squaredDistance(...z, shown, j));
  return { ...model, weights };
}

/** The class decided for point i. */
export function decisionOf(scene, model, i) {
  return model.labels[nearestPrototype(...modelPoint(scene, model, i), model)];
}

/**
 * The nearest prototype of the point's own class (plus) and of any other (minus), squared distances to them,
 * mu = (dPlus - dMinus) / (dPlus + dMinus), and what would flip it. Null parts where a rival is missing.
 */
export function rivals(scene, model, i) {
  const z = modelPoint(scene, model, i);
  const nearest = (accepts) => {
    const j = nearestPrototype(...z, model, accepts);
    return j < 0 ? [null, null] : [j, squaredDistance(...z, model, j)];
  };
  const [plus, dPlus] = nearest((j) => model.labels[j] === scene.y[i]);
  const [minus, dMinus] = nearest((j) => model.labels[j] !== scene.y[i]);
  const sum = plus !== null && minus !== null ? dPlus + dMinus : 0;
  const mu = sum > 0 && !model.boxes ? (dPlus - dMinus) / sum : null;
  return { plus, minus, dPlus, dMinus, mu, flip: smallestFlip(scene, model, i) };
}

/**
 * The nearest plane point that is decided otherwise. That region is the union of the cells of all other classes; every cell
 * is convex, so it is the nearest of the projections onto these cells. Exact, also outside the visible box.
 */
function smallestFlip(scene, model, i) {
  const [x, y] = placeOf(scene, model, i);
  const from = decisionOf(scene, model, i);
  let flip = null;
  model.labels.forEach((to, prototype) => {
    if (to === from) return;
    const point = projectOntoCell(cellHalfPlanes(model, prototype), x, y);
    const distance = point ? Math.hypot(point[0] - x, point[1] - y) : Infinity;
    if (distance < (flip?.distance ?? Infinity)) flip = { x: point[0], y: point[1], distance, to, prototype };
  });
  return flip;
}

/**
 * Nearest point of an intersection of half-planes, or null if it is empty. Half-planes are added one by one: if the best
 * point so far is outside the new one, it moves onto its border, as near as the earlier ones allow.
 */
function projectOntoCell(planes, x, y) {
  if (!planes) return null;
  let best = [x, y];
  for (let i = 0; i < planes.length; i++) {
    const [nx, ny, limit] = planes[i];
    const slack = 1e-12 * (1 + Math.abs(limit));
    if (nx * best[0] + ny * best[1] <= limit + slack) continue;
    const away = limit - nx * x - ny * y;
    const [footX, footY] = [x + away * nx, y + away * ny];
    let [low, high] = [-Infinity, Infinity];
    for (let h = 0; h < i; h++) {
      const [mx, my, bound] = planes[h];
      const along = my * nx - mx * ny; // border direction (-ny, nx)
      const room = bound - mx * footX - my * footY;
      if (Math.abs(along) < 1e-12) {
        if (room < -slack) return null;
      } else if (along > 0) high = Math.min(high, room / along);
      else low = Math.max(low, room / along);
    }
    if (low > high + slack) return null;
    const step = Math.min(Math.max(0, low), high);
    best = [footX - step * ny, footY + step * nx];
  }
  return best;
}
