// All configurations of a page in one picture: how near each is to the first of its limits.

import { wholeBetween } from "../column.js";
import { nounOfAll } from "../configuration_names.js";
import { limitUsed } from "../../engine/limit_use.js";
import { linePicture, populationAxis, shareAxis } from "./population_charts.js";
import { formatCapacity } from "../sentences.js";

const POINTS = 121;

export function drawTogether(columns, width) {
  if (columns.length < 2) return null;
  const low = Math.min(...columns.map((one) => one.graph.low)), high = Math.max(...columns.map((one) => one.populations(2).at(-1)));
  const populations = wholeBetween(low, high, POINTS);
  const marks = columns.flatMap((column, i) => {
    const { largest } = column.solved, y = largest === null ? NaN : nearness(column, Float64Array.of(largest))[0];
    return Number.isFinite(y) ? [{ series: i, x: largest, y, text: formatCapacity(column) }] : [];
  });
  // A line with a mark has its users there.
  const series = columns.map((column, i) => ({
    name: `${column.label}: ${column.solved.largest === null ? "none" : formatCapacity(column)}`,
    short: marks.some((one) => one.series === i) ? column.label : undefined, values: nearness(column, populations),
  }));
  const noun = nounOfAll(columns);
  return linePicture(`Highest share of a limit by configuration, against ${noun}`, {
    x: { ...populationAxis(columns[0], populations), label: noun }, y: shareAxis(series, false), series, marks,
    limit: { at: 1, label: "limit" },
  }, width);
}

// The largest share of any limit that is used at some populations: of requirements, quality and loads.
function nearness({ graph, run }, populations) {
  const judged = graph.criteria.filter((one) => one.certainty === undefined && !one.isQuality);
  const rows = run.sweep(judged.flatMap((one) => [one.measure, one.limit]), populations);
  const shares = judged.map(({ atMost }, i) => rows[2 * i].map((value, j) => limitUsed(atMost, value, rows[2 * i + 1][j])));
  if (graph.quality !== null) shares.push(run.sweep([graph.quality], populations)[0]);
  return populations.map((at, j) => (at > graph.high ? NaN : Math.max(...shares.map((one) => one[j]).filter((share) => !Number.isNaN(share)))));
}
