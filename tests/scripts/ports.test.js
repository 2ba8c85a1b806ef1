// Ports of a switch are one line of a table, unless one of them matters.

import assert from "node:assert/strict";
import { test } from "node:test";

import { withPortsTogether } from "../../reports/scripts/live/panels/sections.js";

const loads = { 0: 0.2, 1: 0.5, 2: 1.2, 9: 1 };
const run = { value: (step) => loads[step] };
const resource = (name, portOf, load = 0) => ({ name, notBelow: null, about: { name, portOf, load, target: 9 } });
const called = (found, solved = {}) => withPortsTogether({ run, solved: { first: null, limiting: null, ...solved } }, found).map(([, name]) => name);

const four = ["a.out", "a.in", "b.out", "b.in"].map((end) => resource(`lan.${end}`, "lan"));
const six = [...four, resource("lan.c.in", "lan"), resource("lan.c.out", "lan")];
const cpu = resource("web.cpu", null);

test("a switch of two nodes has a line for each port", () => {
  assert.deepEqual(called([cpu, ...four]), ["web.cpu", "lan.a.out", "lan.a.in", "lan.b.out", "lan.b.in"]);
});

test("more ports are one line, the first of them named", () => {
  assert.deepEqual(called([cpu, ...six]), ["web.cpu", "lan.a.out, busiest of 6 ports"]);
});

test("ports that saturate first, limit or are too full are listed separately", () => {
  const full = resource("lan.d.in", "lan", 2);
  assert.deepEqual(called([...six, full], { first: six[1], resources: six, limiting: { criterion: { resource: six.findIndex((one) => one.name === "lan.b.out") } } }),
    ["lan.a.out, busiest of 4 other ports", "lan.a.in", "lan.b.out", "lan.d.in"]);
});
