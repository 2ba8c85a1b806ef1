// The answer in words, with its reason; the same words as `qps solve` has for it.

import { reduced } from "../engine/numerics/fractions.js";
import { inParenthesis, knownAt, usersKnown, formatUsers } from "../engine/certainty.js";
import { inMode, phrase } from "../common/phrases.js";
import { decimalOf, listed, percent, quoted, formatDistinct, formatBeyond, whole, wholePopulation } from "../common/format.js";
import { called, measured, named } from "./labels.js";
import { namedValueAndLimit, qualityAxes } from "./requirements.js";

export function answerOf(column) {
  const { solved, graph } = column;
  const noun = nounOf(column.model), low = whole(graph.low), high = whole(graph.high);
  const isOne = graph.low === graph.high, users = counted(graph.low, column.model), are = graph.low === 1 ? "is" : "are";
  if (solved.verdict === "range") {
    if (isOne) return phrase("answer.only", { users, are });
    if (!graph.restsOnUsers) return phrase("answer.any", { noun, low, high });
    return phrase("answer.range", { every: phrase(solved.known ? "every.known" : "every"), noun, low, high });
  }
  if (solved.verdict === "nowhere") {
    const reason = reasonOf(column, graph.low);
    if (isOne) return phrase("answer.not_only", { users, are, reason });
    return phrase("answer.not_even", { users, are: solved.known ? are + phrase("known_to_be") : are, reason });
  }
  const mode = inMode(graph.mode), more = solved.largest + 1;
  return phrase("answer.limited", { users: usersKnown(solved.known) + counted(solved.largest, column.model), more: whole(more), mode, reason: reasonOf(column, more) });
}

// The number of users alone, where there is one.
export function formatCapacity({ solved }) { return formatUsers({ ...solved, isRange: solved.verdict === "range" }); }

// What the spec calls its users; a letter, such as N, stands for users (`reports/text/words/nouns.py`).
export function nounOf({ population }) {
  const word = population.replace(/^_+|_+$/g, "");
  if (word.length <= 1) return "users";
  return /^[a-z]+(ed|ing)$/i.test(word) ? `${word} users` : word.replaceAll("_", " ");
}

const ENDINGS = [["ies", "y"], ["sses", "ss"], ["ches", "ch"], ["shes", "sh"], ["xes", "x"], ["s", ""]];
export function oneOf(several) {
  const [head, ...rest] = several.split(" of ");
  if (rest.length) return [oneOf(head), ...rest].join(" of ");
  if (!/[aeiouy]/i.test(several)) return several; // an abbreviation of a rate, such as rps or tps
  const found = ENDINGS.find(([ending]) => several.endsWith(ending) && several.length > ending.length + 1);
  return found ? several.slice(0, -found[0].length) + found[1] : several === "people" ? "person" : several;
}

// So many of what the spec counts.
export function counted(count, model) { return `${whole(count)} ${count === 1 ? oneOf(nounOf(model)) : nounOf(model)}`; }

function reasonOf(column, population) {
  const { solved, run } = column;
  const { criterion } = solved.limiting;
  run.at(population);
  const name = criterion.stated ? measured(column.model, criterion.name) : named(column.model, solved.resources[criterion.resource]?.name ?? criterion.name);
  if (criterion.isQuality) return qualityBeyond(column, population);
  if (criterion.hasConfidence) return phrase("reason.confidence", { name });
  if (criterion.stated) {
    const { measure, dimension } = criterion, limit = run.value(criterion.limit);
    const value = formatBeyond(column.model.units, run.value(measure), limit, dimension, criterion);
    const known = inParenthesis(knownAt(run, criterion, population));
    return beyondLimit(criterion, { name, value: value + known, limit: column.format(limit, dimension, criterion) });
  }
  const [load, target] = [run.value(criterion.measure), run.value(criterion.limit)];
  if (target !== 1) return phrase("reason.target", { name, value: `${formatDistinct(100 * load, 100 * target)} %`, target: percent(target) });
  return phrase("reason.saturated", { name, value: percent(load, 4) });
}

// That a measure is beyond its limit.
export function beyondLimit({ strict, atMost }, values) { return phrase(strict ? (atMost ? "reason.not_below" : "reason.not_above") : atMost ? "reason.above" : "reason.below", values); }

// Which requirements make a quality more than acceptable at a population.
export function qualityBeyond(column, population) {
  const axes = qualityAxes(column, population);
  if (!axes.length) return phrase("reason.needs");
  return phrase(axes.length > 1 ? "reason.together" : "reason.alone", { value: listed(axes.map((one) => namedValueAndLimit(column, one, population))) });
}

export function saturationOf(column) {
  const { first } = column.solved;
  if (!column.solved.resources.length) return "";
  if (!first) {
    const planned = isPlanned(column) ? ".planned" : "";
    return column.solved.undecided.length ? phrase(`saturates.unknown${planned}`) + undecidedText(column) : phrase(`saturates.none${planned}`);
  }
  const planned = hasTarget(column, first);
  const stays = staysFull(column, first), resource = named(column.model, first.name);
  if (first.isAtStart) {
    const full = phrase(!planned ? "saturated" : stays ? "at_its_target" : "beyond_its_target");
    return phrase("saturates.start", { resource, full, stays });
  }
  return phrase(`saturates.first${planned ? ".planned" : ""}`, { resource, noun: nounOf(column.model) + (hasNominal(column) ? ` ${phrase("with_nominal")}` : ""), at: wholePopulation(first.at), stays }) + undecidedText(column);
}

// That what saturates before the answer is full up to there and no more, which is not beyond it.
function staysFull(column, first) {
  const { solved, run } = column, { largest } = solved;
  if (largest === null || !(first.at < largest * (1 - 1e-12))) return "";
  run.at(largest);
  const full = run.value(first.about.load) / run.value(first.about.target);
  const isExactly = Math.abs(full - 1) <= 1e-12;
  return phrase(isExactly ? "full.exactly" : "full.at_most", { name: column.model.population, largest: whole(largest) });
}

// Of which resources it cannot be told whether they saturate before the first that does.
function undecidedText(column) {
  const { undecided, first } = column.solved;
  if (!undecided.length) return "";
  const names = undecided.map((one) => phrase("undecided.one", { resource: named(column.model, one.name), name: column.model.population, least: whole(one.notBelow) }));
  return phrase("undecided", { value: names.join(" or "), does: phrase(first ? "undecided.before" : "undecided.ever") });
}

// For how many people a resource is enough, as tables tell it.
export function saturationPoint(one) {
  if (one.notBelow !== null) {
    const low = whole(one.notBelow);
    if (one.at === null) return phrase("table.not_below", { low });
    const high = whole(Math.max(one.notBelow, Math.ceil(one.at)));
    return low === high ? high : phrase("table.between", { low, high });
  }
  if (one.at === null) return phrase("table.never");
  const at = wholePopulation(one.at);
  return one.isAtStart ? phrase("table.at_start", { low: at }) : at;
}

// Whether a resource counts as saturated at another load than 100 %, by plan; whether any does.
export function hasTarget(column, one) { return column.run.value(one.about.target) !== 1; }
export function isPlanned(column) { return column.solved.resources.some((one) => hasTarget(column, one)); }

// What a setting has otherwise than the spec: its scenario, what `--set` can change, all else.
export function changesOf(column) {
  const { model, setting } = column;
  const start = model.starts[setting.start];
  const isChanged = model.changedIn(setting);
  const sets = start.settings.filter((text) => !isChanged(nameOf(text))), only = [];
  if (setting.mode) sets.push(`mode=${setting.mode}`);
  model.selects.forEach((select, i) => {
    if (setting.picks[i] !== start.picks[i]) sets.push(`${select.name}=${select.choices[setting.picks[i]]}`);
  });
  for (const [name, value] of setting.numbers) {
    const record = isChanged(name) && column.graph.numbers.find((one) => one.name === name);
    if (!record) continue;
    const text = `${decimalOf(inUnit(record, value))}${record.unit ? ` ${record.unit}` : ""}`;
    if (record.set) sets.push(`${name}=${text}`);
    else only.push(`${name} = ${text}`);
  }
  return { scenario: start.scenario, sets, only };
}

// What a change such as `size=3 kB` sets.
function nameOf(change) { return change.slice(0, change.indexOf("=")).trim(); }

// The same setting on the command line; what it cannot set is told apart.
export function commandOf(column, verb = "solve") {
  const { scenario, sets, only } = changesOf(column);
  const changes = [...(scenario ? ["--scenario", quoted(scenario)] : []), ...sets.flatMap((text) => ["--set", quoted(text)])];
  return { command: [`qps ${verb}`, quoted(column.model.file), ...changes].join(" "), only };
}

// The same setting as a scenario, to be put into the spec; empty where nothing that one can set is changed.
export function scenarioOf(column) {
  const { scenario, sets } = changesOf(column), known = column.model.starts.map((one) => one.scenario);
  const changes = [...(scenario ? [`scenario=${scenario}`] : []), ...sets].map((text) => `  ${text.replace(/\s*=\s*/, " = ")}\n`);
  let name = "tried";
  for (let i = 2; known.includes(name); i++) name = `tried_${i}`;
  return sets.length ? `scenario ${name} {\n${changes.join("")}}` : "";
}

// What the heading says of a setting.
export function circumstancesOf(column) {
  const { scenario, sets, only } = changesOf(column);
  return [...(scenario ? [`scenario ${scenario}`] : []), ...sets, ...only].map((text) => `, ${text}`).join("");
}

// The name of the file of a model, without where it lies.
export function fileOf({ file }) { return file.replace(/^.*[/\\]|\.qps$/g, ""); }

export function inUnit(record, [above, below]) {
  const [a, b] = record.factor.map(BigInt);
  return reduced(above * b, below * a);
}

// Whether what is computed is of nominal inputs, beside what samples tell: a requirement with a confidence rests on samples.
export function hasNominal({ isUncertain, solved }) { return isUncertain && !solved.criteria.some(({ criterion }) => criterion.hasConfidence); }

const MAX_INPUTS = 3;

// How many samples of which inputs: those of qps come in the order of their shares of the variance.
export function samplesText({ model }, { samples, inputs }) {
  const first = inputs.slice(0, MAX_INPUTS).map((one) => called(model, one.split(", ")[0])).join(", ");
  const more = inputs.length - MAX_INPUTS, names = more > 0 ? phrase("inputs.more", { names: first, count: more }) : first;
  return phrase("inputs.samples", { samples: whole(samples), inputs: phrase(inputs.length === 1 ? "inputs.uncertain.one" : "inputs.uncertain", { count: inputs.length, names }) });
}
