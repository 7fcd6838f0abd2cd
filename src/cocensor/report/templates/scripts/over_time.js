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
