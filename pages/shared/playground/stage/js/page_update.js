// Updates buttons, numbers, sentences and attributes after a picture was drawn.

import { modelSignature } from "./scene.js";
import { patchStyle } from "./dom.js";
import { percent } from "./format.js";
import { metricsOf } from "./metrics.js";
import { panelAlt } from "./sentences.js";

const ALT_DELAY = 300; // milliseconds: a screen reader cannot follow a new sentence per frame

export function updatePage(stage, frame, forceScale) {
  const { state, scene } = stage;
  stage.stale = false;
  stage.theme.classes.forEach((colour, k) => patchStyle(stage.root, `--fgs-class-${k}`, colour)); // of all glyphs
  const models = Object.fromEntries(scene.panels.map((panel) => [panel.key, stage.shown(panel)]));
  for (const view of stage.panels) view.update(stage.panelOf(view.key), models[view.key]);
  stage.toolbar.update();
  stage.paintbar.update();
  stage.legend.update(forceScale);
  const reply = scene.panels.map((panel) => stage.replyFor(panel.key)).find(Boolean);
  const view = {
    frame,
    selection: stage.holding ? null : state.selection,
    film: state.film,
    open: state.open,
    facts: stage.factsNow(),
  };
  placeSheet(stage, view.selection);
  for (const widget of stage.widgets) widget.update(scene, models, view);
  Object.assign(stage.root.dataset, {
    revision: scene.meta.revision,
    frame: String(frame),
    epoch: String(scene.meta.epochs[frame]),
    playing: state.playing ? "1" : "0",
    modelSignature: modelSignature(Object.values(models)),
    reply: reply ? String(reply.token) : "",
  });
  stage.requestFacts();
  clearTimeout(stage.altTimer);
  if (!state.playing) stage.altTimer = setTimeout(() => describe(stage, models), ALT_DELAY);
}

/** Put the card of a selection at the other side of the pictures, so that it does not cover what was picked. */
function placeSheet(stage, selection) {
  const sheet = stage.slot("sheet");
  sheet.hidden = !selection;
  if (!selection) return;
  const visible = stage.visiblePanels();
  const place = visible.findIndex((panel) => panel.key === selection.panel);
  sheet.classList.toggle("left", visible.length > 1 && place >= visible.length / 2);
}

function describe(stage, models) {
  for (const view of stage.panels) {
    const model = models[view.key];
    const share = stage.drawnPanel(view.key).squeezedBy;
    const measured = share ? `Squeezed by ${percent(share, 0)} to what the model measures: ${model.panel.squeeze.words}. ` : "";
    view.describe(`${panelAlt(stage.scene, model, metricsOf(stage.scene, model))} ${measured}` +
      (model.boxes ? "Press Enter to pick a leaf." : "Press Enter to pick a prototype, then alt and arrow keys to move it."));
  }
}
