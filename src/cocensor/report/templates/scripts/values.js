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
