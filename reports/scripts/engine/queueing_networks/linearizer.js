// The Linearizer of closed networks of several classes: `engine/queueing_networks/linearizer.py` tells how.

const TURNS = 3, MAX_STEPS = 1000, ENOUGH = 1e-13, POINTS = 240, FARTHEST = 20;

// Waits of classes over what they ask, and those of open visits, at each place.
export function linearized(erlangC, { customers, think, places }) {
  const waits = places.map((place) => waitingAt(erlangC, place)), turning = new Linearizer(customers, think);
  const stays = places.map(({ demand }, i) => (found) => demand.map((one, k) => one * (1 + waits[i](found[k]))));
  let found = [];
  for (let turn = 0; turn < TURNS; turn++) {
    found = turning.fixedPoint(stays);
    if (turn < TURNS - 1) turning.turn(stays);
  }
  return { waits: found.map((each, i) => each.map(waits[i])), openWaits: turning.held.map((held, i) => waits[i](held)) };
}

// What is waited at a station, in mean service times, where so many are found.
export function waitingAt(erlangC, place) {
  const ofCopy = waiting(erlangC, place);
  return (held) => ofCopy(held / place.copies);
}

// Shares of classes at places, and how these change with one less. A stay tells how long cycles of classes are at a place where each
// finds so many.
export class Linearizer {
  constructor(customers, think) { Object.assign(this, { customers, think, shares: null, change: null, ofLess: null }); }

  get held() { return queueLengths(this.shares, this.customers); }

  // Settles shares; returns what each class finds at each place.
  fixedPoint(stays) {
    this.begin(stays);
    const { shares, found } = core(this.think, this.customers, this.change, stays, this.shares);
    this.shares = shares;
    return found;
  }

  begin(stays) {
    if (this.shares) return;
    this.shares = stays.map(() => this.customers.map(() => 1 / (stays.length + 1)));
    this.change = stays.map(() => this.customers.map(() => this.customers.map(() => 0)));
    this.ofLess = this.customers.map(() => null);
  }

  // All that shares change by, one after the other; that is set to others where there are such.
  changes(stays, others = null) {
    this.begin(stays);
    const count = this.customers.length;
    if (others) this.change = this.change.map((each, i) => each.map((own, k) => own.map((_, j) => others[(i * count + k) * count + j])));
    return this.change.flat(2);
  }

  // Sees how shares change with one less of a class; returns by how much that is another.
  turn(stays) {
    const { customers, shares } = this, before = this.change;
    const change = stays.map(() => customers.map(() => customers.map(() => 0)));
    customers.forEach((count, k) => {
      if (count < 1) return;
      const less = core(this.think, customers.with(k, count - 1), before, stays, this.ofLess[k] ?? shares).shares;
      this.ofLess[k] = less;
      less.forEach((own, i) => { change[i][k] = own.map((one, j) => one - shares[i][j]); });
    });
    this.change = change;
    return Math.max(0, ...change.flatMap((each, i) => each.flatMap((own, k) => own.map((one, j) => Math.abs(one - before[i][k][j])))));
  }
}

function queueLengths(shares, customers) { return shares.map((own) => own.reduce((sum, share, k) => sum + share * customers[k], 0)); }

function core(think, customers, change, stays, start) {
  const moved = change.map((one) => customers.map((_, k) => one[k].reduce((sum, by, j) => (customers[j] ? sum + (customers[j] - (j === k ? 1 : 0)) * by : sum), 0)));
  let shares = start, found = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    const before = shares, held = queueLengths(before, customers);
    const there = before.map((own, i) => own.map((share, k) => Math.max(held[i] - Math.min(customers[k], 1) * share + moved[i][k], 0)));
    const times = stays.map((stay, i) => stay(there[i]));
    const cycles = think.map((pause, k) => times.reduce((sum, time) => sum + time[k], pause));
    shares = times.map((time) => time.map((one, k) => (cycles[k] ? one / cycles[k] : 0)));
    found = there;
    if (shares.every((own, i) => own.every((share, k) => Math.abs(share - before[i][k]) <= ENOUGH))) break;
  }
  return { shares, found };
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
