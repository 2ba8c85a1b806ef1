// Hit rates of a cache that fills: as `engine/queueing/cache_hit_rates.py` and `solver/incidents/filling_cache.py` have them.

const STEPS = 200, ROUNDING = 1e-12, GROUPED = 1_000, WIDTH = 1.002;
const POINTS = 160, SMALLEST = 0.01;

// How often items are requested, in groups that are alike: the one of rank r in proportion to r^-exponent.
function zipf(items, exponent) {
  const groups = [];
  for (let rank = 1, last = 0; rank <= items; rank = last + 1) {
    last = rank <= GROUPED ? rank : Math.min(items, Math.floor(rank * WIDTH));
    groups.push({ count: last - rank + 1, share: ((rank + last) / 2) ** -exponent });
  }
  const whole = groups.reduce((sum, one) => sum + one.count * one.share, 0);
  return groups.map(({ count, share }) => ({ count, share: share / whole }));
}

const hitRateAfter = (groups, requests) => groups.reduce((sum, { count, share }) => sum + count * share * (1 - Math.exp(-share * requests)), 0);
const different = (groups, requests) => groups.reduce((sum, { count, share }) => sum + count * (1 - Math.exp(-share * requests)), 0);

// The hit rate in steady state (Che), and after how many requests an item is evicted.
function warm(groups, items, size) {
  if (size >= items) return { rate: 1, requests: Infinity };
  let low = 0, high = size;
  while (different(groups, high) < size) high *= 2;
  for (let left = STEPS; left > 0 && high - low > ROUNDING * high; left -= 1) {
    const middle = (low + high) / 2;
    if (different(groups, middle) < size) low = middle; else high = middle;
  }
  return { rate: hitRateAfter(groups, high), requests: high };
}

const KNOWN = new Map();

// After how many requests a cache has which hit rate, up to that of a steady state.
function filling({ items, exponent, size }) {
  const key = `${items} ${exponent} ${size}`;
  if (KNOWN.has(key)) return KNOWN.get(key);
  const groups = zipf(items, exponent), steady = warm(groups, items, size);
  const last = steady.requests === Infinity ? 20 / groups.at(-1).share : steady.requests;
  const growth = (last / SMALLEST) ** (1 / (POINTS - 1));
  const requests = [0, ...Array.from({ length: POINTS }, (_, i) => SMALLEST * growth ** i)];
  const rates = requests.map((one) => hitRateAfter(groups, one));
  rates[rates.length - 1] = steady.rate;
  KNOWN.set(key, { requests, rates });
  return KNOWN.get(key);
}

// A cache that is warm at first; `filled` requests have brought it items since it was empty.
export class FillingCache {
  constructor(cache) {
    Object.assign(this, filling(cache), { filled: Infinity });
    this.rate = this.rates.at(-1);
  }

  fill(requests) {
    if (!(requests > 0 && this.filled < this.requests.at(-1))) return;
    this.filled += requests;
    this.lookUp();
  }

  flush() {
    this.filled = 0;
    this.lookUp();
  }

  lookUp() {
    const { requests, rates, filled } = this, place = requests.findIndex((one) => one > filled);
    if (place < 0) {
      this.rate = rates.at(-1);
      return;
    }
    const part = (filled - requests[place - 1]) / (requests[place] - requests[place - 1]);
    this.rate = rates[place - 1] + part * (rates[place] - rates[place - 1]);
  }
}

// For how many requests of their time the misses among some first attempts stand; of all of these, a part has `missed`.
export function fetched(stream, missed, amounts) {
  const misses = stream.routes.reduce((sum, route, i) => sum + (route.perHit < 0 ? amounts[i] : 0), 0);
  return missed > 0 ? misses / missed : 0;
}

// Requests that are sent again, by routes: their items may be in the cache by now.
export function sentAgain(stream, missed, rate, amounts) {
  const stay = missed > 0 ? Math.min(1, (1 - rate) / missed) : 1;
  if (stay === 1) return amounts;
  const gained = stream.routes.reduce((sum, one) => sum + Math.max(0, one.perHit), 0), again = amounts.slice();
  let moved = 0;
  stream.routes.forEach((route, i) => {
    if (route.perHit >= 0) return;
    moved += (1 - stay) * amounts[i];
    again[i] *= stay;
  });
  stream.routes.forEach((route, i) => { if (route.perHit > 0) again[i] += (moved * route.perHit) / gained; });
  return again;
}
