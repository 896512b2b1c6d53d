// One panel: title, picture, buttons for a prototype moved by hand, sliders (the film's C, INP's fold, a learned distance)
// and a place for its numbers.

import { clamp, nearestIndex } from "./arithmetic.js";
import { makeButton, relabel, setIcon } from "./buttons.js";
import { NAME_BAND } from "./camera.js";
import { makeElement, patchAttribute, patchHidden, patchText, sliderKey } from "./dom.js";
import { percent, strengthText } from "./format.js";

const NARROW = 700;
const SHARES = {
  fold: ["Fold", "Fold the plane onto the kept line"],
  squeeze: ["Squeeze", "Squeeze the plane: what counts less for the model gets shorter"],
};
const FLAT = 520; // pixels of height: below, as on a phone on its side, pictures are small and beside each other

export function createPanel(key, stage) {
  const title = makeElement("h2", { class: "title" });
  const note = makeElement("span", { class: "note soft", role: "status" });
  const enlarge = makeButton({ action: `enlarge-${key}`, icon: "enlarge", label: "Enlarge", onclick: () => stage.enlarge(key) });
  const canvas = makeElement("canvas", { role: "img", tabindex: "0", "data-panel": key });
  const hint = makeElement("div", { class: "hint", "aria-hidden": "true" });
  const action = createAction(key, stage);
  const picture = makeElement("div", { class: "picture" }, canvas, hint);
  const slider = createSlider(key, stage);
  const second = createSlider(key, stage, "second-");
  const readout = makeElement("div", { class: "readout-slot" });
  const element = makeElement("article", { class: "panel", "data-panel": key },
    makeElement("header", {}, makeElement("div", { class: "names" }, title, note), enlarge), picture,
    makeElement("div", { class: "hand" }, action, slider.element), second.element, readout);
  const ctx = canvas.getContext("2d", { alpha: false });
  let hintTimer = 0;

  return {
    key, element, canvas, ctx, readout, width: 0, height: 0,
    /** Give the canvas as many pixels as the screen has; setting their number clears it, even to what it was. */
    resize(width, height, dpr) {
      this.width = width;
      this.height = height;
      picture.style.height = `${height}px`;
      const [w, h] = [Math.round(width * dpr), Math.round(height * dpr)];
      if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    },
    update(panel, model) {
      const big = stage.state.enlarged === key;
      if (!canvas.hasAttribute("aria-label")) this.describe(panel.title); // until the picture rests and is described
      patchText(title, panel.title);
      const moved = model.source === "dragged" && !stage.holding;
      const squeezes = stage.squeezes(panel);
      const usual = squeezes && stage.state.squeeze > 0 ? panel.squeeze.words : panel.note;
      const remark = moved ? stage.replyFor(key)?.message ?? "Moved by you." : usual;
      patchText(note, remark);
      patchAttribute(note, "title", remark);
      patchHidden(element, stage.state.hidden.has(key));
      element.classList.toggle("enlarged", big);
      setIcon(enlarge, big ? "shrink" : "enlarge");
      relabel(enlarge, big ? `Make ${panel.title} as small as the others` : `Enlarge ${panel.title}`);
      patchHidden(action, !moved);
      // A search has no start by hand, and a file does not train.
      patchHidden(action.firstChild, Boolean(panel.frame_names || stage.scene.meta.offline));
      const { films, panels, meta: { filmed } } = stage.scene;
      const own = filmed.includes(key) ? films[key] && "film" : panel.line && "fold"; // a film may not be trained yet
      const takesTwo = (other) => filmed.includes(other.key) && stage.squeezes(other);
      const kind = squeezes && !takesTwo(panel) ? "squeeze" : own;
      patchHidden(slider.element, moved && kind !== "squeeze"); // which changes no model
      slider.update(kind, model);
      // Keep numbers of panels at the same height: if one picture has two sliders, the others get an empty row.
      patchHidden(second.element, !panels.some(takesTwo));
      second.update(takesTwo(panel) && "squeeze", model);
    },
    describe(text) {
      patchAttribute(canvas, "aria-label", text);
    },
    showHint(text) {
      clearTimeout(hintTimer);
      hint.textContent = text;
      hint.classList.add("visible");
      hintTimer = setTimeout(() => hint.classList.remove("visible"), 1600);
    },
  };
}

/** Buttons for a prototype moved by hand, in place of the slider, so that nothing below moves. */
function createAction(key, stage) {
  const go = makeButton({
    action: `continue-${key}`, text: "Continue training from here", label: "Continue training from here", className: "primary",
    onclick: () => stage.continueFrom(key),
  });
  const back = makeButton({ action: `back-${key}`, text: "Undo", label: "Put the prototype back", onclick: () => stage.putBack() });
  return makeElement("div", { class: "action" }, go, back);
}

/** A slider of the kind that the panel needs now: a film's strength, INP's fold or how far the plane is squeezed. */
function createSlider(key, stage, prefix = "") {
  const name = makeElement("span", { class: "slider-name" });
  const input = makeElement("input", { type: "range", class: "scrubber", "data-action": `${prefix}slider-${key}` });
  const value = makeElement("span", { class: "number slider-value" });
  const element = makeElement("label", { class: "slider" }, name, input, value);
  let kind = null;
  const pick = (finished) => stage.pickStrength(key, nearestIndex(stage.scene.films[key].places, Number(input.value)), finished);
  input.addEventListener("input", () => {
    if (kind === "film") pick(false);
    if (kind === "fold") stage.updateView({ fold: Number(input.value) });
    if (kind === "squeeze") stage.setSqueeze(Number(input.value));
  });
  input.addEventListener("change", () => kind === "film" && pick(true));
  input.addEventListener("keydown", (event) => {
    if (kind !== "film") return;
    const { places } = stage.scene.films[key];
    const index = sliderKey(event.key, nearestIndex(places, Number(input.value)), places.length);
    if (index === null) return;
    event.preventDefault(); // the browser's own step may not reach the next model
    stage.pickStrength(key, index, true, true);
  });

  function set({ max, step, at, text, label, shown }) {
    patchAttribute(input, "max", String(max));
    patchAttribute(input, "step", String(step));
    patchAttribute(input, "aria-label", label);
    patchAttribute(input, "title", label);
    patchAttribute(input, "aria-valuetext", shown);
    if (Number(input.value) !== at) input.value = String(at);
    input.style.setProperty("--done", `${(100 * at) / max}%`);
    patchText(name, text);
    patchText(value, shown);
  }

  return {
    element,
    update(nextKind, model) {
      const { scene, state } = stage;
      kind = nextKind;
      patchHidden(input, !kind);
      element.classList.toggle("empty", !kind);
      input.disabled = kind === "squeeze" && stage.painting.active; // points are painted in the plane as it is
      if (kind === "film") {
        const film = scene.films[key];
        const isC = film.knob === "C";
        const at = isC ? model.strength : nearestIndex(film.values, model.strength); // of allowed gaps, its place among them
        const shown = strengthText(film.knob, model.strength).replace(/^(C =|gap ≤) /, "");
        const [text, label] = isC ? ["C", "Fairness strength C"] : ["Largest gap", "Largest gap allowed"];
        set({ max: film.places.at(-1), step: "any", at, text, label, shown });
      } else if (kind) {
        const [text, label] = SHARES[kind];
        set({ max: 1, step: 0.01, at: state[kind], text, label, shown: percent(state[kind], 0) });
      } else {
        patchText(name, "");
        patchText(value, "");
      }
    },
  };
}

/** Layout of the pictures on a stage of this width: how many side by side, and the height of one by its width. */
export function panelSizes(width, visible, bounds, screenHeight, tallestShare = 0.74) {
  const flat = screenHeight < FLAT;
  const beside = width >= (flat ? FLAT : NARROW);
  const columns = beside ? Math.max(1, visible) : 1;
  const [x0, y0, x1, y1] = bounds;
  const aspect = clamp((y1 - y0) / (x1 - x0 || 1), 0.72, 1.05);
  const tallest = flat && beside ? screenHeight / 3 : Math.max(360, tallestShare * screenHeight);
  return { columns, height: (pictureWidth) => Math.round(Math.min(pictureWidth * aspect + NAME_BAND, tallest)) };
}
