// The parts of the page that are not pictures: answer, lights, tables.

import { failsShown, isStated } from "../../engine/answers.js";
import { knownAt, knownText, largestKnown, lossKnown, marked, portGrouping } from "../../engine/certainty.js";
import { fill, make, table } from "../../common/dom.js";
import { formatAgainstLimit, number, percent, whole, wholePopulation } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { IS_ELASTIC, isElasticallyFilled } from "./elastic_resources.js";
import { called, labeled } from "../labels.js";
import { limitUsed } from "../../engine/limit_use.js";
import { limitState, stateLight, utilized } from "../limit_states.js";
import { relationOf } from "../requirements.js";
import { answerOf, circumstancesOf, hasTarget, isPlanned, nounOf, oneOf, saturationOf, saturationPoint } from "../sentences.js";

export function showAnswer(column) {
  const { solved } = column;
  const place = document.getElementById("answer");
  place.className = solved.largest === null ? "answer no" : "answer";
  place.replaceChildren(answerOf(column), make("span", { class: "then" }, ` ${saturationOf(column)}`));
  const name = column.model.file.split("/").at(-1), folder = column.model.file.slice(0, -name.length);
  fill("file", folder && make("span", { class: "folder" }, folder), name);
  fill("circumstances", circumstancesOf(column));
}

// A word beside what it is said of.
function light(kind, word) { return make("span", { class: `light ${kind}` }, word); }

// How near a requirement is to its limit at the population shown, how much of it is used, and whether more may be.
export function stateOf(column, judged, beside = null) {
  const { criterion, failure } = judged;
  const { run, n, solved } = column, isLimit = n === column.headlineAt && (beside ? beside.limitedBy === criterion.name : judged === solved.limiting);
  const isOver = criterion.hasConfidence ? failure !== null && n >= failure : failsShown(run, criterion, n);
  const used = usedOf(column, criterion, beside), mayExceed = isOpenBound(run, criterion, n);
  if (isOver || (beside?.sure && used > SURELY_OVER)) return { state: "over", used, mayExceed };
  if (criterion.hasConfidence) return { state: isLimit ? "limit" : "within", used, mayExceed };
  const state = limitState(Math.min(used, 1), isLimit), isOpen = mayExceed && (state === "within" || state === "near");
  return { state: isOpen ? "unknown" : state, used, mayExceed };
}

// The states of all stated requirements, by their criteria: the worst of all is what the others say.
export function requirementStates(column, beside) {
  const { solved, graph } = column;
  const stated = solved.criteria.filter(({ criterion }) => isStated(criterion) && !(criterion.isQuality && graph.metric === "worst"));
  return new Map(stated.map((one) => [one, stateOf(column, one, beside)]));
}

// Whether a value is a bound on the side that proves no limit to be met.
function isOpenBound(run, criterion, n) {
  return !criterion.hasConfidence && !criterion.isQuality && knownAt(run, criterion, n)?.[0] === (criterion.atMost ? "lower bound" : "upper bound");
}

// A requirement of a latency is of its mean: percentiles have names of their own.
function requirementCalled(model, name) { return name.endsWith(".latency") ? make("span", null, labeled(model, name), ` ${phrase("table.mean")}`) : labeled(model, name); }

const SURELY_OVER = 1 + 1e-9;

function usedOf(column, criterion, beside) {
  const { run, n, graph } = column;
  run.at(n);
  const measure = criterion.isQuality ? run.value(graph.quality) : beside?.needs[criterion.name] ?? run.value(criterion.measure);
  return limitUsed(criterion.isQuality || criterion.atMost, measure, criterion.isQuality ? 1 : run.value(criterion.limit));
}

// Which part of a limit is left, in whole percents; at most that where more may be used.
function headroomOf(used, isMost) {
  const left = 100 * (1 - used), mark = isMost ? "≤ " : "";
  if (!Number.isFinite(left)) return "";
  if (left > 0 && left < 1) return `${mark}<1 %`;
  return `${mark}${Math.round(left) < 0 ? "−" : ""}${whole(Math.abs(Math.round(left)))} %`;
}

export function showRequirements(column, beside, states) {
  const { solved, graph, run, n, model } = column;
  // An upper limit of a utilization is the tick of its gauge.
  const gauges = new Set(solved.resources.map((one) => one.name));
  const isShown = ({ criterion }) => !(criterion.atMost && !criterion.hasConfidence && gauges.has(utilized(criterion.name)));
  const rows = [...states.keys()].filter(isShown).map((one) => {
    const { criterion } = one;
    const { isQuality } = criterion;
    const measure = isQuality ? graph.quality : criterion.measure;
    const written = (step, at) => {
      if (criterion.hasConfidence && step === measure) return ""; // with what certainty it holds there is not told
      const value = step === measure && !isQuality ? beside?.needs[criterion.name] ?? run.at(at).value(step) : run.at(at).value(step);
      if (step !== measure) return column.format(value, criterion.dimension, { ...criterion, digits: 3 });
      const text = formatAgainstLimit(model.units, value, isQuality ? 1 : run.value(criterion.limit), criterion.dimension, criterion);
      return marked(text, knownAt(run, criterion, at), value);
    };
    const sure = beside?.met?.[isQuality ? "quality" : criterion.name], most = sure ?? one.holds;
    const met = most === null ? "never" : most === graph.high ? phrase("page.full_range") : marked(whole(most), sure !== undefined && beside.covered.includes(criterion.name) ? null : largestKnown([one], graph.low));
    const name = isQuality ? `${called(model, "quality")} (${phrase(`quality.${graph.metric}`)})` : requirementCalled(model, criterion.name);
    const { state, used, mayExceed } = states.get(one);
    return [name, written(measure, n), `${relationOf(criterion)} ${written(criterion.limit, n)}`, criterion.hasConfidence ? "" : headroomOf(used, mayExceed), met, stateLight(state)];
  });
  for (const one of solved.unevaluated) rows.push([requirementCalled(model, one.name), "", "", "", "", light("shown", "not evaluated")]);
  fill("requirements", rows.length ? table(["Requirement", `At ${whole(n)}`, "Limit", "Headroom", phrase("table.met"), "State"], rows, new Set([1, 2, 3, 4])) : []);
  if (solved.modes.length) {
    const head = [phrase(solved.modes[0].graph.mode.includes(":") ? "modes.time" : "modes.mode"), phrase("modes.capacity", { noun: nounOf(column.model) }), phrase("modes.limited")];
    fill("modes", table(head, solved.modes.map((one) => [one.graph.mode, one.largest === null ? "none" : marked(whole(one.largest), one.known), one.limitedBy ? labeled(model, one.limitedBy) : phrase("modes.range")]), new Set([1])));
  } else fill("modes");
}

// Resources with what they are called: the ports of a switch are told as one, the first of them, but for those that matter.
export function withPortsTogether(column, found) {
  const { solved, run } = column;
  const matters = (one) => one === solved.first || one.notBelow !== null || (solved.limiting && one === solved.resources[solved.limiting.criterion.resource]) || run.value(one.about.load) > run.value(one.about.target);
  const gone = new Set();
  const isAsOne = portGrouping(found.map((one) => one.about.portOf));
  return found.flatMap((one) => {
    const link = one.about.portOf;
    if (!isAsOne(link) || matters(one)) return [[one, one.name]];
    const ports = found.filter((other) => other.about.portOf === link);
    if (gone.has(link)) return [];
    gone.add(link);
    const together = ports.filter((port) => !matters(port)).length;
    const key = together === ports.length ? "table.busiest" : "table.busiest.others";
    return [[one, together === 1 ? one.name : phrase(key, { name: one.name, together })]];
  });
}

export function showResources(column) {
  const { solved, run, n } = column;
  run.at(n);
  const planned = isPlanned(column);
  const place = (one) => one.at ?? (one.notBelow === null ? Infinity : Number.MAX_VALUE);
  const order = [...solved.resources].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)) || run.value(b.about.load) - run.value(a.about.load));
  const rows = withPortsTogether(column, order).map(([one, all]) => {
    const load = run.value(one.about.load);
    const parts = one.about.parts.map(([name, step]) => [name, run.value(step) / load]).filter((part) => part[1] > 0).sort((a, b) => b[1] - a[1]);
    const name = one === solved.first ? [labeled(column.model, one.name), " ", light("shown", hasTarget(column, one) ? "reaches its target first" : "saturates first")] : labeled(column.model, one.name, all);
    const label = isElasticallyFilled(run, one.about) ? [name, " ", light("gives", IS_ELASTIC)].flat() : name;
    return [label, percent(load), ...(planned ? [percent(run.value(one.about.target))] : []), saturationPoint(one), parts.map(([part, share]) => `${called(column.model, part)} ${percent(share)}`).join(", ")];
  });
  const head = ["Resource", `Utilization at ${whole(n)}`, ...(planned ? ["Target"] : []), phrase(planned ? "table.reaches_target" : "table.saturates"), "Demand"];
  if (rows.length) fill("resources", table(head, rows, new Set(planned ? [1, 2, 3] : [1, 2])));
}

const MAX_TRAFFIC_ROWS = 6;
const HOUR = 3600;

// What links and network cards carry, as rates and as volumes, the most first.
export function showTraffic(column) {
  const { solved, run, n, model } = column;
  if (!document.getElementById("traffic")) return;
  run.at(n);
  const carrying = solved.resources.filter((one) => one.about.throughput !== null);
  const rateOf = (one) => run.value(one.about.throughput);
  const found = withPortsTogether(column, carrying.sort((a, b) => rateOf(b) - rateOf(a)))
    .map(([one, name]) => ({ name: labeled(model, one.name, name), rate: rateOf(one), count: run.value(one.about.count) })).slice(0, MAX_TRAFFIC_ROWS);
  const isSeveral = found.some((one) => one.count !== 1);
  const written = (value, dimension) => column.format(value, dimension, { digits: 3 });
  const rows = found.map(({ name, rate, count }) => [
    name, written(rate, "bit/s"), written(rate * HOUR, "bit"), written(rate * model.month, "bit"),
    ...(isSeveral ? [count === 1 ? "" : `each of ${number(count)}`] : []),
  ]);
  document.getElementById("traffic").closest("section").hidden = !rows.length;
  fill("of-traffic", ...(rows.length ? [found[0].name.cloneNode(true), `: ${rows[0][1]}`] : []));
  fill("traffic", rows.length ? table(["Traffic", `At ${whole(n)}`, "Per hour", "Per month", ...(isSeveral ? ["Count"] : [])], rows, new Set([1, 2, 3])) : []);
}

// What else there is to know at the population shown: measures, elastic numbers, costs.
export function showMeasures(column) {
  const { solved, graph, run, n, model } = column;
  run.at(n);
  const rows = [], asRequired = (name) => graph.criteria.find((one) => one.stated && one.name === name); // told in the same unit
  for (const one of graph.streams) {
    for (const [name, dimension] of [["latency", "s"], ["jitter", "s^2"], ["loss", ""], ["throughput", "bit/s"]]) {
      const value = run.value(one[name]);
      const isShared = name === "loss" || name === "throughput";
      const known = isShared ? lossKnown(run, one, name, n) : { latency: one.latencyKnown, jitter: one.jitterKnown }[name];
      const text = marked(column.format(value, dimension, { share: name === "loss", digits: 3 }), known, value);
      if (value !== 0) rows.push([labeled(model, `${one.name}.${name}`), text, ""]);
    }
  }
  for (const one of graph.measures) {
    const value = run.value(one.value);
    rows.push([labeled(model, one.name), marked(column.format(value, one.dimension, { ...asRequired(one.name) ?? one, digits: 3 }), knownAt(run, one, n), value), one.doc]);
  }
  for (const { elastic, yields, exhausted } of solved.elastic) {
    const knee = (one, what) => (one ? `${what} ${one.isAtStart ? "from the start" : `from ${model.population} = ${wholePopulation(one.at)} (${called(model, one.name)})`}` : "");
    rows.push([labeled(model, elastic.name), column.format(run.value(elastic.value), elastic.dimension, { digits: 3 }), [knee(yields, "lowered"), knee(exhausted, "at its minimum")].filter(Boolean).join("; ")]);
  }
  for (const one of graph.costs) {
    const total = run.value(one.total);
    rows.push([one.running ? "Running cost" : "Cost", column.format(total, one.dimension, { digits: 3 }), `${column.format(total / n, one.dimension, { digits: 3 })} per ${oneOf(nounOf(model))}${graph.unpriced.length ? `; no price for: ${graph.unpriced.map((name) => called(model, name)).join(", ")}` : ""}`]);
  }
  const title = make("h3", null, `Other measures at ${model.population} = ${whole(n)}`);
  fill("measures", rows.length ? [title, table(["Measure", "Value", "Description"], rows, new Set([1]))] : []);
}

export function showKnown(column) { fill("known", knownText(column)); }
