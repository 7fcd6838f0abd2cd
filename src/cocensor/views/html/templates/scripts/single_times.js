// --- discrimination, calibration, benefit: values at one time, and the curves behind them -------------

// The point of the grid that these sections show; null where they show what the table of scores does.
const pointShown = () => {
  const isOnGrid = grid && state.dependence && Object.hasOwn(grid.scores[numbers.metrics[0].name], state.curves);
  return isOnGrid ? { family: state.dependence, k: Number(state.tau) } : null;
};

const scoreShown = (by, model, point) => {
  if (!point) {
    const [low, high] = entry(entry(by.intervals, state.curves), model.name) || [];
    const best = entry(by.best, state.curves) || [];
    return { value: entry(entry(by.scores, state.curves), model.name), low, high, isBest: best.includes(model.name) };
  }
  const { family, k } = point;
  const along = entry(entry(grid.scores[by.name][state.curves], family), model.name) || [];
  const errors = errorsOf(overTau, by.name, state.curves, family, model);
  const best = (entry(grid.best[by.name][state.curves], family) || [])[k] || [];
  return { value: along[k], low: errors && errors.low[k], high: errors && errors.high[k], isBest: best.includes(model.name) };
};

// The curve behind a value as points with limits.
const profileShown = (by, model, point) => {
  if (!point) {
    const found = entry(entry(by.profiles, state.curves), model.name);
    if (!found) return null;
    const limits = limitsShown(by, model);
    return withLimits(found.x, found.y, limits);
  }
  const along = entry(entry(grid.profiles[by.name][state.curves], point.family), model.name);
  const y = along && along[point.k];
  return y ? grid.profile_points[by.name][model.name].map((x, j) => [x, y[j]]) : null;
};

const curveShown = (by, point) => {
  if (!point) return { times: by.times, curves: entry(by.curves, state.curves) || {}, limits: (by.curve_errors && entry(by.curve_errors, state.curves)) || {} };
  const found = entry(grid.curves[by.name][state.curves], point.family) || {};
  const curves = Object.fromEntries(Object.entries(found).filter(([, along]) => along[point.k]).map(([name, along]) => [name, along[point.k]]));
  return { times: grid.curve_times, curves, limits: {} };
};

// What was computed in full under the adjustment at hand: calibration curves, decision curves, D-calibration.
const detail = (kind, time, model) => numbers.details[kind].find((each) => each.adjustment === state.curves
  && (time === undefined || each.time === time) && (model === undefined || each.model === model.name));

// Limits of the curve behind a value; undefined where there are none.
const limitsShown = (by, model) => {
  const time = by.at ?? numbers.horizon.time;
  if (by.profile_style === "calibration") return detail("calibration", time, model);
  if (by.profile_style === "decision") {
    const found = detail("decision_curves", time);
    const own = found && entry(found.models, model.name);
    return own && own.net_benefit;
  }
  return entry(entry(by.profile_errors, state.curves), model.name);
};

const FRAMES = {
  line: (lines) => {
    const points = lines.flatMap((line) => line.points);
    return { x: extent(points.map((point) => point[0])), y: extent(points.flatMap((point) => point.slice(1))) };
  },
  roc: () => ({ x: [0, 1], y: [0, 1], ends: false, tall: true, rules: [{ diagonal: [[0, 0], [1, 1]], sign: "here", name: "by chance" }] }),
  calibration: (lines) => {
    const most = Math.max(...lines.flatMap((line) => line.points.flatMap(([x, y]) => [x, y].filter(known))));
    const end = Math.min(1, Math.ceil(20 * most) / 20);
    return { x: [0, end], y: [0, end], tall: true, rules: [{ diagonal: [[0, 0], [end, end]], sign: "here", name: "as predicted" }] };
  },
  decision: (lines) => {
    const points = lines.flatMap((line) => line.points);
    const top = Math.max(...points.map((point) => point[1]));
    const last = Math.max(...points.filter((point) => Math.abs(point[1]) > 0.02 * top).map((point) => point[0]));
    return { x: [0, last], y: [-0.15 * top, 1.1 * top], isCut: true, rules: [{ y: 0, sign: "zero", name: "treat nobody" }] };
  },
};

const drawProfile = (box, by, point) => {
  const found = by ? models.map((model) => [model, profileShown(by, model, point)]).filter(([, each]) => each) : [];
  box.hidden = !found.length;
  if (!found.length) return;
  const lines = found.map(([model, points]) => modelLine(model, points));
  const frame = FRAMES[by.profile_style](lines);
  const decision = by.profile_style === "decision" && !point && detail("decision_curves", by.at ?? numbers.horizon.time);
  if (decision) lines.unshift({ points: decision.thresholds.map((x, k) => [x, decision.treat_all.values[k]]), style: "", end: "all", name: "treat all" });
  const [xLabel, yLabel] = by.profile_labels;
  chart(box, { lines, xLabel, yLabel: by.at === null ? yLabel : `${yLabel}, at ${numbers.time.unit ? `${by.at} ${numbers.time.unit}` : `time ${by.at}`}`, ...frame });
};

// By model what falls into each cell of predicted levels less what should: those event-free at the horizon first.
const levelsShown = (by, model, point) => {
  const found = point ? undefined : detail("d_calibration", undefined, model);
  if (found) {
    const last = found.levels.length, gap = (values, k) => (known(values[k]) ? values[k] - found.expected[k] : null);
    const order = [last, ...found.levels.keys()];
    return order.map((k) => [k === last ? 0 : found.levels[k], gap(found.observed, k), gap(found.low, k), gap(found.high, k)]);
  }
  return by ? profileShown(by, model, point) : null;
};

const drawLevels = (box, by, point) => {
  const found = models.map((model) => [model, levelsShown(by, model, point)]).filter(([, each]) => each);
  box.hidden = !found.length;
  if (!found.length) return;
  const levels = found[0][1].map(([x]) => x);
  const names = levels.map((x, j) => (x === 0 ? "event-free" : j > 1 ? `${levels[j - 1]}–${x}` : `0–${x}`));
  bars(box, {
    names,
    lots: found.map(([model, points]) => ({ model, points })),
    xLabel: "predicted survival at the event",
    yLabel: "observed minus expected share",
  });
};

// Every metric of a section by model, with its interval, as the choices have it.
const tellScores = (table, asked, point) => {
  const head = element("tr");
  head.append(element("th", "left", "model"), ...asked.map((by) => element("th", "", by.label)));
  const rows = models.map((model) => {
    const row = element("tr"), name = element("th", "left");
    row.dataset.model = model.name;
    name.scope = "row";
    name.append(element("span", `chip k${model.colour}`, model.letter), " ", element("bdi", "", model.name));
    row.append(name, ...asked.map((by) => {
      const { value, low, high, isBest } = scoreShown(by, model, point), cell = element("td", isBest ? "best" : "");
      cell.dataset.label = by.label;
      cell.append(element("span", "", `${shown(value)}${isBest ? " ★" : ""}`));
      if (known(value)) cell.dataset.value = value;
      if (between(low, high)) cell.append(element("small", "interval", between(low, high)));
      return cell;
    }));
    return row;
  });
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows);
};

const drawSingleTimes = () => document.querySelectorAll("[data-kind]").forEach((section) => {
  const point = pointShown();
  const asked = numbers.metrics.filter((by) => by.kind === section.dataset.kind && (by.at === null || by.at === Number(state.at)));
  const { label } = numbers.adjustments.find((each) => each.name === state.curves);
  let where = `“${label}”, as in the table of scores`;
  if (point) where = `“${label}”, under ${capital(point.family)} at τ = ${grid.taus[point.k]}`;
  else if (state.dependence) where = `“${label}”, which rests on no copula`;
  const none = asked.every((by) => models.every((model) => !known(scoreShown(by, model, point).value)));
  section.querySelector(".where").textContent = `By ${where}${none ? ": there is no answer" : ""}.`;
  tellScores(section.querySelector(".told"), asked, point);
  section.querySelectorAll("[data-profile]").forEach((box) => {
    drawProfile(box, asked.find((by) => by.profile_labels && by.profile_style !== "levels" && Object.keys(entry(by.profiles, state.curves) || {}).length), point);
  });
  section.querySelectorAll("[data-over-time]").forEach((box) => {
    const by = asked.find((each) => each.curve_label !== null && each.at === null);
    const { times, curves, limits } = by ? curveShown(by, point) : { curves: {} };
    box.hidden = !Object.keys(curves).length;
    if (!box.hidden) overTime(box, times, curves, limits, by.curve_label, { tall: true });
  });
  section.querySelectorAll("[data-levels]").forEach((box) => drawLevels(box, asked.find((by) => by.profile_style === "levels"), point));
  section.querySelectorAll("[data-choice=tau]").forEach((each) => { each.disabled = !point || grid.taus.length === 1; });
});
