// Short ways to a program, and to a run of it.

import { Model, Run } from "../../reports/scripts/engine/model.js";

// A run of steps, and its last step: parts of steps are numbers of earlier ones.
export function runOf(steps, { laws = {}, values = [] } = {}) {
  const model = new Model({ steps: [["n"], ...steps], laws, records: [], variants: [], starts: [], population: "N" });
  const output = steps.length;
  const numbers = values.map(([name, above, below]) => ({ name, value: [above, below] }));
  return { output, run: new Run(model).prepare({ numbers, order: model.program.needed([output]) }, new Map()) };
}

// A program by words: ["+", a, b] of programs, numbers, and "N".
export function stepsOf(formula) {
  const steps = [];
  const step = (part) => {
    if (part === "N") return 0;
    if (typeof part === "number") return steps.push(Number.isInteger(part) ? ["number", part, 1] : ["float", part]);
    const [word, ...parts] = part, numbers = parts.map(step);
    return steps.push([word, ...numbers]);
  };
  step(formula);
  return steps;
}
