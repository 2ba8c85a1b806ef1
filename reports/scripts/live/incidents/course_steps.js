// In which steps an incident is followed, for how long, and when it counts as over: as `solver/incidents/course_steps.py` has it.

export const MOST_STEPS = 20_000;
const STEPS_IN_TIMEOUT = 8, STEPS_IN_CHANGE = 400, LARGEST_STEP = 0.25, COLD_STEP = 0.03, CALM = 60;
const LEAST_STEPS = 20, STEADY = 1e-3, SPARE = 1e-4;

// The nearest whole number; of two, the even one, as in Python.
export function nearest(value) {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

// When the first change begins, and when the last has ended.
export function startOf(system) {
  const starts = [...system.capacityChanges, ...system.trafficChanges].map((one) => one.start);
  const all = [...starts, ...system.flushes.map((one) => one.at)];
  return all.length ? Math.min(...all) : 0;
}

export function endOf(system) {
  const ends = [...system.capacityChanges, ...system.trafficChanges].map((one) => one.end);
  return Math.max(0, ...ends, ...system.flushes.map((one) => one.at));
}

const retriesOf = (system) => system.streams.map((one) => one.retry).filter((one) => one !== null);

// The step in which an incident is followed, in s.
export function stepOf(system) {
  const lengths = [...system.capacityChanges, ...system.trafficChanges].map((one) => one.end - one.start);
  const longest = Math.max(0, ...lengths, endOf(system) - startOf(system));
  const steps = [LARGEST_STEP, ...lengths.filter((one) => one > 0).map((one) => one / STEPS_IN_CHANGE)];
  if (!lengths.length) steps.push(COLD_STEP);
  steps.push(...retriesOf(system).map((one) => one.timeout / STEPS_IN_TIMEOUT));
  return Math.max(Math.min(...steps), (startOf(system) + 4 * longest + 8 * calmOf(system)) / MOST_STEPS);
}

// Whether a change is too short for the steps in which an incident is followed.
export function isTooCoarse(system) {
  const step = stepOf(system), lengths = [...system.capacityChanges, ...system.trafficChanges].map((one) => one.end - one.start);
  return lengths.some((one) => one > 0 && one < LEAST_STEPS * step);
}

// Whether the largest backlog has not become less in some time, and no other one either.
export function isStuck(before, after, seconds) {
  const most = Math.max(0, ...before), least = (then) => Math.min(STEADY * then, SPARE * seconds);
  if (most <= 0 || most - least(most) > Math.max(0, ...after)) return false;
  return before.every((then, i) => after[i] >= then - least(then));
}

// The time in which a change shows whether a backlog grows, in s.
export function calmOf(system) {
  return Math.max(CALM, ...retriesOf(system).map((one) => 2 * (one.timeout + triedFor(one))));
}

// The time from the first attempt of a request to its last one, in s.
export function triedFor(retry) { return retry.timeout * retry.retries + retry.backoff * (2 ** retry.retries - 1); }

// Which of some changes are in force at a time.
export function inForce(changes, now) { return changes.filter((one) => one.start <= now && now < one.end); }
