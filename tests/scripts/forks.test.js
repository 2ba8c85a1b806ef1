// Forks in series and within each other, on pages: what closed forms have (`tests/queueing/test_fork_laws.py`).

import assert from "node:assert/strict";
import { test } from "node:test";

import { forkMean, forkQuantile, forkTail } from "../../reports/scripts/engine/queueing/forks.js";
import { orderQuantile } from "../../reports/scripts/engine/queueing/orders.js";

const service = (mean, variation = 1) => [0, 0, 0, 1, 1, mean, variation, 1, 0];
const within = (times, fixed, ...inside) => [0, 0, 0, 1, 1, fixed, 0, times, inside.flat().length / 9, ...inside.flat()];
const fork = (...branches) => [0, 0, 0, 1, -1, 0, 0, 1, branches.flat().length / 9, ...branches.flat()];
const near = (found, expected, part = 1e-8) => assert.ok(Math.abs(found - expected) <= part * Math.abs(expected), `${found}, not ${expected}`);

test("the sum of two forks", () => {
  const two = fork(service(1), service(1));
  near(forkMean(...two, ...two, ...service(2)), 5);
  for (const time of [0.1, 1, 5, 20]) near(forkTail(time, ...two, ...two), 4 * Math.exp(-time) * (time - 1) + Math.exp(-2 * time) * (2 * time + 5));
});

test("a fork within a fork is the longest of all", () => {
  const stages = fork(within(1, 0, fork(service(1), service(1))), service(1));
  for (const time of [0.2, 1, 7]) near(forkTail(time, ...stages), 1 - (1 - Math.exp(-time)) ** 3);
  near(forkMean(...stages), 1 + 1 / 2 + 1 / 3);
});

test("a step and a fork within a branch", () => {
  const stages = fork(within(1, 0, service(1), service(1)), within(0.5, 2, service(3)));
  for (const time of [0.5, 2.5, 9]) {
    const other = time < 2 ? 0.5 : 1 - 0.5 * Math.exp(-(time - 2) / 3);
    near(forkTail(time, ...stages), 1 - other * (1 - Math.exp(-time) * (1 + time)), 1e-7);
  }
});

test("laws that are no exponential phases are found on grids", () => {
  const almost = 0.999_999, stages = fork(within(1, 0, fork(service(1, almost), service(1, almost)), service(2, almost)), service(5, almost));
  const same = fork(within(1, 0, fork(service(1), service(1)), service(2)), service(5));
  for (const level of [0.1, 0.5, 0.99]) near(forkQuantile(level, ...stages), forkQuantile(level, ...same), 5e-5);
  near(forkMean(...stages), forkMean(...same), 5e-5);
});

test("hundreds of branches, and forks three deep in series, are near those in phases", () => {
  const many = fork(...Array.from({ length: 300 }, (_, k) => service(1 + k / 300, 0.999_999)));
  for (const level of [0.5, 0.99]) {
    const time = forkQuantile(level, ...many), product = Array.from({ length: 300 }, (_, k) => 1 - Math.exp(-time / (1 + k / 300))).reduce((found, one) => found * one, 1);
    near(product, level, 2e-3);
  }
  const three = (variation) => fork(within(1, 0, fork(within(1, 0, service(1, variation), fork(service(1, variation), service(2, variation))), service(3, variation))), service(4, variation));
  for (const time of [2, 9, 30]) near(forkTail(time, ...three(0.999_999), ...three(0.999_999)), forkTail(time, ...three(1), ...three(1)), 5e-4);
});

test("the first of equal calls of exponential times are sums of exponential times", () => {
  for (const [answers, calls] of [[1, 1], [4, 4], [2, 5], [9, 11]]) {
    const rates = [1.7, ...Array.from({ length: answers }, (_, k) => 0.5 * (calls - k))];
    for (const level of [0.01, 0.5, 0.99, 0.9999]) {
      const time = orderQuantile(level, answers, calls - answers, 1, ...service(2), ...service(1 / 1.7));
      near(rates.reduce((sum, one) => sum + rates.reduce((found, rate) => (rate === one ? found : (found * rate) / (rate - one)), Math.exp(-one * time)), 0), 1 - level, 1e-6);
    }
    const first = [0, 0, 0, answers, -2, 0, calls - answers, 1, 1, ...service(2)];
    near(forkMean(...first, ...service(1 / 1.7)), rates.reduce((sum, rate) => sum + 1 / rate, 0), 1e-12);
  }
});
