// What `qps solve` answers, for the numbers of a run: the largest acceptable population and what
// limits it, saturation points, the bottleneck, knees of elastic numbers, elasticities.

import { nearnessAt } from "./limit_use.js";
import { isEqual } from "./numerics/fractions.js";
import { knownAt, knownWithout, largestKnown } from "./certainty.js";
import { exactNumber } from "./model.js";
import { capacityAtConfidence } from "./confidence.js";
import { failingFirst, ROUNDING, passingBetween, reaching, Undecided } from "./numerics/search.js";
import { whole } from "../common/format.js";

// Numbers with which a model cannot be: a jitter below zero, a load that divides by zero.
export class Impossible extends Error {}

// The answers of a setting: those of its worst mode, with all modes beside them; null where the page does not hold it. In slices.
export function* solving(run, setting) {
  const graphs = run.model.graphs(setting);
  if (!graphs) return null;
  const found = [];
  for (const graph of graphs) found.push(yield* solvingGraph(run.prepare(graph, setting.numbers), setting));
  const rank = (one) => [one.largest ?? 0, -(one.qualityAtLimit || 0)];
  const lowest = rank(found.reduce((best, one) => (isBefore(rank(one), rank(best)) ? one : best)));
  const alike = found.filter((one) => !isBefore(lowest, rank(one)));
  const near = alike.length > 1 ? alike.map((one) => nearnessAt(run.prepare(one.graph, setting.numbers), one.at)) : [0];
  const worst = alike[near.indexOf(Math.max(...near))];
  if (found.length > 1) run.prepare(worst.graph, setting.numbers);
  const known = knownWithout(found.flatMap((one) => one.unevaluated), largestKnown(found.flatMap((one) => one.criteria), worst.graph.low));
  return { ...worst, known, modes: found.length > 1 ? found : [] };
}

function isBefore(one, other) {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);
}

function* solvingGraph(run, setting) {
  const { graph } = run;
  refuseOutOfBounds(run);
  const { criteria, unevaluated } = yield* failuresOfAll(run, setting);
  const resources = [];
  for (const one of graph.resources) resources.push(yield* saturated(run, one.over, one, one.isFilled));
  const limiting = limitingOf(criteria, resources);
  const largest = limiting ? metUpTo(leastFailure(criteria), graph) : graph.high;
  const at = largest ?? graph.low;
  yield* refuseImpossible(run, Math.min(at + 1, graph.high));
  const quality = criteria.find((one) => one.criterion.isQuality);
  const first = firstToSaturate(resources);
  const elastic = [];
  for (const one of graph.elastic) elastic.push(yield* knees(run, one));
  run.at(at);
  return {
    graph, criteria, unevaluated, limiting, largest, at, resources,
    verdict: !limiting ? "range" : largest === null ? "nowhere" : "limited",
    limitedBy: limiting?.criterion.name ?? null,
    known: knownWithout(unevaluated, largestKnown(criteria, graph.low)),
    first, undecided: undecidedBefore(resources, first),
    elastic,
    qualityAtLimit: graph.quality === null ? null : run.at(at).value(graph.quality),
    qualityMet: quality ? metUpTo(quality.failure, graph) : null,
  };
}

const GUARDED = 8; // steps over the range at which a value that moves is looked at, as `qps solve` does

// Refuse numbers that cannot be: a negative cost, half a person, half a core where they are counted.
export function refuseOutOfBounds(run) {
  const { graph, model, program, numbers } = run;
  const isIn = (value, bound) => isInside(value, model.intervals[bound]);
  const changed = graph.numbers.filter((one) => !isEqual(numbers.get(one.name), exactNumber(one)));
  if (!changed.length) return;
  for (const one of changed) {
    if (one.bound && !isIn(numbers.get(one.name), one.bound)) throw new Impossible(`${one.what} must be ${model.intervals[one.bound].words}`);
  }
  const steps = changed.map((one) => program.stepOfValue.get(one.name));
  const { low, high } = graph;
  const points = Array.from({ length: GUARDED + 1 }, (_, i) => low + Math.floor(((high - low) * i) / GUARDED));
  for (const guard of graph.guards) {
    const { fixed } = program.needed([guard.value]);
    if (!steps.some((step) => fixed.includes(step))) continue;
    for (const point of program.moving[guard.value] ? points : [low]) {
      const value = run.exactValue(guard.value, point);
      if (value && !isIn(value, guard.bound)) throw new Impossible(guard.text);
    }
  }
}

// Whether a number must be whole: by what it is, or by a value that is that number.
export function isCounted(model, graph, record) {
  const step = model.program.stepOfValue.get(record.name);
  const bounds = [record.bound, ...graph.guards.filter((one) => one.value === step).map((one) => one.bound)];
  return bounds.some((bound) => bound && model.intervals[bound].whole);
}

// Whether a fraction lies in an interval, whose ends may themselves be out of it.
function isInside(value, { least, most, leastOut, mostOut, whole: isWhole }) {
  const beyond = (end) => value[0] * BigInt(end[1]) - BigInt(end[0]) * value[1];
  if (least && (leastOut ? beyond(least) <= 0n : beyond(least) < 0n)) return false;
  if (most && (mostOut ? beyond(most) >= 0n : beyond(most) > 0n)) return false;
  return !isWhole || value[0] % value[1] === 0n;
}

function* refuseImpossible(run, high) {
  const { graph } = run;
  for (const one of graph.resources) {
    if (Number.isNaN(run.at(graph.low).value(one.load))) throw new Impossible(`the load of ${one.name} has no value`);
  }
  for (const [over, text] of graph.bounds) {
    const curve = run.curve(over, []);
    const failure = yield* failingFirst(curve, graph.low, high, (n) => !(curve.at(n) <= ROUNDING));
    if (failure !== null) throw new Impossible(`${text} at ${run.model.population} = ${whole(failure)}`);
  }
}

// All criteria of a graph, judged in a setting, and those that only samples would judge; in slices.
export function* failuresOfAll(run, setting) {
  const criteria = [], unevaluated = [];
  for (const criterion of run.graph.criteria) {
    const capacity = capacityAtConfidence(run.model, run.graph, setting, criterion);
    if (capacity === undefined) criteria.push(yield* judged(run, criterion));
    else if (capacity === null) unevaluated.push(criterion);
    else criteria.push(confidentCapacity(run.graph, criterion, capacity));
  }
  return { criteria, unevaluated };
}

// A criterion that holds with certainty up to a population.
function confidentCapacity(graph, criterion, capacity) {
  const failure = capacity >= graph.high ? null : Math.max(capacity + 1, graph.low);
  const bySamples = (known) => ["approximation", [...(known?.[1] ?? []), `${criterion.name}: evaluated by sampling`]];
  const [known, knownInSeries] = [criterion.known, criterion.knownInSeries].map(bySamples);
  return { criterion: { ...criterion, known, knownInSeries, hasConfidence: true }, failure, knownThere: known, met: metUpTo(failure, graph), holds: metUpTo(failure, graph) };
}

// A criterion with the first population at which it fails, null for none; it does not before `from`. In slices.
export function* failureOf(run, criterion, from = run.graph.low) {
  const curve = run.curve(criterion.over, [criterion.measure, criterion.limit]);
  const failure = yield* failingFirst(curve, from, run.graph.high, (n) => fails(run, curve, criterion, n));
  const knownThere = failure === null ? criterion.known : knownAt(run, criterion, failure);
  return { criterion, failure, knownThere, met: metUpTo(failure, run.graph) };
}

// A criterion that is judged, with up to where its value keeps to its limit: beyond saturation that is infinite. What is
// shown fails wherever the criterion does, so that this is searched for first, and most often found there.
function* judged(run, criterion) {
  const { low, high } = run.graph;
  if (criterion.overShown === undefined) {
    const found = yield* failureOf(run, criterion);
    return { ...found, holds: found.met };
  }
  const curve = run.curve(criterion.overShown, [criterion.measure, criterion.limit]);
  const shown = yield* failingFirst(curve, low, high, (n) => failsShown(run, criterion, n));
  if (shown === null) return { criterion, failure: null, knownThere: criterion.known, met: high, holds: high };
  return { ...(yield* failureOf(run, criterion, shown)), holds: metUpTo(shown, run.graph) };
}

// Whether the value that is shown is beyond its limit; it is where the criterion fails.
export function failsShown(run, criterion, population) {
  const over = criterion.overShown ?? criterion.over;
  return fails(run, run.curve(over, [criterion.measure, criterion.limit]), { ...criterion, over }, population);
}

export function fails(run, curve, criterion, population) {
  const value = curve.at(population);
  if (!Number.isFinite(value)) return true;
  if (Math.abs(value) > curve.doubt()) return value > 0;
  const sign = run.exactSign(criterion.over, population) ?? Math.sign(value);
  return sign > 0 || (criterion.strict && sign === 0);
}

function metUpTo(failure, graph) {
  if (failure === null) return graph.high;
  return failure === graph.low ? null : failure - 1;
}

export function isStated(criterion) { return criterion.stated || criterion.isQuality === true; }

function leastFailure(criteria) { return Math.min(...criteria.map((one) => one.failure ?? Infinity)); }

// What fails first: of several a stated one, else the resource that saturates first, or that which saturates together with it and comes before it: its cause may fail one user later.
function limitingOf(criteria, resources) {
  const least = leastFailure(criteria);
  const failing = criteria.filter((one) => one.failure === least);
  const stated = failing.find((one) => isStated(one.criterion));
  if (stated || !failing.length || least === Infinity) return stated ?? null;
  const of = (resource) => (one) => resources[one.criterion.resource] === resource;
  const first = firstToSaturate(resources.filter((one) => failing.some(of(one))));
  if (!first) return failing[0];
  const cause = first.isAtStart ? first : resources.find((one) => one.at !== null && isAlike(one.at, first.at) && criteria.some(of(one)));
  return criteria.find(of(cause));
}

function isAlike(one, other) { return Math.abs(one - other) <= 1e-9 * other; }

// Where a load reaches 1, or passes it where elastic numbers fill it: `at` is null for never,
// `isAtStart` where it does from the start on. Where that cannot be told, `notBelow` is a population
// up to which it does not, and `at` one by which it does, null where no such one is known.
function* saturated(run, over, about, passes) {
  const { low } = run.graph;
  const curve = run.curve(over, [run.program.a[over]]);
  const { at, notBelow } = yield* crossed(run, curve, over, passes);
  const isAtStart = at === low && (curve.isFixed || !passes || curve.at(low) > curve.doubt() || !Number.isFinite(curve.at(low)));
  return { about, at, notBelow, isAtStart, name: about.name, atStart: isAtStart ? loadAtStart(run, over, about) : 1 };
}

function* crossed(run, curve, over, passes) {
  const { low, high } = run.graph;
  try {
    return { at: yield* reaching(curve, low, passes), notBelow: null };
  } catch (error) {
    if (!(error instanceof Undecided) || error.near === null) throw error;
    const at = yield* failingFirst(curve, low, high, (n) => fails(run, curve, { over, strict: false }, n));
    return { at, notBelow: Math.floor(error.near) };
  }
}

// Of which resources it cannot be told whether they saturate before the first that is known to.
function undecidedBefore(resources, first) {
  return resources.filter((one) => one.notBelow !== null && one.notBelow < (first?.at ?? Infinity));
}

// How full what is saturated where the range starts is there, as a part of its target; where only
// the excess is known (of what elastic numbers leave), the excess tells which is the highest.
function loadAtStart(run, over, about) {
  run.at(run.graph.low);
  const full = about.target === undefined ? 1 + run.value(over) : run.value(about.load) / run.value(about.target);
  return Number.isFinite(full) ? full : Infinity;
}

// What saturates first: of several that do from the start, the most heavily loaded; then in order.
function firstToSaturate(resources) {
  let first = null;
  for (const one of resources) {
    if (one.at === null) continue;
    const tied = first && isAlike(one.at, first.at);
    if (!first || (tied ? one.atStart > first.atStart * (1 + 1e-12) : one.at < first.at)) first = one;
  }
  return first;
}

// Where an elastic number leaves its most, and where it reaches its least: a resource is full with
// that, by what numbers before it take, and may stay so. Full while it takes nothing is no limit yet.
function* knees(run, elastic) {
  const yields = [], exhausted = [];
  for (const one of elastic.atMost) yields.push(yield* reached(run, one, true));
  for (const [k, one] of elastic.atLeast.entries()) {
    const full = yield* reached(run, one, false), { at } = yields[k];
    exhausted.push(at !== null && full.at >= at * (1 - 1e-9) ? full : yield* reached(run, one, true));
  }
  return { elastic, yields: firstToSaturate(yields), exhausted: firstToSaturate(exhausted) };
}

function* reached(run, [name, over], passes) {
  const found = yield* saturated(run, over, { name }, passes);
  if (found.notBelow !== null) throw new Undecided();
  return found;
}

// By how many per cent the answer moves when a number moves by one per cent, the greatest first; in slices.
// Where nothing limits the answer, that of the first saturation point.
export function* elasticities(run, solved) {
  const { graph, limiting, resources } = solved;
  let over, at = null, of;
  if (limiting) {
    if (limiting.failure === graph.low || solved.largest === null || limiting.criterion.hasConfidence) return { of: null, rows: [] };
    const curve = run.curve(limiting.criterion.over, [limiting.criterion.measure]);
    ({ over } = limiting.criterion);
    at = limiting.failure === null ? resources[limiting.criterion.resource].at : yield* passingBetween(curve, limiting.failure - 1, limiting.failure);
    of = limiting.criterion.name;
  } else {
    const first = firstToSaturate(resources.filter((one) => !one.isAtStart && one.notBelow === null));
    if (first) ({ at, about: { over }, name: of } = first);
  }
  if (at === null || over === undefined) return { of: null, rows: [] };
  // On a plateau that ends here, the branch that rises is the one just beyond.
  const rows = yield* elasticitiesAt(run, over, at);
  return { of, at, rows: rows.length ? rows : yield* elasticitiesAt(run, over, at * (1 + 1e-9)) };
}

function* elasticitiesAt(run, over, at) {
  const { program, x, slopes } = run;
  const order = program.needed([over]).all;
  run.at(at);
  yield* program.differentiating(order, over, x, slopes);
  const rise = slopes[0];
  if (!Number.isFinite(rise) || Math.abs(rise) < 1e-9) return [];
  const needed = new Set(order);
  const rows = [];
  for (const record of run.graph.numbers) {
    const step = program.stepOfValue.get(record.name);
    if (!needed.has(step) || x[step] === 0) continue;
    const elasticity = (-slopes[step] * x[step]) / (rise * at);
    if (Number.isFinite(elasticity) && Math.abs(elasticity) > 1e-9) rows.push({ record, elasticity });
  }
  return rows.sort((one, other) => Math.abs(other.elasticity) - Math.abs(one.elasticity));
}
