const axisRange = (points) => (points.length > 1 ? [points[0], points[points.length - 1]] : [points[0] - 0.1, points[0] + 0.1]);

// Where along the taus the mean hazard ratio right after leaving is round; the most telling ones first.
const ROUND = [1, 2, 5, 0.5, 10, 3, 20, 1.5, 0.3, 50, 0.7, 0.2, 7, 0.1, 100, 200, 500, 1000];
const ratioTicks = (ratios) => ROUND.flatMap((ratio) => {
  const gap = ratios.map((each) => (known(each) ? Math.log(each / ratio) : null));
  const k = gap.findIndex((each, j) => known(each) && (Math.abs(each) < 1e-9 || (known(gap[j + 1]) && each * gap[j + 1] < 0)));
  if (k < 0) return [];
  const share = Math.abs(gap[k]) < 1e-9 ? 0 : gap[k] / (gap[k] - gap[k + 1]);
  return [{ at: share ? grid.taus[k] + share * (grid.taus[k + 1] - grid.taus[k]) : grid.taus[k], text: ratio }];
});

// What covariates would induce, as marks on the axis of tau.
const covariateMarks = () => {
  const found = numbers.plausible_tau;
  if (!found) return undefined;
  const inside = ({ at }) => at >= grid.taus[0] && at <= grid.taus[grid.taus.length - 1];
  const each = found.benchmarks.map(({ name, shrunken_tau: at }) => ({ at, name, title: `${name} would induce τ = ${at.toFixed(3)}` })).filter(inside);
  const whole = [{ at: found.together, name: "all together", isWhole: true, title: `all covariates together would induce τ = ${found.together.toFixed(3)}` }].filter(inside);
  const points = [...each, ...whole];
  if (!points.length) return undefined;
  const plain = (at) => at.toFixed(2).replace(/^-(0\.0+)$/, "$1");
  const ends = [Math.min, Math.max].map((of) => plain(of(...(each.length ? each : whole).map(({ at }) => at))));
  return { points, named: [...each.slice(0, 3), ...whole], said: `your covariates: ${ends[0] === ends[1] ? ends[0] : ends.join(" to ")}`, more: whole.length && each.length ? `, all together ${plain(found.together)}` : "" };
};

const plausibleShade = () => {
  const [from, to] = axisRange(grid.taus), { low, high } = grid.plausible;
  return low < to && high > from ? [Math.max(low, from), Math.min(high, to)] : undefined;
};

const independence = (at) => [{ x: at, sign: "independence", name: "independence" }];
const hinted = () => {
  const { family, tau } = numbers.hint || {};
  return known(tau) && family !== "independence" ? [{ x: tau, sign: "hint", name: `hint: ${capital(family)}, τ = ${tau.toFixed(2)}` }] : [];
};

// By simulated event times, what the scores truly are.
const trueRules = (scored, less = 0) => {
  const found = numbers.truth && entry(numbers.truth, state.metric);
  const rules = scored.filter((model) => known(entry(found, model.name))).map((model) => ({ y: found[model.name] - less, sign: `truth k${model.colour}`, title: `${model.name}, by the true event times: ${shown(found[model.name] - less)}` }));
  return rules.map((each, k) => (k ? each : { ...each, name: "by the true event times" }));
};

const drawScores = (box, source, line, along) => {
  const errors = (each) => models.map((model) => errorsOf(source, state.metric, state.adjustment, each, model));
  const own = errors(line), scores = scoresOf(source, state.metric, state.adjustment, line);
  const everywhere = source.lines.flatMap((each) => [
    ...scoresOf(source, state.metric, state.adjustment, each).flat(),
    ...errors(each).filter(known).flatMap((found) => [...found.low, ...found.high]),
  ]);
  const truth = trueRules(models);
  chart(box, {
    ...along,
    rules: [...along.rules, ...truth],
    y: extent([...everywhere, ...truth.map(({ y }) => y)]),
    yLabel: metric().label,
    lines: models.map((model, m) => modelLine(model, withLimits(source.points, scores[m], own[m]))),
  });
};

const drawGrid = () => {
  if (!grid) return;
  const k = Number(state.tau), ratios = ratiosOf(state.adjustment, state.family);
  const along = {
    x: axisRange(grid.taus), xLabel: "Kendall’s τ of event and dropout", xTicks: grid.taus, dots: true,
    rules: [...independence(0), ...hinted(), { x: grid.taus[k], sign: "here", name: `τ = ${grid.taus[k]}, as chosen` }],
    shade: plausibleShade(), marks: covariateMarks(),
    above: ratios.some(known) ? { label: `hazard ratio right after leaving, ${capital(state.family)}`, ticks: ratioTicks(ratios) } : undefined,
  };
  drawScores(document.getElementById("plot-scores"), overTau, state.family, along);
  drawLess(document.getElementById("less"), document.getElementById("plot-less"), overTau, state.family, along);
  const scores = scoresOf(overTau, state.metric, state.adjustment, state.family);
  const ranks = grid.taus.map((_, j) => ranksAt(scores, j, metric()));
  chart(document.getElementById("plot-ranks"), {
    ...along,
    y: [models.length + 0.4, 0.6],
    yLabel: "rank, 1 is best",
    yTicks: models.map((_, m) => m + 1),
    lines: models.map((model, m) => modelLine(model, grid.taus.map((at, j) => [at, ranks[j][m]]))),
  });
  const own = models.map((model) => errorsOf(overTau, state.metric, state.adjustment, state.family, model));
  tellNow(scores, own, ranks[k], k, grid.taus[k]);
};

// Every score minus that of the model which is best at independence.
const drawLess = (head, box, source, line, along) => {
  if (!head) return;
  const found = entry(source.differences && source.differences[state.metric], state.adjustment);
  const own = (found && found[source.by][line]) || {};
  const others = models.filter((model) => entry(own, model.name) && own[model.name].differences.some(known));
  box.parentElement.hidden = others.length === 0;
  if (!others.length) return;
  const { reference } = found;
  const side = metric().direction === "lower" ? "Above" : "Below";
  head.textContent = spelt(`Scores minus that of ${isolated(reference)}. ${side} 0, ${isolated(reference)} is better`);
  const all = Object.values(found[source.by]).flatMap((by) => Object.values(by).flatMap((each) => [...each.differences, ...each.band_low, ...each.band_high]));
  // A line may not reach all points.
  const reached = source.points.filter((_, k) => others.some((model) => known(own[model.name].differences[k])));
  const [first, last] = [reached[0], reached[reached.length - 1]];
  const turns = (model) => source.pairs[state.metric][state.adjustment]
    .filter(({ a, b }) => (a === model.name && b === reference) || (b === model.name && a === reference))
    .flatMap((pair) => pair.tipping_points)
    .filter((point) => point[source.of] === line)
    .map(({ at, interval }) => {
      const [low, high] = interval || [at, at];
      const from = low === null ? "the start" : low.toFixed(2), to = high === null ? "the end" : high.toFixed(2);
      return { at, ends: [low ?? first, high ?? last], said: `the order turns at ${source.said(at)}${interval ? ` (${from} to ${to})` : ""}` };
    });
  const truth = trueRules(others, entry(numbers.truth && entry(numbers.truth, state.metric), reference));
  chart(box, {
    ...along,
    rules: [...along.rules, { y: 0, sign: "zero", name: `as good as ${isolated(reference)}` }, ...truth],
    y: extent([0, ...all, ...truth.map(({ y }) => y)]),
    yLabel: `${metric().label}, minus that of ${isolated(reference)}`,
    lines: others.map((model) => modelLine(model, withLimits(source.points, own[model.name].differences, own[model.name]), {
      band: bandOf(source.points, own[model.name]), turns: turns(model),
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
  let said = `${where}${by}: ${someNames(best)} ${best.length > 1 ? "are equally good" : "is best"}.`;
  if (tied.length) said = `${where}${by}: ${someNames(best)} ${best.length > 1 ? "have" : "has"} the best score, and cannot be distinguished from ${someNames(tied)}.`;
  if (!(contenders.length ? best.length : scores.some((own) => known(own[k])))) said = `${where} there is no answer: ${why ? why.why : "the family does not reach this τ."}`;
  else if (contenders.length < 2) said = `${where}${by}:`;
  document.getElementById("at-tau").textContent = spelt(said);
  document.querySelectorAll("[data-choice=tau]").forEach((each) => {
    const isBehind = each.closest("section").querySelector("[data-choice=dependence]") !== null;
    const text = isBehind ? tauShown(k, state.curves, state.dependence) : tauShown(k, state.adjustment, state.family);
    each.setAttribute("aria-valuetext", text);
    each.nextElementSibling.textContent = text;
  });
};
