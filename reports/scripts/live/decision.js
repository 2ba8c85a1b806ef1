// What somebody must know who opens the page once: how many, limited by what, what that needs, what
// would help most, how sure that is, what breaks next: under the labels of `reports/text/first_screen.py`.

import { isStated } from "../engine/answers.js";
import { knownAt, largestKnown, marked, usersTold } from "../engine/known.js";
import { fill, make } from "../common/dom.js";
import { percent, quantity, whole } from "../common/format.js";
import { phrase } from "../common/phrases.js";
import { nextToFail } from "./beyond.js";
import { priceTold } from "./advice.js";
import { GIVES_WAY, givesWay } from "./giving_way.js";
import { calledInFull, called, inLabels, labelOf } from "./labels.js";
import { isPlanned, largestTold, nounOf, oneOf } from "./sentences.js";

const DIGITS = 3, MOST_NEEDS = 3;

const OF_STREAMS = { latency: "the delay of", loss: "the loss of", jitter: "the jitter of", throughput: "what arrives of", rate: "the rate of" };
const OF_MACHINES = { cpu: "the processor of", disk: "the disk of" };

// A name in words, where the words are known; the identifier stands behind them.
function worded(column, name) {
  const { graph } = column;
  const measure = graph.measures.find((one) => one.name === name);
  if (measure?.doc) return make("span", { title: name }, measure.doc.replace(/\.$/, ""));
  const label = labelOf(column.model, name);
  const at = name.lastIndexOf("."), [owner, kind] = [name.slice(0, at), name.slice(at + 1)];
  const words = at > 0 && (graph.streams.some((one) => one.name === owner) ? OF_STREAMS : OF_MACHINES)[kind];
  if (words) return make("span", { title: calledInFull(column.model, name) }, `${words} ${called(column.model, owner)}`);
  return label ? make("span", { title: calledInFull(column.model, name) }, called(column.model, name)) : make("code", null, name);
}

const MARKS = { "<= ": "at most ", ">= ": "at least ", "~ ": "about " };
function inWords(text) { return text.replace(/^(<= |>= |~ )/, (mark) => MARKS[mark]); }

// A value beside its limit, as people write it: `297 of 300 ms`, `just under 200 ms`. The run stands
// at the answer.
function beside(column, criterion) {
  const { run, solved, model: { units } } = column, options = { ...criterion, digits: DIGITS };
  const value = run.value(criterion.measure), limit = run.value(criterion.limit);
  const [is, most] = [value, limit].map((one) => quantity(units, one, criterion.dimension, options));
  const told = inWords(marked("", knownAt(run, criterion, solved.at), value));
  if (is === most) return value === limit ? most : `just ${value < limit ? "under" : "over"} ${most}`;
  const unit = most.slice(most.lastIndexOf(" "));
  const same = unit.startsWith(" ") && is.endsWith(unit) ? is.slice(0, -unit.length) : is;
  return criterion.atMost ? `${told}${same} of ${most}` : `${told}${is}, at least ${most}`;
}

// Of what quality is made, that which is nearest to its limit.
export function behindQuality({ solved, run, graph }) {
  run.at(Math.min(solved.at + 1, graph.high));
  const axes = graph.criteria.filter((one) => one.axis !== null && one.name !== "quality");
  return axes.reduce((worst, one) => (!worst || run.value(one.axis) > run.value(worst.axis) ? one : worst), null);
}

export function limitRow(column) {
  const { solved, run } = column;
  if (!solved.limiting) return ["nothing in the system: the range of the spec ends there"];
  const { criterion } = solved.limiting;
  if (criterion.name === "quality") {
    const worst = behindQuality(column);
    if (!worst) return ["the quality that the spec asks for"];
    run.at(solved.at);
    return [worded(column, worst.name), `: ${beside(column, worst)}, counted with all that makes up quality`];
  }
  if (isStated(criterion)) {
    if (criterion.isPromised) return [make("code", null, criterion.name), ", which is not certain enough with more"];
    run.at(solved.at);
    return [worded(column, criterion.name), `: ${beside(column, criterion)}`];
  }
  run.at(solved.at);
  const resource = solved.resources.find((one) => `${one.name}.load` === criterion.name);
  return [worded(column, criterion.name.replace(/\.load$/, "")), run.value(resource.about.target) < 1 ? `, at its target of ${percent(run.value(resource.about.target), DIGITS)}` : ", full"];
}

function needsRow(column) {
  const { solved, run } = column;
  const told = solved.limitedBy === "quality" ? behindQuality(column) : null;
  run.at(solved.at);
  const nearness = (one) => (one.atMost ? run.value(one.measure) / run.value(one.limit) : run.value(one.limit) / run.value(one.measure));
  const stated = solved.criteria.map((one) => one.criterion).filter((one) => isStated(one) && !one.isPromised && one.name !== "quality" && one !== solved.limiting?.criterion && one !== told);
  const needs = stated.sort((a, b) => nearness(b) - nearness(a)).slice(0, MOST_NEEDS).map((one) => [worded(column, one.name), ` ${beside(column, one)}`]);
  const isFull = (one) => `${one.name}.load` === solved.limitedBy || givesWay(run, one.about);
  const fullest = solved.resources.filter((one) => !isFull(one)).sort((a, b) => run.value(b.about.load) / run.value(b.about.target) - run.value(a.about.load) / run.value(a.about.target))[0];
  if (fullest) needs.push([worded(column, fullest.name), ` at ${percent(run.value(fullest.about.load), DIGITS)}${isPlanned(column) ? ` of ${percent(run.value(fullest.about.target), DIGITS)}` : ""}`]);
  return needs.flatMap((one, i) => (i ? ["; ", ...one] : one));
}

// What is full by design, and what its elastic streams still have.
function givingRow(column) {
  const { solved, run, model } = column;
  run.at(solved.at);
  const full = solved.resources.filter((one) => givesWay(run, one.about));
  if (!full.length) return [""];
  const told = (value, elastic) => column.tell(value, elastic.dimension, { digits: DIGITS });
  const lowered = solved.elastic.map((one) => one.elastic).filter((one) => run.value(one.value) < run.value(one.most) * (1 - 1e-9));
  const left = lowered.map((one) => `${called(model, one.name)} ${told(run.value(one.value), one)} of ${told(run.value(one.most), one)}`);
  return [...full.flatMap((one, i) => (i ? [", ", worded(column, one.name)] : [worded(column, one.name)])), ` ${full.length === 1 ? `is ${GIVES_WAY}` : `are ${GIVES_WAY.replace("its", "their")}`}: ${left.join("; ")}`];
}

function nextRow(column) {
  const { solved, graph } = column;
  if (!solved.limiting) return [""];
  const next = nextToFail(column);
  if (!next) return [`nothing else up to ${whole(graph.high)}, the end of the range`];
  return [worded(column, next.criterion.name.replace(/\.load$/, "")), next.met === null ? phrase("next.never", { noun: nounOf(column.model) }) : `, beyond ${inWords(marked(whole(next.met), largestKnown([next], graph.low)))}`];
}

function sureRow(column, odds) {
  if (odds) return [`nine times in ten between ${odds.interval.map((one) => (one === null ? "none" : whole(one))).join(" and ")}`];
  const { known } = column.solved;
  if (!known) return ["exact for what the spec states"];
  return [{ "upper bound": "an upper bound: fewer may be well served", "lower bound": "a lower bound: more may be carried" }[known[0]] ?? "an approximation"];
}

export function showDecision(column, found, odds) {
  const { solved, model } = column;
  const noun = nounOf(model);
  const users = inWords(largestTold(column));
  const many = solved.largest === null ? `No ${noun}` : `${users[0].toUpperCase()}${users.slice(1)} ${solved.largest === 1 ? oneOf(noun) : noun}`;
  const helps = (found ?? []).slice(0, 2).map((one) => `${inLabels(column.model, one)}: ${inWords(usersTold(one))}${Number.isNaN(one.price) ? "" : ` (${priceTold(column, one.price)})`}`);
  const rows = [
    ["limited by", limitRow(column)],
    ["gives way", givingRow(column)],
    ["also needs", needsRow(column)],
    ["how sure", sureRow(column, odds)],
    solved.verdict === "range" ? null : ["would help", [helps.join("; ") || (found ? "nothing that this page can try" : "being worked out …")]],
    ["breaks next", nextRow(column)],
  ].filter((row) => row && row[1].some((one) => one !== ""));
  fill("decision", make("p", { class: "many" }, many), make("dl", null, rows.map(([word, told]) => make("div", null, make("dt", null, word), make("dd", null, told)))));
  column.run.at(column.n);
}

