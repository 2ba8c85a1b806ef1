// The law of the time to pass stages, asked at many times: `engine/distributions/stage_tails.py` tells how.

import { gaussLegendre } from "../numerics/roots.js";
import { atOnceOf, isKinked, longerOf, tailOf, pathsThrough } from "./sums.js";

const OPERANDS = 9, SAME = 1e-12, NARROW = 0.2, KINKS = 3, LEAST_POWER = -36, MOST_POWER = 36, FINER = -8;
export const FEW = gaussLegendre(16); // where laws are summed
export const MANY = gaussLegendre(48); // of narrow ones

// `fixed` are the times that are always the same, each with the share that takes just as long.
export function lawOf(stages, goal) {
  const paths = pathsThrough(stages);
  if (!paths) return null;
  const tails = paths.map((mixture) => tailOf(mixture, goal)), fixed = [];
  for (const path of paths) if (!fixed.length || path.fixed - fixed.at(-1)[0] > SAME * path.fixed) fixed.push([path.fixed, atOnceOf(path)]);
  return { tails, fixed, terms: (tails.find(isKinked) ?? tails[0]).terms };
}

// Which share takes longer than a time, and the density.
export function longer(law, time) {
  const [share, density] = longerOf(law.tails, 0, time);
  return [Math.min(1, Math.max(0, share)), Math.max(0, density)];
}

// Points at which panels begin: by powers from each time at which a law does (`engine/distributions/panel_laws.py`), and where it has kinks. Of many calls the first are there far sooner than one.
export function panelPoints(starts, stages, hasSpare = false) {
  const groups = Array.from({ length: stages.length / OPERANDS }, (_, k) => stages.slice(k * OPERANDS, (k + 1) * OPERANDS));
  const times = groups.flatMap(([, , work, , , service]) => [work, service]).filter((time) => time), scale = times.reduce((sum, time) => sum + time, 0) || 1;
  const varies = Math.max(...groups.map(([, , , spread, , , variation]) => Math.max(spread, variation))), most = Math.max(1, ...groups.map(([, , , , servers]) => servers));
  const shortest = (times.length ? Math.min(...times) : 1) / (scale * most), isSmooth = varies <= 1 && !hasSpare, finest = isSmooth ? Math.max(LEAST_POWER, Math.floor(Math.log2(shortest)) + FINER) : LEAST_POWER;
  const found = [...starts];
  for (const start of starts) {
    for (let power = finest; power < MOST_POWER; power++) found.push(start + scale * 2 ** power);
    for (const [waits, , work, spread, servers] of groups) {
      if (waits && work && spread < NARROW) for (let k = 1; k <= KINKS; k++) found.push(start + (k * work) / (servers || 1));
    }
  }
  return found;
}

// A law between points, with its values at a few nodes of each panel once they are asked for: between these it is a polynomial.
export class PanelLaw {
  constructor(law, points) {
    const rule = isKinked(law) ? MANY : FEW;
    Object.assign(this, { law, points, rule, by: weightsBetween(rule), panels: [], found: [0, 0] });
  }

  // Which share takes longer than a time, and the density.
  at(time) {
    const { points, rule, by, found } = this, k = panelOf(points, time);
    if (k < 0) return longer(this.law, time);
    const half = (points[k + 1] - points[k]) / 2, middle = (points[k + 1] + points[k]) / 2, place = (time - middle) / half;
    const [shares, densities] = (this.panels[k] ??= this.valuesIn(middle, half));
    let whole = 0, share = 0, density = 0;
    for (let j = 0; j < rule.length; j++) {
      const away = place - rule[j][0];
      if (!away) return [shares[j], densities[j]];
      const weight = by[j] / away;
      whole += weight;
      share += weight * shares[j];
      density += weight * densities[j];
    }
    found[0] = Math.min(1, Math.max(0, share / whole));
    found[1] = Math.max(0, density / whole);
    return found;
  }

  valuesIn(middle, half) {
    const shares = new Float64Array(this.rule.length), densities = new Float64Array(this.rule.length);
    this.rule.forEach(([node], j) => { [shares[j], densities[j]] = longer(this.law, middle + half * node); });
    return [shares, densities];
  }
}

// The panel that a time is in, -1 outside of all.
function panelOf(points, time) {
  let low = 0, high = points.length - 1;
  if (!(high > 0 && points[0] < time && time < points[high])) return -1;
  while (high - low > 1) {
    const between = (low + high) >> 1;
    if (points[between] <= time) low = between;
    else high = between;
  }
  return low;
}

// Barycentric weights of the nodes of a rule of Gauss and Legendre.
function weightsBetween(rule) {
  const sorted = [...rule].map((one, j) => [one[0], one[1], j]).sort((a, b) => a[0] - b[0]), found = new Float64Array(rule.length);
  sorted.forEach(([node, weight, j], k) => { found[j] = (k % 2 ? -1 : 1) * Math.sqrt((1 - node * node) * weight); });
  return found;
}
