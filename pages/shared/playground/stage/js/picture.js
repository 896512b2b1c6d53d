// What one panel's picture shows now, as plain data for draw.js.

import { modelFor, rivals } from "./rivals.js";
import { betweenFrames, drawnPlaces, pointsOf } from "./scene.js";

export function pictureOf(stage, view, frame, forceScale) {
  const { state, scene, theme, painting, holding } = stage;
  const { selection, show } = state;
  const panel = stage.drawnPanel(view.key);
  const trained = stage.shown(stage.panelOf(view.key));
  const model = { ...trained, panel };
  const vp = stage.viewportOf(view);
  const moving = state.playing && model.source === "frame" && !model.boxes && !stage.reducedMotion.matches; // nothing lies between two splits
  const W = moving ? betweenFrames(panel, state.position) : model.W;
  const fold = panel.line ? state.fold : 0;
  const ownPrototype = selection?.kind === "prototype" && selection.panel === view.key ? selection.index : null;
  return {
    vp, theme, model, W, frame, moving, forceScale, show,
    positions: drawnPlaces(panel.space, W),
    grammar: scene.meta.grammar,
    favourable: scene.meta.favourable,
    axes: panel.axes,
    pointLayer: show.points || show.heldOut || painting.added.length
      ? stage.layers.get(scene, vp, stage.dpr, theme, { panel, show, fold, painted: painting })
      : null,
    selected: holding?.key === view.key ? holding.index : ownPrototype,
    rivals: selection?.kind === "point" && !fold ? rivalLines(stage, trained, panel, selection.index) : null,
  };
}

/**
 * A selected point, its two rival prototypes, and the nearest place where it would be decided otherwise, nearest in the
 * plane before squeezing.
 */
function rivalLines(stage, model, drawnPanel, index) {
  const { scene } = stage;
  const known = modelFor(scene, model, index, stage.factsNow());
  const { plus, minus, flip } = known ? rivals(scene, known, index) : { plus: null, minus: null, flip: null };
  return {
    point: pointsOf(scene, drawnPanel).subarray(2 * index, 2 * index + 2),
    prototypes: [plus, minus].filter((j) => j !== null),
    flip: flip && (drawnPanel.toDrawn?.(flip.x, flip.y) ?? [flip.x, flip.y]),
  };
}
