// Both cost terms over the epochs, the moments a prototype changed its pseudo-class, and a cursor to seek with.

import { clamp, nearestIndex } from "./arithmetic.js";
import { number, whole } from "./format.js";
import { costsText, hasFairCost, revealed, timelineAlt } from "./sentences.js";
import {
  dragOver, makeElement, makeLineSample, makeSvg, mountWidget, patchAttribute, patchHidden, patchStyle, patchText, sliderKey,
} from "./dom.js";

const WIDTH = 1000; // the drawings stretch with their box; only lines are inside, so nothing else is distorted
const SNAP = 8; // pixels within which a click finds a flip

export function createTimeline(root, stage) {
  const build = (scene, section) => buildTimeline(section, stage);
  return mountWidget(root, "fgs-timeline", "Costs and pseudo-class flips over the epochs", build, patchTimeline);
}

/** Epoch of a frame as a share of the whole training, 0 to 1. */
function frameShare(epochs, frame) {
  return (epochs[frame] - epochs[0]) / (epochs.at(-1) - epochs[0] || 1);
}

/** The recorded frame nearest to a share of the training. */
function shareFrame(epochs, share) {
  return nearestIndex(epochs, epochs[0] + share * (epochs.at(-1) - epochs[0]));
}

/** Path of values over frames in a box of WIDTH x 100; gaps where a value is not finite. */
function costPath(epochs, values, low, high) {
  const height = (value) => (high > low ? 96 - (92 * (value - low)) / (high - low) : 50).toFixed(2);
  let pen = "M";
  let path = "";
  values.forEach((value, f) => {
    if (!Number.isFinite(value)) {
      pen = "M";
      return;
    }
    path += `${pen}${(WIDTH * frameShare(epochs, f)).toFixed(1)},${height(value)}`;
    pen = "L";
  });
  return path;
}

/** Frames at which any of the panels had a flip, in order. */
function flipFrames(panels) {
  const frames = new Set();
  for (const panel of panels) panel.flips?.forEach((n, f) => n && frames.add(f));
  return [...frames].sort((a, b) => a - b);
}

function buildTimeline(section, stage) {
  const parts = { scene: null, frame: null, flips: [], stage };
  const row = (name, brief, means) => {
    const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} 100`, preserveAspectRatio: "none", "aria-hidden": "true" });
    const range = makeElement("span");
    return { svg, range, box: makeElement("div", { class: "fgs-track-row" }, svg),
      label: makeElement("div", { class: "fgs-track-label", title: means }, makeElement("b", {}, name), brief, range) };
  };
  parts.rows = {
    costClass: row("Class cost", "lower is better",
      "Falls when people lie closer to a prototype of their own class than to another."),
    revealed: row("How well cells reveal the group", "lower is fairer",
      "How well a person's group can be guessed from the nearest prototypes: the fairness cost of FairGLVQ, with a minus."),
    flips: row("Pseudo-class flips", "a prototype’s cell gets another majority group",
      "The pseudo-class of a prototype is the group of most training points nearest to it."),
  };
  parts.cursor = makeElement("div", { class: "fgs-cursor" });
  parts.slider = makeElement("div", { class: "fgs-timeline-plot", role: "slider", tabindex: "0",
    "aria-label": "Epoch shown", "aria-valuemin": "0" },
    ...Object.values(parts.rows).flatMap((r) => [r.label, r.box]), parts.cursor);
  parts.legend = makeElement("ul", { class: "fgs-legend" });
  parts.now = makeElement("span", { class: "fgs-which" });
  const jump = (name, direction) => makeElement("button", { type: "button", class: "fgs-button",
    onclick: () => seekFlip(parts, direction) }, name);
  parts.jumps = [jump("Flip before", -1), jump("Next flip", 1)];
  section.append(
    makeElement("h2", {}, makeElement("span", {}, "Training over time"), parts.now,
      makeElement("span", { class: "fgs-buttons" }, ...parts.jumps)),
    parts.slider, parts.legend);
  dragOver(parts.slider, (x, y, finished, box) => stage.seek(pointedFrame(parts, x, y, box), finished));
  parts.slider.addEventListener("keydown", (event) => {
    const frame = sliderKey(event.key, parts.frame, parts.scene.F);
    if (frame === null) return;
    event.preventDefault();
    event.stopPropagation(); // the stage steps on arrows as well; one press, one step
    stage.seek(frame, true);
  });
  return parts;
}

/** The frame at a place; in the strip of flips, the nearest flip within SNAP pixels. */
function pointedFrame(parts, x, y, box) {
  const { epochs } = parts.scene.meta;
  const frame = shareFrame(epochs, clamp(x, 0, 1));
  const strip = parts.rows.flips.box.getBoundingClientRect();
  if (box.top + y * box.height < strip.top) return frame;
  const near = parts.flips.map((f) => [Math.abs(frameShare(epochs, f) - x) * box.width, f]);
  const [distance, flip] = near.reduce((a, b) => (b[0] < a[0] ? b : a), [Infinity, frame]);
  return distance <= SNAP ? flip : frame;
}

function seekFlip(parts, direction) {
  const { flips, frame } = parts;
  const found = direction > 0 ? flips.find((f) => f > frame) : flips.findLast((f) => f < frame);
  if (found !== undefined) parts.stage.seek(found, true);
}

function drawLines(parts, { panels, meta: { epochs } }) {
  const lines = { costClass: (p) => p.costClass ?? [], revealed: (p) => (hasFairCost(p) ? revealed(p) : []) };
  for (const [name, line] of Object.entries(lines)) {
    const drawn = panels.filter((p) => line(p).length);
    const values = drawn.flatMap((p) => [...line(p)]).filter(Number.isFinite);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const { svg, range, box, label } = parts.rows[name];
    svg.replaceChildren(...drawn.map((p) =>
      makeSvg("path", { class: `fgs-line fgs-line-${p.key}`, d: costPath(epochs, line(p), low, high) })));
    patchText(range, values.length ? `(from ${number(low)} to ${number(high)})` : "");
    [box, label].forEach((element) => patchHidden(element, !values.length));
  }
  const { svg, range } = parts.rows.flips;
  parts.flips = flipFrames(panels);
  svg.replaceChildren(...panels.flatMap((p, i) => flipTicks(epochs, p, i, panels.length)));
  const total = panels.reduce((n, p) => n + (p.flips?.reduce((a, b) => a + b, 0) ?? 0), 0);
  const lanes = panels.length > 1 ? `; top to bottom: ${panels.map((p) => p.title).join(", ")}` : "";
  patchText(range, total ? `(${whole(total)} in all${lanes})` : "(none)");
  parts.jumps.forEach((button) => (button.disabled = !total));
  parts.legend.replaceChildren(...panels.map((p) => makeElement("li", {},
    makeLineSample(p.key), makeElement("span", {}, p.title), makeElement("span", { class: "fgs-value" }))));
}

/** One tick per frame with flips; each method has its own height, taller where more prototypes flip. */
function flipTicks(epochs, panel, lane, lanes) {
  const height = 100 / lanes;
  return Array.from(panel.flips ?? []).flatMap((n, f) => {
    if (!n) return [];
    const x = (WIDTH * frameShare(epochs, f)).toFixed(1);
    const length = height * Math.min(0.9, 0.45 + 0.15 * n);
    return [makeSvg("path", { class: `fgs-tick fgs-tick-${panel.key}`, "data-frame": f,
      d: `M${x},${(height * (lane + 1) - 2).toFixed(1)}v${(-length).toFixed(1)}` })];
  });
}

function patchTimeline(parts, scene, models, view) {
  const { panels } = scene;
  patchHidden(parts.slider.closest("section").parentElement, panels.every((panel) => panel.frame_names)); // a search has no costs over epochs
  if (parts.scene !== scene) {
    Object.assign(parts, { scene, frame: null });
    drawLines(parts, scene);
    patchAttribute(parts.slider, "aria-valuemax", scene.meta.epochs.at(-1));
  }
  const { epochs } = scene.meta;
  const { frame } = view;
  if (parts.frame === frame) return;
  parts.frame = frame;
  patchStyle(parts.cursor, "left", `${(100 * frameShare(epochs, frame)).toFixed(2)}%`);
  patchText(parts.now, `epoch ${whole(epochs[frame])} of ${whole(epochs.at(-1))}`);
  patchAttribute(parts.slider, "aria-valuenow", epochs[frame]);
  patchAttribute(parts.slider, "aria-valuetext",
    `epoch ${epochs[frame]}. ${panels.map((p) => timelineAlt(p, frame)).join(". ")}`);
  panels.forEach((p, i) => patchText(parts.legend.children[i].lastChild, costsText(p, frame, "class", "group", "flip")));
}
