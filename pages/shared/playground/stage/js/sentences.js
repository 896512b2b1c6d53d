// Sentences about a scene and its metrics. Pure functions; every number keeps its unit.

import { gapPoints, number, percent, plural, strengthText, whole } from "./format.js";
import { widestGap } from "./metrics.js";
import { countsDrawn } from "./scene.js";

export const SMALL_GROUP = 30; // below this, one person moves a rate by more than three points

/** Why a model moved by hand on a slice has no numbers. */
export function uncounted({ meta }) {
  return meta.offline
    ? "A file cannot count people in dimensions that its picture does not show: for the numbers of a moved prototype, open the app."
    : "Let go, and everybody is counted again, in all dimensions.";
}

/** "women" where the data set has a noun, else "group B"; a name that begins with "group" stays as it is. */
export function groupName(scene, g) {
  if (scene.meta.people) return scene.meta.people[g];
  const name = String(scene.meta.groups[g]);
  return /^group\b/i.test(name) ? name : `group ${name}`;
}

/** Plural noun of a group: "women" where the data set has one, else "people of group B". */
export function groupPeople(scene, g) {
  return scene.meta.people?.[g] ?? `people of ${groupName(scene, g)}`;
}

export function className(scene, k) {
  const name = String(scene.meta.classes[k]);
  return /^class\b/i.test(name) ? name : `“${name}”`;
}

/** "Of 100 people of group B, 24 fewer get the favourable decision than of 100 of group A." */
export function peopleSentence(scene, result) {
  if (result.known === false) return uncounted(scene);
  return comparison(scene, widestGap(result.groups, "rate"), {
    none: "Fewer than two groups have anybody here: there is nothing to compare.",
    who: "",
    other: (g) => scene.meta.people?.[g] ?? `of ${groupName(scene, g)}`,
    gets: "get the favourable decision",
  });
}

/** The same among those whose true label is the favourable one. */
export function opportunitySentence(scene, result) {
  if (result.known === false) return "";
  return comparison(scene, widestGap(result.groups, "tpr"), {
    none: "Fewer than two groups have anybody with a favourable true label: there is nothing to compare.",
    who: " with a favourable true label",
    other: (g) => `such ${groupPeople(scene, g)}`,
    gets: "get that decision",
  });
}

const CLOSED = 0.05; // a gap under five points
const OPEN = 0.1; // a gap over ten

/** Where parity is reached and equal opportunity is not: fair by one measure is not fair by the other. Else "". */
export function lessonSentence({ sp, eo }) {
  if (sp === null || eo === null || sp >= CLOSED || eo <= OPEN) return "";
  return `Fair by one measure, not by the other: groups get the favourable decision about equally often (gap ${gapPoints(sp)}), ` +
    `but not their people with a favourable true label (gap ${gapPoints(eo)}).`;
}

function comparison(scene, widest, { none, who, other, gets }) {
  if (!widest) return none;
  const low = `Of 100 ${groupPeople(scene, widest.low)}${who}`;
  const high = `of 100 ${other(widest.high)}`;
  const fewer = Math.round(100 * widest.gap);
  const among = widest.compared > 2 ? ` No two of the ${widest.compared} groups are further apart.` : "";
  if (fewer > 1) return `${low}, ${fewer} fewer ${gets} than ${high}.${among}`;
  if (widest.gap === 0) return `${low} and ${high}, equally many ${gets}.${among}`;
  const difference = fewer === 1 ? "1 in 100" : "less than 1 in 100";
  return `${low} and ${high}, about as many ${gets} (difference: ${difference}).${among}`;
}

/** Where the numbers were measured, and on how many people of each group. */
export function basisSentence(scene, result) {
  const where = result.heldOut ? "held-out points, not used for training" : "the training points: nothing is held out";
  const count = `${whole(result.n)} `;
  const groups = result.groups.map((g, i) => `${whole(g.n)} ${groupPeople(scene, i)}`).join(", ");
  return `Measured on ${result.heldOut ? count : ""}${where} (${groups}).`;
}

/** Which groups are too small for reliable rates; "" if none is. */
export function smallGroupSentence(scene, result) {
  const small = result.groups.map((g, i) => [g.n, i]).filter(([n]) => n < SMALL_GROUP);
  if (!small.length) return "";
  const named = small.map(([n, i]) => `${n ? `only ${whole(n)}` : "no"} ${groupPeople(scene, i)}`).join(" and ");
  return `Small n: there are ${named} here, so one person changes the rates a lot.`;
}

/** What a model has cells of: ["prototype", "prototypes"], or ["leaf", "leaves"] for a tree. */
export function cellWords({ boxes }) {
  return boxes ? ["leaf", "leaves"] : ["prototype", "prototypes"];
}

/** Whether a file counts a model on the drawn people only, and recorded models were counted on more. */
export function onlyDrawn(scene, { panel }) {
  const { slice, population } = scene.meta;
  return Boolean(slice) && countsDrawn(scene, panel) && population > scene.n;
}

/** Which model this is: "epoch 40 of 60", "fully trained with C = 0.5", "dragged by hand". */
export function modelSentence(scene, model) {
  const { epochs } = scene.meta;
  const strength = strengthText(model.panel.knob, model.strength);
  if (model.source === "film") return `fully trained with ${strength}`;
  if (model.source === "dragged") return "dragged by hand";
  const { frame, panel: { frame_names: names } } = model;
  if (names) return `${names[frame]}${strength && `, ${strength}`}`;
  return `epoch ${whole(epochs[frame])} of ${whole(epochs.at(-1))}${strength && `, ${strength}`}`;
}

/** The same above a model's numbers, with the number of people where a file has not got them all. */
export function countedSentence(scene, model) {
  const among = model.source === "dragged" && onlyDrawn(scene, model) ? `, counted among the ${whole(scene.n)} people drawn` : "";
  return modelSentence(scene, model) + among;
}

/** Alternative text of one picture, made of its numbers. */
export function panelAlt(scene, model, result) {
  const perClass = scene.meta.classes.map((_, k) => [model.labels.reduce((n, c) => n + (c === k), 0), k]);
  const prototypes = perClass.map(([n, k]) => `${n} of ${className(scene, k).replace(/^“/, "class “")}`).join(", ");
  return `${model.panel.title}, ${modelSentence(scene, model)}: ${plural(model.labels.length, ...cellWords(model))} ` +
    `(${prototypes}) over ${plural(scene.n, "point")}. ${percent(result.accuracy)} of decisions are right; ` +
    `statistical parity gap ${gapPoints(result.sp)}, equal opportunity gap ${gapPoints(result.eo)}. ` +
    peopleSentence(scene, result);
}

export function tradeoffAlt({ panel, knob, values }, results) {
  const at = (m) => `${strengthText(knob, values[m])}: ${percent(results[m].accuracy)} right, ` +
    `statistical parity gap ${gapPoints(results[m].sp)}`;
  return `Trade-off curve of ${plural(results.length, `${panel.title} model`)}, from ${at(0)} to ${at(results.length - 1)}.`;
}

export function timelineAlt(panel, frame) {
  return `${panel.title}: ${costsText(panel, frame, "class cost", "cells reveal the group", "pseudo-class flip")}`;
}

/** The costs and flips of a frame under these names; for a search, which has none, the name of the frame. */
export function costsText(panel, frame, cost, group, flip) {
  if (panel.frame_names) return panel.frame_names[frame];
  const fair = hasFairCost(panel) ? `, ${group} ${number(revealed(panel)[frame])}` : "";
  const flips = panel.flips?.[frame] ? `, ${plural(panel.flips[frame], flip)}` : "";
  return `${cost} ${number(panel.costClass[frame])}${fair}${flips}`;
}

/** How well cells reveal the group, per frame: the fairness cost counted so that lower is fairer. */
export function revealed(panel) {
  return Array.from(panel.costFair, (value) => -value);
}

/** Methods without a fairness term have zeros or nothing here, which are not drawn. */
export function hasFairCost(panel) {
  return Boolean(panel.costFair?.some((value) => Number.isFinite(value) && value !== 0));
}

/** "FairGLVQ takes the favourable decision from 34 people and gives it to 12, compared with GLVQ." and who is hit most. */
export function changedSentence(scene, title, { gained, lost, n }) {
  const total = (values) => values.reduce((a, b) => a + b, 0);
  const [gains, losses] = [total(gained), total(lost)];
  if (!gains && !losses) return `${title} decides the same as GLVQ for everybody counted here.`;
  const start = `Compared with GLVQ, ${title} takes the favourable decision from ${plural(losses, "person", "people")} ` +
    `and gives it to ${whole(gains)}.`;
  if (!losses) return start;
  const worst = lost.reduce((best, value, c) => (value > lost[best] ? c : best), 0);
  const [g, k] = [Math.floor(worst / scene.K), worst % scene.K];
  return `${start} Most of those who lose it are ${groupPeople(scene, g)} with ${trueLabel(scene, k)}: ` +
    `${whole(lost[worst])} of ${whole(n[worst])}.`;
}

/** "true label “yes”" */
export function trueLabel(scene, k) {
  return `true label ${className(scene, k)}`;
}
