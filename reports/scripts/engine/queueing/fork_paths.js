// The paths through stages of which some are forks, each with its chance, its fixed time and factors that vary: `engine/forks/paths_with_forks.py` tells how.

import { firstAnswers } from "./first_answers.js";
import { atOnceBy, both, leftOf, longest, massOf, meanOfPhases, mixed, nearestOf, onePhase, phases, phasesOfLongest, transformInto } from "./phase_times.js";
import { CALLS, FORK, MOST_COMBINED, MOST_PASSAGES, MOST_PATHS, MOST_PHASES, passages, ROUNDED } from "./phase_counts.js";
import { isEndlessWork, isStage, lineOf, pathFactors } from "./sums.js";

const OPERANDS = 9, SAME = 1e-12;

export class NoPathError extends Error {}

// The stages of operands as they stand in each other, or what the time is where there is no law.
export function nodesOf(operands) {
  if (!operands.length || operands.length % OPERANDS) return NaN;
  const groups = Array.from({ length: operands.length / OPERANDS }, (_, k) => operands.slice(k * OPERANDS, (k + 1) * OPERANDS));
  if (!groups.every(([a, b, c, d, servers, ...rest]) => isStage([a, b, c, d, Math.abs(servers), ...rest]))) return NaN;
  if (!groups.every(([waits, , work, spread, servers, service, , , inside]) => servers >= 0 || ((servers === FORK || (servers === CALLS && spread >= 1)) && !waits && !work && !service && inside >= 0))) return NaN;
  const nodes = read(groups);
  if (!nodes.every(isSoundNode)) return NaN;
  return nodes.some(isEndlessNode) ? Infinity : nodes;
}

// The paths through stages.
export function pathsOf(nodes) { return ofLine(nodes).map(pathOf); }

function read(groups) {
  const found = [];
  for (let at = 0, end; at < groups.length; at = end) {
    end = Math.min(groups.length, at + 1 + Math.floor(Math.min(Math.abs(groups[at][8]), groups.length)));
    const group = groups[at], within = read(groups.slice(at + 1, end)), inside = within.filter(({ group: [, , , , servers] }) => servers), isFork = group[4] === FORK;
    found.push({ group, within, inside, works: within.filter((one) => !one.group[4]), often: group[7], isFork, hasFork: group[4] < 0 || inside.some(({ hasFork }) => hasFork) });
  }
  return found;
}

function isSoundNode({ group, inside }) {
  return group[4] !== 0 && !(group[8] < 0 && inside.reduce((sum, { often }) => sum + often, 0) > 1 + SAME) && inside.every(isSoundNode);
}

function isEndlessNode({ group: [waits, load, work, , , service], works, inside, often }) {
  if (!(often > 0)) return false;
  const isLate = (waits > 0 && work > 0) || works.some(({ group }) => group[0] > 0 && group[2] > 0);
  const waitsForEver = isEndlessWork({ waits, work }) || works.some(({ group }) => isEndlessWork({ waits: group[0], work: group[2] }));
  return service === Infinity || waitsForEver || (isLate && works.reduce((sum, { group }) => sum + group[1], load) >= 1) || inside.some(isEndlessNode);
}

function operandsOf({ group, within }) { return [...group, ...within.flatMap(operandsOf)]; }

// A path with its chance, as tails are computed from it.
function pathOf({ share, fixed, factors }) {
  const made = factors.map(asFactor);
  return { share, chance: made.reduce((found, { mass }) => found * mass, share), fixed: fixed ?? 0, factors: made };
}

function asFactor(factor) {
  if (!factor.moves) return factor;
  return { mass: massOf(factor), done: factor.done, nearest: nearestOf(factor), served: 0, isNarrow: false, mean: meanOfPhases(factor), into: (re, im, into) => transformInto(factor, re, im, into) };
}

const single = (share, fixed = null, factors = []) => [{ share, fixed, factors }];

function then(paths, others) {
  if (paths.length * others.length > MOST_PATHS) throw new NoPathError();
  return paths.flatMap((one) => others.map((other) => ({ share: one.share * other.share, fixed: one.fixed === null ? other.fixed : one.fixed + (other.fixed ?? 0), factors: [...one.factors, ...other.factors] })));
}

const by = (chance, paths) => paths.map((path) => ({ ...path, share: path.share * chance }));

// What varies on a path, in phases; null where it has none.
function phasesOf({ share, factors }) { return factors.every(({ moves }) => moves) ? factors.reduce(both, atOnceBy(share)) : null; }

// Ways of which those are one that take no fixed time, and pass phases.
function merged(paths) {
  const found = [], alike = [];
  for (const path of paths) {
    const time = path.fixed === null ? phasesOf(path) : null;
    if (time) alike.push(time);
    else found.push(path);
  }
  if (!alike.length) return found;
  const one = mixed(alike);
  return [...found, ...(one.moves.length ? single(1, null, [one]) : single(one.done))];
}

function ofLine(nodes) { return nodes.reduce((found, node) => then(found, ofNode(node)), single(1)); }

// The paths through a node, as often as it is passed.
function ofNode(node) {
  if (!node.hasFork) return ofStage(node);
  const [whole, share] = passages(node.often);
  if (whole > MOST_PATHS) throw new NoPathError();
  const once = whole || share ? onceOf(node) : [];
  let found = single(1);
  for (let turn = 0; turn < whole; turn++) found = then(found, once);
  return share ? then(found, merged([...by(share, once), ...single(1 - share)])) : found;
}

function onceOf({ group, inside, works, isFork }) {
  if (isFork) {
    if (works.length) throw new NoPathError();
    return ofFork(inside);
  }
  if (group[4] === CALLS) return ofCalls(group, inside, works);
  const own = ofStage({ group: [...group.slice(0, 7), 1, works.length], within: works });
  if (group[8] >= 0) return then(own, ofLine(inside));
  const chances = inside.reduce((sum, { often }) => sum + often, 0), found = chances >= 1 - ROUNDED ? [] : single(Math.max(0, 1 - chances));
  for (const one of inside) {
    if (one.often > 0) found.push(...by(one.often, one.hasFork ? onceOf(one) : ofStage({ ...one, group: [...one.group.slice(0, 7), 1, one.group[8]] })));
  }
  return then(own, merged(found));
}

// The paths through a stage without forks.
function ofStage(node) {
  const operands = operandsOf(node), line = lineOf(operands), found = phasePaths(line[0]);
  if (found) return found;
  const paths = pathFactors(line);
  if (!paths) throw new NoPathError();
  return paths.map(({ chance, fixed, factor }) => ({ share: factor ? 1 : chance, fixed: fixed > 0 ? fixed : null, factors: factor ? [factor] : [] }));
}

// The same where all that varies has exponential phases, null where it has not.
function phasePaths(stage) {
  const { whole, share } = stage;
  if (whole > MOST_PASSAGES) return null;
  let found = single(1);
  if (!whole && !share) return found;
  const once = phasesOnce(stage);
  if (!once) return null;
  for (let turn = 0; turn < whole; turn++) found = then(found, once);
  return share ? then(found, merged([...by(share, once), ...single(1 - share)])) : found;
}

function phasesOnce(stage) {
  const { isLate, parts, spread, variation, service, waits, isVaried, isChoice, left, inside } = stage;
  if (isLate && (parts.length > 1 || spread !== 1)) return null;
  if (isVaried && variation !== 1) return null;
  let factors = isLate ? [onePhase(waitRate(stage), waits)] : [];
  if (isVaried) factors = [isLate ? queueOf(stage) : onePhase(1 / service)];
  let found = single(1, !isVaried && service > 0 ? service : null, factors);
  if (!isChoice) {
    for (const one of inside) {
      const paths = phasePaths(one);
      if (!paths) return null;
      found = then(found, paths);
    }
    return found;
  }
  const each = left > 0 ? single(left) : [];
  for (const one of inside) {
    if (!(one.chance > 0)) continue;
    const paths = phasesOnce(one);
    if (!paths) return null;
    each.push(...by(one.chance, paths));
  }
  return then(found, merged(each));
}

function waitRate({ servers, load, work }) { return (servers * (1 - load)) / work; }

// An exponential service behind an exponential wait: at one server that is one.
function queueOf(stage) {
  const { waits, load, servers, work, service } = stage, rate = 1 / service;
  if (waits === load && servers === 1 && work === service) return onePhase(rate * (1 - load));
  return phases([waits, 1 - waits], [[[1, waitRate(stage)]], [[2, rate]]], 0);
}

// The paths of the longest of some branches.
function ofFork(branches) {
  if (!branches.length) return single(1);
  const each = branches.map((branch) => ofLine([branch])), timed = each.map((paths) => paths.map(phasesOf));
  if (timed.every((paths) => paths.every(Boolean))) {
    const found = longestBehindOne(each, timed);
    if (found) return found;
    const chosen = combined(each);
    if (chosen.length <= MOST_COMBINED && combined(timed).every((times) => phasesOfLongest(times) <= MOST_PHASES)) return chosen.map(longestOf);
  }
  throw new NoPathError();
}

// The path of the first of equal calls, each of one exponential phase behind it.
function ofCalls([, , , answers, , , spare], inside, works) {
  const paths = inside.length && !works.length ? ofLine(inside) : [], time = paths.length === 1 ? phasesOf(paths[0]) : null;
  if (time?.moves.length !== 1 || time.starts[0] !== 1) throw new NoPathError();
  return single(1, paths[0].fixed, [firstAnswers(answers, spare, time.rates[0])]);
}

function combined(lists) { return lists.reduce((found, list) => found.flatMap((one) => list.map((other) => [...one, other])), [[]]); }

function longestOf(paths) {
  const fixed = paths.filter((path) => path.fixed !== null).map((path) => path.fixed), end = fixed.length ? Math.max(...fixed) : null;
  const found = longest(paths.map((path) => (end === null ? phasesOf(path) : leftOf(phasesOf(path), end - (path.fixed ?? 0)))));
  return found.moves.length ? { share: 1, fixed: end, factors: [found] } : { share: found.done, fixed: end, factors: [] };
}

// The paths of the longest where all that takes time has one fixed time, or none. What is not passed is done by then; but where nothing is passed that time is not taken.
function longestBehindOne(each, timed) {
  const paths = each.flat(), [first, ...others] = paths.filter(({ fixed }) => fixed !== null);
  if (!first || others.some(({ fixed }) => fixed !== first.fixed) || paths.some(({ fixed, factors }) => fixed === null && factors.length)) return null;
  const times = timed.map(mixed);
  if (phasesOfLongest(times) > MOST_PHASES) return null;
  const found = longest(times), none = each.reduce((product, some) => product * some.reduce((sum, { fixed, share }) => sum + (fixed === null ? share : 0), 0), 1), done = Math.max(0, found.done - none);
  return [...(none ? single(none) : []), ...(found.moves.length ? single(1, first.fixed, [phases(found.starts, found.moves, done)]) : single(done, first.fixed))];
}
