// What is drawn, and the choices that it follows.
const DRAWN = [
  [drawMap, "metric adjustment"],
  [drawForests],
  [drawBounds],
  [drawGrid, "metric adjustment family tau curves dependence"],
  [drawAfterDropout, "metric adjustment whose"],
  [drawBenchmarks],
  [drawCurves, "metric curves relative"],
  [drawSingleTimes, "at curves dependence tau"],
  [drawSurvival, "survival"],
  [drawLikelihood],
];
const draw = (choice) => {
  const isIdle = choice === "tau" && !state.dependence; // the sections behind the scores then show no point of the grid
  DRAWN.forEach(([each, follows = ""]) => { if (!choice || (follows.split(" ").includes(choice) && !(isIdle && each === drawSingleTimes))) each(); });
};

// --- choices, downloads --------------------------------------------------------------------------

state.metric = numbers.metrics[0].name;
if (grid) state.adjustment = grid.primary;
const choices = [...document.querySelectorAll("[data-choice]")];
choices.forEach((control) => {
  const { choice } = control.dataset;
  const first = choices.find((each) => each.dataset.choice === choice);
  control.value = first.value;
  state[choice] = first.value;
  control.addEventListener("input", () => {
    state[choice] = control.value;
    choices.forEach((each) => { if (each.dataset.choice === choice) each.value = control.value; });
    draw(choice);
  });
});

document.querySelectorAll("[data-independence]").forEach((button) => button.addEventListener("click", () => {
  const slider = choices.find((each) => each.dataset.choice === "tau");
  slider.value = button.dataset.independence;
  slider.dispatchEvent(new Event("input"));
}));

// What is folded has no width to draw to.
document.addEventListener("toggle", (event) => { if (event.target.open && event.target.querySelector(".plot")) draw(); }, true);

let width = 0;
new ResizeObserver(([entry]) => {
  if (Math.round(entry.contentRect.width) === width) return;
  width = Math.round(entry.contentRect.width);
  draw();
}).observe(document.querySelector("main"));
draw();
document.documentElement.dataset.drawn = "true";

// On paper, figures are drawn to its width.
const printing = (isPrinted) => () => {
  document.documentElement.classList.toggle("printing", isPrinted);
  draw();
};
addEventListener("beforeprint", printing(true));
addEventListener("afterprint", printing(false));
