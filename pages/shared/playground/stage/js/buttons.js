// Buttons of the stage: <button> elements with a name, a tooltip and a `data-action` for tests.

import { makeElement, makeSvg, patchAttribute } from "./dom.js";

const ICONS = {
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  step: "M6 5v14l9-7zM16 5h3v14h-3z",
  start: "M18 5v14l-9-7zM5 5h3v14H5z",
  undo: "M12.5 8c-2.7 0-5.1 1-6.9 2.6L2 7v9h9l-3.6-3.6A8 8 0 0 1 20 16l2.4-.8A10.5 10.5 0 0 0 12.5 8z",
  paint: "M7 14c-1.7 0-3 1.3-3 3 0 1.3-1.2 2-2 2 .9 1.2 2.5 2 4 2a4 4 0 0 0 4-4c0-1.7-1.3-3-3-3zM20.7 4.6l-1.3-1.3a1 1 0 0 0-1.4 0L9 12.2 11.8 15l8.9-9a1 1 0 0 0 0-1.4z",
  share: "M18 16c-.8 0-1.5.3-2 .8l-7.1-4.1a3 3 0 0 0 0-1.4L16 7.2a3 3 0 1 0-1-2.2c0 .2 0 .5.1.7L8 9.8a3 3 0 1 0 0 4.4l7.1 4.1v.7a2.9 2.9 0 1 0 2.9-3z",
  enlarge: "M14 4h6v6h-2V7.4l-4.3 4.3-1.4-1.4L16.6 6H14zM10 20H4v-6h2v2.6l4.3-4.3 1.4 1.4L7.4 18H10z",
  shrink: "M20 5.4 16.4 9H19v2h-6V5h2v2.6L18.6 4zM4 18.6 7.6 15H5v-2h6v6H9v-2.6L5.4 20z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};

function makeIcon(name) {
  return makeSvg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, makeSvg("path", { d: ICONS[name] }));
}

export function setIcon(button, name) {
  patchAttribute(button.querySelector("path"), "d", ICONS[name]);
}

/** A button with an icon, a text, or both. The text is its name and the label its tooltip; without text the label is the name. */
export function makeButton({ action, icon = null, text = null, label, className = "", onclick }) {
  const button = makeElement("button", {
    type: "button", class: `button ${className}`, "data-action": action, title: label, onclick, ...(text ? {} : { "aria-label": label }),
  });
  if (icon) button.append(makeIcon(icon));
  if (text) button.append(makeElement("span", {}, text));
  return button;
}

export function relabel(button, label) {
  if (button.hasAttribute("aria-label")) patchAttribute(button, "aria-label", label);
  patchAttribute(button, "title", label);
}

/** A button that stays pressed. */
export function makeToggle(options) {
  const button = makeButton({ ...options, className: "chip" });
  button.setAttribute("aria-pressed", "false");
  return button;
}

export function press(button, pressed) {
  patchAttribute(button, "aria-pressed", String(pressed));
}
