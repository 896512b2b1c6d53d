// Points are drawn once per camera, theme and filter into a canvas of their own, which panels of the same size share.
// Thousands of drawImage calls take 50 ms where there is no graphics card; stamping pixels by hand takes 5.

import { clamp } from "./arithmetic.js";
import { toScreen } from "./camera.js";
import { foldPoint } from "./geometry.js";
import { pointSprite } from "./marks.js";
import { pointsOf } from "./scene.js";

const MOST_LAYERS = 6;
const MOST_SPRITES = 200;

/** Radius that keeps points of a crowded panel apart, but large enough to distinguish shapes. */
function pointRadius(vp, n) {
  const spacing = Math.sqrt((vp.width * vp.height) / Math.max(1, n));
  return clamp(0.42 * spacing * Math.max(1, vp.zoom) ** 0.4, 2.8, 6);
}

/** Lay a sprite (ImageData) over an image with its upper left corner at (left, top): the usual "over", pixel by pixel. */
export function stamp(image, sprite, left, top) {
  const { data: to, width, height } = image;
  const { data: from, width: side } = sprite;
  const firstX = Math.max(0, -left), lastX = Math.min(side, width - left);
  const lastY = Math.min(sprite.height, height - top);
  for (let y = Math.max(0, -top); y < lastY; y++) {
    let a = 4 * (y * side + firstX);
    let b = 4 * ((top + y) * width + left + firstX);
    for (let x = firstX; x < lastX; x++, a += 4, b += 4) {
      const alpha = from[a + 3];
      if (alpha === 0) continue;
      const under = alpha === 255 ? 0 : (to[b + 3] * (255 - alpha)) / 255;
      const total = alpha + under;
      to[b] = (from[a] * alpha + to[b] * under) / total;
      to[b + 1] = (from[a + 1] * alpha + to[b + 1] * under) / total;
      to[b + 2] = (from[a + 2] * alpha + to[b + 2] * under) / total;
      to[b + 3] = total;
    }
  }
}

export function createPointLayers() {
  const layers = new Map(); // key -> canvas, oldest first
  const sprites = new Map();

  /** The sprite of class k, group g in a style ("train", "held" or "painted"). */
  function spriteTable(scene, theme, r, dpr) {
    const { groups } = scene.meta.grammar;
    const prefix = `${theme.key} ${r.toFixed(2)} ${dpr}`;
    return (k, g, style) => {
      const name = `${prefix} ${theme.classes[k]} ${groups[g]} ${style}`;
      let sprite = sprites.get(name);
      if (!sprite) {
        const painted = style === "painted";
        sprite = pointSprite(groups[g], theme.classes[k], {
          hollow: style === "held", r: painted ? r + 1 : r, dpr, background: theme.background, ring: painted ? theme.text : null,
        });
        sprites.set(name, sprite);
      }
      return sprite;
    };
  }

  function paint(canvas, scene, vp, dpr, theme, { panel, show, fold, painted }) {
    canvas.width = Math.round(vp.width * dpr);
    canvas.height = Math.round(vp.height * dpr);
    const ctx = canvas.getContext("2d");
    const image = ctx.createImageData(canvas.width, canvas.height);
    const { y, s, heldOut, n } = scene;
    const points = pointsOf(scene, panel);
    const find = spriteTable(scene, theme, pointRadius(vp, n), dpr);
    const table = scene.meta.classes.map((_, k) => scene.meta.groups.map((__, g) => ({
      train: find(k, g, "train"), held: find(k, g, "held"), painted: find(k, g, "painted"),
    })));
    const firstPainted = n - (scene.meta.painted ?? 0);
    const put = (px, py, sprite) => {
      const half = sprite.width / 2;
      const [sx, sy] = toScreen(vp, px, py);
      stamp(image, sprite, Math.round(sx * dpr - half), Math.round(sy * dpr - half));
    };
    for (let i = 0; i < n; i++) {
      const held = heldOut[i] === 1;
      if (!(held ? show.heldOut : show.points) || painted.erased.has(i)) continue;
      let px = points[2 * i], py = points[2 * i + 1];
      if (fold > 0) [px, py] = foldPoint(px, py, panel.line, fold);
      put(px, py, table[y[i]][s[i]][held ? "held" : i >= firstPainted ? "painted" : "train"]);
    }
    for (const [px, py, k, g] of painted.added) put(...(panel.toDrawn?.(px, py) ?? [px, py]), table[k][g].painted);
    ctx.putImageData(image, 0, 0);
  }

  return {
    /** The canvas with the points for one viewport; drawn only if it is not cached. */
    get(scene, vp, dpr, theme, options) {
      const { panel, show, fold, painted } = options;
      const key = [
        scene.meta.revision, vp.width, vp.height, dpr, vp.cx, vp.cy, vp.scale, theme.key,
        show.points, show.heldOut, fold, painted.version, panel.points ? panel.key : "", panel.squeezedBy ?? 0,
      ].join(" ");
      let canvas = layers.get(key);
      if (canvas) return canvas;
      if (layers.size >= MOST_LAYERS) {
        const [oldest, reused] = layers.entries().next().value;
        layers.delete(oldest);
        canvas = reused;
      } else {
        canvas = document.createElement("canvas");
      }
      if (sprites.size > MOST_SPRITES) sprites.clear();
      paint(canvas, scene, vp, dpr, theme, options);
      layers.set(key, canvas);
      return canvas;
    },
  };
}
