// Rows of points with their intervals, and with a broad bar where there is one; names above them.
const forest = (box, { rows, label, xLabel, shade }) => {
  const width = Math.max(260, box.clientWidth), step = 40, top = shade ? 18 : 4, height = top + step * rows.length + 40;
  const x = extent([0, ...(shade || []), ...rows.flatMap((row) => [row.value, ...row.ends, ...(row.bar || [])])]);
  const frame = { left: 8, right: Math.min(width, 640) - 12, top: top - 14, bottom: height - 36 };
  const toX = (value) => frame.left + ((value - x[0]) / (x[1] - x[0])) * (frame.right - frame.left);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spelt(label) });
  if (shade) shadeIn(svg, shade, toX, frame);
  niceTicks(x, width < 480 ? 4 : 7).forEach((tick) => {
    svg.append(make("path", { d: `M${toX(tick)} ${top}V${frame.bottom}`, class: "tick" }));
    svg.append(make("text", { x: toX(tick), y: height - 22, "text-anchor": "middle" }, String(tick)));
  });
  svg.append(make("path", { d: `M${toX(0)} ${top}V${frame.bottom}`, class: "zero" }));
  svg.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 5, "text-anchor": "middle" }, xLabel));
  rows.forEach(({ name, letter, value, ends, bar, style, isHollow }, k) => {
    const y = top + step * (k + 0.7);
    if (bar && bar.length) svg.append(make("path", { d: `M${toX(bar[0])} ${y}H${toX(bar[1])}`, class: `reach ${style}` }));
    svg.append(make("text", { x: 2, y: y - 9, class: "named" }, `${letter ? `${letter} ` : ""}${isolated(fitting(name, width - 20))}`));
    if (ends.length) svg.append(make("path", { d: `M${toX(ends[0])} ${y}H${toX(ends[1])}`, class: `whisker ${style}` }));
    if (!known(value)) return;
    const dot = make("circle", { cx: toX(value), cy: y, r: 5, class: `${isHollow ? "hollow" : "dot"} ${style}` });
    dot.append(make("title", {}, `${name}: ${value}${ends.length ? ` (${between(...ends)})` : ""}`));
    svg.append(dot);
  });
  box.replaceChildren(svg);
};

// Of every model with a score, what is found of its pair with the one that has the best score; signs are turned to that.
const againstLeader = (by, pairs, row) => {
  const ranks = by.ranks[numbers.primary];
  const leader = models.find((model) => ranks[model.name] === Math.min(...Object.values(ranks)));
  const others = models.filter((model) => model !== leader && known(by.scores[numbers.primary][model.name]));
  const rows = others.map((model) => {
    const pair = pairs.find(({ a, b }) => (a === model.name && b === leader.name) || (b === model.name && a === leader.name));
    const sign = pair.a === model.name ? 1 : -1;
    const ends = (low, high) => (known(low) && known(high) ? [sign * low, sign * high].sort((a, b) => a - b) : []);
    return { name: model.name, letter: model.letter, style: `k${model.colour}`, ...row(pair, model, leader, sign, ends) };
  });
  return { rows, label: `${by.label} less that of ${isolated(leader.name)}` };
};

// The difference of every model from the one with the best score, with its interval.
const drawForests = () => document.querySelectorAll("[data-forest]").forEach((box) => {
  const by = numbers.metrics.find((each) => each.name === box.dataset.forest), best = by.best[numbers.primary];
  const found = againstLeader(by, by.comparisons[numbers.primary], (pair, model, leader, sign, ends) =>
    ({ value: sign * pair.difference, ends: ends(pair.low, pair.high), isHollow: !best.includes(model.name) }));
  forest(box, { ...found, xLabel: by.label });
});

// The same, as far as it can go whatever the dependence.
const drawBounds = () => document.querySelectorAll("[data-bounds]").forEach((box) => {
  const by = numbers.metrics.find((each) => each.name === box.dataset.bounds), scores = by.scores[numbers.primary];
  const found = againstLeader(by, numbers.bounds[by.name].pairs, (pair, model, leader, sign, ends) =>
    ({ value: scores[model.name] - scores[leader.name], bar: ends(pair.low, pair.high), ends: ends(...(pair.interval || [])) }));
  forest(box, { ...found, xLabel: fitting(found.label, Math.min(box.clientWidth, 640)) });
});

// What covariates would induce, beside what is held plausible.
const MOST_COVARIATES = 8;
const drawBenchmarks = () => {
  const found = numbers.plausible_tau, box = document.getElementById("plot-benchmarks");
  if (!found || !box) return;
  const rows = found.benchmarks.slice(0, MOST_COVARIATES).map(({ name, tau, interval }) => ({ name, value: tau, ends: interval.every(known) ? interval : [], style: "k0" }));
  rows.push({ name: "all together", value: found.together, ends: found.together_interval.every(known) ? found.together_interval : [], style: "k1" });
  const { low, high } = (grid && grid.plausible) || {};
  forest(box, { rows, label: "τ that covariates would induce", xLabel: "Kendall’s τ of event and dropout", shade: known(low) ? [low, high] : undefined });
};
