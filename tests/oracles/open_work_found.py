"""`python tests/oracles/open_work_found.py 400`: how far off users beside open traffic are.

Networks by chance of one or two single servers, first come first served, at which users of one
class who think meet open traffic of services up to 64 times shorter or longer. Each is predicted,
and simulated by a loop that shares nothing with it; lines have the errors of rates, times and
percentiles, of users and of open traffic, which 95 % of all do not exceed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.specs import lowered
from oracles.unlike_services import Net, Station, Users, played, spec_of

_EVENTS = 400_000
_LEVELS = tuple(Fraction(one) for one in ("1/2", "9/10", "99/100"))
_ENOUGH = 3000
_LAWS = ("fixed", "exponential", "exponential", "uneven")
_APART = (1 / 64, 1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16, 64)


def network(random: Random) -> Net:
    """Return a network by chance."""
    stations = tuple(Station(1, random.choice(_LAWS)) for _ in range(random.choice((1, 1, 2))))
    services = tuple(random.uniform(0.01, 0.04) for _ in stations)
    apart = random.choice(_APART)
    others = tuple(each / apart for each in services)
    opened = [others if random.random() < 0.7 else (others[0], *(0.0 for _ in others[1:]))]
    if random.random() < 0.3:
        opened.append(tuple(each * random.choice(_APART) for each in services))
    jobs = random.choice((1, 1, 2, 3, 5, 8))
    think = random.choice((0, 0.3, 1, 3, 10)) * sum(services) * max(1, 1 / apart)
    loads = [random.uniform(0.1, 0.85) / len(opened) for _ in opened]
    return stations, (
        Users(services, jobs=jobs, think=think),
        *(Users(each, rate=load / max(each)) for each, load in zip(opened, loads, strict=True)),
    )


def main() -> None:
    """Print the errors of so many networks."""
    found = defaultdict[str, list[float]](list)
    for seed in range(int(sys.argv[1])):
        net = network(Random(seed))
        graph = lowered(spec_of(net))
        there = graph.at(1)
        for at, (rate, times) in enumerate(played(net, Random(seed), _EVENTS)):
            stream, users = graph.streams[f"s{at}"], net[1][at]
            if "open-work-found" not in stream.latency_certainty.methods:
                continue
            if len(times) < _ENOUGH:
                continue
            who = "users" if users.jobs else "open traffic"
            off = there.number(stream.mean_latency) / fmean(times) - 1
            found[f"{who}: response times"].append(off)
            if users.jobs:
                found["users: rates"].append(there.number(stream.rate) / rate - 1)
            for level in _LEVELS:
                late = there.number(stream.latency_quantile(level)) / times[int(level * len(times))]
                found[f"{who}: p{float(100 * level):g}"].append(late - 1)
            if abs(off) > 0.15 or "-v" in sys.argv:
                print(f"{seed}: {who} {off:+.0%}, {net}")
    for what, offs in sorted(found.items()):
        print(f"{what}: {len(offs)}, {_most(offs)}")


def _most(offs: Sequence[float]) -> str:
    each = sorted(map(abs, offs))
    return f"half within {each[len(each) // 2]:.0%}, 95 % within {each[int(0.95 * len(each))]:.0%}"


if __name__ == "__main__":
    main()
