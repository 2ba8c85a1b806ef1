// Lambert's W, the inverse of w exp(w).

const ONE_OVER_E = [0.36787944117144233, -1.2428753672788363e-17]; // as a float, and what it lacks
const AT_BRANCH = [-1, 1, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505]; // by powers of sqrt(2 (1 + e x))

// Its upper branch, or its lower one (`side` -1).
export function lambert(x, side) {
  if (x === 0 || x === Infinity) return x;
  if (!(x >= -ONE_OVER_E[0])) return NaN;
  const apart = side * Math.sqrt(Math.max(2 * Math.E * (x + ONE_OVER_E[0] + ONE_OVER_E[1]), 0));
  const near = AT_BRANCH.reduceRight((sum, one) => sum * apart + one, 0);
  if (Math.abs(apart) < 0.01) return near;
  if (x < -0.25) return byFritsch(x, near);
  const far = Math.log(side * x), log = Math.log(side * far);
  if (side < 0) return byFritsch(x, far - log + log / far);
  return byFritsch(x, x < 0 ? x * (1 - x) : x < Math.E ? Math.log1p(x) : far - log);
}

// Fritsch, Shafer and Crowley 1973: of the fourth order.
function byFritsch(x, start) {
  let w = start;
  for (let turn = 0; turn < 3; turn++) {
    const z = Math.log(x / w) - w, beside = 1 + w, q = 2 * beside * (beside + (2 / 3) * z);
    w *= 1 + (z / beside) * ((q - z) / (q - 2 * z));
  }
  return w;
}
