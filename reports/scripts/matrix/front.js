// What something costs against what it gives: each configuration a point. On the front are those
// which no other one is better than in one of the two and as good in the other (Pareto).

import { Axis } from "../common/axis.js";
import { color, draw, make } from "../common/dom.js";
import { number, whole } from "../common/format.js";
import { Choice, Picture, pointReadout, switchOf } from "../common/picture.js";
import { configurationOf, sortedBy } from "./rows.js";

const AT_MOST_ROWS = 200;

// The rows of the front, from the best across to the worst; rows without both values have no place.
function frontOf(rows, across, up, isLessAcross, isLessUp) {
  const placed = rows.filter((row) => across.codes[row] && up.codes[row]);
  const byUp = sortedBy(placed, up, !isLessUp);
  const order = sortedBy(byUp, across, !isLessAcross);
  const front = [];
  let best = null, place = null;
  for (const row of order) {
    const code = isLessUp ? -up.codes[row] : up.codes[row];
    if (best === null || code > best || (code === best && across.codes[row] === place)) {
      front.push(row);
      best = code;
      place = across.codes[row];
    }
  }
  return { front: Uint32Array.from(front), placed };
}

export class FrontPicture {
  // `app` has columns, view and choose(row).
  constructor(place, app, [across, up]) {
    this.app = app;
    const numbers = app.columns.filter((one) => !one.isWord && one.values.length > 1);
    this.byHead = new Map(numbers.map((one) => [one.head, one]));
    const change = () => this.picture.change();
    const less = "minimize", more = "maximize";
    // Of most own columns nobody knows; what is set, as that of an axis, is rather to be small.
    const direction = (column, usual) => ((column.better || (column.axis ? usual : 1)) < 0 ? less : more);
    const pair = (text, column, usual) => {
      const sense = new Choice("", change);
      sense.update([less, more], direction(column, usual));
      sense.select.setAttribute("aria-label", `${text}: minimize or maximize`);
      const measure = new Choice(text, () => {
        sense.select.value = direction(this.byHead.get(measure.value), usual);
        change();
      });
      measure.update([...this.byHead.keys()], column.head);
      return { measure, sense };
    };
    this.across = pair("x-axis", app.columns[across], -1);
    this.up = pair("y-axis", app.columns[up], 1);
    this.log = switchOf("Log scale", change);
    this.picture = new Picture(place, "front", (width) => this.draw(width), [this.across.measure, this.across.sense, this.up.measure, this.up.sense, this.log]);
    const choose = () => {
      const point = this.points?.[this.picture.cursor];
      if (point) app.choose(point.row, true);
    };
    this.picture.canvas.addEventListener("click", choose);
    this.picture.canvas.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
  }

  draw(width) {
    const across = this.byHead.get(this.across.measure.value), up = this.byHead.get(this.up.measure.value);
    const { front, placed } = frontOf(this.app.view, across, up, this.across.sense.value === "minimize", this.up.sense.value === "minimize");
    const height = Math.min(420, Math.max(300, width * 0.5)), frame = { left: 70, right: width - 18, top: 26, bottom: height - 46 };
    const axes = [axisAlong(across, placed, frame.left, frame.right, this.log.value), axisAlong(up, placed, frame.bottom, frame.top, this.log.value)];
    const title = this.title(across, up, front.length, placed.length);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title }, scatterGrid(axes, across, up, frame));
    this.points = this.placePoints(axes, [across, up], front, placed);
    const onFront = this.points.filter((one) => one.isFront);
    // Thousands of points are one path: a line of no length with round ends is a dot.
    let dots = "";
    for (const { x, y, isFront } of this.points) if (!isFront) dots += `M${x} ${y}h0`;
    svg.append(
      draw("path", { d: dots || "M0 0", class: "dots" }),
      draw("path", { d: stepsThrough(onFront), class: "front" }),
      ...onFront.map(({ x, y }) => draw("circle", { cx: x, cy: y, r: 5, fill: color(1), class: "mark" })),
      this.ring = draw("circle", { r: 9, class: "chosen-ring" }));
    this.drawn = { at: axes, of: [across, up] };
    this.mark();
    return {
      title, svg, readout: this.points.length ? pointReadout(svg, this.points) : null, legend: frontLegend(),
      table: () => this.table(across, up, front),
    };
  }

  title(across, up, onFront, placed) {
    const words = `${up.label} against ${across.label}`;
    const without = this.app.view.length - placed;
    return `${words[0].toUpperCase()}${words.slice(1)}: ${whole(onFront)} Pareto-optimal of ${whole(placed)} configurations${without ? `; ${whole(without)} without values` : ""}`;
  }

  // One point for all rows that lie at the same place; those of the front come first.
  placePoints([x, y], [across, up], front, placed) {
    const known = new Map(), isOn = new Uint8Array(this.app.all.length);
    const [xs, ys] = [placesOf(x, across), placesOf(y, up)];
    const add = (row) => {
      const at = [xs[across.codes[row]], ys[up.codes[row]]], key = 65536 * at[0] + at[1];
      const point = known.get(key);
      if (!point) known.set(key, new FrontPoint(this.app.columns, [across, up], row, at, isOn[row] === 1));
      else if (!isOn[row] || point.isFront) point.count++;
    };
    for (const row of front) {
      isOn[row] = 1;
      add(row);
    }
    for (const row of placed) if (!isOn[row]) add(row);
    return [...known.values()];
  }

  // A ring round the row that is chosen.
  mark() {
    if (!this.drawn) return; // not in sight yet
    const { row, at: [x, y], of: [across, up] } = { row: this.app.chosen, ...this.drawn };
    const isPlaced = row !== null && across.codes[row] && up.codes[row] && this.app.view.includes(row);
    this.ring.setAttribute("visibility", isPlaced ? "visible" : "hidden");
    if (!isPlaced) return;
    this.ring.setAttribute("cx", placesOf(x, across)[across.codes[row]]);
    this.ring.setAttribute("cy", placesOf(y, up)[up.codes[row]]);
  }

  table(across, up, front) {
    const axes = this.app.columns.filter((one) => one.axis);
    const rows = [...front.subarray(0, AT_MOST_ROWS)].map((row) => [across, up, ...axes].map((one) => one.quantityOf(row)));
    if (front.length > AT_MOST_ROWS) rows.push([`and ${whole(front.length - AT_MOST_ROWS)} more Pareto-optimal configurations`]);
    return { head: [across.label, up.label, ...axes.map((one) => one.label)], rows };
  }
}

// All rows at one place of the picture, told of the first of them.
class FrontPoint {
  constructor(columns, measures, row, [x, y], isFront) { Object.assign(this, { columns, measures, row, x, y, isFront, count: 1 }); }

  get text() {
    const { row, count, isFront } = this;
    const values = this.measures.map((one) => `${one.label} ${one.quantityOf(row)}`).join(", ");
    const others = count > 1 ? ` (and ${whole(count - 1)} at the same place)` : "";
    return `${values}${isFront ? ", Pareto-optimal" : ""}: ${configurationOf(this.columns, row)}${others}`;
  }
}

// Where the values of a column lie on an axis, by their numbers, in whole points; what a
// logarithmic axis has no place for lies at its end.
function placesOf(axis, column) {
  const places = new Int32Array(column.values.length + 1);
  column.values.forEach((value, i) => {
    const shown = value / column.factor;
    places[i + 1] = Math.round(axis.at(axis.isLog ? Math.max(shown, axis.low) : shown));
  });
  return places;
}

// An axis from the least to the largest value of the rows that are kept.
function axisAlong(column, rows, start, end, isLog) {
  const isThere = new Uint8Array(column.values.length + 1);
  for (const row of rows) isThere[column.codes[row]] = 1;
  const values = column.values.filter((_, i) => isThere[i + 1]).map((value) => value / column.factor);
  const least = values[0] ?? 0, most = values.at(-1) ?? 1;
  if (isLog && most > 0) return new Axis(values.find((value) => value > 0) / 1.15, most * 1.15, start, end, true);
  const room = 0.04 * (most - least || Math.abs(most) || 1);
  return new Axis(least >= 0 && least < 0.25 * most ? 0 : least - room, most + room, start, end);
}

function scatterGrid([x, y], across, up, { left, right, top, bottom }) {
  const short = (v) => number(v, 3);
  return [
    y.ticks(6).map((v) => [
      draw("line", { x1: left, x2: right, y1: y.at(v), y2: y.at(v), class: "grid" }),
      draw("text", { x: left - 6, y: y.at(v) + 4, "text-anchor": "end" }, short(v))]),
    x.ticks(Math.max(2, Math.floor((right - left) / 90))).map((v) => [
      draw("line", { x1: x.at(v), x2: x.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
      draw("text", { x: x.at(v), y: bottom + 18, "text-anchor": x.at(v) > right - 20 ? "end" : "middle" }, short(v))]),
    draw("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" }),
    draw("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" }, across.head),
    draw("text", { x: 4, y: 14 }, up.head),
  ];
}

// What lies on the worse side of these steps is dominated.
function stepsThrough(points) {
  return points.map(({ x, y }, i) => (i ? `H${x}V${y}` : `M${x} ${y}`)).join("") || "M0 0";
}

function frontLegend() {
  const mark = (shape) => draw("svg", { width: 34, height: 12, "aria-hidden": "true" }, shape);
  return [
    make("li", null, mark([draw("path", { d: "M0 6H34", class: "front" }), draw("circle", { cx: 17, cy: 6, r: 5, fill: color(1), class: "mark" })]), "Pareto-optimal: no other configuration dominates it"),
    make("li", null, mark(draw("path", { d: "M8 6h0M17 6h0M26 6h0", class: "dots" })), "dominated: another is better in one and no worse in the other"),
  ];
}
