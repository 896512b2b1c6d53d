// The bar above the pictures: playback, what is shown, which panels, and actions.

import { makeButton, makeToggle, press, relabel, setIcon } from "./buttons.js";
import { makeElement, patchAttribute, patchHidden, patchText } from "./dom.js";
import { SPEEDS } from "./playback.js";

const TOGGLES = [
  ["regions", "Regions", "Pale areas: the class decided there"],
  ["borders", "Borders", "Borders of the prototypes' cells; strong where the decision changes"],
  ["trails", "Trails", "The way each prototype has come since the start"],
  ["points", "Points", "Points the model is trained on"],
  ["heldOut", "Held-out", "Points kept out of training; all numbers are measured on them"],
  ["forces", "Forces", "What moves each prototype: class pull, fairness push and their sum"],
];

export function createToolbar(slot, stage) {
  const transport = createTransport(stage);
  const show = makeElement("div", { class: "group", role: "group", "aria-label": "What the pictures show" });
  const toggles = TOGGLES.map(([name, text, label]) => {
    const toggle = makeToggle({ action: `show-${name}`, text, label, onclick: () => stage.toggleShow(name) });
    show.append(toggle);
    return [name, toggle];
  });
  const panels = makeElement("div", { class: "group", role: "group", "aria-label": "Methods shown" });
  const undo = makeButton({ action: "undo", icon: "undo", text: "Undo", label: "Undo the last change", onclick: () => stage.undo() });
  const fit = makeButton({
    action: "fit", icon: "fit", text: "Whole picture", label: "Show the whole picture again (double-click)",
    onclick: () => stage.resetCamera(),
  });
  const paint = makeToggle({
    action: "paint", icon: "paint", text: "Paint", label: "Paint or erase points with the mouse or a finger",
    onclick: () => stage.togglePaint(),
  });
  const share = makeButton({
    action: "share", icon: "share", text: "Share", label: "Copy a link to exactly this picture", onclick: () => stage.share(),
  });
  const status = makeElement("span", { class: "status", role: "status" });
  const actions = makeElement("div", { class: "group actions" }, createMenu(stage, show, panels, transport.speed), fit, undo, paint, share);
  slot.append(makeElement("div", { class: "bar top" }, transport.element, actions, status));

  let panelKeys = "";
  let panelToggles = [];
  function buildPanelToggles(scene) {
    const keys = scene.panels.map((panel) => panel.key + panel.title).join("|");
    if (keys === panelKeys) return;
    panelKeys = keys;
    panelToggles = scene.panels.map(({ key, title }) => {
      const label = `Show or hide ${title}`;
      return [key, makeToggle({ action: `panel-${key}`, text: title, label, onclick: () => stage.togglePanel(key) })];
    });
    panels.replaceChildren(...panelToggles.map(([, toggle]) => toggle));
  }

  return {
    showStatus(text) {
      status.textContent = text;
    },
    update() {
      const { scene, state } = stage;
      transport.update();
      buildPanelToggles(scene);
      patchHidden(panels, scene.panels.length < 2);
      for (const [name, toggle] of toggles) press(toggle, state.show[name]);
      for (const [key, toggle] of panelToggles) press(toggle, !state.hidden.has(key));
      patchHidden(paint, !stage.canPaint());
      press(paint, stage.painting.active);
      patchHidden(share, Boolean(scene.meta.offline)); // the file is what is shared
      patchHidden(undo, !stage.canUndo());
      patchHidden(fit, stage.cameraIsFitted());
    },
  };
}

/** Settings that few visitors change, behind one button. */
function createMenu(stage, ...groups) {
  const title = makeElement("summary", { class: "button", "data-action": "view" }, "View");
  const menu = makeElement("details", { class: "view-menu" }, title, makeElement("div", { class: "choices" }, ...groups));
  const { signal } = stage.ending;
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    title.focus();
    event.stopPropagation();
  });
  window.addEventListener("pointerdown", (event) => (menu.open &&= event.composedPath().includes(menu)), { signal });
  return menu;
}

function createTransport(stage) {
  const start = makeButton({ action: "start", icon: "start", label: "Back to the start (r)", onclick: () => stage.seek(0) });
  const play = makeButton({
    action: "play", icon: "play", label: "Play (space)", className: "primary", onclick: () => stage.togglePlay(),
  });
  const step = makeButton({ action: "step", icon: "step", label: "One step on (right arrow)", onclick: () => stage.step(1) });
  const scrubber = makeElement("input", {
    type: "range", min: "0", step: "1", class: "scrubber", "data-action": "scrub", "aria-label": "Epoch",
    title: "Drag through the training",
    oninput: () => stage.seek(Number(scrubber.value), false),
    onchange: () => stage.seek(Number(scrubber.value), true),
  });
  const epoch = makeElement("span", { class: "number" });
  const total = makeElement("span", { class: "soft" });
  const unit = makeElement("span", { class: "soft" });
  const counter = makeElement("span", { class: "epoch" }, unit, epoch, total);
  const speed = makeElement("select", {
    class: "speed", "data-action": "speed",
    onchange: () => stage.updateView({ speed: Number(speed.value) }),
  }, ...SPEEDS.map((value) => makeElement("option", { value: String(value) }, `${value}×`)));
  const element = makeElement("div", { class: "bar transport", role: "group", "aria-label": "Training over the epochs" },
    makeElement("div", { class: "group" }, start, play, step), scrubber, counter);
  return {
    element,
    speed: makeElement("label", { class: "group" }, "Speed of playing", speed),
    update() {
      const { scene, state } = stage;
      const { epochs } = scene.meta;
      const frame = Math.floor(state.position);
      patchHidden(element, scene.F < 2);
      setIcon(play, state.playing ? "pause" : "play");
      relabel(play, state.playing ? "Pause (space)" : "Play (space)");
      patchAttribute(scrubber, "max", String(scene.F - 1));
      if (Number(scrubber.value) !== frame) scrubber.value = String(frame);
      scrubber.style.setProperty("--done", `${(100 * frame) / Math.max(1, scene.F - 1)}%`);
      const name = scene.panels.every((panel) => panel.frame_names) ? "Round" : "Epoch";
      patchText(unit, `${name} `);
      patchAttribute(scrubber, "aria-label", name);
      patchAttribute(scrubber, "aria-valuetext", `${name.toLowerCase()} ${epochs[frame]} of ${epochs.at(-1)}`);
      patchText(epoch, String(epochs[frame]));
      patchText(total, ` of ${epochs.at(-1)}`);
      speed.value = String(state.speed);
    },
  };
}
