// What a step can be while the population is anywhere in a box [low, high], and how fast it can
// rise there. So a question about every population is settled without trying each of them.

import { monotone, NOTHING, times } from "./numerics/bounds.js";
import { OPERATIONS } from "./operations.js";

export class Boxes {
  constructor(program) {
    this.program = program;
    for (const part of ["low", "high", "slow", "steep"]) this[part] = new Float64Array(program.size);
    this.bounds = program.bounds ??= program.steps.map(([word, ...parts]) => {
      const law = program.laws[word], row = OPERATIONS[word];
      return law ? monotone(program.valueOf(word), parts, law) : row?.bounds;
    });
  }

  // Take over the values of steps that do not depend on the population.
  fix(order, x) {
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      this.low[i] = this.high[i] = x[i];
      this.slow[i] = this.steep[i] = 0;
    }
  }

  // Bounds of the moving steps in `order` over a box, and of their derivatives. Where roundings are
  // `relaxed`, of all curves that have any part of one in their place.
  run(order, from, to, relaxed = false) {
    this.relaxed = relaxed;
    const { low, high, slow, steep, bounds, program: { a, b } } = this;
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      if (i === 0) {
        low[0] = from; high[0] = to; slow[0] = steep[0] = 1;
        continue;
      }
      bounds[i](this, i, a[i], b[i]);
      if (!(low[i] <= high[i])) { low[i] = -Infinity; high[i] = Infinity; }
      if (!(slow[i] <= steep[i])) { slow[i] = -Infinity; steep[i] = Infinity; }
    }
  }

  keep(i, found) { this.low[i] = found[0]; this.high[i] = found[1]; }
  slope(i, found) { this.slow[i] = found[0]; this.steep[i] = found[1]; }

  // A function of one step has a slope between two.
  by(i, p, rates) { this.slope(i, times(this.slow[p], this.steep[p], rates[0], rates[1])); }

  leaveOpen(i) { this.keep(i, NOTHING); this.slope(i, NOTHING); }
}
