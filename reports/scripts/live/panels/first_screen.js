// The first screen of the page: capacity, limit, reliability, what raises it, the next limit, under the
// labels of `reports/text/solutions/first_screen.py`.

import { isStated } from "../../engine/answers.js";
import { largestKnown, marked } from "../../engine/certainty.js";
import { fill, make, withCode } from "../../common/dom.js";
import { listed, percent, roundedDown, roundedUp, unbroken, whole } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { nextToFail } from "./headroom.js";
import { IS_ELASTIC, isElasticallyFilled } from "./elastic_resources.js";
import { called, calledInFull } from "../labels.js";
import { axesAt, inWords, qualityAxes, valueAndLimit } from "../requirements.js";
import { formatCapacity, nounOf, oneOf } from "../sentences.js";

const DIGITS = 3, MAX_KINDS = 3;
const UNIT = " %".length;

// A name in words; the identifier stands behind them.
function worded({ model }, name) { return make("span", { title: calledInFull(model, name) }, called(model, name)); }

// A load beside its target; what is full is so by the last user.
function loadAgainstTarget(load, target) {
  const [is, most] = [load, target].map((one) => percent(one, DIGITS));
  if (is === most) return target < 1 ? `at its target of ${most}` : "saturated";
  return `${is.slice(0, -UNIT)} of ${most}`;
}

// That of the needs behind a quality which is the nearest with one more.
export function behindQuality(column) { return axesAt(column, Math.min(column.solved.at + 1, column.graph.high))[0] ?? null; }

export function limitRow(column) {
  const { solved, run } = column;
  if (!solved.limiting) return ["none in the full range"];
  const { criterion } = solved.limiting;
  if (criterion.isQuality) {
    const told = qualityAxes(column, solved.at);
    if (!told.length) return [phrase("limit.needs")];
    const needs = told.flatMap((one, i) => [i ? " and " : "", worded(column, one.name), ` ${valueAndLimit(column, one, solved.at)}`]);
    return [phrase(told.length > 1 ? "limit.together" : "limit.alone", { told: "" }), ...needs];
  }
  if (isStated(criterion)) {
    if (criterion.hasConfidence) return [worded(column, criterion.name), ": not met with more"];
    return [worded(column, criterion.name), `: ${valueAndLimit(column, criterion, solved.at)}`];
  }
  run.at(solved.at);
  const { name, about } = solved.resources[criterion.resource];
  return [worded(column, name), `: ${loadAgainstTarget(run.value(about.load), run.value(about.target))}`];
}

// What is full by design, and what its elastic streams still have.
function givingRow(column) {
  const { solved, run, model } = column;
  run.at(solved.at);
  const full = solved.resources.filter((one) => isElasticallyFilled(run, one.about));
  if (!full.length) return [""];
  const told = (value, elastic) => column.format(value, elastic.dimension, { digits: DIGITS });
  const lowered = solved.elastic.map((one) => one.elastic).filter((one) => run.value(one.value) < run.value(one.most) * (1 - 1e-9));
  const left = lowered.map((one) => `${called(model, one.name)} ${told(run.value(one.value), one)} of ${told(run.value(one.most), one)}`);
  return [...full.flatMap((one, i) => (i ? [", ", worded(column, one.name)] : [worded(column, one.name)])), ` ${full.length === 1 ? "is" : "are"} ${IS_ELASTIC}: ${left.join("; ")}`];
}

// From which population on it limits, in the words of `limit_facts.next_limit`, without its name.
function reachedAt(column, next) {
  const { criterion, graph, met } = next;
  if (met === null) return phrase("next.never", { name: "" });
  const { model } = column, run = graph === column.graph ? column.run : null;
  const users = `${marked(whole(met), largestKnown([next], column.graph.low))} ${met === 1 ? oneOf(nounOf(model)) : nounOf(model)}`;
  const of = { name: "", now: "", users };
  if (criterion.isQuality) return phrase("next.quality", of);
  if (!run || criterion.hasConfidence) return phrase("next.met", of);
  run.at(column.solved.at);
  const limit = run.value(criterion.limit);
  if (isStated(criterion)) return phrase(criterion.atMost ? "next.limit" : "next.least", { ...of, limit: column.format(limit, criterion.dimension, { ...criterion, digits: DIGITS }) });
  if (isElasticallyFilled(run, graph.resources[criterion.resource])) return phrase("next.overloaded", of);
  return limit === 1 ? phrase("next.saturates", of) : phrase("next.target", { ...of, limit: percent(limit) });
}

function nextRow(column) {
  const { solved, graph } = column;
  if (!solved.limiting) return [""];
  const next = nextToFail(column);
  if (!next) return withCode(phrase("next.none", { users: `${whole(graph.high)} ${nounOf(column.model)}`, name: column.model.population }));
  const mode = next.mode === null ? "" : phrase("in_mode", { mode: next.mode });
  const name = next.graph.resources[next.criterion.resource]?.name ?? next.criterion.name;
  return [worded(column, name), mode, reachedAt(column, next)];
}

// Exact, or on which side of the truth; what checks it.
function accuracyRow({ solved: { known, largest } }) {
  const side = phrase(`served.${known ? known[0] : "exact"}`);
  return known && largest !== null ? [`${side}; check by simulation: `, make("code", null, "qps simulate")] : [side];
}

function endsOf([least, most], end) {
  if (most === null) return "none at all";
  const more = most === end ? "+" : "";
  return (least === most ? whole(most) : `${least === null ? "none" : roundedDown(least)}–${more ? whole(most) : roundedUp(most)}`) + more;
}

// Between which capacities samples of uncertain inputs lie; which one most of them support, where that is exact.
function planRow(column, odds) {
  if (!odds) return [""];
  const sure = percent(CERTAINTY), interval = `90 % interval ${endsOf(odds.interval, column.graph.high)}`;
  if (column.solved.known) return [interval];
  const least = odds.atConfidence === null ? phrase("sure.none", { sure }) : phrase("sure.least", { sure, least: roundedDown(odds.atConfidence), noun: nounOf(column.model) });
  return [`${interval}; ${least}`];
}

const CERTAINTY = 0.95;

// What it costs as it is; where nothing has a price, how what would help gets one.
function costRow(column, found) {
  const { run, graph, model, solved } = column;
  const told = (value, one) => column.format(value, one.dimension, { digits: DIGITS });
  run.at(solved.at);
  const each = oneOf(nounOf(model));
  const costs = graph.costs.map((one) => `${told(run.value(one.total), one)}, ${told(run.value(one.total) / solved.at, one)} per ${each}`);
  if (costs.length) return [`${costs.join("; ")}${graph.unpriced.length ? `; no price for ${listed(graph.unpriced.map((name) => called(model, name)))}` : ""}`];
  const changed = new Set(Array.isArray(found) ? found.flatMap((one) => one.parts ?? [one.part]) : []);
  const helpful = graph.unpriced.filter((place) => changed.has(place));
  if (!helpful.length) return [""]; // no price would be told
  return [phrase("price.how", { hardware: listed([...new Set(helpful.map((place) => hardwareIn(column, place)))].slice(0, MAX_KINDS)) })];
}

// What stands in a place, as the spec names it.
function hardwareIn({ model, setting }, place) {
  const at = model.selects.findIndex((one) => one.name === place);
  const kind = at < 0 ? model.fixedPlaces[place] : model.selects[at].choices[setting.picks[at]].split(" * ")[0];
  return `\`${kind}\``;
}

// That the fewest are too many.
export function notEven({ graph, model }) {
  const noun = nounOf(model);
  return phrase("capacity.not_even", { users: `${whole(graph.low)} ${graph.low === 1 ? oneOf(noun) : noun}` });
}

// How many, and never more than what is likely.
function capacityWithOdds(column, odds) {
  const { solved, model } = column, noun = nounOf(model);
  if (solved.largest === null) return notEven(column);
  const [least, most] = odds?.interval ?? [null, null];
  if (most !== null && solved.largest > most) return phrase("sure.beyond", { least: roundedDown(least ?? 0), most: roundedUp(most), noun });
  const users = inWords(formatCapacity(column));
  return `${users[0].toUpperCase()}${users.slice(1)} ${solved.largest === 1 ? oneOf(noun) : noun}`;
}

// The number apart from the words around it: that is what is read first (`headline_parts` in `html_page.py`).
function headline(text, isAnswered) {
  const [, before, figure, after, beside] = /^(\D*)(\d[\d,.]*\+?)( [^\d\s,(]+)(.*)$/s.exec(text) ?? [null, text, ""];
  if (!figure || !isAnswered) return make("span", { class: "words none" }, text);
  return [["words", before], ["figure", figure], ["words", after], ["beside", beside]].filter(([, part]) => part).map(([kind, part]) => make("span", { class: kind }, part));
}

export function showDecision(column, found, odds) {
  const rows = [
    [labelOfLimit(column), limitRow(column)],
    ["Next limit", nextRow(column)],
    ["Cost", costRow(column, found).map(unbroken).flatMap(withCode)],
    [phrase("accuracy"), accuracyRow(column)],
    ["Uncertainty", planRow(column, odds)],
    ["Elastic", givingRow(column)],
  ].filter((row) => row[1].some((one) => one !== ""));
  fill("decision", make("p", { class: "many" }, headline(capacityWithOdds(column, odds), column.solved.largest !== null), make("span", { class: "beside" }, ` ${phrase("what_if")}`)), make("dl", null, rows.map(([word, told]) => make("div", null, make("dt", null, word), make("dd", null, told.map(unbroken))))));
  column.run.at(column.n);
}

// A resource that limits is a bottleneck; a requirement, or the range, is a limit.
function labelOfLimit({ solved }) {
  const criterion = solved.limiting?.criterion;
  if (solved.largest === null) return "Violated";
  return criterion && (!isStated(criterion) || /\.(load|utilization)$/.test(criterion.name)) ? "Bottleneck" : "Limit";
}
