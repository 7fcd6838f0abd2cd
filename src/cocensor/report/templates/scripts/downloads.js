// The text as it was before it was made safe inside this page; JSON itself never has these escapes.
const original = () =>
  embedded("numbers").replace(/\\(u003c|u003e|u0026|u2028|u2029|[^])/g, (all, code) =>
    code.length > 1 ? String.fromCharCode(parseInt(code.slice(1), 16)) : all);

const asCsv = () => {
  // A spreadsheet would run a name that starts like a formula.
  const harmless = (value) => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const told = grid.errors ? ["standard_error", "low", "high"] : [];
  const rows = [["metric", "adjustment", "family", "reason", "tau", "hazard_ratio", "model", "score", ...told, "rank"]];
  // The scores of a grid by one metric; its points have a family, a reason, a τ and a hazard ratio.
  const add = (of, by, points, place) => Object.entries(of.scores[by.name]).forEach(([adjustment, byLine]) =>
    Object.entries(byLine).forEach(([line, byModel]) => {
      const scores = models.map((model) => byModel[model.name]);
      const errors = models.map((model) => (of.errors ? entry(entry(of.errors[by.name][adjustment], line), model.name) : undefined));
      const limits = (m, k) => (told.length ? ["standard_errors", "low", "high"].map((name) => (errors[m] ? errors[m][name][k] : null) ?? "") : []);
      points.forEach((point, k) => ranksAt(scores, k, by).forEach((rank, m) => {
        if (rank !== null) rows.push([harmless(by.name), harmless(adjustment), ...place(adjustment, line, k), harmless(models[m].name), scores[m][k], ...limits(m, k), rank]);
      }));
    }));
  const after = grid.after_dropout;
  numbers.metrics.forEach((by) => {
    add(grid, by, grid.taus, (adjustment, family, k) => [family, "", grid.taus[k], grid.hazard_ratios[adjustment][family][k] ?? ""]);
    if (after) add(after, by, after.hazard_ratios, (_, line, k) => ["hazard_ratio", line === "all" ? "" : harmless(line), "", after.hazard_ratios[k]]);
  });
  // The mark at the start tells spreadsheets that this is Unicode.
  return `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\n")}\n`;
};

const offer = (id, kind, text) => {
  document.getElementById(id).href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
};
offer("download-json", "application/json", original());
if (grid) offer("download-csv", "text/csv", asCsv());
