// The frame of every picture: title, readout, legend, a table behind it, a download.

import { draw, make, SVG, table } from "./dom.js";
import { phrase } from "./phrases.js";
import { csvText } from "./downloads.js";
import { savers } from "./saved_pictures.js";
import { plainCell } from "./table_files.js";

export class Picture {
  // `draws(width)` returns { title, svg, readout, legend, table() }, null where there is nothing
  // to show, undefined where it stays as it is; `controls` are the picture's own.
  constructor(place, key, draws, controls = []) {
    Object.assign(this, { place, key, draws, isVisible: false, isNear: false, isStale: true, cursor: null });
    this.caption = make("figcaption");
    this.canvas = make("div", {
      class: "canvas", tabindex: "0", role: "group",
      on: {
        // A finger that is lifted leaves what it has shown.
        pointerdown: (event) => this.point(event), pointermove: (event) => this.point(event),
        pointerleave: (event) => { if (event.pointerType === "mouse") this.leave(); },
        keydown: (event) => this.key_(event), focusout: () => this.leave(),
      },
    });
    this.description = make("output", { class: "readout", "aria-live": "polite" });
    this.legend = make("ul", { class: "legend" });
    this.rows = make("details", { on: { toggle: () => this.showTable() } }, make("summary", null, phrase("page.table")));
    this.holder = make("div");
    this.rows.append(this.holder);
    place.replaceChildren(this.caption, controls.length ? make("div", { class: "choices" }, controls.map((one) => one.label ?? one)) : "", this.canvas, this.description, this.legend,
      make("div", { class: "tools" }, this.rows, savers(key, () => standalone(this.asItIs()), () => csvOfDrawn(this.asItIs()))));
    Picture.watch(this);
  }

  // What is near the window is drawn before a reader comes to it, and after what is in sight.
  static watch(picture) {
    Picture.observers ??= [["isVisible", "0px"], ["isNear", "200px"]].map(([where, rootMargin]) => new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) Picture.of.get(target).seen(where, isIntersecting);
    }, { rootMargin }));
    Picture.of.set(picture.place, picture);
    for (const one of Picture.observers) one.observe(picture.place);
  }

  seen(where, isThere) {
    this[where] = isThere;
    if (isThere && this.isStale) this.redraw();
  }

  // What it shows has changed: draw it now if it is in sight, else when it comes near.
  change() {
    this.isStale = true;
    this.companion?.change();
    if (this.isVisible || this.place.hidden || !(this.drawn || this.isFolded())) this.redraw();
  }

  // What is not folded is drawn with the page: below the window, too, where a reader may be at once.
  isFolded() { return this.place.closest("details:not([open])") !== null; }

  // Asking for the width makes the browser lay out the page: it is asked for once.
  measure() {
    this.width = this.place.hidden ? undefined : this.room();
    this.change();
  }

  room() { return Math.round(Math.max(300, Math.min(980, this.place.clientWidth || 720))); }

  // A `companion` is a text that follows as the picture does.
  redraw() {
    this.isStale = false;
    this.companion?.redraw();
    this.width ??= this.room();
    const drawn = this.draws(this.width);
    if (drawn === undefined) return; // as it was
    this.place.hidden = drawn === null;
    if (drawn === null) return;
    this.drawn = drawn;
    this.caption.textContent = drawn.title;
    this.canvas.setAttribute("aria-label", `${drawn.title}. Use arrow keys to read its values.`);
    this.canvas.replaceChildren(drawn.svg);
    this.legend.replaceChildren(...(drawn.legend ?? []));
    if (this.cursor !== null && drawn.readout) this.describe(Math.min(this.cursor, drawn.readout.count - 1));
    if (this.rows.open) this.showTable();
  }

  point(event) {
    const { readout } = this.drawn ?? {};
    if (readout) this.describe(readout.nearest(event.clientX, event.clientY));
  }

  key_(event) {
    const { readout } = this.drawn ?? {};
    const up = readout?.up ?? NaN; // how far on the next row is, where what is told stands in rows
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: up, ArrowDown: -up, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (!readout || step === undefined || Number.isNaN(step)) return;
    event.preventDefault();
    if (this.cursor === null) { this.describe(step > 0 ? 0 : readout.count - 1); return; }
    const next = this.cursor + step, isInside = next >= 0 && next < readout.count;
    if (isInside || Math.abs(step) !== up) this.describe(Math.max(0, Math.min(readout.count - 1, next)));
  }

  describe(index) {
    if (index === null || index < 0) return this.leave();
    this.cursor = index;
    this.description.textContent = this.drawn.readout.describe(index);
  }

  leave() {
    this.cursor = null;
    this.description.textContent = "";
    this.drawn?.readout?.hide();
  }

  showTable() {
    if (!this.rows.open || !this.drawn) return;
    const { head, rows } = this.drawn.table();
    this.holder.replaceChildren(table(head, rows, new Set(head.keys()), null));
  }

  // What it shows now, whether or not it is in sight.
  asItIs() {
    if (this.isStale) this.redraw();
    return this.drawn;
  }
}
Picture.of = new Map();

function shownText(cell) { return Array.isArray(cell) ? cell.map(shownText).join("") : cell?.textContent ?? String(cell ?? ""); }

// The numbers behind a picture: of lines all points as they were reckoned, of others what their table tells.
function csvOfDrawn({ chart, table: tableOf }) {
  if (chart) {
    const fans = chart.series.flatMap(({ name, fan }) => (fan ? [[`${name}, low`, fan.low, fan], [`${name}, high`, fan.high, fan]] : []));
    const columns = [...chart.series.map(({ name, values }) => [name, (i) => values[i]]), ...fans.map(([name, ends, fan]) => [name, (i) => fan.end(ends, i)])];
    return csvText([chart.x.label, ...columns.map(([name]) => name)], Array.from(chart.x.values, (x, i) => [x, ...columns.map(([, at]) => at(i))]));
  }
  const { head, rows } = tableOf();
  return csvText(head.map(shownText), rows.map((row) => row.map((cell) => plainCell(shownText(cell)))));
}

const STYLED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight"];

// The picture as a file of its own: with the colors that it has here, its title and its legend.
export function standalone({ svg, title, legend }) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLED) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const entries = [...(legend ?? [])].map((one) => one.textContent).join("; ");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `0 -26 ${width} ${height + 46}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height + 46);
  const ink = getComputedStyle(document.body).color, paper = getComputedStyle(document.body).backgroundColor;
  const text = (y, size, content) => draw("text", { x: 8, y, "font-size": size, fill: ink, "font-family": "sans-serif" }, content);
  copy.prepend(draw("rect", { x: 0, y: -26, width, height: height + 46, fill: paper }), text(-8, 15, title));
  if (entries) copy.append(text(height + 14, 11, entries));
  return new XMLSerializer().serializeToString(copy);
}

// Where the readout comes from points or bars: the one nearest to the pointer is told.
export function pointReadout(svg, points) {
  const ring = draw("circle", { r: 8, class: "rule", fill: "none", visibility: "hidden" });
  svg.append(ring);
  return {
    count: points.length,
    describe(index) {
      ring.setAttribute("cx", points[index].x);
      ring.setAttribute("cy", points[index].y);
      ring.setAttribute("visibility", "visible");
      return points[index].text;
    },
    nearest(clientX, clientY) {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const x = (clientX - box.left) * scale, y = (clientY - box.top) * scale;
      const away = (p) => (p.band ? Math.abs(p.y - y) : Math.hypot(p.x - x, p.y - y));
      return points.reduce((best, p, i) => (away(p) < away(points[best]) ? i : best), 0);
    },
    hide() { ring.setAttribute("visibility", "hidden"); },
  };
}

// A choice among names that belongs to a picture; `update` offers other names. What a reader chose stays
// chosen, also while it is not offered; where nothing was, what is preferred is shown.
export class Choice {
  constructor(text, onchange) {
    this.select = make("select", { on: { change: () => this.choose(onchange) } });
    this.label = make("label", null, `${text} `, this.select);
    this.names = [];
    this.said = null;
  }

  choose(onchange) {
    this.said = this.value === this.preferred ? null : this.value;
    onchange();
  }

  get value() { return this.select.value; }

  say(name) {
    this.said = name;
    this.update(this.names, this.preferred, this.labelOf);
  }

  offers(name) { return this.names.includes(name); }

  update(names, preferred = names[0], labelOf = (name) => name) {
    Object.assign(this, { preferred, labelOf });
    if (names.length !== this.names.length || names.some((name, i) => name !== this.names[i])) {
      this.names = names;
      this.select.replaceChildren(...names.map((name) => make("option", { value: name, title: name }, labelOf(name))));
      this.label.hidden = names.length < 2;
    }
    const shown = names.includes(this.said) ? this.said : preferred;
    if (shown !== undefined && shown !== this.value) this.select.value = shown;
  }
}

export function switchOf(text, onchange) {
  const box = make("input", { type: "checkbox", on: { change: onchange } });
  return {
    label: make("label", null, box, ` ${text}`), get value() { return box.checked; },
    get said() { return box.checked ? "on" : null; }, say(state) { box.checked = state === "on"; }, offers(state) { return state === "on"; },
  };
}
