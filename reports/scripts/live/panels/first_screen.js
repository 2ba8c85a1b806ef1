// The first screen of the page: capacity, limit, reliability, what raises it, the next limit, under the
// labels of `reports/text/solutions/first_screen.py`.

import { isStated } from "../../engine/answers.js";
import { knownAt, largestKnown, marked } from "../../engine/certainty.js";
import { CERTAINTY } from "../../engine/samples.js";
import { fill, hint, make, withCode } from "../../common/dom.js";
import { listed, percent, planningMoney, printedCapacity, unbroken, whole } from "../../common/format.js";
import { inMode, phrase } from "../../common/phrases.js";
import { nextToFail } from "./headroom.js";
import { IS_ELASTIC, isElasticallyFilled } from "./elastic_resources.js";
import { called, calledInFull } from "../labels.js";
import { utilized } from "../limit_states.js";
import { qualityAxes, valueAndLimit } from "../requirements.js";
import { nounOf, oneOf } from "../sentences.js";

const DIGITS = 3, MAX_KINDS = 3;
const MAX_FACTS = 4; // beside the picture; others stand further below

// A name in words; the identifier stands behind them.
function worded({ model }, name, tag = "span") { return make(tag, { title: calledInFull(model, name) }, called(model, name)); }

// The utilization of a resource beside the lowest of its target and what is required.
function utilizationRow(column, one, beside) {
  const { solved, run, headlineAt } = column;
  run.at(headlineAt);
  const load = beside?.loads[one.name] ?? run.value(one.about.load), target = run.value(one.about.target);
  const needs = solved.criteria.filter(({ criterion }) => isStated(criterion) && criterion.atMost && utilized(criterion.name) === one.name).map(({ criterion }) => run.value(criterion.limit));
  const [is, most] = [load, Math.min(target, ...needs)].map((value) => percent(value, DIGITS)), of = needs.length ? "limit" : "target";
  if (needs.length || target < 1) return [worded(column, one.name, "strong"), `: utilization ${is === most ? `at its ${most} ${of}` : `${is} (${of} ${most})`}`];
  return [worded(column, one.name, "strong"), is === most ? ": saturated" : `: utilization ${is}`];
}

export function limitRow(column, beside = null) {
  const { solved } = column;
  const limitedBy = beside?.limitedBy ?? solved.limitedBy, full = solved.resources.find(({ name }) => limitedBy === name || utilized(limitedBy) === name);
  if (solved.limiting && full) return utilizationRow(column, full, beside);
  if (!solved.limiting) return ["none in the full range"];
  const { criterion } = solved.limiting;
  if (criterion.isQuality) {
    const axes = qualityAxes(column, solved.at);
    if (!axes.length) return [phrase("limit.needs")];
    const needs = axes.flatMap((one, i) => [i ? " and " : "", worded(column, one.name, "strong"), ` ${valueAndLimit(column, one, solved.at)}`]);
    return [phrase(axes.length > 1 ? "limit.together" : "limit.alone", { value: "" }), ...needs];
  }
  if (isStated(criterion)) {
    if (criterion.hasConfidence) return [worded(column, criterion.name, "strong"), ": not met with more"];
    const shown = solved.criteria.map((one) => one.criterion).find((one) => isStated(one) && one.name === limitedBy) ?? criterion;
    return [worded(column, shown.name, "strong"), `: ${valueAndLimit(column, shown, column.headlineAt, beside?.needs[shown.name])}`];
  }
  return utilizationRow(column, solved.resources[criterion.resource], beside);
}

// What is full by design, and what its elastic streams still have.
function givingRow(column) {
  const { solved, run, model } = column;
  run.at(solved.at);
  const full = solved.resources.filter((one) => isElasticallyFilled(run, one.about));
  if (!full.length) return [""];
  const written = (value, elastic) => column.format(value, elastic.dimension, { digits: DIGITS });
  const lowered = solved.elastic.map((one) => one.elastic).filter((one) => run.value(one.value) < run.value(one.most) * (1 - 1e-9));
  const left = lowered.map((one) => `${called(model, one.name)} ${written(run.value(one.value), one)} of ${written(run.value(one.most), one)}`);
  return [...full.flatMap((one, i) => (i ? [", ", worded(column, one.name)] : [worded(column, one.name)])), ` ${full.length === 1 ? "is" : "are"} ${IS_ELASTIC}: ${left.join("; ")}`];
}

// From which population on it limits, in the words of `limit_facts.next_limit`, without its name.
function reachedAt(column, next, sure) {
  const { criterion, graph, met: nominal } = next, met = sure ?? nominal;
  if (met === null) return phrase("next.never", { name: "" });
  const { model } = column, run = graph === column.graph ? column.run : null;
  const many = `${marked(whole(met), largestKnown([next], column.graph.low))} ${met === 1 ? oneOf(nounOf(model)) : nounOf(model)}`;
  const users = column.isUncertain && sure === undefined && column.atConfidence !== undefined ? phrase("next.nominal", { users: many }) : many;
  const of = { name: "", now: "", users };
  if (criterion.isQuality) return phrase("next.quality", of);
  if (!run || criterion.hasConfidence) return phrase("next.met", of);
  run.at(column.solved.at);
  const limit = run.value(criterion.limit);
  if (isStated(criterion)) return phrase(criterion.atMost ? "next.limit" : "next.least", { ...of, limit: column.format(limit, criterion.dimension, { ...criterion, digits: DIGITS }) });
  if (isElasticallyFilled(run, graph.resources[criterion.resource])) return phrase("next.overloaded", of);
  return limit === 1 ? phrase("next.saturates", of) : phrase("next.target", { ...of, limit: percent(limit) });
}

function nextRow(column, beside) {
  const { solved, graph } = column;
  if (!solved.limiting) return [""];
  const sure = Object.keys(beside?.met ?? {}).length ? beside.met : null, next = nextToFail(column, sure, beside?.limitedBy);
  if (!next) return withCode(phrase("next.none", { users: `${whole(graph.high)} ${nounOf(column.model)}`, name: column.model.population }));
  const mode = inMode(next.mode);
  const name = next.graph.resources[next.criterion.resource]?.name ?? next.criterion.name;
  return [worded(column, name), mode, reachedAt(column, next, sure?.[next.criterion.name])];
}

// Exact, or on which side of the truth; what checks it. Of nobody: how certain that is.
function accuracyRow(column) {
  const { solved: { known, largest, limiting }, isUncertain, run, graph, model: { file } } = column;
  if (isUncertain || (largest === null && limiting.criterion.hasConfidence)) return [""];
  if (largest === null) {
    const { criterion } = limiting, there = knownAt(run, criterion, graph.low), side = criterion.isQuality || criterion.atMost ? "lower bound" : "upper bound";
    return !there || there[0] === side ? [phrase("accuracy.none")] : [phrase("accuracy.none.doubtful", { known: there[0] }), hint(phrase("accuracy.none.hint", { file }))];
  }
  const side = phrase(`served.${known ? known[0] : "exact"}`);
  return known ? [side, hint(phrase("accuracy.none.hint", { file }))] : [side];
}

// Where a setting is changed, samples tell the capacity of the model alone.
function errorRow({ solved, isUncertain }) { return [isUncertain && solved.known ? phrase("error.changed") : ""]; }

// What it costs as it is; where nothing has a price, how what would help gets one.
function costRow(column, found) {
  const { run, graph, model, headlineAt } = column;
  const written = (value, one) => planningMoney(model.units, value, one.dimension);
  run.at(headlineAt);
  const each = oneOf(nounOf(model));
  const perUser = (one) => (column.solved.largest === null ? "" : `, ${written(run.value(one.total) / headlineAt, one)} per ${each}`);
  const costs = graph.costs.map((one) => `${written(run.value(one.total), one)}${perUser(one)}`);
  if (costs.length) return [`${costs.join("; ")}${graph.unpriced.length ? `; no price for ${listed(graph.unpriced.map((name) => called(model, name)))}` : ""}`];
  const changed = new Set(Array.isArray(found) ? found.flatMap((one) => one.parts ?? [one.part]) : []);
  const helpful = graph.unpriced.filter((place) => changed.has(place));
  if (!helpful.length) return [""]; // no price would be told
  return [phrase("price.none_set"), hint(unbroken(phrase("price.how", { hardware: listed([...new Set(helpful.map((place) => hardwareIn(column, place)))].slice(0, MAX_KINDS)) })))];
}

// What stands in a place, as the spec names it.
function hardwareIn({ model, setting }, place) {
  const at = model.selects.findIndex((one) => one.name === place);
  const kind = at < 0 ? model.fixedPlaces[place] : model.selects[at].choices[setting.picks[at]].split(" * ")[0];
  return `\`${kind}\``;
}

// That the fewest are too many.
function notEven({ graph, model }) {
  const noun = nounOf(model);
  return phrase("capacity.not_even", { users: `${whole(graph.low)} ${graph.low === 1 ? oneOf(noun) : noun}` });
}

// How many, at which confidence; until samples tell that, with nominal inputs: parts with their kinds, as `Headline.parts`
// (`reports/text/solutions/capacity_text.py`) has them.
function headlineParts(column, uncertainty) {
  const { solved, model, graph } = column, noun = nounOf(model), sure = percent(CERTAINTY), isSet = graph.low === graph.high;
  const parts = (count, beside) => [
    ["figure", `${whole(count)}${count === graph.high && graph.low < count ? "+" : ""}`],
    ["words", ` ${count === 1 ? oneOf(noun) : noun}`],
    ...(beside ? [["beside", beside]] : []),
  ];
  // Where the capacity is not exact, samples do not tell the error of the model: its mark and what that means stand with it.
  const sampledParts = (count) => {
    const [kind] = solved.known ?? ["exact"], mark = phrase(`mark.${kind}`);
    const notes = [...(mark ? [phrase("changes.marked", { mark: mark.trim(), known: phrase(`served.is.${kind}`) })] : []), ...(isSet ? [phrase("capacity.set")] : [])];
    const sampled = phrase(mark ? "capacity.sampled" : "capacity.confident", { sure });
    return [...(mark ? [["words", mark]] : []), ...parts(isSet ? count : printedCapacity(count, graph.high), sampled + (notes.length ? ` (${notes.join(", ")})` : ""))];
  };
  if (uncertainty && uncertainty.atConfidence === null) return [["words none", phrase("capacity.none.samples", { sure }).replace(/^./, (first) => first.toUpperCase())]];
  if (uncertainty) return sampledParts(uncertainty.atConfidence);
  if (solved.largest === null) return [["words none", notEven(column)]];
  if (column.isUncertain) return parts(solved.largest, ` ${phrase(column.isSampling ? "with_nominal.pending" : "with_nominal")}`);
  const planned = isSet ? solved.largest : printedCapacity(solved.largest, graph.high), kind = solved.known?.[0] ?? "exact";
  const notes = [...(kind === "exact" ? [] : [phrase(`served.${kind}`)]), ...(planned === solved.largest ? [] : [phrase("capacity.rounded", { users: whole(solved.largest) })]), ...(isSet ? [phrase("capacity.set")] : [])];
  return parts(planned, notes.length ? ` (${notes.join(", ")})` : "");
}

export function showDecision(column, found, uncertainty, beside) {
  const nextLimit = ["Next limit", nextRow(column, beside)];
  const rows = [
    [labelOfLimit(column, beside), limitRow(column, beside)],
    ...(column.isUncertain ? [nextLimit] : []),
    ["Cost", costRow(column, found)],
    [phrase("accuracy"), accuracyRow(column)],
    [phrase("error.not_covered"), errorRow(column)],
    ["Uncertainty", column.isUncertain || !column.graph.restsOnUsers ? [""] : [phrase("uncertainty.not_stated"), hint(phrase("uncertainty.not_stated.hint"))]],
    ["Elastic", givingRow(column)],
    ...(column.isUncertain ? [] : [nextLimit]), // the picture of the limits in order has it
  ].filter((row) => row[1].some((one) => one !== ""));
  fill("decision", make("p", { class: "many" }, headlineParts(column, uncertainty).map(([kind, part]) => make("span", { class: kind }, part)), make("span", { class: "beside" }, ` ${phrase("what_if")}`)), factsOf(rows.slice(0, MAX_FACTS)));
  fill("more-facts", rows.length > MAX_FACTS ? factsOf(rows.slice(MAX_FACTS)) : []);
  column.run.at(column.n);
}

function factsOf(rows) { return make("dl", { class: "facts" }, rows.map(([word, parts]) => make("div", null, make("dt", null, word), make("dd", null, parts.map(unbroken))))); }

// A resource that limits is a bottleneck; a requirement, or the range, is a limit.
function labelOfLimit({ solved }, beside) {
  const limitedBy = beside?.limitedBy ?? solved.limitedBy;
  if (solved.largest === null) return "Violated";
  return solved.resources.some(({ name }) => limitedBy === name || utilized(limitedBy) === name) ? "Bottleneck" : "Limit";
}

// The first screen keeps the height that it has: where fewer facts are left of a change, nothing moves under the pointer.
export function reserveHeight(isReserved) {
  const hero = document.querySelector(".hero");
  if (!hero || (isReserved && hero.style.minHeight)) return;
  hero.style.minHeight = isReserved ? `${hero.getBoundingClientRect().height}px` : "";
}
