// Clients whose requests were not answered: they send them again after a backoff, or give up: as `solver/incidents/fluid_clients.py` has it.

import { MOST_STEPS, nearest, triedFor } from "./course_steps.js";
import { sentAgain } from "./filling_cache.js";

const BUDGET_SECONDS = 10, EMPTY = 1e-9;

export class FluidClients {
  constructor(system, layout, step, caches, counts) {
    Object.assign(this, { streams: system.streams, layout, step, caches, counts, due: new Map(), lostFrom: -1, lastDue: -1 });
    this.tokens = system.streams.map(() => 0);
    this.missed = system.streams.map(() => []);
  }

  // A budget saves retries for requests that are sent first.
  earn(place, retry, rate, many) {
    if (retry === null || retry.budget === null) return;
    const earned = retry.budget * many;
    this.tokens[place] = Math.min(this.tokens[place] + earned, Math.max(retry.budget * rate * BUDGET_SECONDS, earned));
  }

  // After how many steps clients no longer wait for an answer.
  patience(retry) { return retry === null ? MOST_STEPS : Math.max(1, nearest(retry.timeout / this.step)); }

  // Requests of a stream that were sent at a step are sent again, or lost; how many are lost. `failed` are amounts by its keys.
  unanswered(place, number, origin, failed) {
    const { retry, rate, cache } = this.streams[place], counts = this.counts[place], { starts, width } = this.layout.ofStream[place];
    const all = sum(failed);
    if (retry === null) {
      counts.lost += all;
      this.lostFrom = Math.max(this.lostFrom, origin);
      return all;
    }
    const again = retry.retries ? sum(failed.subarray(0, failed.length - width)) : 0;
    let part = 1;
    if (retry.budget !== null && again > 0) {
      part = Math.min(1, this.tokens[place] / again);
      this.tokens[place] -= part * again;
    }
    const gone = all - part * again;
    if (gone > EMPTY * rate * this.step) this.lostFrom = Math.max(this.lostFrom, part === 1 ? origin - nearest(triedFor(retry) / this.step) : origin);
    for (let attempt = 0; attempt < starts.length - 1; attempt += 1) {
      let many = failed.slice(attempt * width, (attempt + 1) * width).map((one) => part * one);
      if (!many.some((one) => one !== 0)) continue;
      const at = number + Math.max(1, nearest((retry.backoff * 2 ** attempt) / this.step));
      if (!this.due.has(at)) this.due.set(at, new Float64Array(this.layout.keys.length));
      if (cache !== null) many = sentAgain(this.streams[place], this.missed[place][origin], this.caches.get(cache).rate, many);
      many.forEach((one, i) => { this.due.get(at)[starts[attempt + 1] + i] += one; });
      this.lastDue = Math.max(this.lastDue, at);
    }
    counts.retries += part * again;
    counts.lost += gone;
    return gone;
  }
}

export function sum(amounts) { return amounts.reduce((total, one) => total + one, 0); }
