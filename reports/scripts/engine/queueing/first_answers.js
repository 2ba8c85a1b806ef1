// The time until the first of many equal calls have answered, each of an exponential time: `engine/forks/first_answers.py` tells how.

const AWAY = 8, SERIES = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];
const out = new Float64Array(2); // both parts of the complex number that was found last

export function firstAnswers(answers, spare, rate) {
  const least = spare + 1, most = least + answers, isFew = answers < AWAY, high = isFew ? most + AWAY : most; // transforms may be asked for as far left of zero as `least`
  return { mass: 1, done: 0, nearest: least * rate, served: 0, isNarrow: false, mean: meanOf(least, most) / rate, into: (re, im, into) => transformInto(re / rate, im / rate, { least, most, isFew, high }, into) };
}

// E exp(-s T) at s = rate (x + i y), into `into`.
function transformInto(x, y, { least, most, isFew, high }, into) {
  let a = 1, b = 0;
  const times = (c, d) => { [a, b] = [a * c - b * d, a * d + b * c]; };
  for (let k = 0; k < AWAY; k++) {
    inverse(1 + x / (least + k), y / (least + k));
    times(out[0], out[1]);
    if (isFew) times(1 + x / (most + k), y / (most + k));
  }
  const [c, d] = ratio(least + AWAY, high, x, y), size = Math.exp(c);
  times(size * Math.cos(d), size * Math.sin(d));
  into[0] = a;
  into[1] = b;
}

// log(G(low + z) G(high)/(G(low) G(high + z))) of the gamma function G, all of them far from zero.
function ratio(low, high, x, y) {
  const away = high - low, first = low + x;
  inverse(first, y);
  log1p(away * out[0], away * out[1]);
  let a = (0.5 - first) * out[0] + y * out[1], b = (0.5 - first) * out[1] - y * out[0];
  log1p(x / high, y / high);
  a += (low - 0.5) * Math.log1p(away / low) - away * out[0];
  b -= away * out[1];
  for (const [re, im, sign] of [[low, 0, -1], [high, 0, 1], [first, y, 1], [first + away, y, -1]]) {
    rest(re, im);
    a += sign * out[0];
    b += sign * out[1];
  }
  return [a, b];
}

function inverse(x, y) {
  const size = x * x + y * y;
  out[0] = x / size;
  out[1] = -y / size;
}

// log(1 + z), right of -1.
function log1p(x, y) {
  out[0] = Math.log1p(x * (2 + x) + y * y) / 2;
  out[1] = Math.atan(y / (1 + x));
}

// Stirling's series.
function rest(x, y) {
  inverse(x, y);
  const [re, im] = out, squareRe = re * re - im * im, squareIm = 2 * re * im;
  let a = 0, b = 0;
  for (let k = SERIES.length - 1; k >= 0; k--) [a, b] = [a * squareRe - b * squareIm + SERIES[k], a * squareIm + b * squareRe];
  out[0] = a * re - b * im;
  out[1] = a * im + b * re;
}

function meanOf(least, most) {
  let found = digamma(most + AWAY) - digamma(least + AWAY);
  for (let k = 0; k < AWAY; k++) found += 1 / (least + k) - 1 / (most + k);
  return found;
}

// The slope of log G.
function digamma(x) { return SERIES.reduce((found, one, power) => found - (one * (2 * power + 1)) / x ** (2 * power + 2), Math.log(x) - 1 / (2 * x)); }
