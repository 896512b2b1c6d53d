// One panel's picture: regions, borders, points, trails, INP's line, forces, prototypes, selection. Order matters.

import { clamp } from "./arithmetic.js";
import { markOnScreen, NAME_BAND, toScreen, visibleBox } from "./camera.js";
import { pullsOf } from "./forces.js";
import { cellsOf } from "./geometry.js";
import { drawArrow, drawLabel, drawPrototype, labelWidth } from "./marks.js";

const WIDEST_RING = 14; // pixels around the mark of the prototype with the largest handicap
const AXIS_SIZE = 11; // pixels of the letters of an axis's name
const FLASH_FRAMES = 4; // frames for which a flipped pseudo-class is marked

/** Size of the prototypes' marks: larger on an enlarged panel. */
export function prototypeRadius(vp) {
  return clamp(Math.min(vp.width, vp.height) / 45, 9, 13);
}

/** Draw a panel. `picture` says what: see picture.js. */
export function drawPanel(ctx, dpr, picture) {
  const { vp, theme, show, model, W, pointLayer } = picture;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = theme.background;
  ctx.fillRect(0, 0, vp.width, vp.height);
  const needsCells = show.regions || show.borders || picture.selected !== null;
  const cells = needsCells ? cellsOf({ ...model, W }, visibleBox(vp)) : [];
  if (show.regions) drawRegions(ctx, vp, theme, model, cells);
  if (show.borders) drawBorders(ctx, vp, theme, model, cells);
  if (picture.selected !== null) outlineCell(ctx, vp, theme, cells[picture.selected]);
  if (pointLayer) {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalAlpha = show.regions ? 0.85 : 0.95;
    ctx.drawImage(pointLayer, 0, 0);
    ctx.globalAlpha = 1;
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  }
  if (model.panel.line) drawKeptLine(ctx, vp, theme, model.panel.line);
  if (show.trails && model.source !== "film" && !model.boxes) drawTrails(ctx, picture);
  if (picture.rivals) drawRivals(ctx, picture);
  if (show.forces && model.source === "frame") drawForces(ctx, picture);
  if (show.borders && model.panel.knob === "max_gap") drawHandicaps(ctx, picture, cells);
  drawPrototypes(ctx, picture);
  drawNames(ctx, picture);
}

/** Names of the axes and how many prototypes lie beyond the edges, above and below the whole picture's points. */
function drawNames(ctx, picture) {
  const { vp, axes, positions } = picture;
  const [low, high] = outside(vp, positions);
  drawBand(ctx, picture, vp.height - NAME_BAND / 2, axes[0] && `${axes[0]} →`, low, "right");
  drawBand(ctx, picture, NAME_BAND / 2, axes[1] && `↑ ${axes[1]}`, high, "left");
}

/** A name at one end of a band, or where prototypes in the band leave room for it, and a count at the other end. */
function drawBand(ctx, { vp, theme, positions }, y, name, count, preferred) {
  const widthOf = (text) => labelWidth(ctx, text, theme, AXIS_SIZE);
  const taken = 9 * count.length;
  const ends = preferred === "left" ? [0, vp.width - taken] : [taken, vp.width];
  const free = freeStretches(vp, positions, y, ends);
  if (preferred === "right") free.reverse();
  const [left, right] = free.find(([from, to]) => to - from >= widthOf(name)) ?? free.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
  const nearer = left - (vp.width - right); // below 0: to the left edge
  const align = Math.abs(nearer) < 1 ? preferred : nearer < 0 ? "left" : "right";
  const at = align === "left" ? left : right;
  drawLabel(ctx, shortened(name, (text) => widthOf(text) <= right - left), at, y, theme, { align, size: AXIS_SIZE, widest: right - left });
  const other = preferred === "left" ? "right" : "left";
  drawLabel(ctx, count, other === "left" ? 8 : vp.width - 8, y, theme, { align: other });
}

/** Stretches of a band, from left to right, in which no prototype lies. */
function freeStretches(vp, positions, y, [start, end]) {
  const radius = prototypeRadius(vp);
  const marks = Array.from({ length: positions.length / 2 }, (_, j) => markOnScreen(vp, positions, j));
  const inBand = ([px, py]) => Math.abs(py - y) < radius + AXIS_SIZE / 2 && px > -radius && px < vp.width + radius;
  const xs = marks.filter(inBand).map(([px]) => px).sort((a, b) => a - b);
  const edges = [start + 8 - radius, ...xs, end - 8 + radius];
  return edges.slice(1).map((to, i) => [edges[i] + radius, to - radius]);
}

/** A name cut to as many of its columns as fit. */
function shortened(name, fits) {
  const [, before, columns, after] = name.match(/^(↑ )?(.*?)( →)?$/);
  const parts = columns.split(", ");
  const text = (n) => `${before ?? ""}${parts.slice(0, n).join(", ")}${after ?? ""}`;
  let n = parts.length;
  while (n > 1 && !fits(text(n))) n -= 1;
  return text(n);
}

/** How many prototypes lie beyond the edges: ["◂ 4 ▾ 1", "▴ 2 1 ▸"]. */
function outside(vp, positions) {
  const beyond = { "◂": 0, "▾": 0, "▴": 0, "▸": 0 };
  for (let j = 0; j < positions.length; j += 2) {
    const [x, y] = toScreen(vp, positions[j], positions[j + 1]);
    const side = x < 0 ? "◂" : x > vp.width ? "▸" : y < 0 ? "▴" : y > vp.height ? "▾" : null;
    if (side) beyond[side] += 1;
  }
  const text = (side) => (!beyond[side] ? "" : side === "▸" ? `${beyond[side]} ${side}` : `${side} ${beyond[side]}`);
  return [`${text("◂")} ${text("▾")}`.trim(), `${text("▴")} ${text("▸")}`.trim()];
}

function tracePolygon(ctx, vp, poly) {
  for (let i = 0; i < poly.length; i += 2) {
    const [sx, sy] = toScreen(vp, poly[i], poly[i + 1]);
    if (i === 0) ctx.moveTo(sx, sy);
    else ctx.lineTo(sx, sy);
  }
  ctx.closePath();
}

/** Fill everything in the first class's colour, then each other class in one path with a rim, so that no seam shows. */
function drawRegions(ctx, vp, theme, model, cells) {
  const ground = model.labels[cells.findIndex((cell) => cell.edges.length > 0)] ?? 0;
  ctx.fillStyle = theme.pale[ground];
  ctx.fillRect(0, 0, vp.width, vp.height);
  ctx.lineWidth = 0.6;
  theme.pale.forEach((colour, k) => {
    if (k === ground) return;
    ctx.beginPath();
    cells.forEach((cell, j) => {
      if (model.labels[j] === k) tracePolygon(ctx, vp, cell.poly);
    });
    ctx.fillStyle = ctx.strokeStyle = colour;
    ctx.fill();
    ctx.stroke();
  });
}

/** Thin between cells of the same class, strong where the decision changes. */
function drawBorders(ctx, vp, theme, model, cells) {
  const trace = (wantChange) => {
    ctx.beginPath();
    cells.forEach(({ poly, edges }, j) => {
      edges.forEach((k, i) => {
        if (k < j || (model.labels[k] !== model.labels[j]) !== wantChange) return; // also skips the box, k = -1
        const next = i + 1 === edges.length ? 0 : i + 1;
        ctx.moveTo(...toScreen(vp, poly[2 * i], poly[2 * i + 1]));
        ctx.lineTo(...toScreen(vp, poly[2 * next], poly[2 * next + 1]));
      });
    });
    ctx.stroke();
  };
  ctx.strokeStyle = theme.text;
  ctx.lineCap = "round";
  ctx.globalAlpha = 0.3;
  ctx.lineWidth = 0.9;
  trace(false);
  ctx.globalAlpha = 0.85;
  ctx.lineWidth = 1.8;
  trace(true);
  ctx.globalAlpha = 1;
}

function outlineCell(ctx, vp, theme, cell) {
  if (!cell) return;
  ctx.beginPath();
  tracePolygon(ctx, vp, cell.poly);
  ctx.strokeStyle = theme.primary;
  ctx.lineWidth = 3;
  ctx.stroke();
}

function drawTrails(ctx, { vp, theme, model, positions, frame, moving }) {
  const { drawn, P } = model.panel;
  ctx.lineWidth = 1.6;
  ctx.lineJoin = "round";
  for (let j = 0; j < P; j++) {
    const [startX, startY] = toScreen(vp, drawn[2 * j], drawn[2 * j + 1]);
    ctx.strokeStyle = theme.classes[model.labels[j]];
    ctx.globalAlpha = 0.85;
    ctx.beginPath();
    ctx.moveTo(startX, startY);
    let lastX = startX, lastY = startY;
    for (let f = 1; f <= frame; f++) {
      const at = 2 * (f * P + j);
      const [sx, sy] = toScreen(vp, drawn[at], drawn[at + 1]);
      // Steps below a pixel and a half cannot be seen; long runs have thousands of them.
      if (f < frame && Math.abs(sx - lastX) + Math.abs(sy - lastY) < 1.5) continue;
      ctx.lineTo(sx, sy);
      lastX = sx;
      lastY = sy;
    }
    if (moving) ctx.lineTo(...markOnScreen(vp, positions, j));
    ctx.stroke();
    ctx.fillStyle = theme.background;
    ctx.beginPath();
    ctx.arc(startX, startY, 2.6, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    if (model.source === "dragged") dashedLine(ctx, [3, 4], [lastX, lastY], markOnScreen(vp, positions, j));
  }
  ctx.globalAlpha = 1;
}

function dashedLine(ctx, dash, from, to) {
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawKeptLine(ctx, vp, theme, { origin, kept, removed }) {
  const [ox, oy] = toScreen(vp, ...origin);
  const reach = vp.width + vp.height + Math.hypot(ox - vp.width / 2, oy - vp.height / 2);
  const kx = kept[0], ky = -kept[1]; // screen y points down
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1.4;
  ctx.beginPath();
  ctx.moveTo(ox - reach * kx, oy - reach * ky);
  ctx.lineTo(ox + reach * kx, oy + reach * ky);
  ctx.stroke();
  const length = Math.min(vp.width, vp.height) * 0.24;
  const dx = removed[0] * length, dy = -removed[1] * length;
  drawArrow(ctx, ox, oy, dx, dy, { colour: theme.text, width: 2, dash: [6, 4], halo: theme.background });
}

function drawForces(ctx, { vp, theme, model, positions, frame, forceScale }) {
  const factor = forceScale * vp.scale;
  const styles = forceStyles(theme);
  pullsOf(model.panel, frame).forEach((pulls, j) => {
    const [sx, sy] = markOnScreen(vp, positions, j);
    for (const name of pulls.fair.some(Boolean) ? ["sum", "fair", "class"] : ["class"]) {
      const [dx, dy] = pulls[name];
      const length = Math.hypot(dx, dy);
      if (length === 0) continue;
      const rim = (prototypeRadius(vp) + 2) / length; // from the rim of the mark, or short arrows would hide below it
      drawArrow(ctx, sx + rim * dx, sy - rim * dy, factor * dx, -factor * dy, styles[name]);
    }
  });
}

/** The three arrow styles; the legend shows the same ones. */
export function forceStyles(theme) {
  return {
    class: { colour: theme.forces.class, width: 1.8, halo: theme.background },
    fair: { colour: theme.forces.fair, width: 1.8, dash: [5, 3], halo: theme.background },
    sum: { colour: theme.forces.sum, width: 4.2, halo: theme.background },
  };
}

/** A ring per prototype, wider for a larger handicap. Weights are the largest handicap minus each one's. */
function drawHandicaps(ctx, { vp, theme, model, positions }, cells) {
  const least = Math.max(...model.weights.filter((_, j) => cells[j].edges.length));
  ctx.lineWidth = 2;
  model.weights.forEach((weight, j) => {
    if (!cells[j].edges.length || weight >= least) return;
    ctx.strokeStyle = theme.classes[model.labels[j]];
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    const r = prototypeRadius(vp) + 4 + WIDEST_RING * Math.sqrt((least - weight) / least);
    ctx.arc(...markOnScreen(vp, positions, j), r, 0, 2 * Math.PI);
    ctx.stroke();
  });
  ctx.setLineDash([]);
}

function drawRivals(ctx, { vp, theme, positions, rivals }) {
  const [px, py] = toScreen(vp, ...rivals.point);
  if (rivals.flip) {
    const [fx, fy] = toScreen(vp, ...rivals.flip);
    drawArrow(ctx, px, py, fx - px, fy - py, { colour: theme.primary, width: 2, halo: theme.background });
  }
  ctx.lineWidth = 1.6;
  ctx.strokeStyle = theme.text;
  for (const j of rivals.prototypes) dashedLine(ctx, [2, 3], [px, py], markOnScreen(vp, positions, j));
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.primary;
  ctx.beginPath();
  ctx.arc(px, py, 9, 0, 2 * Math.PI);
  ctx.stroke();
}

function drawPrototypes(ctx, { vp, theme, model, positions, frame, grammar, favourable, selected, moving }) {
  for (let j = 0; j < model.labels.length; j++) {
    const [sx, sy] = markOnScreen(vp, positions, j);
    const k = model.labels[j];
    drawPrototype(ctx, sx, sy, {
      shape: grammar.groups[model.pseudo[j]],
      fill: theme.classes[k],
      sign: k === favourable ? "+" : "-",
      signColour: theme.onClass[k],
      theme,
      r: prototypeRadius(vp),
      selected: selected === j,
      flash: moving ? flipGlow(model.panel, frame, j) : 0,
    });
  }
}

/** 1 in the frame of a flip, falling to 0 a few frames later. */
function flipGlow({ pseudo, P }, frame, j) {
  for (let age = 0; age < FLASH_FRAMES && frame - age > 0; age++) {
    const f = frame - age;
    if (pseudo[f * P + j] !== pseudo[(f - 1) * P + j]) return 1 - age / FLASH_FRAMES;
  }
  return 0;
}
