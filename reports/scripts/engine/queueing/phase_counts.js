// How many phases and paths forks have, where all that varies in them is exponential: `engine/forks/phase_counts.py` tells how.

export const FORK = -1; // the servers of a fork
export const CALLS = -2; // and of equal calls at once
export const MOST_PHASES = 256;
export const MOST_PASSAGES = 3;
export const MOST_PATHS = 64;
export const MOST_COMBINED = 16;
export const ROUNDED = 1e-13;
const MOST_BRANCHES = 8, MOST_STAGES = 32;

// How often a stage is passed for sure, and the chance of once more.
export function passages(often) {
  const near = Math.round(often), isWhole = Math.abs(often - near) <= ROUNDED * near, whole = isWhole ? near : Math.floor(often);
  return [whole, isWhole ? 0 : Math.max(0, often - whole)];
}

// Whether the longest of the branches of each fork is known in phases, and equal calls take one each.
export function havePhases(nodes) {
  return nodes.every((node) => {
    if (node.isFork) return waysOf(node) !== null;
    if (node.group[4] !== CALLS) return havePhases(node.inside);
    const ways = ofLine(node.inside);
    return ways?.length === 1 && ways[0].phases === 1;
  });
}

// The branches where all is one fork, with few that differ; null for others.
export function singleFork(nodes) {
  const [{ isFork, often, within, hasFork }] = nodes, count = (all) => all.reduce((sum, one) => sum + 1 + count(one.within), 0);
  if (nodes.length > 1 || !isFork || often !== 1 || !hasFork || count(within) > MOST_STAGES) return null;
  if (within.some(function isOther(one) { return one.group[4] < 0 || one.within.some(isOther); })) return null;
  return new Set(within.map(textOf)).size <= MOST_BRANCHES ? within : null;
}

export function textOf({ group, within }) { return `${group.join()}[${within.map(textOf).join(";")}]`; }

// Paths, each with what is always the same of it, and in how many phases it varies; null where there are none.
function waysOf(node) {
  const [whole, share] = passages(node.often), nothing = [{ fixed: null, phases: 0 }];
  if (whole > MOST_PASSAGES) return null;
  const once = whole || share ? waysOnce(node) : [];
  let found = nothing;
  for (let turn = 0; turn < whole; turn++) found = then(found, once);
  return share ? then(found, once && merged([...once, ...nothing])) : found;
}

function waysOnce(node) {
  const { group, inside, works, isFork } = node;
  if (isFork) return ofFork(inside);
  const own = works.length ? null : ownOf(group);
  if (!(group[8] < 0)) return then(own, ofLine(inside));
  const each = inside.map(waysOnce);
  return each.includes(null) ? null : then(own, merged([{ fixed: null, phases: 0 }, ...each.flat()]));
}

function ofLine(nodes) { return nodes.reduce((found, node) => then(found, waysOf(node)), [{ fixed: null, phases: 0 }]); }

function ownOf([waits, load, work, spread, servers, service, variation]) {
  const isLate = waits !== 0 && work !== 0, isFixed = service !== 0 && variation === 0, isVaried = service !== 0 && !isFixed;
  if (servers === CALLS || (isLate && spread !== 1) || (isVaried && variation !== 1)) return null;
  const isOne = isLate && isVaried && waits === load && servers === 1 && work === service;
  return [{ fixed: isFixed ? String(service) : null, phases: isOne ? 1 : isLate + isVaried }];
}

function ofFork(branches) {
  const each = branches.map((branch) => ofLine([branch]));
  if (each.includes(null)) return null;
  const all = each.flat(), fixed = new Set(all.map((way) => way.fixed).filter((one) => one !== null)), many = each.reduce((found, ways) => found * (ways.reduce((sum, { phases }) => sum + phases, 0) + 1), 1) - 1;
  if (fixed.size === 1 && all.every((way) => way.fixed !== null || !way.phases) && many <= MOST_PHASES) return [...(all.some((way) => way.fixed === null) ? [{ fixed: null, phases: 0 }] : []), { fixed: [...fixed][0], phases: many }];
  if (each.reduce((found, ways) => found * ways.length, 1) > MOST_COMBINED) return null;
  const chosen = each.reduce((found, ways) => found.flatMap((some) => ways.map((way) => [...some, way])), [[]]);
  const found = chosen.map((some) => {
    const ends = some.map((way) => way.fixed).filter((one) => one !== null);
    return { fixed: ends.length ? `longest ${ends.join()}` : null, phases: some.reduce((sum, { phases }) => sum * (phases + 1), 1) - 1 };
  });
  return found.every(({ phases }) => phases <= MOST_PHASES) ? found : null;
}

function then(ways, others) {
  if (!ways || !others || ways.length * others.length > MOST_PATHS) return null;
  return ways.flatMap((one) => others.map((other) => ({ fixed: one.fixed === null ? other.fixed : other.fixed === null ? one.fixed : `${one.fixed} ${other.fixed}`, phases: one.phases + other.phases })));
}

// Paths of which those are one that take no time that is always the same.
function merged(ways) { return [...ways.filter(({ fixed }) => fixed !== null), { fixed: null, phases: ways.reduce((sum, { fixed, phases }) => sum + (fixed === null ? phases : 0), 0) }]; }
