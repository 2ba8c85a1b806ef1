// What the table tells of operands that come in groups: the last ones may be told again and again.

export function placeOf(place, { grows, repeats }) { return place < grows.length ? place : grows.length - repeats + ((place - grows.length) % repeats); }

export function valuesOfEach(law, count) { return law.repeats ? Array.from({ length: count }, (_, k) => law.grows[placeOf(k, law)]) : law.grows; }

// Where two shares stand, that of both together, and the servers of the second: see `engine/operand_groups.py`.
export function foundTogether({ waits, repeats }, { length }) {
  if (waits === undefined || length <= waits + repeats) return [];
  return Array.from({ length: Math.floor((length - waits) / repeats) - 1 }, (_, k) => waits + (k + 1) * repeats).map((place) => [place - repeats, place, place + 7, place + 4]);
}

// The places among so many operands of what is told of some.
export function expandedPlaces(places, law, count) { return Array.from({ length: count }, (_, k) => k).filter((k) => places.includes(placeOf(k, law))); }
