// The difference of every model from the one with the best score, with its interval.
const drawForests = () => document.querySelectorAll("[data-forest]").forEach((box) => {
  const by = numbers.metrics.find((each) => each.name === box.dataset.forest);
  const pairs = by.comparisons[numbers.primary], ranks = by.ranks[numbers.primary];
  const leader = models.find((model) => ranks[model.name] === Math.min(...Object.values(ranks)));
  const best = by.best[numbers.primary];
  const rows = models.filter((model) => model !== leader && known(by.scores[numbers.primary][model.name])).map((model) => {
    const pair = pairs.find(({ a, b }) => (a === model.name && b === leader.name) || (b === model.name && a === leader.name));
    const sign = pair.a === model.name ? 1 : -1;
    const ends = known(pair.low) && known(pair.high) ? [sign * pair.low, sign * pair.high].sort((a, b) => a - b) : [];
    return { model, value: sign * pair.difference, ends };
  });
  const width = Math.max(260, box.clientWidth), step = 40, top = 4, height = top + step * rows.length + 40;
  const x = extent([0, ...rows.flatMap((row) => [row.value, ...row.ends])]);
  const frame = { left: 8, right: Math.min(width, 640) - 12 };
  const toX = (value) => frame.left + ((value - x[0]) / (x[1] - x[0])) * (frame.right - frame.left);
  const label = spelt(`${by.label} less that of ${isolated(leader.name)}`);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  niceTicks(x, width < 480 ? 4 : 7).forEach((tick) => {
    svg.append(make("path", { d: `M${toX(tick)} ${top}V${height - 36}`, class: "tick" }));
    svg.append(make("text", { x: toX(tick), y: height - 22, "text-anchor": "middle" }, String(tick)));
  });
  svg.append(make("path", { d: `M${toX(0)} ${top}V${height - 36}`, class: "zero" }));
  svg.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 5, "text-anchor": "middle" }, by.label));
  rows.forEach(({ model, value, ends }, k) => {
    const y = top + step * (k + 0.7), style = `k${model.colour}`;
    svg.append(make("text", { x: 2, y: y - 9, class: "named" }, `${model.letter} ${isolated(model.name)}`));
    if (ends.length) svg.append(make("path", { d: `M${toX(ends[0])} ${y}H${toX(ends[1])}`, class: `whisker ${style}` }));
    const dot = make("circle", { cx: toX(value), cy: y, r: 5, class: `${best.includes(model.name) ? "dot" : "hollow"} ${style}` });
    dot.append(make("title", {}, `${model.name}: ${value}${ends.length ? ` (${between(...ends)})` : ""}`));
    svg.append(dot);
  });
  box.replaceChildren(svg);
});
