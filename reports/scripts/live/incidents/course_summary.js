// The course of an incident in few points: of many steps the means of rates, and the most waits: as `solver/incidents/course_summary.py` has it.

const MOST_POINTS = 240;

export function summarized(records, step) {
  const many = Math.max(1, Math.ceil(records.length / MOST_POINTS)), found = [];
  for (let first = 0; first < records.length; first += many) found.push(pointOf(records.slice(first, first + many), first * step, step));
  return found;
}

function pointOf(steps, at, step) {
  const seconds = steps.length * step;
  const rate = (of) => steps.reduce((sum, one) => sum + one[of], 0) / seconds;
  const each = (of, make) => steps[0][of].map((_, i) => make(steps.map((one) => one[of][i])));
  const most = (values) => Math.max(...values), least = (values) => Math.min(...values), mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  return {
    at, offered: rate("offered"), retries: rate("retries"), answered: rate("answered"), failed: rate("failed"), wait: most(steps.map((one) => one.wait)),
    backlogs: each("backlogs", most), loads: each("loads", mean), capacities: each("capacities", mean), utilizations: each("utilizations", mean),
    machines: steps.at(-1).machines, hitRates: each("hitRates", least),
  };
}
