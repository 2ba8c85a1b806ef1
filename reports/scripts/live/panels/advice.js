// What would help most: every single change that the page can try, in the time between frames; where
// none helps by itself, as several limits are met at once, changes that do so together.

import { fails, Impossible, isCounted, failureOf, refuseOutOfBounds } from "../../engine/answers.js";
import { reduced } from "../../engine/numerics/fractions.js";
import { largestKnown, formatUsers } from "../../engine/certainty.js";
import { Undecided } from "../../engine/numerics/search.js";
import { intervalDrawer } from "../charts/change_intervals.js";
import { fill, make, table } from "../../common/dom.js";
import { sliced } from "../../common/slices.js";
import { percent, printedCapacity, unbroken, whole } from "../../common/format.js";
import { CERTAINTY } from "../../engine/samples.js";
import { phrase } from "../../common/phrases.js";
import { noteOf } from "./change_notes.js";
import { beyondRange } from "./controls.js";
import { GOAL, goalLadders } from "./relaxed_goals.js";
import { changesTo, shownCost } from "../change_wording.js";
import { commandOf, nounOf } from "../sentences.js";

export class Advice {
  constructor(column, done) {
    Object.assign(this, { column, done, found: [], together: null, untried: 0 });
    this.singles = hasConfidence(column) || column.solved.verdict === "range" ? [] : [...this.hardware(), ...this.numbers()];
    this.ladders = hasConfidence(column) || column.solved.largest !== null ? [] : [...this.steps()];
    this.goals = hasConfidence(column) || column.solved.verdict === "range" ? [] : [...goalLadders(column)];
    this.isWorking = this.singles.length + this.ladders.length + this.goals.length > 0;
  }

  // Whatever is tried, one by one.
  get candidates() { return [...this.singles, ...this.ladders.flat(), ...this.goals.flat()]; }

  // Where no user is supported, twice as much or a tenth less is too little to try: each number in larger and larger steps, as in `first_users.py`.
  *steps() {
    const { column: { setting, graph, run, model } } = this;
    for (const record of graph.numbers) {
      const now = run.numbers.get(record.name);
      if (!now || record.decided || record.limit || record.assumed || record.need) continue;
      const isWhole = record.counts || isCounted(model, graph, record);
      const ladder = (kind, factors) => factors.flatMap(([above, below]) => {
        const value = reduced(now[0] * above, now[1] * below);
        if ((record.parameter && beyondRange(record, value) !== null) || (isWhole && value[1] !== 1n)) return [];
        return [{ kind, text: `${record.name} * ${above}/${below}`, setting: { ...setting, numbers: new Map(setting.numbers).set(record.name, value) }, part: record.name }];
      });
      if (record.capacity || isWhole) yield ladder("more capacity", TWOFOLD);
      else if (record.parameter ? !record.name.includes(".") : record.dimension !== "") {
        yield ladder("less demand", LESS);
        if (!record.dimension.startsWith("s/")) yield ladder("more of it", MORE);
      }
    }
  }

  // Other choices, machines and networks; a place is worth a try where it bears on the limit.
  *hardware() {
    const { model, setting } = this.column;
    for (let i = 0; i < model.selects.length; i++) {
      for (let k = 0; k < model.selects[i].choices.length; k++) {
        if (k === setting.picks[i] || model.selects[i].noHelp?.includes(k)) continue;
        const picks = setting.picks.with(i, k);
        const variant = model.variant(setting.shape, picks);
        const { kind: select, name, choices } = model.selects[i];
        if (select === "case") continue; // which of several values counts is not for anybody to change
        if (!variant) this.untried++; // a page has some combinations only
        if (!variant || variant === model.variant(setting.shape, setting.picks)) continue;
        const isMore = choices[k].startsWith(`${choices[setting.picks[i]].split(" * ")[0]} * `);
        const kind = select === "option" ? "another choice" : isMore ? "more machines" : "other hardware";
        yield { kind, text: `${name} = ${choices[k]}`, setting: { ...setting, picks }, part: name };
      }
    }
  }

  // Capacity twice as large; parameters of the spec a tenth up or down, as it helps.
  *numbers() {
    const { column } = this;
    const { setting, sensitivity, graph, run } = column;
    const elasticities = new Map(sensitivity.rows.map((one) => [one.record, one.elasticity]));
    for (const record of graph.numbers) {
      // Where several are full, more of one is no help by itself: its part of the answer is nothing.
      const elasticity = elasticities.get(record) ?? 0;
      // To be content with less is no help.
      if (record.decided || record.limit || record.assumed || record.need) continue;
      const now = run.numbers.get(record.name);
      if (!now) continue;
      const changed = (above, below) => ({ ...setting, numbers: new Map(setting.numbers).set(record.name, reduced(now[0] * above, now[1] * below)) });
      if (record.places || (record.capacity && elasticity >= 0)) {
        const next = changed(2n, 1n);
        if (record.parameter && beyondRange(record, next.numbers.get(record.name)) !== null) continue;
        yield { kind: record.places ? "more machines" : "more capacity", text: `twice the ${record.name}`, setting: next, part: record.name };
      } else if (elasticity !== 0 && record.parameter && !record.name.includes(".")) {
        const one = elasticity > 0 ? { word: "more", sign: 1n } : { word: "less", sign: -1n };
        const isWhole = isCounted(column.model, graph, record) || (record.counts && now[0] % now[1] === 0n);
        const many = isWhole ? wholeStep(now) : 0n; // there is no half a thing, and none at all is no less of it
        if (isWhole && now[0] + one.sign * many * now[1] <= 0n) continue;
        const [text, next] = isWhole
          ? [`${many} ${one.word} ${record.name}`, changed(now[0] + one.sign * many * now[1], now[0])]
          : [`10 % ${one.word} ${record.name}`, changed(10n + one.sign, 10n)];
        if (beyondRange(record, next.numbers.get(record.name)) !== null) continue;
        yield { kind: elasticity > 0 ? "more of it" : "less demand", text, setting: next, part: record.name };
      }
    }
  }

  // Try some changes, for as long as there is time; true when all were tried.
  work(until) {
    this.begun ??= this.trying();
    if (!sliced(this.begun, until)) return false;
    this.isWorking = false;
    this.done(this.best());
    return true;
  }

  * trying() {
    for (const one of this.singles) yield* this.try_(one);
    for (const ladder of this.ladders) {
      const taken = this.found.some((one) => one.part === ladder[0]?.part);
      const first = taken ? null : yield* this.mildest(ladder);
      if (first) yield* this.try_(first);
    }
    if (!this.found.length) yield* this.joined();
    for (const ladder of this.goals) yield* this.relaxed(ladder);
  }

  // The mildest step of a goal: the first that supports anybody, or all that the last one supports.
  *relaxed(ladder) {
    if (this.column.solved.largest === null) {
      const first = yield* this.mildest(ladder);
      if (first) yield* this.try_(first);
      return;
    }
    const last = yield* this.given(ladder.at(-1));
    if (!last) return;
    const step = (yield* this.mildest(ladder, last.largest)) ?? ladder.at(-1);
    this.found.push(step === ladder.at(-1) ? last : (yield* this.given(step)) ?? last);
  }

  get now() { return this.column.solved.largest ?? this.column.graph.low - 1; }

  // The first of some larger and larger changes that support a population: one more than now.
  *mildest(ladder, population = this.now + 1) {
    if (!ladder.length || !(yield* this.supports(ladder.at(-1), population))) return null;
    let low = 0, high = ladder.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (yield* this.supports(ladder[middle], population)) high = middle; else low = middle + 1;
    }
    return ladder[high];
  }

  *supports({ setting }, population) {
    return Boolean(yield* this.tried(setting, function* holds(run, one) { // eslint-disable-line require-yield
      return !fails(run, run.curve(one.over, [one.measure, one.limit]), one, population);
    }));
  }

  * try_(change) {
    const found = yield* this.given(change);
    if (found) this.found.push(found);
  }

  // What a change gives, null where it does not help.
  * given(change) {
    const { now } = this;
    const found = [];
    const graphs = yield* this.tried(change.setting, function* holds(run, one) {
      return !fails(run, run.curve(one.over, [one.measure, one.limit]), one, now + 1) && found.push(yield* failureOf(run, one));
    });
    if (!graphs) return null;
    const { low, high } = graphs[0];
    const largest = Math.min(high + 1, ...found.map((one) => one.failure ?? high + 1)) - 1;
    return largest > now ? { ...change, largest, isRange: largest === high, known: largestKnown(found, low), prices: this.extraCosts(change.setting) } : null;
  }

  // Ask each criterion of each mode of a setting; null where one says no, or the setting cannot be.
  * tried(setting, ask) {
    const { trial, model } = this.column;
    try {
      const graphs = model.graphs(setting);
      for (const graph of graphs ?? []) {
        refuseOutOfBounds(trial.prepare(graph, setting.numbers));
        for (const one of trial.graph.criteria) {
          yield;
          if (!(yield* ask(trial, one))) return null;
        }
      }
      return graphs;
    } catch (error) {
      if (!(error instanceof Undecided || error instanceof Impossible)) throw error;
      return null;
    }
  }

  // What a setting costs more for as many users as there are now, for each cost that there is now: NaN where that is not known.
  extraCosts(setting) {
    const before = this.costs(this.column.setting), after = this.costs(setting);
    const isKnown = before.unpriced === after.unpriced; // what has no price may cost anything
    return [...before.totals].map(([isRunning, total]) => (isKnown ? after.totals.get(isRunning) ?? NaN : NaN) - total);
  }

  costs(setting) {
    const { trial, model, n, graph: { mode } } = this.column, graphs = model.graphs(setting);
    const graph = graphs.find((one) => one.mode === mode) ?? graphs[0];
    trial.prepare(graph, setting.numbers).at(n);
    return { totals: new Map(graph.costs.map((cost) => [cost.running, trial.value(cost.total)])), unpriced: [...graph.unpriced].sort().join() };
  }

  // Changes that help together: one after the other, each that fixes most of what fails still.
  *joined() {
    const more = (one) => one.kind.startsWith("more");
    const singles = [...this.singles.filter(more), ...this.singles.filter((one) => !more(one))];
    let taken = [], setting = this.column.setting, left = yield* this.failing(setting);
    while (left > 0 && taken.length < MAX_TOGETHER) {
      let best = null;
      for (const one of singles) {
        if (taken.some((other) => other.part === one.part)) continue;
        const next = joinedWith(this.column.setting, setting, one.setting);
        const count = yield* this.failing(next);
        if (count < (best?.count ?? left)) best = { one, next, count };
        if (best?.count === 0) break;
      }
      if (!best) return;
      taken = [...taken, best.one];
      setting = best.next;
      left = best.count;
    }
    if (left === 0) yield* this.try_({ kind: "together", isBought: taken.some(({ kind }) => BOUGHT.includes(kind)), text: taken.map((one) => one.text).join(" and "), parts: taken.map((one) => one.part), setting });
  }

  // How many criteria fail with one more than now.
  * failing(setting) {
    const { now } = this;
    let count = 0;
    const graphs = yield* this.tried(setting, function* counted(run, one) { // eslint-disable-line require-yield
      count += fails(run, run.curve(one.over, [one.measure, one.limit]), one, now + 1);
      return true;
    });
    return graphs ? count : Infinity;
  }

  // The best of all kinds, at most three of each: ten other machines would hide what else there is.
  best() {
    const counts = new Map();
    const best = this.found.sort((a, b) => b.largest - a.largest || (a.text < b.text ? -1 : 1)).filter(({ kind }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts.get(kind) <= MAX_OF_A_KIND;
    });
    return Object.assign(best, { untried: this.untried });
  }
}

// A tenth of so many things, in whole ones.
function wholeStep([above, below]) {
  const tenth = (2n * above + 10n * below) / (20n * below); // rounded
  return tenth > 1n ? tenth : 1n;
}

// A setting with what another one has otherwise than the first of all.
function joinedWith(first, setting, other) {
  const numbers = new Map(setting.numbers);
  for (const [name, value] of other.numbers) if (first.numbers.get(name) !== value) numbers.set(name, value);
  return { ...setting, numbers, picks: setting.picks.map((pick, i) => (other.picks[i] === first.picks[i] ? pick : other.picks[i])) };
}

// Whether samples tell the answer: each change would have a promise of its own.
function hasConfidence({ solved }) { return solved.unevaluated.length > 0 || solved.criteria.some((one) => one.criterion.hasConfidence); }

const TWOFOLD = Array.from({ length: 10 }, (_, power) => [2n ** BigInt(power + 1), 1n]);
const MORE = [11n, 12n, 15n, 20n, 30n, 50n, 100n, 1000n].map((times) => [times, 10n]);
const LESS = [90n, 80n, 70n, 60n, 50n, 40n, 30n, 25n, 20n, 10n, 5n, 2n, 1n].map((parts) => [parts, 100n]);

const MAX_OF_A_KIND = 3, MAX_TOGETHER = 4;
const SHOWN_ADVICE = 8, SHOWN_FIRST = 3, SHOWN_GOALS = 1;
const LEAST_GAIN = 1.1; // a change that gives less is not among the first

export function showAdvice(column, found, apply) {
  fill("changes-note", noteOf(column, found));
  if (column.solved.verdict === "range") return fill("advice", make("p", { class: "soft" }, "Capacity reaches the end of the range: no change is needed."));
  if (hasConfidence(column)) return fill("advice", make("p", { class: "soft" }, "A requirement with a confidence level is evaluated by sampling, which this page does not repeat for changes. Run qps solve --set to evaluate one."));
  if (!found) return fill("advice", make("p", { class: "soft" }, "Evaluating changes …"));
  if (!found.length) return fill("advice", make("p", { class: "soft" }, "No change that this page can make increases capacity, alone or combined."));
  const now = column.headlineAt, { high } = column.graph, isSampled = column.isUncertain;
  const reliable = reliableOf(found), hasReliable = !isSampled || reliable.size > 0;
  const shownOf = (one) => {
    const many = reliable.get(one) ?? one.largest;
    return { ...one, many: hasReliable ? printedCapacity(many, high) : many, isSure: isSampled && reliable.has(one), group: groupOf(column, one) };
  };
  // Changes with nominal inputs are compared with the capacity of nominal inputs.
  const { largest, known } = column.solved, base = largest === null ? 0 : hasReliable ? now : largest;
  // As certain as the headline is what needs no mark beside it.
  const markedUsers = (one) => formatUsers({ ...one, largest: one.many, known: one.known?.[0] === known?.[0] ? null : one.known });
  const ranked = found.map(shownOf).sort((a, b) => b.many - a.many);
  // One of the changes made together that does as much by itself is enough.
  const hasEnoughInPart = (one) => ranked.some((other) => other.many >= one.many && other.part && one.parts?.includes(other.part));
  const isFirst = (one) => !hasEnoughInPart(one) && one.many >= LEAST_GAIN * base && (!isSampled || !hasReliable || one.isSure);
  // What is required less displaces nothing that can be had.
  const helping = ranked.filter(isFirst), isGoal = (one) => one.kind === GOAL;
  const first = byGroup([...helping.filter((one) => !isGoal(one)).slice(0, SHOWN_FIRST), ...helping.filter(isGoal).slice(0, SHOWN_GOALS)]), more = byGroup(ranked.filter((one) => !first.includes(one))).slice(0, SHOWN_ADVICE - first.length);
  const usersOf = (one) => (one.many === high ? `${whole(high)}+` : one.isSure || (isSampled && hasReliable) ? whole(one.many) : markedUsers(one));
  fill("changes-note", noteOf(column, found, ranked.map((one) => ({ users: usersOf(one), known: one.known }))));
  const rowOf = (one) => {
    const words = changesTo(column, one.setting), isEnd = one.many === high, users = usersOf(one);
    const cells = [phrase(`change.kind.${one.group}`), make("span", { title: commandOf({ ...column, setting: one.setting }).command }, unbroken(words)), users, shownCost(column, one), ...(drawn ? [drawn(one.interval, one.many)] : []),
      tryButton(words, () => apply(one))];
    const [mark] = /^(?:[≤≥~] )?/.exec(users); // of a bound the gain is one, too
    return Object.assign(cells, { gain: largest === null ? 0 : one.many - base, mark, rest: isEnd ? ` ${phrase("page.or_more")}` : "" });
  };
  const drawn = intervalDrawer(now, found.map((one) => one.interval), high);
  const head = ["Kind", "Change", `Capacity (${nounOf(column.model)})`, `Cost at ${whole(column.n)}`, ...(drawn ? [phrase("change.interval")] : []), "Try it"];
  const made = (some) => {
    const shown = table(head, some.map(rowOf), new Set([2]));
    const [own] = shown.children;
    own.classList.add("changes");
    for (const { cells } of own.tBodies[0].rows) {
      cells[cells.length - 1].classList.add("try");
      if (drawn) cells[cells.length - 2].classList.add("spread-of");
    }
    some.map(rowOf).forEach((row, i) => { if (row.gain > 0) own.tBodies[0].rows[i].cells[2].dataset.gain = `${row.mark}+${whole(row.gain)}${row.rest}`; });
    return shown;
  };
  const isOpen = Boolean(document.querySelector("#advice details[open]")), changes = more.length === 1 ? "change" : "changes";
  const isPending = column.isSampled && found.every((one) => one.sure === undefined), key = isPending ? "nominal_changes.pending" : "nominal_changes";
  const untried = found.untried ? [make("p", { class: "soft" }, phrase("page.untried", { count: found.untried, choices: found.untried === 1 ? "choice" : "choices" }))] : [];
  const note = [...(hasReliable ? [] : [make("p", { class: "soft" }, phrase(key, { sure: percent(CERTAINTY) }))]), ...untried];
  const recommended = () => {
    const shown = made(first);
    // What was not tried may be better than all that was.
    if (largest !== null && hasReliable && !found.untried && !isGoal(first[0])) shown.querySelector("tbody tr").cells[1].dataset.recommended = phrase("change.recommended");
    return shown;
  };
  return fill("advice", note, first.length ? recommended() : make("p", { class: "soft" }, phrase("page.no_change")),
    more.length ? make("details", { open: isOpen }, make("summary", null, phrase("page.more_changes", { count: more.length, changes })), made(more)) : []);
}

// What would help, as it was known when the page was written: told until the page has tried it.
export function writtenAdvice() {
  const place = document.getElementById("advice");
  return { table: place.querySelector("table") ? [...place.children] : [], changesNote: document.getElementById("changes-note").textContent };
}

export function showWrittenAdvice(written) {
  fill("advice", written.table);
  fill("changes-note", written.changesNote);
}

// A button for each change that was written with the page, as soon as the page has found it, too.
export function offerChanges(column, found, apply) {
  const known = new Map(found.map((one) => [changesTo(column, one.setting), one]));
  for (const own of document.querySelectorAll("#advice .changes")) {
    for (const row of own.tBodies[0].rows) {
      const { words } = row.dataset, change = known.get(words);
      if (!change || row.querySelector("button")) continue;
      if (own.tHead.rows[0].cells.length < row.cells.length + 1) own.tHead.rows[0].append(make("th", null, "Try it"));
      row.append(make("td", { class: "try", "data-label": "Try it" }, tryButton(words, () => apply(change))));
    }
  }
}

function tryButton(words, apply) { return make("button", { type: "button", class: "quiet", "aria-label": `Try ${words}`, on: { click: apply } }, "Try"); }

// What a change takes, in the order in which changes are shown: what has a price before what has none.
const GROUPS = ["buy", "system", "traffic", "goal"], BOUGHT = ["more machines", "other hardware", "more capacity"];

function groupOf({ traffic }, { kind, isBought, part, parts = [part] }) {
  if (isBought || BOUGHT.includes(kind)) return "buy";
  if (kind === GOAL) return "goal";
  return parts.every((one) => traffic?.has(one.replace(/\.traffic$/, ""))) ? "traffic" : "system";
}

function byGroup(changes) {
  const rank = (one) => (one.group === "buy" && one.prices.some((price) => price) ? 0 : 1 + GROUPS.indexOf(one.group));
  return changes.sort((a, b) => rank(a) - rank(b));
}

// The capacities with changes at the confidence of the headline, by samples of the page.
function reliableOf(found) { return new Map(found.map((one) => [one, one.sure]).filter(([, many]) => many !== undefined && many !== null)); }
