// What is gained by a goal that is less strict, in the steps of `solver/what_if/relaxed_goals.py`: the limit, or the target, that fails first.

import { reduced } from "../../engine/numerics/fractions.js";
import { beyondRange } from "./controls.js";

export const GOAL = "relaxed goal";
const UTILIZATION = /\.(load|utilization)$/;
const TENTHS = [11n, 12n, 13n, 14n, 15n]; // up to half as much again
const FAR = [16n, 18n, 20n, 25n, 30n, 40n, 50n, 60n, 80n, 100n, 120n, 150n, 200n, 300n, 500n, 1000n, 10000n]; // further, where nobody is supported
const FEWER = [90n, 80n, 70n], FAR_FEWER = [60n, 50n, 40n, 30n, 20n, 10n, 5n, 2n, 1n]; // hundredths of what is to be at least so much
const QUARTERS = 4n;

// The goals that the answer of a column is limited by, each in steps that require less and less.
export function* goalLadders({ setting, graph, run, model, solved }) {
  const { limiting, largest } = solved, isFar = largest === null;
  if (!limiting) return;
  const failing = graph.criteria.filter((one) => (limiting.criterion.isQuality ? one.axis !== null && !one.isQuality : one.name === limiting.criterion.name));
  const seen = new Set();
  for (const criterion of failing) {
    const [, name] = model.steps[criterion.limit], record = graph.numbers.find((one) => one.name === name), now = run.numbers.get(name);
    if (!record?.limit || record.decided || criterion.hasConfidence || !now || seen.has(name) || (record.parameter && name.includes("."))) continue;
    seen.add(name);
    const ladder = wholeOnes(valuesOf(now, criterion, record, isFar).map((value) => reduced(...value)), now, criterion, record).filter((value) => !record.parameter || beyondRange(record, value) === null)
      .map((value) => ({ kind: GOAL, text: `${name} less strict`, setting: { ...setting, numbers: new Map(setting.numbers).set(name, value) }, part: name }));
    if (ladder.length) yield ladder;
  }
}

// The same values, of what counts things the whole ones that are no milder.
function wholeOnes(values, now, { atMost }, { counts }) {
  if (!counts) return values;
  const whole = new Set(values.map(([above, below]) => (atMost ? above / below : (above + below - 1n) / below)));
  return [...whole].filter((value) => value > 0n && value * now[1] !== now[0]).map((value) => [value, 1n]);
}

// Limits that are less and less strict: shares of more than half, and utilizations, have 100 % as their end.
function valuesOf([above, below], { name, atMost }, { dimension }, isFar) {
  if (above <= 0n) return [];
  const factors = isFar ? [...TENTHS, ...FAR] : TENTHS, rest = below - above;
  const isShare = dimension === "" && rest >= 0n && (UTILIZATION.test(name) || 2n * above > below);
  if (!isShare && !atMost) return [...FEWER, ...(isFar ? FAR_FEWER : [])].map((parts) => [above * parts, below * 100n]);
  if (!isShare) return factors.map((tenths) => [above * tenths, below * 10n]);
  if (rest === 0n) return [];
  if (!atMost) return factors.map((tenths) => [below * 10n - rest * tenths, below * 10n]).filter(([left]) => left > 0n);
  const end = (isFar ? 1n : 2n) * QUARTERS;
  return [1n, 2n, 3n, 4n].map((step) => [above * end + rest * step, below * end]);
}
