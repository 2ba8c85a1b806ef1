// Waits of flows that are on and off, and of uneven arrivals: the formulas and their sources stand in
// `engine/queueing/on_off_numbers.py` and `engine/queueing/queue_numbers.py`. Times are counted in bursts.

const MOST = 200, STEPS = 60, NOTHING = 1e-15, ALONE = 1e-8, NEARLY = 1e-12; // sources up to which waits are exact

export function burstWait(sources, active, peak) { return between(sources, active, peak, meanOf); }

export function burstQuantile(sources, active, peak, level) {
  return level >= 0 && level < 1 ? between(sources, active, peak, (found) => quantileOf(found, 1 - level)) : NaN;
}

export function unevenPart(arrivals, service, load) {
  if (!(arrivals >= 0) || !(service >= 0) || !(load >= 0)) return NaN;
  const half = (arrivals + service) / 2;
  if (arrivals >= 1 || load >= 1 || half === Infinity) return half;
  return half && load ? half * Math.exp(((load - 1) * (1 - arrivals) ** 2) / (3 * load * half)) : 0;
}

function between(sources, active, peak, valueOf) {
  if (!(sources >= 0) || !(active >= 0 && active <= 1) || !(peak >= 0)) return NaN;
  const load = sources * active * peak;
  if (load !== load || (load === 0 && (sources === Infinity || peak === Infinity))) return NaN;
  if (load >= 1) return Infinity;
  if (sources * peak <= 1 || load === 0) return 0;
  const most = Math.min(sources, 2 ** 53), low = Math.floor(most), high = Math.ceil(most);
  const found = valueOf(mixtureOf(high, active, load));
  return low === high || low * peak <= 1 ? found : Math.max(found, valueOf(mixtureOf(low, active, low * active * peak)));
}

function meanOf({ served, load, logs, decays }) {
  return logs.reduce((sum, one, k) => sum + Math.exp(one) / decays[k], 0) / served / load;
}

// The logarithm of the share that is left is convex: Newton's steps are safe.
function quantileOf({ served, load, logs, decays }, late) {
  let work = 0;
  for (let step = 0; step < STEPS; step++) {
    let share = 0, density = 0;
    for (let k = 0; k < logs.length; k++) {
      const part = Math.exp(logs[k] - decays[k] * work);
      share += part;
      density += part * decays[k];
    }
    const excess = share > 0 ? Math.log(share / (late * load)) : 0;
    if (excess <= NOTHING) break;
    const on = (excess * share) / density;
    work += on;
    if (on <= NOTHING * work) break;
  }
  return work / served;
}

function mixtureOf(sources, active, load) {
  const count = Math.min(sources, MOST), scale = Math.sqrt(sources / count);
  const spare = (sources * active * (1 - load)) / load / scale, served = count * active + spare; // spare: beyond the mean
  const found = { served: (sources * active) / load / scale, load, logs: [], decays: [] };
  if (served >= count) return found;
  if (served < ALONE) return { ...found, logs: [Math.log(load)], decays: [1 - load] }; // bursts come one by one
  const starts = active / (1 - active);
  for (let k = 0; k < count - Math.floor(served * (1 + NEARLY)); k++) found.decays.push(decayOf(count, starts, served, spare, k));
  found.logs = found.decays.map((decay, k) => {
    const over = decay - starts - 1, root = Math.sqrt(over * over + 4 * starts * decay);
    const rises = over > 0 ? (over + root) / 2 : (2 * starts * decay) / (root - over), falls = (starts * decay) / rises;
    const some = k ? k * Math.log((decay - rises) / (falls - starts)) : 0;
    const others = productLog(found.decays.map((one, j) => (j === k ? 1 : Math.abs(one / (one - decay)))));
    return count * Math.log(active) + (count - k) * Math.log1p(1 / (starts + rises)) + some + others;
  });
  return found;
}

function productLog(factors) {
  let total = 0, part = 1;
  for (const factor of factors) {
    part *= factor;
    if (part > 1e-200 && part < 1e200) continue;
    total += Math.log(part);
    part = 1;
  }
  return total + Math.log(part);
}

// Where sources that rise, all but k, and k that fall make up for what is served.
function decayOf(count, starts, served, spare, k) {
  const both = starts + 1, half = count / 2 - k, over = served - count / 2;
  if (k === 0) return (both * spare * count) / (served * (count - served));
  if (half === 0) return (-count * both) / (2 * over);
  const square = half * half - over * over, line = half * half * (4 * starts - 2 * both) - over * count * both;
  const rest = both * both * (half * half - (count * count) / 4), root = Math.sqrt(Math.max(0, line * line - 4 * square * rest));
  const middle = -(line + (line < 0 || Object.is(line, -0) ? -root : root)) / 2;
  const roots = [middle ? rest / middle : 0, square ? middle / square : 0].filter((one) => one > 0);
  const miss = (decay) => Math.abs((count * (decay - both)) / 2 + half * Math.sqrt((decay - both) ** 2 + 4 * starts * decay) - served * decay);
  return roots.reduce((best, one) => (miss(one) < miss(best) ? one : best));
}
