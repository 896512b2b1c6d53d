// The present colours: Streamlit's theme from its CSS variables, classes from the scene's grammar.

const probe = document.createElement("canvas").getContext("2d");

/** [r, g, b] of any CSS colour, parsed by a canvas. */
function channels(colour) {
  probe.fillStyle = "#000";
  probe.fillStyle = colour;
  const text = probe.fillStyle;
  if (text.startsWith("#")) return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  return text.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function isDark(colour) {
  const [r, g, b] = channels(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

export function readTheme(element, grammar) {
  const style = getComputedStyle(element);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const background = read("--st-background-color", "#ffffff");
  const text = read("--st-text-color", "#31333f");
  const dark = isDark(background);
  const classes = grammar.classes.map((c) => (dark ? c.dark : c.light));
  return {
    key: `${background} ${text}`,
    background,
    text,
    primary: read("--st-primary-color", "#ff4b4b"),
    font: read("--st-font", "sans-serif"),
    classes,
    pale: grammar.classes.map((c) => (dark ? c.pale_dark : c.pale_light)),
    // Signs drawn on a class colour must stand out from it.
    onClass: classes.map((colour) => (isDark(colour) ? "#ffffff" : "#16181d")),
    // The class pull has the text colour, because it belongs to no single class.
    forces: { class: text, fair: dark ? "#ff7ab8" : "#c2185b", sum: dark ? "#7ee081" : "#1b7f2a" },
  };
}
