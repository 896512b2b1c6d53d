// Pointer events on a canvas as gestures: grab, drag, drop, pan, zoom, tap, brush. Independent of models.

import { clamp } from "./arithmetic.js";

const CLICK_SLACK = 4; // pixels that the pointer may move during a click

/**
 * `act`: { brushes() -> bool, hit(x, y, touch) -> prototype or -1, grab(j), drag(x, y), drop(moved), pan(dx, dy), zoom(x, y, factor),
 * settle(), tap(x, y, touch), reset(), brush(x, y, first), hover(x, y), wheelZooms(event) -> bool }.
 * All places are CSS pixels of the canvas. `signal` ends it.
 */
export function attachGestures(canvas, act, signal) {
  const pointers = new Map();
  let mode = null; // "drag" | "pan" | "tap" | "pinch" | "brush"
  let start = null;
  let offset = null; // from the pointer to the middle of what it grabbed
  let moved = false;
  let pinch = null;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const listen = (name, handler, options = {}) => canvas.addEventListener(name, handler, { signal, ...options });

  function pinchState() {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, spread: Math.hypot(ax - bx, ay - by) || 1 };
  }

  function finish() {
    if (mode === "drag") act.drop(moved);
    if (mode === "pan" && moved) act.settle();
    if (mode === "pinch") act.settle();
    mode = null;
    canvas.classList.remove("grabbing");
  }

  listen("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = place(event);
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size === 2) {
      finish();
      mode = "pinch";
      pinch = pinchState();
      return;
    }
    if (pointers.size > 2) return;
    start = [x, y];
    moved = false;
    const touch = event.pointerType === "touch";
    const target = act.brushes() ? -1 : act.hit(x, y, touch);
    if (act.brushes()) mode = "brush";
    else if (target >= 0) mode = "drag";
    else mode = touch ? "tap" : "pan"; // one finger beside the prototypes scrolls the page
    if (mode === "drag") offset = act.grab(target, x, y);
    if (mode === "brush") act.brush(x, y, true);
    if (mode !== "tap") canvas.setPointerCapture(event.pointerId);
    canvas.classList.toggle("grabbing", mode === "drag" || mode === "pan");
  });

  listen("pointermove", (event) => {
    const [x, y] = place(event);
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch") act.hover(x, y);
      return;
    }
    const [lastX, lastY] = pointers.get(event.pointerId);
    pointers.set(event.pointerId, [x, y]);
    if (mode === "pinch") {
      const now = pinchState();
      act.pan(now.x - pinch.x, now.y - pinch.y);
      act.zoom(now.x, now.y, now.spread / pinch.spread);
      pinch = now;
      return;
    }
    if (!moved && Math.hypot(x - start[0], y - start[1]) < CLICK_SLACK && mode !== "brush") return;
    moved = true;
    if (mode === "drag") act.drag(x + offset[0], y + offset[1]);
    if (mode === "pan") act.pan(x - lastX, y - lastY);
    if (mode === "brush") act.brush(x, y, false);
  });

  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    const clicked = event.type === "pointerup" && !moved && mode !== "brush" && mode !== "pinch" && mode !== null;
    finish();
    if (clicked) act.tap(...place(event), event.pointerType === "touch");
  };
  listen("pointerup", release);
  listen("pointercancel", release);

  // touch-action lets one finger scroll; only a cancelled touchstart keeps a grabbed prototype from scrolling the page.
  listen("touchstart", (event) => {
    const [x, y] = place(event.touches[0]);
    if (event.touches.length > 1 || act.brushes() || act.hit(x, y, true) >= 0) event.preventDefault();
  }, { passive: false });

  listen("wheel", (event) => {
    if (!act.wheelZooms(event)) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 33 * event.deltaY : event.deltaY;
    act.zoom(...place(event), Math.exp(-clamp(pixels, -120, 120) * (event.ctrlKey ? 0.01 : 0.002)));
    act.settle();
  }, { passive: false });

  listen("dblclick", (event) => {
    if (!act.brushes() && act.hit(...place(event), false) < 0) act.reset();
  });
  listen("pointerleave", () => act.hover(-1, -1));
}
