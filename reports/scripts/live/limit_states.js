// How near a value is to its limit: one scale for utilizations and requirements, one word for each, as in
// `reports/text/words/limit_states.py`.

import { make } from "../common/dom.js";
import { phrase } from "../common/phrases.js";

const WARNING_SHARE = 0.8; // the part of its limit from which on a value is near it
const FULL = 1 + 1e-9; // what counts as no more than the limit: floats do not tell them apart

// The state of what uses a part of its limit; `isLimit` of what sets the capacity.
export function limitState(used, isLimit) {
  if (Number.isNaN(used)) return "unknown";
  if (used > FULL) return "over";
  if (isLimit) return "limit";
  return used >= WARNING_SHARE ? "near" : "within";
}

// The resource of which a measure is the utilization, if any.
export function utilized(measure) { return /^(.+)\.(?:load|utilization)$/.exec(measure ?? "")?.[1] ?? null; }

// A state in a table: its word and shape say what its color does.
export function stateLight(state) { return make("span", { class: `state ${state}` }, phrase(`state.${state}`)); }
