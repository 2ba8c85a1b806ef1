// The law of the time until all of some branches are done that are begun together, and what it is as a factor: `engine/forks/fork_laws.py` tells how.

import { longerInLaw, termsOf } from "./fork_tails.js";
import { KINKED } from "./sums.js";
import { behind, eachNode, moving, sorted, varying } from "./time_laws.js";

const LEAST_SHARE = 1e-13, SAME = 1e-12, FINER = 4, DIGITS = 11, NEXT_TO = 1e-6, FINEST = -40, LONGEST = 8;

// Chances, times for sure, and what varies of a law beyond that: times with weights.
export function summedTimes(law, nearest) {
  const found = law.atoms.map(([at, share]) => ({ share, at, factor: null }));
  if (!law.varies) return found;
  const [begin] = law.points, times = [], weights = [], first = law.atoms.reduce((last, [at]) => (at <= begin && begin - at <= NEXT_TO * begin ? at : last), begin); // what some take for sure, where that is so near
  const points = [...law.points.slice(0, -1).flatMap((from, k) => Array.from({ length: FINER }, (_, part) => from + ((law.points[k + 1] - from) * part) / FINER)), law.points.at(-1)];
  eachNode(points, law.isNarrow, (time, weight) => {
    times.push(time - first);
    weights.push(weight * varying(law, time)[1]);
  });
  const scale = law.varies / weights.reduce((sum, one) => sum + one, 0);
  return [...found, { share: 1, at: first, factor: factorOf(times, weights.map((one) => one * scale), nearest, law) }];
}

function factorOf(times, weights, nearest, { varies, isNarrow, atoms }) {
  const mean = weights.reduce((found, one, k) => found + one * times[k], 0), beyond = times.at(-1) - mean / varies; // densities far out are known to so many digits of the largest one alone
  return { mass: varies, done: 0, nearest: isNarrow ? Math.min(nearest, DIGITS / beyond) : nearest, served: 0, isNarrow: isNarrow || atoms.length > 1, mean, into: transformOf(times, weights) };
}

// The transform at points whose imaginary parts are multiples of the first one that is not 0: each is made of the last.
function transformOf(times, weights) {
  const size = times.length, x = new Float64Array(size), y = new Float64Array(size), c = new Float64Array(size), d = new Float64Array(size);
  let real = NaN, turns = 0, step = 0;
  return (re, im, into) => {
    const isNext = re === real && (turns === 0 ? im > 0 : Math.abs(im - (turns + 1) * step) <= 1e-9 * im);
    if (!isNext) {
      for (let k = 0; k < size; k++) {
        const one = weights[k] * Math.exp(-re * times[k]);
        x[k] = one * Math.cos(im * times[k]);
        y[k] = -one * Math.sin(im * times[k]);
      }
      [real, turns] = [im ? NaN : re, 0];
    } else {
      if (turns === 0) {
        step = im;
        for (let k = 0; k < size; k++) {
          c[k] = Math.cos(step * times[k]);
          d[k] = -Math.sin(step * times[k]);
        }
      }
      turns += 1;
      for (let k = 0; k < size; k++) {
        const turned = x[k] * c[k] - y[k] * d[k];
        y[k] = x[k] * d[k] + y[k] * c[k];
        x[k] = turned;
      }
    }
    let a = 0, b = 0;
    for (let k = 0; k < size; k++) {
      a += x[k];
      b += y[k];
    }
    into[0] = a;
    into[1] = b;
  };
}

// The law of the time to pass one of some ways.
export function lawOfPaths(paths, goal, cut) {
  const shares = new Map(), varied = paths.filter(({ factors }) => factors.length);
  for (const { fixed, share, factors } of paths) shares.set(fixed, (shares.get(fixed) ?? 0) + factors.reduce((found, { done }) => found * done, share));
  const starts = sorted(shares.keys()), slowest = 1 / Math.min(...varied.flatMap(({ factors }) => factors.map(({ nearest }) => nearest)));
  const away = Array.from({ length: LONGEST - FINEST }, (_, k) => slowest * 2 ** (FINEST + k)), points = varied.length ? sorted([...starts, ...starts.flatMap((start) => away.map((one) => start + one))]) : [];
  const atoms = starts.map((at) => [at, shares.get(at)]).filter(([, share]) => share > LEAST_SHARE), terms = termsOf(paths);
  const read = (time) => {
    const [share, density] = longerInLaw(paths, time, goal, terms);
    return [Math.min(1, Math.max(0, share)), Math.max(0, density)];
  };
  return moving({ atoms, read, points, least: starts[0], isNarrow: terms === KINKED }, cut);
}

// The law of the time until all of some independent branches are done.
export function lawOfFork(branches, cut) {
  if (branches.length === 1) return branches[0];
  const least = Math.max(...branches.map((branch) => branch.least)), starts = sorted(branches.flatMap(({ atoms }) => atoms.map(([at]) => at)));
  const own = branches.flatMap(({ points }) => points), points = own.length ? sorted([least, ...starts, ...own]).filter((time) => time >= least) : [];
  return moving({ atoms: atomsOf(branches, starts.filter((at) => at >= least)), read: (time) => longest(branches, time), points, least, isNarrow: branches.some(({ isNarrow }) => isNarrow) }, cut);
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
