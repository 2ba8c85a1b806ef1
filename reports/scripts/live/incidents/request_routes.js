// The ways of the requests of a class through its stations, by their shares: as `solver/incidents/network_routes.py` and
// `incident_routes.py` have them. A body is a list of nodes: the kind of each, and what belongs to it.

const MOST_ROUTES = 64, ROUNDING = 1e-6;
const DELAY = "delay at ", PARALLEL = "calls in parallel";
const QUARTERS = [[1n, 4n], [1n, 2n], [3n, 4n]];

// Routes have a share and the work at each station, in the order in which these are visited; null if there are too many.
function through(body, value) {
  let routes = [{ share: 1, visits: new Map() }], place = "";
  for (const [kind, ...own] of body) {
    if (kind === "at") [place] = own;
    routes = merged(joined(routes, NODES[kind](own, value, place)));
    if (routes.length > MOST_ROUTES) throw new TooManyRoutes();
  }
  return routes;
}

class TooManyRoutes extends Error {}

const single = (visits) => [{ share: 1, visits: new Map(visits) }];
const NODES = {
  at: () => single([]),
  serve: ([names, work], value) => single(names.map((name) => [name, value(work)])),
  cross: ([ports], value) => single(ports.map(([name, work]) => [name, value(work)])),
  delay: ([time, times], value, place) => single([[DELAY + place, value(time) * value(times)]]),
  calls([calls], value) {
    const found = [];
    let rest = 1;
    for (const [often, body] of calls) {
      const times = often === null ? 1 : value(often), inside = through(body, value);
      if (times > 1) return repeated(inside, times);
      rest -= times;
      found.push(...inside.map(({ share, visits }) => ({ share: times * share, visits })));
    }
    return [...found, { share: Math.max(0, rest), visits: new Map() }];
  },
  fork([count, branches], value) {
    const times = count === null ? 1 : value(count);
    return branches.reduce((routes, branch) => merged(joined(routes, repeated(through(branch, value), times))), single([[PARALLEL, 0]]));
  },
};

const repeated = (routes, times) => routes.map(({ share, visits }) => ({ share, visits: new Map([...visits].map(([name, work]) => [name, times * work])) }));

function joined(before, after) {
  const found = [];
  for (const first of before) {
    for (const second of after) {
      const share = first.share * second.share;
      if (!(share > 0 && Number.isFinite(share))) continue;
      const visits = new Map(first.visits);
      for (const [name, work] of second.visits) visits.set(name, (visits.get(name) ?? 0) + work);
      found.push({ share, visits });
    }
  }
  return found;
}

const keyOf = ({ visits }) => [...visits].map(([name, work]) => `${name} ${Number(work.toPrecision(9))}`).join("\n");

// One route for all that are alike.
function merged(routes) {
  const alike = new Map();
  for (const one of routes) {
    const key = keyOf(one), known = alike.get(key);
    alike.set(key, { share: (known?.share ?? 0) + one.share, visits: known?.visits ?? one.visits });
  }
  return [...alike.values()];
}

// One route for all that visit the same stations in the same order.
function withMeanWork(routes) {
  const alike = new Map();
  for (const one of routes) {
    const key = [...one.visits.keys()].join("\n");
    alike.set(key, [...alike.get(key) ?? [], one]);
  }
  return [...alike.values()].map((same) => {
    const share = same.reduce((sum, one) => sum + one.share, 0);
    const work = (name) => same.reduce((sum, one) => sum + one.share * one.visits.get(name), 0) / share;
    return { share, visits: new Map([...same[0].visits.keys()].map((name) => [name, work(name)])) };
  });
}

// The routes of a class, of which shares may change with the hit rate of one of the caches that are emptied, or are `warm`.
// `valueAt(cache, hits)` evaluates with another hit rate. The reason instead, where there is none.
export function classRoutes(of, emptied, warm, value, valueAt) {
  try {
    const changing = emptied.map((cache) => [cache, sharesAt(of, cache, valueAt)]).filter(([, at]) => isChanged(at));
    if (changing.length > 1) return { reason: "several_caches" };
    for (const [cache, at] of changing) return isLinear(at) ? ofCache(cache, at) : { reason: "not_linear" };
    for (const cache of warm) {
      const at = sharesAt(of, cache, valueAt);
      if (isChanged(at) && isLinear(at)) return ofCache(cache, at);
    }
    return { cache: null, routes: withMeanWork(through(of.body, value)).map((one) => ({ ...one, perHit: 0 })) };
  } catch (error) {
    if (error instanceof TooManyRoutes) return { reason: "many_routes" };
    throw error;
  }
}

const sharesAt = (of, cache, valueAt) => QUARTERS.map((hits) => new Map(through(of.body, valueAt(cache, hits)).map((one) => [keyOf(one), one])));
const shareOf = (routes, key) => routes.get(key)?.share ?? 0;
const keysOf = (at) => [...new Set(at.flatMap((one) => [...one.keys()]))];
const isChanged = (at) => keysOf(at).some((key) => at[0].has(key) !== at[2].has(key) || shareOf(at[0], key) !== shareOf(at[2], key));
const isLinear = (at) => keysOf(at).every((key) => Math.abs(shareOf(at[1], key) - (shareOf(at[0], key) + shareOf(at[2], key)) / 2) <= ROUNDING);

function ofCache(cache, at) {
  const routes = keysOf(at).map((key) => {
    const [low, , high] = at.map((one) => shareOf(one, key)), perHit = 2 * (high - low);
    return { share: low - perHit / 4, perHit, visits: at.find((one) => one.has(key)).get(key).visits };
  });
  return { cache, routes };
}

// A route with the numbers of the stations that are followed, and the delays at nodes.
export function routeAt({ share, perHit, visits }, places) {
  const all = [...visits], delays = all.filter(([name]) => name.startsWith(DELAY));
  return {
    share, perHit, hasParallelCalls: visits.has(PARALLEL),
    visits: all.filter(([name]) => places.has(name)).map(([name, work]) => [places.get(name), work]),
    delays: delays.map(([name, time]) => [name.slice(DELAY.length), time]),
  };
}
