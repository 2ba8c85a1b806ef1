// The answer in words, with its reason; the same words as `qps solve` has for it.

import { reduced } from "../engine/fractions.js";
import { inParenthesis, knownAt, usersKnown, usersTold } from "../engine/known.js";
import { decimalOf, number, percent, quoted, toldApart, toldBeyond, whole } from "../common/format.js";

export function answerOf(column) {
  const { solved, graph } = column;
  const fewest = graph.low === 1 ? "1 user is" : `${whole(graph.low)} users are`;
  const isOne = graph.low === graph.high;
  if (solved.verdict === "range") {
    if (isOne) return `${fewest} acceptable.`;
    if (!graph.restsOnUsers) {
      return `Nothing depends on the number of users: as the spec stands, every number from ${whole(graph.low)} to ${whole(graph.high)} is acceptable.`;
    }
    return `${solved.known ? "As far as it is known, every" : "Every"} number of users from ${whole(graph.low)} to ${whole(graph.high)} is acceptable; the range, not the system, is the limit.`;
  }
  if (solved.verdict === "nowhere") {
    const isOrAre = graph.low === 1 ? "is" : "are";
    const known = solved.known ? fewest.replace(` ${isOrAre}`, ` ${isOrAre} known to be`) : fewest;
    return `${isOne ? `${fewest} not` : `Not even ${known}`} acceptable: ${reasonOf(column, graph.low)}.`;
  }
  const users = usersKnown(solved.known) + (solved.largest === 1 ? "1 user" : `${whole(solved.largest)} users`);
  const mode = graph.mode ? ` in mode ${graph.mode}` : "";
  return `${users}. With ${whole(solved.largest + 1)}${mode}, ${reasonOf(column, solved.largest + 1)}.`;
}

// The number of users alone, where there is one.
export function largestTold({ solved }) { return usersTold({ ...solved, isRange: solved.verdict === "range" }); }

// What the spec calls its users; a letter, such as N, stands for users (`reports/text/nouns.py`).
export function nounOf({ population }) { return population.length === 1 ? "users" : population.replaceAll("_", " "); }

const ENDINGS = [["ies", "y"], ["sses", "ss"], ["ches", "ch"], ["shes", "sh"], ["xes", "x"], ["s", ""]];
export function oneOf(several) {
  const found = ENDINGS.find(([ending]) => several.endsWith(ending) && several.length > ending.length + 1);
  return found ? several.slice(0, -found[0].length) + found[1] : several === "people" ? "person" : several;
}

function reasonOf(column, population) {
  const { solved, run } = column;
  const { criterion } = solved.limiting;
  run.at(population);
  if (criterion.name === "quality") {
    return `quality is ${toldApart(run.value(solved.graph.quality), 1)}${inParenthesis(knownAt(run, solved.graph.qualityKnown, population))}; at most 1 is acceptable`;
  }
  if (criterion.isPromised) return `${criterion.name} does not hold`;
  if (criterion.stated) {
    const { measure, dimension } = criterion, limit = run.value(criterion.limit);
    const told = toldBeyond(column.model.units, run.value(measure), limit, dimension, criterion);
    return `${criterion.name} is ${told}${inParenthesis(knownAt(run, criterion, population))}; ${sideOf(criterion)} ${column.tell(limit, dimension, criterion)} is acceptable`;
  }
  const [load, target] = [run.value(criterion.measure), run.value(criterion.limit)];
  const resource = criterion.name.replace(/\.load$/, "");
  if (target !== 1) return `${resource} is loaded ${toldApart(100 * load, 100 * target)} %; its target is ${percent(target)}`;
  return `${resource} is loaded ${percent(load, 4)}: it is saturated`;
}

export function sideOf({ strict, atMost }) {
  return strict ? (atMost ? "less than" : "more than") : atMost ? "at most" : "at least";
}

export function saturationOf(column) {
  const { first } = column.solved;
  const name = column.model.population;
  if (!column.solved.resources.length) return "";
  if (!first) {
    const [ever, to] = isPlanned(column) ? ["reaches its target", "reach its target"] : ["saturates", "saturate"];
    return column.solved.undecided.length ? `No resource is known to ${to}.${undecidedText(column)}` : `No resource ever ${ever}.`;
  }
  const planned = hasTarget(column, first);
  const stays = staysFull(column, first);
  if (first.isAtStart) {
    return `${first.name} is ${planned ? `${stays ? "at" : "beyond"} its target` : "saturated"} from the start${stays}.`;
  }
  return `First to ${planned ? "reach its target" : "saturate"}: ${first.name}, at ${name} = ${number(first.at)}${stays}.${undecidedText(column)}`;
}

// That what saturates before the answer is full up to there and no more, which is not beyond it.
function staysFull(column, first) {
  const { solved, run } = column, { largest } = solved;
  if (largest === null || !(first.at < largest * (1 - 1e-12))) return "";
  run.at(largest);
  const full = run.value(first.about.load) / run.value(first.about.target);
  if (Math.abs(full - 1) > 1e-12) return `; at no whole number up to ${whole(largest)} is it more than full`;
  return `; from there to ${column.model.population} = ${whole(largest)} it is exactly full, no more`;
}

// Of which resources it cannot be told whether they saturate before the first that does.
function undecidedText(column) {
  const { undecided, first } = column.solved;
  if (!undecided.length) return "";
  const told = undecided.map((one) => `${one.name} (not below ${column.model.population} = ${whole(one.notBelow)})`);
  return ` It cannot be told whether ${told.join(" or ")} ${first ? "saturates before that" : "ever saturates"}.`;
}

// Where a resource saturates, as tables tell it.
export function saturationPoint(one) {
  if (one.notBelow !== null) return one.at === null ? `not below ${whole(one.notBelow)}` : `${whole(one.notBelow)} to ${whole(Math.max(one.notBelow, Math.ceil(one.at)))}`;
  return one.at === null ? "never" : one.isAtStart ? "from the start" : number(one.at);
}

// Whether a resource counts as saturated at another load than 100 %, by plan; whether any does.
export function hasTarget(column, one) { return column.run.value(one.about.target) !== 1; }
export function isPlanned(column) { return column.solved.resources.some((one) => hasTarget(column, one)); }

// What a setting has otherwise than the spec: its scenario, what `--set` can change, all else.
export function changesOf(column) {
  const { model, setting } = column;
  const start = model.starts[setting.start];
  const sets = [...start.settings], only = [];
  if (setting.mode) sets.push(`mode=${setting.mode}`);
  model.selects.forEach((select, i) => {
    if (setting.picks[i] !== start.picks[i]) sets.push(`${select.name}=${select.choices[setting.picks[i]]}`);
  });
  const isChanged = model.changedIn(setting);
  for (const [name, value] of setting.numbers) {
    const record = isChanged(name) && column.graph.numbers.find((one) => one.name === name);
    if (!record) continue;
    const text = `${decimalOf(inUnit(record, value))}${record.unit ? ` ${record.unit}` : ""}`;
    if (record.parameter) sets.push(`${name}=${text}`);
    else only.push(`${name} = ${text}`);
  }
  return { scenario: start.scenario, sets, only };
}

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
