// One scale for all arrows of a frame, so that panels and prototypes can be compared.

const LONGEST = 70; // pixels; the longest arrow of the frame ends between this and two fifths of it

/** What moves each prototype of a panel's frame, as vectors of the plane: [{ class, fair, sum }, ...]; [] for leaves. */
export function pullsOf({ P, pullClass, pullFair, space }, frame) {
  if (!pullClass) return [];
  return Array.from({ length: P }, (_, j) => {
    const at = 2 * (frame * P + j);
    const [cx, cy] = [pullClass[at], pullClass[at + 1]];
    const [fx, fy] = [pullFair[at], pullFair[at + 1]];
    return { class: space.toPlaneVector(cx, cy), fair: space.toPlaneVector(fx, fy), sum: space.toPlaneVector(cx + fx, cy + fy) };
  });
}

/** Largest number of the form 1, 2 or 5 times a power of ten that is not above the value. */
export function roundDown125(value) {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-12);
  const digit = value / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/** How many times longer than in the plane the arrows of this frame are drawn; 0 if nothing pulls. */
export function forceScaleOf(panels, frame, pixelsPerUnit) {
  const pulls = panels.flatMap((panel) => pullsOf(panel, frame)).flatMap(Object.values);
  const longest = Math.max(0, ...pulls.map((pull) => Math.hypot(...pull)));
  return longest > 0 ? roundDown125(LONGEST / (longest * pixelsPerUnit)) : 0;
}
