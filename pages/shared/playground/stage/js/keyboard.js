// Keys of the stage: space, arrows, r; and on a focused picture Enter, Tab and alt + arrows for its prototypes.

const NUDGES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
let latest = null; // the stage used last; it handles keys pressed outside of all stages

/** Whether a stage handles this event: not while a dialog is open or another model is being trained. */
function concerns(stage, event) {
  if (stage.root.inert || !stage.root.isConnected) return false;
  const path = event.composedPath();
  return path.includes(stage.root) || (latest === stage && !path.some((one) => one.getAttribute?.("role") === "dialog"));
}

const MOVED_BY_ARROWS = ["slider", "tab", "radio", "option", "menuitem", "gridcell", "treeitem"];

/** Whether a field or button uses this key itself. */
function usedByElement(target, key) {
  const tag = target.tagName;
  if (tag === "INPUT" && target.type === "range") return key.startsWith("Arrow");
  if (["INPUT", "SELECT", "TEXTAREA"].includes(tag) || target.isContentEditable) return true;
  const role = target.getAttribute?.("role");
  if (key.startsWith("Arrow")) return MOVED_BY_ARROWS.includes(role);
  return key === " " && (["BUTTON", "SUMMARY", "A"].includes(tag) || ["button", "radio", "checkbox"].includes(role));
}

export function attachKeyboard(stage, signal) {
  latest = stage;
  stage.root.addEventListener("pointerdown", () => (latest = stage), { signal, capture: true });
  window.addEventListener("keydown", (event) => {
    if (!concerns(stage, event) || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    const canvasPanel = target.dataset?.panel && target.tagName === "CANVAS" ? target.dataset.panel : null;
    if (!(canvasPanel && prototypeKey(stage, canvasPanel, event)) && !stageKey(stage, target, event)) return;
    event.preventDefault();
    event.stopPropagation(); // Streamlit reruns on "r"
  }, { signal, capture: true });
}

function stageKey(stage, target, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || usedByElement(target, event.key) || !stage.scene) return false;
  if (event.key === "Escape" && stage.state.selection) {
    stage.select(null);
    return true;
  }
  if (stage.scene.meta.without?.includes("bar")) return false; // without the bar nothing shows what the keys do
  switch (event.key) {
    case " ": stage.togglePlay(); return true;
    case "ArrowRight": stage.step(1); return true;
    case "ArrowLeft": stage.step(-1); return true;
    case "r": case "R": stage.seek(0); return true;
    default: return false;
  }
}

function prototypeKey(stage, key, event) {
  const { selection } = stage.state;
  const selected = selection?.kind === "prototype" && selection.panel === key ? selection.index : null;
  const select = (index) => {
    stage.select({ panel: key, kind: "prototype", index });
    const move = stage.movable(key) ? "Alt + arrows move it, " : "";
    stage.panels.find((view) => view.key === key).showHint(`${move}Tab picks the next, Esc lets go`);
  };
  const count = stage.shown(stage.panelOf(key)).labels.length;
  if (event.altKey && NUDGES[event.key] && selected !== null && stage.movable(key)) {
    stage.nudge(key, selected, NUDGES[event.key], event.shiftKey ? 5 : 1);
    return true;
  }
  if (event.key === "Enter") {
    select(selected === null ? 0 : (selected + 1) % count);
    return true;
  }
  if (event.key === "Tab" && selected !== null) {
    const next = selected + (event.shiftKey ? -1 : 1);
    if (next < 0 || next >= count) return false; // at either end the focus moves on as usual
    select(next);
    return true;
  }
  return false;
}
