// The system of an incident for a setting of the page: as `solver/incidents/incident_model.py` has it.

import { nearnessAt } from "../../engine/limit_use.js";
import { exactNumber, Run } from "../../engine/model.js";
import { quotient } from "../../engine/numerics/fractions.js";
import { isTooCoarse } from "./course_steps.js";
import { classRoutes, routeAt } from "./request_routes.js";
import { timeoutsByChance } from "./timeouts_by_chance.js";

const ROUNDING = 1e-9, ROUTE_ROUNDING = 1e-6, IDLE = 0.02;

// What an incident happens to in each mode, at the moment of profiles that comes nearest to a limit. `data` is what the spec states of it.
export function incidentSystems(column, at, data) {
  const { model, good: setting } = column, graphs = model.graphs(setting) ?? [], modes = new Map();
  const isMode = (graph) => !data.modes.length || data.modes.includes(usual(graph)), own = graphs.filter(isMode);
  for (const one of own.length ? own : graphs) modes.set(usual(one), [...(modes.get(usual(one)) ?? []), one]);
  return [...modes.values()].map((moments) => incidentSystem(column, at, data, atPeak(model, setting, at, moments)));
}

// What an incident happens to in a graph; { reason } where there is none, a word.
function incidentSystem(column, at, data, graph) {
  const { model, good: setting } = column;
  if (!graph?.incidents) return { reason: "not_followed" };
  const { classes, stations, counts } = graph.incidents, runs = new Map(), changed = model.changedIn(setting);
  const valuesWith = (numbers, key) => {
    if (!runs.has(key)) runs.set(key, new Run(model).prepare(graph, numbers).at(at));
    return (step) => runs.get(key).value(step);
  };
  const value = valuesWith(setting.numbers, "");
  const valueAt = (cache, hits) => valuesWith(new Map(setting.numbers).set(cache, hits), `${cache} ${hits}`);
  const emptied = [...new Set(data.flushes.map((one) => one.cache))], isSet = (name) => changed(name) || data.fixed.includes(name);
  if (emptied.some(isSet)) return { reason: "hits_are_set" };
  const warm = data.caches.map((one) => one.name).filter((one) => !isSet(one) && !emptied.includes(one));
  const hitsOf = (cache) => {
    const known = setting.numbers.get(cache) ?? graph.numbers.filter((one) => one.name === cache).map(exactNumber)[0];
    return known ? quotient(...known) : 0;
  };
  const found = [];
  for (const one of classes) {
    const rate = value(one.rate), retry = data.retries[one.stream] ?? null;
    if (!(rate > 0)) continue;
    const routes = classRoutes(one, emptied, retry === null ? [] : warm, value, valueAt);
    if (routes.reason) return routes;
    found.push({ of: one, rate, retry, hits: routes.cache === null ? 0 : hitsOf(routes.cache), ...routes });
  }
  const followed = stationsOf(stations, found, value);
  if (followed.reason) return followed;
  const places = new Map(followed.map((one, i) => [one.name, i])), count = (node) => value(counts[node]);
  const streams = found.map(({ of, rate, retry, cache, routes }) => {
    const latency = value(of.latency), limits = of.limits.map(value);
    return {
      name: of.name, rate, retry, cache, routes: routes.map((one) => routeAt(one, places)),
      latency: Number.isFinite(latency) ? latency : 0, limit: limits.length ? Math.min(...limits) : null,
    };
  });
  if (streams.some((one) => one.retry !== null && one.retry.timeout <= one.latency)) return { reason: "short_timeout" };
  const used = new Set([...emptied, ...found.map((one) => one.cache)]);
  const scalers = data.scalers.map((one) => scalerOf(one, followed, count(one.node), value));
  if (scalers.includes(null)) return { reason: "not_followed" };
  const capacityChanges = data.capacityChanges.map((one) => changeOf(one, count, scalers));
  if (capacityChanges.includes(null)) return { reason: "too_many_machines" };
  const trafficChanges = data.trafficChanges.flatMap((one) => found.filter(({ of }) => of.stream === one.stream).map(({ of }) => ({ ...one, stream: of.name })));
  const system = { stations: followed, streams, caches: data.caches.filter((one) => used.has(one.name)), scalers, capacityChanges, trafficChanges, flushes: data.flushes, chanceTimeouts: timeoutsByChance(classes, stations, data, value), mode: data.modes.length > 1 ? usual(graph) : "", moment: momentOf(graph) };
  const hits = found.map((one) => one.hits);
  if (isTooCoarse(system)) return { reason: "too_long" };
  return isOverloaded(system, hits) ? { reason: "overloaded" } : { system };
}

// The one of some graphs that comes nearest to a limit.
function atPeak(model, setting, at, own) {
  if (own.length < 2) return own[0];
  const near = own.map((one) => nearnessAt(new Run(model).prepare(one, setting.numbers), at));
  return own[near.indexOf(Math.max(...near))];
}

// The name of a mode without its moment, and the moment: no other name begins with a time.
const isMoment = ({ mode }) => /^\d\d:/.test(mode ?? "");
const usual = (graph) => (isMoment(graph) ? "" : (graph.mode ?? "").split(", ")[0]);
const momentOf = (graph) => (isMoment(graph) ? graph.mode : (graph.mode ?? "").split(", ")[1] ?? "");

// What happens to a node: of some of its machines, by how many there are; null for more than these.
function changeOf({ count: lost, kind, ...change }, count, scalers) {
  const scaler = scalers.find((one) => one.node === change.node);
  if (kind === "slow" || lost === null) return { ...change, machines: kind === "lose" && scaler ? scaler.most : 0, factor: kind === "lose" && scaler ? 1 : change.factor };
  const most = scaler ? scaler.most : count(change.node);
  if (lost > most) return null;
  return scaler ? { ...change, factor: 1, machines: lost } : { ...change, factor: 1 - lost / most, machines: 0 };
}

// An autoscaler with as many machines as it has in steady state; null where it has nothing to scale by.
function scalerOf(policy, stations, count, value) {
  const own = stations.filter((one) => one.node === policy.node && one.isProcessor);
  if (!own.length) return null;
  const busy = Math.max(...own.map((one) => value(one.load))), wanted = Math.ceil((busy * count) / policy.target - ROUNDING);
  return { ...policy, count, atStart: Math.min(Math.max(wanted, policy.least), policy.most) };
}

// The stations that are followed: those in use, at least one of each node.
function stationsOf(stations, classes, value) {
  const found = [], highest = new Map();
  for (const one of stations) {
    const servers = value(one.servers);
    if (!(Number.isFinite(servers) && servers > 0)) continue;
    const work = classes.reduce((sum, { rate, routes, hits }) => sum + rate * routes.reduce((own, { share, perHit, visits }) => own + (share + perHit * hits) * (visits.get(one.name) ?? 0), 0), 0);
    const load = value(one.load), background = one.background.reduce((sum, part) => sum + value(part), 0);
    if (work <= 0) continue;
    if (!(Math.abs(work / servers + background - load) <= ROUTE_ROUNDING + 1e-3 * load)) return { reason: "other_load" };
    found.push({ name: one.name, node: one.node, servers, background: Math.min(background, 1), variation: value(one.variation), isProcessor: one.isProcessor, load: one.load, used: load });
    highest.set(one.node, Math.max(load, highest.get(one.node) ?? 0));
  }
  return found.filter((one) => one.used >= Math.min(IDLE, highest.get(one.node)));
}

// How much of what a station can do before anything happens is taken.
function usualLoads({ stations, streams, scalers }, hits) {
  const work = stations.map(() => 0);
  streams.forEach(({ rate, routes }, i) => {
    for (const { share, perHit, visits } of routes) for (const [place, own] of visits) work[place] += rate * (share + perHit * hits[i]) * own;
  });
  return stations.map((one, i) => {
    const scaler = scalers.find((each) => each.node === one.node);
    return work[i] / (one.servers * (scaler ? scaler.atStart / scaler.count : 1)) + one.background;
  });
}

const isOverloaded = (system, hits) => usualLoads(system, hits).some((load) => load >= 1);
