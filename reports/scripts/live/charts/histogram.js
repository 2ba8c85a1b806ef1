// Where samples of the answer lie: columns over the population, the promise and the answer as lines.

import { axisFor, Axis } from "../../common/axis.js";
import { draw } from "../../common/dom.js";
import { percent, roundedDown, roundedUp, whole } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { pointReadout } from "../../common/picture.js";
import { nounOf, samplesText } from "../sentences.js";

const ONE_BAR = 0.5; // part of the samples in one column, beside which others do not show
const TOWERING = 4; // and how many times as high as any other it is then
const STRETCHES = 24, COVERED = 0.99;

// `uncertainty` has a distribution that was counted, or all answers in order.
export function drawHistogram(column, uncertainty, width, certainty) {
  const { model, graph, solved } = column;
  const { start, width: apart, counts } = uncertainty.distribution ?? counted(uncertainty.sorted), inAll = counts.reduce((sum, one) => sum + one, 0);
  // Where one column has most samples, the others do not show: then each tells how many are there or above.
  const [highest, second = 0] = [...counts].sort((a, b) => b - a), isCumulative = highest > ONE_BAR * inAll || highest > TOWERING * second, heights = isCumulative ? counts.map((_, i) => counts.slice(i).reduce((sum, one) => sum + one, 0)) : counts;
  const height = 236, top = 62, bottom = height - 42, left = isCumulative ? 48 : 24, right = width - 14;
  const across = new Axis(start, start + apart * counts.length, left, right), up = isCumulative ? new Axis(0, inAll, bottom, top) : axisFor([0, ...counts], bottom, top, false);
  const [from, to] = uncertainty.interval.map((end) => end ?? graph.low - 1);
  const title = phrase(isCumulative ? "ecdf" : "histogram", { noun: nounOf(model), samples: samplesText(column, uncertainty) });
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
  const all = uncertainty.distribution ? uncertainty.samples : uncertainty.sorted.length;
  const columns = heights.map((count, i) => {
    const low = start + i * apart, high = Math.min(low + apart - 1, graph.high), first = Math.max(low, graph.low);
    const place = high < graph.low ? "none" : isCumulative ? phrase("ecdf.place", { least: whole(first) }) : high <= first ? whole(first) : `${whole(first)}–${whole(high)}`;
    const isInside = high >= from && low <= to;
    const x = across.at(low), wide = Math.max(1, across.at(low + apart) - x - (isCumulative ? 0 : 1));
    svg.append(draw("rect", { x, y: up.at(count), width: wide, height: bottom - up.at(count), fill: "var(--c0)", "fill-opacity": isInside ? ".55" : ".2" }));
    return { x: x + wide / 2, y: up.at(count), place, share: percent(count / (isCumulative ? inAll : all), 2) };
  });
  if (isCumulative) for (const part of [0.5, 1]) svg.append(draw("line", { x1: left, x2: right, y1: up.at(part * inAll), y2: up.at(part * inAll), class: "grid" }), draw("text", { x: left - 6, y: up.at(part * inAll) + 4, "text-anchor": "end" }, percent(part)));
  const ticks = across.ticks(Math.max(2, Math.floor((right - left) / 90))).filter(Number.isInteger);
  svg.append(draw("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }), ...ticks.flatMap((v) => [
    draw("line", { x1: across.at(v), x2: across.at(v), y1: bottom, y2: bottom + 5, class: "axis" }),
    draw("text", { x: across.at(v), y: bottom + 18, "text-anchor": across.at(v) > right - 24 ? "end" : "middle" }, whole(v)),
  ]));
  const isEnd = start + apart * counts.length > graph.high ? phrase("page.range_end", { high: whole(graph.high) }) : "";
  svg.append(draw("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, `Capacity (${nounOf(model)})${isEnd}`));
  const inside = (population) => Math.min(right, Math.max(left, across.at(population)));
  const upright = (population, label, row, kind) => {
    const x = inside(population), isLeft = x + label.length * 7.5 > right;
    svg.append(draw("line", { x1: x, x2: x, y1: 2 + 16 * row, y2: bottom, class: kind }),
      draw("text", { x: isLeft ? x - 6 : x + 6, y: 13 + 16 * row, "text-anchor": isLeft ? "end" : "start", class: row ? "across" : "strong" }, label));
  };
  if (uncertainty.atConfidence !== null) upright(uncertainty.atConfidence, confidenceCaption(certainty, roundedDown(uncertainty.atConfidence), solved.known), 0, "rule");
  if (solved.largest !== null) upright(solved.largest, phrase("page.nominal_line", { users: whole(solved.largest) }), 1, "here");
  // The interval as a bar, its upper end with its share; where that is the end of the range there may be more.
  if (uncertainty.interval[1] > Math.max(solved.largest ?? 0, uncertainty.atConfidence ?? 0) && uncertainty.interval[1] < graph.high) upright(uncertainty.interval[1], phrase("page.percentile", { sure: percent(1 - certainty), least: roundedUp(uncertainty.interval[1]) }), 2, "here");
  svg.append(draw("rect", { x: inside(from), y: bottom - 3, width: Math.max(1, inside(to) - inside(from)), height: 6, rx: 2, fill: "var(--c0)" }), uncertainty.atConfidence === null ? "" : draw("circle", { cx: inside(uncertainty.atConfidence), cy: bottom, r: 5, fill: "var(--ink)" }));
  return {
    title, svg, readout: pointReadout(svg, columns.map((one) => ({ ...one, text: `${one.place}: ${one.share} of samples` }))),
    table: () => ({ head: [`Capacity (${model.population})`, "Share of samples"], rows: columns.map((one) => [one.place, one.share]) }),
  };
}

// What is as certain as that: of a bound or an approximation no more than which share of the samples lies below.
function confidenceCaption(certainty, least, known) {
  return phrase(known ? "page.percentile" : "page.confidence", { sure: percent(certainty), least });
}

// How many answers lie where, the last to each side left out: they would squash the others.
function counted(sorted) {
  const start = sorted[Math.floor((1 - COVERED) * sorted.length / 2)], end = sorted[Math.ceil(((1 + COVERED) / 2) * sorted.length) - 1];
  const width = Math.max(1, Math.ceil((end - start + 1) / STRETCHES));
  const counts = new Array(Math.floor((end - start) / width) + 1).fill(0);
  for (const one of sorted) if (one >= start && one <= end) counts[Math.floor((one - start) / width)]++;
  return { start, width, counts };
}
