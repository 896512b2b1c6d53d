// What a visitor does to the stage beyond playing: zoom, select, move prototypes, paint, pick a strength, undo, share.

import { fitCamera, markOnScreen, panBy, toPlane, zoomAt } from "./camera.js";
import { attachGestures } from "./gestures.js";
import { beginStroke, clearPainting, hasPaint, paintGesture, strokeTo, undoStroke } from "./painting.js";
import { pointAt, prototypeAt } from "./picking.js";
import { draggedModel } from "./metrics.js";
import { countsDrawn, drawnPlaces, nameOf, pointsOf } from "./scene.js";
import { Stage } from "./app.js";
import { copyText, linkOf, viewOf } from "./view.js";

const NUDGE = 0.01; // of the picture's width
const NUDGE_REST = 350; // milliseconds without a key until a nudge counts as dropped
const FACTS_DELAY = 150; // milliseconds without a change until facts about a selection are requested from Python
let nextToken = Math.floor(Math.random() * 1e6) * 1000; // random, so that replies to an earlier page do not match

/** A stage that answers to pointers, keys and buttons. */
export class LiveStage extends Stage {
  // ---- looking ----

  toggleShow(name) {
    this.state.show[name] = !this.state.show[name];
    this.viewChanged();
  }

  togglePanel(key) {
    const { hidden } = this.state;
    if (hidden.has(key)) hidden.delete(key);
    else if (this.visiblePanels().length > 1) hidden.add(key);
    else this.toolbar.showStatus("One picture has to stay.");
    if (hidden.has(this.state.enlarged)) this.state.enlarged = null;
    this.viewChanged();
  }

  enlarge(key) {
    this.state.enlarged = this.state.enlarged === key ? null : key;
    this.viewChanged();
  }

  viewChanged() {
    this.layout();
    this.scheduleView();
  }

  setSqueeze(squeeze) {
    this.endNudge();
    this.updateView({ squeeze });
  }

  resetCamera() {
    this.updateView({ camera: fitCamera(this.scene.meta.bounds) });
  }

  moveCamera(camera) {
    this.state.camera = camera;
    this.invalidate({ texts: false });
  }

  select(selection) {
    this.endNudge();
    this.state.selection = selection;
    this.invalidate();
  }

  async share() {
    const link = linkOf(location.href, viewOf(this.state, this.scene));
    const leftOut = this.leftOut();
    const copied = leftOut ? `Link copied, but not all of it: ${leftOut}` : "Link copied";
    this.toolbar.showStatus((await copyText(link, this.root)) ? copied : "The browser does not allow copying");
    clearTimeout(this.statusTimer);
    this.statusTimer = setTimeout(() => this.toolbar.showStatus(""), leftOut ? 12000 : 4000);
  }

  /** What a link to this picture leaves out, in words; "" if nothing. */
  leftOut() {
    const paint = hasPaint(this.painting) && "Points that are painted or erased but not trained on yet are left out.";
    const moved = this.moved.size > 0 && "Prototypes moved by hand are left out until you train on from there.";
    return [this.scene.meta.left_out, paint, moved].filter(Boolean).join(" ");
  }

  // ---- finding what is under a pointer ----

  /** Where the prototypes of a panel are drawn. */
  positionsOf(key) {
    return drawnPlaces(this.drawnPanel(key).space, this.shown(this.panelOf(key)).W);
  }

  prototypeAt(view, x, y, touch) {
    return prototypeAt(this.positionsOf(view.key), this.viewportOf(view), x, y, touch ? 14 : 4);
  }

  /** Whether a panel's prototypes can be moved; the leaves of a tree cannot, and a lesson may forbid it. */
  movable(key) {
    return !this.panelOf(key).boxes && !this.scene.meta.without?.includes("drag");
  }

  pointAt(view, x, y, touch) {
    const { show, fold } = this.state;
    const panel = this.drawnPanel(view.key);
    const seen = { show, fold, erased: this.painting.erased, line: panel.line };
    return pointAt(this.scene, pointsOf(this.scene, panel), this.viewportOf(view), x, y, touch ? 16 : 8, seen);
  }

  /** Pointer gestures of one panel. */
  listenTo(view) {
    attachGestures(view.canvas, {
      brushes: () => this.painting.active,
      hit: (x, y, touch) => (this.movable(view.key) ? this.prototypeAt(view, x, y, touch) : -1),
      grab: (j, x, y) => this.grab(view, j, x, y),
      drag: (x, y) => this.moveTo(...toPlane(this.viewportOf(view), x, y)),
      drop: (moved) => this.drop(moved),
      pan: (dx, dy) => this.moveCamera(panBy(this.state.camera, this.viewportOf(view), dx, dy)),
      zoom: (x, y, factor) => this.moveCamera(zoomAt(this.state.camera, this.viewportOf(view), x, y, factor)),
      settle: () => this.updateView(),
      tap: (x, y, touch) => this.tap(view, x, y, touch),
      reset: () => this.resetCamera(),
      brush: (x, y, first) => this.brush(view, x, y, first),
      hover: (x, y) => {
        const over = !this.painting.active && this.movable(view.key) && this.prototypeAt(view, x, y, false) >= 0;
        view.canvas.classList.toggle("over", over);
        const counted = !this.scene.meta.offline || countsDrawn(this.scene, this.panelOf(view.key));
        if (over && !this.dragHintShown) view.showHint(`Drag a prototype: its cell ${counted ? "and all numbers follow" : "follows"}`);
        this.dragHintShown ||= over;
      },
      // The wheel scrolls the page, and zooms only after a click into the picture or with Ctrl.
      wheelZooms: (event) => {
        const zooms = event.ctrlKey || event.metaKey || this.root.getRootNode().activeElement === view.canvas;
        if (!zooms) view.showHint("Click first, or hold Ctrl, to zoom with the wheel");
        return zooms;
      },
    }, this.ending.signal);
  }

  tap(view, x, y, touch) {
    const prototype = this.prototypeAt(view, x, y, touch);
    if (prototype >= 0) return this.select({ panel: view.key, kind: "prototype", index: prototype });
    const point = this.pointAt(view, x, y, touch);
    this.select(point >= 0 ? { panel: view.key, kind: "point", index: point } : null);
  }

  // ---- moving a prototype ----

  grab(view, index, x, y) {
    this.pause();
    this.endNudge();
    this.hold(view.key, index);
    const [sx, sy] = markOnScreen(this.viewportOf(view), this.positionsOf(view.key), index);
    return [sx - x, sy - y];
  }

  hold(key, index) {
    this.holding = { key, index, before: this.moved.get(key) ?? null };
    this.invalidate();
  }

  /** Move the prototype held to a place of the picture. */
  moveTo(x, y) {
    const { key, index } = this.holding;
    const model = this.shown(this.panelOf(key));
    const [px, py] = this.drawnPanel(key).toData?.(x, y) ?? [x, y];
    this.moved.set(key, draggedModel(this.scene, model, index, px, py));
    this.invalidate();
  }

  drop(wasMoved) {
    const move = this.holding;
    this.holding = null;
    this.invalidate();
    if (!wasMoved) return;
    if (!move.goesOn) this.history.push(move);
    this.measure(move.key, move.index);
  }

  /** Have a model moved by hand counted by Python. */
  measure(key, index) {
    const model = this.moved.get(key);
    model.token = ++nextToken;
    this.post({
      kind: "drag", token: model.token, panel: key, prototype: index, model: nameOf(model), pseudo: [...model.pseudo],
    });
  }

  nudge(key, index, [dx, dy], times) {
    this.pause();
    if (!this.holding) {
      const last = this.history.at(-1);
      this.hold(key, index);
      Object.assign(this.holding, { nudged: true, goesOn: last?.nudged && last.key === key && last.index === index });
    }
    const [x0, , x1] = this.scene.meta.bounds;
    const step = (times * NUDGE * (x1 - x0)) / this.state.camera.zoom;
    const positions = this.positionsOf(key);
    this.moveTo(positions[2 * index] + dx * step, positions[2 * index + 1] + dy * step);
    clearTimeout(this.nudgeTimer);
    this.nudgeTimer = setTimeout(() => this.dropNudged(), NUDGE_REST);
  }

  dropNudged() {
    clearTimeout(this.nudgeTimer);
    if (this.holding?.nudged) this.drop(true);
  }

  /** All keys up to here are one move in the history; the next key begins another. */
  endNudge() {
    this.dropNudged();
    const last = this.history.at(-1);
    if (last) last.nudged = false;
  }

  continueFrom(key) {
    const model = this.moved.get(key);
    if (model) this.post({ kind: "continue", panel: key, model: nameOf(model) });
  }

  // ---- facts about a selection ----

  /** The request for facts that only Python can compute, on a slice that hides most dimensions; null if none is needed. */
  factsRequest() {
    const { scene, state: { selection, playing } } = this;
    if (!scene.meta.slice || scene.meta.offline || !selection || playing || this.holding) return null;
    const shown = scene.panels.map((panel) => [panel.key, this.shown(panel)]);
    const models = Object.fromEntries(shown.map(([key, model]) => [key, nameOf(model)]));
    const names = shown.map(([, { frame, filmIndex, token }]) => [frame, filmIndex, token]);
    return { ...selection, models, key: JSON.stringify([scene.meta.revision, selection, names]) };
  }

  /** Request facts once nothing has changed for a moment. */
  requestFacts() {
    const request = this.factsRequest();
    if (!request || request.key === this.requested) return;
    clearTimeout(this.factsTimer);
    this.requested = request.key;
    this.factsTimer = setTimeout(() => {
      if (this.factsRequest()?.key !== request.key || !this.root.isConnected) {
        this.requested = null; // something moved meanwhile
        return;
      }
      this.post({ ...request, subject: request.kind, kind: "facts" });
    }, FACTS_DELAY);
  }

  /** Python's facts about the present selection and models, or null. */
  factsNow() {
    const { facts } = this.scene.meta;
    return facts && facts.key === this.factsRequest()?.key ? facts : null;
  }

  // ---- a strength as a film ----

  /** `keyed`: by arrow keys, of which the next one may follow at once. */
  pickStrength(key, index, finished, keyed = false) {
    const { panel, knob, values } = this.scene.films[key];
    this.pause();
    clearTimeout(this.strengthTimer);
    this.endNudge();
    this.moved.delete(key);
    this.state.film = { panel: key, index };
    this.invalidate();
    if (!finished) return;
    if (values[index] === panel.strength) {
      this.state.film = null; // the film's picture is the one already trained
      return;
    }
    const post = () => this.post({ kind: "strength", name: knob, value: values[index] });
    if (keyed) this.strengthTimer = setTimeout(post, NUDGE_REST);
    else post();
  }

  // ---- painting ----

  canPaint() {
    const { slice, offline } = this.scene.meta;
    return !slice && !offline; // a point on a slice has no other coordinates, and a file cannot train
  }

  togglePaint() {
    this.pause();
    this.painting.active = !this.painting.active;
    Object.assign(this.state, { fold: 0, squeeze: 0 }); // painted points appear where they are
    this.viewChanged();
  }

  setPaintTool(choice) {
    Object.assign(this.painting, choice);
    this.invalidate();
  }

  brush(view, x, y, first) {
    if (first) beginStroke(this.painting);
    const vp = this.viewportOf(view);
    strokeTo(this.painting, this.scene, ...toPlane(vp, x, y), vp.scale, this.state.show);
    this.invalidate();
  }

  trainOnPaint() {
    if (hasPaint(this.painting)) this.post(paintGesture(this.painting));
  }

  discardPaint() {
    clearPainting(this.painting);
    this.invalidate();
  }

  // ---- undo ----

  canUndo() {
    const strokes = this.painting.active && this.painting.strokes.length > 0;
    return strokes || this.history.length > 0 || this.scene.meta.can_undo;
  }

  undo() {
    if (this.painting.active && undoStroke(this.painting)) return this.invalidate();
    if (this.putBack()) return undefined;
    return this.post({ kind: "undo" });
  }

  /** Take the last move of a prototype back; false if there was none. */
  putBack() {
    this.endNudge();
    const move = this.history.pop();
    if (!move) return false;
    const { key, index, before } = move;
    if (before) this.moved.set(key, before);
    else this.moved.delete(key);
    if (before && !before.counts) this.measure(key, index); // moved on before Python had answered
    this.invalidate();
    return true;
  }
}
