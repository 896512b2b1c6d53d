// Exact plane geometry of nearest-prototype models and of trees. Plane points are x, model points z = A x + b.

const IDENTITY = { A: [[1, 0], [0, 1]], b: [0, 0] };

/** Both directions between the drawn plane and a panel's model space, from its map and (for INP) its kept line. */
export function planeMap(map, line) {
  const { A: [[a, b], [c, d]], b: [e, f] } = map ?? IDENTITY;
  const [[pa, pb], [pc, pd]] = pseudoInverse(a, b, c, d);
  const toPlaneVector = (zx, zy) => [pa * zx + pb * zy, pc * zx + pd * zy];
  return {
    toModel: (x, y) => [a * x + b * y + e, c * x + d * y + f],
    toPlaneVector,
    toPlane(zx, zy) {
      const point = toPlaneVector(zx - e, zy - f);
      // A projection has no removed coordinate: the prototype is drawn on the kept line.
      return line ? foldPoint(point[0], point[1], line, 1) : point;
    },
  };
}

/** Moore-Penrose inverse of a 2x2 matrix; the plain inverse unless the matrix has lost a dimension. */
function pseudoInverse(a, b, c, d) {
  const det = a * d - b * c;
  const size = a * a + b * b + c * c + d * d;
  if (Math.abs(det) > 1e-9 * size) return [[d / det, -b / det], [-c / det, a / det]];
  if (size === 0) return [[0, 0], [0, 0]];
  return [[a / size, c / size], [b / size, d / size]]; // rank one: A' / |A|^2
}

/** Move a point towards the kept line by the share t of its removed coordinate. */
export function foldPoint(x, y, line, t) {
  const [rx, ry] = line.removed;
  const away = t * ((x - line.origin[0]) * rx + (y - line.origin[1]) * ry);
  return [x - away * rx, y - away * ry];
}

/**
 * Keep the part of a convex polygon where nx*x + ny*y <= limit. `poly` is [x0, y0, x1, y1, ...] and `edges[i]` names what
 * lies behind the edge from vertex i to vertex i+1; the new edge is named `tag`.
 */
function clipHalfPlane(poly, edges, nx, ny, limit, tag) {
  const outPoly = [];
  const outEdges = [];
  const count = edges.length;
  for (let i = 0; i < count; i++) {
    const j = i + 1 === count ? 0 : i + 1;
    const x = poly[2 * i], y = poly[2 * i + 1];
    const u = poly[2 * j], v = poly[2 * j + 1];
    const here = nx * x + ny * y - limit;
    const there = nx * u + ny * v - limit;
    if (here <= 0) {
      outPoly.push(x, y);
      outEdges.push(edges[i]);
    }
    if ((here <= 0) !== (there <= 0)) {
      const t = here / (here - there);
      outPoly.push(x + t * (u - x), y + t * (v - y));
      // Leaving the half-plane the border runs along the cut; entering it, along the old edge.
      outEdges.push(here <= 0 ? tag : edges[i]);
    }
  }
  return [outPoly, outEdges];
}

/**
 * Prototype j's cell as half-planes [nx, ny, limit, k]: nx*x + ny*y <= limit with a unit normal towards prototype k; null if the
 * cell is empty. Ties of identical prototypes go to the first.
 * |z - w_j|^2 + r_j <= |z - w_k|^2 + r_k  <=>  2 (w_k - w_j).z <= |w_k|^2 + r_k - |w_j|^2 - r_j,  with z = A x + b.
 */
export function cellHalfPlanes({ W, weights, boxes, panel }, j) {
  if (boxes) return boxHalfPlanes(boxes.subarray(4 * j, 4 * j + 4));
  const { A: [[a, b], [c, d]], b: [e, f] } = panel.map ?? IDENTITY;
  const planes = [];
  for (let k = 0; k < W.length / 2; k++) {
    if (k === j) continue;
    const u = W[2 * k] - W[2 * j], v = W[2 * k + 1] - W[2 * j + 1];
    const nx = a * u + c * v, ny = b * u + d * v; // A' (w_k - w_j)
    let limit = (u * (W[2 * k] + W[2 * j]) + v * (W[2 * k + 1] + W[2 * j + 1])) / 2 - e * u - f * v;
    if (weights) limit += (weights[k] - weights[j]) / 2;
    const length = Math.hypot(nx, ny);
    if (length > 0) planes.push([nx / length, ny / length, limit / length, k]);
    else if (limit < 0 || (limit === 0 && k < j)) return null; // never nearer, or a duplicate: the earlier index wins all ties
  }
  return planes;
}

/** The finite sides of a leaf, as half-planes with -1 as neighbour, because a side may have several. */
function boxHalfPlanes([left, right, bottom, top]) {
  return [[-1, 0, -left, -1], [1, 0, right, -1], [0, -1, -bottom, -1], [0, 1, top, -1]].filter(([, , limit]) => Number.isFinite(limit));
}

/** Leaf j inside a box, like a cell of `cellsOf`: a side is cut where another leaf begins beyond it. */
function leafInBox(boxes, j, view) {
  const at = (k, axis, end) => boxes[4 * k + 2 * axis + end];
  const low = [0, 1].map((axis) => Math.max(at(j, axis, 0), view[axis]));
  const high = [0, 1].map((axis) => Math.min(at(j, axis, 1), view[axis + 2]));
  const cell = { poly: [], edges: [] };
  if (!(low[0] < high[0] && low[1] < high[1])) return cell;
  // Anticlockwise from the lower left: bottom, right, top, left; the last two are walked backwards.
  for (const [axis, end] of [[1, 0], [0, 1], [1, 1], [0, 0]]) {
    const along = 1 - axis;
    const backwards = axis === end;
    const border = (end ? high : low)[axis];
    const parts = [];
    for (let k = 0; border === at(j, axis, end) && k < boxes.length / 4; k++) {
      if (k === j || at(k, axis, 1 - end) !== border) continue;
      const [from, to] = [Math.max(low[along], at(k, along, 0)), Math.min(high[along], at(k, along, 1))];
      if (from < to) parts.push([from, to, k]);
    }
    if (!parts.length) parts.push([low[along], high[along], -1]); // the box
    parts.sort((a, b) => (backwards ? b[0] - a[0] : a[0] - b[0]));
    for (const [from, to, k] of parts) {
      const start = backwards ? to : from;
      cell.poly.push(...(axis ? [start, border] : [border, start]));
      cell.edges.push(k);
    }
  }
  return cell;
}

/** Cells of all prototypes inside a box [x0, y0, x1, y1]: an array of { poly, edges }, where edges name the neighbour (-1: the box). */
export function cellsOf(model, [x0, y0, x1, y1]) {
  return Array.from({ length: model.W.length / 2 }, (_, j) => {
    if (model.boxes) return leafInBox(model.boxes, j, [x0, y0, x1, y1]);
    const planes = cellHalfPlanes(model, j);
    if (!planes) return { poly: [], edges: [] };
    let poly = [x0, y0, x1, y0, x1, y1, x0, y1];
    let edges = [-1, -1, -1, -1];
    for (const [nx, ny, limit, k] of planes) [poly, edges] = clipHalfPlane(poly, edges, nx, ny, limit, k);
    return { poly, edges };
  });
}

/**
 * Squared distance of the model point z to prototype j; `weights` is what a slice does not show of it. To a leaf it is 0 inside.
 * A point on a border is at distance 0 of the leaves on both sides and belongs to the one below: to the first, as leaves are
 * numbered from left to right.
 */
export function squaredDistance(zx, zy, { W, weights, boxes }, j) {
  if (boxes) {
    const [left, right, bottom, top] = boxes.subarray(4 * j, 4 * j + 4);
    return Math.max(left - zx, 0, zx - right) ** 2 + Math.max(bottom - zy, 0, zy - top) ** 2;
  }
  const dx = zx - W[2 * j], dy = zy - W[2 * j + 1];
  return weights ? dx * dx + dy * dy + weights[j] : dx * dx + dy * dy;
}

/** Index of the prototype nearest to the model point z, among those with `accepts(j)`: the first one wins a tie, as in Python; -1 if there is none. */
export function nearestPrototype(zx, zy, model, accepts = null) {
  let best = -1;
  let bestDistance = Infinity;
  for (let j = 0, P = model.W.length / 2; j < P; j++) {
    if (accepts && !accepts(j)) continue;
    const distance = squaredDistance(zx, zy, model, j);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = j;
    }
  }
  return best;
}
