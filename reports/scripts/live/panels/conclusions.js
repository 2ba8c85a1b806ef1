// What the folded sections of the page come to: the lines of `reports/pages/conclusions.py`.

import { fill } from "../../common/dom.js";
import { phrase } from "../../common/phrases.js";
import { whole } from "../../common/format.js";
import { called } from "../labels.js";
import { saturationOf } from "../sentences.js";

const NOTICEABLE = 0.005; // effects of 1 % that are printed as zero are none

// `states` are those of the requirements.
export function showConclusions(column, states) {
  const { n, model } = column, found = [...states.values()].map((one) => one.state);
  const countOf = (state) => found.filter((one) => one === state).length, unknown = countOf("unknown");
  fill("of-gives-out", saturationOf(column));
  const counts = { met: found.length - unknown - countOf("over"), count: found.length, unknown, at: whole(n) };
  fill("of-users-see", found.length ? phrase(unknown ? "page.met.unknown" : "page.met", counts) : "");
  const first = column.sensitivity?.rows.reduce((most, one) => (Math.abs(one.elasticity) > Math.abs(most.elasticity) ? one : most), { elasticity: 0 });
  if (!first) return; // being worked out
  const effect = `${first.elasticity < 0 ? "−" : "+"}${Math.abs(first.elasticity).toFixed(2)} %`;
  fill("of-moves", Math.abs(first.elasticity) < NOTICEABLE ? phrase("page.insensitive") : phrase("page.most_sensitive", { name: called(model, first.record.name), effect }));
}
