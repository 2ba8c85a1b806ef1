// One value over two numbers: how the users, the quality or a load change as both of them move.

import { isCounted, failuresOfAll } from "../../engine/answers.js";
import { exactOf, quotient, reduced } from "../../engine/numerics/fractions.js";
import { knownWithout, largestKnown, marked, formatUsers } from "../../engine/certainty.js";
import { Run } from "../../engine/model.js";
import { Undecided } from "../../engine/numerics/search.js";
import { roundStep } from "../../common/axis.js";
import { draw, make } from "../../common/dom.js";
import { number, percent, shortened, whole, unitSymbols } from "../../common/format.js";
import { pointReadout } from "../../common/picture.js";
import { scaleColor, scaleInk, scaleLegend } from "../../common/scale.js";
import { sliced } from "../../common/slices.js";
import { contour, contourPath } from "./contours.js";
import { called, calledInFull } from "../labels.js";

const CELLS = { across: 15, up: 9 };
const LETTER = 6.6, LINE = 14; // px of a value in its cell
const LABEL_LETTER = 7.2; // px, of what an axis is called
const LEVELS = 5;
const QUALITY = "quality at the population shown", LOAD = "load of ";

function heatQuantities(column) {
  const { graph } = column;
  const found = new Map([["users", null]]);
  if (graph.quality !== null) found.set(QUALITY, graph.quality);
  for (const one of graph.resources) found.set(LOAD + one.name, one.load);
  for (const one of graph.criteria) if (one.stated && !one.isQuality) found.set(one.name, one.measure);
  return found;
}

// What a quantity is called; its key stands in links.
function quantityCalled(column, key) {
  if (key === "users") return "capacity";
  if (key === QUALITY) return "quality";
  return key.startsWith(LOAD) ? `${called(column.model, key.slice(LOAD.length))} utilization` : called(column.model, key);
}

// How what the picture can show is known in a cell, at any population.
function knownAs(graph, step) {
  if (step === graph.quality) return graph.qualityKnown.knownInSeries;
  return graph.criteria.find((one) => one.stated && one.measure === step)?.knownInSeries ?? null;
}

// Numbers that can be moved: those that move the answer first.
function movable(column) {
  const names = column.sensitivity.rows.map((one) => one.record.name);
  const free = column.graph.numbers.filter((one) => !one.decided && quotient(...column.run.numbers.get(one.name)) > 0);
  const rank = (one) => (one.parameter ? 0 : 1000) + (names.includes(one.name) ? names.indexOf(one.name) : 500);
  return [...free].sort((a, b) => rank(a) - rank(b));
}

export class HeatMap {
  constructor(column, choices, onProgress) {
    Object.assign(this, { column, choices, onProgress });
    const names = movable(column).map((one) => one.name);
    this.isPossible = names.length >= 2;
    if (!this.isPossible) return;
    const labelOf = (name) => called(column.model, name);
    choices.x.update(names, names[0], labelOf);
    choices.y.update(names, names[1], labelOf);
    const quantities = [...heatQuantities(column).keys()];
    choices.what.update(quantities, quantities[0], (key) => quantityCalled(column, key));
    [this.x, this.y] = [axisOfNumber(column, choices.x.value, CELLS.across), axisOfNumber(column, choices.y.value, CELLS.up)];
    this.step = heatQuantities(column).get(choices.what.value);
    this.across = this.x.exact.length;
    this.up = this.y.exact.length;
    this.values = new Float64Array(this.across * this.up).fill(NaN);
    this.known = new Array(this.values.length).fill(null);
    this.done = 0;
  }

  // Compute some cells, for as long as a frame has; true when all of them are there.
  work(until) {
    const { column, x, y } = this;
    const { graph, setting } = column, run = column.mapped ??= new Run(column.model);
    while (this.done < this.values.length && performance.now() < until) {
      const numbers = new Map(setting.numbers);
      numbers.set(x.record.name, x.exact[this.done % this.across]);
      numbers.set(y.record.name, y.exact[Math.floor(this.done / this.across)]);
      this.began ??= this.cell(run.prepare(column.model.labeled(graph, numbers), numbers), { ...setting, numbers });
      const isDone = sliced(this.began, until, (found) => { this.values[this.done] = found; });
      if (!isDone) return false;
      this.began = null;
      this.done++;
    }
    return this.done === this.values.length;
  }

  * cell(run, setting) {
    if (this.step !== null) {
      this.known[this.done] = knownAs(run.graph, this.step);
      return run.at(this.column.n).value(this.step);
    }
    try {
      const { low, high } = run.graph;
      const { criteria: found, unevaluated } = yield* failuresOfAll(run, setting);
      this.known[this.done] = knownWithout(unevaluated, largestKnown(found, low));
      return Math.min(high + 1, ...found.map((one) => one.failure ?? high + 1)) - 1;
    } catch (error) {
      if (error instanceof Undecided) return NaN;
      throw error;
    }
  }

  draw(width) {
    if (!this.isPossible) return null;
    const { x, y, values, column } = this;
    const what = quantityCalled(column, this.choices.what.value);
    const isUsers = this.step === null;
    const formatted = (v) => (isUsers ? (v < column.graph.low ? "none" : whole(v)) : this.formatValue(v));
    const cellText = (i) => this.formatCell(formatted, i);
    const finite = [...values].filter(Number.isFinite);
    const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
    const title = `${what[0].toUpperCase()}${what.slice(1)} by ${x.called} and ${y.called}${this.done < values.length ? " (computing …)" : ""}`;
    const left = 88, top = 8, height = 340, right = width - 10, bottom = height - 44;
    const cell = { w: (right - left) / this.across, h: (bottom - top) / this.up };
    const middle = (col, row) => [left + (col + 0.5) * cell.w, bottom - (row + 0.5) * cell.h];
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
    const points = [], inCells = [];
    const texts = [...values].map((v) => (Number.isNaN(v) ? "" : isUsers ? formatted(v) : this.inCell(v)));
    const every = Math.max(1, Math.ceil((LETTER * Math.max(...texts.map((text) => text.length)) + 6) / cell.w));
    values.forEach((value, i) => {
      const col = i % this.across, row = Math.floor(i / this.across);
      const [x0, y0] = middle(col, row);
      const share = high > low ? (value - low) / (high - low) : 0.5;
      svg.append(draw("rect", { x: x0 - cell.w / 2, y: y0 - cell.h / 2, width: cell.w + 0.4, height: cell.h + 0.4, fill: scaleColor(share) }));
      if (col % every === Math.floor((every - 1) / 2) && cell.h >= LINE) inCells.push(draw("g", { fill: Number.isFinite(value) ? scaleInk(Math.max(0, Math.min(1, share))) : "var(--ink)" }, draw("text", { x: x0, y: y0 + (cell.h >= 2 * LINE ? LINE - 3 : 4), "text-anchor": "middle", class: "own in-cell" }, texts[i])));
      points.push({ x: x0, y: y0, text: `${calledInFull(column.model, x.record.name)} ${x.format(col)}, ${calledInFull(column.model, y.record.name)} ${y.format(row)}: ${cellText(i)}` });
    });
    const limit = this.limit();
    const lines = this.done < values.length ? [] : roundLevels(low, high).filter((level) => level !== limit?.at);
    const pathAt = (level) => contourPath(contour(values, this.across, level, middle));
    const limitPath = limit && this.done === values.length ? pathAt(limit.at) : "";
    svg.append(...lines.map((level) => draw("path", { d: pathAt(level), class: "contour" }, draw("title", null, formatted(level)))));
    if (limitPath) svg.append(draw("path", { d: limitPath, class: "contour halo" }), draw("path", { d: limitPath, class: "contour limit-line" }, draw("title", null, limit.label)));
    svg.append(...inCells);
    const label = (axis, i, attributes) => draw("text", attributes, axis.tick(i));
    const everyX = Math.max(1, Math.ceil(80 / cell.w)), everyY = Math.max(1, Math.ceil(20 / cell.h));
    for (let i = 0; i < this.across; i += everyX) svg.append(label(x, i, { x: middle(i, 0)[0], y: bottom + 16, "text-anchor": "middle" }));
    for (let i = 0; i < this.up; i += everyY) svg.append(label(y, i, { x: left - 6, y: middle(0, i)[1] + 4, "text-anchor": "end" }));
    svg.append(
      draw("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, shortened(x.label, (right - left) / LABEL_LETTER)),
      draw("text", { x: 12, y: (top + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + bottom) / 2})` }, shortened(y.label, (bottom - top) / LABEL_LETTER)),
      this.hereMark(left, bottom, cell));
    const legend = scaleLegend(formatted(low), formatted(high));
    if (limitPath) legend.push(make("li", null, draw("svg", { width: 34, height: 10, "aria-hidden": "true" }, draw("line", { x1: 0, x2: 34, y1: 5, y2: 5, class: "contour halo" }), draw("line", { x1: 0, x2: 34, y1: 5, y2: 5, class: "contour limit-line" })), limit.label));
    const someX = some(this.across), someY = some(this.up);
    return {
      title, svg, legend, readout: { ...pointReadout(svg, points), up: this.across },
      table: () => ({ head: [`${y.called} \\ ${x.called}`, ...someX.map((i) => x.format(i))], rows: someY.map((row) => [y.format(row), ...someX.map((col) => cellText(row * this.across + col))]) }),
    };
  }

  // Where what is shown is on its limit: for users, as many as are shown.
  limit() {
    const { column, step } = this, { graph, run } = column;
    if (step === null) return { at: column.n, label: `current: ${whole(column.n)}` };
    if (step === graph.quality) return { at: 1, label: "limit 1" };
    const resource = graph.resources.find((one) => one.load === step);
    const stated = graph.criteria.find((one) => one.measure === step && one.stated);
    const of = resource?.target ?? stated?.limit;
    if (of === undefined) return null;
    const at = run.at(column.n).value(of);
    return { at, label: `${resource && at === 1 ? "saturation" : resource ? "target" : "limit"} ${this.formatValue(at)}` };
  }

  // The value of a cell with how it is known.
  formatCell(formatted, i) {
    const value = this.values[i], { low, high } = this.column.graph;
    if (this.step !== null) return marked(formatted(value), this.known[i], value);
    return value < low || Number.isNaN(value) ? formatted(value) : formatUsers({ largest: value, isRange: value === high, known: this.known[i] });
  }

  // A ring where the setting is.
  hereMark(left, bottom, cell) {
    const at = (axis) => axis.position(quotient(...this.column.run.numbers.get(axis.record.name)));
    return draw("circle", { cx: left + (at(this.x) + 0.5) * cell.w, cy: bottom - (at(this.y) + 0.5) * cell.h, r: 6, class: "ring" });
  }

  formatValue(value) {
    const { column, step } = this;
    const criterion = column.graph.criteria.find((one) => one.measure === step && one.stated);
    if (criterion) return column.format(value, criterion.dimension, { ...criterion, digits: 3 });
    return this.choices.what.value.startsWith(LOAD) ? percent(value) : number(value, 3);
  }

  // A value as short as a cell wants it.
  inCell(value) { return this.formatValue(value).replace(" %", "%"); }
}

// The values of a number along an axis: half to twice what it is, within its range.
function axisOfNumber(column, name, count) {
  const record = column.graph.numbers.find((one) => one.name === name);
  const now = quotient(...column.run.numbers.get(name));
  const [low, high] = [["low", 0.4], ["high", 2.5]].map(([end, factor]) => {
    const bound = record[end] ? quotient(...record[end].map(BigInt)) : null;
    if (bound === null) return now * factor;
    return end === "low" ? Math.max(bound, now * factor) : Math.min(bound, now * factor);
  });
  const factor = quotient(...record.factor.map(BigInt));
  const isWhole = isCounted(column.model, column.graph, record);
  const exactIn = (value) => {
    const shown = value / factor;
    const [above, below] = exactOf(String(isWhole ? Math.round(shown) : Number(shown.toPrecision(4))));
    return reduced(above * BigInt(record.factor[0]), below * BigInt(record.factor[1]));
  };
  const places = Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));
  const exact = isWhole ? wholeSteps(low / factor, high / factor, count).map((v) => exactIn(v * factor)) : places.map(exactIn);
  const shown = exact.map((value) => quotient(...value) / factor);
  return {
    record, exact, called: called(column.model, name), label: record.unit ? `${called(column.model, name)}, ${unitSymbols(record.unit)}` : called(column.model, name),
    tick: (i) => number(shown[i], 3),
    format: (i) => `${number(shown[i])}${record.unit ? ` ${unitSymbols(record.unit)}` : ""}`,
    position: (value) => placeAmong(shown, value / factor),
  };
}

// Whole numbers between two ends, each once: all of them, or as many as there is room for.
function wholeSteps(low, high, count) {
  const [first, last] = [Math.ceil(low - 1e-9), Math.max(Math.floor(high + 1e-9), Math.ceil(low - 1e-9))];
  const wanted = Math.min(count, last - first + 1);
  return Array.from({ length: wanted }, (_, i) => Math.round(first + ((last - first) * i) / Math.max(1, wanted - 1)));
}

// Where a value lies among rising ones: 1.5 is in the middle of the second and the third.
function placeAmong(shown, value) {
  const after = shown.findIndex((one) => one >= value);
  if (after <= 0) return after < 0 ? shown.length - 1 : 0;
  return after - (shown[after] - value) / (shown[after] - shown[after - 1]);
}

function roundLevels(low, high) {
  if (!(high > low)) return [];
  const step = roundStep((high - low) / LEVELS), first = Math.ceil(low / step + 1e-9);
  return Array.from({ length: LEVELS + 1 }, (_, i) => (first + i) * step).filter((level) => level < high);
}

// A few of so many, evenly spread, the first and the last among them.
function some(count) {
  const wanted = Math.min(count, 5);
  return [...new Set(Array.from({ length: wanted }, (_, i) => Math.round(((count - 1) * i) / Math.max(1, wanted - 1))))];
}
