// Lines over the population: loads, what a load is made up of, needs, quality.

import { inParenthesis, turned } from "../../engine/certainty.js";
import { roundStep } from "../../common/axis.js";
import { number, percent, whole, wholePopulation } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { called } from "../labels.js";
import { lineChart, formatLineValue } from "./line_chart.js";
import { limitUsed } from "../../engine/limit_use.js";
import { hasNominal, hasTarget, isPlanned } from "../sentences.js";

export function populationAxis(column, populations) {
  return {
    label: column.model.population, values: populations,
    format: (v) => number(v), isWhole: true,
  };
}

// Shares up to somewhat past saturation: what lies far beyond would squash the rest.
export function shareAxis(lines, isLog) {
  const percents = { format: (v) => percent(v), label: "" };
  if (isLog) return { ...percents, isLog };
  const finite = lines.flatMap((line) => [...line.values]).filter(Number.isFinite);
  const highest = Math.max(0, ...finite);
  if (highest < 0.5) return percents;
  // A line that is beyond that from the start on is in sight even so.
  const first = Math.max(0, ...lines.map((line) => line.values[0]).filter(Number.isFinite));
  const most = Math.max(highest > 1.2 ? 1.5 : 1.2, Math.ceil(first * 1.15 * 10) / 10);
  return { ...percents, low: 0, high: most };
}

function acceptable(column) {
  const { solved, graph } = column;
  if (solved.largest === null) return null;
  return [graph.low, solved.largest, phrase("page.supported", { low: whole(graph.low), high: whole(solved.largest) }) + (solved.known ? ` (${phrase(`served.${solved.known[0]}`)})` : "") + (hasNominal(column) ? ` ${phrase("with_nominal")}` : "")];
}

function tableOf(x, y, series) {
  const every = Math.max(1, Math.round(x.values.length / 12));
  const chosen = [...x.values.keys()].filter((i) => i % every === 0 || i === x.values.length - 1);
  return {
    head: [x.label, ...series.map((line) => line.short ?? line.name)],
    rows: chosen.map((i) => [(x.formatValue ?? x.format)(x.values[i]), ...series.map((line) => formatLineValue(line, y, i))]),
  };
}

export function linePicture(title, chart, width, height) {
  const description = `${title}: ${chart.series.map((line) => line.name).join(", ")}`;
  return { title, chart, ...lineChart({ ...chart, description }, width, height), table: () => tableOf(chart.x, chart.y, chart.series) };
}

const MAX_LINES = 8;

export function drawLoads(column, width, isLog) {
  const { solved, run, model } = column;
  if (!solved.resources.length) return null;
  run.at(solved.at);
  const loads = new Map(solved.resources.map((one) => [one, run.value(one.about.load)]));
  const shown = [...solved.resources].sort((a, b) => loads.get(b) - loads.get(a)).slice(0, MAX_LINES);
  const populations = column.populations();
  const rows = run.sweep(shown.map((one) => one.about.load), populations);
  const planned = isPlanned(column);
  const fans = column.fans?.("loads", shown.map((one) => [one.about.load, one.about.target, true]), populations);
  const series = shown.map((one, i) => {
    const target = run.value(one.about.target); // the same at every population
    return { name: one.name, short: called(model, one.name), values: rows[i].map((load) => load / target), fan: fans?.[i] };
  });
  const left = solved.resources.length - shown.length;
  return linePicture(
    `${phrase(planned ? "page.utilization.planned" : "page.utilization", { name: model.population })}${left ? `; ${left} less utilized ones are in the table only` : ""}`,
    {
      x: populationAxis(column, populations), y: shareAxis(series, isLog), series, region: acceptable(column), here: column.n,
      limit: { at: 1, label: planned ? "target" : "saturation" },
      marks: shown.flatMap((one, i) => (one.at === null || one.isAtStart || one.notBelow !== null ? [] : [{ series: i, x: one.at, y: 1, text: wholePopulation(one.at) }])),
    }, width);
}

export function drawShares(column, width, choice) {
  const { solved, run, model } = column;
  // What one part alone makes up is the line of the load itself.
  const made = solved.resources.filter((one) => one.about.parts.length > 1);
  if (!made.length) return null;
  run.at(solved.at);
  const fullest = made.reduce((most, one) => (run.value(one.about.load) > run.value(most.about.load) ? one : most));
  choice.update(made.map((one) => one.name), (made.find((one) => one === solved.first) ?? fullest).name, (name) => called(model, name));
  const chosen = solved.resources.find((one) => one.name === choice.value);
  const populations = column.populations(81);
  const rows = run.sweep(chosen.about.parts.map((part) => part[1]), populations);
  const parts = chosen.about.parts.map(([name], i) => ({ name, short: called(model, name), values: [...rows[i]] }));
  const size = (part) => Math.max(...part.values.filter(Number.isFinite), 0);
  parts.sort((a, b) => size(b) - size(a));
  const shown = parts.slice(0, MAX_LINES - 1), rest = parts.slice(MAX_LINES - 1);
  if (rest.length) shown.push({ name: `${rest.length} others`, values: shown[0].values.map((_, i) => rest.reduce((sum, part) => sum + part.values[i], 0)) });
  const total = { values: shown[0].values.map((_, i) => shown.reduce((sum, part) => sum + part.values[i], 0)) };
  return linePicture(`Utilization of ${called(model, chosen.name)} by component, against ${model.population}`, {
    x: populationAxis(column, populations), y: shareAxis([total], false), series: shown, stacked: true,
    here: column.n, limit: { at: run.value(chosen.about.target), label: hasTarget(column, chosen) ? "target" : "saturation" },
  }, width);
}

export function drawNeeds(column, width, isLog) {
  const { run, graph, model } = column;
  const stated = graph.criteria.filter((one) => one.stated && !one.isQuality).sort((a, b) => b.atMost - a.atMost);
  const populations = column.populations();
  const rows = run.sweep(stated.flatMap((one) => [one.measure, one.limit]), populations);
  const series = stated.map(({ name, atMost, knownInSeries }, i) => ({
    name: atMost ? name + inParenthesis(knownInSeries) : `${name} (limit / value)${inParenthesis(turned(knownInSeries))}`,
    short: called(model, name),
    values: rows[2 * i].map((v, j) => limitUsed(atMost, v, rows[2 * i + 1][j])),
  }));
  const pairs = stated.map((one) => [one.measure, one.limit, one.atMost]);
  const fans = column.fans?.("needs", graph.quality === null ? pairs : [...pairs, [graph.quality]], populations);
  series.forEach((line, i) => { line.fan = fans?.[i]; });
  const shown = series.filter((line) => line.values.some(Number.isFinite)).slice(0, MAX_LINES - 1);
  if (graph.quality !== null) {
    shown.push({
      fan: fans?.at(-1), name: `quality (${graph.metric})${inParenthesis(graph.qualityKnown.knownInSeries)}`, values: run.sweep([graph.quality], populations)[0], strong: true,
    });
  }
  if (!shown.length) return null;
  return linePicture(phrase("page.requirements", { name: model.population }), {
    x: populationAxis(column, populations), y: shareAxis(shown, isLog), series: shown, region: acceptable(column),
    here: column.n, limit: { at: 1, label: "limit" },
  }, width);
}

// Quality against the population: the setting, and the starts that were ticked.
export function drawQuality(column, width, isLog, starts, columns) {
  const { graph, run, model } = column;
  if (graph.quality === null) return null;
  const populations = column.populations();
  const series = [{ name: column.label + inParenthesis(graph.qualityKnown.knownInSeries), values: run.sweep([graph.quality], populations)[0], strong: true }];
  for (const other of columns) {
    if (other === column || other.graph.quality === null || other.trouble) continue;
    series.push({ name: other.label + inParenthesis(other.graph.qualityKnown.knownInSeries), values: other.run.sweep([other.graph.quality], populations)[0] });
  }
  for (const index of starts) {
    const other = column.other(model.setting(index));
    if (other && other.graph.quality !== null) {
      series.push({ name: startName(model, index) + inParenthesis(other.graph.qualityKnown.knownInSeries), values: other.sweep([other.graph.quality], populations)[0] });
    }
  }
  if (series.length === 1) return null; // which stands among what each requirement comes to
  const finite = series.flatMap((line) => [...line.values]).filter(Number.isFinite);
  if (!finite.length) return null; // saturated at every population
  const y = isLog ? { isLog, format: (v) => number(v, 3) } : { format: (v) => number(v, 3), low: 0, high: 2 };
  if (!isLog && Math.max(...finite) < 1.5) y.high = Math.max(1.2, roundStep(Math.max(...finite)));
  return linePicture(`Quality against ${model.population} (0 is ideal, 1 the limit)`, {
    x: populationAxis(column, populations), y, series: series.slice(0, MAX_LINES), here: column.n, limit: { at: 1, label: "limit" },
  }, width);
}

export function startName(model, index) { return model.starts[index].name || phrase("page.baseline"); }
