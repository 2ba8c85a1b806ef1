"""The simulation of several servers that items come back to, at once or after a time.

It shares nothing with QPS. Run `python laboratory/questions/feedback_servers_simulation.py 60` to
draw so many queues of 2 to 16 servers and 2 to 4 passes with services up to 20 times apart, and to
print a line of JSON for each: its numbers, the mean wait of all passes together, and the mean and
percentiles of the time from the first arrival to the end of the last service. With `--compare` each
line has what QPS predicts besides, and the last ones how far off that was, by how far services are
apart.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from collections import defaultdict, deque
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import fmean

from msgspec import Struct

ITEMS = 40_000
LEVELS = (50, 95, 99)
_MOST_APART = (1, 2, 4, 10, 20)
_ARRIVAL, _BACK, _SERVED = range(3)


class FeedbackServers(Struct, frozen=True, kw_only=True):
    """Servers, the mean exponential services of each pass, in s, and the fixed time between."""

    servers: int
    services: tuple[float, ...]
    between: float
    load: float

    @property
    def rate(self) -> float:
        """How many items come in a second."""
        return self.load * self.servers / sum(self.services)

    @property
    def times_apart(self) -> float:
        """How many times as long as the shortest service the longest is."""
        return max(self.services) / min(self.services)


def drawn(random: Random) -> FeedbackServers:
    """Return a queue by chance."""
    apart, passes = random.choice(_MOST_APART), random.choice((2, 2, 3, 4))
    services = [0.01 * apart ** random.random() for _ in range(passes)]
    services[random.randrange(passes)] = 0.01 * apart
    mean = sum(services) / passes
    return FeedbackServers(
        servers=random.choice((2, 4, 8, 16)),
        services=tuple(services),
        between=mean * random.choice((0.0, 0.0, 0.3, 1.0, 10.0)),
        load=round(random.uniform(0.3, 0.9), 3),
    )


def played(queue: FeedbackServers, random: Random, items: int = ITEMS) -> dict[str, float]:
    """Return mean waits, times and percentiles of all items but the first tenth."""
    services, last = queue.services, len(queue.services) - 1
    events = [(random.expovariate(queue.rate), 0, _ARRIVAL, 0, 0.0)]
    line: deque[tuple[float, int, float]] = deque()
    free, count, done = queue.servers, 0, 0
    waits, times = [], []
    waited: dict[float, float] = defaultdict(float)
    while done < items:
        now, _, what, number, since = heapq.heappop(events)
        count += 1
        if what == _ARRIVAL:
            again = now + random.expovariate(queue.rate)
            heapq.heappush(events, (again, count, _ARRIVAL, 0, 0.0))
            line.append((now, 0, now))
        elif what == _BACK:
            line.append((now, number, since))
        else:
            free += 1
            if number == last:
                done += 1
                wait = waited.pop(since)
                if done > items // 10:
                    waits.append(wait)
                    times.append(now - since)
            elif queue.between:
                back = now + queue.between
                heapq.heappush(events, (back, count, _BACK, number + 1, since))
            else:
                line.append((now, number + 1, since))
        while line and free:
            came, number, since = line.popleft()
            free -= 1
            waited[since] += now - came
            end = now + random.expovariate(1 / services[number])
            heapq.heappush(events, (end, count, _SERVED, number, since))
    times.sort()
    percentiles = {f"p{one}": times[len(times) * one // 100] for one in LEVELS}
    return {"wait": fmean(waits), "mean": fmean(times), **percentiles}


def predicted(queue: FeedbackServers) -> dict[str, float]:
    """Return what QPS predicts of the same numbers."""
    root = Path(__file__).parents[2]
    sys.path[:0] = [str(root / "tests"), str(root / "src")]
    from helpers.specs import lowered  # noqa: PLC0415 - only where it is compared

    numbers = range(len(queue.services))
    between = "rest; " if queue.between else ""
    calls = f"; {between}".join(f"call far {{ work{one} }}" for one in numbers)
    works = "\n".join(
        f"component work{one} {{ cpu {queue.services[one]:.9f} s/request }}" for one in numbers
    )
    graph = lowered(
        f"""
users N in 1..2
machine near {{ cpu 1 core }}
machine many {{ cpu {queue.servers} core, queueing mmc }}
network wire {{ propagation 0 s }}
component rest {{ delay {max(queue.between, 1e-9):.9f} s }}
{works}
topology {{ node home = near; node far = many; link l = wire between home, far }}
stream page in all {{ traffic {queue.rate:.9f} request/s, 1 bit/request; at home {{ {calls} }} }}
"""
    )
    point, page = graph.at(1), graph.streams["page"]
    found = {"mean": point.number(page.mean_latency)}
    for level in LEVELS:
        found[f"p{level}"] = point.number(page.latency_quantile(Fraction(level, 100)))
    return found


def main() -> None:
    """Print a line for each queue, and how far predictions are off where these are compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("queues", type=int, nargs="?", default=60)
    parser.add_argument("--compare", action="store_true", help="print what QPS predicts besides")
    options = parser.parse_args()
    ratios = defaultdict[tuple[str, int], list[float]](list)
    for seed in range(options.queues):
        queue = drawn(Random(seed))
        found = played(queue, Random(seed))
        line = {
            "servers": queue.servers,
            "services": [round(one, 6) for one in queue.services],
            "between": round(queue.between, 6),
            "load": queue.load,
            **found,
        }
        if options.compare:
            line["predicted"] = predictions = predicted(queue)
            band = next(one for one in _MOST_APART if queue.times_apart <= one * (1 + 1e-9))
            for name, value in predictions.items():
                ratios[name, band].append(value / found[name])
        print(json.dumps(line), flush=True)
    for (name, band), each in sorted(ratios.items()):
        print(
            f"{name}, services up to {band:g} times apart: {len(each)} queues, "
            f"{min(each):.2f} to {max(each):.2f} times as simulated"
        )


if __name__ == "__main__":
    main()
