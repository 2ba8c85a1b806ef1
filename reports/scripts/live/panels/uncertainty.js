// How sure the answer is, live: where numbers of the spec are not known, the page draws samples of
// them. A few while a reader moves something, more of them between frames.

import { CERTAINTY, least, most, Samples, valueAt } from "../../engine/samples.js";
import { quotient } from "../../engine/numerics/fractions.js";
import { exactNumber } from "../../engine/model.js";
import { color, draw, fill, make, table } from "../../common/dom.js";
import { Axis } from "../../common/axis.js";
import { number, percent, printedCapacity, whole, unitSymbols } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { sliced } from "../../common/slices.js";
import { drawHistogram } from "../charts/histogram.js";
import { Fan, FanJob } from "../charts/interval_bands.js";
import { called } from "../labels.js";
import { inUnit, nounOf, samplesText } from "../sentences.js";
import { GOAL } from "./relaxed_goals.js";

const FULL = 256, QUICK = 32, FEWEST = 16;
const JUDGED = 3, JUDGED_GOALS = 1; // changes of which samples tell the capacity
const FRAME = 6; // ms that samples may take before the pictures of a change are drawn
const LONGEST = 3000; // ms of work at samples, before it is left
const PROBABILITY = 0.9;

export class Uncertainty {
  constructor(app, data) {
    Object.assign(this, { app, seed: 1, drawn: new Map(), longest: app.isHurried ? LONGEST : Infinity });
    this.first = app.columns[0];
    data.columns.forEach(({ uncertainty, start }, i) => { if (uncertainty) app.columns[i].uncertainty = { ...uncertainty, asStarted: start }; });
    this.controls = [make("button", { type: "button", id: "new-samples", on: { click: () => this.again() } }, "Resample")];
    this.written = new Map(["likely", "measure-next", "of-how-sure"].map((id) => [id, [...document.getElementById(id)?.childNodes ?? []]]));
  }

  // -- what numbers may be ---------------------------------------------------------------

  spreadOf(column, name) {
    const { model, setting } = column;
    const numbers = Object.values(model.starts[setting.start].uncertain ?? {}).flat();
    for (const one of numbers) {
      const found = model.record(one).find(([own]) => own === name);
      if (found) return found.slice(1);
    }
    return null;
  }

  // A picture of what a number may be, above its slider, which spans it; nothing for one that is known.
  shown({ column }, field) {
    const { record, note } = field, spread = this.spreadOf(column, record.name);
    if (!spread || record.decided) return null;
    const factor = quotient(...record.factor.map(BigInt));
    const at = (level) => valueAt(spread, level) / factor;
    const values = Float64Array.from({ length: 400 }, (_, i) => at((i + 0.5) / 400)).sort();
    const [low, high] = [least(values, 0.975), most(values, 0.975)];
    const typical = quotient(...inUnit(record, this.typical(column, record)));
    const bounds = ["low", "high"].map((end) => (record[end] ? quotient(...inUnit(record, record[end].map(BigInt))) : null));
    const room = 0.6 * (high - low) || Math.abs(typical) / 2 || 1;
    const from = Math.max(bounds[0] ?? (low >= 0 ? 0 : -Infinity), low - room), to = Math.min(bounds[1] ?? Infinity, high + room);
    field.scale = new Axis(from, Math.max(to, from + room / 10), 0, 1);
    const unit = record.unit ? ` ${unitSymbols(record.unit)}` : "";
    const interval = `95 % interval ${number(low, 3)}–${number(high, 3)}${unit}`;
    const back = make("button", { type: "button", class: "quiet", on: { click: () => this.forget(column, record) } }, "restore uncertainty");
    field.refresh = () => {
      const value = inUnit(record, column.run.numbers.get(record.name));
      const isSet = column.model.changedIn(column.setting)(record.name);
      note.replaceChildren(...(isSet ? [`fixed at ${number(quotient(...value))}${unit} `, back] : [interval]));
      field.slider.setAttribute("aria-valuetext", `${number(quotient(...value))}${unit}; ${isSet ? "fixed" : `uncertain, ${interval}`}`);
    };
    return spreadPicture(values, field.scale, { low, high, typical }, `${record.name}: nominal ${number(typical)}${unit}, ${interval}`);
  }

  typical({ model, setting }, record) { return model.setting(setting.start).numbers.get(record.name) ?? exactNumber(record); }

  forget(column, record) {
    const { numbers, start } = column.setting, usual = column.model.setting(start).numbers;
    if (usual.has(record.name)) numbers.set(record.name, usual.get(record.name));
    else numbers.delete(record.name);
    this.app.change(false);
  }

  // -- samples ---------------------------------------------------------------------------

  again() {
    this.seed++;
    this.app.change(false);
  }

  show(column, isPopulationOnly) {
    column.fans ??= (key, pairs, populations, isQuick) => this.fans(column, key, pairs, populations, isQuick);
    this.left = FRAME;
    if (!isPopulationOnly || this.column !== column) this.begin(column);
    this.refresh();
  }

  begin(column) {
    this.column = column;
    const samples = (count) => new Samples(column.model, column.setting, count, this.seed);
    this.samples = samples(FULL);
    this.quick = samples(QUICK);
    this.deciding = this.samples.deciding;
    this.isAllKnown = !this.samples.counting.length;
    this.isSilent = this.isAllKnown || this.deciding.length > 0;
    this.jobs = new Map();
    this.answers = this.isSilent ? null : { found: [], done: 0, now: null, spent: 0, isDone: false, isLeft: false };
    column.isSampled = column.isSampling = !this.isSilent;
  }

  // The fans around lines, each of a step, or of one over another; null where there are none (yet).
  fans(column, key, pairs, populations, isQuick = true) {
    if (this.isSilent || this.column !== column || column.trouble) return null;
    const known = this.jobs.get(key);
    if (!known?.isFor(pairs, populations)) {
      this.jobs.set(key, new FanJob(column.graph, pairs, populations));
      this.app.wake(); // a picture that comes into sight, or other populations, may be all that is new
    }
    const job = this.jobs.get(key);
    if (job.isLeft) return null;
    if (!job.isDone && !job.fans && isQuick) {
      const quick = job.coarse(), start = performance.now();
      while (quick.done < QUICK && performance.now() - start < this.left) quick.step(this.quick);
      this.left -= performance.now() - start;
      if (quick.count >= FEWEST) job.fans = quick.result();
    }
    return job.fans && pairs.map((_, i) => new Fan(job.fans, i, populations.length));
  }

  // Work at samples for as long as a frame has; true when there is nothing left to do.
  work(until) {
    if (this.isSilent || this.column !== this.app.shown) return true;
    for (const [key, job] of this.jobs) {
      if (job.isDone || job.isLeft) continue;
      this.answers.now = null; // the sample at hand begins anew
      if (!this.workAt(job, until, () => job.step(this.samples))) return false;
      if (!job.isLeft) job.fans = job.result();
      this.redraw(key);
    }
    if (!this.answers.isDone && !this.answers.isLeft) {
      const { answers, samples } = this;
      const taken = (found) => {
        answers.found.push(found);
        answers.done++;
        answers.now = null;
      };
      const step = () => {
        answers.now ??= samples.answering(answers.done, this.column.graph);
        sliced(answers.now, until, taken);
      };
      if (!this.workAt(answers, until, step)) return false;
      this.column.isSampling = false;
      if (answers.isLeft) this.column.isSampled = false;
      this.refresh();
      const { uncertainty } = this;
      if (uncertainty && !this.column.written) Object.assign(this.column, { atConfidence: uncertainty.atConfidence, metAtConfidence: this.limits(uncertainty) });
      this.app.decide();
      this.app.follow();
      this.redraw("histogram");
    }
    return true;
  }

  // The capacities with the best changes at the confidence of the headline; true when nothing is left to do.
  judge(found, until) {
    const { column, seed } = this;
    if (this.isSilent || column !== this.app.shown || column.written && this.app.isAdvised) return true;
    const sorted = [...found].sort((a, b) => b.largest - a.largest), isGoal = (one) => one.kind === GOAL;
    const best = [...sorted.filter((one) => !isGoal(one)).slice(0, JUDGED), ...sorted.filter(isGoal).slice(0, JUDGED_GOALS)], left = best.filter((one) => one.sure === undefined);
    for (const one of left) {
      const job = one.job ??= { samples: new Samples(column.model, one.setting, FULL, seed), found: [], done: 0, now: null, spent: 0 };
      const taken = (answer) => {
        job.found.push(answer);
        job.done++;
        job.now = null;
      };
      const step = () => {
        job.now ??= job.samples.answering(job.done, column.graph);
        sliced(job.now, until, taken);
      };
      if (!this.workAt(job, until, step)) return false;
      const populations = Float64Array.from(job.found.filter((answer) => answer !== null), ({ largest }) => largest).sort();
      one.sure = job.isDone && populations.length ? least(populations, CERTAINTY) : null;
      if (one.sure !== null) one.interval = intervalOf(populations, column.graph.low);
    }
    if (left.length) this.app.showAdvice(found);
    return true;
  }

  // Step until all samples are there, or it takes too long: what there is then is enough, or left.
  workAt(job, until, step) {
    const start = performance.now();
    const spent = () => job.spent + performance.now() - start;
    while (job.done < FULL && performance.now() < until && spent() < this.longest) step();
    job.spent = spent();
    if (job.done < FULL && job.spent < this.longest) return false;
    job.isDone = job.done >= FULL / 4;
    job.isLeft = !job.isDone;
    return true;
  }

  redraw(key) {
    if (key === "board") this.app.follow();
    this.app.pictures.find((one) => one.key === key)?.change();
  }

  // -- what is told ----------------------------------------------------------------------

  // Whether the setting is one of which qps told how sure its answer is, when the page was written.
  get isAsWritten() {
    const { uncertainty, setting } = this.column;
    return uncertainty && this.seed === 1 && setting.start === uncertainty.asStarted && !this.app.isChanged();
  }

  // The uncertainty of the setting: that of qps, or that of the samples of the page; null for none yet.
  get uncertainty() {
    const { uncertainty, graph } = this.column;
    if (this.isAsWritten) return uncertainty;
    if (!this.answers?.isDone) return null;
    const answered = this.answers.found.filter((one) => one !== null);
    if (!answered.length) return null;
    const sorted = Float64Array.from(answered, (one) => one.largest).sort();
    return { sorted, answered, samples: this.answers.done, inputs: this.samples.counting, interval: intervalOf(sorted, graph.low), atConfidence: orNone(least(sorted, CERTAINTY), graph.low) };
  }

  // Up to where each criterion is met, at the confidence of the headline; nothing where modes have criteria of their own.
  limits({ answered }) {
    const { graph, solved } = this.column, found = {};
    if (!answered || solved.modes.length) return found;
    graph.criteria.forEach((one, i) => {
      const end = least(Float64Array.from(answered, ({ failures }) => failures[i] - 1).sort(), CERTAINTY), name = one.isQuality ? "quality" : one.name;
      found[name] = Math.min(printedCapacity(end, graph.high), found[name] ?? Infinity);
    });
    return found;
  }

  refresh() {
    const { uncertainty, column, isAsWritten } = this;
    fill("uncertainty", this.lines(uncertainty).map((line) => make("li", null, line)));
    const isFirst = isAsWritten && column === this.first, section = document.getElementById("likely")?.closest("section");
    const isCertain = this.isAllKnown || (this.isSilent && !isFirst), limits = document.getElementById("limits");
    if (section) section.hidden = isCertain;
    if (limits) limits.hidden = !isCertain; // beside the headline stands the one picture or the other
    fill("likely", isFirst ? this.written.get("likely") : this.likely(uncertainty));
    fill("measure-next", isFirst ? this.written.get("measure-next") : this.measures(uncertainty));
    fill("of-how-sure", isFirst ? this.written.get("of-how-sure") : this.lines(uncertainty).slice(0, 1));
  }

  // What to measure next: qps has solved for that, and tells it of the setting that the page begins with.
  measures() { return []; }

  lines(uncertainty) {
    const { column, samples, deciding } = this;
    if (this.isAsWritten) return uncertainty.lines;
    if (deciding.length) return [`This page does not compute the uncertainty of capacity: formulas depend on the uncertain ${deciding.join(", ")}. Run qps solve.`];
    if (this.isAllKnown) return ["No uncertain input affects capacity at these settings."];
    if (this.answers.isLeft) return ["The uncertainty of capacity takes longer to compute than this page allows. Run qps solve."];
    if (!this.answers.isDone) return ["Uncertainty of capacity: computing …"];
    const left = new Set(samples.leftOut.values()), share = percent(samples.leftOut.size / this.answers.done, 2);
    const out = left.size ? [`${share} of samples are not feasible and are excluded: ${[...left].slice(0, 3).join(", ")}.`] : [];
    if (!uncertainty) return out;
    const of = `${samplesText(column, uncertainty)}; drawn in this page`;
    const more = uncertainty.interval[1] === column.graph.high ? "+" : "";
    const sure = percent(CERTAINTY), noun = nounOf(column.model);
    const confident = uncertainty.atConfidence === null ? phrase("sure.none", { sure }) : phrase("sure.least", { sure, noun, least: whole(uncertainty.atConfidence) });
    return [`${percent(PROBABILITY)} interval ${between(uncertainty.interval)}${more} (${of})${column.solved.known ? "" : `; ${confident}`}.`, ...out];
  }

  // How likely each requirement is met at the population shown.
  likely(uncertainty) {
    const { column } = this;
    if (!uncertainty?.answered) return [];
    const rows = column.graph.criteria.flatMap((one, i) => {
      const met = uncertainty.answered.filter(({ failures }) => column.n < failures[i]).length / uncertainty.answered.length;
      return one.stated || one.isQuality || met < 1 ? [[called(column.model, one.name), percent(met, 2)]] : [];
    });
    return rows.length ? [table(["Requirement", phrase("page.met_probability", { at: whole(column.n) })], rows, new Set([1]))] : [];
  }

  // Where the samples of the answer lie.
  draw(column, width) {
    if (this.isAllKnown || this.isSilent && !this.isAsWritten || this.answers?.isLeft && !this.isAsWritten) return null;
    const { uncertainty } = this;
    if (!uncertainty) return undefined;
    return drawHistogram(column, uncertainty, width, CERTAINTY);
  }

  // A picture with a word on its fans, where it has some, or on why it has none.
  noted(drawn) {
    if (!drawn || this.isAllKnown) return drawn;
    const isDrawn = drawn.chart.series.some((line) => line.fan);
    const isLeft = this.isSilent || [...this.jobs.values()].some((job) => job.isLeft);
    if (!isDrawn && !isLeft) return drawn;
    const swatch = draw("svg", { width: 34, height: 10, "aria-hidden": "true" }, draw("rect", { width: 30, height: 10, fill: color(0), class: "fan" }));
    const word = isDrawn ? `5th to 95th percentile of ${whole(Math.max(...drawn.chart.series.map((line) => line.fan?.samples ?? 0)))} samples`
      : "no uncertainty bands: this page cannot compute them in time";
    return { ...drawn, legend: [...drawn.legend, make("li", null, isDrawn ? swatch : "", word)] };
  }
}

// Between which populations most samples lie, null for none; as many beyond it on each side.
function intervalOf(sorted, low) {
  const level = (1 + PROBABILITY) / 2;
  return [orNone(least(sorted, level), low), orNone(most(sorted, level), low)];
}

function orNone(population, low) { return population < low ? null : population; }

// Between which populations an interval lies, in words (`ends_of` of `reports/text/solutions/uncertainty_text.py`).
function between([from, to]) {
  if (to === null) return "none at all";
  return from === to ? whole(to) : `${from === null ? "none" : whole(from)}–${whole(to)}`;
}


const BINS = 50, HEIGHT = 26;

// Where the values of a number lie, over the axis of its slider; its ends and what is typical are marked.
function spreadPicture(values, scale, { low, high, typical }, label) {
  const counts = new Array(BINS).fill(0);
  for (const value of values) counts[Math.min(BINS - 1, Math.max(0, Math.floor(scale.at(value) * BINS)))]++;
  const highest = Math.max(...counts);
  const bars = counts.map((count, i) => (count ? draw("rect", { x: (i * 100) / BINS, y: HEIGHT * (1 - count / highest), width: 100 / BINS, height: (HEIGHT * count) / highest }) : null));
  const mark = (value, name) => draw("line", { x1: 100 * scale.at(value), x2: 100 * scale.at(value), y1: 0, y2: HEIGHT, class: name, "vector-effect": "non-scaling-stroke" });
  return draw("svg", { viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none", class: "spread", role: "img", "aria-label": label },
    bars, mark(low, "end"), mark(high, "end"), mark(typical, "typical"));
}
