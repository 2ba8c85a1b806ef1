// An incident for the setting of the page: its course, as figures and as facts beside them.

import { fluidCourse } from "./fluid_course.js";
import { incidentSystems } from "./incident_system.js";
import { variationThatDecides } from "./random_variation.js";
import { isCertain } from "./timeouts_by_chance.js";

const NEAR = 1e-6, SHOWN_BACKLOG = 0.1, MOST_STATIONS = 2;

export class IncidentCourse {
  // `data`: what the spec states of the incident, and what qps solved of it at a population.
  constructor(app, data) {
    Object.assign(this, { app, data });
    const [column] = app.columns, { solved } = data, own = this.resultFor(column, solved.at);
    this.usualKey = this.keyOf({ good: column.good, n: solved.at });
    this.isKnown = !own.reason && isLike(own.course, solved);
    [this.key, this.result] = [this.usualKey, own];
  }

  keyOf({ good, n }) { return JSON.stringify([n, good.mode, [...good.numbers].map(([name, value]) => [name, ...value.map(String)]), good.picks, good.start, good.shape]); }

  // What the page shows has not changed since qps made it.
  get isUsual() { return this.keyOf(this.app.shown) === this.usualKey; }

  get shown() {
    const { shown } = this.app, key = this.keyOf(shown);
    if (this.key !== key) [this.key, this.result] = [key, this.resultFor(shown, shown.n)];
    return this.result;
  }

  // In the worst mode, with the other ones, the worst first.
  resultFor(column, at) {
    const systems = incidentSystems(column, at, this.data);
    const refused = systems.find((one) => one.reason);
    if (refused || !systems.length) return refused ?? { reason: "not_followed" };
    const found = systems.map(({ system }) => {
      const course = fluidCourse(system);
      return { system, at, course, variation: variationThatDecides(system, course) };
    });
    const [worst, ...others] = found.sort((one, other) => compared(severity(other), severity(one)));
    return { ...worst, others };
  }

  // The stations with backlogs, the largest first.
  waiting({ system, course }) {
    const most = system.stations.map((_, i) => Math.max(...course.points.map((one) => one.backlogs[i])));
    return most.map((backlog, i) => ({ backlog, i })).filter((one) => one.backlog > SHOWN_BACKLOG).sort((a, b) => b.backlog - a.backlog).map((one) => one.i);
  }

  // The stations whose load is drawn: without any backlog, that with the highest load.
  busiest(result) {
    const waiting = this.waiting(result).slice(0, MOST_STATIONS), { system, course } = result;
    if (waiting.length || !system.stations.length) return waiting;
    const highest = system.stations.map((_, i) => Math.max(...course.points.map((one) => one.loads[i])));
    return [highest.indexOf(Math.max(...highest))];
  }

  // What the chart of a key shows: { title, y, lines }; null for what is not drawn.
  chart(key) {
    const result = this.shown, { data } = this;
    if (result.reason) return null;
    const { system, course } = result, { points } = course, line = (name, of) => ({ name, values: points.map(of) }), { titles, names } = data;
    if (key.startsWith("load-")) {
      const place = system.stations.findIndex((one) => `load-${one.name}` === key);
      if (!this.busiest(result).includes(place)) return null;
      const lines = [line(names.load, (one) => one.loads[place]), line(names.capacity, (one) => one.capacities[place])];
      return { title: titles.load.replace("{resource}", this.label(system.stations[place].name)), scale: data.percent, lines };
    }
    if (key === "requests") {
      const lines = ["offered", "retries", "answered", "failed"].map((of) => line(names[of], (one) => one[of]));
      return { title: titles.requests, scale: data.rate, lines: lines.filter((one) => one.values.some((value) => value !== 0)) };
    }
    if (key === "backlog") {
      const lines = this.waiting(result).map((place) => line(this.label(system.stations[place].name), (one) => one.backlogs[place]));
      return lines.length ? { title: titles.backlog, scale: this.scale(Math.max(...lines.flatMap((one) => one.values))), lines } : null;
    }
    if (key === "servers") {
      const lines = system.scalers.map((one, i) => line(one.node, (point) => point.machines[i]));
      return lines.some((one) => new Set(one.values).size > 1) ? { title: titles.servers, scale: [1, ""], lines } : null;
    }
    const emptied = new Set(system.flushes.map((one) => one.cache));
    const lines = system.caches.flatMap((one, i) => (emptied.has(one.name) ? [line(one.name, (point) => point.hitRates[i])] : []));
    return lines.length ? { title: titles.hits, scale: data.percent, lines } : null;
  }

  // A chart as a figure over the time since the incident began.
  figure(key) {
    const chart = this.chart(key);
    if (chart === null) return null;
    const values = this.shown.course.points.map((one) => one.at);
    return { title: chart.title, x: { name: this.data.since, values, scale: this.scale(values.at(-1)), isLog: false, cycle: 0, days: [] }, y: { scale: chart.scale, isLog: false }, lines: chart.lines };
  }

  // The charts of loads that are drawn now.
  get loads() {
    const result = this.shown;
    return result.reason ? [] : this.busiest(result).map((place) => `load-${result.system.stations[place].name}`);
  }

  label(name) { return this.app.shown.model.labels[name] ?? name; }
  scale(most) { return this.data.scales.find(([, , from]) => most >= from).slice(0, 2); }
}

// How bad an incident is: whether it is over by itself, when, and for how many requests.
function severity(result) {
  const { course } = result;
  const unserved = course.streams.reduce((sum, one) => sum + one.lost + one.late, 0);
  return [Number(course.clearedAt === Infinity), Number(!isCertain(result)), course.clearedAt, unserved, Math.max(0, ...course.points.flatMap((one) => one.backlogs))];
}

function compared(one, other) {
  const place = one.findIndex((value, i) => value !== other[i]);
  return place < 0 ? 0 : one[place] < other[place] ? -1 : 1;
}

// Whether a course is the one that qps solved.
function isLike(course, solved) {
  const near = (one, other) => one === other || Math.abs(one - other) <= NEAR * Math.max(1, Math.abs(one), Math.abs(other));
  const sum = (of) => course.streams.reduce((total, one) => total + one[of], 0), last = course.points.at(-1);
  return near(course.clearedAt, solved.clearedAt ?? Infinity) && near(sum("lost"), solved.lost) && near(sum("late"), solved.late)
    && last.backlogs.length === solved.backlogs.length && last.backlogs.every((_, i) => near(Math.max(...course.points.map((one) => one.backlogs[i])), solved.backlogs[i]));
}
