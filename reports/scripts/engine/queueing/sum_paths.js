// The paths through stages: `engine/distributions/stage_paths.py` tells why. A path is the chance of it, by the pieces that it has: fixed times and stages that vary.

const MAX_PATHS = 64;

export const SAME = 1e-12; // shares and times that differ by less, as a part of them, are one

function hasFixedChance(stage) { return stage.isPassed && (stage.inside.some(hasFixedChance) || (stage.share > 0 && isEverFixed(stage))); }

function isEverFixed({ fixed, inside }) { return fixed > 0 || inside.some((one) => one.whole > 0 && isEverFixed(one)); }

function fixedOf({ whole, fixed, inside }) { return whole * inside.reduce((sum, one) => sum + fixedOf(one), fixed); }

function everVaries({ isPassed, isRandom, inside }) { return isPassed && (isRandom || inside.some(everVaries)); }

// What has so many paths that they are not told apart is null.
function both(one, other) {
  if (!one || !other) return null;
  const found = new Map();
  for (const { chance, counts } of one.values()) {
    for (const then of other.values()) {
      const together = new Map(counts);
      for (const [piece, times] of then.counts) together.set(piece, (together.get(piece) ?? 0) + times);
      const sorted = [...together].sort(([a], [b]) => a - b), key = String(sorted);
      found.set(key, { chance: (found.get(key)?.chance ?? 0) + chance * then.chance, counts: sorted });
    }
  }
  return found.size > MAX_PATHS ? null : found;
}

const singlePath = (counts, chance = 1) => new Map([[String(counts), { chance, counts }]]);

function pathsOf(line, pieces) {
  return line.filter(({ isPassed }) => isPassed).reduce((found, stage) => found && both(found, pathsOfOne(stage, pieces)), singlePath([]));
}

function pathsOfOne(stage, pieces) {
  if (!hasFixedChance(stage)) return singlePath([...noted(pieces, { fixed: fixedOf(stage) }, fixedOf(stage) > 0), ...noted(pieces, { stage }, everVaries(stage))]);
  const once = pathsOnce(stage, pieces);
  let found = singlePath([]);
  for (let times = stage.whole, power = once; times; power = times > 1 ? both(power, power) : power, times = Math.floor(times / 2)) {
    if (times % 2) found = both(found, power);
  }
  if (!stage.share || !once || !found) return found;
  return both(found, mixedIn(singlePath([], 1 - stage.share), stage.share, once));
}

const noted = (pieces, piece, is) => (is ? [[pieces.push(piece) - 1, 1]] : []);

// Ways with other ones, of which each has so much less of a chance.
function mixedIn(paths, by, others) {
  for (const [key, { chance, counts }] of others) paths.set(key, { chance: (paths.get(key)?.chance ?? 0) + by * chance, counts });
  return paths;
}

function pathsOnce(stage, pieces) {
  const own = [...noted(pieces, { fixed: stage.fixed }, stage.fixed > 0), ...noted(pieces, { stage: { ...stage, whole: 1, share: 0, inside: [], isChoice: false } }, stage.isRandom)];
  return both(singlePath(own), stage.isChoice ? pathsOfChoice(stage, pieces) : pathsOf(stage.inside, pieces));
}

// Of alternatives exactly one is passed, or none.
function pathsOfChoice({ left, inside }, pieces) {
  const found = left ? singlePath([], left) : new Map();
  for (const one of inside.filter(({ isPassed }) => isPassed)) {
    const paths = pathsOnce(one, pieces);
    if (!paths) return null;
    mixedIn(found, one.chance, paths);
  }
  return found;
}

// Ways by the time that is always the same of them, the shortest first.
export function mixtures(line) {
  const pieces = [], paths = pathsOf(line, pieces);
  if (!paths) return null;
  const timed = [...paths.values()].map(({ chance, counts }) => ({
    chance,
    fixed: counts.reduce((sum, [piece, times]) => sum + (pieces[piece].fixed ?? 0) * times, 0),
    stages: counts.filter(([piece]) => pieces[piece].stage).map(([piece, times]) => [pieces[piece].stage, times]),
  }));
  timed.sort((a, b) => a.fixed - b.fixed);
  const found = [];
  for (const path of timed) {
    const last = found.at(-1);
    if (last && path.fixed - last.fixed <= SAME * path.fixed) {
      last.chance += path.chance;
      last.paths.push(path);
    } else found.push({ fixed: path.fixed, chance: path.chance, paths: [path] });
  }
  return found;
}
