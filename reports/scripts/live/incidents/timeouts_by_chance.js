// Timeouts by random waits alone, whose retries may overload a system without an incident: as `solver/incidents/timeouts_by_chance.py` has it.

const NEGLIGIBLE = 1e-4;

// The streams of some classes of which a share exceeds its timeout by chance, where all attempts are more than a station can do.
export function timeoutsByChance(classes, stations, data, value) {
  const streams = new Map(classes.map((one) => [one.name, one.stream])), scaled = new Set(data.scalers.map((one) => one.node));
  const attempts = (name) => attemptsOf(data.retries[streams.get(name) ?? name]);
  const loads = stations.filter((one) => !scaled.has(one.node)).map(({ name, load, streams: parts }) => {
    const more = Object.entries(parts).reduce((sum, [of, part]) => sum + (attempts(of) - 1) * value(part), 0);
    return { name, parts, load: value(load) + more };
  });
  return classes.flatMap(({ name, stream, later }) => {
    const own = loads.filter(({ parts, load }) => name in parts && load >= 1), share = own.length && later !== null ? value(later) : 0;
    if (!(Number.isFinite(share) && share > NEGLIGIBLE)) return [];
    const { name: resource, load } = own.reduce((most, one) => (one.load > most.load ? one : most));
    return [{ stream: name, timeout: data.retries[stream].timeout, share, resource, load }];
  });
}

// Whether random variation does not decide if a system is over by itself.
export function isCertain({ course, variation, system }) {
  return !variation && !(course.clearedAt < Infinity && system.chanceTimeouts.length);
}

// How many attempts a request has at most, on average where a budget limits them.
function attemptsOf(retry) { return retry ? 1 + Math.min(retry.retries, retry.budget ?? Infinity) : 1; }
