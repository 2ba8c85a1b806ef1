// Bounds of laws that are written for numbers of any kind: those of each operation that they take. A value has four numbers, the least and
// the most of it and of its slope; where its least is not-a-number nothing is known.

import { NOTHING, over, times } from "./bounds.js";
import { erlangC } from "./erlang.js";

const bent = (value, slope) => ([low, high, slow, steep]) => {
  const rates = [slope(low), slope(high)].sort((a, b) => a - b), [least, most] = times(slow, steep, ...rates);
  return [value(low), value(high), least, most];
};

function ofProduct(a, b) {
  const [low, high] = times(a[0], a[1], b[0], b[1]), [slow, steep] = times(a[2], a[3], b[0], b[1]), [least, most] = times(a[0], a[1], b[2], b[3]);
  return [low, high, slow + least, steep + most];
}

function ofQuotient(a, b) {
  const [low, high] = over(a[0], a[1], b[0], b[1]), [least, most] = times(low, high, b[2], b[3]);
  return [low, high, ...over(a[2] - most, a[3] - least, b[0], b[1])];
}

function chosen(pick, sign) {
  return (a, b) => {
    const one = (sign > 0 ? b[0] >= a[1] : b[1] <= a[0]) ? b : a, other = (sign > 0 ? a[0] >= b[1] : a[1] <= b[0]) ? a : b;
    return [pick(a[0], b[0]), pick(a[1], b[1]), Math.min(one[2], other[2]), Math.max(one[3], other[3])];
  };
}

function ofSquare([low, high, slow, steep]) {
  const ends = [low * low, high * high], isAcross = low < 0 && high > 0, [least, most] = times(slow, steep, 2 * low, 2 * high);
  return [isAcross ? 0 : Math.min(...ends), Math.max(...ends), least, most];
}

// It falls with servers and rises with traffic, and how fast is not known.
function ofErlang(servers, traffic) {
  const isKnown = servers[0] > 0 && traffic[0] >= 0, isStill = [...servers.slice(2), ...traffic.slice(2)].every((slope) => slope === 0);
  const rises = servers[3] <= 0 && traffic[2] >= 0, falls = servers[2] >= 0 && traffic[3] <= 0;
  const ends = isKnown ? [erlangC(servers[1], traffic[0]) * (1 - 1e-9), Math.min(1, erlangC(servers[0], traffic[1]) * (1 + 1e-9))] : NOTHING;
  return [...ends, isStill || rises ? 0 : -Infinity, isStill || falls ? 0 : Infinity];
}

const BOUNDED = {
  number: (a) => [a, a, 0, 0],
  plus: (a, b) => a.map((one, k) => one + b[k]),
  minus: (a, b) => [a[0] - b[1], a[1] - b[0], a[2] - b[3], a[3] - b[2]],
  times: ofProduct, over: ofQuotient, square: ofSquare,
  least: chosen(Math.min, -1), most: chosen(Math.max, 1),
  root: bent(Math.sqrt, (a) => 0.5 / Math.sqrt(a)), exp: bent(Math.exp, Math.exp), ln: bent((a) => (a > 0 ? Math.log(a) : NaN), (a) => 1 / a),
  erlangC: ofErlang,
};

// The bounds of a law: at the ends of what it `grows` with, where all else stays and it is proven to; else of what it is made of.
export function boundsOf({ law, grows, isProven, isEndless, areThere, atEnds }) {
  return (boxes, i) => {
    const { low, high, slow, steep } = boxes, parts = boxes.program.parts[i];
    if (![low, high].every((ends) => areThere(parts.map((part) => ends[part])))) return boxes.leaveOpen(i);
    const others = parts.filter((_, k) => !grows[k]), isStill = others.every((part) => low[part] === high[part] && slow[part] === 0 && steep[part] === 0);
    if (isStill && isProven(...others.map((part) => low[part]))) return atEnds(parts)(boxes, i);
    const found = law(BOUNDED, ...parts.map((part) => [low[part], high[part], slow[part], steep[part]])), isBeyond = isEndless && high[parts.at(-1)] >= 1;
    if (isEndless && low[parts.at(-1)] >= 1) found[0] = Infinity;
    boxes.keep(i, [found[0], isBeyond ? Infinity : found[1]]);
    return boxes.slope(i, [found[2], isBeyond ? Infinity : found[3]]);
  };
}
