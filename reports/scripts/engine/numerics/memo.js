// Values of functions of many numbers, kept by these: one and the same network or line of stages is asked for by
// every requirement that rests on it, in every box, and again wherever a change leaves it as it was.

const MAX_CACHED = 1000, byName = new Map();
const MAX_NUMBERS = 1 << 17; // 1 MB of operands, then all is forgotten
const float = new Float64Array(1), halves = new Int32Array(float.buffer);

// A function of numbers that keeps its values.
export function memoizing(value) {
  const cache = new Map();
  let count = 0;
  return (...operands) => {
    const key = mixed(operands), known = cache.get(key);
    if (known && isSame(known.operands, operands)) return known.found;
    if (count > MAX_NUMBERS) { cache.clear(); count = 0; }
    const found = value(...operands);
    if (!known) count += operands.length;
    cache.set(key, { operands, found });
    return found;
  };
}

// A whole number made of the bits of all.
function mixed(operands) {
  let found = operands.length;
  for (let k = 0; k < operands.length; k++) {
    float[0] = operands[k];
    found = Math.imul(found ^ halves[0], 0x85ebca6b);
    found = Math.imul((found ^ (found >>> 15)) + halves[1], 0xc2b2ae35);
    found ^= found >>> 13;
  }
  return found | 0;
}

function isSame(one, other) {
  if (one.length !== other.length) return false;
  for (let k = 0; k < one.length; k++) if (!Object.is(one[k], other[k])) return false;
  return true;
}

// The same of whatever has a name.
export function memoized(name, make) {
  if (!byName.has(name)) {
    if (byName.size >= MAX_CACHED) byName.clear();
    byName.set(name, make());
  }
  return byName.get(name);
}
