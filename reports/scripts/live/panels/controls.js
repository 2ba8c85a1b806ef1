// What a reader can move: the population, scenario, mode, choices, hardware, numbers.

import { isCounted } from "../../engine/answers.js";
import { exactOf, quotient, reduced } from "../../engine/numerics/fractions.js";
import { exactNumber } from "../../engine/model.js";
import { Axis } from "../../common/axis.js";
import { make, withCode } from "../../common/dom.js";
import { decimalOf, grouped, readable, ungrouped, whole, unitSymbols } from "../../common/format.js";
import { phrase } from "../../common/phrases.js";
import { labeled } from "../labels.js";
import { Finder, ranked } from "./control_search.js";
import { commandOf, inUnit, scenarioOf } from "../sentences.js";

export class Controls {
  // `changed(isPopulationOnly)` is called after every change of the column's setting; `uncertainty` knows
  // what numbers may be that are not known, null where all are.
  constructor(place, column, changed, sure = null) {
    Object.assign(this, { column, changed, sure });
    this.fields = new Map();
    this.population = this.populationField();
    this.selects = make("div", { class: "fields" });
    this.needs = make("div", { class: "fields" });
    this.numbers = make("div", { class: "fields" });
    this.finder = new Finder(this);
    this.command = make("code", { class: "command" });
    this.only = make("p", { class: "soft" });
    this.trouble = make("p", { class: "trouble", role: "alert" });
    this.isNotApplied = false; // whether that says that the page could not follow
    this.past = make("div", { class: "tools past" });
    this.lines = make("pre", { class: "command" });
    const group = (title, content, open) => make("details", { open }, make("summary", null, title), content);
    place.replaceChildren(
      make("h2", null, "What-if"),
      make("div", { class: "bar" }, this.population.field),
      this.past, this.trouble,
      group("Scenario, options, machines and networks", this.selects, true),
      group("Requirements", this.needs, true),
      group("Most sensitive inputs", this.numbers, true),
      this.finder.place,
      make("div", { class: "tools" },
        make("button", { type: "button", on: { click: () => this.reset() } }, "Reset")),
      make("p", { class: "soft" }, "Command line:"), this.command, this.only,
      this.inSpec = make("div", null, make("p", { class: "soft" }, "As a scenario in the spec:"), this.lines));
    this.build();
  }

  get setting() { return this.column.setting; }

  // Show another column, or the same one with other numbers in it.
  show(column) {
    this.column = column;
    this.build();
  }

  build() {
    this.offered = null;
    this.fields.clear();
    this.buildSelects();
    this.buildNumbers();
    this.refresh();
  }

  // -- the population ------------------------------------------------------------------

  populationField() {
    const move = (value) => {
      const n = Math.round(value);
      const { graph } = this.column;
      if (!(n >= graph.low && n <= graph.high)) return this.refuse(this.exactN, `enter ${whole(graph.low)} to ${whole(graph.high)}`);
      this.refuse(this.exactN, "");
      this.column.follows = this.follow.checked = false;
      this.column.n = n;
      return this.changed(true);
    };
    this.slider = make("input", { type: "range", id: "population", min: "0", max: "1000", on: { input: () => move(this.fromSlider()) } });
    this.exactN = make("input", { type: "text", inputmode: "numeric", id: "population-number", class: "amount", on: { input: () => move(Number(this.exactN.value.replace(/[,_\s]/g, "") || NaN)) } });
    this.follow = make("input", { type: "checkbox", checked: true, on: { change: () => { this.column.follows = this.follow.checked; this.changed(false); } } });
    this.populationLabel = make("label", { for: "population" });
    return {
      field: make("div", { class: "field population" }, this.populationLabel, this.slider,
        make("label", { class: "aside", for: "population-number" }, "exact value "), this.exactN,
        make("label", { class: "follow" }, this.follow, " lock to maximum")),
    };
  }

  // A slider has a thousand places: whole populations where these suffice, else by powers.
  scale() {
    const { graph } = this.column;
    const populations = this.column.populations();
    const high = Math.min(graph.high, Math.max(Math.ceil(populations.at(-1)), graph.low + 10));
    return new Axis(graph.low, Math.max(high, graph.low + 1), 0, 1, high - graph.low > 1000);
  }

  fromSlider() { return this.sliderScale.value(Number(this.slider.value) / Number(this.slider.max)); }

  refreshPopulation() {
    const { n, model } = this.column;
    if (document.activeElement !== this.slider) this.sliderScale = this.scale();
    this.sliderScale ??= this.scale();
    const { low, high, isLog } = this.sliderScale;
    this.slider.max = isLog ? "1000" : String(high - low);
    if (document.activeElement !== this.slider) this.slider.value = String(Math.round(this.sliderScale.at(n) * Number(this.slider.max)));
    this.slider.setAttribute("aria-valuetext", `${model.population} = ${whole(n)}`);
    if (document.activeElement !== this.exactN) this.exactN.value = whole(n);
    this.populationLabel.textContent = `${model.population} = ${whole(n)}`;
    this.follow.checked = this.column.follows;
  }

  // -- choices -------------------------------------------------------------------------

  buildSelects() {
    const { model } = this.column;
    const fields = [];
    const starts = model.starts.map((start, i) => [String(i), start.name || phrase("page.baseline")]);
    if (starts.length > 1) fields.push(this.selectField("start", "Start from", starts, (value) => this.restart(Number(value))));
    const modes = this.modes();
    if (modes.length > 1) {
      const choices = [["", "all (worst case)"], ...modes.map((mode) => [mode, mode])];
      fields.push(this.selectField("mode", "mode", choices, (value) => { this.setting.mode = value || null; this.changed(false); }));
    }
    model.selects.forEach((select, i) => {
      const choices = select.choices.map((choice, k) => [String(k), choice]);
      fields.push(this.selectField(`select-${i}`, select.name, choices, (value) => { this.setting.picks[i] = Number(value); this.changed(false); }, select.doc));
    });
    this.selects.replaceChildren(...fields);
    if (model.notes.length) this.selects.append(...model.notes.map((note) => make("p", { class: "soft" }, withCode(note))));
  }

  modes() {
    const variant = this.column.model.variant(this.setting.shape, this.setting.picks);
    const graphs = variant ? variant.graphs.map((i) => this.column.model.record(i).mode) : [];
    return graphs.filter((mode) => mode !== null);
  }

  selectField(key, name, choices, chosen, doc = "") {
    const id = `control-${key}`;
    const select = make("select", { id, on: { change: () => chosen(select.value) } },
      choices.map(([value, text]) => make("option", { value }, text)));
    const note = make("span", { class: "note" });
    const place = make("div", { class: "field", title: doc || null }, make("label", { for: id }, labeled(this.column.model, name)), select, note);
    this.fields.set(key, { select, note, place });
    return place;
  }

  refreshSelects() {
    const { model } = this.column;
    const { shape, picks, start, mode } = this.setting;
    if (this.fields.has("start")) this.fields.get("start").select.value = String(start);
    if (this.fields.has("mode")) this.fields.get("mode").select.value = mode ?? "";
    const now = `${shape}:${picks}`;
    if (this.offered === now) return; // asking for every choice whether the page holds it takes time
    this.offered = now;
    const own = model.variant(shape, picks);
    model.selects.forEach((select, i) => {
      const field = this.fields.get(`select-${i}`);
      field.select.value = String(picks[i]);
      [...field.select.options].forEach((option, k) => {
        const isHeld = model.variant(shape, picks.with(i, k)) !== null;
        option.disabled = !isHeld;
        option.textContent = isHeld ? select.choices[k] : `${select.choices[k]} (not available here)`;
      });
      field.place.hidden = [...field.select.options].filter((one) => !one.disabled).length < 2; // what the page cannot change is no control
      const isIdle = own && own.picks[i] < 0;
      field.note.textContent = isIdle ? "no effect here" : "";
    });
  }

  restart(index) {
    this.column.setting = this.column.model.setting(index);
    this.column.follows = true;
    this.changed(false);
    this.build();
  }

  reset() { this.restart(this.setting.start); }

  // -- numbers -------------------------------------------------------------------------

  // Requirements, and the numbers that move the answer most, as they were when the column was shown; the
  // others are found by typing. What the page cannot change is told as an assumption, and is no control.
  buildNumbers() {
    const { graph, model } = this.column;
    const isNeed = (one) => one.need || graph.criteria.some((c) => c.stated && model.steps[c.limit][1] === one.name);
    const movable = ranked(this.column, graph.numbers.filter((one) => !one.decided));
    const needs = movable.filter(isNeed), others = movable.filter((one) => !isNeed(one));
    const isOffered = (one) => one.parameter || this.sure?.spreadOf(this.column, one.name);
    this.isRanked = this.column.sensitivity !== null;
    this.built = graph.numbers; // which are the same where only labels differ
    this.needs.replaceChildren(...graph.numbers.filter((one) => needs.includes(one)).map((one) => this.numberField(one)));
    this.numbers.replaceChildren(...others.filter(isOffered).map((one) => this.numberField(one)));
    this.needs.parentElement.hidden = !needs.length;
    this.numbers.parentElement.hidden = !this.numbers.childElementCount;
    this.finder.show(others);
  }

  // Where it is known by now how much each number moves the answer: in that order, but under no hand that types.
  rank() {
    const isTouched = [this.needs, this.numbers].some((one) => one.contains(document.activeElement));
    if (this.isRanked || isTouched) return;
    this.buildNumbers();
    this.refreshNumbers();
  }

  // A number as a text in its unit, with a slider beside it.
  numberField(record) {
    const id = `number-${record.name}`, known = this.fields.get(id), { column, setting: { start } } = this;
    if (known?.record === record && known.column === column && known.start === start) return known.place; // other choices have the same number
    const scale = sliderScaleOf(record, this.column.run.numbers.get(record.name));
    const text = make("input", { type: "text", inputmode: "decimal", id, class: "amount", on: { input: () => this.typed(record, text) } });
    const slider = make("input", { type: "range", min: "0", max: "200", "aria-label": `${record.name}, slider`, on: { input: () => this.slid(record, Number(slider.value) / 200) } });
    const note = make("span", { class: "note" });
    const field = { record, text, slider, note, scale, column, start };
    this.fields.set(id, field);
    field.place = make("div", { class: "field number", title: record.source || null },
      make("label", { for: id }, labeled(this.column.model, record.name)), this.sure?.shown(this, field), field.scale ? slider : null, text, make("span", { class: "unit" }, unitSymbols(record.unit)), note);
    return field.place;
  }

  typed(record, input) {
    const value = readNumber(record, input.value);
    this.refuse(input, value.trouble ?? "");
    if (value.trouble) return;
    this.setting.numbers.set(record.name, value.exact);
    this.changed(false);
  }

  slid(record, share) {
    const shown = this.fields.get(`number-${record.name}`).scale.value(share);
    const { model, graph } = this.column;
    const value = readNumber(record, String(isCounted(model, graph, record) ? Math.round(shown) : Number(shown.toPrecision(3))));
    if (value.trouble) return;
    this.setting.numbers.set(record.name, value.exact);
    this.changed(false);
  }

  refuse(input, message) {
    input.setAttribute("aria-invalid", message ? "true" : "false");
    input.title = message;
    this.trouble.textContent = message;
    this.isNotApplied = false;
    this.last = input;
    this.showNote(message);
  }

  // What is wrong stands beside what was typed, too: the controls may be out of sight.
  showNote(message) {
    this.besides ??= make("span", { class: "trouble beside" });
    this.besides.textContent = message;
    if (message && this.last?.isConnected) this.last.after(this.besides); else this.besides.remove();
  }

  refreshNumbers() {
    if (this.column.graph.numbers !== this.built) this.buildNumbers();
    for (const field of this.fields.values()) {
      if (!field.record) continue;
      const value = this.column.run.numbers.get(field.record.name);
      if (!value) continue;
      field.refresh?.();
      const shown = inUnit(field.record, value);
      if (document.activeElement !== field.text) field.text.value = grouped(readable(shown));
      if (field.scale && document.activeElement !== field.slider) {
        field.slider.value = String(Math.round(200 * Math.max(0, Math.min(1, field.scale.at(quotient(...shown))))));
      }
    }
  }

  // -- what follows every change ---------------------------------------------------------

  refresh() {
    this.refreshPopulation();
    this.refreshSelects();
    this.refreshNumbers();
    const { command, only } = commandOf(this.column), lines = scenarioOf(this.column);
    this.command.textContent = command;
    this.lines.textContent = lines;
    this.inSpec.hidden = !lines;
    this.only.textContent = only.length ? `Can be changed only in the spec: ${only.join("; ")}` : "";
    if (this.column.trouble) {
      this.trouble.textContent = `Not applied: ${this.column.trouble}.`;
      this.showNote(this.trouble.textContent);
      this.isNotApplied = true;
    } else if (this.isNotApplied) {
      this.trouble.textContent = "";
      this.showNote("");
      this.isNotApplied = false;
    }
  }
}

// A text as the exact value of a number, or what is wrong with it.
function readNumber(record, text) {
  const typed = exactOf(ungrouped(text));
  if (!typed) return { trouble: `${record.name}: enter a number such as ${decimalOf(inUnit(record, exactNumber(record)))}` };
  const [a, b] = record.factor.map(BigInt);
  const exact = reduced(typed[0] * a, typed[1] * b);
  const range = beyondRange(record, exact);
  return range === null ? { exact } : { trouble: `${record.name}: allowed range ${range}` };
}

// The range of a number in words where a value lies outside of it, null where it does not.
export function beyondRange(record, value) {
  const isBelow = (one, other) => one[0] * other[1] < other[0] * one[1];
  const [low, high] = [record.low, record.high].map((bound) => bound && bound.map(BigInt));
  if (!(low && isBelow(value, low)) && !(high && isBelow(high, value))) return null;
  const ends = [low, high].map((bound) => (bound ? grouped(decimalOf(inUnit(record, bound))) : "…"));
  return `${ends.join(" to ")}${record.unit ? ` ${unitSymbols(record.unit)}` : ""}`;
}

// The ends of a number's slider, in its unit; by powers where they are far apart.
function sliderScaleOf(record, value) {
  const now = quotient(...inUnit(record, value));
  const bound = (end) => record[end] && quotient(...inUnit(record, record[end].map(BigInt)));
  const isNear = (v) => v !== null && v !== undefined && Math.abs(v) <= 100 * Math.abs(now) && now !== 0;
  let low = bound("low"), high = bound("high");
  if (now === 0 && (high === null || high === undefined)) return null;
  high = isNear(high) || now === 0 ? high : now > 0 ? Math.min(high ?? Infinity, now * 10) : 0;
  low = low !== null && low !== undefined && (low === 0 || Math.abs(low) * 100 >= Math.abs(now)) ? low : now > 0 ? now / 10 : (low ?? now * 10);
  if (!(high > low)) return null;
  return new Axis(low, high, 0, 1, low > 0 && high / low > 30);
}
