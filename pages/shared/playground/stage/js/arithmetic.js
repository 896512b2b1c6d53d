// Arithmetic that several modules need.

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Index of the value nearest to `target`; the first of several. */
export function nearestIndex(values, target) {
  return values.reduce((best, value, i) => (Math.abs(value - target) < Math.abs(values[best] - target) ? i : best), 0);
}
