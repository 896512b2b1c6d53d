// The component's entry. Streamlit calls it after every rerun with the same elements. The stage is kept on the root element,
// not in this module: after an edit of its files the server sends the module again, and there must be one stage per root.

import { createCard } from "./cards.js";
import { LiveStage } from "./edits.js";
import { attachKeyboard } from "./keyboard.js";
import { createChangedDecisions } from "./changed_decisions.js";
import { createReadout, createReadoutNotes } from "./readout.js";
import { createPrototypeTable } from "./table.js";
import { createTimeline } from "./timeline.js";
import { createTradeoff } from "./tradeoff.js";

/** Widgets of a stage; made anew only when its panels change. */
function makeParts(stage) {
  for (const view of stage.panels) stage.listenTo(view);
  return [
    ...stage.panels.map((view) => createReadout(view.readout, view.key)),
    createReadoutNotes(stage.slot("notes")),
    createTimeline(stage.slot("timeline"), stage),
    createTradeoff(stage.slot("tradeoff"), stage),
    createChangedDecisions(stage.slot("changed-decisions")),
    createCard(stage.slot("card"), stage),
    createPrototypeTable(stage.slot("table"), stage),
  ];
}

/** Keep Streamlit from fading the stage while a script runs: its picture plays on and is not out of date. */
function stayBright(shadow) {
  shadow.host?.closest?.('[data-testid="stElementContainer"]')?.style.setProperty("opacity", "1", "important");
}

function firstStage(root, send, parentElement) {
  const stage = new LiveStage(root, send);
  attachKeyboard(stage, stage.ending.signal);
  stayBright(parentElement);
  return stage;
}

export default function mountStage({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".stage");
  if (!root || !data) return undefined;
  const send = {
    gestures: (value) => setTriggerValue("gestures", value),
    view: (value) => setStateValue("view", value),
  };
  const entry = (root.fairglvqStage ??= { stage: firstStage(root, send, parentElement), generation: 0 });
  entry.generation += 1;
  entry.stage.send = send;
  entry.stage.receive(data, makeParts);
  const mine = entry.generation;
  return () => {
    // Streamlit also cleans up after a newer call, while the canvas is still mounted.
    if (mine !== entry.generation || root.isConnected) return;
    entry.stage.destroy();
    delete root.fairglvqStage;
  };
}
