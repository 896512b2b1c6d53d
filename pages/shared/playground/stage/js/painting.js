// Painted and erased points that are not trained on yet, stroke by stroke.

const SPACING = 9; // pixels between two points of a stroke
const SPRAY = 7; // pixels a painted point may lie off the stroke
const ERASER = 14; // pixels

export function createPainting() {
  return {
    active: false,
    tool: "brush",
    klass: 0,
    group: 0,
    added: [], // [x, y, class, group]
    erased: new Set(), // indices of scene points
    strokes: [], // for undo: {added: count, erased: [indices], removed: [[place, point]]}
    last: null,
    version: 0, // changes with every visible change; part of the point layer's key
  };
}

export function clearPainting(painting) {
  painting.added = [];
  painting.erased = new Set();
  painting.strokes = [];
  painting.last = null;
  painting.version++;
}

export function hasPaint(painting) {
  return painting.added.length > 0 || painting.erased.size > 0;
}

export function beginStroke(painting) {
  painting.strokes.push({ added: 0, erased: [], removed: [] });
  painting.last = null;
}

/** Continue the stroke at a plane point; `scale` is pixels per plane unit. */
export function strokeTo(painting, scene, x, y, scale, show, random = Math.random) {
  if (painting.tool === "eraser") return eraseAround(painting, scene, x, y, ERASER / scale, show);
  const { last } = painting;
  if (last && Math.hypot(x - last[0], y - last[1]) * scale < SPACING) return;
  const angle = 2 * Math.PI * random();
  const away = last ? (SPRAY * Math.sqrt(random())) / scale : 0; // a single click paints exactly there
  painting.added.push([x + away * Math.cos(angle), y + away * Math.sin(angle), painting.klass, painting.group]);
  painting.strokes.at(-1).added++;
  painting.last = [x, y];
  painting.version++;
}

function eraseAround(painting, scene, x, y, radius, show) {
  const stroke = painting.strokes.at(-1);
  const near = (px, py) => (px - x) ** 2 + (py - y) ** 2 <= radius * radius;
  for (let i = 0; i < scene.n; i++) {
    const visible = scene.heldOut[i] ? show.heldOut : show.points;
    if (!visible || painting.erased.has(i) || !near(scene.points[2 * i], scene.points[2 * i + 1])) continue;
    painting.erased.add(i);
    stroke.erased.push(i);
    painting.version++;
  }
  for (let place = painting.added.length - 1; place >= 0; place--) {
    if (!near(painting.added[place][0], painting.added[place][1])) continue;
    stroke.removed.push([place, painting.added[place]]);
    painting.added.splice(place, 1);
    painting.version++;
  }
}

/** Take the last stroke back; false if there was none. */
export function undoStroke(painting) {
  const stroke = painting.strokes.pop();
  if (!stroke) return false;
  painting.added.length -= stroke.added;
  for (const i of stroke.erased) painting.erased.delete(i);
  for (const [place, point] of stroke.removed.reverse()) painting.added.splice(place, 0, point);
  painting.version++;
  return true;
}

/** The gesture that adds painted points and removes erased ones. */
export function paintGesture(painting) {
  return { kind: "paint", added: painting.added, erased: [...painting.erased].sort((a, b) => a - b) };
}
