// Lines over an axis, with what stands at the pointer told in words.
//
// `x`: { label, values, isLog, tell }, `y`: { label, isLog, tell, low, high }, `series`: [{ name,
// short, values, strong, fan }], `limit`: { at, label }, `region`: [from, to, label], `marks`: [{ series, x, y,
// told }], `here`: a place on the axis. `stacked` fills the space between lines; a `fan` lies around its line.

import { Axis, axisFor, withUnitOnce } from "../../common/axis.js";
import { color, dash, draw, make } from "../../common/dom.js";
import { shortened } from "../../common/format.js";
import { allNames, alikeGroups, endLabels, groupName, roomForNames } from "./end_labels.js";

export function lineChart({ x, y, series, limit, region, marks = [], here, stacked = false, description }, width, height = 320) {
  const top = 26, bottom = height - 44;
  const shown = stacked ? stackedUp(series) : series;
  const up = y.high === undefined
    ? axisFor(shown.flatMap((line) => [...line.values]), bottom, top, y.isLog)
    : new Axis(y.low ?? 0, y.high, bottom, top, y.isLog);
  const groups = stacked ? series.map((_, i) => [i]) : alikeGroups(shown.map((line) => Array.from(line.values, (v) => levelOf(up, v))));
  const names = groups.map((group) => groupName(group, series.map((line) => line.short ?? line.name)));
  const room = roomForNames(names, width, bottom - top);
  const right = width - 14 - room;
  const left = labelWidth(up.ticks(TICKS).map(y.format));
  const across = new Axis(x.values[0], x.values.at(-1), left, right, x.isLog);
  const clip = `clip-${++lineChart.count}`;
  const drawn = groups.map(([first], k) => ({ ...shown[first], index: shown[first].color ?? first, label: names[k], all: allNames(groups[k], series.map((line) => line.name)), strong: groups[k].some((i) => shown[i].strong) }));
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": description },
    draw("clipPath", { id: clip }, draw("rect", { x: left, y: top - 8, width: right - left, height: bottom - top + 8 })),
    regionOf(region, across, top, bottom),
    gridOf(across, up, x, y, { left, right, top, bottom }),
    draw("g", { "clip-path": `url(#${clip})` }, drawn.map((line) => (line.fan ? draw("path", { d: line.fan.path(across, up), fill: color(line.index), class: "fan" }) : null)), drawn.map((line) => [
      stacked ? draw("path", { d: areaOf(across, up, x.values, line), fill: color(line.index), class: "area" }) : null,
      draw("path", {
        d: pathOf(across, up, x.values, line.values), class: line.strong ? "line strong" : "line",
        stroke: color(line.index), "stroke-dasharray": stacked ? null : dash(line.index),
      }, draw("title", null, line.all)),
    ])),
    limitOf(limit, up, left, right),
    here === undefined || here < across.low || here > across.high ? null
      : draw("line", { x1: across.at(here), x2: across.at(here), y1: top, y2: bottom, class: "here" }),
    markedPoints(asOne(marks, groups, names), across, up, { left, right, top, bottom }),
    room ? endLabels(drawn.map((line) => endOf(line, x.values, across, up, stacked)), room, { right, top, bottom }) : null,
    draw("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
    draw("text", { x: left - 6, y: 14, "text-anchor": "start" }, y.label ?? ""));
  const rule = draw("line", { y1: top, y2: bottom, class: "rule", visibility: "hidden" });
  svg.append(rule);
  return { svg, readout: readoutOf(svg, rule, across, x, y, series), legend: room ? [] : legendOf(drawn, stacked) };
}
lineChart.count = 0;

const TICKS = 5;
const LETTER = 8.5; // of 13 px, where letters are wide

// Loads as small as 0.00025 % take more room beside the axis than most do.
function labelWidth(labels) {
  return Math.max(58, 10 + LETTER * Math.max(...labels.map((label) => label.length)));
}

// How high a value stands, as far as a picture beyond its ends; NaN where a line is broken.
function levelOf(up, value) {
  if (!Number.isFinite(value) || (up.isLog && value <= 0)) return NaN;
  const span = Math.abs(up.start - up.end);
  return Math.max(up.end - span, Math.min(up.start + span, up.at(value)));
}

// Where a line is last seen: of an area, its middle.
function endOf(line, places, across, up, stacked) {
  const last = Array.from(line.values).findLastIndex((v) => Number.isFinite(levelOf(up, v)));
  if (last < 0) return { name: line.label, all: line.all, x: across.end, y: up.start, index: line.index };
  const level = levelOf(up, line.values[last]), below = stacked ? levelOf(up, line.below ? line.below[last] : 0) : level;
  let at = last;
  if (!stacked) while (at > 0 && levelOf(up, line.values[at - 1]) < up.end) at--; // where it leaves the picture
  return { name: line.label, all: line.all, x: across.at(places[at]), y: (level + below) / 2, index: line.index, strong: line.strong, isArea: stacked };
}

// Marks with the names of their lines: those of lines that are drawn as one are one.
function asOne(marks, groups, names) {
  const seen = new Set();
  return marks.flatMap((mark) => {
    const group = groups.findIndex((one) => one.includes(mark.series)), key = `${group}:${mark.text}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ ...mark, series: groups[group][0], label: `${shortened(names[group], MAX_NAME)}: ${mark.text}` }];
  });
}

const MAX_NAME = 34;

function regionOf(region, across, top, bottom) {
  if (!region) return null;
  const from = across.at(Math.max(region[0], across.low)), to = across.at(Math.min(region[1], across.high));
  return [
    draw("rect", { x: from, y: top, width: Math.max(to - from, 2), height: bottom - top, class: "region" }),
    draw("text", { x: from + 6, y: top + 14, class: "soft" }, region[2]),
  ];
}

function gridOf(across, up, x, y, { left, right, bottom }) {
  const widest = Math.max(...[across.low, across.high].map((v) => x.format(v).length));
  const apart = Math.max(60, 18 + LETTER * widest);
  return [
    labeled(up.ticks(TICKS), y.format, UNIT_ROOM).map(([v, text]) => [
      draw("line", { x1: left, x2: right, y1: up.at(v), y2: up.at(v), class: "grid" }),
      draw("text", { x: left - 6, y: up.at(v) + 4, "text-anchor": "end", class: "tick" }, text),
    ]),
    labeled(spacedOut((x.ticks ?? ((wanted) => across.ticks(wanted)))(Math.max(2, Math.floor((right - left) / apart))).filter((v) => !x.isWhole || Number.isInteger(v)), across, x), x.format).map(([v, text]) => [
      draw("line", { x1: across.at(v), x2: across.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
      draw("text", { x: across.at(v), y: bottom + 18, "text-anchor": across.at(v) > right - 20 ? "end" : "middle", class: "tick" }, text),
    ]),
    draw("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }),
  ];
}

// Places on an axis with their texts, the unit at the last one alone.
function labeled(places, format, pad) {
  const texts = withUnitOnce(places.map(format), pad);
  return places.map((v, i) => [v, texts[i]]);
}
const UNIT_ROOM = "\u2003"; // as wide as a percent sign

// Of places on an axis, those whose texts do not touch the one before.
function spacedOut(places, across, x) {
  let end = -Infinity;
  return places.filter((v) => {
    const half = (LETTER * x.format(v).length) / 2, isIncluded = across.at(v) - half > end;
    if (isIncluded) end = across.at(v) + half + 6;
    return isIncluded;
  });
}

function limitOf(limit, up, left, right) {
  if (!limit || limit.at > up.high || limit.at < up.low) return null;
  return [
    draw("line", { x1: left, x2: right, y1: up.at(limit.at), y2: up.at(limit.at), class: "limit" }),
    draw("text", { x: right, y: up.at(limit.at) - 5, "text-anchor": "end", class: "soft" }, limit.label),
  ];
}

// Labels that would touch stand lower.
function markedPoints(marks, across, up, frame) {
  const taken = [];
  return marks.filter((m) => m.x >= across.low && m.x <= across.high && m.y <= up.high)
    .sort((a, b) => a.x - b.x)
    .map((mark) => {
      const at = across.at(mark.x), level = up.at(mark.y);
      const atRight = at + 8 + mark.label.length * 7 > frame.right;
      const step = atRight ? -16 : 16;
      const isTaken = (place) => taken.some((other) => Math.abs(other - place) < 16);
      let y = atRight ? level - 10 : level + 20;
      while (isTaken(y)) y += step;
      taken.push(y);
      return [
        draw("circle", { cx: at, cy: level, r: 4.5, fill: color(mark.series), class: "mark" }, draw("title", null, mark.label)),
        draw("text", { x: atRight ? at - 8 : at + 8, y, "text-anchor": atRight ? "end" : "start" }, mark.label),
      ];
    });
}

function pathOf(across, up, places, values) {
  let path = "", isDown = false;
  for (let i = 0; i < places.length; i++) {
    const level = levelOf(up, values[i]);
    if (Number.isNaN(level)) { isDown = false; continue; }
    path += `${isDown ? "L" : "M"}${across.at(places[i]).toFixed(1)} ${level.toFixed(1)}`;
    isDown = true;
  }
  return path;
}

function stackedUp(series) {
  let below = null;
  return series.map((line) => {
    const values = line.values.map((v, i) => (below ? below[i] : 0) + v);
    const stacked = { ...line, values, below };
    below = values;
    return stacked;
  });
}

function areaOf(across, up, places, { values, below }) {
  const level = (v) => Math.max(up.end - 500, up.at(Number.isFinite(v) ? v : 0)).toFixed(1);
  const forth = [...places].map((p, i) => `${across.at(p).toFixed(1)} ${level(values[i])}`);
  const back = [...places].map((p, i) => `${across.at(p).toFixed(1)} ${level(below ? below[i] : 0)}`).reverse();
  return `M${forth.join("L")}L${back.join("L")}Z`;
}

function legendOf(drawn, stacked) {
  return drawn.map((line) => make("li", null,
    draw("svg", { width: 34, height: 10, "aria-hidden": "true" },
      stacked ? draw("rect", { width: 14, height: 10, fill: color(line.index) })
        : draw("line", { x1: 0, x2: 34, y1: 5, y2: 5, stroke: color(line.index), "stroke-dasharray": dash(line.index), class: line.strong ? "line strong" : "line" })),
    make("span", { title: line.all }, line.label)));
}

// The value of a line at a place, and between which ends its fan lies there.
export function formatLineValue(line, y, index) {
  const format = y.formatValue ?? y.format;
  return `${format(line.values[index])}${line.fan?.format(index, format) ?? ""}`;
}

// The values of all lines at a place, by pointer or by keys; a rule shows the place.
function readoutOf(svg, rule, across, x, y, series) {
  const describe = (index) => {
    const place = x.values[index];
    rule.setAttribute("x1", across.at(place));
    rule.setAttribute("x2", across.at(place));
    rule.setAttribute("visibility", "visible");
    const values = series.map((line) => `${line.name} ${formatLineValue(line, y, index)}`);
    return `${x.label} ${(x.formatValue ?? x.format)(place)}: ${values.join(", ")}`;
  };
  return {
    count: x.values.length,
    describe,
    nearest(clientX) {
      const box = svg.getBoundingClientRect();
      const place = across.value(((clientX - box.left) / box.width) * svg.viewBox.baseVal.width);
      let best = 0;
      x.values.forEach((v, i) => { if (Math.abs(v - place) < Math.abs(x.values[best] - place)) best = i; });
      return best;
    },
    hide() { rule.setAttribute("visibility", "hidden"); },
  };
}
