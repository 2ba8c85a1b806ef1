// What the page answers for a model as it stands, without a page: for Python to compare.

import { Impossible, solving } from "../../reports/scripts/engine/answers.js";
import { Model, Run } from "../../reports/scripts/engine/model.js";
import { finished } from "../../reports/scripts/common/slices.js";

export function answersOf(data) {
  const model = new Model(data), run = new Run(model);
  try {
    const solved = finished(solving(run, model.setting(0))), { graph } = solved;
    run.at(solved.at);
    const value = (step) => String(run.value(step)); // infinite or no number, too
    return {
      trouble: null, largest: solved.largest, limitedBy: solved.limitedBy,
      saturations: Object.fromEntries(solved.resources.map((one) => [one.name, one.at])),
      loads: Object.fromEntries(solved.resources.map((one) => [one.name, value(one.about.load)])),
      met: Object.fromEntries(solved.criteria.map((one) => [one.criterion.name, one.holds])),
      quality: graph.quality === null ? null : value(graph.quality),
      knees: solved.elastic.map((one) => [one.yields?.at ?? null, one.exhausted?.at ?? null]),
    };
  } catch (error) {
    if (error instanceof Impossible) return { trouble: error.message };
    throw error;
  }
}
