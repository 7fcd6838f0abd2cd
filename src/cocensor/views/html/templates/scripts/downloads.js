const asCsv = () => {
  // A spreadsheet would run a name that starts like a formula.
  const harmless = (value) => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const told = grid.errors ? ["standard_error", "low", "high"] : [];
  const rows = [["metric", "adjustment", "family", "reason", "tau", "hazard_ratio", "model", "score", ...told, "rank"]];
  // Of each point its family, reason, tau and hazard ratio.
  const places = [
    [overTau, (adjustment, family, k) => [family, "", grid.taus[k], ratiosOf(adjustment, family)[k] ?? ""]],
    [overRatio, (adjustment, line, k) => ["hazard_ratio", line === after.lines[0] ? "" : harmless(line), "", after.hazard_ratios[k]]],
  ];
  numbers.metrics.forEach((by) => places.filter(([source]) => source).forEach(([source, place]) =>
    Object.entries(source.scores[by.name]).forEach(([adjustment, lines]) => Object.keys(lines).forEach((line) => {
      const scores = scoresOf(source, by.name, adjustment, line);
      const errors = models.map((model) => errorsOf(source, by.name, adjustment, line, model));
      const limits = (m, k) => (told.length ? ["standard_errors", "low", "high"].map((name) => (errors[m] ? errors[m][name][k] : null) ?? "") : []);
      source.points.forEach((_, k) => ranksAt(scores, k, by).forEach((rank, m) => {
        if (known(scores[m][k])) rows.push([harmless(by.name), harmless(adjustment), ...place(adjustment, line, k), harmless(models[m].name), scores[m][k], ...limits(m, k), rank ?? ""]);
      }));
    }))));
  // The mark at the start tells spreadsheets that this is Unicode.
  return `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\n")}\n`;
};

const offer = (id, kind, text) => {
  document.getElementById(id).href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
};
offer("download-json", "application/json", JSON.stringify(numbers, null, 1));
if (grid) offer("download-csv", "text/csv", asCsv());
