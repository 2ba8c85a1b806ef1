// The course of a day or a week for the setting of the page: the load at each of its times, and the work that piles up.

import { Run } from "../../engine/model.js";

const MINUTE = 60; // s
const ROUNDING = 1e-9, NEAR = 1e-6;
const CYCLES = 3; // of so many, the last is as all later ones

export class CycleCourse {
  // `data`: the profiles, the times with the values of these, and what qps solved for them at a population.
  constructor(app, data) {
    Object.assign(this, { app, data, run: new Run(app.columns[0].model) });
    const { solved } = data, own = this.courseOf(app.columns[0], solved.at);
    this.isKnown = own !== null && solved.utilizations.every((one, i) => Math.abs(own.highest[i] - one) <= NEAR * Math.max(1, one));
  }

  // The course for what the page shows; null where its model has none.
  get shown() {
    const { shown } = this.app, key = `${shown.n} ${shown.graph.mode} ${[...shown.good.numbers].join(" ")} ${shown.good.picks} ${shown.good.start}`;
    if (this.key !== key) [this.key, this.course] = [key, this.courseOf(shown, shown.n)];
    return this.course;
  }

  courseOf(column, at) {
    const { names, moments } = this.data, setting = column.good;
    if (column.model !== this.run.model) return null;
    // Streams without traffic are in the graph of another time: the one with most profiles has all.
    const holds = (graph) => graph.numbers.filter((one) => names.includes(one.name)).length;
    const [graph] = (column.model.graphs(setting) ?? []).toSorted((a, b) => holds(b) - holds(a));
    if (!graph) return null;
    const isChanged = column.model.changedIn(setting), states = new Map();
    const stateOf = (values) => {
      const key = values.join(" ");
      if (!states.has(key)) states.set(key, this.stateOf(graph, setting, values.map((one, i) => (isChanged(names[i]) ? null : one)), at));
      return states.get(key);
    };
    const found = moments.map(([start, end, values]) => ({ start, end, ...stateOf(values) }));
    const backlogs = graph.resources.map((one, i) => ({ name: one.name, points: backlogOf(found, i) })).filter((one) => one.points);
    return { highest: found.map((one) => one.highest), moments: found, backlogs, at, population: column.model.population };
  }

  // The loads at one time, and that of the resource that is nearest to its target.
  stateOf(graph, setting, values, at) {
    const numbers = new Map(setting.numbers);
    values.forEach((value, i) => { if (value) numbers.set(this.data.names[i], value.map(BigInt)); });
    const run = this.run.prepare(graph, numbers).at(at);
    const loads = graph.resources.map((one) => run.value(one.load)), counts = graph.resources.map((one) => run.value(one.count));
    let nearest = -1, most = -Infinity;
    graph.resources.forEach((one, i) => {
      const used = loads[i] / run.value(one.target);
      if (used > most) [nearest, most] = [i, used];
    });
    return { loads, counts, highest: nearest < 0 ? 0 : loads[nearest] };
  }

  // What the figure of a kind draws now.
  figure(kind, figure) {
    const course = this.shown;
    if (course === null) return null;
    return kind === "load" ? this.loadFigure(course, figure) : this.backlogFigure(course, figure);
  }

  loadFigure({ moments }, figure) {
    const cycle = figure.x.cycle, at = [], loads = [];
    for (const { start, end, highest } of moments) {
      for (const minute of new Set([start, end === cycle ? end : end - 1])) {
        at.push(MINUTE * minute);
        loads.push(highest);
      }
    }
    const [load, capacity] = figure.lines;
    return { ...figure, x: { ...figure.x, values: at }, lines: [{ ...load, values: loads }, { ...capacity, values: at.map(() => 1) }] };
  }

  backlogFigure({ backlogs }, { x, y, title }) {
    if (!backlogs.length) return null;
    const times = [...new Set(backlogs.flatMap((one) => one.points.map(([at]) => at)))].sort((a, b) => a - b);
    const { labels } = this.app.shown.model;
    const lines = backlogs.map((one) => ({ name: labels[one.name] ?? one.name, values: times.map((at) => between(one.points, at)) }));
    const largest = Math.max(...lines.flatMap((one) => one.values));
    const scale = this.data.scales.find(([, , from]) => largest >= from).slice(0, 2);
    return { title, x: { ...x, values: times.map((at) => MINUTE * at) }, y: { ...y, scale }, lines };
  }

  get heading() {
    const { at, population } = this.shown;
    return this.data.heading.replace("{}", `${at.toLocaleString("en-US")} ${population}`);
  }
}

// When work waits at a resource, and for how long it keeps that busy, in s: straight between these times; null without any.
function backlogOf(moments, place) {
  const periods = moments.map(({ start, end, loads, counts }) => ({ start, end, load: loads[place], capacity: counts[place] || 1 }));
  if (!periods.some((one) => one.load > 1 + ROUNDING) || !periods.every((one) => Number.isFinite(one.load))) return null;
  const growth = (one) => (one.load - 1) * one.capacity;
  const isGrowing = periods.reduce((sum, one) => sum + growth(one) * (one.end - one.start), 0) > 0;
  const after = (waiting, one) => Math.max(0, waiting + growth(one) * (one.end - one.start));
  let waiting = 0;
  for (let left = isGrowing ? 0 : CYCLES - 1; left > 0; left -= 1) waiting = periods.reduce(after, waiting);
  const points = [];
  for (const one of periods) {
    const end = after(waiting, one);
    points.push([one.start, (MINUTE * waiting) / one.capacity]);
    if (end === 0 && waiting > 0) points.push([Math.min(one.end, one.start - waiting / growth(one)), 0]);
    points.push([one.end, (MINUTE * end) / one.capacity]);
    waiting = end;
  }
  return points;
}

function between(points, at) {
  const place = points.findLastIndex(([time]) => time <= at), [before, after] = [points[place], points[Math.min(place + 1, points.length - 1)]];
  return after[0] > before[0] ? before[1] + ((at - before[0]) / (after[0] - before[0])) * (after[1] - before[1]) : before[1];
}
