// Analyses are there if they were computed.
const grid = numbers.sensitivity;
// Both grids by the same names: what lines and points are called, and how a point is said.
const overTau = grid && { ...grid, lines: grid.families, points: grid.taus, by: "families", of: "family", said: (at) => `τ = ${at.toFixed(2)}` };
const after = grid && grid.after_dropout;
const overRatio = after && { ...after, points: after.hazard_ratios, by: "lines", of: "line", said: (at) => `ρ = ${at.toFixed(2)}` };
const state = {};
document.documentElement.classList.add("scripted");

// --- what is shown -------------------------------------------------------------------------------

const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
// A long name by its start and its end, which may be all that tells it from others.
const shortened = (name, most = 40) => (name.length <= most ? name : `${name.slice(0, most - 14).trimEnd()}…${name.slice(-12).trimStart()}`);
// A name in a sentence, whose script does not move the words around it.
const isolated = (name) => `\u2068${shortened(name.replace(/[\u202a-\u202e\u2066-\u2069]/g, ""))}\u2069`;
// Several names in a sentence; of many, how many others there are.
const MOST_NAMES = 4;
const someNames = (names) => {
  const said = names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES - 1), `${names.length - MOST_NAMES + 1} others`] : names;
  return said.length > 1 ? `${said.slice(0, -1).join(", ")} and ${said[said.length - 1]}` : said[0];
};
// A name that fits into so many pixels.
const fitting = (name, width) => (name.length > width / 7 ? `${name.slice(0, Math.max(3, Math.floor(width / 7) - 1))}…` : name);
const metric = () => numbers.metrics.find((each) => each.name === state.metric);
const known = (value) => value !== null && value !== undefined;
// Of an object with names of the user's: a name may be one that all objects have.
const entry = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);
const between = (low, high) => (known(low) && known(high) ? `${shown(low)} to ${shown(high)}` : "");

// Scores of the models along the points of a grid; null where there is none.
const scoresOf = (source, metricName, adjustment, line) => {
  const found = entry(entry(source.scores[metricName], adjustment), line);
  return models.map((model) => (found ? found[model.name] : source.points.map(() => null)));
};

// Standard errors and limits of the scores of a model along the points; undefined where there are none.
const errorsOf = (source, metricName, adjustment, line, model) =>
  (source.errors ? entry(entry(entry(source.errors[metricName], adjustment), line), model.name) : undefined);

// The mean hazard ratio right after leaving along the taus, under a family; null where it is not known.
const ratiosOf = (adjustment, family) => entry(entry(grid.hazard_ratios, adjustment), family) || [];
const ratioShown = (ratio) => String(Number(ratio.toPrecision(ratio < 100 ? 2 : 3)));
const tauShown = (k, adjustment, family) => {
  const ratio = ratiosOf(adjustment, family)[k];
  return `τ = ${grid.taus[k]}${known(ratio) ? ` · hazard ratio after leaving ${ratioShown(ratio)}` : ""}`;
};

// Points of a line with the limits of their intervals.
const withLimits = (at, values, limits) => at.map((x, k) => [x, values[k], limits && limits.low[k], limits && limits.high[k]]);
const bandOf = (at, limits) => at.map((x, k) => [x, null, limits.band_low[k], limits.band_high[k]]);

// Who may be called best; an alarm without a model is about all.
const disqualified = new Set(numbers.checks.filter(({ disqualifies }) => disqualifies).map(({ model }) => model));
const contenders = models.filter(({ name }) => !disqualified.has(null) && !disqualified.has(name));

// 1 for the best; equal scores share the better rank, as in the tables, and who cannot be called best has none.
const ranksAt = (scores, k, { direction }) => {
  const better = direction === "lower" ? (one, other) => one < other : (one, other) => one > other;
  const own = models.map((model, m) => (contenders.includes(model) ? scores[m][k] : null));
  return own.map((value) => (known(value) ? 1 + own.filter((other) => known(other) && better(other, value)).length : null));
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
