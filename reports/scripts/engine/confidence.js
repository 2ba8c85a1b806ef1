// Requirements that ask for certainty: samples tell up to how many users they hold. A page has what
// qps told of each start (`solver/variants/variant_confidence.py`); of other settings it does not judge them.

// Whether a setting is that of its start: what was told of that holds for it.
export function isAsStarted(model, setting) {
  const start = model.starts[setting.start], isChanged = model.changedIn(setting);
  const isSamePlace = setting.shape === start.shape && setting.picks.every((pick, i) => pick === start.picks[i]);
  return isSamePlace && setting.mode === null && ![...setting.numbers.keys()].some(isChanged);
}

// Whether a graph rests on numbers that nobody knows: where a reader has set them all, each
// requirement holds for certain, or not at all.
function isUncertain(model, graph, setting) {
  const isSet = model.changedIn(setting), inGraph = new Set(graph.numbers.map((one) => one.name));
  const numbers = model.starts[setting.start].uncertain?.[graph.mode ?? ""] ?? [];
  return numbers.some((one) => model.record(one).some(([name]) => !isSet(name) && inGraph.has(name)));
}

// Up to how many users a criterion holds with the certainty that it asks for; null where the page
// cannot tell, nothing where it is one like others.
export function capacityAtConfidence(model, graph, setting, criterion) {
  if (criterion.certainty === undefined || !isUncertain(model, graph, setting)) return undefined;
  const limits = model.starts[setting.start].confidenceLimits?.[graph.mode ?? ""];
  return isAsStarted(model, setting) ? limits?.[criterion.name] ?? null : null;
}
