// The facts of an incident for the setting of the page, beside its charts: as `reports/text/incidents/incident_text.py` has them.

import { make } from "../../common/dom.js";
import { number, percent, quantity, whole } from "../../common/format.js";
import { Picture } from "../../common/picture.js";
import { startOf } from "./course_steps.js";
import { loadedToCapacity } from "./random_variation.js";
import { isCertain } from "./timeouts_by_chance.js";

const MOST_BACKLOGS = 3, SHOWN_BACKLOG = 0.1, SHOWN_COUNT = 0.5, ROUNDING = 1e-9;

// Follows the setting as a picture does, of which it is the companion. `charts` is the element with the charts; facts stand before it, changes that help behind it.
export class IncidentFacts {
  // `follow` is called for what else follows the setting.
  constructor(incident, charts, follow) {
    const place = charts.previousElementSibling, changes = charts.nextElementSibling;
    Object.assign(this, { incident, place, follow, usual: [...place.children], changes: changes?.matches("h2, h3, section") ? null : changes, isVisible: false, isNear: false, isStale: false });
    Picture.watch(this);
  }

  seen(where, isThere) {
    this[where] = isThere;
    if (isThere && this.isStale) this.redraw();
  }

  change() {
    this.isStale = true;
    if (this.isVisible) this.redraw();
  }

  redraw() {
    const { incident, place, changes } = this, { isUsual } = incident;
    this.isStale = false;
    if (changes) changes.hidden = !isUsual;
    this.follow();
    place.replaceChildren(...(isUsual ? this.usual : this.rows().map(([label, text]) => make("div", null, make("dt", null, label), make("dd", null, text)))));
  }

  rows() {
    const { data, shown } = this.incident, { labels } = data;
    const constant = (key) => [labels[key], data.facts[key]];
    if (shown.reason) return [constant("happens"), [labels.over, data.reasons[shown.reason].replace("{at}", whole(this.incident.app.shown.n))]];
    const facts = new Facts(this.incident);
    return [[labels.at, facts.users], constant("happens"), ...facts.rows(), [labels.over, facts.over], constant("accuracy")];
  }
}

class Facts {
  constructor(incident) {
    const { data, app, shown } = incident;
    Object.assign(this, { incident, data, units: app.shown.model.units, ...shown, population: app.shown.model.population });
  }

  text(key, values = {}) { return this.data.texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]); }
  time(seconds) { return quantity(this.units, seconds, this.data.time); }

  duration(seconds) {
    const [factor] = this.incident.scale(seconds);
    return factor === 1 ? this.time(seconds) : this.text(factor === 60 ? "minutes" : "hours", { many: Number((seconds / factor).toPrecision(3)) });
  }

  many(count) { return count >= SHOWN_COUNT ? whole(Math.round(Number(count.toPrecision(3)))) : this.text("none"); }

  get users() {
    const rate = this.system.streams.reduce((sum, one) => sum + one.rate, 0);
    const users = `${whole(this.shownAt)} ${this.population}`, { mode, moment } = this.system;
    const inMode = mode ? this.text("users_in", { users, mode }) : users;
    return this.text("at", { users: moment ? this.text("users_at", { users: inMode, moment }) : inMode, rate: number(rate) });
  }

  get shownAt() { return this.incident.shown.at; }

  // Facts of some label: the label stands at the first.
  labeled(key, texts) { return texts.map((text, i) => [i ? "" : this.data.labels[key], text]); }

  rows() {
    const { points, streams } = this.course, name = (i) => this.incident.label(this.system.streams[i].name);
    const worst = streams.flatMap((one, i) => (one.worst > 0 ? [this.text("worst", { stream: name(i), worst: this.duration(one.worst), at: this.duration(one.worstAt) })] : []));
    const attempts = largest(points, (one) => one.offered + one.retries);
    const isRetried = streams.some((one) => one.retries > 0) && attempts.retries > 0;
    return [
      ...this.labeled("worst", worst),
      ...this.labeled("attempts", isRetried ? [this.text("attempts", { rate: number(attempts.offered + attempts.retries), at: this.duration(attempts.at) })] : []),
      ...this.labeled("backlog", this.backlogs()),
      ...this.labeled("lost", streams.flatMap((one, i) => (one.lost < SHOWN_COUNT ? [] : [this.lost(one, this.system.streams[i], name(i))]))),
      ...this.labeled("late", streams.flatMap((one, i) => this.late(one, this.system.streams[i], name(i)))),
      ...this.labeled("servers", this.system.scalers.map((one, i) => this.servers(one, largest(points, (point) => point.machines[i]), i))),
      ...this.labeled("modes", this.others.map((one) => this.otherMode(one))),
    ];
  }

  // When it is over in another mode.
  otherMode(result) {
    const { course, system, variation } = result;
    const lost = course.streams.reduce((sum, one) => sum + one.lost, 0), { clearedAt } = course;
    const over = variation ? this.text("by_chance_short") : !isCertain(result) ? this.text("random_waits_short") : clearedAt === Infinity ? this.text("never_short") : clearedAt > 0 ? this.duration(clearedAt) : this.text("at_once");
    return this.text(lost >= SHOWN_COUNT ? "mode_lost" : "mode", { mode: system.mode, over, lost: this.many(lost) });
  }

  backlogs() {
    const found = this.system.stations.map(({ name }, i) => ({ name, point: largest(this.course.points, (one) => one.backlogs[i]), i }));
    const shown = found.map(({ name, point, i }) => ({ name, at: point.at, worst: point.backlogs[i] })).filter((one) => one.worst > SHOWN_BACKLOG).sort((a, b) => b.worst - a.worst);
    const texts = shown.slice(0, MOST_BACKLOGS).map(({ name, worst, at }) => this.text("backlog", { resource: this.incident.label(name), worst: this.duration(worst), at: this.duration(at) }));
    return [...texts, ...this.near.map((one) => this.text("page_random", { resource: this.incident.label(one.name), at: this.shownAt }))];
  }

  // Resources that are loaded to about their capacity: what random variation builds there is not computed here.
  get near() { return loadedToCapacity(this.system); }

  lost(one, { retry }, stream) {
    const hasErrors = this.system.capacityChanges.some((change) => change.answersErrors), key = retry === null ? "errors" : hasErrors ? "errors_or_timeout" : "lost";
    let text = this.text(key, { stream, lost: this.many(one.lost), sent: this.many(one.sent), part: percent(Math.min(1, one.lost / one.sent)), timeout: this.time(retry?.timeout ?? 0) });
    if (retry?.retries) text = this.text("lost_after", { lost: text, retries: this.text(retry.retries === 1 ? "retry" : "retries", { many: retry.retries }) });
    const isOpen = this.course.clearedAt === Infinity || this.course.isExtrapolated;
    return isOpen ? this.text("lost_so_far", { lost: text, at: this.duration(this.course.points.at(-1).at) }) : text;
  }

  late(one, { limit }, stream) {
    if (limit === null || one.late < SHOWN_COUNT) return [];
    return [this.text("late", { stream, late: this.many(one.late), sent: this.many(one.sent), limit: this.time(limit) })];
  }

  servers({ node, atStart }, point, i) {
    const most = point.machines[i];
    const servers = this.text(most > atStart ? "servers" : "same_servers", { node, first: atStart, most, at: this.duration(point.at) });
    return this.withLimit(servers, i);
  }

  // An autoscaler whose limit is too low for its target: with how many machines the most work of a second takes.
  withLimit(servers, i) {
    const { stations, scalers } = this.system, { node, most, target, tolerance, atStart } = scalers[i];
    const own = stations.flatMap((one, at) => (one.node === node && one.isProcessor ? [at] : []));
    const machines = (Math.max(0, ...own.flatMap((at) => this.course.points.map((one) => one.loads[at]))) * atStart) / target;
    return machines <= most * (1 + tolerance) ? servers : this.text("servers_at_most", { servers, target: percent(target), most, needed: whole(Math.ceil(machines - ROUNDING)) });
  }

  // That retries may overload the system by themselves, with the worst of the streams.
  get byRandomWaits() {
    const { stream, share, timeout, resource, load } = largest(this.system.chanceTimeouts, (one) => one.share);
    const [of, where] = [stream, resource].map((name) => this.incident.label(name));
    return this.text("random_waits", { stream: of, share: percent(share), timeout: this.time(timeout), resource: where, load: percent(load) });
  }

  get over() {
    const { course, system, variation } = this, last = course.points.at(-1);
    if (variation) return this.text("by_chance", { variation: percent(variation) });
    if (course.clearedAt === Infinity) {
      const most = system.stations.map((_, i) => Math.max(...course.points.map((one) => one.backlogs[i]))), place = most.indexOf(Math.max(...most));
      const resource = this.incident.label(system.stations[place].name);
      if (!(last.retries > 0)) return this.text("never", { resource });
      const passing = system.streams.filter((one) => one.routes.some(({ visits }) => visits.some(([at]) => at === place)));
      return this.text("never_retries", { resource, offered: number(last.retries + passing.reduce((sum, one) => sum + one.rate, 0)) });
    }
    if (!isCertain(this)) return this.byRandomWaits;
    if (this.near.length) return this.text("page_random_over", { at: this.shownAt });
    if (course.clearedAt <= startOf(system)) return this.text("no_backlog");
    const over = this.text(course.isExtrapolated ? "extrapolated" : "over", { at: this.duration(course.clearedAt) });
    const lost = course.streams.reduce((sum, one) => sum + one.lost, 0);
    return lost < SHOWN_COUNT || course.isExtrapolated ? over : `${over}; ${this.text("in_time", { at: this.duration(course.inTimeAt) })}`;
  }
}

// The first with the largest value.
function largest(points, value) { return points.reduce((found, one) => (value(one) > value(found) ? one : found)); }
