// The ways through stages of which some are forks: `engine/distributions/fork_lines.py` tells what they are.

import { isStage, withoutLaw } from "./sums.js";

const OPERANDS = 9, FORK = -1, MOST_PATHS = 64, SAME = 1e-12, NEARLY_WHOLE = 1e-13;

// The ways through stages, or what the time is where there is no law.
export function waysOf(operands) {
  if (!operands.length || operands.length % OPERANDS) return NaN;
  const groups = Array.from({ length: operands.length / OPERANDS }, (_, k) => operands.slice(k * OPERANDS, (k + 1) * OPERANDS));
  if (!groups.every(([a, b, c, d, servers, ...rest]) => isStage([a, b, c, d, Math.abs(servers), ...rest]))) return NaN;
  if (!groups.every(([waits, , work, , servers, service, , , inside]) => servers >= 0 || (servers === FORK && !waits && !work && !service && inside >= 0))) return NaN;
  const found = ofLine(read(groups));
  if (!found) return NaN;
  const refused = found.flatMap(({ line, branches }) => [...(line.length ? [line] : []), ...branches]).map((part) => withoutLaw(part));
  if (refused.some((one) => one !== null && one !== one)) return NaN;
  return refused.some((one) => one !== null) ? Infinity : found;
}

function read(groups) {
  const found = [];
  for (let at = 0, end; at < groups.length; at = end) {
    end = Math.min(groups.length, at + 1 + Math.floor(Math.min(Math.abs(groups[at][8]), groups.length)));
    const group = groups[at], inside = read(groups.slice(at + 1, end)), isFork = group[4] === FORK;
    found.push({ group, inside, often: group[7], isFork, hasFork: isFork || inside.some(({ hasFork }) => hasFork) });
  }
  return found;
}

// Ways with other ones that are passed behind them; null where there are too many, or two forks in a row.
function both(ways, others) {
  if (!ways || !others) return null;
  const found = [];
  for (const one of ways) {
    for (const then of others) {
      if (one.branches.length && then.branches.length) return null;
      found.push({ chance: one.chance * then.chance, line: [...one.line, ...then.line], branches: one.branches.length ? one.branches : then.branches });
    }
  }
  return found.length > MOST_PATHS ? null : found;
}

const alone = (line) => [{ chance: 1, line, branches: [] }];

function ofLine(nodes) { return nodes.reduce((found, node) => both(found, ofNode(node)), alone([])); }

function operandsOf({ group, inside }) { return [...group, ...inside.flatMap(operandsOf)]; }

function ofNode(node) {
  if (!node.hasFork) return alone(operandsOf(node));
  const near = Math.round(node.often), whole = Math.abs(node.often - near) <= NEARLY_WHOLE * near ? near : Math.floor(node.often), share = Math.max(0, node.often - whole);
  if (whole > 1 || (whole && share)) return null;
  const once = whole || share ? onceOf(node) : [];
  return whole ? once : by(share, once, 1 - share);
}

function onceOf({ group, inside, isFork }) {
  const within = inside.filter((one) => one.group[4]), works = inside.filter((one) => !one.group[4]);
  if (isFork) return works.length || within.some(({ hasFork }) => hasFork) ? null : [{ chance: 1, line: [], branches: within.map(operandsOf) }];
  const own = alone([...group.slice(0, 7), 1, works.length, ...works.flatMap((one) => one.group)]);
  if (group[8] >= 0) return both(own, ofLine(within));
  const left = 1 - within.reduce((sum, { often }) => sum + often, 0);
  if (left < -SAME) return null;
  const found = by(0, [], left > NEARLY_WHOLE ? left : 0);
  for (const one of within.filter(({ often }) => often)) {
    const ways = by(one.often, one.hasFork ? onceOf(one) : alone(operandsOf({ ...one, group: [...one.group.slice(0, 7), 1, one.group[8]] })), 0);
    if (!ways) return null;
    found.push(...ways);
  }
  return both(own, found);
}

function by(chance, ways, left) {
  return ways && [...ways.map((way) => ({ ...way, chance: chance * way.chance })), ...(left > 0 ? [{ chance: left, line: [], branches: [] }] : [])];
}
