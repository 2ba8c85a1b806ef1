// The program in exact fractions, at one population: for the last doubt about which side of a
// limit a value lies on. What has no exact value is null, and so is what rests on it.

import { OPERATIONS } from "./operations.js";

export class ExactRun {
  // `values` maps the step of each number to a fraction [above, below].
  constructor(program, values, population) {
    this.program = program;
    this.known = new Map(values);
    this.known.set(0, [BigInt(population), 1n]);
  }

  // The value of a step as a fraction; null where it has no exact value or is not finite.
  number(output) {
    for (const i of this.program.needed([output]).all) if (!this.known.has(i)) this.known.set(i, this.value(i));
    const found = this.known.get(output);
    return found === null || found[1] === 0n ? null : found;
  }

  // The sign of a step: -1, 0 or 1, null as above.
  sign(output) {
    const found = this.number(output);
    return found === null ? null : found[0] > 0n ? 1 : found[0] < 0n ? -1 : 0;
  }

  value(i) {
    const [word, ...operands] = this.program.steps[i];
    if (word === "number") return operands.map(BigInt);
    return exactly(word, this.program.parts[i].map((part) => this.known.get(part)));
  }
}

// An operation on fractions; infinities are for what is `endless` alone.
export function exactly(word, parts) {
  const { exact, endless } = OPERATIONS[word];
  return exact && !parts.includes(null) && (endless || parts.every((part) => part[1])) ? exact(...parts) : null;
}
