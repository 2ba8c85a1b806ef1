// Parallel coordinates: an axis for each column, a line for each configuration (Inselberg 1985).
// A range of an axis is kept by drawing along it, or with the keys of its two ends.
//
// Lines are painted on a canvas (`line_paint.js`), never for longer than a frame has.

import { chooser, draw, make, tickBox } from "../common/dom.js";
import { savers } from "../common/saved_pictures.js";
import { whole } from "../common/format.js";
import { standalone } from "../common/picture.js";
import { AXIS_ROOM, LEVELS, LineAxis } from "./line_axis.js";
import { paintLines } from "./line_paint.js";

const TICK_ROOM = 48, LINES_HEIGHT = 380, SLICE = 6; // ms

export class ParallelPicture {
  // `app` has columns, filters, view, all, chosen, change() and choose(row).
  constructor(place, app, shown) {
    Object.assign(this, { place, app, isFlipped: new Set(), jobs: new Map() });
    this.shown = shown.map((index) => app.columns[index]);
    this.caption = make("figcaption");
    this.back = make("canvas", { "aria-hidden": "true" });
    this.ahead = make("canvas", { "aria-hidden": "true" });
    this.stage = make("div", { class: "lines" });
    this.readout = make("output", { class: "readout", "aria-live": "polite" });
    place.replaceChildren(this.caption, this.chooser(), make("div", { class: "scroll" }, this.stage), this.readout,
      make("p", { class: "soft legend-text" }, "Drag along an axis to filter a range; click the axis to clear the filter. Click a heading to flip its axis, or move the axis with the ◀ and ▶ keys. The table below shows the same rows."),
      make("div", { class: "tools" }, savers("lines", () => this.standing())));
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => this.leave());
    this.stage.addEventListener("click", (event) => this.pick(event));
    new IntersectionObserver((entries) => {
      this.isVisible = entries.at(-1).isIntersecting;
      if (this.isVisible && this.isStale) this.change();
    }, { rootMargin: "200px" }).observe(place);
    const again = () => this.layOut();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    matchMedia("print").addEventListener("change", again);
    addEventListener("resize", () => { if (Math.abs(this.room() - this.fitted) > 8) again(); });
    this.layOut();
  }

  chooser() {
    return chooser("Axes", this.app.columns.filter((one) => one.values.length > 1).map((one) => tickBox(one.label, this.shown.includes(one), (isTicked) => {
      this.shown = isTicked ? [...this.shown, one] : this.shown.filter((other) => other !== one);
      this.layOut();
    })));
  }

  room() { return Math.max(300, this.place.clientWidth || 720); }

  // Axes, heads and canvases anew; then the lines.
  layOut() {
    this.fitted = this.room();
    const count = this.shown.length;
    this.width = Math.max(this.fitted, count * AXIS_ROOM + TICK_ROOM);
    this.height = LINES_HEIGHT;
    this.top = 54;
    this.bottom = this.height - 14;
    const edge = AXIS_ROOM / 2;
    const step = count > 1 ? (this.width - 2 * edge - TICK_ROOM) / (count - 1) : 0;
    this.axes = this.shown.map((column, i) => new LineAxis(this, column, count > 1 ? edge + i * step : this.width / 2));
    for (const canvas of [this.back, this.ahead]) {
      const scale = devicePixelRatio || 1;
      canvas.width = Math.round(this.width * scale);
      canvas.height = Math.round(this.height * scale);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.chosen = draw("path", { class: "chosen-line" });
    this.hover = draw("path", { class: "hover-line" });
    this.svg = draw("svg", { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, class: "chart", role: "group", "aria-label": "Parallel coordinates" },
      this.axes.map((axis) => axis.element), this.chosen, this.hover);
    this.stage.style.width = `${this.width}px`;
    this.stage.style.height = `${this.height}px`;
    this.stage.replaceChildren(this.back, this.ahead, this.svg);
    this.request(this.back, this.app.all, "--edge", 0.35);
    this.change();
  }

  y(level) { return this.bottom - (level / (LEVELS - 1)) * (this.bottom - this.top); }

  mark() { this.trace(this.chosen, this.app.chosen); }

  // The rows that are kept have changed.
  change() {
    this.isStale = this.isVisible === false;
    const { view, all } = this.app;
    const count = view.length === all.length ? whole(all.length) : `${whole(view.length)} of ${whole(all.length)}`;
    this.caption.textContent = `${count} configurations in parallel coordinates`;
    this.svg.setAttribute("aria-label", this.caption.textContent);
    for (const axis of this.axes) axis.refresh();
    this.mark();
    if (!this.isStale) this.request(this.ahead, view, "--c0", 1);
  }

  trace(path, row) {
    const d = row === null || this.axes.length < 2 ? "M0 0" : this.axes.map((axis, i) => `${i ? "L" : "M"}${axis.x.toFixed(1)} ${this.y(axis.levels[axis.column.codes[row]]).toFixed(1)}`).join("");
    path.setAttribute("d", d);
  }

  // -- drawing --------------------------------------------------------------------------------

  // Draw rows on a canvas, in slices; what is asked for meanwhile is drawn when this is done, so
  // that a picture appears however fast its filters move.
  request(canvas, rows, name, strength) {
    const color = getComputedStyle(this.place).getPropertyValue(name).trim();
    const job = { rows, axes: this.axes, color, strength, scale: canvas.width / this.width };
    if (this.jobs.has(canvas)) this.jobs.get(canvas).next = job;
    else this.start(canvas, job);
  }

  start(canvas, job) {
    const state = { next: null };
    this.jobs.set(canvas, state);
    const sheet = new ImageData(canvas.width, canvas.height);
    const steps = paintLines(sheet, job.rows, job.axes, (level) => this.y(level), job);
    const slice = () => {
      const until = performance.now() + SLICE;
      while (performance.now() < until) if (steps.next().done) return done();
      requestAnimationFrame(slice);
    };
    const done = () => {
      if (sheet.width === canvas.width && sheet.height === canvas.height) canvas.getContext("2d").putImageData(sheet, 0, 0);
      this.jobs.delete(canvas);
      if (state.next) this.start(canvas, state.next);
    };
    slice();
  }

  // -- pointer and choice ---------------------------------------------------------------------

  // The row whose line is nearest to the pointer, null where none is near.
  nearest({ clientX, clientY }) {
    const box = this.svg.getBoundingClientRect(), x = clientX - box.left, y = clientY - box.top;
    const gap = this.axes.findIndex((axis, i) => i + 1 < this.axes.length && x >= axis.x && x <= this.axes[i + 1].x);
    if (gap < 0) return null;
    const [left, right] = [this.axes[gap], this.axes[gap + 1]], share = (x - left.x) / (right.x - left.x);
    let best = null, least = 10;
    for (const row of this.app.view) {
      const from = this.y(left.levels[left.column.codes[row]]), to = this.y(right.levels[right.column.codes[row]]);
      const away = Math.abs(from + share * (to - from) - y);
      if (away < least) { least = away; best = row; }
    }
    return best;
  }

  point(event) {
    const row = event.buttons ? null : this.nearest(event);
    this.trace(this.hover, row);
    this.readout.textContent = row === null ? "" : this.axes.map(({ column }) => `${column.label} ${column.quantityOf(row)}`).join(", ");
  }

  leave() {
    this.trace(this.hover, null);
    this.readout.textContent = "";
  }

  pick(event) {
    if (event.target.closest(".line-axis")) return;
    const row = this.nearest(event);
    if (row !== null) this.app.choose(row, true);
  }

  move(axis, step) {
    const from = this.shown.indexOf(axis.column), to = from + step;
    if (to < 0 || to >= this.shown.length) return;
    this.shown.splice(from, 1);
    this.shown.splice(to, 0, axis.column);
    this.layOut();
    this.axes[to].head.focus();
  }

  flip(axis) {
    if (!this.isFlipped.delete(axis.column)) this.isFlipped.add(axis.column);
    this.layOut();
    this.axes.find((one) => one.column === axis.column).head.focus();
  }

  // The picture as it is, with what is painted in it.
  standing() {
    const svg = this.svg.cloneNode(true), images = [this.back, this.ahead].map((canvas) => draw("image", { href: canvas.toDataURL(), width: this.width, height: this.height }));
    this.stage.append(svg); // where its styles can be read
    const text = standalone({ svg, title: this.caption.textContent });
    svg.remove();
    const at = text.indexOf("</text>") + "</text>".length;
    return text.slice(0, at) + images.map((one) => new XMLSerializer().serializeToString(one)).join("") + text.slice(at);
  }
}

