// What the table tells of operands that come in groups: the last ones may be told again and again.

export function placeOf(place, { grows, repeats }) { return place < grows.length ? place : grows.length - repeats + ((place - grows.length) % repeats); }

export function valuesOfEach(law, count) { return law.repeats ? Array.from({ length: count }, (_, k) => law.grows[placeOf(k, law)]) : law.grows; }

// The places among so many operands of what is told of some.
export function expandedPlaces(places, law, count) { return Array.from({ length: count }, (_, k) => k).filter((k) => places.includes(placeOf(k, law))); }
