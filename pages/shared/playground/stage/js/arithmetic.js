// Arithmetic that several modules need.

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Index of the value nearest to the one wanted; the first of several. */
export function nearestIndex(values, wanted) {
  return values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);
}
