// Accuracy, statistical parity gap and equal opportunity gap of every model shown, and the people they are measured on.

import { lastModel, metricsOf } from "./metrics.js";
import { gapPoints, NOTHING, percent, whole } from "./format.js";
import {
  basisSentence, groupName, countedSentence, lessonSentence, opportunitySentence, peopleSentence, SMALL_GROUP, smallGroupSentence,
} from "./sentences.js";
import { makeElement, makeExpander, makeGlyph, mountWidget, patchBar, patchHidden, patchText } from "./dom.js";

const MEASURES = [
  {
    key: "accuracy", name: "Accuracy", show: percent,
    means: "How many of 100 decisions agree with the true label. More is better.",
  },
  {
    key: "sp", name: "Statistical parity gap", show: gapPoints,
    means: "How much more often one group gets the favourable decision than another, whatever the true labels are. " +
      "0 means: equally often.",
  },
  {
    key: "eo", name: "Equal opportunity gap", show: gapPoints,
    means: "The same, counting only people with a favourable true label. " +
      "0 means: they get the favourable decision equally often in every group.",
  },
];

/** The numbers of one method, to stand under its picture. */
export function createReadout(root, key) {
  const build = (scene, section) => buildReadout(scene, section, key);
  return mountWidget(root, "fgs-readout", null, build, patchReadout);
}

/** The people that the numbers are measured on and what the numbers mean, once for all panels. */
export function createReadoutNotes(root) {
  return mountWidget(root, "fgs-notes", "How the numbers were measured", buildNotes, patchNotes);
}

function buildNotes(scene, section) {
  const basis = makeElement("p", { class: "fgs-basis" });
  const warning = makeElement("p", { class: "fgs-warning" });
  section.append(basis, warning, buildMeanings());
  return { basis, warning };
}

function buildReadout(scene, section, key) {
  const which = makeElement("span", { class: "fgs-which" });
  const measures = MEASURES.map(({ name, means }) => {
    const bar = makeElement("span", { class: "fgs-bar" });
    const value = makeElement("dd");
    const term = makeElement("dt", { title: means }, name);
    return { term, value, bar, track: makeElement("dd", { class: "fgs-track", "aria-hidden": "true" }, bar) };
  });
  const groups = scene.meta.groups.map((_, g) => {
    const bar = makeElement("span", { class: "fgs-bar" });
    const value = makeElement("span", { class: "fgs-value" });
    const name = makeElement("span", { class: "fgs-name" }, makeGlyph(scene, g), groupName(scene, g));
    const track = makeElement("span", { class: "fgs-track", "aria-hidden": "true" }, bar);
    return { bar, value, item: makeElement("li", {}, name, track, value) };
  });
  const people = makeElement("p", { class: "fgs-sentence" });
  const opportunity = makeElement("p", { class: "fgs-sentence fgs-sentence-long" });
  const lesson = makeElement("p", { class: "fgs-sentence fgs-lesson" });
  const article = makeElement(
    "article",
    { class: "fgs-method", "data-method": key, "aria-label": scene.panels.find((p) => p.key === key).title },
    makeElement("p", {}, which),
    makeElement("dl", { class: "fgs-measures" }, ...measures.flatMap((m) => [m.term, m.value, m.track])),
    people,
    opportunity,
    lesson,
    makeElement("p", { class: "fgs-caption" }, "Who gets the favourable decision"),
    makeElement("ul", { class: "fgs-groups" }, ...groups.map((g) => g.item)),
  );
  section.append(article);
  return { key, article, which, measures, groups, people, opportunity, lesson };
}

function buildMeanings() {
  const list = makeElement("dl", { class: "fgs-meanings" });
  for (const { name, means } of MEASURES) list.append(makeElement("dt", {}, name), makeElement("dd", {}, means));
  return makeExpander("numbers", "What do these numbers mean?", list);
}

function patchNotes({ basis, warning }, scene) {
  const result = metricsOf(scene, lastModel(scene, scene.panels[0])); // every recorded model is measured on the same people
  patchText(basis, basisSentence(scene, result));
  const small = smallGroupSentence(scene, result);
  patchText(warning, small);
  patchHidden(warning, !small);
}

function patchReadout(method, scene, models) {
  const model = models[method.key];
  const result = metricsOf(scene, model);
  patchText(method.which, countedSentence(scene, model));
  MEASURES.forEach(({ key, show }, m) => {
    patchText(method.measures[m].value, show(result[key]));
    patchBar(method.measures[m].bar, result[key]);
  });
  patchText(method.people, peopleSentence(scene, result));
  patchText(method.opportunity, opportunitySentence(scene, result));
  const lesson = lessonSentence(result);
  patchText(method.lesson, lesson);
  patchHidden(method.lesson, !lesson);
  result.groups.forEach((group, g) => {
    const size = group.n < SMALL_GROUP ? `only ${whole(group.n)}` : whole(group.n);
    const rate = group.rate === null ? NOTHING : percent(group.rate, 0);
    patchText(method.groups[g].value, `${rate} of ${size}`);
    patchBar(method.groups[g].bar, group.rate);
  });
}
