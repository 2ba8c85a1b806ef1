// The Linearizer of closed networks of several classes: `engine/linearizer.py` tells how.

const TURNS = 3, MOST_STEPS = 1000, ENOUGH = 1e-13, POINTS = 240, FARTHEST = 20;

// Waits of classes over what they ask, and those of open visits, at each place.
export function linearized(erlangC, network) {
  const { customers, places } = network, waits = places.map((place) => waiting(erlangC, place));
  const none = () => places.map(() => customers.map(() => customers.map(() => 0)));
  let change = none(), found = null;
  for (let turn = 0; turn < TURNS; turn++) {
    found = core(network, customers, change, waits);
    if (turn < TURNS - 1) change = changed(network, change, waits, none(), found.shares);
  }
  return found;
}

function changed(network, before, waits, after, shares) {
  network.customers.forEach((count, k) => {
    if (count < 1) return;
    const less = core(network, network.customers.with(k, count - 1), before, waits).shares;
    less.forEach((own, i) => { after[i][k] = own.map((one, j) => one - shares[i][j]); });
  });
  return after;
}

function core({ think, places }, customers, change, waits) {
  const moved = change.map((one) => customers.map((_, k) => one[k].reduce((sum, by, j) => (customers[j] ? sum + (customers[j] - (j === k ? 1 : 0)) * by : sum), 0)));
  const foundOf = (shares) => shares.map((own) => own.reduce((sum, share, k) => sum + share * customers[k], 0));
  let shares = places.map(() => customers.map(() => 1 / (places.length + 1))), seen = [];
  for (let step = 0; step < MOST_STEPS; step++) {
    const before = shares, found = foundOf(before);
    const each = places.map(({ copies }, i) => customers.map((count, k) => waits[i](Math.max(found[i] - Math.min(count, 1) * before[i][k] + moved[i][k], 0) / copies)));
    const times = places.map(({ asked }, i) => asked.map((one, k) => one * (1 + each[i][k])));
    const cycles = think.map((pause, k) => times.reduce((sum, time) => sum + time[k], pause));
    shares = times.map((time) => time.map((one, k) => (cycles[k] ? one / cycles[k] : 0)));
    seen = each;
    if (shares.every((own, i) => own.every((share, k) => Math.abs(share - before[i][k]) <= ENOUGH))) break;
  }
  return { shares, waits: seen, openWaits: foundOf(shares).map((held, i) => waits[i](held / places[i].copies)) };
}

// The wait where so many closed customers are found at a copy: as where an open flow finds as many.
function waiting(erlangC, { servers, load }) {
  if (servers === 1) return (held) => (load + held) / (1 - load);
  const { found, waits } = foundAndWaits(erlangC, servers, load);
  return (held) => {
    const behind = found.findIndex((one) => one > held), at = Math.min(Math.max(behind < 0 ? POINTS : behind, 1), POINTS);
    return waits[at - 1] + (held - found[at - 1]) / (found[at] - found[at - 1]) * (waits[at] - waits[at - 1]);
  };
}

// What is waited where so many are found, point by point.
export function foundAndWaits(erlangC, servers, load) {
  const spare = servers - load, found = [], waits = [];
  for (let k = 0; k <= POINTS; k++) {
    const left = Math.exp(-FARTHEST * k / POINTS), flow = spare * (1 - left), wait = erlangC(servers, load + flow) / (spare * left);
    found.push(flow * (1 + wait));
    waits.push(wait);
  }
  return { found, waits };
}
