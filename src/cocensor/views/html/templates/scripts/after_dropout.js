// --- over the hazard ratio after dropout ----------------------------------------------------------------

const drawAfterDropout = () => {
  if (!after) return;
  const line = state.whose || after.lines[0], note = document.getElementById("no-ratios"), box = document.getElementById("plot-ratio-scores");
  const isThere = Object.hasOwn(after.scores[state.metric], state.adjustment);
  note.hidden = isThere;
  box.hidden = !isThere;
  if (!isThere) note.textContent = `“${numbers.adjustments.find((each) => each.name === state.adjustment).label}” takes no hazard ratio after dropout.`;
  const points = after.hazard_ratios, whose = line === after.lines[0] ? "" : `, ${isolated(line)} alone`;
  const along = {
    x: points.length > 1 ? axisRange(points) : [points[0] / 1.2, points[0] * 1.2], xTicks: points, dots: true, isLog: true,
    rules: points[0] <= 1 && points[points.length - 1] >= 1 ? independence(1) : [],
    xLabel: `hazard ratio after dropout, ρ${whose}; 1 is independence`,
  };
  if (isThere) drawScores(box, overRatio, line, along);
  drawLess(document.getElementById("ratio-less"), document.getElementById("plot-ratio-less"), overRatio, line, along);
};
