// What the folded sections of the page come to: the lines of `reports/pages/conclusions.py`.

import { isStated } from "../../engine/answers.js";
import { fill } from "../../common/dom.js";
import { phrase } from "../../common/phrases.js";
import { whole } from "../../common/format.js";
import { called } from "../labels.js";
import { saturationOf } from "../sentences.js";
import { stateOf } from "./sections.js";

const NOTICEABLE = 0.005; // effects of 1 % that are printed as zero are none

export function showConclusions(column) {
  const { solved, n, model } = column;
  fill("of-gives-out", saturationOf(column));
  const stated = solved.criteria.filter(({ criterion }) => isStated(criterion) && !(criterion.isQuality && column.graph.metric === "worst"));
  const met = stated.filter((one) => stateOf(column, one).state !== "over").length;
  fill("of-users-see", stated.length ? phrase("page.met", { met, count: stated.length, at: whole(n) }) : "");
  const first = column.sensitivity?.rows.reduce((most, one) => (Math.abs(one.elasticity) > Math.abs(most.elasticity) ? one : most), { elasticity: 0 });
  if (!first) return; // being worked out
  const effect = `${first.elasticity < 0 ? "−" : "+"}${Math.abs(first.elasticity).toFixed(2)} %`;
  fill("of-moves", Math.abs(first.elasticity) < NOTICEABLE ? phrase("page.insensitive") : phrase("page.most_sensitive", { name: called(model, first.record.name), effect }));
}
