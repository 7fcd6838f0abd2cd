// --- what all figures share ------------------------------------------------------------------------

const make = (kind, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  if (text !== undefined) made.textContent = spelt(`${text}`);
  return made;
};

const element = (kind, style, text) => {
  const made = document.createElement(kind);
  if (style) made.className = style;
  if (text !== undefined) made.textContent = spelt(`${text}`);
  return made;
};

const extent = (values) => {
  const finite = values.filter(known);
  const low = Math.min(...finite), high = Math.max(...finite);
  const room = 0.06 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low - room, high + room];
};

const coordinate = (k) => (point) => point[k];
const PLACE = { x: coordinate(0), y: coordinate(1) };
const AXIS = { labelArrow: "none", tickSize: 0, tickFormat: String };
const widthOf = (box) => Math.max(260, box.clientWidth);

// What stands out of a figure while its name in the legend, or itself, is pointed at.
const light = (svg, k) => {
  svg.classList.toggle("dimmed", k !== undefined);
  svg.querySelectorAll(".lit").forEach((each) => each.classList.remove("lit"));
  svg.querySelectorAll(`.of-${k}`).forEach((each) => each.classList.add("lit"));
};

// Lines can be reached by the keyboard: the first by Tab, from there the others by arrows.
const legendOf = (svg, entries) => {
  const list = element("ul", "key");
  entries.forEach(({ name, end, style = "", sign }, k) => {
    const item = element("li"), entry = sign ? item : element("button"), swatch = make("svg", { viewBox: "0 0 34 8", class: "dash", "aria-hidden": "true" });
    swatch.append(make("path", { d: sign === "plausible" ? "M0 0H34V8H0Z" : "M0 4H34", class: `${sign || "line"} ${style}` }));
    if (!sign && end !== name) entry.append(element("span", `chip ${style.split(" ")[0]}`, end));
    entry.append(swatch, Object.assign(element("bdi", "", name), { title: spelt(name) }));
    list.append(item);
    if (sign) return;
    item.append(entry);
    Object.assign(entry, { type: "button", tabIndex: k ? -1 : 0, onpointerenter: () => light(svg, k), onpointerleave: () => light(svg), onfocus: () => light(svg, k), onblur: () => light(svg) });
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], buttons = [...list.querySelectorAll("button")];
    if (!step) return;
    event.preventDefault();
    buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
  });
  svg.addEventListener("pointerover", ({ target }) => {
    const found = target.closest("[class*=of-]");
    light(svg, found ? found.getAttribute("class").match(/of-(\d+)/)[1] : undefined);
  });
  svg.addEventListener("pointerleave", () => light(svg));
  return list;
};

const figure = (box, label, { legend = [], x, y, ...options }) => {
  const svg = Plot.plot({
    width: widthOf(box), ariaLabel: spelt(label), ...options, x: { axis: null, ...x }, y: { axis: null, clamp: true, ...y },
  });
  svg.querySelector("style").remove(); // the page has its own, and its policy admits no other
  svg.setAttribute("role", "img");
  svg.style.setProperty("--n", legend.filter(({ sign }) => !sign).length);
  box.replaceChildren(svg, ...(legend.length ? [legendOf(svg, legend)] : []));
};

// A range of the axis across that is held plausible.
const shadeOf = ([from, to]) => [
  Plot.rect([0], { x1: from, x2: to, className: "plausible", title: () => `plausible: ${from} to ${to}` }),
  Plot.text([0], { x: from, frameAnchor: "top", lineAnchor: "top", textAnchor: "start", dx: 3, dy: 3, text: () => "plausible", className: "tiny" }),
];
