// A picture of bars: the sensitivities as a tornado.

import { Axis } from "../../common/axis.js";
import { color, draw } from "../../common/dom.js";
import { shortened } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { pointReadout } from "../../common/picture.js";
import { nounOf } from "../sentences.js";
import { called, calledInFull, labeled } from "../labels.js";

// A picture of which nothing is known yet.
function waiting(what, width) {
  const title = `${what}: computing …`;
  return { title, svg: draw("svg", { viewBox: `0 0 ${width} 60`, width, class: "chart", role: "img", "aria-label": title }), table: () => ({ head: ["Input", phrase("page.effect")], rows: [] }) };
}

function signedShare(value) { return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)} %`; }

const MAX_BARS = 14;
const NOTICEABLE = 0.005; // what moves the answer by less reads as zero

export function drawTornado(column, width) {
  const { sensitivity, solved, model } = column;
  if (!sensitivity) return waiting("Sensitivity", width);
  const noticeable = sensitivity.rows.filter((one) => Math.abs(one.elasticity) >= NOTICEABLE);
  const rows = noticeable.slice(0, MAX_BARS);
  if (!rows.length) return null;
  const of = solved.limiting ? phrase("sensitivity.of", { noun: nounOf(column.model) }) : `the saturation point of ${sensitivity.of}`;
  const title = phrase("page.sensitivity", { of });
  const longest = Math.abs(rows[0].elasticity);
  const labels = Math.min(width * 0.42, 24 + 7.2 * Math.max(...rows.map((one) => called(model, one.record.name).length)));
  const across = new Axis(-longest, longest, labels + 10, width - 16);
  const line = 24, height = rows.length * line + 40, bottom = height - 30;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, class: "chart", role: "img", "aria-label": title });
  const points = rows.map(({ record, elasticity }, i) => {
    const y = 4 + i * line, x = across.at(Math.min(0, elasticity)), end = across.at(Math.max(0, elasticity));
    const helps = elasticity > 0;
    svg.append(
      draw("text", { x: labels, y: y + 15, "text-anchor": "end" }, shortened(called(model, record.name), (labels - 10) / 7.2), draw("title", null, calledInFull(model, record.name))),
      draw("rect", { x, y: y + 2, width: Math.max(end - x, 1), height: line - 6, fill: color(helps ? 2 : 1) }),
      draw("text", helps ? { x: x - 5, y: y + 15, "text-anchor": "end" } : { x: end + 5, y: y + 15 }, signedShare(elasticity)));
    return { x: (x + end) / 2, y: y + 11, band: true, text: `+1 % of ${calledInFull(model, record.name)} (now ${record.text}): ${signedShare(elasticity)}` };
  });
  svg.append(
    draw("line", { x1: across.at(0), x2: across.at(0), y1: 0, y2: bottom, class: "axis" }),
    draw("text", { x: across.start, y: height - 8, class: "soft" }, "◀ lower"),
    draw("text", { x: across.end, y: height - 8, "text-anchor": "end", class: "soft" }, "higher ▶"));
  return {
    title, svg, readout: pointReadout(svg, points),
    table: () => ({ head: ["Input", phrase("page.effect")], rows: noticeable.map(({ record, elasticity }) => [labeled(model, record.name), signedShare(elasticity)]) }),
  };
}
