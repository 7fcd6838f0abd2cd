"use strict";
// Values of figures by pointer, touch and keyboard; lines on and off; figures and texts to take away.
const tip = document.getElementById("tip"), said = document.getElementById("said");

function show(svg, tips, k) {
  const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal, scale = box.width / view.width;
  const text = [tips.at[k], ...tips.lines.filter((line) => line.t[k]).map((line) => `${line.n}: ${line.t[k]}`)];
  let cursor = svg.querySelector(".cursor");
  if (!cursor) {
    cursor = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("y1", 36);
    cursor.setAttribute("y2", view.height - 40);
  }
  cursor.setAttribute("x1", tips.x[k]);
  cursor.setAttribute("x2", tips.x[k]);
  tip.textContent = text.join("\n");
  tip.hidden = false;
  const left = box.left + tips.x[k] * scale + 10;
  tip.style.left = `${Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 8)) + scrollX}px`;
  tip.style.top = `${box.top + 44 * scale + scrollY}px`;
  return text.join("; ");
}

function hide(svg) {
  tip.hidden = true;
  svg.querySelector(".cursor")?.remove();
}

for (const svg of document.querySelectorAll("svg[data-tips]")) {
  const tips = JSON.parse(svg.dataset.tips);
  let place = -1;
  const nearest = (event) => {
    const box = svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    place = tips.x.reduce((best, at, k) => (Math.abs(at - x) < Math.abs(tips.x[best] - x) ? k : best), 0);
    show(svg, tips, place);
  };
  svg.tabIndex = 0;
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  svg.addEventListener("pointerleave", (event) => event.pointerType === "touch" || hide(svg));
  svg.addEventListener("blur", () => hide(svg));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") hide(svg);
    if (!step) return;
    event.preventDefault();
    place = Math.max(0, Math.min(tips.x.length - 1, place + step));
    said.textContent = show(svg, tips, place);
  });
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", () => act(made));
  return made;
}

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family"];

function download(svg) {
  const copy = svg.cloneNode(true), own = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((part, k) => {
    const style = getComputedStyle(own[k]);
    LOOKS.forEach((look) => part.setAttribute(look, style.getPropertyValue(look)));
    part.removeAttribute("data-tips");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  link.download = "figure.svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

for (const figure of document.querySelectorAll("figure")) {
  const tools = document.createElement("p");
  tools.className = "tools";
  const names = new Set([...figure.querySelectorAll("path.line")].map((line) => line.dataset.name));
  if (names.size > 1) {
    for (const name of names) {
      const toggle = button(name, (made) => {
        const shown = made.getAttribute("aria-pressed") === "true";
        made.setAttribute("aria-pressed", String(!shown));
        for (const line of figure.querySelectorAll("path.line")) {
          if (line.dataset.name === name) line.classList.toggle("off", shown);
        }
      });
      toggle.setAttribute("aria-pressed", "true");
      toggle.title = `Show or hide ${name}`;
      tools.append(toggle, " ");
    }
  }
  tools.append(button("SVG", () => download([...figure.querySelectorAll("svg")].find((svg) => svg.clientWidth))));
  figure.append(tools);
}

for (const text of document.querySelectorAll("[data-copy]")) {
  text.before(button(`Copy ${text.dataset.copy}`, async (made) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    try {
      await navigator.clipboard.writeText(text.textContent);
      made.textContent = "Copied";
    } catch {
      made.textContent = "Selected: copy it";
    }
  }));
}
