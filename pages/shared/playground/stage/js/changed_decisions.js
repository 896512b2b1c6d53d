// The people whose decision differs from GLVQ's, by group and true label.

import { decisions, lastModel, metricsOf, shippedBlock } from "./metrics.js";
import { NOTHING, whole } from "./format.js";
import { changedSentence, className, groupName, groupPeople, trueLabel, uncounted } from "./sentences.js";
import { makeElement, makeExpander, makeGlyph, mountWidget, patchAttribute, patchBar, patchText } from "./dom.js";

const BASELINE = "glvq";
const LEAST_SCALE = 20; // people a full bar stands for at least, so that one person never fills it

/** Decisions changed from `before` to `after`, by group and true label: {gained, lost, n}, Int32Array(G*K) each, and whether they are known. */
export function changedDecisions(scene, before, after) {
  const { G, K, meta: { favourable } } = scene;
  const [gained, lost, n] = [0, 1, 2].map(() => new Int32Array(G * K));
  const { counts, known } = metricsOf(scene, after);
  counts.forEach((count, c) => (n[Math.floor(c / K)] += count));
  const shipped = shippedBlock(scene, after, "changed", G * K * 2);
  if (shipped) {
    for (let c = 0; c < G * K; c++) [gained[c], lost[c]] = [shipped[2 * c], shipped[2 * c + 1]];
  } else if (known) {
    const was = decisions(scene, before);
    decisions(scene, after).forEach(([i, now], m) => {
      if ((was[m][1] === favourable) === (now === favourable)) return;
      (now === favourable ? gained : lost)[scene.s[i] * K + scene.y[i]] += 1;
    });
  }
  return { gained, lost, n, known };
}

export function createChangedDecisions(root) {
  return mountWidget(root, "fgs-changed", "Who gains and who loses compared with GLVQ", buildTables, patchTables);
}

function buildTables(scene, section) {
  const tables = {};
  const row = makeElement("div", { class: "fgs-methods" });
  for (const panel of scene.panels.filter((p) => p.key !== BASELINE).reverse()) {
    tables[panel.key] = buildMethodTable(scene, panel);
    row.append(tables[panel.key].article);
  }
  section.append(
    makeElement("h2", {}, makeElement("span", {}, "Who pays?"),
      makeElement("span", { class: "fgs-which" }, "decisions changed against fully trained GLVQ")),
    row,
    makeExpander("label", "What is a true label?",
      makeElement("p", {}, "The class that the data give a person. Whether the data judge people fairly is another " +
        "question.")));
  return { tables };
}

function buildMethodTable(scene, panel) {
  const { G, K, meta: { favourable } } = scene;
  // People with the favourable true label come first: losing the favourable decision is an error for them.
  const classes = [favourable, ...Array.from({ length: K }, (_, k) => k).filter((k) => k !== favourable)];
  const cells = [];
  for (let g = 0; g < G; g++) for (const k of classes) cells.push({ g, k, ...buildRow(scene, g, k) });
  const head = [["People", 1], ["lost it", 2], ["gained it", 2], ["of", 1]]
    .map(([text, colspan]) => makeElement("th", { scope: "col", colspan }, text));
  const sentence = makeElement("p", { class: "fgs-sentence" });
  const article = makeElement("article", { class: "fgs-method", "data-method": panel.key },
    makeElement("h3", {}, panel.title), sentence,
    makeElement("table", { class: "fgs-changed-table" },
      makeElement("thead", {}, makeElement("tr", {}, ...head)),
      makeElement("tbody", {}, ...cells.map((cell) => cell.row))));
  return { article, sentence, cells, title: panel.title };
}

function buildRow(scene, g, k) {
  const [lost, gained, of] = [0, 1, 2].map(() => makeElement("td", { class: "fgs-number" }));
  const [lostBar, gainedBar] = ["lost", "gained"].map((kind) => makeElement("span", { class: `fgs-bar fgs-bar-${kind}` }));
  const track = (bar, side) => makeElement("td", { class: `fgs-track fgs-track-${side}`, "aria-hidden": "true" }, bar);
  const who = `${groupName(scene, g)}, truly ${className(scene, k)}`;
  const name = makeElement("th", { scope: "row" }, makeGlyph(scene, g, k), who);
  const row = makeElement("tr", {}, name, lost, track(lostBar, "left"), track(gainedBar, "right"), gained, of);
  return { row, lost, gained, of, lostBar, gainedBar };
}

function patchTables(parts, scene, models) {
  const before = lastModel(scene, scene.panels.find((p) => p.key === BASELINE));
  for (const [key, table] of Object.entries(parts.tables)) {
    patchMethodTable(table, scene, changedDecisions(scene, before, models[key]));
  }
}

function patchMethodTable(table, scene, change) {
  const { gained, lost, n, known } = change;
  const scale = Math.max(LEAST_SCALE, ...gained, ...lost);
  patchText(table.sentence, known ? changedSentence(scene, table.title, change) : uncounted(scene));
  for (const { g, k, row, ...cell } of table.cells) {
    const c = g * scene.K + k;
    const people = `${whole(n[c])} ${groupPeople(scene, g)} with ${trueLabel(scene, k)}`;
    const signed = (sign, count) => (known ? `${count ? sign : ""}${whole(count)}` : NOTHING);
    patchText(cell.lost, signed("−", lost[c]));
    patchText(cell.gained, signed("+", gained[c]));
    patchText(cell.of, whole(n[c]));
    patchBar(cell.lostBar, lost[c] / scale);
    patchBar(cell.gainedBar, gained[c] / scale);
    patchAttribute(row, "title",
      known ? `lost the favourable decision: ${whole(lost[c])} of ${people}; gained it: ${whole(gained[c])}` : "");
  }
}
