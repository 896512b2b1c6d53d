// Accuracy against the statistical parity gap for every strength of the films; click or drag along a curve to pick one.

import { clamp, nearestIndex } from "./arithmetic.js";
import { lastModel, metricsOf } from "./metrics.js";
import { filmModel } from "./scene.js";
import { gapPoints, number, percent, strengthText } from "./format.js";
import { tradeoffAlt } from "./sentences.js";
import {
  dragOver, makeElement, makeLineSample, makeSvg, mountWidget, patchAttribute, patchHidden, patchStyle, patchText, sliderKey,
} from "./dom.js";

export function createTradeoff(root, stage) {
  const build = (scene, section) => buildTradeoff(section, stage);
  return mountWidget(root, "fgs-tradeoff", "Accuracy against fairness for every strength", build, patchTradeoff);
}

/** Round numbers covering [low, high] in at most `most` steps; the first and last enclose the values. */
function niceTicks(low, high, most = 4) {
  const span = (high - low) / most;
  const magnitude = 10 ** Math.floor(Math.log10(span));
  // Rounding outwards can need one step more than the span: then take the next coarser step.
  const steps = [1, 2, 2.5, 5, 10, 20, 50].map((m) => m * magnitude).filter((step) => step >= span * (1 - 1e-9));
  for (const step of steps) {
    const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
    if (last - first > most) continue;
    return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }
  return [low, high];
}

/** Where a value lies on an axis, as a share of the way from its first tick to its last. */
const shareOf = (ticks, value) => (value - ticks[0]) / (ticks.at(-1) - ticks[0]);

/** Where metrics lie in the plot, in shares of its box from the left and from the top, kept inside. */
function place({ sp, accuracy }, axes) {
  return [clamp(shareOf(axes.x, 100 * (sp ?? 0)), 0, 1), 1 - clamp(shareOf(axes.y, 100 * (accuracy ?? 0)), 0, 1)];
}

function buildTradeoff(section, stage) {
  const parts = { films: null, curves: [], at: [0, 0], rings: {}, notes: {} };
  parts.which = makeElement("span", { class: "fgs-which" });
  parts.svg = makeSvg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" });
  parts.marks = makeElement("div", { "aria-hidden": "true" });
  parts.plot = makeElement("div", { class: "fgs-plot", role: "slider", tabindex: "0", "aria-label": "Strength",
    "aria-valuemin": "0" }, parts.svg, parts.marks);
  parts.yTicks = makeElement("div", { class: "fgs-y-ticks", "aria-hidden": "true" });
  parts.xTicks = makeElement("div", { class: "fgs-x-ticks", "aria-hidden": "true" });
  parts.legend = makeElement("ul", { class: "fgs-legend" });
  parts.chart = makeElement("div", { class: "fgs-chart" },
    makeElement("p", { class: "fgs-caption fgs-y-label" }, "↑ accuracy (%): more decisions right"),
    parts.yTicks, parts.plot, parts.xTicks,
    makeElement("p", { class: "fgs-caption fgs-x-label" }, "← fairer · statistical parity gap (points)"));
  parts.waiting = makeElement("p", { class: "fgs-waiting", role: "status" },
    "Computing the curve: one model for each strength. It appears here by itself.");
  parts.hint = makeElement("p", { class: "fgs-caption" },
    "Click or drag along a curve to choose how much fairness counts.");
  section.append(makeElement("h2", {}, makeElement("span", {}, "Fairness against accuracy"), parts.which),
    parts.waiting, parts.chart, parts.legend, parts.hint);
  const pick = ([c, m], finished, keyed = false) => stage.pickStrength(parts.curves[c].film.panel.key, m, finished, keyed);
  dragOver(parts.plot, (x, y, finished, box) => {
    if (parts.curves.length) pick(nearestPlace(parts.curves, x, y, box), finished);
  });
  parts.plot.addEventListener("keydown", (event) => {
    const [c, m] = parts.at;
    const index = sliderKey(event.key, m, parts.curves[c]?.places.length ?? 0);
    if (index === null || !parts.curves.length) return;
    event.preventDefault();
    event.stopPropagation(); // arrows step the epochs elsewhere on the stage
    pick([c, index], true, true);
  });
  return parts;
}

/** Which curve and which of its models is nearest to a place of the plot. */
function nearestPlace(curves, x, y, { width, height }) {
  const all = curves.flatMap(({ places }, c) =>
    places.map(([px, py], m) => ({ at: [c, m], distance: Math.hypot((px - x) * width, (py - y) * height) })));
  return all.reduce((best, one) => (one.distance < best.distance ? one : best)).at;
}

function drawCurves(parts, scene) {
  const films = Object.values(scene.films);
  const found = films.map((film) =>
    ({ film, results: film.values.map((_, index) => metricsOf(scene, filmModel(scene, film, index))) }));
  const others = scene.panels.filter((p) => !scene.films[p.key]);
  const singles = others.map((p) => [p, metricsOf(scene, lastModel(scene, p))]);
  const all = [...found.flatMap(({ results }) => results), ...singles.map(([, t]) => t)];
  const column = (key) => all.map((t) => 100 * (t[key] ?? 0));
  const best = Math.max(...column("accuracy"));
  const axes = {
    x: niceTicks(0, Math.max(...column("sp"), 5)),
    y: niceTicks(Math.min(...column("accuracy"), best - 1), best), // also where all are equally accurate
  };
  parts.axes = axes;
  parts.curves = found.map((curve) => ({ ...curve, places: curve.results.map((t) => place(t, axes)) }));
  const limit = limitPlaces(scene, axes);
  const lines = [["limit", limit], ...parts.curves.map(({ film, places }) => [film.panel.key, places])];
  parts.svg.replaceChildren(...gridLines(axes), ...lines.filter(([, places]) => places.length).map(([key, places]) =>
    makeSvg("path", { class: `fgs-line fgs-line-${key}`, d: `M${places.map((p) => p.join()).join("L")}` })));
  parts.rings = Object.fromEntries(films.map(({ panel }) => [panel.key, makeElement("span", { class: "fgs-ring" })]));
  parts.marks.replaceChildren(
    ...parts.curves.flatMap(({ places }) => places.map((p) => spot("fgs-dot", p))),
    ...endLabels(parts, [...lines.map(([, places]) => places), ...singles.map(([, t]) => [place(t, axes)])]),
    ...singles.map(([p, t]) => spot(`fgs-single fgs-single-${p.key}`, place(t, axes))),
    ...Object.values(parts.rings));
  const tick = (side, ticks) => ticks.map((v) =>
    makeElement("span", { style: `${side}:${100 * shareOf(ticks, v)}%` }, number(v)));
  parts.xTicks.replaceChildren(...tick("left", axes.x));
  parts.yTicks.replaceChildren(...tick("bottom", axes.y));
  drawLegend(parts, singles, scene.meta.limit);
  patchAttribute(parts.plot, "aria-description", parts.curves.map(({ film, results }) => tradeoffAlt(film, results)).join(" "));
}

/** The best accuracy that any method can reach at each gap, as far as the plot shows it. */
function limitPlaces({ meta: { limit } }, { x, y }) {
  const inside = (limit ?? []).filter(([sp, accuracy]) => 100 * sp <= x.at(-1) && 100 * accuracy >= y[0] && 100 * accuracy <= y.at(-1));
  return inside.length < 2 ? [] : inside.map(([sp, accuracy]) => place({ sp, accuracy }, { x, y }));
}

function drawLegend(parts, singles, limit) {
  const entries = parts.curves.flatMap(({ film: { panel, knob, values } }) => {
    parts.notes[panel.key] = makeElement("span");
    const range = `${panel.title} from ${strengthText(knob, values[0])} to ${strengthText(knob, values.at(-1))}`;
    return [[makeElement("span", { class: "fgs-ring", "aria-hidden": "true" }), parts.notes[panel.key]],
      [makeLineSample(panel.key), range]];
  });
  const dots = singles.map(([p, t]) =>
    [makeElement("span", { class: `fgs-single fgs-single-${p.key}`, "aria-hidden": "true" }), `${p.title}, trained: ${inBrief(t)}`]);
  const border = limit ? [[makeLineSample("limit"), "Limit line: no method at all can be above it"]] : [];
  parts.legend.replaceChildren(...[...entries, ...dots, ...border].map((entry) => makeElement("li", {}, ...entry)));
}

function gridLines({ x, y }) {
  return [...x.map((v) => `M${shareOf(x, v)},0V1`), ...y.map((v) => `M0,${1 - shareOf(y, v)}H1`)]
    .map((d) => makeSvg("path", { class: "fgs-grid", d }));
}

function spot(kind, [left, top]) {
  return makeElement("span", { class: kind, style: `left:${100 * left}%;top:${100 * top}%` });
}

const inBrief = ({ accuracy, sp }) => `${percent(accuracy)} right, gap ${gapPoints(sp)}`;

const LETTER = [6.5, 15]; // pixels of a letter of `.fgs-end`, wide and high
const CLEAR = 9; // pixels between a label and what it names: the ring is 9 wide

/** Labels with the strengths at both ends of each curve, placed where they cover least of lines and marks. */
function endLabels({ plot, curves }, lines) {
  const size = [plot.clientWidth || 400, plot.clientHeight || 180];
  const inPixels = (places) => places.map((p) => p.map((share, i) => share * size[i]));
  const marks = lines.flatMap((places) => alongLine(inPixels(places)));
  const withEnds = curves.filter(({ places }) => places[0].join() !== places.at(-1).join());
  return withEnds.flatMap(({ film: { knob, values }, places }) => [0, values.length - 1].map((m) => {
    const text = strengthText(knob, values[m]);
    const [at] = inPixels([places[m]]);
    const width = LETTER[0] * text.length;
    const [left, top] = clearPlace(at, [width, LETTER[1]], marks, size);
    const middle = top + LETTER[1] / 2;
    marks.push(...alongLine([[left, middle], [left + width, middle]])); // the next label finds another place
    const style = `left:calc(${100 * places[m][0]}% + ${left - at[0]}px);top:calc(${100 * places[m][1]}% + ${top - at[1]}px)`;
    return makeElement("span", { class: "fgs-end", style }, text);
  }));
}

/** Places on a broken line, three pixels apart. */
function alongLine(places) {
  return places.flatMap(([x, y], i) => {
    const [nx, ny] = places[i + 1] ?? [x, y];
    const steps = Math.ceil(Math.hypot(nx - x, ny - y) / 3) || 1;
    return Array.from({ length: steps }, (_, k) => [x + ((nx - x) * k) / steps, y + ((ny - y) * k) / steps]);
  });
}

/** Left and top of a box of this size beside a place, inside the plot, with the fewest marks under it. */
export function clearPlace([x, y], [width, height], marks, [right, bottom]) {
  const sideways = [x - width / 2, x + CLEAR, x - CLEAR - width, x, x - width];
  const upwards = [y - CLEAR - height, y + CLEAR, y - height / 2];
  const beside = (left, top) => left >= x || left + width <= x || top >= y || top + height <= y;
  const boxes = upwards.flatMap((top) => sideways.map((left) => [left, top])).filter(([left, top]) =>
    beside(left, top) && left >= 0 && top >= 0 && left + width <= right && top + height <= bottom);
  const covered = ([left, top]) => marks.filter(([mx, my]) =>
    mx > left - 2 && mx < left + width + 2 && my > top && my < top + height).length;
  return boxes.reduce((best, box) => (covered(box) < covered(best) ? box : best), boxes[0] ?? [x, y]);
}

function patchTradeoff(parts, scene, models, view) {
  const { films } = scene;
  const ready = Object.keys(films).length > 0;
  patchHidden(parts.plot.closest("section").parentElement, !scene.meta.filmed.length);
  patchHidden(parts.waiting, ready);
  for (const element of [parts.chart, parts.legend, parts.hint]) patchHidden(element, !ready);
  if (!ready) {
    patchText(parts.which, "");
    return;
  }
  if (parts.films !== films) {
    parts.films = films;
    drawCurves(parts, scene);
  }
  const words = parts.curves.map((curve) => patchShown(parts, scene, curve, models[curve.film.panel.key]));
  const active = Math.max(0, parts.curves.findIndex(({ film }) => film.panel.key === view.film?.panel));
  parts.at = [active, words[active].index];
  patchText(parts.which, words.map(({ strength }) => strength).join(" · "));
  patchAttribute(parts.plot, "aria-valuemax", parts.curves[active].places.length - 1);
  patchAttribute(parts.plot, "aria-valuenow", words[active].index);
  patchAttribute(parts.plot, "aria-valuetext", `${words[active].strength}: ${words[active].numbers}`);
}

/** Update the ring around the model that a panel shows; returns its words. */
function patchShown(parts, scene, { film }, model) {
  const { key } = film.panel;
  const result = metricsOf(scene, model);
  const index = nearestIndex(film.values, model.strength); // a trained one may lie between two of the film
  patchHidden(parts.rings[key], !result.known);
  const [left, top] = place(result, parts.axes).map((share) => `${(100 * share).toFixed(2)}%`);
  patchStyle(parts.rings[key], "left", left);
  patchStyle(parts.rings[key], "top", top);
  const strength = model.source === "dragged" ? "dragged by hand" : strengthText(film.knob, model.strength);
  const numbers = inBrief(result);
  patchText(parts.notes[key], `${film.panel.title} shown now: ${numbers}`);
  return { index, strength, numbers };
}
