// One value over two numbers: how the users, the quality or a load change as both of them move.

import { isCounted, judgedAll } from "../engine/answers.js";
import { exactOf, quotient, reduced } from "../engine/fractions.js";
import { knownWithout, largestKnown, marked, usersTold } from "../engine/known.js";
import { Undecided } from "../engine/search.js";
import { draw } from "../common/dom.js";
import { number, percent, whole } from "../common/format.js";
import { pointReadout } from "../common/picture.js";
import { scaleColour, scaleLegend } from "../common/scale.js";

const CELLS = { across: 25, up: 15 };

function heatQuantities(column) {
  const { graph } = column;
  const found = new Map([["users", null]]);
  if (graph.quality !== null) found.set("quality at the population shown", graph.quality);
  for (const one of graph.resources) found.set(`load of ${one.name}`, one.load);
  for (const one of graph.criteria) if (one.stated && one.name !== "quality") found.set(one.name, one.measure);
  return found;
}

// How what the picture can show is known in a cell, at any population.
function knownAs(graph, step) {
  if (step === graph.quality) return graph.qualityKnown.knownInSeries;
  return graph.criteria.find((one) => one.stated && one.measure === step)?.knownInSeries ?? null;
}

// Numbers that can be moved: those that move the answer first.
function movable(column) {
  const telling = column.sensitivity.rows.map((one) => one.record.name);
  const free = column.graph.numbers.filter((one) => !one.decided && quotient(...column.run.numbers.get(one.name)) > 0);
  const rank = (one) => (one.parameter ? 0 : 1000) + (telling.includes(one.name) ? telling.indexOf(one.name) : 500);
  return [...free].sort((a, b) => rank(a) - rank(b));
}

export class HeatMap {
  constructor(column, choices, onProgress) {
    Object.assign(this, { column, choices, onProgress });
    const names = movable(column).map((one) => one.name);
    this.isPossible = names.length >= 2;
    if (!this.isPossible) return;
    choices.x.update(names, names[0]);
    choices.y.update(names, names[1]);
    choices.what.update([...heatQuantities(column).keys()]);
    [this.x, this.y] = [axisOfNumber(column, choices.x.value, CELLS.across), axisOfNumber(column, choices.y.value, CELLS.up)];
    this.step = heatQuantities(column).get(choices.what.value);
    this.values = new Float64Array(CELLS.across * CELLS.up).fill(NaN);
    this.known = new Array(this.values.length).fill(null);
    this.done = 0;
  }

  // Compute some cells, for as long as a frame has; true when all of them are there.
  work(until) {
    const { column, x, y } = this;
    const { scratch, graph, setting } = column;
    while (this.done < this.values.length && performance.now() < until) {
      const numbers = new Map(setting.numbers);
      numbers.set(x.record.name, x.exact[this.done % CELLS.across]);
      numbers.set(y.record.name, y.exact[Math.floor(this.done / CELLS.across)]);
      this.values[this.done] = this.cell(scratch.prepare(column.model.labelled(graph, numbers), numbers), { ...setting, numbers });
      this.done++;
    }
    return this.done === this.values.length;
  }

  cell(run, setting) {
    if (this.step !== null) {
      this.known[this.done] = knownAs(run.graph, this.step);
      return run.at(this.column.n).value(this.step);
    }
    try {
      const { low, high } = run.graph;
      const { criteria: found, unjudged } = judgedAll(run, setting);
      this.known[this.done] = knownWithout(unjudged, largestKnown(found, low));
      return Math.min(high + 1, ...found.map((one) => one.failure ?? high + 1)) - 1;
    } catch (error) {
      if (error instanceof Undecided) return NaN;
      throw error;
    }
  }

  draw(width) {
    if (!this.isPossible) return null;
    const { x, y, values, column } = this;
    const what = this.choices.what.value;
    const isUsers = this.step === null;
    const told = (v) => (isUsers ? (v < column.graph.low ? "none" : whole(v)) : this.tellValue(v));
    const toldOf = (i) => this.toldCell(told, i);
    const finite = [...values].filter(Number.isFinite);
    const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
    const title = `${isUsers ? "Largest acceptable number of users" : what} over ${x.record.name} and ${y.record.name}${this.done < values.length ? " (being computed)" : ""}`;
    const left = 88, top = 8, height = 330, right = width - 10, bottom = height - 44;
    const cell = { w: (right - left) / CELLS.across, h: (bottom - top) / CELLS.up };
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
    const points = [];
    values.forEach((value, i) => {
      const col = i % CELLS.across, row = Math.floor(i / CELLS.across);
      const cx = left + col * cell.w, cy = bottom - (row + 1) * cell.h;
      const share = high > low ? (value - low) / (high - low) : 0.5;
      svg.append(draw("rect", { x: cx, y: cy, width: cell.w + 0.4, height: cell.h + 0.4, fill: scaleColour(share) }));
      points.push({ x: cx + cell.w / 2, y: cy + cell.h / 2, text: `${x.record.name} ${x.tell(col)}, ${y.record.name} ${y.tell(row)}: ${toldOf(i)}` });
    });
    const label = (axis, i, attributes) => draw("text", attributes, axis.tick(i));
    const everyX = Math.max(6, Math.ceil(80 / cell.w));
    for (let i = 0; i < CELLS.across; i += everyX) svg.append(label(x, i, { x: left + (i + 0.5) * cell.w, y: bottom + 16, "text-anchor": "middle" }));
    for (let i = 0; i < CELLS.up; i += 3) svg.append(label(y, i, { x: left - 6, y: bottom - (i + 0.5) * cell.h + 4, "text-anchor": "end" }));
    svg.append(
      draw("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
      draw("text", { x: 12, y: (top + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + bottom) / 2})` }, y.label),
      this.hereMark(left, bottom, cell));
    return {
      title, svg, readout: pointReadout(svg, points), legend: scaleLegend(told(low), told(high)),
      table: () => ({ head: [`${y.record.name} \\ ${x.record.name}`, ...[0, 6, 12, 18, 24].map((i) => x.tell(i))], rows: [0, 3, 7, 11, 14].map((row) => [y.tell(row), ...[0, 6, 12, 18, 24].map((col) => toldOf(row * CELLS.across + col))]) }),
    };
  }

  // The value of a cell with how it is known.
  toldCell(told, i) {
    const value = this.values[i], { low, high } = this.column.graph;
    if (this.step !== null) return marked(told(value), this.known[i], value);
    return value < low || Number.isNaN(value) ? told(value) : usersTold({ largest: value, isRange: value === high, known: this.known[i] });
  }

  // A ring where the setting is.
  hereMark(left, bottom, cell) {
    const at = (axis) => axis.position(quotient(...this.column.run.numbers.get(axis.record.name)));
    return draw("circle", { cx: left + (at(this.x) + 0.5) * cell.w, cy: bottom - (at(this.y) + 0.5) * cell.h, r: 6, class: "ring" });
  }

  tellValue(value) {
    const { column, step } = this;
    const criterion = column.graph.criteria.find((one) => one.measure === step && one.stated);
    if (criterion) return column.tell(value, criterion.dimension, criterion);
    return this.choices.what.value.startsWith("load") ? percent(value) : number(value);
  }
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
  const exact = Array.from({ length: count }, (_, i) => exactIn(low + ((high - low) * i) / (count - 1)));
  const shown = exact.map((value) => quotient(...value) / factor);
  return {
    record, exact, label: record.unit ? `${name}, ${record.unit}` : name,
    tick: (i) => number(shown[i], 3),
    tell: (i) => `${number(shown[i])}${record.unit ? ` ${record.unit}` : ""}`,
    position: (value) => ((value - low) / (high - low || 1)) * (count - 1),
  };
}
