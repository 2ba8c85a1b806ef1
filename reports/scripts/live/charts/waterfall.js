// One request from left to right: the steps of its way in order, each with its work and its waiting.

import { marked } from "../../engine/certainty.js";
import { Axis, withUnitOnce } from "../../common/axis.js";
import { draw, fill } from "../../common/dom.js";
import { phrase } from "../../common/phrases.js";
import { percent, shortened } from "../../common/format.js";
import { pointReadout } from "../../common/picture.js";
import { called, stageCalled } from "../labels.js";
import { counted } from "../sentences.js";
import { definitions, fillsOf, segments, spentLegend } from "./topology.js";
import { SPENT, SPENT_HEADINGS, spentIn, timeSpentLabel, streamOf, isVisible, pathConclusion, requestPathOf } from "./request_path.js";

const MAX_ROWS = 40, MAX_TIMES = 12;
const LINE = 24, LEFT = 36, INDENT = 12, LETTER = 6.6, LABEL_LETTER = 7.6, KEY = "steps", FILLS = fillsOf(KEY);
const INWARDS = "\u2003"; // as wide as a letter, and no blank that a page drops

export function drawWaterfall(column, width, choice) {
  const { graph, model, run } = column;
  const stream = streamOf(column, choice);
  if (!stream) return null;
  run.at(column.n);
  const way = requestPathOf(run, stream), { total } = way;
  fill("of-system", pathConclusion(column, way));
  const limits = graph.criteria.filter((one) => one.measure === stream.latency && one.atMost && one.stated);
  const limit = limits.length ? run.value(limits[0].limit) : null;
  const time = (v) => column.format(v, "s"), valueText = ({ value, known }) => marked(time(value), known, value);
  const share = (value) => percent(Number.isFinite(total) ? value / (total || 1) : Number(value === total));
  const inAll = { kind: "all", name: phrase("way.average"), value: total, start: 0, end: total, depth: 0, known: stream.latencyKnown };
  const late = { ...inAll, kind: "late", name: phrase("way.late"), value: run.value(stream.late), end: run.value(stream.late), known: stream.lateKnown };
  const title = `Latency of ${called(model, stream.name)} at ${counted(column.n, model)}: ${valueText(inAll)}${limit === null ? "" : ` (limit ${time(limit)})`}`;
  const shown = shownOf(way), rows = [...shown, inAll, late];
  // An endless wait reaches the edge; the others keep their scale.
  const longest = Math.max(...[total, limit ?? 0, way.end, ...rows.map((row) => row.end), 1e-30].filter(Number.isFinite)) * 1.05;
  const labels = Math.min(width * 0.4, LEFT + 12 + Math.max(...rows.map((row) => 7 * nameOf(row, model).length + INDENT * row.depth)));
  const amountText = (row) => (row.stages ? `${valueText(row)}, ${share(row.value)}` : row.kind === "call" ? "" : valueText(row));
  const across = new Axis(0, longest, labels, width - 12 - LABEL_LETTER * Math.max(...rows.map((row) => amountText(row).length)));
  const height = rows.length * LINE + 46, bottom = height - 34;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title }, definitions(KEY));
  const texts = [];
  const points = rows.map((row, i) => {
    const y = 8 + i * LINE, x = across.at(Math.min(Number.isFinite(row.start) ? row.start : 0, longest)), end = across.at(Math.min(row.end, longest));
    const left = LEFT + INDENT * row.depth;
    svg.append(...barOf(row, x, end, y));
    texts.push(
      row.number ? draw("text", { x: left - 5, y: y + 15, "text-anchor": "end", class: "soft" }, String(row.number)) : "",
      draw("text", { x: left, y: y + 15, class: row.stages ? null : "strong" }, shortened(nameOf(row, model), (labels - left - 8) / 7), draw("title", null, row.name)),
      draw("text", { x: end + 5, y: y + 15, class: "across" }, amountText(row)));
    return { x: (x + end) / 2, y: y + 11, band: true, text: tableRow(row, time, valueText, share, model) };
  });
  const ticks = across.ticks(Math.max(2, Math.floor(width / 140))), texted = withUnitOnce(ticks.map((v) => column.format(v, "s", { beside: ticks.at(-1) })));
  // The limit crosses the bars, and no text.
  svg.append(limit === null ? "" : draw("line", { x1: across.at(limit), x2: across.at(limit), y1: 4, y2: bottom, class: "limit" }), ...texts, ...forksOf(shown, across, longest), ...ticks.flatMap((v, i) => [
    draw("line", { x1: across.at(v), x2: across.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
    draw("text", { x: across.at(v), y: bottom + 18, "text-anchor": "middle", class: "tick" }, texted[i])]));
  if (limit !== null) svg.append(draw("text", { x: across.at(limit), y: height - 2, "text-anchor": "end", class: "soft" }, `limit ${time(limit)}`));
  return { title, way, svg, readout: pointReadout(svg, points), legend: spentLegend(way, FILLS), table: () => tableOf([...way.rows, inAll, late], { format: time, valueText, share, model, time: (v) => (v && isVisible(way, v) ? time(v) : "") }) };
}

function formatTimes(times) { return times < 1 ? percent(times) : times === 1 ? "" : String(Number(times.toPrecision(4))); }

// `call db, 3 times`; `call db, by 20 %`.
// With a model they are called by their labels.
function nameOf(row, model = {}) {
  if (row.kind !== "call") return stageCalled(model, row.name);
  const made = formatTimes(row.times);
  return `call ${called(model, row.name)}${made ? `, ${row.times < 1 ? `${made} of the time` : `${made} times`}` : ""}`;
}

// What takes no time is left out. A call that calls nothing is one row, with its way there and back; where there is
// very much, so are all calls from some depth on.
function shownOf(way) {
  const { rows } = way;
  const isIn = (row, call) => row.depth > call.depth;
  const inside = (call) => {
    const from = rows.indexOf(call) + 1, to = rows.findIndex((row, i) => i >= from && !isIn(row, call));
    return rows.slice(from, to < 0 ? rows.length : to);
  };
  const closed = (deepest) => {
    const shown = [];
    let last = null;
    for (const row of rows) {
      if (last && isIn(row, last)) continue;
      last = null;
      if (!isVisible(way, row.value)) continue;
      const own = row.kind === "call" ? inside(row) : [];
      const isClosed = own.length > 0 && (row.depth >= deepest || own.every((one) => one.kind === "stop"));
      if (isClosed) last = row;
      shown.push(isClosed ? { ...row, isClosed, stages: own.flatMap((one) => one.stages ?? []), number: numbersOf(own) } : row);
    }
    return shown;
  };
  const depths = [...new Set(rows.map((row) => row.depth))].sort((a, b) => b - a);
  const found = depths.map((depth) => () => closed(depth)).reduce((best, next) => (best.length <= MAX_ROWS ? best : next()), closed(Infinity));
  return found.length ? found : rows.slice(0, 1);
}

// `5`, or `5–7`.
function numbersOf(rows) {
  const found = rows.map((row) => row.number).filter(Boolean);
  return found.length > 1 ? `${found[0]}–${found.at(-1)}` : String(found[0] ?? "");
}

// A bar of stages, in order; a call that is not told as a whole is the line above what it does, cut into so many as
// there are.
function barOf(row, x, end, y) {
  const room = Math.max(end - x, 1);
  if (!row.stages && row.kind !== "call" && row.kind !== "together") return segments(x, y + 3, LINE - 8, [["var(--c6)", room]]);
  if (row.stages) {
    const sum = row.stages.reduce((all, one) => all + one.value, 0);
    const part = (value) => (Number.isFinite(sum) ? value / (sum || 1) : Number(!Number.isFinite(value)));
    const passages = passagesOf(row);
    const each = passages.flatMap((share) => row.stages.map((one) => [FILLS[one.with], part(one.value) * room * share]));
    return [...segments(x, y + 3, LINE - 8, each), ...cuts(passages, x, end, y), ...named(row, x, y, (value) => part(value) * room * passages[0])];
  }
  return [draw("path", { d: `M${x},${y + 16}v-6H${end}v6`, class: row.times < 1 ? "span rare" : "span" }), ...cuts(passagesOf(row), x, end, y)];
}

// What is worked at is named within its segment, where there is room.
function named(row, x, y, widthOf) {
  let left = x;
  return row.stages.map((one) => {
    const width = widthOf(one.value), text = row.kind === "stop" ? one.name.replace(` at ${row.place}`, "") : one.name, from = left;
    left += width;
    const fits = one.with === "work" && text !== row.name && text.length * LETTER + 8 <= width;
    return fits ? draw("text", { x: from + width / 2, y: y + 15, "text-anchor": "middle", class: "own inside" }, text) : "";
  });
}

// What share of a call each of several makes: one that is made 2.5 times is made twice, and half a time. A very great
// number is drawn as one.
function passagesOf({ kind, times }) {
  if (kind !== "call" || !(times > 1 && times <= MAX_TIMES)) return [1];
  return Array.from({ length: Math.ceil(times) }, (_, i) => Math.min(1, times - i) / times);
}

// Where one of several calls ends and the next begins.
function cuts(passages, x, end, y) {
  let at = x;
  return passages.slice(0, -1).map((share) => {
    at += share * (end - x);
    return draw("path", { d: `M${at},${y}V${y + 19}`, class: "cut" });
  });
}

// A line down along what begins at the same time.
function forksOf(rows, across, longest) {
  return rows.flatMap((row, i) => {
    if (row.kind !== "together") return [];
    let last = i;
    rows.slice(i + 1).every((one, k) => { if (one.depth === row.depth + 1) last = i + 1 + k; return one.depth > row.depth; });
    const x = across.at(Math.min(Number.isFinite(row.start) ? row.start : 0, longest));
    return [draw("path", { d: `M${x},${8 + i * LINE + 16}V${8 + last * LINE + 12}`, class: "span fork" })];
  });
}

function tableRow(row, time, valueText, share, model) {
  const step = row.number ? `step ${row.number}, ` : "", stages = row.stages ?? [];
  const spent = row.stages ? timeSpentLabel(spentIn(row.stages), time) : "";
  const inside = stages.length > 1 ? `: ${stages.map((one) => `${stageCalled(model, one.name)} ${time(one.value)}`).join(", ")}` : stages.length && stages[0].name !== row.name ? `: ${stageCalled(model, stages[0].name)}` : "";
  const part = row.kind === "late" ? "" : `, ${share(row.value)} of latency`;
  return `${step}${nameOf(row, model)}: ${valueText(row)}${part}${spent ? ` (${spent})` : ""}${inside}`;
}

function tableOf(rows, { format, valueText, share, model, time }) {
  const cells = (row) => [formatTimes(row.times ?? 1), row.often === undefined || row.often === 1 ? valueText(row) : row.often ? marked(format(row.value / row.often), row.known, row.value) : "", valueText(row), row.kind === "late" ? "" : share(row.value)];
  const spent = (row) => Object.keys(SPENT).map((word) => time(row.spent?.[word]));
  return {
    head: ["Step", "Stage (mean per item)", "Calls", "Each", "Time", "Share", ...SPENT_HEADINGS, "Start", "End"],
    rows: rows.flatMap((row) => {
      const name = INWARDS.repeat(row.depth) + (row.kind === "call" ? `call ${called(model, row.name)}` : stageCalled(model, row.name));
      const own = [row.number ?? "", name, ...cells(row), ...spent(row), format(row.start), format(row.end)];
      const stages = row.stages ?? [];
      if (stages.length === 1 && stages[0].name !== row.name) own[1] += `: ${stageCalled(model, stages[0].name)}`;
      if (stages.length < 2) return [own];
      return [own, ...stages.map((one) => ["", INWARDS.repeat(row.depth + 1) + stageCalled(model, one.name), ...cells({ ...one, often: row.often }), ...spent({ spent: { [one.with]: one.value } }), "", ""])];
    }),
  };
}
