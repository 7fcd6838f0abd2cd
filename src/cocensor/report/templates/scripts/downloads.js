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
