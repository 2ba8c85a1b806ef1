// The answer in words, with its reason; the same words as `qps solve` has for it.

function answerOf(column) {
  const { solved, graph } = column;
  if (solved.verdict === "range") {
    return `Every number of users from ${whole(graph.low)} to ${whole(graph.high)} is acceptable; the range, not the system, is the limit.`;
  }
  if (solved.verdict === "nowhere") {
    const fewest = graph.low === 1 ? "1 user is" : `${whole(graph.low)} users are`;
    return `Not even ${fewest} acceptable: ${reasonOf(column, graph.low)}.`;
  }
  const users = solved.largest === 1 ? "1 user" : `${whole(solved.largest)} users`;
  const mode = graph.mode ? ` in mode ${graph.mode}` : "";
  return `${users}. With ${whole(solved.largest + 1)}${mode}, ${reasonOf(column, solved.largest + 1)}.`;
}

function reasonOf(column, population) {
  const { solved, run } = column;
  const { criterion } = solved.limiting;
  run.at(population);
  if (criterion.name === "quality") {
    return `quality is ${toldApart(run.value(solved.graph.quality), 1)}; at most 1 is acceptable`;
  }
  if (criterion.stated) {
    const told = (step) => column.tell(run.value(step), criterion.dimension, criterion);
    return `${criterion.name} is ${told(criterion.measure)}; ${criterion.atMost ? "at most" : "at least"} ${told(criterion.limit)} is acceptable`;
  }
  const [load, target] = [run.value(criterion.measure), run.value(criterion.limit)];
  const resource = criterion.name.replace(/\.load$/, "");
  if (target !== 1) return `${resource} is loaded ${toldApart(100 * load, 100 * target)} %; its target is ${percent(target)}`;
  return `${resource} is loaded ${percent(load, 4)}: it is saturated`;
}

function saturationOf(column) {
  const { first } = column.solved;
  const name = column.model.population;
  if (!column.solved.resources.length) return "";
  if (!first) return `No resource ever ${isPlanned(column) ? "reaches its target" : "saturates"}.`;
  const { planned } = first.about;
  if (first.isAtStart) return `${first.name} is ${planned ? "beyond its target" : "saturated"} from the start.`;
  return `First to ${planned ? "reach its target" : "saturate"}: ${first.name}, at ${name} = ${number(first.at)}.`;
}

// Whether some resource counts as saturated below 100 %, by plan.
function isPlanned(column) { return column.solved.resources.some((one) => one.about.planned); }

// The same setting on the command line; what it cannot set is told apart.
function commandOf(column) {
  const { model, setting } = column;
  const start = model.starts[setting.start];
  const changes = [], only = [];
  if (start.scenario) changes.push("--scenario", quoted(start.scenario));
  for (const text of start.settings) changes.push("--set", quoted(text));
  if (setting.mode) changes.push("--set", quoted(`mode=${setting.mode}`));
  model.selects.forEach((select, i) => {
    if (setting.picks[i] !== start.picks[i]) {
      changes.push("--set", quoted(`${select.name}=${select.choices[setting.picks[i]]}`));
    }
  });
  const stated = new Map(start.numbers.map((i) => [model.record(i).name, exactNumber(model.record(i))]));
  for (const [name, value] of setting.numbers) {
    const before = stated.get(name);
    if (before && before[0] * value[1] === value[0] * before[1]) continue;
    const record = column.graph.numbers.find((one) => one.name === name);
    if (!record) continue;
    const text = `${decimalOf(inUnit(record, value))}${record.unit ? ` ${record.unit}` : ""}`;
    if (record.parameter) changes.push("--set", quoted(`${name}=${text}`));
    else only.push(`${name} = ${text}`);
  }
  return { command: ["qps solve", quoted(model.file), ...changes].join(" "), only };
}

function inUnit(record, [above, below]) {
  const [a, b] = record.factor.map(BigInt);
  return reduced(above * b, below * a);
}
