// What the marks mean. Rebuilt only when the scene, the theme or what is shown changes.

import { makeElement, makeSvg, patchHidden, patchText } from "./dom.js";
import { forceStyles } from "./draw.js";
import { groupName } from "./sentences.js";

function swatch(...children) {
  return makeSvg("svg", { class: "swatch", viewBox: "-1.4 -1.4 2.8 2.8", "aria-hidden": "true" }, ...children);
}

function strip(...children) {
  return makeSvg("svg", { class: "arrow", viewBox: "0 0 32 14", "aria-hidden": "true" }, ...children);
}

function shape(path, attributes) {
  return makeSvg("path", { d: path, ...attributes });
}

function entry(...picturesAndTexts) {
  return makeElement("span", { class: "entry" }, ...picturesAndTexts);
}

function arrowSwatch({ colour, width, dash = [] }) {
  const line = { x1: 1, y1: 7, x2: 22, y2: 7, stroke: colour, "stroke-width": width, "stroke-dasharray": dash.join(" ") };
  return strip(makeSvg("line", line), shape("M31 7 21 2v10z", { fill: colour }));
}

export function createLegend(slot, stage) {
  const box = makeElement("div", { class: "legend", "aria-label": "What the marks mean", role: "group" });
  const forces = makeElement("div", { class: "legend forces", "aria-label": "What the arrows mean", role: "group" });
  const scale = makeElement("span", { class: "entry soft" });
  const slice = makeElement("p", { class: "slice" });
  slot.append(slice, box, forces);
  let built = "";

  function build() {
    const { scene: { meta }, theme, state: { show } } = stage;
    const shapes = meta.grammar.groups;
    const entries = meta.classes.map((name, k) => entry(
      swatch(makeSvg("rect", { x: -1.2, y: -1.2, width: 2.4, height: 2.4, rx: 0.4, fill: theme.classes[k] })),
      k === meta.favourable ? `${name} (+ favourable)` : name,
    ));
    meta.groups.forEach((_, g) => entries.push(entry(swatch(shape(shapes[g], { fill: theme.text })), groupName(stage.scene, g))));
    if (stage.scene.holdsOut) {
      entries.push(entry(
        swatch(shape(shapes[0], { fill: theme.text })), "training",
        swatch(shape(shapes[0], { fill: "none", stroke: theme.text, "stroke-width": 0.35 })), "held out",
      ));
    }
    entries.push(entry(
      swatch(shape(shapes[shapes.length > 1 ? 1 : 0], { fill: theme.classes[0], stroke: theme.text, "stroke-width": 0.3 })),
      `prototype${stage.scene.panels.some((panel) => panel.boxes) ? " or leaf" : ""}, outlined by its cell's main group`,
    ));
    if (show.borders && stage.scene.panels.some((panel) => panel.knob === "max_gap")) {
      const ring = makeSvg("circle", { r: 1.1, fill: "none", stroke: theme.text, "stroke-width": 0.25, "stroke-dasharray": "0.5 0.4" });
      entries.push(entry(swatch(ring), "handicap: the wider, the farther a prototype may be and still decide"));
    }
    if (stage.scene.panels.some((panel) => panel.line)) {
      entries.push(entry(strip(shape("M1 7H31", { stroke: theme.text, "stroke-width": 1.4 })), "all that INP keeps"));
      entries.push(entry(arrowSwatch({ colour: theme.text, width: 2, dash: [6, 4] }), "what it removes"));
    }
    if (show.trails && stage.scene.F > 1) {
      const line = shape("M4 7H30", { fill: "none", stroke: theme.classes[0], "stroke-width": 1.8 });
      const start = makeSvg("circle", { cx: 4, cy: 7, r: 3, fill: theme.background, stroke: theme.classes[0], "stroke-width": 1.6 });
      entries.push(entry(strip(line, start), "its way"));
    }
    box.replaceChildren(...entries);
    const styles = forceStyles(theme);
    forces.replaceChildren(
      entry(arrowSwatch(styles.class), "class pull"), entry(arrowSwatch(styles.fair), "fairness push (times C)"),
      entry(arrowSwatch(styles.sum), "their sum"), scale,
    );
  }

  return {
    update(forceScale) {
      const { scene: { meta }, theme, state: { show } } = stage;
      const now = JSON.stringify([meta.revision, theme.key, show]);
      if (now !== built) {
        built = now;
        build();
      }
      patchText(slice, meta.slice ?? "");
      patchHidden(slice, !meta.slice);
      patchHidden(forces, !show.forces);
      if (!show.forces) return;
      const times = `all arrows drawn ${forceScale.toLocaleString("en", { maximumSignificantDigits: 1 })} × their length`;
      patchText(scale, forceScale ? times : "nothing pulls in this picture");
    },
  };
}
