// One scale for all arrows of a frame, so that panels and prototypes can be compared by eye.

const LONGEST = 70; // pixels; the longest arrow of the frame ends between this and two fifths of it

/** Largest pull or sum of a panel's frame, in plane units. */
function longestPull(panel, frame) {
  const { P, pullClass, pullFair, space } = panel;
  if (!pullClass) return 0;
  let longest = 0;
  for (let at = 2 * frame * P; at < 2 * (frame + 1) * P; at += 2) {
    const cx = pullClass[at], cy = pullClass[at + 1];
    const fx = pullFair ? pullFair[at] : 0, fy = pullFair ? pullFair[at + 1] : 0;
    for (const [x, y] of [[cx, cy], [fx, fy], [cx + fx, cy + fy]]) {
      longest = Math.max(longest, Math.hypot(...space.toPlaneVector(x, y)));
    }
  }
  return longest;
}

/** Largest number of the form 1, 2 or 5 times a power of ten that is not above the value. */
export function roundDown125(value) {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-12);
  const digit = value / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/** How many times longer than in the plane the arrows of this frame are drawn; 0 if nothing pulls. */
export function forceScaleOf(panels, frame, pixelsPerUnit) {
  const longest = Math.max(0, ...panels.map((panel) => longestPull(panel, frame)));
  return longest > 0 ? roundDown125(LONGEST / (longest * pixelsPerUnit)) : 0;
}
