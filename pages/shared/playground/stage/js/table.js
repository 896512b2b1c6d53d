// A table of all prototypes of all models shown, also for screen readers.

import { assignment, oncePerModel } from "./metrics.js";
import { drawnPlaces } from "./scene.js";
import { capitalised, NOTHING, number, percent, whole } from "./format.js";
import { cellWords, className, groupName, modelSentence } from "./sentences.js";
import { makeElement, makeExpander, makeGlyph, mountWidget, patchGlyph, patchText } from "./dom.js";

/** Members of every cell: {counts: Int32Array(P*G*K) [prototype, group, class], sizes: Int32Array(P)}; null if not known. */
export const cellMembers = oncePerModel((scene, model) => {
  const { G, K, y, s } = scene;
  const nearest = assignment(scene, model);
  if (!nearest) return null;
  const counts = new Int32Array(model.labels.length * G * K);
  const sizes = new Int32Array(model.labels.length);
  nearest.forEach((j, i) => {
    counts[(j * G + s[i]) * K + y[i]] += 1;
    sizes[j] += 1;
  });
  return { counts, sizes };
});

/** Share of each group in a cell: [share of group 0, ...], null in an empty cell. */
function groupShares({ counts, sizes }, j, G, K) {
  return Array.from({ length: G }, (_, g) => {
    let n = 0;
    for (let k = 0; k < K; k++) n += counts[(j * G + g) * K + k];
    return sizes[j] ? n / sizes[j] : null;
  });
}

export function createPrototypeTable(root, stage) {
  const build = (scene, section) => buildTables(scene, section, stage);
  return mountWidget(root, "fgs-prototypes", "Table of prototypes", build, patchTables);
}

function buildTables(scene, section, stage) {
  const parts = { tables: {}, repaint: null };
  const body = makeElement("div");
  for (const panel of scene.panels) {
    const [caption, rows] = [makeElement("caption"), makeElement("tbody")];
    const [one, many] = cellWords(panel).map(capitalised);
    const head = (text, c) => makeElement("th", { scope: "col", class: c < 3 ? "" : "fgs-number" }, text);
    const heads = [one, "Class", "Pseudo-class", "", "", "Members",
      ...scene.meta.groups.map((_, g) => `of ${groupName(scene, g)}`)].map(head);
    const table = makeElement("table", { "data-method": panel.key }, caption,
      makeElement("thead", {}, makeElement("tr", {}, ...heads)), rows);
    const scroller = makeElement("div", { class: "fgs-scroll", tabindex: "0", role: "region",
      "aria-label": `${many} of ${panel.title}` }, table);
    parts.tables[panel.key] = { panel, caption, axes: heads.slice(3, 5), body: rows, rows: [] };
    body.append(scroller);
  }
  // A closed table costs nothing during playback; opening it fills it with the model shown.
  parts.details = makeExpander("table", "All prototypes as a table", body);
  parts.details.addEventListener("toggle", () => parts.repaint?.());
  parts.stage = stage;
  section.append(parts.details);
  return parts;
}

function patchTables(parts, scene, models) {
  parts.repaint = () => patchTables(parts, scene, models);
  if (!parts.details.open) return;
  for (const [key, table] of Object.entries(parts.tables)) patchPrototypes(table, scene, models[key], parts.stage);
}

function patchPrototypes(table, scene, model, stage) {
  const P = model.labels.length;
  const whom = `members among all ${whole(scene.n)} points shown`;
  const members = cellMembers(scene, model);
  patchText(table.caption, `${model.panel.title}, ${modelSentence(scene, model)}: ` +
    (members ? whom : "members are known at the end of training"));
  table.axes.forEach((head, axis) => patchText(head, model.panel.axes[axis]));
  while (table.rows.length > P) table.rows.pop().row.remove();
  while (table.rows.length < P) table.rows.push(addRow(table, scene, stage));
  const positions = drawnPlaces(model.panel.space, model.W);
  table.rows.forEach((row, j) => {
    patchGlyph(row.glyph, scene, model.pseudo[j], model.labels[j]);
    const texts = [className(scene, model.labels[j]), groupName(scene, model.pseudo[j]),
      number(positions[2 * j]), number(positions[2 * j + 1]), ...memberTexts(scene, members, j)];
    texts.forEach((text, c) => patchText(row.cells[c], text));
  });
}

function memberTexts(scene, members, j) {
  if (!members) return Array(1 + scene.G).fill(NOTHING);
  return [whole(members.sizes[j]), ...groupShares(members, j, scene.G, scene.K).map((share) => percent(share, 0))];
}

function addRow(table, scene, stage) {
  const j = table.rows.length;
  const glyph = makeGlyph(scene, 0, 0);
  const pick = makeElement("button", { type: "button", class: "fgs-link",
    "aria-label": `Open the card of ${cellWords(table.panel)[0]} ${j + 1}`,
    onclick: () => stage.select({ panel: table.panel.key, kind: "prototype", index: j }) }, glyph, String(j + 1));
  const cells = Array.from({ length: 5 + scene.G }, (_, c) => makeElement("td", { class: c > 1 ? "fgs-number" : "" }));
  const row = makeElement("tr", {}, makeElement("th", { scope: "row" }, pick), ...cells);
  table.body.append(row);
  return { row, glyph, cells };
}
