// The operands of closed networks with load-dependent stations and pools (`engine/queueing_networks/load_dependent_operands.py`): groups of five
// numbers, a kind first; places are made of them.

import { memoizing } from "../numerics/memo.js";
import { onLine } from "./product_form.js";

export const SPEED = -1;
export const OWN = -2;
export const SEVERAL = 2;
export const MAX_PLACES = 1 << 15;
export const GROUP = 5;
const MAX_FALLING = 1 << 20;

// One and the same operands are the same places, of which all that was computed is known.
const samePlaces = memoizing((...operands) => (operands.some((one, k) => !Number.isFinite(one) || (k % GROUP && one < 0)) ? null : placesOf(operands)));

export function read(customers, think, operands) {
  if (!(customers >= 0 && customers < Infinity && think >= 0 && think < Infinity)) return null;
  const places = samePlaces(...operands);
  if (!places || customers <= MAX_PLACES) return places;
  if (every(places).some((one) => one.within && one.places * one.copies > MAX_PLACES)) return null;
  if (customers <= MAX_FALLING) return places;
  return every(places).every(({ speeds }) => !speeds?.length || Math.max(...speeds) === speeds.at(-1)) ? places : null;
}

export function placesOf(operands) {
  if (operands.length % GROUP) return null;
  const groups = [];
  for (let k = 0; k < operands.length; k += GROUP) groups.push(operands.slice(k, k + GROUP));
  return placesIn(groups, 0, groups.length, false);
}

function placesIn(groups, first, end, isWithin) {
  const found = [];
  for (let k = first; k < end;) {
    const [kind, demand, servers, load, copies] = groups[k];
    if (kind > 0) {
      const behind = k + 1 + kind;
      if (!Number.isInteger(kind) || behind > end || !(servers >= 1) || !(copies >= 1)) return null;
      const within = placesIn(groups, k + 1, behind, true);
      if (!within) return null;
      found.push({ at: k, delay: demand, places: servers, copies, variation: load, within });
      k = behind;
      continue;
    }
    if ((kind !== 0 && kind !== OWN) || (kind === OWN && !isWithin) || !(copies > 0)) return null;
    let last = k + 1;
    while (last < end && groups[last][0] === SPEED) last++;
    const speeds = last > k + 1 ? groups.slice(k, last).map((group) => group[2]) : [];
    if (speeds.length ? !speeds.every((speed) => speed > 0) : !(servers >= 1)) return null;
    const one = speeds.length ? { at: k, demand, servers: 1, load: 0, copies, speeds } : { at: k, demand, servers, load, copies, speeds };
    if (copies < 1) Object.assign(one, { demand: demand / copies, copies: 1 }); // one that takes longer
    found.push({ ...one, isOwn: kind === OWN });
    k = last;
  }
  return found;
}

// What is known of a place, or of a number, computed on first use.
function ofPlace(make) { return remembered(new WeakMap(), make); }

function ofNumber(make) { return remembered(new Map(), make); }

function remembered(known, make) {
  return (one) => {
    if (!known.has(one)) known.set(one, make(one));
    return known.get(one);
  };
}

const withThoseWithin = ofPlace((place) => [place, ...(place.within ? every(place.within) : [])]);

export function every(places) { return places.length === 1 ? withThoseWithin(places[0]) : places.flatMap(withThoseWithin); }

export function holds(place, which) { return withThoseWithin(place).some((one) => one.at === which); }

export const neverEnds = ofPlace((place) => withThoseWithin(place).some(({ demand, load, servers }) => demand > 0 && load >= servers));

const nameOfPlace = ofPlace((one) => `${one.at}:${one.within ? `${one.delay} ${one.places} ${one.copies} ${one.variation}(${nameOf(one.within)})` : `${one.demand} ${one.servers} ${one.load} ${one.copies} ${one.isOwn} ${one.speeds}`}`);

export function nameOf(places) { return places.map(nameOfPlace).join(";"); }

// A value on lines between whole numbers of customers, servers, places and copies; copies of single servers need not be whole.
export function between(value, customers, think, places) {
  if (!Number.isInteger(customers)) return onLine(customers, (n) => between(value, n, think, places));
  for (const [k, place] of places.entries()) {
    const found = notWhole(place);
    if (found) return onLine(found.count, (n) => between(value, customers, think, places.with(k, found.changed(n))));
  }
  return value(customers, think, places);
}

const notWhole = ofPlace((place) => {
  const isCounted = place.within || place.speeds.length || place.isOwn || place.servers >= SEVERAL;
  for (const name of [place.within ? "places" : "servers", ...(isCounted ? ["copies"] : [])]) {
    if (!Number.isInteger(place[name])) return { count: place[name], changed: ofNumber((n) => ({ ...place, [name]: n })) };
  }
  for (const [k, one] of (place.within ?? []).entries()) {
    const found = notWhole(one);
    if (found) return { count: found.count, changed: ofNumber((n) => ({ ...place, within: place.within.with(k, found.changed(n)) })) };
  }
  return null;
});

export function aroundOf({ places, copies, areEven }) { return `${places} ${copies} ${areEven}`; }

export function takesTime(place) { return place.within ? place.delay > 0 || place.within.some(takesTime) : place.demand > 0; }
