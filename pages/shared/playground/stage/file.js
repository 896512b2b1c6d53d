// The end of the script of a stage in a file: `mountStage` is there, the scene stands in the page, and nobody listens.
const scene = Uint8Array.from(atob(document.getElementById("scene").textContent), (letter) => letter.charCodeAt(0));
const unheard = () => undefined;

function show() {
  mountStage({ data: scene, parentElement: document.body, setStateValue: unheard, setTriggerValue: unheard });
}

/** Paper is white: pictures are drawn for the light theme before they are printed. */
function onPaper(printing) {
  document.documentElement.classList.toggle("paper", printing);
  show();
}

show();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
addEventListener("beforeprint", () => onPaper(true));
addEventListener("afterprint", () => onPaper(false));
