// Erlang's formulas, between whole numbers of servers, too; their sources stand in `engine/queueing/queue_numbers.py`.

import { gammaParts, peakPart } from "./gamma.js";

const FEW_SERVERS = 24;

// 1/B of Erlang's formula: few servers by its sum, many by the incomplete gamma function.
export function inverseErlangB(servers, traffic) {
  if (!(servers >= 0) || !(traffic >= 0)) return NaN;
  if (traffic === 0 || servers === Infinity) return servers > 0 ? (traffic === Infinity ? NaN : Infinity) : 1;
  if (traffic === Infinity) return 1;
  if (servers > FEW_SERVERS) return traffic * peakPart(servers + 1, traffic, 1);
  const whole = Math.floor(servers), part = servers - whole;
  let total = 0, term = 1;
  for (let k = 0; k < whole; k++) {
    total += term;
    term *= (servers - k) / traffic;
    if (term === Infinity) return term;
  }
  return total + term * (part ? traffic * gammaParts(part + 1, traffic)[0] : 1);
}

export function erlangC(servers, traffic) {
  if (!(servers > 0) || !(traffic >= 0)) return NaN;
  if (traffic >= servers) return 1;
  if (servers === Infinity) return 0;
  return 1 / (inverseErlangB(servers, traffic) * ((servers - traffic) / servers) + traffic / servers);
}

// What an arrival finds of N - 1 periodic flows.
export function periodicWait(flows, load) {
  if (!(load >= 0) || Number.isNaN(flows)) return NaN;
  if (load >= 1) return Infinity;
  if (flows <= 1 || load === 0) return 0;
  const traffic = flows / load;
  // 1/B(c) - 1 is (c/a)/B(c - 1), below no server too: no digit is lost
  return flows >= 2 ? ((flows - 1) / traffic) * inverseErlangB(flows - 2, traffic) / 2 : (flows - 1) * gammaParts(flows - 1, traffic)[0] / 2;
}

// 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function (Abramowitz and Stegun 6.3.18).
export function harmonicNumber(count) {
  if (!(count > -1)) return NaN;
  let x = count + 1, below = 0;
  for (; x < 12; x++) below += 1 / x;
  const y = 1 / (x * x);
  const series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - (y * 691) / 32760)))));
  return Math.log(x) - 0.5 / x - series - below + 0.5772156649015329;
}
