// The numbers as report/packing.py has packed them.
const unpacked = ({ numbers: content, pool, models: known, width }) => {
  const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // Each number is told less what those before it and above it let expect; "." is none.
  const decoded = (text, length, unit) => {
    const steps = [], found = [];
    for (let at = 0; at < text.length; at += 1) {
      const k = steps.length, above = k >= length ? steps[k - length] : 0;
      if (text[at] === ".") { steps.push(0); found.push(null); continue; }
      let rest = 0, digit = BASE64.indexOf(text[at]), power = 1;
      while (digit >= 32) {
        rest += (digit - 32) * power;
        power *= 32;
        at += 1;
        digit = BASE64.indexOf(text[at]);
      }
      rest += digit * power;
      const half = Math.floor(rest / 2);
      const before = k % length ? steps[k - 1] - (k > length ? steps[k - 1 - length] : 0) : 0;
      steps.push((rest % 2 ? -half : half) + before + above);
      found.push(Number(`${steps[k]}e${unit}`));
    }
    return found;
  };
  const named = (names, values) => Object.fromEntries(names.map((name, k) => [name, values[k]]));
  const shaped = (values, [axis, ...axes], gaps) => {
    const n = axis.length ?? axis, size = values.length / n;
    if (!axes.length && gaps && values.every((value) => value === null)) return null;
    const parts = axes.length ? Array.from({ length: n }, (_, k) => shaped(values.slice(k * size, (k + 1) * size), axes, gaps)) : values;
    return axis.length === undefined ? parts : named(axis, parts);
  };
  const made = new Map();
  const make = (item) => {
    if (typeof item === "string") return item;
    if (item.names) return item.names.map(open);
    if (item.models) return item.models[0].split(";").map((codes) => Array.from({ length: codes.length / width }, (_, k) => known[parseInt(codes.slice(k * width, (k + 1) * width), 36)]));
    if (item.records) {
      const names = open(item.records), columns = item.columns.map(open);
      return columns[0].map((_, k) => named(names, columns.map((column) => column[k])));
    }
    const axes = item.axes.map(open), last = axes[axes.length - 1];
    return shaped(decoded(item.values, last.length ?? last, item.unit), axes, item.gaps);
  };
  function open(node) {
    if (typeof node === "string" && node.startsWith("$$")) return node.slice(1);
    if (typeof node === "string" && node.startsWith("$")) {
      const at = Number(node.slice(1));
      if (!made.has(at)) made.set(at, make(pool[at]));
      return made.get(at);
    }
    if (Array.isArray(node)) return node.map(open);
    return node && typeof node === "object" ? Object.fromEntries(Object.entries(node).map(([name, each]) => [name, open(each)])) : node;
  }
  return open(content);
};

// Of a grid the limits that follow from standard errors: each for itself, and of whole lines.
const withLimitsAgain = (source) => {
  const all = (by, change) => Object.fromEntries(Object.entries(by).map(([name, each]) => [name, change(each, name)]));
  const moved = (values, errors, reach) => values.map((value, k) => (value === null || errors[k] === null ? null : value + reach * errors[k]));
  const limits = (values, found, reach) => ({
    ...found,
    low: moved(values, found.standard_errors, -source.reach), high: moved(values, found.standard_errors, source.reach),
    band_low: moved(values, found.standard_errors, -reach), band_high: moved(values, found.standard_errors, reach),
  });
  const byModel = (lines, reach, valuesOf) => all(lines, (by, line) => all(by, (found, model) => limits(valuesOf(line, model, found), found, Object.hasOwn(reach, model) ? reach[model] : 0)));
  const errors = all(source.errors, (by, metric) => all(by, ({ lines, reach }, how) => byModel(lines, reach, (line, model) => source.scores[metric][how][line][model])));
  const differences = all(source.differences, (by) => all(by, (found) => {
    if (!found) return found;
    const { reference, reach, ...lines } = found;
    return { reference, ...all(lines, (each) => byModel(each, reach, (line, model, { differences: values }) => values)) };
  }));
  const pairs = all(source.pairs, (by) => all(by, (turns) => turns.map(({ a, b, line, at, low, high, isOpen }) => (
    { a, b, tipping_points: [{ [source.lines ? "line" : "family"]: line, at, interval: isOpen ? null : [low, high] }] }))));
  return { ...source, errors, differences, pairs };
};

const embedded = (id) => JSON.parse(document.getElementById(id).textContent);
const numbers = unpacked(embedded("numbers"));
const models = embedded("series");
if (numbers.sensitivity) {
  const { sensitivity } = numbers, after = sensitivity.after_dropout;
  const whole = (source) => (source && source.errors ? withLimitsAgain(source) : source);
  numbers.sensitivity = { ...whole(sensitivity), after_dropout: whole(after) };
}
