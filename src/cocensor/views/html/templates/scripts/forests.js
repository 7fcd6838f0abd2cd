// Rows of points with their intervals, and with a broad bar where there is one; names above them.
const forest = (box, { rows, label, xLabel, shade }) => {
  const width = widthOf(box), top = shade ? 18 : 4;
  const rowMarks = ({ name, letter, value, ends, bar, style, isHollow }, k) => [
    bar && bar.length ? Plot.ruleY([k], { x1: bar[0], x2: bar[1], className: `reach ${style}` }) : null,
    Plot.text([k], { y: [k], frameAnchor: "left", textAnchor: "start", dx: -16, dy: -13, text: () => spelt(`${letter ? `${letter} ` : ""}${isolated(fitting(name, width - 20))}`), className: "named" }),
    ends.length ? Plot.ruleY([k], { x1: ends[0], x2: ends[1], className: `whisker ${style}` }) : null,
    known(value) ? Plot.dot([k], { x: [value], y: [k], r: 5, className: `${isHollow ? "hollow" : "dot"} ${style}`, title: () => spelt(`${name}: ${value}${ends.length ? ` (${between(...ends)})` : ""}`) }) : null,
  ];
  figure(box, label, {
    height: top + 40 * rows.length + 40, marginLeft: 18, marginRight: width - Math.min(width, 640) + 12, marginTop: top, marginBottom: 40,
    x: { domain: extent([0, ...(shade || []), ...rows.flatMap((row) => [row.value, ...row.ends, ...(row.bar || [])])]) },
    y: { domain: [rows.length - 0.3, -0.7] },
    marks: [
      ...(shade ? shadeOf(shade) : []),
      Plot.gridX({ ticks: width < 480 ? 4 : 7, strokeOpacity: 1, className: "tick" }),
      Plot.axisX({ ...AXIS, ticks: width < 480 ? 4 : 7, label: xLabel, labelAnchor: "center", labelOffset: 34 }),
      Plot.ruleX([0], { className: "zero" }),
      ...rows.flatMap(rowMarks),
    ],
  });
};

// Of every model with a score, what is found of its pair with the one that has the best score; signs are turned to that.
// Nothing where no model is ranked.
const againstLeader = (by, pairs, row) => {
  const ranks = by.ranks[numbers.primary];
  const leader = models.find((model) => ranks[model.name] === Math.min(...Object.values(ranks)));
  if (!leader) return null;
  const others = models.filter((model) => model !== leader && known(by.scores[numbers.primary][model.name]));
  const rows = others.map((model) => {
    const pair = pairs.find(({ a, b }) => (a === model.name && b === leader.name) || (b === model.name && a === leader.name));
    const sign = pair.a === model.name ? 1 : -1;
    const ends = (low, high) => (known(low) && known(high) ? [sign * low, sign * high].sort((a, b) => a - b) : []);
    return { name: model.name, letter: model.letter, style: `k${model.colour}`, ...row(pair, model, leader, sign, ends) };
  });
  return { rows, label: `${by.label} minus that of ${isolated(leader.name)}` };
};

// The difference of every model from the one with the best score, with its interval.
const drawForests = () => document.querySelectorAll("[data-forest]").forEach((box) => {
  const by = numbers.metrics.find((each) => each.name === box.dataset.forest), best = by.best[numbers.primary];
  const found = againstLeader(by, by.comparisons[numbers.primary], (pair, model, leader, sign, ends) =>
    ({ value: sign * pair.difference, ends: ends(pair.low, pair.high), isHollow: !best.includes(model.name) }));
  if (found) forest(box, { ...found, xLabel: by.label });
});

// The same, as far as it can go whatever the dependence.
const drawBounds = () => document.querySelectorAll("[data-bounds]").forEach((box) => {
  const by = numbers.metrics.find((each) => each.name === box.dataset.bounds), scores = by.scores[numbers.primary];
  const found = againstLeader(by, numbers.bounds[by.name].pairs, (pair, model, leader, sign, ends) =>
    ({ value: scores[model.name] - scores[leader.name], bar: ends(pair.low, pair.high), ends: ends(...(pair.interval || [])) }));
  box.closest("figure").hidden = !found;
  if (found) forest(box, { ...found, xLabel: fitting(found.label, Math.min(box.clientWidth, 640)) });
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
