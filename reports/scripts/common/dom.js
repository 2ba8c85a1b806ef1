// Elements, made of plain values: a spec's text can only ever become a text node or a value.

export const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

// A table with a heading row; cells are texts or elements, columns in `numeric` stand right.
// `beside` is what stands behind it: a way to have it as a file.
export function table(head, rows, numeric = new Set(), beside = tableSaver()) {
  const isRight = (i) => (numeric.has(i) ? "num" : null);
  const heads = head.map((content, i) => make("th", { class: isRight(i), scope: "col" }, content));
  // Where there is no room for columns, each cell says what it is.
  const labels = heads.map((one) => one.textContent);
  const cells = (row) => row.map((content, i) => make("td", { class: isRight(i), "data-label": labels[i] }, content));
  return scroller(make("div", { class: "scroll" }, make("table", null,
    make("thead", null, make("tr", null, heads)),
    make("tbody", null, rows.map((row) => make("tr", null, cells(row))))), beside));
}

// What is wider than its place takes the focus, so that keys scroll it; what is not, does not.
const scrollers = globalThis.ResizeObserver && new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWide = target.scrollWidth > target.clientWidth;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "scrolls sideways"]]) {
      if (isWide) target.setAttribute(name, value); else target.removeAttribute(name);
    }
  }
});

export function scroller(element) {
  scrollers.observe(element);
  return element;
}

export function tableSaver() { return make("button", { type: "button", class: "quiet csv", "aria-label": "Download this table as CSV" }, "CSV"); }

// A box to tick, with its label; `changed` is told whether it is ticked.
export function tickBox(text, isTicked, changed, title = null) {
  const box = make("input", { type: "checkbox", checked: isTicked, on: { change: () => changed(box.checked) } });
  return make("label", { title }, box, ` ${text}`);
}

// Names of which some are chosen, folded away.
export function chooser(summary, boxes) {
  return make("details", { class: "chooser" }, make("summary", null, summary), make("div", { class: "ticks" }, boxes));
}

// A name that may break behind its dots and underlines, and nowhere else.
export function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

// A text in which what stands between backquotes is code.
export function withCode(text) { return text.split("`").map((part, i) => (i % 2 ? make("code", part.length > SHORT_CODE ? { class: "long" } : null, part) : part)); }

// What to type so that there is more to say: apart, as paper has no use for it.
export function hint(text) { return make("span", { class: "hint" }, withCode(text)); }

const SHORT_CODE = 24; // stays in one line

export function fill(id, ...children) {
  const place = document.getElementById(id);
  if (place) place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
}

const COLORS = 8;
const DASHES = ["", "8 4", "2 4", "10 4 2 4", "5 3", "1 3", "12 3", "6 2 1 2"];
export function color(index) { return `var(--c${index % COLORS})`; }
export function dash(index) { return DASHES[index % DASHES.length] || null; }
