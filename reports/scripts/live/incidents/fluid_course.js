// The course of an incident as a fluid: amounts of requests flow through stations, step by step. It is that of
// `solver/incidents/fluid_course.py`, which says why.

import { calmOf, endOf, inForce, isStuck, MOST_STEPS, nearest, stepOf } from "./course_steps.js";
import { summarized } from "./course_summary.js";
import { fetched, FillingCache } from "./filling_cache.js";
import { DONE, ENTRY, layoutOf, refetches, withItems } from "./flow_layout.js";
import { FluidClients, sum } from "./fluid_clients.js";
import { MachineScaling } from "./machine_scaling.js";
import { slowedService } from "./slowed_service.js";

const EMPTY = 1e-9, GROWING_WINDOWS = 2, STEADY = 1e-3;

// The course of an incident until it is over (`clearedAt`, in s), or is known to stay (infinite).
export function fluidCourse(system, step = stepOf(system)) { return new Flow(system, step).run(); }

function areAlike(rates, before) { return rates.every((one, i) => Math.abs(one - before[i]) < STEADY); }

// Work that waits at a station, in the order in which it came: amounts of requests that were sent in one step.
class Queue {
  constructor() { Object.assign(this, { parcels: [], head: 0 }); }

  get first() { return this.parcels[this.head]; }
  get last() { return this.head < this.parcels.length ? this.parcels.at(-1) : undefined; }
  get all() { return this.parcels.slice(this.head); }

  drop() {
    this.head += 1;
    if (this.head < 1000) return;
    this.parcels = this.all;
    this.head = 0;
  }
}

class Flow {
  constructor(system, step) {
    const { stations, streams } = system, layout = layoutOf(system), caches = new Map(system.caches.map((one) => [one.name, new FillingCache(one)]));
    const counts = streams.map(() => ({ sent: 0, retries: 0, lost: 0, late: 0, worst: 0, worstAt: 0 }));
    Object.assign(this, { system, layout, step, caches, counts, sent: [], done: [], served: [], records: [], slowed: null, troubled: -1, retriedUntil: -1 });
    this.refetches = refetches(system, layout, step);
    this.queues = stations.map(() => new Queue());
    this.waiting = stations.map(() => 0);
    this.errors = stations.map(() => 0);
    this.flushed = new Set();
    this.scaling = new MachineScaling(system);
    this.usual = stations.map((one) => one.servers * (1 - one.background) * this.scaling.partOf(one.node));
    this.clients = new FluidClients(system, layout, step, caches, counts);
    this.end = endOf(system);
    this.calm = calmOf(system);
  }

  get record() { return this.records.at(-1); }
  get lastTrouble() { return Math.max(this.troubled, this.retriedUntil); }

  run() {
    const { step } = this, window = Math.max(1, nearest(this.calm / step));
    let before = [], growing = 0, rates = this.rates();
    for (let number = 0; number < MOST_STEPS; number += 1) {
      this.advance(number);
      const now = (number + 1) * step;
      if (now <= this.end + step) continue;
      if ((number - this.lastTrouble) * step > this.calm && this.scaling.isAtRest(now)) return this.course((this.lastTrouble + 1) * step);
      if (number % window) continue;
      const isSteady = this.scaling.isAtRest(now) && areAlike(this.rates(), rates);
      growing = isSteady && isStuck(before, this.record.backlogs, window * step) ? growing + 1 : 0;
      if (growing >= GROWING_WINDOWS) return this.course(Infinity);
      before = this.record.backlogs;
      rates = this.rates();
    }
    const backlog = Math.max(...this.record.backlogs), slope = (Math.max(...this.records.at(-1 - window).backlogs) - backlog) / (window * step);
    return this.course(slope > 0 ? MOST_STEPS * step + backlog / slope : Infinity, true);
  }

  rates() { return [...this.caches.values()].map((one) => one.rate); }

  advance(number) {
    const now = number * this.step, { system } = this;
    system.flushes.forEach((flush, place) => {
      if (flush.at > now || this.flushed.has(place)) return;
      this.flushed.add(place);
      this.caches.get(flush.cache).flush();
    });
    this.scaling.startStep(now);
    this.slowed = slowedService(system, this.layout, now);
    this.errors = system.stations.map((one) => {
      const own = inForce(system.capacityChanges, now).filter((change) => change.node === one.node && change.answersErrors);
      return 1 - own.reduce((product, change) => product * change.factor, 1);
    });
    this.send(number, now);
    const used = this.serve(number, now);
    this.record.failed += this.timeOut(number);
    this.scaling.endStep(now + this.step, this.step);
    if (this.record.failed > 0) this.troubled = number;
    this.record.utilizations = used;
  }

  // Sends the requests of a step: first attempts, and retries that are due.
  send(number, now) {
    const { system, layout, clients, step } = this, width = layout.keys.length;
    let amounts = clients.due.get(number) ?? new Float64Array(width), offered = 0;
    clients.due.delete(number);
    const retries = sum(amounts);
    system.streams.forEach((stream, place) => {
      const surges = inForce(system.trafficChanges, now).filter((one) => one.stream === stream.name);
      const rate = surges.reduce((product, one) => product * one.factor, stream.rate), many = rate * step;
      const hits = stream.cache === null ? 0 : this.caches.get(stream.cache).rate;
      stream.routes.forEach((one, i) => { amounts[layout.ofStream[place].start + i] = many * Math.max(0, one.share + one.perHit * hits); });
      if (stream.cache !== null) clients.missed[place].push(1 - hits);
      this.counts[place].sent += many;
      offered += many;
      clients.earn(place, stream.retry, rate, many);
    });
    if (this.refetches.has(ENTRY)) amounts = withItems(this.refetches.get(ENTRY), number, amounts, this.sent, this.served);
    this.sent[number] = amounts;
    this.done[number] = new Float64Array(width);
    this.served[number] = new Float64Array(width);
    this.records.push({ offered, retries, machines: this.scaling.ready, hitRates: this.rates(), answered: 0, failed: 0, wait: 0, loads: system.stations.map(() => 0) });
    for (const [target, keys] of layout.entry) this.move(number, target, number, part(amounts, keys), null);
  }

  // Serves at each station what it can in a step; the utilizations.
  serve(number, now) {
    const { stations } = this.system, { step, usual, record } = this, used = stations.map(() => 0), capacities = stations.map(() => 0);
    for (const place of this.layout.order) {
      const queue = this.queues[place], capacity = this.capacity(place, now) * step;
      let left = capacity;
      capacities[place] = capacity / step / usual[place];
      if (this.errors[place] >= 1) this.empty(number, place);
      while (queue.first && left > 0) {
        const served = taken(queue, left);
        left -= served.work;
        this.waiting[place] -= served.work;
        let gone = served.amounts;
        if (this.refetches.has(place)) {
          gone = withItems(this.refetches.get(place), served.origin, gone, this.sent, this.served);
          gone.forEach((one, i) => { this.sent[served.origin][i] += one - served.amounts[i]; });
        }
        for (const [target, keys] of this.layout.after[place]) this.move(number, target, served.origin, part(gone, keys), place);
      }
      if (!queue.first) this.waiting[place] = 0;
      else if (this.waiting[place] > EMPTY * stations[place].servers * step) this.troubled = number;
      used[place] = capacity > 0 ? (capacity - left) / capacity : 0;
      this.scaling.observe(stations[place], used[place]);
    }
    record.capacities = capacities;
    record.loads = record.loads.map((load, i) => load / step / usual[i]);
    record.backlogs = this.waiting.map((work, i) => work / stations[i].servers);
    return used;
  }

  // How much work a station does in a second.
  capacity(place, now) {
    const station = this.system.stations[place], own = inForce(this.system.capacityChanges, now).filter((one) => one.node === station.node);
    const left = own.reduce((product, one) => product * one.factor, station.servers * (1 - station.background));
    return left * this.scaling.partOf(station.node);
  }

  // Moves requests to a station, or answers them.
  move(number, target, origin, amounts, before) {
    if (target === DONE) {
      this.answer(number, origin, amounts);
      return;
    }
    const { stations } = this.system, isThere = before !== null && stations[before].node === stations[target].node;
    if (this.errors[target] > 0 && !isThere) {
      const failed = amounts.map((one) => this.errors[target] * one);
      this.fail(number, origin, failed);
      amounts.forEach((one, i) => { amounts[i] = one - failed[i]; });
    }
    const works = this.layout.works[target], work = amounts.reduce((total, one, i) => total + one * works[i], 0);
    if (work <= 0) return;
    const { last } = this.queues[target];
    this.waiting[target] += work;
    this.record.loads[target] += work;
    if (last?.origin === origin) {
      last.amounts = last.amounts.map((one, i) => one + amounts[i]);
      last.work += work;
    } else this.queues[target].parcels.push({ origin, amounts, work });
  }

  // Answers requests: in time, late, or after their clients have given up.
  answer(number, origin, amounts) {
    if (!amounts.some((one) => one !== 0)) return;
    const waited = (number - origin) * this.step, { record } = this;
    this.system.streams.forEach((stream, place) => {
      const { start, end } = this.layout.ofStream[place], own = amounts.subarray(start, end), counts = this.counts[place];
      if (!own.some((one) => one !== 0)) return;
      record.wait = Math.max(record.wait, waited);
      own.forEach((one, i) => { this.served[origin][start + i] += one; });
      if (stream.cache !== null) this.caches.get(stream.cache).fill(fetched(stream, this.clients.missed[place][origin], own));
      const timeout = stream.retry?.timeout ?? Infinity;
      let response = waited + stream.latency;
      const answered = timeout < Infinity ? own.map((one, i) => one * this.within(timeout - response, start + i)) : own;
      answered.forEach((one, i) => { this.done[origin][start + i] += one; });
      const many = sum(answered);
      if (many <= 0) return;
      record.answered += many;
      if (stream.limit !== null) {
        const soon = sum(own.map((one, i) => one * this.within(stream.limit - response, start + i)));
        counts.late += Math.max(0, many - soon);
        if (many > soon) this.troubled = number;
      }
      if (this.slowed !== null) response += this.slowed.longer(timeout - response, start, end);
      if (response > counts.worst + this.step / 2) [counts.worst, counts.worstAt] = [response, (number + 1) * this.step];
    });
  }

  // Which part of the requests of a key is answered if so much time is left.
  within(left, column) { return this.slowed === null ? Number(left >= 0) : this.slowed.within(left, column); }

  // Clients send again what was not answered in time; how much they give up.
  timeOut(number) {
    let lost = 0;
    this.system.streams.forEach((stream, place) => {
      const origin = number - this.clients.patience(stream.retry);
      if (stream.retry === null || origin < 0) return;
      const { start, end } = this.layout.ofStream[place], least = EMPTY * stream.rate * this.step, done = this.done[origin];
      const failed = this.sent[origin].slice(start, end).map((one, i) => (one - done[start + i] < least ? 0 : one - done[start + i]));
      if (failed.some((one) => one !== 0)) lost += this.clients.unanswered(place, number, origin, failed);
    });
    return lost;
  }

  // Answers requests with an error: their clients, if they still wait, act at once.
  fail(number, origin, amounts) {
    this.system.streams.forEach((stream, place) => {
      const { start, end } = this.layout.ofStream[place], failed = amounts.slice(start, end);
      if (!failed.some((one) => one !== 0) || number - origin > this.clients.patience(stream.retry)) return;
      failed.forEach((one, i) => { this.done[origin][start + i] += one; });
      this.record.failed += this.clients.unanswered(place, number, origin, failed);
      this.retriedUntil = Math.max(number, this.clients.lastDue);
    });
  }

  // Answers all that waits at a station with an error.
  empty(number, place) {
    for (const parcel of this.queues[place].all) this.fail(number, parcel.origin, parcel.amounts);
    this.queues[place] = new Queue();
    this.waiting[place] = 0;
  }

  course(clearedAt, isExtrapolated = false) {
    const inTimeAt = clearedAt === Infinity || isExtrapolated ? Infinity : (this.clients.lostFrom + 1) * this.step;
    return { step: this.step, points: summarized(this.records, this.step), streams: this.counts, clearedAt, inTimeAt, isExtrapolated };
  }
}

// The amounts of some keys alone.
function part(amounts, keys) {
  const found = new Float64Array(amounts.length);
  for (const key of keys) found[key] = amounts[key];
  return found;
}

// What is served of the first in a queue: all of it, or as much work as is left.
function taken(queue, left) {
  const parcel = queue.first;
  if (parcel.work <= left) {
    queue.drop();
    return parcel;
  }
  const share = left / parcel.work, amounts = parcel.amounts.map((one) => share * one);
  parcel.amounts = parcel.amounts.map((one, i) => one - amounts[i]);
  parcel.work -= left;
  return { origin: parcel.origin, amounts, work: left };
}
