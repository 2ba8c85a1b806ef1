// Times that are told in closed form: `engine/distributions/exponential_times.py` tells how.

const OPERANDS = 9;

// The time to pass stages where it is an exponential service behind an exponential wait, null where it is another.
export function exponentialTime(stages) {
  const inner = stages.slice(OPERANDS);
  if (!inner.length) return ofOne(stages, 1, 0);
  const [waits, , , , , service, variation, chance, inside] = stages;
  if (waits || inside * OPERANDS !== inner.length) return null;
  if (!service && chance === 1) return exponentialTime(inner);
  return inner.length > OPERANDS || chance > 1 || (service && variation) ? null : ofOne(inner, chance, service);
}

function ofOne([waits, load, work, spread, servers, service, variation, often, inside], chance, fixed) {
  const isLate = waits > 0 && work > 0;
  if (inside || often !== 1 || !(isLate || service) || load >= 1 || (isLate && spread !== 1) || (service && variation !== 1)) return null;
  const share = isLate ? Math.min(waits, 1) : 0, wait = isLate ? (servers * (1 - load)) / work : Infinity, rate = service ? 1 / service : Infinity;
  const atoms = [[0, 1 - chance], [fixed, chance * (service ? 0 : 1 - share)]].filter(([, one]) => one > 0);
  return { atoms, shortest: Math.min(1 / wait || Infinity, 1 / rate || Infinity), start: fixed, least: chance < 1 ? 0 : fixed, read: (time) => read(time, { chance, fixed, share, wait, rate }) };
}

// Which share takes longer than a time, and the density of what varies.
function read(time, { chance, fixed, share, wait, rate }) {
  if (time < fixed) return [time < 0 ? 1 : chance, 0];
  const after = time - fixed;
  if (rate === Infinity) {
    const waiting = chance * share * Math.exp(-wait * after);
    return [waiting, wait * waiting];
  }
  const served = Math.exp(-rate * after);
  if (!share) return [chance * served, chance * rate * served];
  const apart = Math.max(Math.abs(wait - rate) * after, 1e-300), both = (rate * after * Math.exp(-Math.min(wait, rate) * after) * -Math.expm1(-apart)) / apart;
  return [chance * (served + share * both), chance * ((1 - share) * rate * served + share * wait * both)];
}
