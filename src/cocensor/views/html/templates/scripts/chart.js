// --- lines along an axis ---------------------------------------------------------------------------

// Places of labels at least a gap apart, each group of those that would touch around its mean, none beyond the limits.
const spread = (places, gap, low, high) => {
  const order = places.map((_, k) => k).sort((a, b) => places[a] - places[b]), groups = [];
  order.forEach((k, rank) => {
    groups.push({ members: [k], at: places[k] - rank * gap });
    while (groups.length > 1 && groups.at(-2).at > groups.at(-1).at) {
      const [one, other] = groups.splice(-2), members = [...one.members, ...other.members];
      groups.push({ members, at: (one.at * one.members.length + other.at * other.members.length) / members.length });
    }
  });
  const highest = high - (places.length - 1) * gap, found = [];
  groups.flatMap(({ members, at }) => members.map((k) => [k, at])).forEach(([k, at], rank) => { found[k] = Math.max(low, Math.min(at, highest)) + rank * gap; });
  return found;
};

// A label that was pushed away is tied to its line.
const endLabels = (ends, room) => (_, { x, y }, __, { height, marginTop, marginBottom }) => {
  const group = make("g", {}), places = spread(ends.map(({ at }) => y(at[1])), 13, marginTop, height - marginBottom);
  ends.forEach(({ at, text, style }, k) => {
    const [left, from] = [x(at[0]), y(at[1])];
    if (Math.abs(places[k] - from) > 3) group.append(make("path", { d: `M${left + 3} ${from}L${left + room - 2} ${places[k]}`, class: `leader ${style}` }));
    group.append(make("text", { x: left + room, y: places[k] + 4, "text-anchor": "start", class: `end ${style}` }, text));
  });
  return group;
};

// Marks under an axis across, with a name each where there is room, else with one for all.
const covariateRow = ({ points, named, said, more }, toX, { left, right }) => {
  const text = right - left > 400 ? `${said}${more}` : said, half = 3.2 * text.length;
  const apart = [...named].sort((a, b) => a.at - b.at);
  const isRoomy = apart.every((each, k) => k === 0 || toX(each.at) - toX(apart[k - 1].at) > 4 * (each.name.length + apart[k - 1].name.length));
  const all = points.map(({ at }) => at), middle = (Math.min(...all) + Math.max(...all)) / 2;
  const shift = Math.min(Math.max(toX(middle), left + half - 50), right - half + 30) - toX(middle);
  const labels = isRoomy ? apart.map(({ at, name }) => ({ at, text: isolated(name) })) : [{ at: middle, text }];
  const under = { x: "at", frameAnchor: "bottom" };
  return [
    ...[false, true].map((isWhole) => Plot.dot(points.filter((point) => Boolean(point.isWhole) === isWhole), {
      ...under, dy: 5, symbol: "triangle", r: isWhole ? 4.5 : 3.5, title: ({ title }) => spelt(title), className: isWhole ? "mark whole" : "mark",
    })),
    Plot.text(labels, { ...under, dy: 37, dx: isRoomy ? 0 : shift, text: ({ text: one }) => spelt(one), className: "marked" }),
  ];
};

// A second scale of the same axis, above; the first ticks are kept where two would touch.
const scaleAbove = ({ label, ticks }, toX, x) => {
  const kept = ticks.filter(({ at }) => at >= x[0] && at <= x[1]).reduce((found, tick) => (found.some(({ at }) => Math.abs(toX(at) - toX(tick.at)) < 28) ? found : [...found, tick]), []);
  const texts = new Map(kept.map(({ at, text }) => [at, String(text)]));
  return Plot.axisX([...texts.keys()], { ...AXIS, anchor: "top", tickSize: 5, tickFormat: (at) => texts.get(at), label, labelAnchor: "right", labelOffset: 38, className: "above" });
};

const rule = ({ x, y, diagonal, sign, title }) => {
  const style = { className: sign, title: title && (() => spelt(title)) };
  if (diagonal) return Plot.line(diagonal, { ...PLACE, ...style });
  return known(x) ? Plot.ruleX([x], style) : Plot.ruleY([y], style);
};

const marksOf = ({ points, band, edges = [], turns = [], style, name }, steps, hasDots) => {
  const limits = { x: coordinate(0), y1: coordinate(2), y2: coordinate(3) }, hasLimits = (each) => each.filter((point) => known(point[2]) && known(point[3])).length > 1;
  const said = ([, value, low, high]) => spelt(`${name}: ${value}${between(low, high) && ` (${between(low, high)})`}`);
  return {
    areas: [
      band && hasLimits(band) ? Plot.areaY(band, { ...limits, className: `area light ${style}` }) : null,
      hasLimits(points) ? Plot.areaY(points, { ...limits, className: `area ${style}` }) : null,
      ...(hasLimits(edges) ? [2, 3] : []).map((side) => Plot.line(edges, { x: coordinate(0), y: coordinate(side), className: `edge ${style}` })),
    ],
    lines: [
      Plot.line(points, { ...PLACE, curve: steps ? "step-after" : "linear", className: `line ${style}`, title: () => spelt(name) }),
      hasDots ? Plot.dot(points.filter((point) => known(point[1])), { ...PLACE, r: 3.2, title: said, className: `dot ${style}` }) : null,
      turns.length ? Plot.ruleY(turns, { x1: ({ ends }) => ends[0], x2: ({ ends }) => ends[1], y: 0, className: `bar ${style}` }) : null,
      turns.length ? Plot.dot(turns, { x: "at", y: 0, r: 5, title: (turn) => spelt(`${name}: ${turn.said}`), className: `turn ${style}` }) : null,
    ],
  };
};

const chart = (box, {
  lines: given, rules: asked = [], shade, marks, above, atRisk, x, y, isLog, xLabel, yLabel, xTicks, yTicks, steps, dots, isCut, tall, ends: isNamed = true,
}) => {
  if (!box) return;
  const rules = asked.filter((each) => !known(each.x) || (each.x >= x[0] && each.x <= x[1]));
  const cut = ([at, value, ...limits]) => (value < y[0] || at > x[1] ? [at, null] : [at, value, ...limits]);
  const lines = given.map((line, k) => ({ ...line, style: `${line.style} of-${k}`, points: isCut ? line.points.map(cut) : line.points }));
  const width = widthOf(box), left = atRisk ? 76 : 58, room = lines.length > 4 ? 24 : 11, right = width - (isNamed ? 10 + room + 8 * Math.max(...lines.map(({ end }) => end.length)) : 12);
  const top = above ? 56 : 26, bottom = 42 + (marks ? 20 : 0) + (atRisk ? 18 : 0);
  const tallness = Math.min(tall ? 352 : 312, Math.max(182, (tall ? 0.76 : 0.52) * width - 68));
  const toX = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (right - left);
  const ticks = atRisk ? atRisk.times : xTicks || undefined, longest = ticks ? Math.max(...[...ticks, ...(atRisk ? atRisk.n : [])].map((tick) => String(tick).length)) : 0;
  const stride = ticks ? Math.ceil((ticks.length * (7 * longest + 16)) / (right - left)) : 1, middle = ticks ? Math.max(ticks.indexOf(0), 0) : 0;
  const across = ticks ? ticks.filter((tick, k) => (k - middle) % stride === 0 && tick <= x[1]) : width < 480 ? 5 : 8;
  const drawn = lines.map((line) => marksOf(line, steps, dots));
  const ends = lines.map((line) => ({ text: line.end, style: line.style, at: line.points.filter(([, value]) => known(value)).pop() })).filter(({ at }) => at);
  figure(box, `${yLabel} by ${xLabel}: ${lines.map((line) => line.name).join(", ")}`, {
    height: Math.round(Math.max(tallness, 13 * lines.length)) + top + bottom,
    marginLeft: left, marginRight: width - right, marginTop: top, marginBottom: bottom,
    x: { domain: x, type: isLog ? "log" : "linear" }, y: { domain: y },
    legend: [
      ...lines.map(({ name, end, style }) => ({ name, end, style })),
      ...rules.filter(({ name }) => name),
      ...(shade ? [{ name: `plausible, ${shade.map((end) => end.toFixed(2)).join(" to ")}`, sign: "plausible" }] : []),
    ],
    marks: [
      ...(shade ? shadeOf(shade) : []),
      Plot.gridY({ ticks: yTicks || 5, strokeOpacity: 1, className: "tick" }),
      Plot.axisY({ ...AXIS, ticks: yTicks || 5, label: yLabel, labelOffset: left - 2 }),
      Plot.axisX({ ...AXIS, ticks: across, label: xLabel, labelAnchor: "center", labelOffset: bottom - 6, dy: marks ? 4 : 0 }),
      atRisk ? Plot.text(across, { x: (time) => time, frameAnchor: "bottom", dy: 33, text: (time) => String(atRisk.n[atRisk.times.indexOf(time)]), className: "at-risk" }) : null,
      atRisk ? Plot.text(["at risk"], { frameAnchor: "bottom-left", textAnchor: "start", dx: 2 - left, dy: 33, className: "at-risk" }) : null,
      ...(marks ? covariateRow(marks, toX, { left, right }) : []),
      above ? scaleAbove(above, toX, x) : null,
      ...rules.map(rule),
      ...drawn.flatMap(({ areas }) => areas),
      ...drawn.flatMap((each) => each.lines),
      isNamed ? endLabels(ends, room) : null,
    ],
  });
};

// Beside each other the bars of all models, in their order, in each of some cells; whiskers where there are limits.
const bars = (box, { names, lots, xLabel, yLabel }) => {
  const thick = 0.84 / lots.length, width = widthOf(box), isRoomy = ((width - 66) / names.length) * thick >= 9;
  const start = (j, m) => j + 0.5 + (m - lots.length / 2) * thick, middle = (m) => (_, j) => start(j, m) + 0.45 * thick;
  figure(box, `${yLabel} by ${xLabel}: ${lots.map(({ model }) => model.name).join(", ")}`, {
    height: Math.round(Math.min(420, Math.max(250, 0.76 * width))),
    marginLeft: 58, marginRight: 8, marginTop: 26, marginBottom: 74,
    x: { domain: [0, names.length] }, y: { domain: extent([0, ...lots.flatMap(({ points }) => points.flatMap((point) => point.slice(1)))]) },
    legend: lots.map(({ model }, m) => ({ name: model.name, end: model.letter, style: `k${model.colour} of-${m}` })),
    marks: [
      Plot.gridY({ ticks: 5, strokeOpacity: 1, className: "tick" }),
      Plot.axisY({ ...AXIS, ticks: 5, label: yLabel, labelOffset: 56 }),
      Plot.axisX(names.map((_, j) => j + 0.5), { ...AXIS, tickFormat: (at) => names[Math.floor(at)], tickRotate: -40, label: xLabel, labelAnchor: "center", labelOffset: 68 }),
      ...lots.flatMap(({ model, points }, m) => [
        Plot.rect(points, {
          x1: (_, j) => start(j, m), x2: (_, j) => start(j, m) + 0.9 * thick, y1: 0, y2: coordinate(1), className: `block k${model.colour} of-${m}`,
          title: ([, value, low, high], j) => spelt(`${model.name}, ${names[j]}: ${shown(value)}${between(low, high) && ` (${between(low, high)})`}`),
        }),
        Plot.ruleX(points, { x: middle(m), y1: coordinate(2), y2: coordinate(3), className: `limits of-${m}` }),
        isRoomy ? Plot.text(points, { x: middle(m), frameAnchor: "top", dy: 5, text: () => model.letter, className: "tiny" }) : null,
      ]),
      Plot.ruleY([0], { className: "zero" }),
    ],
  });
};
