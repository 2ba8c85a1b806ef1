// What part of its limit a value uses: at 1 it is at it. A floor uses the more of it the smaller the value is, and
// all that there is where nothing is left of that. Of a limit that is not above zero there are no parts.
export function limitUsed(atMost, value, limit) {
  if (!(limit > 0) || Number.isNaN(value)) return NaN;
  if (atMost) return value / limit;
  return value > 0 ? limit / value : Infinity;
}

const DECIMALS = 1e9; // floats do not tell others apart

// How near a run comes to the nearest of its limits at a population, as in `solver/answers/worst_mode.py`.
export function nearnessAt(run, population) {
  run.at(population);
  const used = run.graph.criteria.map((one) => limitUsed(one.isQuality || one.atMost, run.value(one.isQuality ? run.graph.quality : one.measure), one.isQuality ? 1 : run.value(one.limit)));
  const found = Math.max(0, ...used.map((one) => (Number.isNaN(one) ? Infinity : one)));
  return Number.isFinite(found) ? Math.round(found * DECIMALS) / DECIMALS : found;
}
