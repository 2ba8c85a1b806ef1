// Quantiles of the time in a finite room, as `engine/queueing/finite_room_quantiles.py` has them.

import { logGamma } from "../numerics/gamma.js";
import { fallingRoot } from "../numerics/roots.js";

const NOTHING = 1e-17;

// By Erlang's formula, and the mean wait.
export function roomQuantile(inverseErlangB, roomWait) {
  return (servers, room, traffic, level) => {
    if (!(servers > 0 && room >= 0 && traffic >= 0 && level >= 0 && level < 1)) return NaN;
    if (servers === Infinity || room === Infinity || traffic === Infinity) return NaN;
    const goal = -Math.log1p(-level);
    if (level === 0 || room <= Math.max(1, servers) || traffic === 0) return goal;
    const later = laterBy(inverseErlangB, Math.max(1, servers), room, traffic);
    const excess = (time) => {
      const [whole, waiting] = later(time);
      return [whole + goal, whole > -Infinity ? Math.expm1(Math.min(0, waiting - whole)) : 0];
    };
    let high = Math.max(goal, roomWait(servers, room, traffic) + 1);
    while (excess(high)[0] > 0) high *= 2;
    return fallingRoot(excess, 0, high, high / 2);
  };
}

// The logarithms of P(T > t) and P(W > t) by the time t.
function laterBy(inverseErlangB, c, room, traffic) {
  const r = traffic / c;
  if (c === 1) { // a service is one more of those that are waited for
    const whole = Math.log(sum(Math.min(r, 1 / r), room)) - (r > 1 ? Math.log(r) : 0);
    return (time) => [waitingLog(time, room, r) - whole, waitingLog(time, room - 1, r) + Math.min(0, Math.log(r)) - whole];
  }
  const m = room - c, scale = r > 1 ? m * Math.log(r) : 0, idle = inverseErlangB(c, traffic) - 1;
  const those = r <= 1 ? sum(r, m) : sum(1 / r, m) / r, all = Math.log(those + idle * Math.exp(-scale));
  return (time) => {
    const waiting = waitingLog(c * time, m, r), parts = [Math.log(idle) - time - scale, waiting, ...servedLogs(time, c, m, r, scale)];
    const top = Math.max(...parts);
    return [top + Math.log(parts.reduce((found, part) => found + Math.exp(part - top), 0)) - all, waiting - all];
  };
}

// Of the sum of r^j P(X <= j), over r^m where r is above 1.
function waitingLog(x, m, r) {
  const last = Math.ceil(m) - 1;
  if (r <= 1) return (r - 1) * x + meanLog(r * x, 0, last, (i) => sum(r, m - i));
  return meanLog(x, 0, last, (i) => sum(1 / r, m - i)) - Math.log(r);
}

// Of both parts of what is served beyond t and has waited less.
function servedLogs(time, c, m, r, scale) {
  const g = c / (c - 1), y = (c - 1) * time, end = Math.ceil(m), h = r * g, before = Math.log(g) - scale;
  const rest = meanLog(y, end, Infinity, () => 1) - time;
  if (h <= 1) return [before + meanLog(y, 1, end - 1, (i) => sum(h, i)) - time, before + Math.log(sum(h, m)) + rest];
  const few = (r - 1) * c * time + meanLog(h * y, 1, end - 1, (i) => sum(1 / h, i)) - Math.log(h);
  return [before + few, before + m * Math.log(h) + Math.log(sum(1 / h, m)) - Math.log(h) + rest];
}

// The sum of z^j over j = 0..n - 1, for z up to 1.
function sum(z, n) { return z === 1 ? n : Math.expm1(n * Math.log(z)) / (z - 1); }

// Of the mean of a weight over Poisson's law, between two numbers.
function meanLog(mean, low, high, weight) {
  if (high < low || mean <= 0) return high < low || low > 0 ? -Infinity : Math.log(weight(0));
  const peak = Math.max(low, Math.min(high, Math.floor(mean)));
  let total = weight(peak);
  for (let at = peak + 1, part = 1; at <= high; at++) {
    part *= mean / at;
    const more = part * weight(at);
    total += more;
    if (more <= total * NOTHING) break;
  }
  for (let at = peak - 1, part = 1; at >= low; at--) {
    part *= (at + 1) / mean;
    const more = part * weight(at);
    total += more;
    if (more <= total * NOTHING) break;
  }
  return peak * Math.log(mean) - mean - logGamma(peak + 1) + Math.log(total);
}
