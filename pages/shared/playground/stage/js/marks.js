// The marks of the grammar on a canvas: points, prototypes, arrows, labels. Sizes are CSS pixels.

const paths = new Map(); // path data -> Path2D

/** Run `paint(path)` with a shape (path data of the grammar) of radius r around (x, y); line widths stay in pixels. */
function placed(shape, x, y, r, paint) {
  if (!paths.has(shape)) paths.set(shape, new Path2D(shape));
  const path = new Path2D();
  path.addPath(paths.get(shape), new DOMMatrix([r, 0, 0, r, x, y]));
  paint(path);
}

/** The pixels of one point mark (ImageData): filled for training, hollow for held-out points. */
export function pointSprite(shape, colour, { hollow, r, dpr, background, ring }) {
  const half = Math.ceil((r + 2) * dpr);
  const sprite = document.createElement("canvas");
  sprite.width = sprite.height = 2 * half;
  const ctx = sprite.getContext("2d", { willReadFrequently: true });
  ctx.scale(dpr, dpr);
  ctx.lineJoin = "round";
  placed(shape, half / dpr, half / dpr, r, (path) => {
    if (hollow) {
      ctx.fillStyle = background;
      ctx.globalAlpha = 0.55;
      ctx.fill(path);
      ctx.globalAlpha = 1;
      ctx.lineWidth = Math.max(1.1, r * 0.34);
      ctx.strokeStyle = colour;
      ctx.stroke(path);
    } else {
      ctx.fillStyle = colour;
      ctx.fill(path);
      ctx.lineWidth = ring ? 1.6 : 0.7;
      ctx.strokeStyle = ring ?? background;
      ctx.stroke(path);
    }
  });
  return ctx.getImageData(0, 0, 2 * half, 2 * half);
}

/** A prototype: class colour inside, outline shape of its pseudo-class, + for the favourable decision and − for others. */
export function drawPrototype(ctx, x, y, { shape, fill, sign, signColour, theme, r, selected, flash }) {
  ctx.lineJoin = "round";
  if (flash > 0) {
    ctx.globalAlpha = flash;
    placed(shape, x, y, r + 3 + 9 * (1 - flash), (path) => {
      ctx.lineWidth = 3;
      ctx.strokeStyle = theme.primary;
      ctx.stroke(path);
    });
    ctx.globalAlpha = 1;
  }
  placed(shape, x, y, r, (path) => {
    ctx.lineWidth = selected ? 9 : 6;
    ctx.strokeStyle = selected ? theme.primary : theme.background;
    ctx.stroke(path);
    ctx.fillStyle = fill;
    ctx.fill(path);
    ctx.lineWidth = 2.2;
    ctx.strokeStyle = theme.text;
    ctx.stroke(path);
  });
  const arm = r * 0.42;
  ctx.strokeStyle = signColour;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x - arm, y);
  ctx.lineTo(x + arm, y);
  if (sign === "+") {
    ctx.moveTo(x, y - arm);
    ctx.lineTo(x, y + arm);
  }
  ctx.stroke();
}

/** An arrow from (x, y) along (dx, dy), unless it is too short to show a direction. */
export function drawArrow(ctx, x, y, dx, dy, { colour, width, dash = [], halo }) {
  const length = Math.hypot(dx, dy);
  if (length < 2) return;
  const head = Math.min(9, length, 3 + length / 4);
  const ux = dx / length, uy = dy / length;
  const tipX = x + dx, tipY = y + dy;
  const backX = tipX - head * ux, backY = tipY - head * uy;
  const shaft = () => {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(backX, backY);
    ctx.stroke();
  };
  const tip = () => {
    ctx.beginPath();
    ctx.moveTo(tipX, tipY);
    ctx.lineTo(backX - 0.55 * head * uy, backY + 0.55 * head * ux);
    ctx.lineTo(backX + 0.55 * head * uy, backY - 0.55 * head * ux);
    ctx.closePath();
  };
  ctx.lineJoin = "round";
  ctx.setLineDash([]);
  ctx.strokeStyle = halo;
  ctx.lineWidth = width + 2.5;
  shaft();
  tip();
  ctx.stroke();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  shaft();
  ctx.setLineDash([]);
  tip();
  ctx.fill();
}

const labelFont = (theme, size) => `600 ${size}px ${theme.font}`;

export function labelWidth(ctx, text, theme, size) {
  ctx.font = labelFont(theme, size);
  return ctx.measureText(text).width;
}

/** Text with a rim of the background colour, so that it can be read over anything. */
export function drawLabel(ctx, text, x, y, theme, { align = "left", size = 12, widest = undefined } = {}) {
  ctx.font = labelFont(theme, size);
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = theme.background;
  ctx.strokeText(text, x, y, widest);
  ctx.fillStyle = theme.text;
  ctx.fillText(text, x, y, widest);
}
