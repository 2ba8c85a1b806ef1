// An axis of parallel lines: its head, its ticks, and the range of it that is kept.

import { draw } from "../common/dom.js";
import { shortened, unitSymbols } from "../common/format.js";

export const LEVELS = 256; // places along an axis; below the lowest stand rows without a value
const NONE_LEVEL = 0, LOWEST = 14;
export const AXIS_ROOM = 80;
const AXIS_REACH = 20;
const FAR_APART = 1000; // values this many times as large as others stand on a logarithmic axis

export class LineAxis {
  constructor(picture, column, x) {
    Object.assign(this, { picture, column, x });
    this.isLog = !column.isWord && column.values[0] > 0 && column.values.at(-1) >= FAR_APART * column.values[0];
    this.levels = this.levelsOf();
    this.brush = draw("rect", { class: "kept", x: x - 9, width: 18, visibility: "hidden" });
    this.ends = [this.end("least", 0), this.end("most", 1)];
    this.hit = draw("rect", { class: "hit", x: x - AXIS_REACH, y: picture.top - 8, width: 2 * AXIS_REACH, height: picture.bottom - picture.top + 16 });
    this.head = draw("g", {
      class: "head", tabindex: "0", role: "button",
      "aria-label": `${column.head}: flip the axis; arrow keys move it`,
      on: { click: () => picture.flip(this), keydown: (event) => this.headKey(event) },
    }, this.headLines());
    this.element = draw("g", { class: "line-axis" },
      draw("line", { x1: x, x2: x, y1: picture.top, y2: picture.y(LOWEST), class: "axis" }),
      this.ticks(), this.brush, this.hit, this.ends, this.head);
    this.drawing();
  }

  // Where each of the values lies, by its number; those without one lie below the axis.
  levelsOf() {
    const { values, isWord } = this.column;
    const f = isWord ? null : this.isLog ? Math.log : (v) => v;
    const low = isWord ? 0 : f(values[0]), high = isWord ? values.length - 1 : f(values.at(-1));
    const levels = new Uint8Array(values.length + 1);
    levels[0] = NONE_LEVEL;
    values.forEach((value, i) => {
      const share = high > low ? ((isWord ? i : f(value)) - low) / (high - low) : 0.5;
      levels[i + 1] = Math.round(LOWEST + (this.picture.isFlipped.has(this.column) ? 1 - share : share) * (LEVELS - 1 - LOWEST));
    });
    return levels;
  }

  headLines() {
    const { column, picture } = this, most = 12;
    const sign = picture.isFlipped.has(column) ? "▾ " : "";
    const words = `${sign}${column.label}`.split(/(?= )|(?=\.)/); // what tells quantiles apart stands behind a dot
    const lines = [""];
    for (const word of words) {
      if (lines.at(-1) && lines.at(-1).length + word.length > most && lines.length < (column.unit ? 2 : 3)) lines.push("");
      lines[lines.length - 1] += lines.at(-1) ? word : word.trim();
    }
    if (column.unit) lines.push(unitSymbols(column.unit));
    return [draw("title", null, `${column.head}${this.isLog ? " (log scale)" : ""}`),
      draw("rect", { class: "paper", x: this.x - AXIS_ROOM / 2 + 2, y: 2, width: AXIS_ROOM - 4, height: 44 }),
      lines.map((line, i) => draw("text", { x: this.x, y: 13 + i * 14, "text-anchor": "middle", class: i && line === unitSymbols(column.unit) ? "soft" : null }, shortened(line, most)))];
  }

  ticks() {
    const { column, picture, x } = this;
    const label = (y, text) => [
      draw("line", { x1: x - 3, x2: x + 3, y1: y, y2: y, class: "axis" }),
      draw("text", { x: x + 11, y: y + 4, class: "soft" }, text)];
    const count = column.values.length, most = column.isWord ? 12 : 5;
    const every = Math.max(1, Math.ceil(count / most));
    const codes = column.isWord
      ? [...Array(count).keys()].filter((i) => i % every === 0).map((i) => i + 1)
      : this.spreadCodes(most);
    const none = column.hasNone ? label(picture.y(NONE_LEVEL), "none") : [];
    return [codes.map((code) => label(picture.y(this.levels[code]), shortened(column.format(code), 11))), none];
  }

  // Values that stand about evenly along the axis, its ends among them.
  spreadCodes(count) {
    const found = [];
    for (let i = 0; i < count; i++) {
      const code = this.closestCode(LOWEST + (i / (count - 1)) * (LEVELS - 1 - LOWEST));
      if (found.every((other) => Math.abs(this.levels[other] - this.levels[code]) > 10)) found.push(code);
    }
    return found;
  }

  // The number of the value that lies nearest to a level.
  closestCode(level) {
    let best = 1;
    for (let code = 2; code < this.levels.length; code++) {
      if (Math.abs(this.levels[code] - level) < Math.abs(this.levels[best] - level)) best = code;
    }
    return best;
  }

  // -- the range that is kept -----------------------------------------------------------------

  get interval() {
    const filter = this.picture.app.filters.of(this.column);
    if (!filter) return [1, this.column.values.length];
    return filter.from === null || filter.from > filter.to ? null : [filter.from, filter.to];
  }

  refresh() {
    const { picture, interval, column } = this;
    const isFiltered = picture.app.filters.active.has(column.index);
    this.element.classList.toggle("filtered", isFiltered);
    const ys = (interval ?? [1, column.values.length]).map((code) => picture.y(this.levels[code]));
    this.brush.setAttribute("visibility", isFiltered && interval ? "visible" : "hidden");
    this.brush.setAttribute("y", Math.min(...ys) - 3);
    this.brush.setAttribute("height", Math.abs(ys[1] - ys[0]) + 6);
    this.ends.forEach((end, i) => {
      const code = (interval ?? [1, column.values.length])[i], isUpper = ys[i] <= ys[1 - i] && (i === 1) !== picture.isFlipped.has(column);
      end.setAttribute("transform", `translate(${this.x} ${ys[i] + (isUpper ? -3 : 3)})`);
      end.setAttribute("aria-valuenow", code);
      end.setAttribute("aria-valuetext", column.quantity(code));
    });
  }

  keep(from, to) {
    const { app } = this.picture;
    const { column } = this;
    if (column.isWord && !(from <= 1 && to >= column.values.length)) {
      app.filters.words(column, new Set(Array.from({ length: to - from + 1 }, (_, i) => from + i)));
    } else app.filters.range(column, from, to);
    app.change();
  }

  end(name, which) {
    const { column } = this;
    return draw("g", {
      class: "end", tabindex: "0", role: "slider", "aria-orientation": "vertical",
      "aria-label": `${column.label}: ${name === "least" ? "minimum" : "maximum"} of the filter`, "aria-valuemin": 1, "aria-valuemax": column.values.length,
      on: { keydown: (event) => this.endKey(event, which) },
    }, draw("rect", { class: "grip", x: -9, y: -4, width: 18, height: 8, rx: 3 }));
  }

  endKey(event, which) {
    const count = this.column.values.length, step = Math.max(1, Math.round(count / 50));
    const range = [...(this.interval ?? [1, count])];
    const up = this.picture.isFlipped.has(this.column) ? -1 : 1;
    const to = {
      ArrowUp: range[which] + up * step, ArrowDown: range[which] - up * step, ArrowRight: range[which] + step, ArrowLeft: range[which] - step,
      PageUp: range[which] + up * 5 * step, PageDown: range[which] - up * 5 * step, Home: 1, End: count,
    }[event.key];
    if (event.key === "Escape" || event.key === "Delete") this.keep(1, count);
    else if (to === undefined) return;
    else {
      const [low, high] = which ? [range[0], count] : [1, range[1]];
      range[which] = Math.max(low, Math.min(high, to));
      this.keep(...range);
    }
    event.preventDefault();
  }

  headKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) this.picture.move(this, step);
    else if (event.key === "Enter" || event.key === " ") this.picture.flip(this);
    else return;
    event.preventDefault();
  }

  // Draw along the axis: a range of it is kept; a mere click keeps all again.
  drawing() {
    const level = (event) => {
      const box = this.picture.svg.getBoundingClientRect(), { top, bottom } = this.picture;
      return ((bottom - (event.clientY - box.top)) / (bottom - top)) * (LEVELS - 1);
    };
    let start = null, moved = false;
    const drag = (event) => {
      const here = level(event);
      if (Math.abs(here - start) < 3 && !moved) return;
      moved = true;
      const [low, high] = [Math.min(start, here), Math.max(start, here)];
      const inside = [];
      for (let code = 1; code < this.levels.length; code++) if (this.levels[code] >= low && this.levels[code] <= high) inside.push(code);
      if (inside.length) this.keep(inside[0], inside.at(-1));
      else this.keep(...Array(2).fill(this.closestCode((low + high) / 2)));
    };
    this.hit.addEventListener("pointerdown", (event) => {
      start = level(event);
      moved = false;
      this.hit.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.hit.addEventListener("pointermove", (event) => { if (start !== null) drag(event); });
    const stop = () => {
      if (start !== null && !moved) this.keep(1, this.column.values.length);
      start = null;
    };
    this.hit.addEventListener("pointerup", stop);
    this.hit.addEventListener("pointercancel", () => { start = null; });
  }
}
