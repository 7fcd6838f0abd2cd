// --- tables that are made when they are unfolded, and the map of who is best ------------------------------

const MARKED = numbers.confidence_level === null ? "best" : "may be best";

// Text in which isolated names stand out.
const withNames = (text) => text.split(/\u2068(.*?)\u2069/su).map((part, k) => {
  if (k % 2 === 0) return spelt(part);
  const made = element("bdi", "", shortened(part));
  if (part !== shortened(part)) made.title = spelt(part);
  return made;
});

const cellOf = (label, cell) => {
  const [text, interval, beside, isBest, value] = cell;
  const made = element("td", isBest ? "best" : ""), main = element("span");
  const model = models.find((each) => each.name === label);
  made.dataset.label = spelt(model ? `${model.letter} ${shortened(label, 24)}` : label);
  if (known(value)) { made.dataset.value = value; made.title = value; }
  main.append(...withNames(text));
  if (isBest) {
    const star = element("span", "star", " ★");
    star.append(element("span", "unseen", MARKED));
    main.append(star);
  }
  made.append(main, ...(interval ? [element("small", "interval", interval)] : []), ...(beside ? [element("small", "", beside)] : []));
  return made;
};

const headOf = (scope, name, style) => {
  const made = element("th", style), shownName = element("bdi", "", name), model = models.find((each) => each.name === name);
  made.scope = scope;
  if (name.length > 24) shownName.title = spelt(name);
  if (model) {
    const chip = element("span", `chip k${model.colour}`, model.letter);
    chip.setAttribute("aria-hidden", "true");
    made.append(chip, " ");
  }
  made.append(shownName);
  return made;
};

// By line and model, along the points of a grid.
const gridRows = ({ axis, metric: by, adjustment, lines }) => {
  const source = axis === "τ" ? overTau : overRatio;
  return lines.flatMap(([line, label]) => {
    const scores = scoresOf(source, by, adjustment, line), best = entry(entry(source.best[by], adjustment), line) || [];
    return models.map((model, m) => {
      const errors = errorsOf(source, by, adjustment, line, model);
      const cells = source.points.map((_, k) => [
        shown(scores[m][k]), errors ? between(errors.low[k], errors.high[k]) : "", "", (best[k] || []).includes(model.name), scores[m][k],
      ]);
      return { head: [label, model.name], cells };
    });
  });
};

const makeTable = (place) => {
  const spec = tables[Number(place.dataset.table)], rows = spec.rows || gridRows(spec);
  const heads = rows.length ? rows[0].head.length : 1;
  const table = element("table", spec.kind), box = element("div", "scroll"), head = element("tr"), body = element("tbody");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", spelt(spec.caption));
  head.append(...spec.head.map((name, k) => headOf("col", name, k < heads ? "left" : "")));
  body.append(...rows.map((row) => {
    const made = element("tr");
    made.append(...row.head.map((name) => headOf("row", name)), ...row.cells.map((cell, k) => cellOf(spec.head[heads + k] ?? "", cell)));
    return made;
  }));
  table.append(element("caption", "", spec.caption), element("thead"), body);
  table.tHead.append(head);
  box.append(table);
  place.replaceChildren(box, ...spec.notes.map((note) => element("p", "note", note)));
};

document.addEventListener("toggle", ({ target }) => {
  if (!target.open) return;
  [...target.querySelectorAll("[data-table]:empty")].filter((place) => place.closest("details") === target).forEach(makeTable);
}, true);

// --- who is best where ---------------------------------------------------------------------------------------

const MOST_LETTERS = 3;
// As in views/html/dependence.py.
const lettersOf = (letters, nEqual) => {
  if (letters.length <= MOST_LETTERS) return [letters.slice(0, nEqual).join("="), ...letters.slice(nEqual)].join("≈");
  return letters.length === models.length ? `all ${letters.length}` : `${letters[0]} +${letters.length - 1}`;
};

const fillCell = (cell, names, nEqual) => {
  const found = names.map((name) => models.find((model) => model.name === name)), isOpen = names.length > nEqual;
  const said = found.length ? `${someNames(names.map(isolated))}${isOpen ? " may be best" : ""}` : "no answer";
  cell.className = found.length ? `k${found[0].colour}${isOpen ? " open" : ""}` : "none";
  cell.title = spelt(said);
  const letters = element("span", "", found.length ? lettersOf(found.map(({ letter }) => letter), nEqual) : "–");
  letters.setAttribute("aria-hidden", "true");
  cell.replaceChildren(letters, element("span", "unseen", said));
};

const drawMap = () => document.querySelectorAll("[data-map]").forEach((box) => {
  const source = box.dataset.map === "τ" ? overTau : overRatio, by = source.best[state.metric][state.adjustment];
  const { label } = numbers.adjustments.find((each) => each.name === state.adjustment);
  const caption = `${box.dataset.axis}, by ${label.includes(" ") ? `“${label}”` : label}${numbers.metrics.length > 1 ? ` and the ${metric().label}` : ""}`;
  box.hidden = !by;
  box.setAttribute("aria-label", spelt(`Best model by ${caption}`));
  box.querySelector("caption").textContent = spelt(caption);
  document.querySelectorAll(`[data-missing="${box.dataset.map}"]`).forEach((note) => { note.hidden = note.dataset.adjustment !== state.adjustment; });
  if (!by) return;
  [...box.querySelectorAll("tbody tr")].forEach((row, j) => {
    const scores = scoresOf(source, state.metric, state.adjustment, source.lines[j]);
    [...row.querySelectorAll("td")].forEach((cell, k) => {
      const names = (entry(by, source.lines[j]) || [])[k] || [];
      const ranks = ranksAt(scores, k, metric());
      fillCell(cell, names, models.filter((model, m) => ranks[m] === 1 && names.includes(model.name)).length);
    });
  });
});
