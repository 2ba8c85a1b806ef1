// The mean, quantiles and tail of the time to pass stages of which some are forks: `engine/forks/fork_numbers.py` and `fork_laws.py` tell how.

import { fallingRoot } from "../numerics/roots.js";
import { waysOf } from "./fork_lines.js";
import { always, AT_ONCE, aroundOf, atomsBeyond, behind, eachNode, lawOfStages, meanOf, moving, sorted, varying } from "./time_laws.js";

const BEYOND = 20, CUT = 1e-9, LATE = 1e-9, LEAST = 1e-300, LEAST_SHARE = 1e-13, SAME = 1e-12, NEAR = 1e-6, NEXT_TO = 1e-9;

export function forkMean(...stages) {
  const ways = waysOf(stages), laws = lawsOf(ways, LATE);
  if (!Array.isArray(ways)) return ways;
  return laws ? laws.reduce((sum, { chance, line, fork }) => sum + chance * (meanOf(line) + meanOf(fork)), 0) : NaN;
}

export function forkTail(time, ...stages) {
  const ways = time === time ? waysOf(stages) : NaN;
  if (!Array.isArray(ways)) return ways === Infinity ? 1 : NaN;
  if (time < 0 || time === Infinity) return time < 0 ? 1 : 0;
  const laws = lawsOf(ways, LATE);
  return laws ? Math.min(1, Math.max(0, longer(laws, time)[0])) : NaN;
}

export function forkQuantile(level, ...stages) {
  const ways = level >= 0 && level < 1 ? waysOf(stages) : NaN, late = 1 - level, laws = lawsOf(ways, late);
  if (!Array.isArray(ways)) return ways;
  if (!laws) return NaN;
  const atoms = laws.flatMap(({ chance, line, fork }) => line.atoms.flatMap(([first, one]) => fork.atoms.map(([then, other]) => [first + then, chance * one * other])));
  if (laws.every(({ line, fork }) => !line.varies && !fork.varies)) return ofAtoms(atoms, late);
  let low = Infinity, high = 0;
  for (const { line, fork } of laws) {
    low = Math.min(low, Math.max(aroundOf(line, late)[0] + fork.least, aroundOf(fork, late)[0] + line.least));
    high = Math.max(high, aroundOf(line, late / 2)[1] + aroundOf(fork, late / 2)[1]);
  }
  const excess = (time) => {
    const [share, density] = longer(laws, time), some = Math.max(share, LEAST);
    return [Math.log(some / late) - SAME, -density / some];
  };
  const found = low >= high || excess(low)[0] <= 0 ? low : fallingRoot(excess, low, high, low, NEAR);
  const near = atoms.map(([at]) => at).filter((at) => Math.abs(at - found) <= NEXT_TO * found);
  return near.length ? near.reduce((one, other) => (Math.abs(other - found) < Math.abs(one - found) ? other : one)) : found;
}

// The time of some, each for sure with some chance, that no more than a share `late` is behind.
function ofAtoms(atoms, late) {
  const later = [...atoms].sort(([a], [b]) => b - a);
  let [[found]] = later, beyond = 0;
  for (const [time, share] of later) {
    if (beyond > late * (1 + SAME)) break;
    found = time;
    beyond += share;
  }
  return found;
}

// The chance of each way, and the laws of its line and of its fork; null where there is none.
function lawsOf(ways, late) {
  if (!Array.isArray(ways)) return null;
  const goal = BEYOND - Math.log(late), cut = CUT * late, found = [];
  for (const { chance, line, branches } of ways) {
    const laws = [line, ...branches].map((part) => lawOfStages(part, goal, cut));
    if (laws.some((law) => !law)) return null;
    found.push({ chance, line: laws[0], fork: branches.length ? lawOfFork(laws.slice(1), cut) : always(0) });
  }
  return found;
}

// The law of the time until all of some independent branches are done.
function lawOfFork(branches, cut) {
  if (branches.length === 1) return branches[0];
  const least = Math.max(...branches.map((branch) => branch.least)), starts = sorted(branches.flatMap(({ atoms }) => atoms.map(([at]) => at)));
  const own = branches.flatMap(({ points }) => points), points = own.length ? sorted([least, ...starts, ...own]).filter((time) => time >= least) : [];
  return moving({ atoms: atomsOf(branches, starts.filter((at) => at >= least)), read: (time) => longest(branches, time), points, least, isNarrow: branches.some(({ isNarrow }) => isNarrow), isClosed: branches.every(({ isClosed }) => isClosed) }, cut);
}

function longest(branches, time) {
  const each = branches.map((branch) => branch.read(time)), share = -Math.expm1(each.reduce((sum, [one]) => sum + Math.log1p(-one), 0));
  const density = each.reduce((sum, [, one], k) => sum + (one ? each.reduce((found, [other], j) => (j === k ? found : found * (1 - other)), one) : 0), 0);
  return [Math.min(1, Math.max(0, share)), density];
}

// What the longest is for sure with some chance: one branch is, the others are done.
function atomsOf(branches, starts) {
  const found = [];
  for (const at of starts) {
    let done = 1, before = 1;
    for (const { atoms, read } of branches) {
      const [after] = read(behind(at)), share = atoms.reduce((sum, [time, one]) => sum + (Math.abs(time - at) <= SAME * at ? one : 0), 0);
      done *= 1 - after;
      before *= Math.max(0, 1 - after - share);
    }
    if (done - before > LEAST_SHARE && !(found.length && at - found.at(-1)[0] <= SAME * at)) found.push([at, done - before]);
  }
  return found;
}

// Which share of all ways takes longer than a time, and the density there.
function longer(laws, time) {
  let found = 0, density = 0;
  for (const { chance, line, fork } of laws) {
    const [share, slope] = longerTogether(line, fork, time);
    found += chance * share;
    density += chance * slope;
  }
  return [found, density];
}

function longerTogether(one, other, time) {
  const near = Math.max(time * (1 + SAME), AT_ONCE);
  if (!one.varies) return added(one.atoms, other.read, near);
  if (!other.varies) return added(other.atoms, one.read, near);
  let [found, density] = added(one.atoms, (at) => varying(other, at), near);
  const [more, slope] = added(other.atoms, (at) => varying(one, at), near), first = other.points[0], last = time - one.points[0];
  found += more + one.atoms.reduce((sum, [at, share]) => sum + share * atomsBeyond(other, near - at), 0) + one.varies * varying(other, last)[0];
  density += slope;
  if (first >= last) return [found, density];
  const inner = [...other.points, ...one.points.map((point) => time - point)].filter((point) => first < point && point < last);
  eachNode(sorted([first, last, ...inner]), one.isNarrow || other.isNarrow, (at, weight) => {
    const each = weight * varying(other, at)[1], [share, some] = varying(one, time - at);
    found += each * share;
    density += each * some;
  });
  return [found, density];
}

// What of the share, and of the density, is behind what is for sure with some chance.
function added(atoms, law, time) {
  let found = 0, density = 0;
  for (const [at, chance] of atoms) {
    const [share, slope] = law(time - at);
    found += chance * share;
    density += chance * slope;
  }
  return [found, density];
}
