// The program in exact fractions, at one population: for the last doubt about which side of a
// limit a value lies on. Roots and exponentials have no exact value; what rests on them is null.

import { floorOf, powerOf, reduced } from "./fractions.js";
import { OP, PARTS } from "./program.js";

export class ExactRun {
  // `values` maps the step of each number to a fraction [above, below].
  constructor(program, values, population) {
    this.program = program;
    this.known = new Map(values);
    this.known.set(0, [BigInt(population), 1n]);
  }

  // The value of a step as a fraction; null where it has no exact value or is not finite.
  number(output) {
    for (const i of this.order(output)) if (!this.known.has(i)) this.known.set(i, this.value(i));
    const found = this.known.get(output);
    return found === null || found[1] === 0n ? null : found;
  }

  // The sign of a step: -1, 0 or 1, null as above.
  sign(output) {
    const found = this.number(output);
    return found === null ? null : found[0] > 0n ? 1 : found[0] < 0n ? -1 : 0;
  }

  order(output) {
    const { fixed, moving } = this.program.needed([output]);
    return [...fixed, ...moving].sort((one, other) => one - other);
  }

  value(i) {
    const { program } = this;
    const code = program.code[i];
    if (code === OP.number) return program.steps[i].slice(1).map(BigInt);
    if (code < OP["+"]) return null;
    const p = this.known.get(program.a[i]);
    const q = PARTS[code] > 1 ? this.known.get(program.b[i]) : p;
    if (code === OP.max || code === OP.min) return extremeOf(p, q, code === OP.max);
    if (p === null || q === null || p[1] === 0n || q[1] === 0n) return null;
    switch (code) {
      case OP["+"]: return reduced(p[0] * q[1] + q[0] * p[1], p[1] * q[1]);
      case OP["-"]: return reduced(p[0] * q[1] - q[0] * p[1], p[1] * q[1]);
      case OP["*"]: return reduced(p[0] * q[0], p[1] * q[1]);
      case OP["/"]: return q[0] === 0n ? null : reduced(p[0] * q[1], p[1] * q[0]);
      case OP.ratio: return q[0] === 0n ? [1n, 0n] : reduced(p[0] * q[1], p[1] * q[0]);
      case OP.mean: return q[0] === 0n ? [0n, 1n] : reduced(p[0] * q[1], p[1] * q[0]);
      case OP.waiting: return q[0] >= q[1] ? [1n, 0n] : reduced(p[0] * q[1], p[1] * (q[1] - q[0]));
      case OP.effective: return effectiveOf(p, q);
      case OP["^"]: return powerOf(p, program.b[i]);
      case OP.abs: return [p[0] < 0n ? -p[0] : p[0], p[1]];
      case OP.floor: return [floorOf(p), 1n];
      case OP.ceil: return [-floorOf([-p[0], p[1]]), 1n];
      default: return null;
    }
  }
}

// Exact for 2, 4, 8 … cores only: other powers are no fractions.
function effectiveOf(cores, efficiency) {
  const [count, below] = cores;
  if (below !== 1n || count <= 0n || count & (count - 1n)) return null;
  const kept = powerOf(efficiency, count.toString(2).length - 1);
  return reduced(count * kept[0], kept[1]);
}

// A below of 0 stands for infinity, which `ratio` gives.
function extremeOf(p, q, isMaximum) {
  if (p === null || q === null) return null;
  const isGreater = p[1] === 0n ? q[1] !== 0n : q[1] === 0n ? false : p[0] * q[1] > q[0] * p[1];
  return isGreater === isMaximum ? p : q;
}
