// The few DOM helpers all widgets share. Widgets build their elements once and patch text and attributes afterwards,
// because they are updated on every frame of playback.

import { clamp } from "./arithmetic.js";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function makeElement(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const lastPatch = new WeakMap(); // element -> {what: value last written}

/** True if `value` differs from what was last written; reading from the page is slow and may return another spelling. */
function isNew(element, what, value) {
  let written = lastPatch.get(element);
  if (!written) lastPatch.set(element, (written = {}));
  if (written[what] === value) return false;
  written[what] = value;
  return true;
}

/** Sets the text only if it changed, so that an unchanged frame costs no layout. */
export function patchText(element, text) {
  if (isNew(element, "text", text)) element.textContent = text;
}

export function patchAttribute(element, name, value) {
  if (isNew(element, name, value)) element.setAttribute(name, value);
}

export function patchStyle(element, name, value) {
  if (isNew(element, `style ${name}`, value)) element.style.setProperty(name, value);
}

export function patchHidden(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Length of a bar from 0 to 1; the style sheet clips the bar there, which needs no layout. */
export function patchBar(bar, share) {
  patchStyle(bar, "--fgs-share", `${(100 * clamp(share ?? 0, 0, 1)).toFixed(1)}%`);
}

/** A mark of the grammar: the shape of group `g` (null: the first, a circle), in the colour of class `k` (null: the text colour). */
export function makeGlyph(scene, g, k = null) {
  const path = makeSvg("path", {});
  const glyph = makeSvg("svg", { class: "fgs-glyph", viewBox: "-1.25 -1.25 2.5 2.5", "aria-hidden": "true" }, path);
  patchGlyph(glyph, scene, g, k);
  return glyph;
}

export function patchGlyph(glyph, scene, g, k = null) {
  patchAttribute(glyph.firstChild, "d", scene.meta.grammar.groups[g ?? 0]);
  patchAttribute(glyph.firstChild, "fill", k === null ? "currentColor" : `var(--fgs-class-${k})`);
}

/** A piece of a method's line, for a legend. */
export function makeLineSample(key) {
  return makeSvg("svg", { class: "fgs-sample", viewBox: "0 0 30 10", "aria-hidden": "true" },
    makeSvg("path", { class: `fgs-line fgs-line-${key}`, d: "M0,5L30,5" }));
}

/** Content to read on demand; the stage keeps which expanders are open, for the link and when the page is entered again. */
export function makeExpander(name, title, ...content) {
  const toggle = (event) => {
    event.preventDefault();
    details.open = !details.open;
    details.dispatchEvent(new CustomEvent("expander", { bubbles: true, detail: details }));
  };
  const summary = makeElement("summary", { onclick: toggle }, title);
  const details = makeElement("details", { "data-expander": name }, summary, ...content);
  return details;
}

/**
 * Mount a widget: `build(scene)` makes its elements, again only when panels, classes or groups change (so that focus
 * and open expanders survive a new training), `patch(parts, scene, models, view)` fills them on every update.
 * Without a label it is no landmark.
 */
export function mountWidget(root, className, label, build, patch) {
  const section = makeElement("section", { class: `fgs-widget ${className}`, ...(label && { "aria-label": label }) });
  root.append(section);
  let lastScene = null;
  let structure = null;
  let parts = null;
  let expanders = [];
  return {
    update(scene, models, view) {
      if (scene !== lastScene) {
        lastScene = scene;
        const { classes, groups, people, favourable } = scene.meta;
        const now = JSON.stringify([classes, groups, people, favourable, scene.panels.map((p) => [p.key, p.title])]);
        if (now !== structure) {
          structure = now;
          section.replaceChildren();
          parts = build(scene, section);
          expanders = [...section.querySelectorAll("[data-expander]")];
        }
      }
      if (view.open) for (const details of expanders) details.open = view.open.has(details.dataset.expander);
      patch(parts, scene, models, view);
    },
    destroy() {
      section.remove();
    },
  };
}

/** Press, drag and release on an element: `moved(x, y, finished)` in shares of its box. */
export function dragOver(element, moved) {
  const report = (event, finished) => {
    const box = element.getBoundingClientRect();
    moved((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, finished, box);
  };
  let pointer = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointer = event.pointerId;
    element.setPointerCapture(pointer);
    report(event, false);
  });
  element.addEventListener("pointermove", (event) => {
    if (event.pointerId === pointer) report(event, false);
  });
  const release = (event) => {
    if (event.pointerId !== pointer) return;
    pointer = null;
    report(event, true);
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
}

/** Arrow keys, Page keys, Home and End on a slider of `count` stops; returns the new stop or null. */
export function sliderKey(key, current, count) {
  const page = Math.max(1, Math.round(count / 10));
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page }[key];
  const wanted = { Home: 0, End: count - 1 }[key] ?? current + step;
  return Number.isNaN(wanted) ? null : clamp(wanted, 0, count - 1);
}
