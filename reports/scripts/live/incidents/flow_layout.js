// What flows alike: the keys of requests, their ways through stations, and retries that find their items:
// as `solver/incidents/flow_layout.py` and `refetched_items.py` have it.

import { nearest } from "./course_steps.js";

export const DONE = -1; // where requests go that are answered
export const ENTRY = -1; // where requests are before their first station

// `keys` of a stream, a route and an attempt; `ofStream` has the first key of each attempt of each stream. `entry` and
// `after` a station say where keys go: pairs of a station and its keys.
export function layoutOf({ stations, streams }) {
  const keys = [], ofStream = [];
  streams.forEach((stream, number) => {
    const starts = [];
    for (let attempt = 0; attempt <= (stream.retry?.retries ?? 0); attempt += 1) {
      starts.push(keys.length);
      stream.routes.forEach((_, route) => keys.push({ stream: number, route, attempt }));
    }
    ofStream.push({ starts, start: starts[0], end: keys.length, width: stream.routes.length });
  });
  const works = stations.map(() => new Float64Array(keys.length)), ranks = stations.map(() => 0);
  const next = new Map([[DONE, new Map()], ...stations.map((_, i) => [i, new Map()])]);
  const goes = (from, to, column) => {
    if (!next.get(from).has(to)) next.get(from).set(to, []);
    next.get(from).get(to).push(column);
  };
  keys.forEach((key, column) => {
    let here = DONE; // before the first station
    streams[key.stream].routes[key.route].visits.forEach(([station, work], rank) => {
      works[station][column] = work;
      ranks[station] = Math.max(ranks[station], rank);
      goes(here, station, column);
      here = station;
    });
    goes(here, DONE, column);
  });
  const order = stations.map((_, i) => i).sort((a, b) => ranks[a] - ranks[b]);
  return { keys, works, order, entry: [...next.get(DONE)], after: stations.map((_, i) => [...next.get(i)]), ofStream };
}

// The retries that may find their items, by the stations that they leave then.
export function refetches({ streams }, layout, step) {
  const found = new Map();
  streams.forEach((stream, number) => {
    if (stream.cache === null || stream.retry === null) return;
    for (const one of refetchesOf(stream, layout.ofStream[number].starts, step)) {
      if (!found.has(one.place)) found.set(one.place, []);
      found.get(one.place).push(one);
    }
  });
  return found;
}

function* refetchesOf({ routes, retry }, starts, step) {
  const hits = routes.map((_, i) => i).filter((i) => routes[i].perHit > 0);
  for (const [miss, route] of routes.entries()) {
    if (route.perHit >= 0 || !hits.length) continue;
    const alike = new Map(hits.map((i) => [i, shared(route, routes[i])])), longest = Math.max(...alike.values());
    const near = hits.filter((i) => alike.get(i) === longest), total = near.reduce((sum, i) => sum + routes[i].perHit, 0);
    let steps = 0;
    for (let attempt = 1; attempt < starts.length; attempt += 1) {
      const wait = retry.backoff * 2 ** (attempt - 1), start = starts[attempt];
      steps += Math.max(1, nearest(retry.timeout / step)) + Math.max(1, nearest(wait / step));
      yield {
        place: longest ? route.visits[longest - 1][0] : ENTRY, miss: start + miss,
        hits: near.map((i) => [start + i, routes[i].perHit / total]), first: starts[0] + miss, steps,
      };
    }
  }
}

// How many visits two ways begin with alike.
function shared(first, second) {
  const most = Math.min(first.visits.length, second.visits.length);
  let alike = 0;
  while (alike < most && first.visits[alike][0] === second.visits[alike][0] && first.visits[alike][1] === second.visits[alike][1]) alike += 1;
  return alike;
}

// Requests of which those go the way of hits whose item has come; rows of `sent` and `served` are steps.
export function withItems(retries, origin, amounts, sent, served) {
  let changed = amounts;
  for (const one of retries) {
    const many = amounts[one.miss], first = origin - one.steps;
    if (many <= 0 || first < 0 || served[first][one.first] <= 0) continue;
    const part = Math.min(1, served[first][one.first] / sent[first][one.first]);
    if (changed === amounts) changed = amounts.slice();
    changed[one.miss] -= part * many;
    for (const [hit, share] of one.hits) changed[hit] += part * many * share;
  }
  return changed;
}
