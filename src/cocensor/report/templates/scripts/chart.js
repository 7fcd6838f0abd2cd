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
  const steps = [0.5, 1, 2, 5, 10].map((factor) => factor * power), at = steps.findIndex((each) => each >= raw);
  const every = (step) => {
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) ticks.push(Number((k * step).toPrecision(10)));
    return ticks;
  };
  const ticks = every(steps[at]);
  return ticks.length > 1 ? ticks : every(steps[at - 1]); // a single one is no scale
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

// A range of an axis across that is held plausible.
const shadeIn = (svg, [from, to], toX, { top, bottom }) => {
  const shade = make("path", { d: `M${toX(from)} ${top}H${toX(to)}V${bottom}H${toX(from)}Z`, class: "plausible" });
  shade.append(make("title", {}, `plausible: ${from} to ${to}`));
  svg.append(shade, make("text", { x: toX(from) + 3, y: top + 11, class: "tiny" }, "plausible"));
};

// Marks under an axis across, with a name each where there is room, else with one for all.
const marksIn = (svg, { points, named, said, more }, toX, { left, right, bottom }) => {
  const text = right - left > 400 ? `${said}${more}` : said, half = 3.2 * text.length;
  points.forEach(({ at, title, isWhole }) => {
    const size = isWhole ? 4 : 3;
    const mark = make("path", { d: `M${toX(at)} ${bottom + 1}l${size} ${2 * size}h${-2 * size}Z`, class: isWhole ? "mark whole" : "mark" });
    mark.append(make("title", {}, title));
    svg.append(mark);
  });
  const apart = [...named].sort((a, b) => a.at - b.at);
  const isRoomy = apart.every((each, k) => k === 0 || toX(each.at) - toX(apart[k - 1].at) > 4 * (each.name.length + apart[k - 1].name.length));
  const middle = (toX(Math.min(...points.map((each) => each.at))) + toX(Math.max(...points.map((each) => each.at)))) / 2;
  const labels = isRoomy
    ? apart.map((each) => [toX(each.at), isolated(each.name)])
    : [[Math.min(Math.max(middle, left + half - 50), right - half + 30), text]];
  labels.forEach(([at, shownText]) => svg.append(make("text", { x: at, y: bottom + 36, "text-anchor": "middle", class: "marked" }, shownText)));
};

const chart = (box, {
  shade, marks, above, isLog, lines, x, y, xLabel, yLabel, xTicks, yTicks, steps, dots, here, level, zero, diagonal, isCut, tall, ends: isNamed = true, right = 34,
}) => {
  if (!box) return;
  const beneath = marks ? 62 : 42, top = above ? 56 : 26;
  const width = Math.max(260, box.clientWidth), plain = Math.min(tall ? 420 : 380, Math.max(250, (tall ? 0.76 : 0.52) * width));
  const height = Math.round(plain) + beneath + top - 68;
  const frame = { left: 58, right: width - right, top, bottom: height - beneath };
  const scale = isLog ? Math.log : Number;
  const toX = (value) => frame.left + ((scale(value) - scale(x[0])) / (scale(x[1]) - scale(x[0]))) * (frame.right - frame.left);
  const toY = (value) => frame.bottom - ((value - y[0]) / (y[1] - y[0])) * (frame.bottom - frame.top);
  const label = `${yLabel} by ${xLabel}: ${lines.map((line) => line.name).join(", ")}`;
  const crowd = lines.length > 4 ? "crowd" : "";
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: crowd });
  const few = width < 480;
  if (shade) shadeIn(svg, shade, toX, frame);
  (yTicks || niceTicks(y, 5)).forEach((tick) => {
    svg.append(make("path", { d: `M${frame.left} ${toY(tick)}H${frame.right}`, class: "tick" }));
    svg.append(make("text", { x: frame.left - 8, y: toY(tick) + 4, "text-anchor": "end" }, String(tick)));
  });
  const most = few ? 7 : 14, stride = xTicks ? Math.ceil(xTicks.length / most) : 1, middle = xTicks ? Math.max(xTicks.indexOf(0), 0) : 0;
  const across = xTicks ? xTicks.filter((_, k) => (k - middle) % stride === 0) : niceTicks(x, few ? 5 : 8);
  across.forEach((tick) => {
    svg.append(make("text", { x: toX(tick), y: frame.bottom + (marks ? 21 : 18), "text-anchor": "middle" }, String(tick)));
  });
  svg.append(make("text", { x: 2, y: 13 }, yLabel));
  svg.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel));
  if (marks) marksIn(svg, marks, toX, frame);
  if (above) {
    svg.append(make("text", { x: frame.right, y: 30, "text-anchor": "end" }, above.label));
    svg.append(make("path", { d: `M${frame.left} ${top}H${frame.right}`, class: "tick" }));
    const taken = [];
    above.ticks.filter(({ at }) => at >= x[0] && at <= x[1]).forEach(({ at, text }) => {
      if (taken.some((other) => Math.abs(other - toX(at)) < 28)) return;
      taken.push(toX(at));
      svg.append(make("path", { d: `M${toX(at)} ${top}v-5`, class: "tick" }), make("text", { x: toX(at), y: top - 8, "text-anchor": "middle", class: "above" }, text));
    });
  }
  if (level !== undefined) svg.append(make("path", { d: `M${frame.left} ${toY(level)}H${frame.right}`, class: "here" }));
  if (zero) svg.append(make("path", { d: `M${frame.left} ${toY(0)}H${frame.right}`, class: "zero" }));
  if (diagonal) svg.append(make("path", { d: `M${toX(x[0])} ${toY(y[0])}L${toX(x[1])} ${toY(y[1])}`, class: "here" }));
  if (here !== undefined) svg.append(make("path", { d: `M${toX(here)} ${frame.top}V${frame.bottom}`, class: "here" }));
  const inside = (value) => Math.min(Math.max(y[0], y[1]), Math.max(Math.min(y[0], y[1]), value));
  const isDrawn = ([at, value]) => known(value) && !(isCut && (value < y[0] || at > x[1]));
  const ends = [];
  const edge = (run, side) => run.map((point) => `${toX(point[0])} ${toY(inside(point[side]))}`).join("L");
  const area = (points, style) => runs(points.map((point) => (isDrawn(point) || !isCut ? point : []))).forEach((run) => {
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
      if (!isDrawn([at, value])) { last = null; return; }
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
    const final = line.points.filter(isDrawn).pop();
    ends.push(final ? [toX(final[0]), toY(inside(final[1]))] : null);
  });
  const labelled = lines.map((line, k) => k).filter((k) => isNamed && ends[k] !== null);
  const places = spread(labelled.map((k) => ends[k][1]), 13, frame.top, frame.bottom);
  labelled.forEach((k, at) => {
    svg.append(make("text", { x: ends[k][0] + 7, y: places[at] + 4, class: `end ${lines[k].style}` }, lines[k].end));
  });
  box.replaceChildren(svg);
};

// Beside each other the bars of all models, in their order, in each of some cells; whiskers where there are limits.
const bars = (box, { names, lots, xLabel, yLabel }) => {
  const width = Math.max(260, box.clientWidth), height = Math.round(Math.min(420, Math.max(250, 0.76 * width)));
  const frame = { left: 58, right: width - 8, top: 26, bottom: height - 74 };
  const y = extent([0, ...lots.flatMap(({ points }) => points.flatMap((point) => point.slice(1)))]);
  const toY = (value) => frame.bottom - ((value - y[0]) / (y[1] - y[0])) * (frame.bottom - frame.top);
  const label = `${yLabel} by ${xLabel}: ${lots.map(({ model }) => model.name).join(", ")}`;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  niceTicks(y, 5).forEach((tick) => {
    svg.append(make("path", { d: `M${frame.left} ${toY(tick)}H${frame.right}`, class: "tick" }));
    svg.append(make("text", { x: frame.left - 8, y: toY(tick) + 4, "text-anchor": "end" }, String(tick)));
  });
  svg.append(make("text", { x: 2, y: 13 }, yLabel));
  svg.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel));
  const cell = (frame.right - frame.left) / names.length, thick = (0.84 * cell) / lots.length;
  names.forEach((name, j) => {
    const middle = frame.left + (j + 0.5) * cell;
    svg.append(make("text", { x: middle, y: frame.bottom + 10, "text-anchor": "end", transform: `rotate(-40 ${middle} ${frame.bottom + 10})` }, name));
    lots.forEach(({ model, points }, m) => {
      const [, value, low, high] = points[j], left = middle + (m - lots.length / 2) * thick;
      if (!known(value)) return;
      const bar = make("path", { d: `M${left} ${toY(0)}V${toY(value)}h${0.9 * thick}V${toY(0)}Z`, class: `block k${model.colour}` });
      bar.append(make("title", {}, `${model.name}, ${name}: ${shown(value)}${between(low, high) && ` (${between(low, high)})`}`));
      svg.append(bar);
      if (known(low) && known(high)) svg.append(make("path", { d: `M${left + 0.45 * thick} ${toY(low)}V${toY(high)}`, class: "limits" }));
      if (thick >= 9) svg.append(make("text", { x: left + 0.45 * thick, y: toY(y[1]) + 10, "text-anchor": "middle", class: "tiny" }, model.letter));
    });
  });
  svg.append(make("path", { d: `M${frame.left} ${toY(0)}H${frame.right}`, class: "zero" }));
  box.replaceChildren(svg);
};
