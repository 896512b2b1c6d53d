// The stage: one scene, one state, one picture. Whatever changes calls `invalidate`; drawing happens once per screen frame.

import { clamp } from "./arithmetic.js";
import { isFitted, viewport } from "./camera.js";
import { drawPanel } from "./draw.js";
import { forceScaleOf } from "./forces.js";
import { createLegend } from "./legend.js";
import { createPaintbar } from "./paintbar.js";
import { clearPainting, createPainting } from "./painting.js";
import { createPanel, panelSizes } from "./panels.js";
import { pictureOf } from "./picture.js";
import { advance, playRate } from "./playback.js";
import { createPointLayers } from "./pointlayer.js";
import { buildScene, countedModel, filmModel, frameModel } from "./scene.js";
import { updatePage } from "./page_update.js";
import { squeezed } from "./squeeze.js";
import { readTheme } from "./theme.js";
import { createToolbar } from "./toolbar.js";
import { unpack } from "./unpack.js";
import { carryOver, firstView, linkOf, newState, viewOf } from "./view.js";

const RESEND_DELAY = 4000; // milliseconds without an acknowledgement before a gesture is sent again
const VIEW_DELAY = 400; // milliseconds without a change before the view is sent to Python
const LONGEST_TICK = 0.1; // seconds; after a hidden tab playing goes on where it stopped

let lastSerial = 0;
let unconfirmedView = null; // { key, view }: sent when a page was left; Python may not have received it

/** What a view belongs to: the page, its model, and the view of it that Python sent. */
const viewKey = ({ revision, view }) => JSON.stringify([location.pathname, revision, view]);

const filmsOf = ({ films }) => JSON.stringify(Object.entries(films).map(([key, { revision }]) => [key, revision]));

export class Stage {
  constructor(root, send) {
    this.root = root;
    this.send = send; // { gestures(list), view(value) }, replaced on every run of the script
    this.outbox = []; // gestures that Python has not acknowledged
    this.leaving = false; // for another page
    this.sentView = null; // a view sent to Python; null as soon as a scene contains it
    this.state = newState();
    this.scene = null;
    this.theme = null;
    this.moved = new Map(); // panel key -> model changed by hand
    this.history = []; // moves of prototypes that can be taken back: { key, index, before, nudged }
    this.painting = createPainting();
    this.holding = null;
    this.panels = [];
    this.widgets = [];
    this.layers = createPointLayers();
    this.ending = new AbortController();
    this.reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
    this.request = 0;
    this.stale = true;
    root.framesDrawn = 0;
    this.toolbar = createToolbar(this.slot("bar"), this);
    this.paintbar = createPaintbar(this.slot("bar"), this);
    this.legend = createLegend(this.slot("legend"), this);
    this.sizes = new ResizeObserver(() => this.layout());
    this.sizes.observe(this.slot("panels"));
    root.addEventListener("expander", ({ detail }) => this.keepExpander(detail), { signal: this.ending.signal });
    for (const act of ["pointerdown", "focusin", "click"]) {
      document.addEventListener(act, (event) => this.beforeLeaving(event), { capture: true, signal: this.ending.signal });
    }
  }

  slot(name) {
    return this.root.querySelector(`[data-slot="${name}"]`);
  }

  destroy() {
    this.ending.abort();
    this.sizes.disconnect();
    cancelAnimationFrame(this.request);
    clearTimeout(this.viewTimer);
    clearTimeout(this.altTimer);
    clearTimeout(this.factsTimer);
    clearTimeout(this.gestureTimer);
    for (const widget of this.widgets) widget.destroy();
  }

  // ---- scenes ----

  receive(bytes, makeParts) {
    const unpacked = unpack(bytes);
    const { meta } = unpacked;
    const known = this.scene?.meta;
    if (known?.revision !== meta.revision) {
      this.takeScene(buildScene(unpacked), makeParts);
    } else {
      if (filmsOf(known) !== filmsOf(meta)) this.scene.films = buildScene(unpacked).films;
      this.scene.meta = meta;
    }
    this.leaving = false;
    if (JSON.stringify(meta.view) === JSON.stringify(this.sentView)) this.sentView = null;
    this.outbox = this.outbox.filter(({ serial }) => serial > (meta.acknowledged ?? Infinity));
    this.sendGestures(); // Python handles a gesture that arrives twice once
    this.takeReply(meta.reply);
    Object.assign(this.root.dataset, { without: (meta.without ?? []).join(" "), layout: meta.layout ?? "" });
    this.keepControls(meta.controls_open);
    this.setBusy(Boolean(meta.busy));
    this.theme = readTheme(this.root, meta.grammar);
    this.layout();
  }

  /** While another model is being trained, the picture is pale and without numbers, and cannot be edited. */
  setBusy(busy) {
    if (busy) this.pause();
    this.root.classList.toggle("busy", busy);
    this.root.inert = busy;
  }

  takeScene(scene, makeParts) {
    const before = this.scene;
    this.scene = scene;
    this.leaveEdits();
    const samePoints = before?.n === scene.n && before.points.every((value, i) => value === scene.points[i]);
    if (!samePoints || !scene.meta.keep_position) clearPainting(this.painting); // else it can still be trained on
    if (before) {
      carryOver(this.state, before, scene);
      if (!scene.meta.keep_position || !this.canPaint()) this.painting.active = false;
      if (!scene.meta.keep_position) this.scheduleView(); // replaces the epoch shown before, which Python may receive late
      if (scene.meta.autoplay && !this.reducedMotion.matches) this.play(0);
    } else {
      const resent = unconfirmedView?.key === viewKey(scene.meta) ? unconfirmedView.view : null;
      unconfirmedView = null;
      firstView(this.state, scene, resent ?? undefined);
      if (scene.meta.from_top) this.root.getRootNode().host?.closest('[data-testid="stMain"]')?.scrollTo({ top: 0 });
      if (resent) this.scheduleView();
      else this.lastView = JSON.stringify(viewOf(this.state, scene));
    }
    const keys = scene.panels.map((panel) => panel.key);
    if (this.panels.map((panel) => panel.key).join() !== keys.join()) this.buildPanels(makeParts);
  }

  buildPanels(makeParts) {
    for (const widget of this.widgets) widget.destroy();
    this.panels = this.scene.panels.map(({ key }) => createPanel(key, this));
    this.slot("panels").replaceChildren(...this.panels.map((panel) => panel.element));
    this.widgets = makeParts(this);
  }

  // ---- what is shown ----

  panelOf(key) {
    return this.scene.panels.find((panel) => panel.key === key);
  }

  /** Whether a panel's plane can be squeezed as its model measures distance; a lesson may leave that out. */
  squeezes(panel) {
    return Boolean(panel.squeeze) && !this.scene.meta.without?.includes("squeeze");
  }

  /** A panel as it is drawn: squeezed, where its model has learned a distance and the slider says so. */
  drawnPanel(key) {
    const panel = this.panelOf(key);
    return squeezed(this.scene, panel, this.squeezes(panel) ? this.state.squeeze : 0);
  }

  /** The model that a panel shows: moved by hand, from the film, or of the current frame. */
  shown(panel) {
    const { film, position } = this.state;
    const moved = this.moved.get(panel.key);
    if (moved) return moved;
    if (film?.panel === panel.key && this.scene.films[panel.key]) {
      return filmModel(this.scene, this.scene.films[panel.key], film.index);
    }
    return frameModel(panel, Math.floor(position));
  }

  visiblePanels() {
    return this.panels.filter((panel) => !this.state.hidden.has(panel.key));
  }

  viewportOf({ width, height }) {
    return viewport(this.state.camera, this.scene.meta.bounds, width, height);
  }

  cameraIsFitted() {
    return isFitted(this.state.camera, this.scene.meta.bounds);
  }

  /** Python's counts of the model on the screen, if it was moved by hand and they have arrived. */
  replyFor(key) {
    const { reply } = this.scene.meta;
    return reply && reply.panel === key && reply.token === this.moved.get(key)?.token ? reply : null;
  }

  /** Put Python's counts into the model moved by hand, which is then as exact as a recorded one. */
  takeReply(reply) {
    const model = reply && this.moved.get(reply.panel);
    if (model && model.token === reply.token && !model.counts) this.moved.set(reply.panel, countedModel(model, reply));
  }

  // ---- layout and drawing ----

  layout() {
    if (!this.scene) return;
    const { meta } = this.scene;
    const slot = this.slot("panels");
    const visible = this.visiblePanels();
    // Keep room for panels that are still being trained, so that nothing moves when they arrive.
    const coming = meta.coming ?? 0;
    const beside = coming + (this.state.enlarged ? visible.length - 1 : visible.length);
    const { columns, height } = panelSizes(slot.clientWidth, beside, meta.bounds, window.innerHeight, meta.tallest);
    slot.style.setProperty("--columns", columns);
    for (const panel of this.panels) panel.update(this.panelOf(panel.key), this.shown(this.panelOf(panel.key)));
    this.dpr = window.devicePixelRatio || 1;
    for (const panel of visible) {
      const width = panel.canvas.parentElement.clientWidth;
      if (width > 0) panel.resize(width, height(width), this.dpr);
    }
    // Now, not in the next frame: a resized canvas is empty and would flicker.
    this.stale = true;
    this.render(performance.now());
  }

  invalidate({ texts = true } = {}) {
    this.stale ||= texts;
    this.request ||= requestAnimationFrame((now) => this.render(now));
  }

  render(now) {
    cancelAnimationFrame(this.request);
    this.request = 0;
    if (!this.scene || !this.root.isConnected) return;
    if (this.dpr !== (window.devicePixelRatio || 1)) return this.layout();
    const frameBefore = Math.floor(this.state.position);
    if (this.state.playing) this.tick(now);
    const frame = Math.floor(this.state.position);
    const visible = this.visiblePanels().filter((panel) => panel.width > 0);
    const forceScale = this.commonForceScale(visible, frame);
    for (const panel of visible) drawPanel(panel.ctx, this.dpr, pictureOf(this, panel, frame, forceScale));
    this.root.framesDrawn += 1;
    if (this.stale || frame !== frameBefore) updatePage(this, frame, forceScale);
    if (visible.length) this.root.dataset.ready = "1";
    if (this.state.playing) this.invalidate({ texts: false });
  }

  tick(now) {
    const { state, scene } = this;
    const seconds = clamp((now - this.lastTick) / 1000, 0, LONGEST_TICK);
    this.lastTick = now;
    const next = advance(state.position, seconds, playRate(scene.F, state.speed), scene.F - 1);
    state.position = next.position;
    if (!next.finished) return;
    state.playing = false;
    this.stale = true;
    this.scheduleView();
  }

  commonForceScale(visible, frame) {
    if (!this.state.show.forces || !visible.length) return 0;
    const shown = visible.map((panel) => this.panelOf(panel.key));
    return forceScaleOf(shown, frame, this.viewportOf(visible[0]).scale);
  }

  // ---- playing ----

  play(from) {
    this.leaveEdits();
    this.state.position = from;
    this.state.playing = true;
    this.lastTick = performance.now();
    this.invalidate();
  }

  pause() {
    if (!this.state.playing) return;
    this.state.playing = false;
    this.state.position = Math.floor(this.state.position); // the frame whose numbers are shown
    this.invalidate();
  }

  togglePlay() {
    const { state, scene } = this;
    if (state.playing) {
      this.pause();
      this.scheduleView();
    } else {
      this.play(state.position >= scene.F - 1 ? 0 : state.position);
    }
  }

  seek(frame, finished = true) {
    this.pause();
    this.leaveEdits();
    this.state.position = clamp(Math.round(frame), 0, this.scene.F - 1);
    this.invalidate();
    if (finished) this.scheduleView();
  }

  step(by) {
    this.pause();
    this.seek(this.state.position + by);
  }

  keepExpander({ dataset, open }) {
    this.state.open[open ? "add" : "delete"](dataset.expander);
    this.scheduleView();
  }

  /** The page's own settings behind "More" are in the link as expanders of the stage are. */
  keepControls(open) {
    if (open === undefined || open === this.state.open.has("controls")) return;
    this.keepExpander({ dataset: { expander: "controls" }, open });
  }

  /** Change values of the view, draw it, and send it to Python; without values, after a gesture that has set some. */
  updateView(change = {}) {
    Object.assign(this.state, change);
    this.invalidate();
    this.scheduleView();
  }

  /** Another epoch is another model: drop what was moved by hand or shown from the film. */
  leaveEdits() {
    this.holding = null;
    this.moved.clear();
    this.history = [];
    this.state.film = null;
  }

  // ---- messages to Python ----

  /**
   * Send a finished gesture to Python. Streamlit drops a run, and its gesture, when another message arrives before the
   * run's callbacks have ended. So gestures are kept until a scene acknowledges their serial numbers (`acknowledged`),
   * and are sent again with the next gesture or when a scene arrives that does not.
   */
  post(gesture) {
    if (this.scene.meta.offline) return; // a file has no Python behind it
    this.leaving = false;
    lastSerial = Math.max(lastSerial + 1, 1000 * Date.now()); // also rises over remounts of the page
    this.outbox.push({ ...gesture, serial: lastSerial });
    this.sendGestures();
  }

  /**
   * Send what Python has not acknowledged; and again if no scene comes, because its run was replaced by one that has
   * nothing new to draw. The delay doubles each time, so that a slow run can end.
   */
  sendGestures(delay = RESEND_DELAY) {
    clearTimeout(this.gestureTimer);
    if (!this.outbox.length || !this.root.isConnected || this.leaving) return;
    this.send.gestures(this.outbox);
    this.gestureTimer = setTimeout(() => this.sendGestures(2 * delay), delay);
  }

  scheduleView() {
    clearTimeout(this.viewTimer);
    this.viewTimer = setTimeout(() => this.sendView(), VIEW_DELAY);
  }

  sendView() {
    clearTimeout(this.viewTimer);
    if (this.state.playing || this.holding || !this.root.isConnected) return;
    const view = viewOf(this.state, this.scene);
    const text = JSON.stringify(view);
    if (text === this.lastView) return;
    this.lastView = text;
    this.sentView = view;
    // Not by Python: Streamlit would add an entry to the browser's history, and Back must lead to other settings, not views.
    if (this.scene.meta.linked) history.replaceState(history.state, "", linkOf(location.href, view));
    this.send.view(view);
  }

  /**
   * Send the view before a link to another page is followed: at pointerdown or focus, because Streamlit delays messages, and
   * one that arrives after the click would request this page again and lead back to it. If the other page is requested before
   * this page's run has begun, Streamlit drops the view. So it is kept here until the page is entered again.
   */
  beforeLeaving(event) {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
    if (!this.scene || !link || new URL(link.href, location.href).pathname === location.pathname) return;
    this.leaving = event.type === "click";
    if (!this.leaving) {
      this.sendView();
      return;
    }
    clearTimeout(this.viewTimer);
    unconfirmedView = this.sentView && { key: viewKey(this.scene.meta), view: this.sentView };
  }
}
