// The space of quality: one axis for each need, 0 is ideal and 1 its limit (Claypool 1997, figures
// 2.2 and 7.9). Configurations are points in it; the way of the setting, as users come, is a line.

import { inParenthesis, knownAt, knownOver, marked, together } from "../../engine/certainty.js";
import { Axis } from "../../common/axis.js";
import { color, draw } from "../../common/dom.js";
import { listed, number, whole } from "../../common/format.js";
import { pointReadout } from "../../common/picture.js";
import { startName } from "./population_charts.js";

// The setting and the starts at the population shown, as points with a value on each axis.
function pointsOf(column, axes, starts, columns) {
  const { model, graph, run } = column;
  const place = (own) => {
    const same = axes.map((axis) => own.graph.criteria.find((one) => one.name === axis.name && one.axis !== null));
    return { at: same.map((one) => (one ? own.value(one.axis) : NaN)), known: same.map((one) => one && knownOver({ ...one, known: knownAt(own, one, column.n) })) };
  };
  const points = [{ name: column.label, ...place(run.at(column.n)), strong: true }];
  for (const other of columns) {
    if (other !== column && !other.trouble) points.push({ name: other.label, ...place(other.run.at(column.n)) });
  }
  for (const index of starts) {
    const other = column.other(model.setting(index));
    if (other) points.push({ name: startName(model, index), ...place(other.at(column.n)) });
  }
  return { points: points.filter((one) => one.at.every(Number.isFinite)), graph };
}

// Where the setting is at some populations up to somewhat past the answer.
function trajectoryOf(column, axes) {
  const rows = column.run.sweep(axes.map((axis) => axis.axis), column.populations(61));
  return [...rows[0].keys()].map((i) => rows.map((row) => row[i]));
}

// Where a point is on an axis, and the name of an axis, with how that is known.
function pointLabel({ at, known }, k) { return marked(number(at[k]), known[k], at[k]); }
function axisLabel(axis) { return axis.name + inParenthesis(knownOver({ ...axis, known: axis.knownInSeries })); }

function axesOf(graph) { return graph.criteria.filter((one) => one.axis !== null); }

export function countOfAxes(column) { return axesOf(column.graph).length; }

// What each choice of an axis has to choose from, the first with the first axis at first.
export function offerAxes(column, choices) {
  const names = axesOf(column.graph).map((axis) => axis.name);
  choices.forEach((choice, i) => choice.update(names, names[i]));
}

function spaceTable(points, axes, graph) {
  const sized = (at) => (graph.metric === "worst" ? Math.max(...at) : Math.hypot(...at));
  return {
    head: ["Configuration", ...axes.map((axis) => axis.name), "Distance from ideal"],
    rows: points.map((one) => [one.name, ...one.at.map((_, k) => pointLabel(one, k)), graph.metric === "formula" ? "" : marked(number(sized(one.at)), together(one.known))]),
  };
}

export function drawSpace(column, width, choices, starts, columns) {
  const all = axesOf(column.graph);
  if (all.length < 2) return null;
  const axes = choices.map((choice) => all.find((axis) => axis.name === choice.value));
  const { points, graph } = pointsOf(column, axes, starts, columns);
  const size = Math.min(width, 560), height = Math.min(size, 420);
  const highest = Math.max(1.3, ...points.flatMap((one) => one.at).filter((v) => v <= 2.5)) * 1.05;
  const across = new Axis(0, highest, 56, size - 16), up = new Axis(0, highest, height - 44, 14);
  const title = `Quality space of ${axes[0].name} and ${axes[1].name} at ${column.model.population} = ${whole(column.n)} (0 is ideal, shaded: within limits)`;
  const svg = draw("svg", { viewBox: `0 0 ${size} ${height}`, width: size, class: "chart", role: "img", "aria-label": title },
    draw("clipPath", { id: "space-clip" }, draw("rect", { x: 56, y: 6, width: size - 72, height: height - 50 })),
    draw("path", { d: regionPath(graph.metric, across, up), class: "region" }),
    across.ticks(5).map((v) => draw("text", { x: across.at(v), y: height - 26, "text-anchor": "middle" }, number(v, 2))),
    up.ticks(5).map((v) => draw("text", { x: 50, y: up.at(v) + 4, "text-anchor": "end" }, number(v, 2))),
    draw("path", { d: `M${across.start} ${up.end}V${up.start}H${across.end}`, class: "axis", fill: "none" }),
    draw("path", { d: pathOf2(trajectoryOf(column, axes), across, up), class: "trajectory", "clip-path": "url(#space-clip)" }),
    draw("text", { x: (across.start + across.end) / 2, y: height - 6, "text-anchor": "middle" }, `${axisLabel(axes[0])}, share of limit`),
    draw("text", { x: 4, y: 12 }, axisLabel(axes[1])));
  const edge = ([x, y]) => [across.at(Math.min(x, highest)), up.at(Math.min(y, highest))];
  return {
    title, svg, ...placed(svg, points, edge, axes, (one) => one.at.some((v) => v > highest)),
    table: () => spaceTable(points, axes, graph),
  };
}

function regionPath(metric, across, up) {
  const x = across.at(1), y = up.at(1), x0 = across.at(0), y0 = up.at(0);
  if (metric === "euclidean") return `M${x0} ${y0}H${x}A${x - x0} ${y0 - y} 0 0 0 ${x0} ${y}Z`;
  return `M${x0} ${y0}H${x}V${y}H${x0}Z`;
}

function pathOf2(way, across, up) {
  let path = "";
  for (const [x, y] of way) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    path += `${path ? "L" : "M"}${across.at(Math.min(x, 20)).toFixed(1)} ${up.at(Math.min(y, 20)).toFixed(1)}`;
  }
  return path || "M0 0";
}

// The points with their names; what lies beyond the picture stands at its edge, and says so.
function placed(svg, points, project, axes, isBeyond) {
  const taken = [];
  const readouts = points.map((one, i) => {
    const [x, y] = project(one.at);
    const text = `${one.name}: ${axes.map((axis, k) => `${axis.name} ${pointLabel(one, k)}`).join(", ")}`;
    const name = isBeyond(one) ? `${one.name} (out of range)` : one.name;
    const long = 7.2 * name.length;
    const atRight = x + 9 + long > svg.viewBox.baseVal.width;
    const from = atRight ? x - 9 - long : x + 9;
    const isTaken = (level) => taken.some((other) => other.from < from + long && from < other.from + other.long && Math.abs(other.level - level) < 14);
    // Upwards first; where the picture ends, downwards.
    let level = Math.max(12, y - 8);
    while (isTaken(level) && level > 16) level -= 7;
    while (isTaken(level)) level += 7;
    taken.push({ from, long, level });
    svg.append(
      draw(one.strong ? "circle" : "rect", one.strong ? { cx: x, cy: y, r: 6.5, fill: color(i), class: "mark" } : { x: x - 4.5, y: y - 4.5, width: 9, height: 9, fill: color(i), class: "mark" }, draw("title", null, text)),
      draw("text", { x: atRight ? x - 9 : x + 9, y: level, "text-anchor": atRight ? "end" : "start" }, name));
    return { x, y, text };
  });
  return { readout: pointReadout(svg, readouts) };
}

// Three axes seen from a side that can be turned; points hang above their place on the floor.
export function drawSpace3(column, width, choices, turn, starts, columns) {
  const all = axesOf(column.graph);
  if (all.length < 3) return null;
  const axes = choices.map((choice) => all.find((axis) => axis.name === choice.value));
  const { points, graph } = pointsOf(column, axes, starts, columns);
  const size = Math.min(width, 560), height = 0.8 * size, most = 1.6;
  const angle = (Number(turn.value) * Math.PI) / 180, tilt = 0.45, scale = size * 0.27;
  const project = (at) => {
    const [x, y, z] = at.map((v) => Math.min(v, most));
    const right = x * Math.cos(angle) - y * Math.sin(angle), away = x * Math.sin(angle) + y * Math.cos(angle);
    return [size / 2 + right * scale, height * 0.58 + away * scale * tilt - z * scale * 0.9];
  };
  const path = (ats) => `M${ats.map((at) => project(at).map((v) => v.toFixed(1)).join(" ")).join("L")}`;
  const title = `Quality space of ${listed(axes.map((axis) => axis.name))} at ${column.model.population} = ${whole(column.n)} (mesh: limit)`;
  const way = trajectoryOf(column, axes).filter((at) => at.every((v) => v <= most));
  const tips = [[1.35, 0, 0], [0, 1.35, 0], [0, 0, 1.35]];
  const svg = draw("svg", { viewBox: `0 0 ${size} ${height}`, width: size, class: "chart", role: "img", "aria-label": title },
    netOf(graph.metric).map((ats) => draw("path", { d: path(ats), class: "net" })),
    tips.map((tip, i) => [
      draw("path", { d: path([[0, 0, 0], tip]), class: "axis" }),
      draw("text", { x: project(tip)[0], y: project(tip)[1] + (i === 2 ? -6 : 14), "text-anchor": "middle" }, axisLabel(axes[i])),
    ]),
    way.length ? draw("path", { d: path(way), class: "trajectory" }) : null,
    points.map((one, i) => draw("path", { d: path([one.at, [one.at[0], one.at[1], 0]]), stroke: color(i), class: "drop" })));
  return {
    title, svg, ...placed(svg, points, project, axes, (one) => one.at.some((v) => v > most)),
    table: () => spaceTable(points, axes, graph),
  };
}

// Lines on the surface where the quality is 1: a part of a sphere, or the faces of a cube.
function netOf(metric) {
  const steps = [...Array(13).keys()].map((i) => (i / 12) * (Math.PI / 2));
  if (metric !== "euclidean") {
    const corners = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 0, 0]];
    return [corners, [[1, 1, 0], [1, 1, 1], [0, 1, 1]], [[1, 1, 1], [1, 0, 1]]];
  }
  const ball = (a, b) => [Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b)];
  const rings = [0, Math.PI / 8, Math.PI / 4, (3 * Math.PI) / 8].map((b) => steps.map((a) => ball(a, b)));
  const arcs = [0, Math.PI / 6, Math.PI / 3, Math.PI / 2].map((a) => steps.map((b) => ball(a, b)));
  return [...rings, ...arcs];
}
