// What views/html/numbers.py has embedded: JSON as gzip in Base64.
const embedded = async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("numbers").textContent), (byte) => byte.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
};

// Of a grid the limits that follow from standard errors, each for itself and of whole lines; and the differences.
const withLimitsAgain = (source) => {
  const all = (by, change) => Object.fromEntries(Object.entries(by).map(([name, each]) => [name, change(each, name)]));
  const merged = (values, others, join) => values.map((value, k) => (value === null || others[k] === null ? null : join(value, others[k])));
  const limits = (values, errors, reach) => {
    const moved = (times) => merged(values, errors, (value, error) => value + times * error);
    return { standard_errors: errors, low: moved(-source.reach), high: moved(source.reach), band_low: moved(-reach), band_high: moved(reach) };
  };
  const byModel = ({ lines, reach }, limitsOf) => all(lines, (by, line) => all(by, (errors, model) => limitsOf(line, model, errors, Object.hasOwn(reach, model) ? reach[model] : 0)));
  const errors = all(source.errors, (by, metric) => all(by, (found, how) => byModel(found, (line, model, own, reach) => limits(source.scores[metric][how][line][model], own, reach))));
  const differences = all(source.differences, (by, metric) => all(by, (found, how) => found && {
    reference: found.reference,
    [source.lines ? "lines" : "families"]: byModel(found, (line, model, own, reach) => {
      const scores = source.scores[metric][how][line], less = merged(scores[model], scores[found.reference], (value, other) => value - other);
      return { differences: less, ...limits(less, own, reach) };
    }),
  }));
  return { ...source, errors, differences };
};

const { numbers, models, tables } = await embedded();
if (numbers.sensitivity) {
  const { sensitivity } = numbers, { after_dropout: afterDropout } = sensitivity;
  const whole = (source) => (source && source.errors ? withLimitsAgain(source) : source);
  numbers.sensitivity = { ...whole(sensitivity), after_dropout: whole(afterDropout) };
}
