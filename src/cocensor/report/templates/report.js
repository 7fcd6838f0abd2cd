"use strict";
(() => {
  const embedded = (id) => document.getElementById(id).textContent;
  const numbers = JSON.parse(embedded("numbers"));
  const models = JSON.parse(embedded("series"));
  // Analyses are there if they were computed.
  const grid = numbers.sensitivity;
  const state = {};
  document.documentElement.classList.add("scripted");

  // --- what is shown -------------------------------------------------------------------------------

  const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
  const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
  // A name in a sentence, whose script does not move the words around it.
  const isolated = (name) => `\u2068${name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;
  const metric = () => numbers.metrics.find((each) => each.name === state.metric);
  const known = (value) => value !== null && value !== undefined;
  // Of an object with names of the user's: a name may be one that all objects have.
  const entry = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);
  const between = (low, high) => (known(low) && known(high) ? `${shown(low)} to ${shown(high)}` : "");

  // Scores of the models along the taus of the grid; null where there is none.
  const scoresOf = (metricName, adjustment, family) => {
    const found = grid.scores[metricName][adjustment][family];
    return models.map((model) => (found ? found[model.name] : grid.taus.map(() => null)));
  };

  // Standard errors and limits of the scores of a model along the taus; undefined where there are none.
  const errorsOf = (metricName, adjustment, family, model) =>
    (grid.errors ? entry(entry(grid.errors[metricName][adjustment], family), model.name) : undefined);

  // Points of a line with the limits of their intervals.
  const withLimits = (at, values, limits) => at.map((x, k) => [x, values[k], limits && limits.low[k], limits && limits.high[k]]);
  const bandOf = (at, limits) => at.map((x, k) => [x, null, limits.band_low[k], limits.band_high[k]]);

  // 1 for the best; equal scores share the better rank, as in the tables.
  const ranksAt = (scores, k, { direction }) => {
    const better = direction === "smaller" ? (one, other) => one < other : (one, other) => one > other;
    return scores.map((own) => (known(own[k]) ? 1 + scores.filter((other) => known(other[k]) && better(other[k], own[k])).length : null));
  };

  const modelLine = (model, points, more = {}) => ({
    points,
    ...more,
    style: `k${model.colour} d${model.dash}`,
    end: model.letter,
    name: model.name,
  });

  // A broken byte in a name, by its number as in the tables.
  const spelt = (text) => text.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);

  // --- drawing -------------------------------------------------------------------------------------

  const make = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    if (text !== undefined) made.textContent = spelt(`${text}`);
    return made;
  };

  const element = (kind, style, text) => {
    const made = document.createElement(kind);
    if (style) made.className = style;
    if (text !== undefined) made.textContent = spelt(`${text}`);
    return made;
  };

  const extent = (values) => {
    const finite = values.filter(known);
    const low = Math.min(...finite), high = Math.max(...finite);
    const room = 0.06 * (high - low) || 0.05 * Math.abs(high) || 1;
    return [low - room, high + room];
  };

  const niceTicks = ([from, to], count) => {
    const low = Math.min(from, to), high = Math.max(from, to);
    const raw = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) ticks.push(Number((k * step).toPrecision(10)));
    return ticks;
  };

  // Labels at the ends of lines, pushed apart so that none covers another.
  const spread = (places, gap, low, high) => {
    const order = places.map((y, k) => [y, k]).sort((a, b) => a[0] - b[0]);
    order.forEach((each, k) => { if (k) each[0] = Math.max(each[0], order[k - 1][0] + gap); });
    const over = order.length ? order[order.length - 1][0] - high : 0;
    if (over > 0) {
      order[order.length - 1][0] = high;
      for (let k = order.length - 2; k >= 0; k -= 1) order[k][0] = Math.max(low, Math.min(order[k][0], order[k + 1][0] - gap));
    }
    const found = [];
    order.forEach(([y, k]) => { found[k] = y; });
    return found;
  };

  // Runs of points that have both limits.
  const runs = (points) => {
    const found = [[]];
    points.forEach((point) => {
      if (known(point[2]) && known(point[3])) found[found.length - 1].push(point);
      else found.push([]);
    });
    return found.filter((run) => run.length > 1);
  };

  const chart = (id, { lines, x, y, xLabel, yLabel, xTicks, yTicks, steps, dots, here, level, zero, right = 34 }) => {
    const box = document.getElementById(id);
    if (!box) return;
    const width = Math.max(260, box.clientWidth), height = Math.round(Math.min(380, Math.max(250, 0.52 * width)));
    const frame = { left: 58, right: width - right, top: 26, bottom: height - 42 };
    const toX = (value) => frame.left + ((value - x[0]) / (x[1] - x[0])) * (frame.right - frame.left);
    const toY = (value) => frame.bottom - ((value - y[0]) / (y[1] - y[0])) * (frame.bottom - frame.top);
    const label = `${yLabel} by ${xLabel}: ${lines.map((line) => line.name).join(", ")}`;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    const few = width < 480;
    (yTicks || niceTicks(y, 5)).forEach((tick) => {
      svg.append(make("path", { d: `M${frame.left} ${toY(tick)}H${frame.right}`, class: "tick" }));
      svg.append(make("text", { x: frame.left - 8, y: toY(tick) + 4, "text-anchor": "end" }, String(tick)));
    });
    const across = xTicks && xTicks.length <= (few ? 7 : 12) ? xTicks : niceTicks(x, few ? 5 : 8);
    across.forEach((tick) => {
      svg.append(make("text", { x: toX(tick), y: frame.bottom + 18, "text-anchor": "middle" }, String(tick)));
    });
    svg.append(make("text", { x: 2, y: 13 }, yLabel));
    svg.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel));
    if (level !== undefined) svg.append(make("path", { d: `M${frame.left} ${toY(level)}H${frame.right}`, class: "here" }));
    if (zero) svg.append(make("path", { d: `M${frame.left} ${toY(0)}H${frame.right}`, class: "zero" }));
    if (here !== undefined) svg.append(make("path", { d: `M${toX(here)} ${frame.top}V${frame.bottom}`, class: "here" }));
    const inside = (value) => Math.min(Math.max(y[0], y[1]), Math.max(Math.min(y[0], y[1]), value));
    const ends = [];
    const edge = (run, side) => run.map((point) => `${toX(point[0])} ${toY(inside(point[side]))}`).join("L");
    const area = (points, style) => runs(points).forEach((run) => {
      svg.append(make("path", { d: `M${edge(run, 3)}L${edge([...run].reverse(), 2)}Z`, class: `area ${style}` }));
    });
    lines.forEach((line) => {
      if (line.band) area(line.band, `light ${line.style}`);
      area(line.points, line.style);
      runs(line.edges || []).forEach((run) => [2, 3].forEach((side) => svg.append(make("path", { d: `M${edge(run, side)}`, class: `edge ${line.style}` }))));
    });
    lines.forEach((line) => {
      let path = "", last = null;
      line.points.forEach(([at, value, low, high]) => {
        if (!known(value)) { last = null; return; }
        const place = [toX(at), toY(inside(value))];
        path += last === null ? `M${place}` : steps ? `H${place[0]}V${place[1]}` : `L${place}`;
        last = place;
        if (dots) {
          const dot = make("circle", { cx: place[0], cy: place[1], r: 3.2, class: `dot ${line.style}` });
          dot.append(make("title", {}, `${line.name}: ${value}${between(low, high) && ` (${between(low, high)})`}`));
          svg.append(dot);
        }
      });
      const drawn = make("path", { d: path, class: `line ${line.style}` });
      drawn.append(make("title", {}, line.name));
      svg.append(drawn);
      (line.turns || []).forEach((turn) => {
        const [from, to] = turn.ends.map(toX);
        svg.append(make("path", { d: `M${from} ${toY(0)}H${to}`, class: `bar ${line.style}` }));
        const mark = make("circle", { cx: toX(turn.at), cy: toY(0), r: 5, class: `turn ${line.style}` });
        mark.append(make("title", {}, `${line.name}: ${turn.said}`));
        svg.append(mark);
      });
      const final = line.points.filter(([, value]) => known(value)).pop();
      ends.push(final ? toY(inside(final[1])) : null);
    });
    const labelled = lines.map((line, k) => k).filter((k) => ends[k] !== null);
    const places = spread(labelled.map((k) => ends[k]), 13, frame.top, frame.bottom);
    labelled.forEach((k, at) => {
      svg.append(make("text", { x: frame.right + 7, y: places[at] + 4, class: `end ${lines[k].style}` }, lines[k].end));
    });
    box.replaceChildren(svg);
  };

  // --- the figures ---------------------------------------------------------------------------------

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
    chart("plot-scores", {
      ...along,
      y: extent(everywhere),
      yLabel: metric().label,
      lines: models.map((model, m) => modelLine(model, withLimits(grid.taus, scores[m], own[m]))),
    });
    drawLess(along);
    const ranks = grid.taus.map((_, j) => ranksAt(scores, j, metric()));
    chart("plot-ranks", {
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
    chart("plot-less", {
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
    document.getElementById("tau").textContent = `τ = ${tau}`;
    document.querySelector("[data-choice=tau]").setAttribute("aria-valuetext", `τ = ${tau}`);
  };

  const drawCurves = () => {
    const box = document.getElementById("plot-curves"), note = document.getElementById("no-curves");
    if (!box) return;
    const { times, curves, curve_errors: errors, reference_curves: references, label, curve_label: curveLabel, range } = metric();
    const found = curves[state.curves] || {}, reference = references[state.curves];
    note.hidden = Object.keys(found).length > 0;
    box.hidden = !note.hidden;
    note.textContent = curveLabel === null ? `The ${label} has no values over time.` : `There is no ${curveLabel} under this adjustment.`;
    if (box.hidden) return;
    const order = times.map((_, k) => k).sort((a, b) => times[a] - times[b]);
    const relative = state.relative && reference;
    const less = (value, base) => (known(value) && known(base) ? value - base : null);
    const points = (values) => order.map((k) => [times[k], relative ? less(values[k], reference[k]) : values[k]]);
    const limits = (!relative && errors && errors[state.curves]) || {};
    const sorted = (each) => Object.fromEntries(Object.entries(each).map(([name, values]) => [name, order.map((k) => values[k])]));
    const caption = document.getElementById("curve-bands");
    if (caption) caption.hidden = Object.keys(limits).length === 0;
    const lines = models.filter((model) => found[model.name]).map((model) => {
      const line = points(found[model.name]);
      if (!entry(limits, model.name)) return modelLine(model, line);
      const at = line.map((point) => point[0]), own = sorted(limits[model.name]);
      return modelLine(model, withLimits(at, line.map((point) => point[1]), own), { edges: bandOf(at, own) });
    });
    if (reference) lines.unshift({ points: points(reference), style: "", end: "KM", name: "Kaplan–Meier" });
    const around = extent(lines.flatMap((line) => [...line.points, ...(line.edges || [])].flatMap((point) => point.slice(1))));
    chart("plot-curves", {
      lines,
      x: [times[order[0]], times[order[order.length - 1]]],
      y: relative || range[0] !== 0 ? around : [0, around[1]],
      xLabel: "time",
      yLabel: `${curveLabel} at each time${relative ? ", less that of Kaplan–Meier" : ""}`,
    });
  };

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
    const width = Math.max(260, box.clientWidth), step = 40, top = 24, height = top + step * rows.length + 40;
    const x = extent([0, ...rows.flatMap((row) => [row.value, ...row.ends])]);
    const frame = { left: 8, right: Math.min(width, 640) - 12 };
    const toX = (value) => frame.left + ((value - x[0]) / (x[1] - x[0])) * (frame.right - frame.left);
    const side = by.direction === "smaller" ? "right" : "left";
    const label = `${by.label} less that of ${isolated(leader.name)}; to the ${side} of 0, ${isolated(leader.name)} is better`;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spelt(label) });
    niceTicks(x, width < 480 ? 4 : 7).forEach((tick) => {
      svg.append(make("path", { d: `M${toX(tick)} ${top}V${height - 36}`, class: "tick" }));
      svg.append(make("text", { x: toX(tick), y: height - 22, "text-anchor": "middle" }, String(tick)));
    });
    svg.append(make("path", { d: `M${toX(0)} ${top}V${height - 36}`, class: "zero" }));
    svg.append(make("text", { x: 2, y: 13 }, `Less ${isolated(leader.name)}; to the ${side} of 0, ${isolated(leader.name)} is better`));
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

  const drawSurvival = () => {
    if (!numbers.survival) return;
    const { times, kaplan_meier: plain, taus, copula_graphic: graphic } = numbers.survival;
    const points = (values) => times.map((at, k) => [at, values[k]]);
    const lines = taus.map((tau, k) => ({
      points: points(graphic[state.survival][k]), style: `k${k} d${k + 1}`, end: `CG, τ = ${tau}`, name: `Copula-Graphic, τ = ${tau}`,
    }));
    lines.unshift({ points: points(plain), style: "", end: "Kaplan–Meier", name: "Kaplan–Meier" });
    chart("plot-survival", {
      lines, x: [0, times[times.length - 1]], y: [0, 1.02], yTicks: [0, 0.2, 0.4, 0.6, 0.8, 1], xLabel: "time", yLabel: "survival probability", steps: true, right: 100,
    });
  };

  const drawLikelihood = () => {
    if (!numbers.profile) return;
    const { families, cut } = numbers.profile;
    const curves = Object.entries(families);
    // What is hopeless need not be drawn to scale; every family's best and independence are.
    const worth = curves.flatMap(([, each]) => [Math.max(...each.difference), each.difference[each.taus.indexOf(0)]]);
    const depth = Math.max(3 * cut, -1.5 * Math.min(...worth));
    const taus = curves.flatMap(([, each]) => each.taus);
    const isCut = curves.some(([, each]) => Math.min(...each.difference) < -depth);
    const clipped = (value) => (value < -depth ? null : value);
    chart("plot-likelihood", {
      lines: curves.map(([name, each], k) => ({
        points: each.taus.map((tau, j) => [tau, clipped(each.difference[j])]), style: `k${k % 6} d${k % 6}`, end: capital(name), name: capital(name),
      })),
      x: [Math.min(...taus), Math.max(...taus)], y: [-depth, 0.05 * depth], level: -cut, dots: true, right: 66,
      xLabel: "Kendall’s τ of event and dropout",
      yLabel: `profile log-likelihood less its maximum${isCut ? `, cut at ${(-depth).toPrecision(3)}` : ""}`,
    });
  };

  const showMap = () => document.querySelectorAll("[data-map]").forEach((map) => {
    map.hidden = map.dataset.metric !== state.metric || map.dataset.adjustment !== state.adjustment;
  });

  const draw = () => [showMap, drawForests, drawGrid, drawCurves, drawSurvival, drawLikelihood].forEach((each) => each());

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
      draw();
    });
  });

  // The text as it was before it was made safe inside this page; JSON itself never has these escapes.
  const original = () =>
    embedded("numbers").replace(/\\(u003c|u003e|u0026|u2028|u2029|[^])/g, (all, code) =>
      code.length > 1 ? String.fromCharCode(parseInt(code.slice(1), 16)) : all);

  const asCsv = () => {
    // A spreadsheet would run a name that starts like a formula.
    const harmless = (value) => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    const told = grid.errors ? ["standard_error", "low", "high"] : [];
    const rows = [["metric", "adjustment", "family", "tau", "model", "score", ...told, "rank"]];
    numbers.metrics.forEach((by) => Object.keys(grid.scores[by.name]).forEach((adjustment) =>
      Object.keys(grid.scores[by.name][adjustment]).forEach((family) => {
        const scores = scoresOf(by.name, adjustment, family);
        const errors = models.map((model) => errorsOf(by.name, adjustment, family, model));
        const limits = (m, k) => (told.length ? ["standard_errors", "low", "high"].map((name) => (errors[m] ? errors[m][name][k] : null) ?? "") : []);
        grid.taus.forEach((tau, k) => ranksAt(scores, k, by).forEach((rank, m) => {
          if (rank !== null) rows.push([harmless(by.name), harmless(adjustment), family, tau, harmless(models[m].name), scores[m][k], ...limits(m, k), rank]);
        }));
      })));
    // The mark at the start tells spreadsheets that this is Unicode.
    return `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\n")}\n`;
  };

  const offer = (id, kind, text) => {
    document.getElementById(id).href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  };
  offer("download-json", "application/json", original());
  if (grid) offer("download-csv", "text/csv", asCsv());

  let width = 0;
  new ResizeObserver(([entry]) => {
    if (Math.round(entry.contentRect.width) === width) return;
    width = Math.round(entry.contentRect.width);
    draw();
  }).observe(document.querySelector("main"));
  draw();
})();
