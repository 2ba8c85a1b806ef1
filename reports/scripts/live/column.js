// A configuration that the page shows: a setting of a model, and the answers for it.

import { elasticities, Impossible, solving } from "../engine/answers.js";
import { isAsStarted } from "../engine/confidence.js";
import { Run } from "../engine/model.js";
import { Undecided } from "../engine/numerics/search.js";
import { printedCapacity, quantity } from "../common/format.js";
import { finished, sliced } from "../common/slices.js";

// Whole populations between two: so many, or all of them where these are fewer.
export function wholeBetween(low, high, count) {
  const width = high - low, steps = Math.min(count - 1, width);
  return Float64Array.from({ length: steps + 1 }, (_, i) => low + (steps ? Math.round((width * i) / steps) : 0));
}

export class Column {
  constructor(model, setting, name) {
    Object.assign(this, { model, setting, name, follows: true, n: null, answers: new Map() });
    this.run = new Run(model);
    this.next = new Run(model); // for the setting that is being solved: what is shown stays whole until it is
    this.scratch = new Run(model); // for whatever is drawn beside the setting itself
    this.trial = new Run(model); // for changes that are tried, in slices
  }

  // Solve the setting; where that cannot be, go back to the last one and say why.
  solve() { finished(this.solving()); }

  // The same in slices; whoever leaves it half done leaves all as it was.
  * solving() {
    this.trouble = yield* this.tried(copied(this.setting));
    if (this.trouble && this.good) this.setting = copied(this.good);
    if (!this.solved) return;
    this.good = copied(this.setting);
    this.atConfidence = this.metAtConfidence = undefined;
    if (this.follows || this.n === null) this.n = this.headlineAt;
    this.n = Math.min(this.graph.high, Math.max(this.graph.low, this.n));
    this.run.at(this.n);
  }

  // What qps told at the headline of the setting that the column began with, as long as it is that.
  get written() {
    const { headline, model, setting } = this;
    return headline && setting.start === this.began && isAsStarted(model, setting) ? headline : null;
  }

  // The population of the headline; that of nominal inputs until samples tell another one (`atConfidence`).
  get headlineAt() {
    const { written, solved, graph, atConfidence } = this;
    if (written) return written.at;
    if (atConfidence) return printedCapacity(atConfidence, graph.high);
    return solved.largest === null || this.isUncertain ? solved.at : printedCapacity(solved.largest, graph.high);
  }

  get isUncertain() { return Object.values(this.model.starts[this.setting.start].uncertain ?? {}).flat().length > 0; }

  // What is wrong with a setting; null where it has answers, which are kept.
  * tried(setting) {
    try {
      const solved = this.remembered(setting) ?? (yield* solving(this.next, setting));
      if (!solved) return "this page does not include this combination";
      [this.run, this.next] = [this.next, this.run];
      this.sensitivities = this.sensing = null;
      this.solved = solved;
      this.graph = solved.graph;
      this.remember(setting, solved);
      return null;
    } catch (error) {
      if (error instanceof Undecided) return "not solved within the time limit of the page; run qps solve";
      if (error instanceof Impossible) return error.message;
      throw error;
    }
  }

  // A reader goes to and fro between settings (Try and Undo, a menu, the way back): the last answers stay.
  remembered(setting) {
    const found = this.answers.get(keyOf(setting)) ?? null;
    if (found) this.next.prepare(found.graph, setting.numbers).at(found.at);
    return found;
  }

  remember(setting, solved) {
    const key = keyOf(setting);
    this.answers.delete(key);
    this.answers.set(key, solved);
    if (this.answers.size > MOST_ANSWERS) this.answers.delete(this.answers.keys().next().value);
  }

  // How far each number moves the answer; told when it is first asked for, as it takes longer than an answer. Null where
  // it is not known by the time `until`, and somebody has to work on at it.
  get sensitivity() {
    if (!this.sense(this.until ?? Infinity)) this.isAwaited = true;
    return this.sensitivities;
  }

  // Work at that until some time; true where it is known.
  sense(until) {
    if (this.sensitivities) return true;
    this.sensing ??= this.sensed();
    return sliced(this.sensing, until, (found) => { this.sensitivities = found; });
  }

  // The same for whoever works in slices.
  * sensitively() { while (!this.sense(0)) yield; }

  * sensed() {
    const { solved } = this, graph = solved.graph, run = this.sensor ??= new Run(this.model);
    return yield* elasticities(run.prepare(graph, this.good.numbers), solved);
  }

  // The value of a step at the population that is shown.
  value(step) { return this.run.at(this.n).value(step); }

  // Populations to draw: somewhat past the answer and the first saturations.
  populations(count = 121) {
    const { solved, graph } = this;
    const points = solved.resources.map((one) => one.at).filter((at) => at !== null).sort((a, b) => a - b);
    const nearest = Math.max(1.25 * solved.at, points.length ? 1.25 * points[0] : 0);
    // A second saturation far away would squash what matters into a corner.
    const second = points.length > 1 && points[1] < 1.5 * nearest ? 1.15 * points[1] : 0;
    const all = !points.length && solved.largest === graph.high ? graph.high : 0;
    const high = Math.max(nearest, second, all, 1.05 * this.n, graph.low + 4);
    return wholeBetween(graph.low, Math.ceil(high), count);
  }

  format(value, dimension, options) { return quantity(this.model.units, value, dimension, options); }

  // How a start looks in the same mode, put into the scratch run; null where it has no answer.
  other(setting) {
    const graphs = this.model.graphs(setting);
    if (!graphs) return null;
    const graph = graphs.find((one) => one.mode === this.graph.mode) ?? graphs[0];
    return this.scratch.prepare(graph, setting.numbers);
  }
}

const MOST_ANSWERS = 8;

function keyOf({ numbers, ...rest }) { return `${JSON.stringify(rest)} ${[...numbers].join(" ")}`; }

export function copied(setting) { return { ...setting, picks: [...setting.picks], numbers: new Map(setting.numbers) }; }
