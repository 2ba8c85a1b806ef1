// Axes: where a value lies in a picture, and the round numbers that stand there.

export class Axis {
  constructor(low, high, start, end, isLog = false) {
    Object.assign(this, { low, high, start, end, isLog });
  }

  at(value) {
    const f = this.isLog ? Math.log10 : (v) => v;
    return this.start + ((f(value) - f(this.low)) / (f(this.high) - f(this.low))) * (this.end - this.start);
  }

  value(at) {
    const share = (at - this.start) / (this.end - this.start);
    if (this.isLog) return this.low * (this.high / this.low) ** share;
    return this.low + share * (this.high - this.low);
  }

  ticks(wanted) {
    if (!this.isLog) return ticks(this.low, this.high, wanted);
    const first = Math.floor(Math.log10(this.low)), last = Math.ceil(Math.log10(this.high));
    const parts = last - first < 3 ? [1, 2, 5] : [1];
    const found = [];
    for (let power = first; power <= last; power++) for (const part of parts) found.push(part * 10 ** power);
    const every = Math.max(1, Math.ceil(found.length / (wanted + 2)));
    const inside = found.filter((v) => v >= this.low * (1 - 1e-9) && v <= this.high * (1 + 1e-9));
    return parts.length > 1 ? inside : inside.filter((_, i) => i % every === 0);
  }
}

export function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 2.5, 5, 10].find((factor) => rough <= factor * power * (1 + 1e-9)) ?? 10) * power;
}

function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const step = roundStep((high - low) / wanted);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9) + 0; i * step <= high + step * 1e-9; i++) found.push(i * step);
  return found;
}

// The texts of ticks with their unit at the last one alone, where all have the same; `pad` keeps its room beside numbers.
export function withUnitOnce(texts, pad = "") {
  const [unit] = /[ \u00a0]\D*$/.exec(texts.at(-1) ?? "") ?? [];
  const isSame = (text) => text.endsWith(unit) || ZERO.test(text);
  if (!unit || !texts.every(isSame)) return texts;
  return texts.map((text, i) => (i === texts.length - 1 ? text : `${ZERO.test(text) ? "0" : text.slice(0, -unit.length)}${pad}`));
}
const ZERO = /^0(?:[ \u00a0]\D*)?$/;

// An axis that shows all values: from zero, to a round number; a logarithmic one eight decades.
export function axisFor(values, start, end, isLog) {
  const finite = values.filter(Number.isFinite);
  if (isLog) {
    const above = finite.filter((v) => v > 0);
    const highest = 10 ** Math.ceil(Math.log10(Math.max(...above, 1e-300)) - 1e-9);
    const lowest = Math.max(10 ** Math.floor(Math.log10(Math.min(...above, highest)) + 1e-9), highest / 1e8);
    return above.length ? new Axis(Math.min(lowest, highest / 10), highest, start, end, true) : new Axis(1, 10, start, end, true);
  }
  let low = Math.min(0, ...finite), high = Math.max(0, ...finite);
  if (low === high) high = 1;
  if (low > -0.01 * (high - low)) low = 0;
  const step = roundStep((high - low) / 5);
  return new Axis(step * Math.floor(low / step + 1e-9), step * Math.ceil(high / step - 1e-9), start, end);
}
