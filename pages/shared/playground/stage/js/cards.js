// The card of what is selected: a prototype and the people in its cell, or a point between its rival prototypes.

import { assignment } from "./metrics.js";
import { decisionOf, modelFor, rivals } from "./rivals.js";
import { countsDrawn, pointsOf } from "./scene.js";
import { cellMembers } from "./table.js";
import { capitalised, NOTHING, number, percent, plural, whole } from "./format.js";
import { cellWords, className, groupName, modelSentence, onlyDrawn, SMALL_GROUP } from "./sentences.js";
import { makeElement, makeGlyph, mountWidget, patchGlyph, patchHidden, patchText } from "./dom.js";

export function createCard(root, stage) {
  const build = (scene, section) => buildCard(scene, section, stage);
  return mountWidget(root, "fgs-card", "Card of the selected prototype or point", build, patchCard);
}

/** What the card of prototype j says: its votes (training points by group), members [group][class], how many are decided rightly. */
function prototypeFacts(scene, model, j) {
  const { G, K } = scene;
  const { counts } = cellMembers(scene, model);
  const nearest = assignment(scene, model);
  const votes = new Int32Array(G);
  const measured = { n: 0, right: 0 };
  for (let i = 0; i < scene.n; i++) {
    if (nearest[i] !== j) continue;
    if (!scene.heldOut[i]) votes[scene.s[i]] += 1;
    if (Boolean(scene.heldOut[i]) !== scene.holdsOut) continue;
    measured.n += 1;
    if (scene.y[i] === model.labels[j]) measured.right += 1;
  }
  const members = Array.from({ length: G }, (_, g) => [...counts.subarray((j * G + g) * K, (j * G + g + 1) * K)]);
  return { votes, members, ...measured };
}

/** Shown on a slice until Python has counted. */
const counting = ({ meta }) => (meta.offline ? "not in this file: the picture does not show all dimensions" : "counted when the picture rests …");

const PROTOTYPE_ROWS = ["Decides", "Pseudo-class", "Votes for it", "Share of all points", "Right inside its cell"];
const POINT_ROWS = [
  "True label", "Group", "Nearest of its own class", "Nearest of another class", "How sure (mu)", "What would flip it",
];

function buildCard(scene, section, stage) {
  const glyph = makeGlyph(scene, 0, 0);
  const title = makeElement("span");
  const which = makeElement("span", { class: "fgs-which" });
  const note = makeElement("p", { class: "fgs-caption" });
  const close = makeElement("button", { type: "button", class: "fgs-button", "aria-label": "Close the card",
    onclick: () => stage.select(null) }, "×");
  const hint = makeElement("p", { class: "fgs-waiting" },
    "Click a prototype or a point in a picture: what it is and why it is decided so appears here.");
  const list = (names) => {
    const rows = names.map((name) => ({ term: makeElement("dt", {}, name), value: makeElement("dd") }));
    return { rows, element: makeElement("dl", { class: "fgs-facts" }, ...rows.flatMap((r) => [r.term, r.value])) };
  };
  const prototype = list(PROTOTYPE_ROWS);
  const point = list([...POINT_ROWS, ...scene.panels.map((p) => `${p.title} decides`)]);
  const members = buildMembers(scene);
  const body = makeElement("div", { class: "fgs-card-body" },
    makeElement("h2", {}, glyph, title, which, makeElement("span", { class: "fgs-buttons" }, close)),
    prototype.element, members.table, point.element, note);
  section.append(hint, body);
  return { glyph, title, which, note, hint, body, prototype, point, members };
}

function buildMembers(scene) {
  const header = scene.meta.classes.map((_, k) =>
    makeElement("th", { scope: "col", class: "fgs-number" }, makeGlyph(scene, null, k), `truly ${className(scene, k)}`));
  const cells = scene.meta.groups.map(() => scene.meta.classes.map(() => makeElement("td", { class: "fgs-number" })));
  const rows = scene.meta.groups.map((_, g) =>
    makeElement("tr", {}, makeElement("th", { scope: "row" }, makeGlyph(scene, g), groupName(scene, g)), ...cells[g]));
  const table = makeElement("table", { class: "fgs-members" }, makeElement("caption", {}, "People in its cell"),
    makeElement("thead", {}, makeElement("tr", {}, makeElement("td"), ...header)), makeElement("tbody", {}, ...rows));
  return { table, cells };
}

function patchCard(parts, scene, models, { selection, facts }) {
  const model = selection ? models[selection.panel] : null;
  const isPrototype = selection?.kind === "prototype";
  const open = Boolean(model) && (!isPrototype || selection.index < model.labels.length); // a tree may have fewer leaves earlier
  patchHidden(parts.hint, open);
  patchHidden(parts.body, !open);
  if (!open) return;
  patchHidden(parts.prototype.element, !isPrototype);
  patchHidden(parts.members.table, !isPrototype);
  patchHidden(parts.point.element, isPrototype);
  patchText(parts.which, `${model.panel.title}, ${modelSentence(scene, model)}`);
  (isPrototype ? patchPrototype : patchPoint)(parts, scene, models, model, selection.index, facts);
}

function patchPrototype(parts, scene, models, model, j, sentFacts) {
  const facts = countsDrawn(scene, model.panel) ? prototypeFacts(scene, model, j) : sentFacts;
  patchText(parts.title, `${capitalised(cellWords(model)[0])} ${j + 1}`);
  patchGlyph(parts.glyph, scene, model.pseudo[j], model.labels[j]);
  const values = [
    `${className(scene, model.labels[j])} for everybody ${model.boxes ? "in it" : "nearest to it"}`,
    `${groupName(scene, model.pseudo[j])}: the group of most training points in its cell`,
    ...(facts ? cellSentences(scene, facts, onlyDrawn(scene, model)) : Array(3).fill(counting(scene))),
  ];
  values.forEach((text, r) => patchText(parts.prototype.rows[r].value, text));
  parts.members.cells.forEach((row, g) => row.forEach((cell, k) =>
    patchText(cell, facts ? whole(facts.members[g][k]) : NOTHING)));
  const everybody = scene.meta.slice && !scene.meta.offline ? "Everybody is counted, also those not drawn." : "";
  patchText(parts.note, onlyDrawn(scene, model) ? "Counted among the people drawn." : everybody);
}

/** The votes for a pseudo-class, the size of a cell and how often it is right. */
function cellSentences(scene, { votes, members, n, right }, drawn) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const cast = sum([...votes]);
  const by = [...votes].map((count, g) => `${whole(count)} of ${groupName(scene, g)}`).join(", ");
  const size = sum(members.map(sum));
  const all = drawn ? scene.n : scene.meta.population ?? scene.n;
  const measured = `${scene.holdsOut ? "held-out" : "training"} ${n === 1 ? "point" : "points"}`;
  const few = n < SMALL_GROUP ? ", small n" : "";
  return [
    cast ? `${plural(cast, "training point")}: ${by}` : "nobody: its cell holds no training point",
    `${percent(all ? size / all : null)} (${whole(size)} of ${whole(all)})`,
    n ? `${percent(right / n)} (${whole(right)} of ${whole(n)} ${measured}${few})` : `${NOTHING} (no ${measured} in it)`,
  ];
}

function patchPoint(parts, scene, models, model, i, sentFacts) {
  const truth = scene.y[i];
  const known = modelFor(scene, model, i, sentFacts);
  patchText(parts.title, sentFacts ? `Person ${whole(sentFacts.row)}` : `Point ${i + 1}`);
  patchGlyph(parts.glyph, scene, scene.s[i], truth);
  const rival = (j, d) => j === null
    ? NOTHING
    : `${cellWords(model)[0]} ${j + 1} (${className(scene, model.labels[j])}), distance ${number(Math.sqrt(d))}`;
  const explained = () => {
    const facts = rivals(scene, known, i);
    return [
      rival(facts.plus, facts.dPlus), rival(facts.minus, facts.dMinus), muText(facts.mu), flipText(scene, model.panel, i, facts.flip),
    ];
  };
  const values = [
    `${className(scene, truth)}${scene.heldOut[i] ? ", held out of training" : ", used for training"}`,
    groupName(scene, scene.s[i]),
    ...(known ? explained() : Array(4).fill(counting(scene))),
    ...scene.panels.map(({ key }) => decisionText(scene, modelFor(scene, models[key], i, sentFacts), i)),
  ];
  values.forEach((text, r) => patchText(parts.point.rows[r].value, text));
  const inPlane = "Distances count all dimensions. What would flip it is looked for along the two directions shown.";
  patchText(parts.note, !scene.meta.slice || model.panel.points ? "" : inPlane);
}

function decisionText(scene, model, i) {
  if (!model) return counting(scene);
  const decision = decisionOf(scene, model, i);
  return `${className(scene, decision)}, ${decision === scene.y[i] ? "right" : "wrong"}`;
}

function muText(mu) {
  if (mu === null) return NOTHING;
  if (mu === 0) return "0: exactly on the border";
  const side = mu < 0 ? "its own class is nearer: decided rightly" : "another class is nearer: decided wrongly";
  const sure = Math.abs(mu) < 0.1 ? ", but only just" : "";
  return `${mu.toFixed(2).replace("-", "−")}: ${side}${sure} (−1 sure and right, 0 on the border, +1 sure and wrong)`;
}

/** "x1 up by 0.12, x2 down by 0.03: a straight step of 0.13 to “yes”" */
function flipText(scene, panel, i, flip) {
  if (!flip) return "nothing: there is no other decision in this plane";
  const [x, y] = pointsOf(scene, panel).subarray(2 * i, 2 * i + 2);
  const steps = [flip.x - x, flip.y - y]
    .map((d, axis) => [d, `${panel.axes[axis]} ${d > 0 ? "up" : "down"} by ${number(Math.abs(d), 2)}`])
    .filter(([d]) => Math.abs(d) > 0.005 * flip.distance) // a step nobody sees only lengthens the sentence
    .map(([, text]) => text);
  const move = steps.length ? steps.join(", ") : "the slightest move";
  return `${move}: a straight step of ${number(flip.distance, 2)} to ${className(scene, flip.to)}`;
}
