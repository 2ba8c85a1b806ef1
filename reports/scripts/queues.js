// Numbers of queues, as compiler/queue_numbers.py has them, where the formulas stand with their sources.

// What waits over what is left of a capacity; without end where nothing is left.
function waiting(work, load) {
  if (Number.isNaN(work) || Number.isNaN(load)) return NaN;
  return load >= 1 ? Infinity : work / (1 - load);
}

// 1/B of Erlang's formula, by its sum; between whole servers by the incomplete gamma function.
function inverseErlangB(servers, traffic) {
  if (!(servers >= 0) || !(traffic >= 0)) return NaN;
  if (traffic === 0) return servers > 0 ? Infinity : 1;
  const count = Math.floor(servers);
  let total = 0, term = 1;
  for (let k = 0; k < count; k++) {
    total += term;
    term *= (servers - k) / traffic;
    if (term < total * 1e-18 && servers - k < traffic) return total;
  }
  return total + term * betweenServers(servers - count, traffic);
}

// 1/B for a part of a server: Gamma(part + 1, traffic) exp(traffic) / traffic^part.
function betweenServers(part, traffic) {
  if (part === 0) return 1;
  return traffic < 2 ? bySeries(part, traffic) : byFraction(part, traffic);
}

// Gamma less the lower incomplete gamma function, by the series of that (DLMF 8.7.1).
function bySeries(part, traffic) {
  let term = traffic / (part + 1), below = term;
  for (let k = 2; term > below * 1e-18; k++) below += term *= traffic / (part + k);
  return gamma(part + 1) * Math.exp(traffic) / Math.pow(traffic, part) - below;
}

// The continued fraction of the upper incomplete gamma function (DLMF 8.9.2), by Lentz's method.
function byFraction(part, traffic) {
  let b = traffic - part, c = Infinity, d = 1 / b, found = d;
  for (let k = 1; k < 1000; k++) {
    const a = -k * (k - 1 - part);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    found *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return traffic * found;
}

// Gamma from 1 to 2, by the series of its reciprocal (Abramowitz and Stegun 6.1.34).
const RECIPROCAL_GAMMA = [
  1, 0.5772156649015329, -0.6558780715202538, -0.0420026350340952, 0.1665386113822915,
  -0.0421977345555443, -0.0096219715278770, 0.0072189432466630, -0.0011651675918591,
  -0.0002152416741149, 0.0001280502823882, -0.0000201348547807, -0.0000012504934821,
  0.0000011330272320, -0.0000002056338417, 0.0000000061160950, 0.0000000050020075,
  -0.0000000011812746, 0.0000000001043427, 0.0000000000077823, -0.0000000000036968,
  0.0000000000005100, -0.0000000000000206, -0.0000000000000054, 0.0000000000000014,
];

function gamma(x) {
  const part = x - 1; // Gamma(1 + part) = part Gamma(part), and 1/Gamma(part) is the series
  return 1 / RECIPROCAL_GAMMA.reduceRight((sum, one) => sum * part + one, 0);
}

function erlangC(servers, traffic) {
  if (servers <= 0 || traffic < 0) return NaN;
  if (traffic >= servers) return 1;
  const inverse = inverseErlangB(servers, traffic);
  return inverse === Infinity ? 0 : 1 / (inverse - (traffic / servers) * (inverse - 1));
}

// The mean wait of N D/D/1 in service times: what an arrival finds of N - 1 periodic flows.
function periodicWait(flows, load) {
  if (!(load >= 0)) return NaN;
  if (load >= 1) return Infinity;
  if (flows <= 1 || load === 0) return 0;
  return (inverseErlangB(flows - 1, flows / load) - 1) / 2;
}
