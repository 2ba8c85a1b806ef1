// The normal law: the share beyond a distance, in deviations, and the distance of a share.

import { gammaShares } from "./gamma.js";
import { fallingRoot } from "./roots.js";

export function normalTail(distance) { return distance < 0 ? 1 - tail(-distance) : tail(distance); }

export function normalQuantile(level) { return level < 0.5 ? -above(level) : above(1 - level); }

function tail(distance) { return gammaShares(0.5, (distance * distance) / 2)[0] / 2; }

// So many deviations above the middle lies a share of at most a half.
function above(late) {
  if (!(late > 0 && late <= 0.5)) return NaN;
  return fallingRoot((distance) => {
    const share = tail(distance);
    return [Math.log(share / late), -Math.exp((-distance * distance) / 2) / Math.sqrt(2 * Math.PI) / share];
  }, 0, 40, Math.sqrt(-2 * Math.log(2 * late)));
}
