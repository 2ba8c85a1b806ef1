// Where a value first fails, and where it first reaches zero: as trying each population would tell.

import assert from "node:assert/strict";
import { test } from "node:test";

import { crossing, firstCrossing, firstFailure, Undecided } from "../../reports/scripts/engine/numerics/search.js";
import { runOf, stepsOf } from "./programs.js";

function curveOf(formula, options) {
  const { run, output } = runOf(stepsOf(formula), options);
  return run.curve(output, run.program.parts[output]);
}

const isAbove = (curve) => (n) => (Math.abs(curve.at(n)) <= curve.doubt() ? curve.run.exactSign(curve.output, n) > 0 : curve.at(n) > 0);

// Formulas of all shapes, from a seed: always the same.
function* formulas(count) {
  let seed = 12345;
  const chance = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  const part = (depth) => {
    if (depth === 0) return chance(3) ? "N" : chance(40) - 15;
    const word = ["+", "-", "*", "max", "min", "/", "ceil", "floor", "abs", "sqrt", "^", "waiting"][chance(12)];
    if (word === "^") return [word, part(depth - 1), chance(3) + 1];
    if (word === "sqrt") return [word, ["abs", part(depth - 1)]];
    if (word === "waiting") return [word, ["abs", part(depth - 1)], ["/", "N", chance(60) + 20]];
    if (word === "/") return [word, part(depth - 1), ["+", "N", chance(9)]];
    return ["ceil", "floor", "abs"].includes(word) ? [word, ["/", part(depth - 1), chance(7) + 2]] : [word, part(depth - 1), part(depth - 1)];
  };
  for (let k = 0; k < count; k++) yield ["-", part(1 + (k % 4)), chance(300)];
}

test("the first failure is the one that trying every population finds", () => {
  let found = 0;
  for (const formula of formulas(400)) {
    const curve = curveOf(formula), fails = isAbove(curve);
    let least = null;
    for (let n = 1; n <= 120 && least === null; n++) if (fails(n)) least = n;
    try {
      assert.equal(firstFailure(curve, 1, 120, fails), least, JSON.stringify(formula));
      if (least > 1) found++;
    } catch (error) {
      if (!(error instanceof Undecided)) throw error; // it says so
    }
  }
  assert.ok(found > 40, `${found} fail behind the first`);
});

test("a short failure in a wide range is found", () => {
  const curve = curveOf(["-", 10, ["^", ["-", "N", 700001], 2]]);
  assert.equal(firstFailure(curve, 1, 1e9, isAbove(curve)), 700001 - 3);
});

test("a limit that is just met is met", () => {
  const curve = curveOf(["-", ["*", ["/", 7, 100], "N"], 7]); // 0.07 times 100
  assert.equal(firstFailure(curve, 1, 1000, isAbove(curve)), 101);
});

test("a crossing lies where the value reaches zero, between whole numbers too", () => {
  const at = firstCrossing(curveOf(["-", ["/", ["^", "N", 2], 1000], 1]), 1, false);
  assert.ok(Math.abs(at - Math.sqrt(1000)) < 1e-9);
  assert.equal(firstCrossing(curveOf(["-", ["/", "N", 1000], 1]), 1, false), 1000);
  assert.equal(firstCrossing(curveOf(["-", ["/", 1, "N"], 2]), 1, false), null);
});

test("what only comes near its limit never crosses it; what is filled must pass it", () => {
  assert.equal(firstCrossing(curveOf(["-", ["-", 1, ["/", 1, "N"]], 1]), 1, false), null);
  const filled = ["-", ["min", ["/", "N", 10], 1], 1];
  assert.equal(firstCrossing(curveOf(filled), 1, false), 10);
  assert.equal(firstCrossing(curveOf(filled), 1, true), null);
});

test("a quantile crosses its limit at any size of the range", () => {
  const laws = { md1_quantile: { grows: [1, 1], whole: [] } };
  const size = 3e8, curve = curveOf(["-", ["md1_quantile", ["/", "N", size], 0.99], 20], { laws });
  const at = firstFailure(curve, 1, 1e9, isAbove(curve));
  assert.ok(at > 0.85 * size && at < 0.9 * size);
  assert.ok(curve.at(at) > 0 && curve.at(at - 1) <= 0);
});

test("between a population that fails and the one before, the crossing is to all digits", () => {
  const curve = curveOf(["-", ["^", "N", 3], 1000.5]);
  assert.ok(Math.abs(crossing(curve, 10, 11) - Math.cbrt(1000.5)) < 1e-13);
});
