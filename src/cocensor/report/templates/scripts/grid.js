const tauRange = (taus) => (taus.length > 1 ? [taus[0], taus[taus.length - 1]] : [taus[0] - 0.1, taus[0] + 0.1]);

const drawGrid = () => {
  if (!grid) return;
  const k = Number(state.tau), tau = grid.taus[k];
  const scores = scoresOf(state.metric, state.adjustment, state.family);
  const errors = (family) => models.map((model) => errorsOf(state.metric, state.adjustment, family, model));
  const own = errors(state.family);
  const everywhere = grid.families.flatMap((family) => [
    ...scoresOf(state.metric, state.adjustment, family).flat(),
    ...errors(family).filter(known).flatMap((each) => [...each.low, ...each.high]),
  ]);
  const along = { x: tauRange(grid.taus), xLabel: "Kendall’s τ of event and dropout", xTicks: grid.taus, dots: true, here: tau };
  chart(document.getElementById("plot-scores"), {
    ...along,
    y: extent(everywhere),
    yLabel: metric().label,
    lines: models.map((model, m) => modelLine(model, withLimits(grid.taus, scores[m], own[m]))),
  });
  drawLess(along);
  const ranks = grid.taus.map((_, j) => ranksAt(scores, j, metric()));
  chart(document.getElementById("plot-ranks"), {
    ...along,
    y: [models.length + 0.4, 0.6],
    yLabel: "rank, 1 is best",
    yTicks: models.map((_, m) => m + 1),
    lines: models.map((model, m) => modelLine(model, grid.taus.map((at, j) => [at, ranks[j][m]]))),
  });
  tellNow(scores, own, ranks[k], k, tau);
};

// Every score less that of the model which is best at independence.
const drawLess = (along) => {
  const found = grid.differences && grid.differences[state.metric][state.adjustment];
  const head = document.getElementById("less"), box = document.getElementById("plot-less");
  if (!head) return;
  const own = (found && found.families[state.family]) || {};
  const others = models.filter((model) => entry(own, model.name) && own[model.name].differences.some(known));
  box.parentElement.hidden = others.length === 0;
  if (!others.length) return;
  const { reference, families } = found;
  const side = metric().direction === "smaller" ? "Above" : "Below";
  head.textContent = spelt(`Scores less that of ${isolated(reference)}. ${side} 0, ${isolated(reference)} is better`);
  const all = Object.values(families).flatMap((by) => Object.values(by).flatMap((each) => [...each.differences, ...each.band_low, ...each.band_high]));
  const [first, last] = [grid.taus[0], grid.taus[grid.taus.length - 1]];
  const turns = (model) => grid.pairs[state.metric][state.adjustment]
    .filter(({ a, b }) => (a === model.name && b === reference) || (b === model.name && a === reference))
    .flatMap((pair) => pair.tipping_points)
    .filter((point) => point.family === state.family)
    .map(({ at, interval }) => {
      const [low, high] = interval || [at, at];
      const from = low === null ? "the start" : low.toFixed(2), to = high === null ? "the end" : high.toFixed(2);
      return { at, ends: [low ?? first, high ?? last], said: `the order turns at τ = ${at.toFixed(2)}${interval ? ` (${from} to ${to})` : ""}` };
    });
  chart(document.getElementById("plot-less"), {
    ...along,
    y: extent([0, ...all]),
    yLabel: `${metric().label}, less`,
    zero: true,
    lines: others.map((model) => modelLine(model, withLimits(grid.taus, own[model.name].differences, own[model.name]), {
      band: bandOf(grid.taus, own[model.name]), turns: turns(model),
    })),
  });
};

const tellNow = (scores, errors, ranks, k, tau) => {
  const order = models.map((_, m) => m).sort((a, b) => (ranks[a] ?? Infinity) - (ranks[b] ?? Infinity));
  const kept = ((grid.best[state.metric][state.adjustment] || {})[state.family] || [])[k] || [];
  const rows = order.map((m) => {
    const row = element("tr"), name = element("td"), score = element("td", kept.includes(models[m].name) ? "best" : "");
    score.append(element("span", "", shown(scores[m][k])));
    const interval = errors[m] ? between(errors[m].low[k], errors[m].high[k]) : "";
    if (interval) score.append(element("small", "", interval));
    row.append(element("td", "", ranks[m] === null ? "–" : String(ranks[m])));
    name.append(element("span", `chip k${models[m].colour}`, models[m].letter), " ", element("bdi", "", models[m].name));
    row.dataset.model = models[m].name;
    if (known(scores[m][k])) { score.dataset.value = scores[m][k]; score.title = scores[m][k]; }
    row.append(name, score);
    return row;
  });
  document.querySelector("#now tbody").replaceChildren(...rows);
  const by = numbers.metrics.length > 1 ? `, by the ${metric().label}` : "";
  const where = `Under ${capital(state.family)} at τ = ${tau}`;
  const best = models.filter((_, m) => ranks[m] === 1).map((model) => isolated(model.name));
  const why = grid.missing.find((each) => each.adjustment === state.adjustment && each.family === state.family);
  const tied = models.filter((model, m) => ranks[m] !== 1 && kept.includes(model.name)).map((model) => isolated(model.name));
  let said = `${where}${by}: ${best.join(" and ")} ${best.length > 1 ? "are equally good" : "is best"}.`;
  if (tied.length) said = `${where}${by}: ${best.join(" and ")} ${best.length > 1 ? "have" : "has"} the best score, and cannot be told from ${tied.join(" and ")}.`;
  if (!best.length) said = `${where} there is no answer: ${why ? why.why : "the family does not reach this τ."}`;
  else if (models.length === 1) said = `${where}${by}:`;
  document.getElementById("at-tau").textContent = spelt(said);
  document.querySelectorAll("[data-choice=tau]").forEach((each) => {
    each.setAttribute("aria-valuetext", `τ = ${tau}`);
    each.nextElementSibling.textContent = `τ = ${tau}`;
  });
};
