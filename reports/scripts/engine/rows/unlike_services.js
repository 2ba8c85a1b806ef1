// Rows of waits for several servers where services are short or long by chance: the laws and what is proven of them stand in
// `engine/queueing/unlike_laws.py`. They are written for numbers and for bounds alike: `by` has the arithmetic of either.

import { erlangC } from "../numerics/erlang.js";
import { boundsOf } from "../numerics/composed_bounds.js";
import { monotone } from "../numerics/bounds.js";

const LEAST = 1e-12, NOTHING = 1e-9, NEARLY = 1 - 1e-9, LIGHT = 0.9, LESS_IF_FULL = 0.6, WIDTH = 1.44;

const FLOATS = {
  number: (a) => a,
  plus: (a, b) => a + b, minus: (a, b) => a - b, times: (a, b) => a * b, over: (a, b) => a / b, square: (a) => a * a,
  least: Math.min, most: Math.max, root: Math.sqrt, exp: Math.exp, ln: Math.log, erlangC,
};

// Two lengths with a mean of 1, a variance and a third central moment; `share` of the load is of long ones.
function twoLengths(by, between, third) {
  const { number, plus, minus, times, over, most } = by, ONE = number(1), TWO = number(2);
  const variance = most(between, number(LEAST)), half = over(over(third, variance), TWO), back = minus(number(0), half);
  const reach = by.root(plus(variance, by.square(half))), lesser = over(variance, plus(reach, most(half, back)));
  const above = plus(lesser, times(most(half, number(0)), TWO)), below = plus(lesser, times(most(back, number(0)), TWO));
  const long = plus(above, ONE);
  return { short: most(minus(ONE, below), number(LEAST)), long, share: by.least(times(over(below, times(reach, TWO)), long), ONE), variance };
}

// How many times as long as for exponential services one waits whose services are of one kind.
function waitRatio(by, spread, servers, load) {
  const { number, plus, minus, times, over, least, most } = by, ONE = number(1), TWO = number(2);
  const less = least(spread, ONE), more = most(spread, ONE), busy = least(load, ONE), spare = minus(ONE, busy);
  const room = times(times(spare, minus(servers, ONE)), minus(by.root(plus(times(servers, number(5)), number(4))), TWO));
  const longer = least(over(room, times(times(servers, number(16)), most(busy, number(NOTHING)))), over(minus(servers, ONE), plus(servers, ONE)));
  const even = over(plus(less, ONE), plus(times(less, TWO), over(times(minus(ONE, less), TWO), plus(longer, ONE))));
  const power = by.exp(over(minus(number(0), by.ln(servers)), by.root(plus(times(more, number(4)), number(WIDTH)))));
  return times(even, by.exp(times(plus(busy, times(spare, power)), by.ln(over(plus(more, ONE), TWO)))));
}

function ratio(by, between, third, varied, servers, rate) {
  const { number, plus, minus, times, over, least, most, erlangC: waiting } = by, ONE = number(1);
  const of = twoLengths(by, between, third), load = least(rate, number(NEARLY)), busy = times(servers, load);
  const long = times(busy, of.share), short = times(busy, minus(ONE, of.share)), waits = most(waiting(servers, busy), number(LEAST));
  const alone = least(over(waiting(minus(servers, short), long), waits), ONE);
  const power = times(minus(number(LIGHT), times(waits, number(LESS_IF_FULL))), minus(ONE, over(ONE, servers)));
  const seldom = by.exp(times(power, minus(number(0), by.ln(of.long)))), forLong = times(of.share, plus(alone, times(minus(ONE, alone), seldom)));
  const ofOneLength = (left, own) => {
    const there = most(left, ONE);
    return waitRatio(by, varied, there, over(own, there));
  };
  const later = times(times(forLong, of.long), ofOneLength(minus(servers, short), long));
  const sooner = times(times(minus(ONE, forLong), of.short), ofOneLength(minus(servers, long), short)), near = by.square(over(of.short, of.long));
  const alike = waitRatio(by, plus(of.variance, times(varied, plus(of.variance, ONE))), servers, load);
  return plus(times(near, alike), times(minus(ONE, near), plus(later, sooner)));
}

// Twice the larger root of what both times are made of.
function reachOf(by, between, third, rate) {
  const { number, plus, minus, times } = by, ONE = number(1), of = twoLengths(by, between, third), load = by.least(rate, number(NEARLY));
  const spare = minus(ONE, load), long = times(load, of.share), both = plus(times(of.short, minus(ONE, long)), times(of.long, plus(spare, long)));
  const within = minus(by.square(both), times(times(times(spare, number(4)), of.short), of.long));
  return { of, spare, reach: plus(both, by.root(by.most(within, number(0)))) };
}

function shortTime(by, between, third, load) {
  const { of, reach } = reachOf(by, between, third, load);
  return by.over(by.times(by.times(of.short, of.long), by.number(2)), reach);
}

function longTime(by, between, third, load) {
  const { reach, spare } = reachOf(by, between, third, load);
  return by.over(by.over(reach, by.number(2)), spare);
}

function longShare(by, between, third, times, load) {
  const { number, minus, over, least, most } = by, { of, spare, reach } = reachOf(by, between, third, load);
  const near = least(times, over(by.times(by.times(by.times(spare, of.short), of.long), number(2)), reach)), far = most(times, over(reach, number(2)));
  return least(over(minus(times, near), most(by.times(times, number(LEAST)), minus(far, near))), number(1));
}

// Operands are finite, and but for the third moment not below 0; a load may be infinite.
function areThere(operands) { return operands.every((one, k) => (k === 1 || one >= 0) && (k === operands.length - 1 || Math.abs(one) < Infinity)); }

function valueOf(law, isEndless) {
  return (...operands) => {
    if (!areThere(operands)) return NaN;
    const found = isEndless && operands.at(-1) >= 1 ? Infinity : law(FLOATS, ...operands);
    return Number.isFinite(found) || isEndless ? found : NaN;
  };
}

// Whether it is proven that a ratio rises with the load: see `engine/queueing/unlike_numbers.py`.
function rises(between, third, varied, servers) {
  if (!(servers >= 1 && varied >= 1)) return false;
  const of = twoLengths(FLOATS, between, third);
  return of.long >= (of.short * (1 + varied)) / 2;
}

function rowOf(law, grows, { isProven = () => true, isEndless = false } = {}) {
  const value = valueOf(law, isEndless), atEnds = (parts) => monotone(value, parts, { grows });
  return { value, bounds: boundsOf({ law, grows, isProven, isEndless, areThere, atEnds }) };
}

export const unlike_ratio = rowOf(ratio, [0, 0, 0, 0, 1], { isProven: rises });
export const unlike_share = rowOf(longShare, [0, 0, 1, 1]);
export const unlike_short = rowOf(shortTime, [0, 0, 1]);
export const unlike_long = rowOf(longTime, [0, 0, 1], { isEndless: true });
