// Whether random variation decides if a system returns by itself: as `solver/incidents/random_variation.py` has it. Also where
// a load is so near the capacity that random variation alone builds a backlog, which is not computed here.

import { endOf, startOf, stepOf, triedFor } from "./course_steps.js";
import { fluidCourse } from "./fluid_course.js";

const DEVIATIONS = 2, MOST = 0.5, DEVIATIONS_BELOW = 3;

export function variationThatDecides(system, course) {
  const retries = system.streams.map((one) => one.retry).filter((one) => one !== null);
  if (!retries.some((one) => one.retries > 0) || course.isExtrapolated || !course.streams.some((one) => one.retries > 0)) return 0;
  const start = startOf(system), length = Math.max(endOf(system) - start, ...retries.map((one) => one.timeout + triedFor(one)));
  const many = length * system.streams.reduce((sum, one) => sum + one.rate, 0);
  const part = many > 0 ? Math.min(MOST, DEVIATIONS * Math.sqrt(2 / many)) : 0, returns = course.clearedAt < Infinity;
  const changes = system.streams.map((one) => ({ stream: one.name, factor: returns ? 1 + part : 1 - part, start, end: start + length }));
  const varied = fluidCourse({ ...system, trafficChanges: [...system.trafficChanges, ...changes] }, stepOf(system));
  return (varied.clearedAt < Infinity) === returns ? 0 : part;
}

// The stations that are loaded to about their capacity for some time, by `solver/incidents/random_backlogs.py`.
export function loadedToCapacity(system) {
  if (system.flushes.length) return [];
  const changes = [...system.capacityChanges, ...system.trafficChanges];
  const times = [...new Set([0, endOf(system), ...changes.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  const product = (own, now, usual) => own.filter((one) => one.start <= now && now < one.end).reduce((found, one) => found * one.factor, usual);
  return system.stations.filter((station, place) => times.slice(1).some((end, i) => {
    const start = times[i], own = system.capacityChanges.filter((one) => one.node === station.node), scaler = system.scalers.find((one) => one.node === station.node);
    const lost = own.filter((one) => one.start <= start && start < one.end).reduce((sum, one) => sum + one.machines, 0);
    const part = scaler ? Math.max(0, scaler.atStart - lost) / scaler.count : 1, capacity = product(own, start, part * station.servers * (1 - station.background));
    let work = 0, variance = 0;
    for (const stream of system.streams) {
      const rate = product(system.trafficChanges.filter((one) => one.stream === stream.name), start, stream.rate);
      for (const { share, visits } of stream.routes) {
        for (const [at, time] of visits) {
          if (at !== place) continue;
          work += rate * share * time;
          variance += rate * share * time ** 2 * (1 + station.variation ** 2);
        }
      }
    }
    const drift = work - capacity, isBelow = drift < -DEVIATIONS_BELOW * Math.sqrt(variance / (end - start));
    return capacity > 0 && variance > 0 && !isBelow && drift <= DEVIATIONS_BELOW * Math.sqrt(variance / (end - start));
  }));
}
