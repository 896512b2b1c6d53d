// Numbers as text.

export const NOTHING = "–"; // shown where nobody is counted, instead of NaN or 0

export const percent = (value, digits = 1) => (value === null ? NOTHING : `${(100 * value).toFixed(digits)}%`);
export const gapPoints = (value) => (value === null ? NOTHING : `${(100 * value).toFixed(1)} points`);
// toLocaleString would look up the locale on every call, a hundred times a frame.
export const whole = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
export const plural = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;
export const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

/** A strength with its unit: "C = 1.5", "gap ≤ 5 points". */
export function strengthText(knob, value) {
  if (value === null || value === undefined) return "";
  return knob === "max_gap" ? `gap ≤ ${plural(Number((100 * value).toPrecision(3)), "point")}` : `C = ${number(value)}`;
}

/** Few digits, a true minus sign. */
export function number(value, digits = 3) {
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}
