// The row of paint tools: class and group, brush or eraser, and the buttons that train or discard.

import { makeButton, makeToggle, press, relabel } from "./buttons.js";
import { makeElement, makeGlyph, patchHidden, patchText } from "./dom.js";
import { hasPaint } from "./painting.js";
import { className, groupName } from "./sentences.js";

export function createPaintbar(slot, stage) {
  const { painting } = stage;
  const marks = makeElement("div", { class: "group", role: "group", "aria-label": "Class and group of painted points" });
  const eraser = makeToggle({
    action: "eraser", text: "Eraser", label: "Erase points", onclick: () => stage.setPaintTool({ tool: "eraser" }),
  });
  const train = makeButton({
    action: "train", text: "Train on these points", label: "Train on these points", className: "primary",
    onclick: () => stage.trainOnPaint(),
  });
  const discard = makeButton({
    action: "discard", text: "Discard", label: "Forget what was painted and erased", onclick: () => stage.discardPaint(),
  });
  const count = makeElement("span", { class: "soft", role: "status" });
  const bar = makeElement("div", { class: "bar paintbar" }, makeElement("span", { class: "soft" }, "Paint points of"),
    marks, eraser, count, makeElement("div", { class: "group end" }, discard, train));
  slot.append(bar);

  let built = "";
  let brushes = [];
  function buildBrushes(scene) {
    const { classes, groups } = scene.meta;
    const now = JSON.stringify([classes, groups]);
    if (now === built) return;
    built = now;
    brushes = classes.flatMap((name, k) => groups.map((group, g) => {
      const label = `Brush: ${className(scene, k)}, ${groupName(scene, g)}`;
      const toggle = makeToggle({
        action: `brush-${k}-${g}`, text: `${name} · ${group}`, label,
        onclick: () => stage.setPaintTool({ tool: "brush", klass: k, group: g }),
      });
      toggle.prepend(makeGlyph(scene, g, k));
      return { k, g, toggle };
    }));
    marks.replaceChildren(...brushes.map(({ toggle }) => toggle));
  }

  return {
    update() {
      patchHidden(bar, !painting.active);
      stage.root.classList.toggle("painting", painting.active);
      if (!painting.active) return;
      buildBrushes(stage.scene);
      for (const { k, g, toggle } of brushes) {
        press(toggle, painting.tool === "brush" && painting.klass === k && painting.group === g);
      }
      press(eraser, painting.tool === "eraser");
      const [added, erased] = [painting.added.length, painting.erased.size];
      patchText(count, hasPaint(painting) ? `${added} painted, ${erased} erased` : "Drag over a picture.");
      train.disabled = discard.disabled = !hasPaint(painting);
      const what = `Train with ${added} points added and ${erased} erased`;
      relabel(train, hasPaint(painting) ? what : "Paint or erase some points first");
    },
  };
}
