// All configurations of a page in one picture: how near each is to the first of its limits.

import { whole } from "../common/format.js";
import { nounOfAll } from "./names.js";
import { linePicture, populationAxis, shareAxis } from "./pictures.js";
import { largestTold } from "./sentences.js";

const POINTS = 121;

export function drawTogether(columns, width) {
  if (columns.length < 2) return null;
  const low = Math.min(...columns.map((one) => one.graph.low)), high = Math.max(...columns.map((one) => one.populations(2).at(-1)));
  const populations = Float64Array.from({ length: POINTS }, (_, i) => low + ((high - low) * i) / (POINTS - 1));
  const series = columns.map((column) => ({ name: `${column.label}: ${column.solved.largest === null ? "none" : largestTold(column)}`, values: nearness(column, populations) }));
  const marks = columns.flatMap(({ solved: { largest }, label }, i) => {
    const y = largest === null ? NaN : nearness(columns[i], Float64Array.of(largest))[0];
    return Number.isFinite(y) ? [{ series: i, x: largest, y, label: `${label}: ${whole(largest)}` }] : [];
  });
  const noun = nounOfAll(columns);
  return linePicture(`How near each configuration is to the first of its limits, against ${noun}`, {
    x: { ...populationAxis(columns[0], populations), label: noun }, y: shareAxis(series, false), series, marks,
    limit: { at: 1, label: "limit" },
  }, width);
}

// The largest share of any limit that is used at some populations: of requirements, quality and loads.
function nearness({ graph, run }, populations) {
  const judged = graph.criteria.filter((one) => one.certainty === undefined && one.name !== "quality");
  const pairs = judged.map((one) => (one.atMost ? [one.measure, one.limit] : [one.limit, one.measure]));
  const rows = run.sweep(pairs.flat(), populations);
  const shares = pairs.map((_, i) => rows[2 * i].map((above, j) => above / rows[2 * i + 1][j]));
  if (graph.quality !== null) shares.push(run.sweep([graph.quality], populations)[0]);
  return populations.map((at, j) => (at > graph.high ? NaN : Math.max(...shares.map((one) => one[j]).filter((share) => !Number.isNaN(share)))));
}
