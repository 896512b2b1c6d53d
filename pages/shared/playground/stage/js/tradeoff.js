// Accuracy against the statistical parity gap for every strength C of the film; click or drag along the curve to pick C.

import { filmMetrics, lastModel, metricsOf } from "./metrics.js";
import { gapPoints, number, percent } from "./format.js";
import { tradeoffAlt } from "./sentences.js";
import {
  dragOver, makeElement, makeSvg, mountWidget, patchAttribute, patchHidden, patchStyle, patchText, sliderKey,
} from "./dom.js";

export function createTradeoff(root, hooks) {
  const build = (scene, section) => buildTradeoff(section, hooks);
  return mountWidget(root, "fgs-tradeoff", "Accuracy against fairness for every strength C", build, patchTradeoff);
}

/** Round numbers covering [low, high] in at most `most` steps; the first and last enclose the values. */
function niceTicks(low, high, most = 4) {
  const span = Math.max(high - low, 1e-9) / most;
  const magnitude = 10 ** Math.floor(Math.log10(span));
  // Rounding outwards can need one step more than the span alone: then the next coarser step is taken.
  const steps = [1, 2, 2.5, 5, 10, 20, 50].map((m) => m * magnitude).filter((step) => step >= span * (1 - 1e-9));
  for (const step of steps) {
    const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
    if (last - first > most) continue;
    return Array.from({ length: Math.max(last - first, 1) + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }
  return [low, high];
}

/** Where a metricsOf lies in the plot, in shares of its box from the left and from the top, kept inside. */
function place({ sp, accuracy }, axes) {
  const share = (value, ticks) => Math.min(Math.max((100 * value - ticks[0]) / (ticks.at(-1) - ticks[0]), 0), 1);
  return [share(sp ?? 0, axes.x), 1 - share(accuracy ?? 0, axes.y)];
}

function buildTradeoff(section, hooks) {
  const parts = { scene: null, film: null, index: 0, places: [] };
  parts.which = makeElement("span", { class: "fgs-which" });
  parts.svg = makeSvg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" });
  parts.marks = makeElement("div", { class: "fgs-marks", "aria-hidden": "true" });
  parts.ring = makeElement("span", { class: "fgs-ring" });
  parts.plot = makeElement("div", { class: "fgs-plot", role: "slider", tabindex: "0", "aria-label": "Strength C",
    "aria-valuemin": "0" }, parts.svg, parts.marks, parts.ring);
  parts.yTicks = makeElement("div", { class: "fgs-y-ticks", "aria-hidden": "true" });
  parts.xTicks = makeElement("div", { class: "fgs-x-ticks", "aria-hidden": "true" });
  parts.legend = makeElement("ul", { class: "fgs-legend" });
  parts.chart = makeElement("div", { class: "fgs-chart" },
    makeElement("p", { class: "fgs-caption fgs-y-label" }, "↑ accuracy (%): more decisions right"),
    parts.yTicks, parts.plot, parts.xTicks,
    makeElement("p", { class: "fgs-caption fgs-x-label" }, "← fairer · statistical parity gap (percentage points)"));
  parts.waiting = makeElement("p", { class: "fgs-waiting", role: "status" },
    "Computing the curve: one model for each strength C. It appears here by itself.");
  parts.hint = makeElement("p", { class: "fgs-caption" },
    "Click or drag along the curve to choose how strongly fairness counts (C).");
  section.append(makeElement("h4", {}, makeElement("span", {}, "Fairness against accuracy"), parts.which),
    parts.waiting, parts.chart, parts.legend, parts.hint);
  dragOver(parts.plot, (x, y, finished, box) => {
    if (parts.places.length) hooks.pickC(nearestPlace(parts.places, x, y, box), finished);
  });
  parts.plot.addEventListener("keydown", (event) => {
    const index = sliderKey(event.key, parts.index, parts.places.length);
    if (index === null || !parts.places.length) return;
    event.preventDefault();
    event.stopPropagation(); // arrows step the epochs elsewhere on the stage
    hooks.pickC(index, true);
  });
  return parts;
}

function nearestPlace(places, x, y, { width, height }) {
  const distance = ([px, py]) => Math.hypot((px - x) * width, (py - y) * height);
  return places.reduce((best, p, m) => (distance(p) < distance(places[best]) ? m : best), 0);
}

function drawCurve(parts, scene) {
  const results = filmMetrics(scene);
  const others = scene.panels.filter((p) => p.key !== scene.film.panel);
  const singles = others.map((p) => [p, metricsOf(scene, lastModel(scene, p))]);
  const all = [...results, ...singles.map(([, t]) => t)];
  const column = (key) => all.map((t) => 100 * (t[key] ?? 0));
  const axes = {
    x: niceTicks(0, Math.max(...column("sp"), 5)),
    y: niceTicks(Math.min(...column("accuracy")), Math.max(...column("accuracy"))),
  };
  Object.assign(parts, { axes, results, places: results.map((t) => place(t, axes)) });
  parts.svg.replaceChildren(
    ...gridLines(axes),
    makeSvg("path", { class: "fgs-line fgs-line-fairglvq", d: `M${parts.places.map((p) => p.join()).join("L")}` }));
  parts.marks.replaceChildren(
    ...parts.places.map((p) => spot("fgs-dot", p)),
    ...[0, results.length - 1].map((m) => endLabel(parts.places[m], `C = ${number(scene.film.C[m])}`)),
    ...singles.map(([p, t]) => spot(`fgs-single fgs-single-${p.key}`, place(t, axes))));
  const percentAt = (ticks, value) => `${(100 * (value - ticks[0])) / (ticks.at(-1) - ticks[0])}%`;
  const tick = (side, ticks) => ticks.map((v) =>
    makeElement("span", { style: `${side}:${percentAt(ticks, v)}` }, number(v)));
  parts.xTicks.replaceChildren(...tick("left", axes.x));
  parts.yTicks.replaceChildren(...tick("bottom", axes.y));
  const [first, last] = [scene.film.C[0], scene.film.C.at(-1)].map((C) => number(C));
  parts.now = makeElement("span");
  const filmed = scene.panels.find((p) => p.key === scene.film.panel);
  const key = (kind, ...text) => makeElement("li", {}, makeElement("span", { class: kind, "aria-hidden": "true" }), ...text);
  parts.legend.replaceChildren(
    key("fgs-ring", parts.now),
    key("fgs-sample-line", `${filmed?.title ?? "FairGLVQ"} from C = ${first} to C = ${last}`),
    ...singles.map(([p, t]) => key(`fgs-single fgs-single-${p.key}`, `${p.title}, trained: ${inBrief(t)}`)));
  patchAttribute(parts.plot, "aria-valuemax", results.length - 1);
  patchAttribute(parts.plot, "aria-description", tradeoffAlt(scene, results));
}

function gridLines({ x, y }) {
  const share = (ticks, v) => (v - ticks[0]) / (ticks.at(-1) - ticks[0]);
  return [...x.map((v) => `M${share(x, v)},0V1`), ...y.map((v) => `M0,${1 - share(y, v)}H1`)]
    .map((d) => makeSvg("path", { class: "fgs-grid", d }));
}

function spot(kind, [left, top]) {
  return makeElement("span", { class: kind, style: `left:${100 * left}%;top:${100 * top}%` });
}

const inBrief = ({ accuracy, sp }) => `${percent(accuracy)} right, gap ${gapPoints(sp)}`;

/** Says which end of the curve this is; turned inwards near the edges of the plot. */
function endLabel([left, top], text) {
  const shift = `translate(${left < 0.15 ? "0" : left > 0.85 ? "-100%" : "-50%"}, ${top < 0.15 ? "45%" : "-145%"})`;
  const style = `left:${100 * left}%;top:${100 * top}%;transform:${shift}`;
  return makeElement("span", { class: "fgs-end", style }, text);
}

/** The film model nearest in strength to the model shown. */
function filmIndexOf(film, model, view) {
  if (view.filmIndex !== null && view.filmIndex !== undefined) return view.filmIndex;
  if (model?.C === null || model?.C === undefined) return 0;
  return film.C.reduce((best, C, m) => (Math.abs(C - model.C) < Math.abs(film.C[best] - model.C) ? m : best), 0);
}

function patchTradeoff(parts, scene, models, view) {
  const { film } = scene;
  patchHidden(parts.waiting, Boolean(film));
  for (const element of [parts.chart, parts.legend, parts.hint]) patchHidden(element, !film);
  if (!film) {
    patchText(parts.which, "");
    return;
  }
  if (parts.scene !== scene || parts.film !== film) {
    Object.assign(parts, { scene, film });
    drawCurve(parts, scene);
  }
  const model = models[film.panel];
  const result = model && metricsOf(scene, model);
  patchHidden(parts.ring, !result?.known);
  parts.index = filmIndexOf(film, model, view);
  if (!model) return;
  const [left, top] = place(result, parts.axes).map((share) => `${(100 * share).toFixed(2)}%`);
  patchStyle(parts.ring, "left", left);
  patchStyle(parts.ring, "top", top);
  const strength = model.source === "dragged" ? "dragged by hand" : `C = ${number(model.C ?? film.C[parts.index])}`;
  const numbers = inBrief(result);
  patchText(parts.which, strength);
  patchText(parts.now, `shown now: ${numbers}`);
  patchAttribute(parts.plot, "aria-valuenow", parts.index);
  patchAttribute(parts.plot, "aria-valuetext", `${strength}: ${numbers}`);
}
