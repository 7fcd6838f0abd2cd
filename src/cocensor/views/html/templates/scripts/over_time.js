// The axis of time, and how many are at risk along it.
const alongTime = (end, atRisk) => ({ x: [0, end], xLabel: numbers.time.label, atRisk });

// Values over time, sorted by it, with their limits.
const overTime = (box, times, curves, limits, yLabel, { reference, y, tall } = {}) => {
  const order = times.map((_, k) => k).sort((a, b) => times[a] - times[b]);
  const at = order.map((k) => times[k]);
  const sorted = (each) => Object.fromEntries(Object.entries(each).map(([name, values]) => [name, order.map((k) => values[k])]));
  const found = sorted(curves);
  const lines = models.filter((model) => entry(found, model.name)).map((model) => {
    const own = entry(limits, model.name) && sorted(limits[model.name]);
    return modelLine(model, withLimits(at, found[model.name], own), own ? { edges: bandOf(at, own) } : {});
  });
  if (reference) lines.unshift({ points: order.map((k) => [times[k], reference[k]]), style: "", end: "KM", name: "Kaplan–Meier" });
  const around = extent(lines.flatMap((line) => [...line.points, ...(line.edges || [])].flatMap((point) => point.slice(1))));
  chart(box, { ...alongTime(at[at.length - 1], { times: numbers.at_risk.times, n: numbers.at_risk.test }), lines, tall, y: y ? y(around) : around, yLabel: `${yLabel} at each time` });
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
  const relative = state.relative && reference;
  const less = (values) => (relative ? values.map((value, k) => (known(value) && known(reference[k]) ? value - reference[k] : null)) : values);
  const shownCurves = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, less(values)]));
  const limits = (!relative && errors && errors[state.curves]) || {};
  const caption = document.getElementById("curve-bands");
  if (caption) caption.hidden = Object.keys(limits).length === 0;
  overTime(box, times, shownCurves, limits, `${curveLabel}${relative ? ", minus that of Kaplan–Meier," : ""}`, {
    reference: reference && less(reference),
    y: (around) => (relative || range[0] !== 0 ? around : [0, around[1]]),
  });
};
