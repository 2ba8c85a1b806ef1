// The page: columns, controls and pictures tied together. Everything follows a change at once; what takes longer (advice, a heat map) is worked at between frames.

import { Model } from "../engine/model.js";
import { fill, make } from "../common/dom.js";
import { finished, sliced } from "../common/slices.js";
import { offerTables } from "../common/table_files.js";
import { Advice, offerChanges, showAdvice, showWrittenAdvice, writtenAdvice } from "./panels/advice.js";
import { showAssumptions } from "./panels/assumptions.js";
import { besideOf, besideText } from "./headline_values.js";
import { showGauges, showLimits } from "./panels/gauges.js";
import { beyondLines } from "./panels/headroom.js";
import { Column, copied } from "./column.js";
import { showComparison } from "./panels/comparison.js";
import { showConclusions } from "./panels/conclusions.js";
import { showDecision, reserveHeight } from "./panels/first_screen.js";
import { Controls } from "./panels/controls.js";
import { FoldedParts, unfold } from "./folded_parts.js";
import { HeatMap } from "./charts/heat_map.js";
import { spoken } from "./labels.js";
import { Looks } from "./view_settings.js";
import { nameColumns } from "./configuration_names.js";
import { Past } from "./undo_history.js";
import { requirementStates, showAnswer, showTraffic, showKnown, showMeasures, showRequirements, showResources } from "./panels/sections.js";
import { showPathConclusion } from "./charts/request_path.js";
import { drawNext, picturesOf } from "./page_pictures.js";
import { fitFormulas } from "./paper.js";
import { commandOf } from "./sentences.js";
import { pairsOf } from "./state.js";
import { Ticks } from "./panels/scenario_checkboxes.js";

const PATIENCE = 8; // ms that an answer may take before the page says that it is being worked out
const SLICE = 8; // ms between two frames
const PRINTED_WITHIN = 1500; // ms that advice may take before a print

export class App {
  // `Uncertainty` is what a page has beside where numbers of the spec are not known.
  constructor(data, Uncertainty = null) {
    this.models = data.models.map((model) => new Model(model));
    this.columns = data.columns.map(({ model, start, name, headline, traffic = [] }) => Object.assign(this.column(this.models[model], this.models[model].setting(start), name), { headline, traffic: new Set(traffic) }));
    this.active = 0;
    Object.assign(this, { figures: data.figures, checksum: data.checksum, patience: globalThis.qpsPatience ?? PATIENCE });
    this.looks = new Looks();
    this.ticks = new Ticks(this);
    this.folded = new FoldedParts(this.isHurried);
    offerTables();
    if (!this.columns.length) { // a page of figures alone
      this.pictures = picturesOf(this);
      this.drawAll = () => this.pictures.forEach((picture) => picture.redraw());
      window.addEventListener("beforeprint", this.drawAll);
      return;
    }
    this.started = this.start(data, Uncertainty);
  }

  // The page as it was written tells the answer until all is solved that it begins with, in slices.
  async start(data, Uncertainty) {
    for (const one of this.columns) {
      await this.worked(one.solving());
      if (!one.solved) {
        document.getElementById("answer").append(make("span", { class: "then" }, ` This page cannot evaluate changes: ${one.trouble}.`));
        return;
      }
      await this.worked(one.sensitively());
    }
    this.sure = Uncertainty && new Uncertainty(this, data);
    this.controls = new Controls(document.getElementById("controls"), this.shown, (isPopulationOnly) => this.change(isPopulationOnly), this.sure);
    this.pictures = picturesOf(this);
    document.body.classList.add("live");
    document.getElementById("pin").addEventListener("click", () => this.pin());
    document.getElementById("print-all")?.addEventListener("change", ({ target }) => {
      document.body.classList.toggle("print-all", target.checked);
      if (target.checked) for (const one of document.querySelectorAll(".part")) one.open = true;
    });
    document.getElementById("what-if").addEventListener("click", () => this.openSettings(!document.body.classList.contains("what-if")));
    addEventListener("keydown", ({ key }) => { if (key === "Escape") this.openSettings(false); });
    document.querySelector(".contents").addEventListener("click", ({ target }) => unfold(target.hash));
    unfold(window.location.hash);
    // Where the answer is in sight, the controls need not tell it.
    new IntersectionObserver(([seen]) => document.body.classList.toggle("answered", seen.isIntersecting)).observe(document.getElementById("decision"));
    window.addEventListener("resize", () => this.measure());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    window.addEventListener("beforeprint", () => this.drawAll());
    this.show();
    this.past = new Past(this, this.controls.past);
  }

  async worked(work) {
    while (!sliced(work, performance.now() + this.patience)) await new Promise((done) => setTimeout(done));
  }

  column(model, setting, name) {
    const column = new Column(model, setting, name);
    column.began = setting.start;
    return column;
  }

  get shown() { return this.columns[this.active]; }

  // Whether changes were written with the page: their capacities are known then.
  get isAdvised() { return Boolean(this.first?.table.length); }

  // Whether time counts: where it does not, what is shown is the same on every machine.
  get isHurried() { return this.patience < Infinity; }

  // -- what a reader does --------------------------------------------------------------

  // What takes longer than a reader notices is solved in slices, and until it is the page says so.
  change(isPopulationOnly) {
    if (isPopulationOnly && !this.shown.follows) {
      this.show(true);
      return;
    }
    this.stop();
    reserveHeight(true);
    this.pending = this.shown.solving();
    this.solve();
  }

  solve() {
    if (sliced(this.pending, performance.now() + this.patience)) {
      this.changeFinished();
      return;
    }
    this.showPending();
    this.thinking = setTimeout(() => this.solve());
  }

  // What was begun comes to its end at once: what comes next rests on it.
  finishChange() {
    if (!this.pending) return;
    finished(this.pending);
    this.changeFinished();
  }

  changeFinished() {
    this.pending = null;
    document.body.classList.remove("pending");
    this.show();
  }

  stop() {
    clearTimeout(this.thinking);
    this.pending = null;
  }

  // Beside what is told until then; whatever follows next takes its place.
  showPending() {
    document.body.classList.add("pending");
    for (const one of document.querySelectorAll("#decision .many, #small-answer")) if (!one.querySelector(".working")) one.append(make("span", { class: "working" }, " computing …"));
  }

  show(isPopulationOnly = false) {
    const column = this.shown;
    for (const one of this.columns) one.until = performance.now() + this.patience / 4;
    nameColumns(this.columns);
    showAnswer(column);
    this.showHeadroom();
    this.sure?.show(column, isPopulationOnly);
    this.showBoard();
    showLimits(column, this.beside);
    this.folded.show({
      "of-system": () => showPathConclusion(column, this.requestStream), resources: () => showResources(column), measures: () => showMeasures(column), traffic: () => showTraffic(column), known: () => showKnown(column),
      numbers: () => { if (!isPopulationOnly) showAssumptions(column, this.controls); },
    });
    this.compare();
    this.controls.refresh();
    this.ticks.show();
    this.isPopulationOnly = isPopulationOnly;
    this.pictures.filter((picture) => !picture.isOfSpec).forEach((picture) => picture.change());
    this.isPopulationOnly = false;
    for (const one of this.columns) one.until = this.isHurried ? 0 : Infinity; // what is drawn later waits for nothing
    if (isPopulationOnly) this.wake(); else this.think();
    if (this.pending) this.showPending();
    this.past?.note();
  }

  compare() { showComparison(this.columns, this.active, (i) => this.choose(i), (i) => this.drop(i)); }

  // Utilizations and requirements: at the headline, where samples tell them; the first word says at what.
  showBoard() {
    const column = this.shown, beside = this.beside = besideOf(column);
    showGauges(column, beside);
    this.states = requirementStates(column, beside);
    showRequirements(column, beside, this.states);
    showConclusions(column, this.states);
    fill("beside", besideText(column, beside));
  }

  // Samples tell the headline: what is shown beside it follows.
  follow() {
    const column = this.shown, { n } = column;
    if (column.follows) column.n = column.headlineAt;
    if (column.n !== n) this.show(true);
    else this.showBoard();
    this.decide();
  }

  // What was written for the setting that the page begins with is told of no other one: it follows, or is gone.
  showHeadroom() {
    const headroom = document.getElementById("headroom");
    this.first ??= { column: this.shown, start: this.shown.setting.start, headroomLines: [...headroom.children], ...writtenAdvice(), decision: ["decision", "more-facts"].map((id) => [id, [...document.getElementById(id).childNodes]]) };
    const isFirst = this.isAsWritten = this.shown === this.first.column && this.shown.setting.start === this.first.start && !this.isChanged();
    headroom.replaceChildren(...isFirst && this.first.headroomLines.length ? this.first.headroomLines : beyondLines(this.shown).map((line) => make("li", null, spoken(this.shown.model, line))));
    for (const one of document.querySelectorAll(".of-start")) one.hidden = !isFirst;
    const { command } = commandOf(this.shown, "explain");
    fill("explain", command);
  }

  // The settings beside the answer, or not; pictures are as wide as what is left to them.
  openSettings(isOpen) {
    if (document.body.classList.contains("what-if") === isOpen) return;
    document.body.classList.toggle("what-if", isOpen);
    document.getElementById("what-if").setAttribute("aria-expanded", String(isOpen));
    this.measure();
  }

  choose(index) {
    this.finishChange();
    this.active = index;
    this.controls.show(this.shown);
    this.show();
  }

  // Keep the setting as it is now as a column of its own.
  pin() {
    this.finishChange();
    const { model, setting, n } = this.shown;
    const copy = this.column(model, copied(setting), "");
    copy.solve();
    Object.assign(copy, { isPinned: true, began: null });
    copy.follows = this.shown.follows;
    copy.n = n;
    this.columns.push(copy);
    this.show();
    document.getElementById("comparison").scrollIntoView({ block: "start" });
  }

  drop(index) {
    this.finishChange();
    this.columns.splice(index, 1);
    if (this.active >= index) this.active = Math.max(0, this.active - 1);
    this.choose(this.active);
  }

  // Put the page into a state that was read (`live/state.js`): what is wrong with it, null for nothing.
  // Where something is, all is as it was.
  restore({ columns, active, seed }) {
    this.finishChange();
    const pinned = this.columns.filter((one) => one.isPinned), { shown } = this;
    const before = this.columns.map((one) => ({ column: one, setting: one.setting, follows: one.follows, n: one.n }));
    const found = columns.map(({ model, began, isPinned, ...wanted }, i) => {
      const known = isPinned ? pinned.splice(0, 1).find((one) => one.model === model) : this.columns[i];
      const column = known ?? Object.assign(this.column(model, wanted.setting, ""), { isPinned, began });
      const was = String(pairsOf(column)), { n } = column;
      Object.assign(column, wanted);
      if (!column.solved || String(pairsOf(column)) !== was) column.solve(); else column.n = n;
      return column;
    });
    const trouble = found.map((one) => one.trouble).find(Boolean) ?? null;
    if (trouble) {
      for (const { column, ...was } of before) Object.assign(column, was).solve();
      active = this.columns.indexOf(shown);
    } else {
      this.columns = found;
      if (this.sure) this.sure.seed = seed;
    }
    this.choose(active);
    return trouble;
  }

  apply(change) {
    this.shown.setting = change.setting;
    this.change(false);
  }

  // -- work between frames -------------------------------------------------------------

  think() {
    this.advice = null;
    this.showAdvice(null);
    this.wake();
  }

  // How far each number moves the answers, in slices; what has been told that this is being worked out follows.
  sense(until) {
    if (!this.columns.every((one) => one.sense(until))) return false;
    if (!this.columns.some((one) => one.isAwaited)) return true;
    for (const one of this.columns) one.isAwaited = false;
    this.compare();
    this.controls.rank();
    showConclusions(this.shown, this.states);
    for (const one of this.pictures) if (["tornado", "heat"].includes(one.key)) one.change();
    return true;
  }

  // What helps, begun when nothing is more urgent: which changes are tried rests on all that moves the answer.
  begin() {
    if (this.advice) return;
    this.advice = new Advice(this.shown, (found) => this.showAdvice(found));
    if (this.isAsWritten) offerChanges(this.shown, this.advice.candidates, (change) => this.apply(change)); // before all are tried
    if (!this.advice.isWorking) this.showAdvice([]);
  }

  // What was written with the page stays as long as its setting: what the page can make itself gets a button.
  showAdvice(found) {
    this.helps = found;
    if (this.isAsWritten && this.first.table.length > 0) {
      showWrittenAdvice(this.first);
      offerChanges(this.shown, found ?? [], (change) => this.apply(change));
    } else showAdvice(this.shown, found, (change) => this.apply(change));
    this.decide();
  }

  // The first lines of the page, whenever more of them is known.
  // What was written of the setting that the page begins with has more than the page can work out by itself.
  decide() {
    this.showHeadline();
    const parts = [...document.querySelectorAll("#decision .many > span:not(.working, .beside)")];
    fill("small-answer", ...parts.map((one, i) => make(i ? "span" : "strong", null, one.textContent)));
  }

  showHeadline() {
    if (this.isAsWritten) for (const [id, made] of this.first.decision) fill(id, made);
    else showDecision(this.shown, this.helps, this.sure?.isSilent === false ? this.sure.uncertainty : null, this.beside);
  }

  wake() {
    clearTimeout(this.thinking);
    this.thinking = setTimeout(() => this.work(), 60);
  }

  work() {
    if (this.pending) {
      this.solve();
      return;
    }
    const until = performance.now() + SLICE;
    let isDone = this.sense(until);
    if (isDone && this.sure) isDone = this.sure.work(until);
    if (isDone) this.begin();
    if (isDone && this.advice.isWorking) isDone = this.advice.work(until);
    if (isDone && this.sure && this.helps) isDone = this.sure.judge(this.helps, until);
    if (isDone && this.heat && this.heat.done < this.heat.values.length && this.heatPicture.isNear) {
      isDone = this.heat.work(until);
      if (isDone || performance.now() - (this.heatDrawn ?? 0) > 250) {
        this.heatDrawn = performance.now();
        this.heatPicture.redrawn = true;
        this.heatPicture.redraw();
      }
    }
    if (isDone) isDone = drawNext(this.pictures);
    clearTimeout(this.thinking);
    if (!isDone) this.thinking = setTimeout(() => this.work(), 0);
  }

  // -- pictures ------------------------------------------------------------------------

  drawHeat(column, width) {
    if (!column.sensitivity) return undefined; // what its axes are is being worked out
    // How many users there can be does not depend on how many are shown.
    const isAsBefore = this.heat && this.isPopulationOnly && this.heat.step === null && this.heat.column === column;
    if (!this.heatPicture.redrawn && !isAsBefore) {
      this.heat = new HeatMap(column, this.heatChoices);
      if (this.heat.isPossible && this.heat.step !== null) this.heat.work(Infinity);
      else if (this.heat.isPossible) this.wake();
    }
    this.heatPicture.redrawn = false;
    const isBlank = this.heat.isPossible && this.heat.done === 0;
    return isBlank && this.heatPicture.drawn ? undefined : this.heat.draw(width);
  }

  redraw() { this.pictures.forEach((picture) => picture.change()); }

  measure() { reserveHeight(false); for (const one of this.pictures) one.measure(); }

  // For print: every picture, in sight or not, and all cells of the heat map.
  drawAll() {
    this.finishChange();
    this.folded.finish();
    this.sense(Infinity);
    this.begin();
    if (this.advice.isWorking) {
      this.advice.work(this.isHurried ? performance.now() + PRINTED_WITHIN : Infinity);
      this.showAdvice(this.advice.best());
    }
    fitFormulas();
    this.pictures.forEach((picture) => picture.redraw());
    if (!this.heat?.isPossible) return;
    this.heat.work(Infinity);
    this.heatPicture.redrawn = true;
    this.heatPicture.redraw();
  }

  isChanged() {
    const { model, setting } = this.shown;
    const start = model.setting(setting.start);
    const command = (column) => JSON.stringify(commandOf(column));
    return command(this.shown) !== command({ ...this.shown, model, setting: start, graph: this.shown.graph });
  }
}
