// A model of the page: its variants, and the program run with some numbers put in.

import { ExactRun } from "./exact_program.js";
import { isEqual, quotient } from "./numerics/fractions.js";
import { Boxes } from "./box_bounds.js";
import { Program } from "./program.js";
import { Curve } from "./numerics/search.js";

export class Model {
  constructor(data) {
    Object.assign(this, data);
    this.program = new Program(data.steps, data.laws);
  }

  record(number) { return this.records[number]; }

  // The variant of some picks, null where the page does not hold it.
  variant(shape, picks) {
    const fits = (own) => own.every((pick, i) => pick < 0 || pick === picks[i]);
    return this.variants.find((one) => one.shape === shape && fits(one.picks)) ?? null;
  }

  // The graphs of a setting: one, or one for each mode where none was asked for.
  graphs(setting) {
    const variant = this.variant(setting.shape, setting.picks);
    if (!variant) return null;
    const graphs = variant.graphs.map((number) => this.graph(number));
    const chosen = graphs.filter((graph) => graph.mode === setting.mode);
    return (chosen.length ? chosen : graphs).map((graph) => this.labeled(graph, setting.numbers));
  }

  // A graph with labels that hold for some numbers: where one is changed by whose value it is told
  // how others are known, those that hold whatever the numbers are. The first of these that has a changed one counts.
  labeled(graph, numbers) {
    const isChanged = (one) => numbers.has(one.name) && !isEqual(numbers.get(one.name), exactNumber(one));
    if (!graph.changed) return graph;
    const changed = new Set(graph.numbers.filter(isChanged).map((one) => one.name));
    return graph.changed.find((one) => one.numbers.some((name) => changed.has(name)))?.graph ?? graph;
  }

  // A record with those that it names: the steps of the way of a stream, and its route.
  resolved(number) {
    const found = this.record(number);
    if (typeof found.route === "number") {
      found.path = found.path.map((one) => this.record(one));
      found.route = this.record(found.route);
    }
    return found;
  }

  // A graph with its records put in the place of their numbers; made once.
  graph(number) {
    const graph = this.record(number);
    if (!graph.isResolved) {
      for (const part of ["numbers", "resources", "streams", "criteria", "measures", "elastic", "guards"]) {
        graph[part] = graph[part].map((one) => this.resolved(one));
      }
      graph.isResolved = true;
      graph.order = this.program.needed(outputsOf(graph));
      for (const one of graph.changed ?? []) one.graph = { ...graph, ...this.changedLabels(one), changed: null };
    }
    return graph;
  }

  changedLabels({ labeled }) {
    const entries = Object.entries(labeled);
    return Object.fromEntries(entries.map(([part, own]) => [part, Array.isArray(own) ? own.map((one) => this.resolved(one)) : own]));
  }

  // A setting as a start has it: what is picked, and the numbers that it sets.
  setting(index) {
    const start = this.starts[index];
    const numbers = new Map(start.numbers.map((i) => [this.record(i).name, exactNumber(this.record(i))]));
    return { start: index, shape: start.shape, picks: [...start.picks], numbers, mode: null };
  }

  // Tells of which numbers a setting has others than its start.
  changedIn({ start, numbers }) {
    const usual = this.setting(start).numbers;
    return (name) => numbers.has(name) && !(usual.has(name) && isEqual(numbers.get(name), usual.get(name)));
  }
}

export function exactNumber(record) { return record.value.map(BigInt); }

function outputsOf(graph) {
  const found = [];
  for (const one of graph.resources) found.push(one.load, one.over, one.target, one.count, ...[...one.parts, ...one.streams ?? []].map((part) => part[1]));
  for (const one of graph.resources) if (one.throughput !== null) found.push(one.throughput);
  for (const one of graph.streams) {
    found.push(one.latency, one.jitter, one.buffer, one.loss, one.rate, one.throughput);
    found.push(...one.path.map((step) => step.value));
  }
  for (const one of graph.criteria) {
    found.push(one.measure, one.limit, one.over);
    if (one.overShown !== undefined) found.push(one.overShown);
    if (one.axis !== null) found.push(one.axis);
  }
  for (const one of graph.measures) found.push(one.value);
  for (const one of graph.elastic) {
    found.push(one.value, one.least, one.most, ...[...one.atMost, ...one.atLeast].map((over) => over[1]));
  }
  for (const one of graph.costs) found.push(one.total);
  for (const [over] of graph.bounds) found.push(over);
  for (const one of graph.guards) found.push(one.value);
  if (graph.quality !== null) found.push(graph.quality);
  return found;
}

// The program at work: a graph with numbers put in. One run holds one graph at a time. What is asked of it was
// computed for these numbers and the population it is at: with all else, or when it is asked for.
export class Run {
  constructor(model) {
    this.model = model;
    this.program = model.program;
    this.x = new Float64Array(this.program.size);
    this.slopes = new Float64Array(this.program.size);
    this.boxes = new Boxes(this.program);
    this.rows = [];
  }

  // Put numbers in: those of the graph, and those in `numbers` that replace them, as fractions.
  prepare(graph, numbers) {
    this.graph = graph;
    this.population = null;
    this.numbers = new Map(graph.numbers.map((one) => [one.name, numbers.get(one.name) ?? exactNumber(one)]));
    this.exact = null;
    for (const [name, value] of this.numbers) {
      const step = this.program.stepOfValue.get(name);
      if (step !== undefined) this.x[step] = quotient(value[0], value[1]);
    }
    this.program.run(graph.order.fixed, this.x);
    this.boxes.fix(graph.order.fixed, this.x);
    return this;
  }

  // Values of all steps at one population; read them with `value`.
  at(population) {
    this.population = this.x[0] = population;
    this.program.run(this.graph.order.moving, this.x);
    return this;
  }

  // The value of a step at that population; what the graph need not have for its answers is run when it is asked for.
  value(step) {
    const { x, program, population } = this;
    if (program.moving[step] && population === null) return NaN;
    if (population !== null && x[0] !== population) this.at(population); // a curve was asked elsewhere
    if (!this.graph.order.holds[step]) program.run(this.ordered([step]).moving, x);
    return x[step];
  }

  // The order in which steps run; what of it no population moves has run.
  ordered(steps) {
    const order = this.program.needed(steps), { holds } = this.graph.order;
    if (!steps.every((step) => holds[step])) {
      this.program.run(order.fixed, this.x);
      this.boxes.fix(order.fixed, this.x);
    }
    return order;
  }

  // Rows of values of some steps at many populations.
  sweep(steps, populations) {
    const count = populations.length;
    const order = this.ordered(steps).moving;
    if (this.rowLength !== count) { this.rows = []; this.rowLength = count; }
    this.rows[0] = populations;
    this.program.runMany(order, this.x, this.rows, count);
    const isFixed = (i) => !this.program.moving[i];
    return steps.map((i) => (isFixed(i) ? new Float64Array(count).fill(this.x[i]) : this.rows[i].slice()));
  }

  curve(output, size) { return new Curve(this, output, size); }

  // The exact sign of a step at a population, and its exact value; null where there is none.
  exactSign(step, population) { return this.exactRun(population).sign(step); }
  exactValue(step, population) { return this.exactRun(population).number(step); }

  exactRun(population) {
    this.exact ??= [...this.numbers].flatMap(([name, value]) => {
      const at = this.program.stepOfValue.get(name);
      return at === undefined ? [] : [[at, value]];
    });
    return new ExactRun(this.program, this.exact, population);
  }
}
