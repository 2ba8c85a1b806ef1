// Colors of shares, from dark to bright: Cividis, which color-blind readers see alike. Numbers stand beside them.

import { draw, make } from "./dom.js";

const CIVIDIS = [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]];

export function scaleColor(share) {
  if (!Number.isFinite(share)) return "none";
  const at = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const [low, part] = [Math.floor(at), at % 1];
  const next = CIVIDIS[Math.min(low + 1, CIVIDIS.length - 1)];
  return `rgb(${CIVIDIS[low].map((v, i) => Math.round(v + (next[i] - v) * part)).join(",")})`;
}

// At least 4.5 to 1 on each of these colors.
export function scaleInk(share) { return share > 0.47 ? "#000000" : "#ffffff"; }

export function scaleLegend(low = "0 %", high = "100 % and more") {
  const steps = [...Array(12).keys()];
  return [make("li", null, `${low} `, draw("svg", { width: 120, height: 12, "aria-hidden": "true" },
    steps.map((i) => draw("rect", { x: i * 10, width: 10.5, height: 12, fill: scaleColor(i / 11) }))), ` ${high}`)];
}
