// The program in exact fractions, at one population: for the last doubt about which side of a
// limit a value lies on. Roots and exponentials have no exact value; what rests on them is null.

class ExactRun {
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

function reduced(above, below) {
  if (below < 0n) { above = -above; below = -below; }
  let a = above < 0n ? -above : above, b = below;
  while (b) [a, b] = [b, a % b];
  return a > 1n ? [above / a, below / a] : [above, below];
}

function powerOf([above, below], exponent) {
  const size = BigInt(Math.abs(exponent));
  if (exponent >= 0) return [above ** size, below ** size];
  return above === 0n ? null : reduced(below ** size, above ** size);
}

// Exact for 2, 4, 8 … cores only: other powers are no fractions.
function effectiveOf(cores, efficiency) {
  const [count, below] = cores;
  if (below !== 1n || count <= 0n || count & (count - 1n)) return null;
  const kept = powerOf(efficiency, count.toString(2).length - 1);
  return reduced(count * kept[0], kept[1]);
}

function floorOf([above, below]) {
  const whole = above / below;
  return above % below !== 0n && above < 0n ? whole - 1n : whole;
}

// A below of 0 stands for infinity, which `ratio` gives.
function extremeOf(p, q, isMaximum) {
  if (p === null || q === null) return null;
  const isGreater = p[1] === 0n ? q[1] !== 0n : q[1] === 0n ? false : p[0] * q[1] > q[0] * p[1];
  return isGreater === isMaximum ? p : q;
}

// A decimal number as a fraction: "1.5e3" is 1500/1. Null for anything else.
function exactOf(text) {
  const found = /^\s*([+-]?)(\d[\d_,]*)?(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (!found || (found[2] === undefined && found[3] === undefined)) return null;
  const digits = (found[2] ?? "").replace(/[_,]/g, "") + (found[3] ?? "");
  const shift = Number(found[4] ?? 0) - (found[3] ?? "").length;
  const whole = BigInt(found[1] + (digits || "0"));
  return shift >= 0 ? [whole * 10n ** BigInt(shift), 1n] : reduced(whole, 10n ** BigInt(-shift));
}
