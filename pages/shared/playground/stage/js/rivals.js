// One point between its prototypes: the rivals that decide it, and the smallest step that would change the decision.

/**
 * A model as one point of a slice meets it: `distances` are its true squared distances in all dimensions. What the plane
 * does not show of them stays the same while the point moves along the plane, so it goes into the weights.
 */
export function modelFor(scene, model, i, distances) {
  const inPlane = squaredDistances({ ...model, weights: null }, scene.points[2 * i], scene.points[2 * i + 1]);
  return { ...model, weights: inPlane.map((d, j) => distances[j] - d) };
}

/**
 * The nearest prototype of the point's own class (plus) and of any other (minus), squared distances to them,
 * mu = (dPlus - dMinus) / (dPlus + dMinus), and what would flip it. Null parts where a rival is missing.
 */
export function rivals(scene, model, i) {
  const [x, y] = [scene.points[2 * i], scene.points[2 * i + 1]];
  const d = squaredDistances(model, x, y);
  const nearest = (wanted) => d.reduce((best, value, j) => (wanted(j) && (best < 0 || value < d[best]) ? j : best), -1);
  const plus = nearest((j) => model.labels[j] === scene.y[i]);
  const minus = nearest((j) => model.labels[j] !== scene.y[i]);
  const both = plus >= 0 && minus >= 0;
  const sum = both ? d[plus] + d[minus] : 0;
  return {
    plus: plus < 0 ? null : plus,
    minus: minus < 0 ? null : minus,
    dPlus: plus < 0 ? null : d[plus],
    dMinus: minus < 0 ? null : d[minus],
    mu: sum > 0 ? (d[plus] - d[minus]) / sum : null,
    flip: smallestFlip(model, x, y),
  };
}

export function squaredDistances(model, x, y) {
  const [z0, z1] = modelSpace(model, x, y);
  return Float64Array.from(model.labels, (_, j) =>
    (z0 - model.W[2 * j]) ** 2 + (z1 - model.W[2 * j + 1]) ** 2 + (model.weights ? model.weights[j] : 0));
}

function modelSpace({ panel }, x, y) {
  if (!panel.map) return [x, y];
  const { A: [[a, b], [c, d]], b: [e, f] } = panel.map;
  return [a * x + b * y + e, c * x + d * y + f];
}

/**
 * The nearest plane point that is decided otherwise. That region is the union of the cells of all other classes; every cell
 * is convex, so the answer is the nearest of the projections onto these cells. Exact, and not bound to the visible box.
 */
export function smallestFlip(model, x, y) {
  const d = squaredDistances(model, x, y);
  const from = model.labels[d.reduce((best, value, j) => (value < d[best] ? j : best), 0)];
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
 * Prototype j's cell as half-planes [nx, ny, limit], nx*x + ny*y <= limit with a unit normal; null if the cell is empty.
 * |z - w_j|^2 + r_j <= |z - w_k|^2 + r_k  <=>  2 (w_k - w_j).z <= |w_k|^2 + r_k - |w_j|^2 - r_j,  with z = A x + b.
 */
export function cellHalfPlanes({ W, weights, labels, panel }, j) {
  const { A: [[a, b], [c, d]], b: [e, f] } = panel.map ?? { A: [[1, 0], [0, 1]], b: [0, 0] };
  const size = (k) => W[2 * k] ** 2 + W[2 * k + 1] ** 2 + (weights ? weights[k] : 0);
  const planes = [];
  for (let k = 0; k < labels.length; k++) {
    if (k === j) continue;
    const u = 2 * (W[2 * k] - W[2 * j]);
    const v = 2 * (W[2 * k + 1] - W[2 * j + 1]);
    const [nx, ny] = [a * u + c * v, b * u + d * v];
    const limit = size(k) - size(j) - e * u - f * v;
    const length = Math.hypot(nx, ny);
    if (length > 0) planes.push([nx / length, ny / length, limit / length]);
    else if (limit < 0 || (limit === 0 && k < j)) return null; // never nearer, or a twin whose earlier index wins all ties
  }
  return planes;
}

/**
 * Nearest point of an intersection of half-planes, or null if it is empty. Half-planes are added one by one: while the
 * best point so far keeps the new one, it stays; otherwise it moves onto the new border, as near as the earlier ones allow.
 */
export function projectOntoCell(planes, x, y) {
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
