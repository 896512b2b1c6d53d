// Exact plane geometry of nearest-prototype models. Plane points are x, model points z = A x + b.

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
      // A projection forgets the removed coordinate: the prototype is drawn on the kept line.
      return line ? foldPoint(point[0], point[1], line, 1) : point;
    },
  };
}

/** Moore-Penrose inverse of a 2x2 matrix; the plain inverse unless the matrix has lost a dimension. */
export function pseudoInverse(a, b, c, d) {
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
export function clipHalfPlane(poly, edges, nx, ny, limit, tag) {
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
 * Cells of all prototypes inside a box [x0, y0, x1, y1]: an array of { poly, edges }, where edges name the neighbour (-1: the
 * box). Cell j = { x : |z - w_j|^2 + r_j <= |z - w_k|^2 + r_k for all k }; ties of identical prototypes go to the first.
 */
export function cellsOf(W, weights, map, box) {
  const { A: [[a, b], [c, d]], b: [e, f] } = map ?? IDENTITY;
  const P = W.length / 2;
  const [x0, y0, x1, y1] = box;
  const cells = [];
  for (let j = 0; j < P; j++) {
    let poly = [x0, y0, x1, y0, x1, y1, x0, y1];
    let edges = [-1, -1, -1, -1];
    const wx = W[2 * j], wy = W[2 * j + 1];
    for (let k = 0; k < P && edges.length; k++) {
      if (k === j) continue;
      const dx = W[2 * k] - wx, dy = W[2 * k + 1] - wy;
      const nx = a * dx + c * dy, ny = b * dx + d * dy; // A' (w_k - w_j)
      let limit = (dx * (W[2 * k] + wx) + dy * (W[2 * k + 1] + wy)) / 2 - (e * dx + f * dy);
      if (weights) limit += (weights[k] - weights[j]) / 2;
      if (nx === 0 && ny === 0) {
        if (limit < 0 || (limit === 0 && k < j)) edges = [];
        continue;
      }
      [poly, edges] = clipHalfPlane(poly, edges, nx, ny, limit, k);
    }
    cells.push(edges.length ? { poly, edges } : { poly: [], edges: [] });
  }
  return cells;
}

/** Index of the nearest prototype of the model point z; the first one wins a tie, as in Python. */
export function nearestPrototype(zx, zy, W, weights) {
  let best = 0;
  let bestDistance = Infinity;
  for (let j = 0, P = W.length / 2; j < P; j++) {
    const dx = zx - W[2 * j], dy = zy - W[2 * j + 1];
    const distance = weights ? dx * dx + dy * dy + weights[j] : dx * dx + dy * dy;
    if (distance < bestDistance) {
      bestDistance = distance;
      best = j;
    }
  }
  return best;
}

/** Pseudo-classes by vote of the training points in each cell; an empty cell keeps the one it had. */
export function votedPseudo(scene, W, weights, toModel, before) {
  const { points, s, heldOut, n, G } = scene;
  const P = before.length;
  const votes = new Uint32Array(P * G);
  for (let i = 0; i < n; i++) {
    if (heldOut[i]) continue;
    const [zx, zy] = toModel(points[2 * i], points[2 * i + 1]);
    votes[nearestPrototype(zx, zy, W, weights) * G + s[i]]++;
  }
  const pseudo = Uint8Array.from(before);
  for (let j = 0; j < P; j++) {
    let most = 0;
    for (let g = 0; g < G; g++) {
      if (votes[j * G + g] > most) {
        most = votes[j * G + g];
        pseudo[j] = g;
      }
    }
  }
  return pseudo;
}
