// Rows of servers that many share, and of periodic flows, by Erlang's formulas.

import { erlangC, harmonicNumber, inverseErlangB, periodicWait } from "../numerics/erlang.js";
import { HALF, INFINITE, inverse, isLess, isWhole, less, ONE, plus, product, ZERO } from "../numerics/fractions.js";

const MAX_SERVERS = 64n, MAX_COUNTED = 1000n;

export const harmonic = {
  value: harmonicNumber,
  exact: (p) => {
    if (!isWhole(p) || p[0] < 0n || p[0] > MAX_COUNTED) return null;
    let sum = ZERO;
    for (let k = 1n; k <= p[0]; k++) sum = plus(sum, [1n, k]);
    return sum;
  },
};

export const erlang_b = {
  value: (servers, traffic) => 1 / inverseErlangB(servers, traffic),
  exact: (servers, traffic) => {
    const found = inverseB(servers, traffic);
    return found && inverse(found);
  },
};

export const erlang_c = {
  value: erlangC,
  exact: (servers, traffic) => {
    if (servers[0] <= 0n || traffic[0] < 0n) return null;
    if (!isLess(traffic, servers)) return ONE;
    const found = inverseB(servers, traffic);
    return found && (found[1] ? inverse(less(found, product(product(traffic, inverse(servers)), less(found, ONE)))) : ZERO);
  },
};

export const periodic_wait = {
  value: periodicWait,
  exact: (flows, load) => {
    if (load[0] < 0n) return null;
    if (!isLess(load, ONE)) return INFINITE;
    if (!isLess(ONE, flows) || load[0] === 0n) return ZERO;
    const found = inverseB(less(flows, ONE), product(flows, inverse(load)));
    return found && product(less(found, ONE), HALF);
  },
};

// 1/B of Erlang's formula, for up to 64 servers.
function inverseB(servers, traffic) {
  if (servers[0] < 0n || traffic[0] < 0n) return null;
  if (traffic[0] === 0n) return servers[0] ? INFINITE : ONE;
  if (!isWhole(servers) || servers[0] > MAX_SERVERS) return null;
  let total = ONE;
  for (let k = 1n; k <= servers[0]; k++) total = plus(ONE, product(total, [k * traffic[1], traffic[0]]));
  return total;
}
