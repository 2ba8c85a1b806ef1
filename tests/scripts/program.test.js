// Programs: values one by one and many at once, slopes backwards, exact values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Program } from "../../reports/scripts/engine/program.js";
import { runOf, stepsOf } from "./programs.js";

// max(N^2/(N + 3), sqrt(N)) - 2 N
const FORMULA = ["-", ["max", ["/", ["^", "N", 2], ["+", "N", 3]], ["sqrt", "N"]], ["*", 2, "N"]];
const plain = (n) => Math.max((n * n) / (n + 3), Math.sqrt(n)) - 2 * n;

test("a run has the value of every population, alone and among many", () => {
  const { run, output } = runOf(stepsOf(FORMULA));
  const populations = Float64Array.from([1, 2, 3, 10, 1e6]);
  for (const n of populations) assert.equal(run.at(n).value(output), plain(n));
  assert.deepEqual([...run.sweep([output], populations)[0]], [...populations].map(plain));
});

test("what does not move has one value everywhere", () => {
  const { run, output } = runOf([["value", "a"], ["number", 3, 4], ["*", 1, 2]], { values: [["a", "2", "3"]] });
  assert.equal(run.value(output), 0.5);
  assert.deepEqual([...run.sweep([output], Float64Array.from([1, 2]))[0]], [0.5, 0.5]);
  assert.deepEqual(run.exactValue(output, 1), [1n, 2n]);
});

test("slopes are those of differences, for all steps in one pass", () => {
  const { run, output } = runOf(stepsOf(FORMULA)), { program } = run, slopes = new Float64Array(program.size);
  for (const n of [2, 7, 40]) {
    run.at(n);
    program.differentiate(program.needed([output]).all, output, run.x, slopes);
    const step = 1e-5 * n;
    assert.ok(Math.abs(slopes[0] - (plain(n + step) - plain(n - step)) / (2 * step)) < 1e-8);
  }
});

test("numbers of any size are exact", () => {
  const { run, output } = runOf([["number", "1180591620717411303425", 3], ["number", "1180591620717411303424", 3], ["-", 1, 2]]);
  assert.deepEqual(run.exactValue(output, 1), [1n, 3n]);
  assert.equal(run.exactSign(output, 1), 1);
});

test("what is no fraction, or not finite, has no exact value", () => {
  for (const formula of [["sqrt", "N"], ["exp", "N"], ["ratio", "N", 0], ["/", "N", 0], ["^", "N", 1e7]]) {
    const { run, output } = runOf(stepsOf(formula));
    assert.equal(run.exactSign(output, 2), null, formula.join());
  }
  const { run, output } = runOf(stepsOf(["min", ["ratio", "N", 0], ["sqrt", "N"]]));
  assert.deepEqual(run.exactValue(output, 9), [3n, 1n]);
});

test("a step that no one knows is refused", () => {
  for (const word of ["twice", "constructor", "__proto__"]) assert.throws(() => new Program([["n"], [word, 0]]), /unknown step/);
});
