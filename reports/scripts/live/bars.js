// Pictures of bars: the latency budget as a waterfall, the sensitivities as a tornado.

import { marked, together } from "../engine/known.js";
import { Axis } from "../common/axis.js";
import { colour, draw } from "../common/dom.js";
import { percent, shortened, whole } from "../common/format.js";
import { pointReadout } from "../common/picture.js";

export function drawWaterfall(column, width, choice) {
  const { graph, model, run } = column;
  const streams = graph.streams.filter((one) => one.stages.length);
  if (!streams.length) return null;
  const needed = streams.find((one) => graph.criteria.some((c) => c.stated && c.measure === one.latency));
  choice.update(streams.map((one) => one.name), (needed ?? streams[0]).name);
  const stream = streams.find((one) => one.name === choice.value);
  run.at(column.n);
  const stages = stream.calls.length ? calledStages(stream.calls, run) : inLine(joinedStages(stream.stages.map(([name, step, known]) => ({ name, value: run.value(step), known }))));
  const total = run.value(stream.latency);
  const limits = graph.criteria.filter((one) => one.measure === stream.latency && one.atMost && one.stated);
  const limit = limits.length ? run.value(limits[0].limit) : null;
  const told = (v) => column.tell(v, "s");
  const toldOf = ({ value, known }) => marked(told(value), known, value);
  const inAll = { name: "in all", value: total, known: stream.latencyKnown };
  const title = `Where the latency of ${stream.name} goes at ${model.population} = ${whole(column.n)}: ${toldOf(inAll)}${limit === null ? "" : ` of ${told(limit)}`}`;
  // An endless wait reaches the edge; the others keep their scale.
  const ended = stages.map((one) => one.value).filter(Number.isFinite).reduce((sum, value) => sum + value, 0);
  const ends = stream.calls.length ? stages.map((one) => one.from + one.value) : [ended];
  const longest = Math.max(...[total, limit ?? 0, ...ends, 1e-30].filter(Number.isFinite)) * 1.05;
  const share = (value) => percent(Number.isFinite(total) ? value / total : Number(value === total));
  const labels = Math.min(width * 0.38, 30 + 7 * Math.max(...stages.map((one) => one.name.length)));
  const across = new Axis(0, longest, labels, width - 70);
  const line = 24, height = (stages.length + 1) * line + 46;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
  const points = [], bottom = height - 34;
  if (limit !== null) svg.append(draw("line", { x1: across.at(limit), x2: across.at(limit), y1: 4, y2: bottom, class: "limit" }));
  [...stages, { ...inAll, from: 0, isTotal: true, depth: stream.calls.length ? 0 : undefined }].forEach((stage, i) => {
    const y = 8 + i * line;
    const x = across.at(Math.min(stage.from, longest)), end = across.at(Math.min(stage.from + stage.value, longest));
    svg.append(
      draw("text", stage.depth === undefined ? { x: labels - 8, y: y + 15, "text-anchor": "end" } : { x: 4 + 14 * stage.depth, y: y + 15 }, shortened(stage.name, (labels - 20) / 7)),
      draw("rect", { x, y: y + 2, width: Math.max(end - x, 1), height: line - 6, fill: stage.isTotal ? colour(6) : colour(stage.value > total / 4 ? 1 : 0) }, draw("title", null, `${stage.name}: ${toldOf(stage)}`)),
      draw("text", { x: end + 5, y: y + 15 }, toldOf(stage)));
    points.push({ x: (x + end) / 2, y: y + 11, band: true, text: `${stage.name}: ${toldOf(stage)}, ${share(stage.value)} of the latency` });
  });
  svg.append(...across.ticks(Math.max(2, Math.floor(width / 140))).flatMap((v) => [
    draw("line", { x1: across.at(v), x2: across.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
    draw("text", { x: across.at(v), y: bottom + 18, "text-anchor": "middle" }, told(v))]));
  if (limit !== null) svg.append(draw("text", { x: across.at(limit), y: height - 2, "text-anchor": "end", class: "soft" }, `limit ${told(limit)}`));
  return {
    title, svg, readout: pointReadout(svg, points),
    table: () => stream.calls.length ? callTable(stream.calls, run, told)
      : { head: ["stage", "time", "share"], rows: [...stages.map((s) => [s.name, toldOf(s), share(s.value)]), [inAll.name, toldOf(inAll), ""]] },
  };
}

const MOST_STAGES = 14, MOST_CALLED = 40;
const INWARDS = "\u2003"; // as wide as a letter, and no blank that a page drops

// One stage after the other.
function inLine(stages) {
  let ends = 0;
  return stages.map((stage) => {
    const from = ends;
    ends += stage.value;
    return { ...stage, from };
  });
}

// The calls of a request, each where it begins; where there are very many, the innermost are left out.
function calledStages(calls, run) {
  const upTo = (depth) => calls.filter((one) => one.depth <= depth);
  const depths = [...new Set(calls.map((one) => one.depth))].sort((a, b) => b - a);
  const shown = upTo(depths.find((depth) => upTo(depth).length <= MOST_CALLED) ?? 0).map((one) => {
    const from = run.value(one.starts), value = run.value(one.ends) - from;
    return { name: one.name, depth: one.depth, from: Number.isFinite(from) ? from : 0, value: Number.isNaN(value) ? 0 : value, known: one.known };
  });
  const lasting = shown.filter((one) => one.depth || one.value);
  return lasting.length ? lasting : shown.slice(0, 1);
}

function callTable(calls, run, told) {
  const made = (times) => times < 1 ? percent(times) : times === 1 ? "" : String(Number(times.toPrecision(4)));
  return {
    head: ["of a request on average", "made", "each", "start", "end"],
    rows: calls.map((one) => [INWARDS.repeat(one.depth) + one.name, made(run.value(one.times)), told(run.value(one.each)), told(run.value(one.starts)), told(run.value(one.ends))]),
  };
}

// The stages in their order; where there are very many, the smallest are told together.
function joinedStages(stages) {
  const present = stages.filter((one) => one.value !== 0);
  if (present.length <= MOST_STAGES) return present.length ? present : stages.slice(0, 1);
  const kept = new Set([...present].sort((a, b) => b.value - a.value).slice(0, MOST_STAGES - 1));
  const rest = present.filter((one) => !kept.has(one));
  return [...present.filter((one) => kept.has(one)), { name: `${rest.length} smaller ones`, value: rest.reduce((sum, one) => sum + one.value, 0), known: together(rest.map((one) => one.known)) }];
}

const MOST_BARS = 14;
const TELLING = 0.005; // what moves the answer by less reads as zero

export function drawTornado(column, width) {
  const { sensitivity, solved } = column;
  const telling = sensitivity.rows.filter((one) => Math.abs(one.elasticity) >= TELLING);
  const rows = telling.slice(0, MOST_BARS);
  if (!rows.length) return null;
  const of = solved.limiting ? "the largest acceptable number of users" : `the saturation point of ${sensitivity.of}`;
  const title = `By how much 1 % more of each number moves ${of}`;
  const longest = Math.abs(rows[0].elasticity);
  const labels = Math.min(width * 0.42, 24 + 7.2 * Math.max(...rows.map((one) => one.record.name.length)));
  const across = new Axis(-longest, longest, labels + 10, width - 16);
  const line = 24, height = rows.length * line + 40, bottom = height - 30;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
  const points = rows.map(({ record, elasticity }, i) => {
    const y = 4 + i * line, x = across.at(Math.min(0, elasticity)), end = across.at(Math.max(0, elasticity));
    const helps = elasticity > 0;
    svg.append(
      draw("text", { x: labels, y: y + 15, "text-anchor": "end" }, shortened(record.name, (labels - 10) / 7.2)),
      draw("rect", { x, y: y + 2, width: Math.max(end - x, 1), height: line - 6, fill: colour(helps ? 2 : 1) }),
      draw("text", helps ? { x: x - 5, y: y + 15, "text-anchor": "end" } : { x: end + 5, y: y + 15 }, `${helps ? "+" : "−"}${Math.abs(elasticity).toFixed(2)} %`));
    return { x: (x + end) / 2, y: y + 11, band: true, text: `1 % more ${record.name} (now ${record.text}): ${elasticity >= 0 ? "+" : "−"}${Math.abs(elasticity).toFixed(3)} %` };
  });
  svg.append(
    draw("line", { x1: across.at(0), x2: across.at(0), y1: 0, y2: bottom, class: "axis" }),
    draw("text", { x: across.start, y: height - 8, class: "soft" }, "◀ fewer users"),
    draw("text", { x: across.end, y: height - 8, "text-anchor": "end", class: "soft" }, "more users ▶"));
  return {
    title, svg, readout: pointReadout(svg, points),
    table: () => ({ head: ["number", "effect of 1 % more"], rows: telling.map(({ record, elasticity }) => [record.name, `${elasticity.toFixed(4)} %`]) }),
  };
}
