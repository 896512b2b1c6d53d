// The end of the script of a stage in a file: `mountStage` is defined, the page contains the scene, messages are dropped.
const scene = Uint8Array.from(atob(document.getElementById("scene").textContent), (letter) => letter.charCodeAt(0));
const drop = () => undefined;

function show() {
  mountStage({ data: scene, parentElement: document.body, setStateValue: drop, setTriggerValue: drop });
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
