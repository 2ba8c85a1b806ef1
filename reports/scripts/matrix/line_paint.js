// Thousands of lines between axes, painted pixel by pixel: a canvas that draws each by itself
// takes a tenth of a second for what this does in a few milliseconds.
//
// Between two axes many lines coincide: each is painted once, the darker the more there are.

import { LEVELS } from "./line_axis.js";

const LINES_AT_ONCE = 200;

// Paints rows on an image, gap after gap, and yields whenever it may be interrupted. `y` tells
// where a level lies; `color` is written #rrggbb, `strength` how dark the darkest lines are.
export function* paintLines(image, rows, axes, y, { color, strength, scale }) {
  const ink = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const levels = Float64Array.from({ length: LEVELS }, (_, level) => y(level) * scale);
  for (let gap = 0; gap + 1 < axes.length; gap++) {
    const from = Math.round(axes[gap].x * scale), width = Math.round(axes[gap + 1].x * scale) - from;
    const { keys, counts } = linesBetween(rows, axes[gap], axes[gap + 1]);
    yield;
    const amounts = new Float32Array(width * image.height);
    const clear = 1 - opacityOf(keys.length);
    for (let i = 0; i < keys.length; i++) {
      addLine(amounts, width, levels[keys[i] >> 8], levels[keys[i] & 255], 1 - clear ** (1 + Math.log2(counts[i])), scale);
      if (i % LINES_AT_ONCE === 0) yield;
    }
    putAmounts(image, from, width, amounts, ink, strength);
    yield;
  }
}

// The lines between two axes, each once: both its levels in a number, and how often it is there.
function linesBetween(rows, left, right) {
  const times = (linesBetween.times ??= new Uint32Array(LEVELS * LEVELS)), keys = [];
  const { levels: from, column: { codes: a } } = left, { levels: to, column: { codes: b } } = right;
  for (let i = 0; i < rows.length; i++) {
    const key = (from[a[rows[i]]] << 8) | to[b[rows[i]]];
    if (times[key]++ === 0) keys.push(key);
  }
  const counts = keys.map((key) => times[key]);
  for (const key of keys) times[key] = 0;
  return { keys, counts };
}

// Lay a line over the others, from one side of a gap to the other: what it covers of each pixel.
function addLine(amounts, width, start, end, opacity, thick) {
  const slope = (end - start) / width;
  for (let x = 0; x < width; x++) {
    const left = start + x * slope, right = left + slope;
    const top = Math.min(left, right) - thick / 2, bottom = Math.max(left, right) + thick / 2;
    for (let p = Math.floor(top); p < bottom; p++) {
      const at = p * width + x;
      amounts[at] += (1 - amounts[at]) * opacity * Math.min(1, Math.min(p + 1, bottom) - Math.max(p, top));
    }
  }
}

// Few lines are dark; of many, only those on which many rows lie.
function opacityOf(lines) { return Math.max(0.06, Math.min(0.85, 40 / lines)); }

function putAmounts({ data, width: across, height }, from, width, amounts, [red, green, blue], strength) {
  for (let row = 0; row < height; row++) {
    for (let x = 0; x < width; x++) {
      const amount = amounts[row * width + x];
      if (!amount) continue;
      const at = 4 * (row * across + from + x);
      data[at] = red;
      data[at + 1] = green;
      data[at + 2] = blue;
      data[at + 3] = 255 * strength * amount;
    }
  }
}
