// What lies beyond the answer, in sentences, for whatever is set: `reports/text/solutions/headroom_text.py`.

import { fails, isStated } from "../../engine/answers.js";
import { knownAt, lossKnown, marked } from "../../engine/certainty.js";
import { percent, formatBeyond, printedCapacity, whole } from "../../common/format.js";
import { inMode, phrase } from "../../common/phrases.js";
import { measured, named } from "../labels.js";
import { utilized } from "../limit_states.js";
import { beyondLimit, hasTarget, nounOf, qualityBeyond } from "../sentences.js";

const MAX_NAMED = 3;
const NOTICEABLE = { loss: 5e-4, change: 0.01 };
const FULL = 1 + 1e-9; // an elastic rate fills a resource up to 1

export function beyondLines(column) {
  const sentences = [moreUsers(column), margin(column)].filter(Boolean);
  column.run.at(column.n);
  return sentences;
}

// What would fail next, in any mode, were the requirement lifted that limits the answer: null where nothing does. Of several
// what is stated, and quality where nothing else fails. Quality without one of its axes is another one, which this page does not have.
// `sure` tells up to where limits are met at the confidence of the headline, which `limitedBy` limits; null for nominal inputs.
export function nextToFail({ solved, graph }, sure = null, limitedBy = null) {
  if (sure) {
    const end = ({ criterion: { isQuality, name } }) => sure[isQuality ? "quality" : name];
    const isLeft = ({ name, isQuality }) => name !== limitedBy && utilized(name) !== limitedBy && !(isQuality && (limitedBy === "quality" || graph.metric !== "formula"));
    const [next] = solved.criteria.filter((one) => isLeft(one.criterion) && end(one) < graph.high).sort((a, b) => end(a) - end(b));
    return next ? { ...next, graph, mode: graph.mode } : null;
  }
  const { criterion: lifted } = solved.limiting, isOther = lifted.axis !== null && graph.metric !== "formula";
  const isLeft = ({ criterion: { name, atMost, isQuality } }) => (name !== lifted.name || atMost !== lifted.atMost) && !(isOther && isQuality);
  const modes = solved.modes.length ? [...solved.modes].sort((a, b) => (b.graph === graph) - (a.graph === graph)) : [solved];
  const rank = ({ criterion }) => (criterion.isQuality ? 1 : criterion.stated ? 0 : 2);
  const left = modes.flatMap(({ criteria, graph: own }) => criteria.filter((one) => isLeft(one) && one.failure !== null).map((one) => ({ ...one, graph: own, mode: own.mode })));
  return left.sort((a, b) => a.failure - b.failure || rank(a) - rank(b))[0] ?? null;
}

// What happens with 10 % more users, or at the end of the range, and to whom.
function moreUsers(column) {
  const { solved, graph, run, model } = column;
  if (solved.verdict !== "limited" || solved.largest === null) return "";
  const now = solved.at, wanted = Math.ceil((11 * now) / 10 - 1e-9), there = Math.min(wanted, graph.high);
  const seen = (population) => {
    run.at(population);
    return {
      streams: graph.streams.map((one) => ({ loss: run.value(one.loss), latency: run.value(one.latency) })),
      elastic: solved.elastic.map((one) => run.value(one.elastic.value)),
    };
  };
  const before = seen(now), after = seen(there);
  const loads = solved.resources.map(({ name, about }) => ({ name, load: run.value(about.load), target: run.value(about.target) }))
    .filter((one) => one.load > FULL * one.target).sort((a, b) => b.load / b.target - a.load / a.target)
    .map((one) => phrase(one.target === 1 ? "loaded" : "loaded.planned", { name: named(model, one.name), load: percent(one.load), target: percent(one.target) }));
  const failed = solved.criteria.map((one) => one.criterion).filter((one) => isStated(one) && !one.hasConfidence && fails(run, run.curve(one.over, [one.measure, one.limit]), one, there))
    .filter((one, i, all) => !one.isQuality || all.length === 1); // what fails by itself says more
  const failing = failed.map((one) => {
    if (one.isQuality) return qualityBeyond(column, there);
    run.at(there);
    const value = run.value(one.measure), limit = run.value(one.limit), known = knownAt(run, one, there);
    const shown = marked(formatBeyond(model.units, value, limit, one.dimension, { ...one, fewest: 3 }), known, value);
    return beyondLimit(one, { name: measured(model, one.name), value: shown, limit: column.format(limit, one.dimension, { ...one, digits: 3 }) });
  });
  const whom = graph.streams.flatMap(({ name, ...one }, i) => {
    const [was, is] = [before.streams[i], after.streams[i]], effects = [];
    if (is.loss - was.loss > NOTICEABLE.loss) effects.push(phrase("headroom.loss_rises", { before: percent(was.loss), value: marked(percent(is.loss), lossKnown(run, { name, ...one }, "loss", there)) }));
    if (is.latency - was.latency > NOTICEABLE.change * was.latency) effects.push(`latency rises by ${column.format(is.latency - was.latency, "s", { digits: 3 })}`);
    return effects.length ? [`${named(model, name)} ${effects.join(" and ")}`] : [];
  });
  const lowered = solved.elastic.flatMap(({ elastic }, i) => (after.elastic[i] < before.elastic[i] * (1 - NOTICEABLE.change)
    ? [`${named(model, elastic.name)} falls from ${column.format(before.elastic[i], elastic.dimension, { digits: 3 })} to ${column.format(after.elastic[i], elastic.dimension, { digits: 3 })}`] : []));
  const sentences = [...some(loads), ...some(failing), ...some([...whom, ...lowered])];
  if (!whom.length && !lowered.length) sentences.push(phrase("more.nobody"));
  const head = phrase(there < wanted ? "more.end" : moreThan(column), { at: whole(there), noun: nounOf(model) });
  return `${head}${inMode(graph.mode)}: ${sentences.join("; ")}.`;
}

// The phrase of 10 % more, which says than what if that is not the headline.
function moreThan({ headlineAt, solved, graph, isUncertain }) {
  if (isUncertain) return headlineAt === solved.at ? "more.some" : "more.some.nominal";
  return headlineAt === printedCapacity(solved.at, graph.high) ? "more.some" : "more.some.error";
}

function some(texts) {
  const more = texts.length - MAX_NAMED;
  return more > 0 ? [...texts.slice(0, MAX_NAMED), phrase("more.like", { count: more })] : texts;
}

function margin(column) {
  const { solved, run } = column;
  const planned = solved.resources.filter((one) => hasTarget(column, one));
  if (!planned.length) return phrase("margin", { value: phrase("margin.none") });
  run.at(solved.at);
  const targets = planned.map((one) => phrase("margin.one", { name: named(column.model, one.name), target: percent(run.value(one.about.target)) }));
  return phrase("margin", { value: some(targets).join(", ") });
}
