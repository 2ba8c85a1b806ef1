// What stands beside the heading of changes: what their capacities count, what the bars beside them are or why there are
// none, and what the marks of bounds mean (`reports/pages/change_intervals.py`).

import { phrase } from "../../common/phrases.js";
import { spoken } from "../labels.js";
import { nounOf } from "../sentences.js";

// `shown` has the capacity of each change as it is written, with how it is known.
export function noteOf(column, found, shown = []) { return [countsOf(column, found), ...marksOf(column, shown)].join("; "); }

function countsOf(column, found) {
  const noun = nounOf(column.model), judged = (found ?? []).filter((one) => one.interval);
  if (judged.some(({ interval: [least, most] }) => least !== most)) return phrase("changes.intervals", { noun });
  if (!found?.length) return phrase("changes.count", { noun });
  if (column.isUncertain) return phrase(judged.length ? "changes.unaffected" : "changes.count", { noun });
  return phrase("changes.exact", { noun });
}

const LONGEST_REASON = 80; // letters

// Each mark before a capacity, with the shortest reason for it, if that is no longer than a line.
function marksOf({ model }, shown) {
  const kinds = new Map();
  for (const { users, known } of shown) {
    const mark = known ? phrase(`mark.${known[0]}`) : "";
    if (mark && users.startsWith(mark) && !kinds.has(mark)) kinds.set(mark, known);
  }
  return [...kinds].map(([mark, [kind, reasons]]) => {
    const [reason] = reasons.reduce((least, one) => (one.length < least.length ? one : least)).split(": "), more = reasons.length - 1;
    const key = reason.length > LONGEST_REASON ? "changes.marked" : more ? "changes.marked.more" : "changes.marked.as";
    return phrase(key, { mark: mark.trim(), known: phrase(`served.is.${kind}`), reason: spoken(model, reason.replaceAll("`", "")), count: more });
  });
}
