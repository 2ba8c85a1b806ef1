"""`python tests/network/first_answers.py 120`: the first answers of calls at once, replayed.

Fan-outs by chance: all items, or some, call some of equal machines at once and wait for the first
answers, where other traffic may come, too. Each is predicted, and replayed by Lindley's recursion;
a line for each number tells of which errors 95 % are less. `first_answers.py 120 0 all` has those
that some items wait for all answers of, where services are no exponential ones.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.specs import lowered

LEVELS = tuple(Fraction(one) for one in ("1/2", "9/10", "19/20", "99/100"))
_REQUESTS = 16_000
_QUEUEINGS = {0.0: "md1", 0.5: "mg1 cv 0.5", 1.0: "mm1", 2.0: "mg1 cv 2"}
_FRONT, _JUMP = 0.1, 0.03


class FanOut(Struct, frozen=True):
    """A share of the items calls so many of some machines, which serve for a second on average.

    The first `answers` are waited for. Each machine has a `load`, of which a part is of `others`;
    services have a coefficient of variation of `varies`. Before the calls there may be a queue.
    """

    calls: int
    machines: int
    answers: int
    load: float
    others: float
    varies: float
    share: float
    has_front: bool

    @property
    def rate(self) -> float:
        """How many items come in a second."""
        return self.load * (1 - self.others) * self.machines / self.calls / self.share


def fan_out(random: Random) -> FanOut:
    """Return a fan-out by chance."""
    calls = random.choice((2, 4, 10, 30, 100))
    share = random.choice((1.0, 0.3))
    return FanOut(
        calls=calls,
        machines=min(200, calls * random.choice((1, 1, 2, 4))),
        answers=random.randint(max(1, calls // 4), calls - 1),
        load=random.uniform(0.2, 0.85),
        others=random.choice((0.0, 0.0, 0.5)),
        varies=random.choice((0.0, 1.0, 1.0, 2.0)),
        share=share,
        has_front=share < 1,
    )


def all_answers(random: Random) -> FanOut:
    """Return a fan-out by chance that some of the items make, and wait for all of it."""
    calls = random.choice((2, 4, 10, 30, 100))
    return FanOut(
        calls=calls,
        machines=min(200, calls * random.choice((1, 1, 2, 4))),
        answers=calls,
        load=random.uniform(0.1, 0.85),
        others=random.choice((0.0, 0.0, 0.5)),
        varies=random.choice((0.0, 0.0, 0.5, 2.0)),
        share=random.choice((0.1, 0.3, 0.6, 0.9)),
        has_front=True,
    )


def spec_of(of: FanOut) -> str:
    """Return the spec of a fan-out."""
    first = f", first {of.answers} answers" if of.answers < of.calls else ""
    calls = f"together {of.calls}{first} {{ call leaf {{ look }} }}"
    often = f"{100 * of.share:g} %: {{ {calls} }}" if of.share < 1 else calls
    others = of.load * of.others * of.machines
    root = f"{'first; ' if of.has_front else ''}{often}"
    nodes = f"node root = plain; node leaf = box * {of.machines}"
    comes = f"traffic {of.rate:.12f} request/s, 1 bit/request"
    lines = [
        "users N in 1..2",
        "machine plain { cpu 1 core, queueing mm1 }",
        f"machine box {{ cpu 1 core, queueing {_QUEUEINGS[of.varies]} }}",
        "network lan { propagation 0 s }",
        f"component first {{ cpu {_FRONT / of.rate:.12f} s/request }}",
        "component look { cpu 1 s/request }",
        f"topology {{ {nodes}; link l = lan between all }}",
        f"stream asks in all {{ {comes}; at root {{ {root} }} }}",
    ]
    if others:
        comes = f"traffic {others:.12f} request/s, 1 bit/request"
        lines.append(f"stream others in all {{ {comes}; at leaf {{ look }} }}")
    return "\n".join(lines)


def replayed(of: FanOut, seed: int, requests: int = _REQUESTS) -> np.ndarray:
    """Return the sorted response times of items, but for some at the start."""
    random = np.random.default_rng(seed)
    ends, found = np.zeros(of.machines), np.empty(requests)
    now = front = last = 0.0
    for at, gap in enumerate(random.exponential(1 / of.rate, requests)):
        now += gap
        front = max(front, now) + (random.exponential(_FRONT / of.rate) if of.has_front else 0.0)
        found[at] = front - now
        if random.random() >= of.share:
            continue
        if of.others:
            _serve_others(of, ends, last, front, random)
        last = front
        called = random.permutation(of.machines)[: of.calls]
        ends[called] = np.maximum(ends[called], front) + _services(of, of.calls, random)
        found[at] += np.partition(ends[called], of.answers - 1)[of.answers - 1] - front
    return np.sort(found[requests // 10 :])


def _serve_others(
    of: FanOut, ends: np.ndarray, since: float, until: float, random: np.random.Generator
) -> None:
    """Serve what else has come to each machine meanwhile."""
    counts = random.poisson(of.load * of.others * (until - since), of.machines)
    most = int(counts.max())
    times = random.uniform(since, until, (most, of.machines))
    times[np.arange(most)[:, None] >= counts] = np.inf
    for row in np.sort(times, axis=0):
        come = row < np.inf
        ends[come] = np.maximum(ends[come], row[come]) + _services(of, int(come.sum()), random)


def _services(of: FanOut, count: int, random: np.random.Generator) -> np.ndarray:
    if not of.varies:
        return np.ones(count)
    shape = of.varies**-2
    return random.gamma(shape, 1 / shape, count)


def main() -> None:
    """Print the errors of so many fan-outs, from a seed on."""
    errors = defaultdict[str, list[float]](list)
    count, first = int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0
    drawn = all_answers if sys.argv[3:] == ["all"] else fan_out
    requests = _REQUESTS if drawn is fan_out else 2 * _REQUESTS
    for seed in range(first, first + count):
        of = drawn(Random(seed))
        times, graph = replayed(of, seed, requests), lowered(spec_of(of))
        stream, there = graph.streams["asks"], graph.at(1)
        off = {"mean": there.number(stream.mean_latency) / float(times.mean()) - 1}
        for level in LEVELS:
            if abs(1 - of.share - level) < _JUMP:
                continue  # replays do not tell on which side of the jump it is
            played = float(times[int(level * len(times))])
            off[f"p{100 * float(level):g}"] = (
                there.number(stream.latency_quantile(level)) / played - 1
            )
        print(seed, of, " ".join(f"{name} {one:+.3f}" for name, one in off.items()), flush=True)
        for name, one in off.items():
            errors[name].append(abs(one))
    for name, each in errors.items():
        each.sort()
        print(
            f"{name}: median {median(each):.1%}, 95 % within {each[int(0.95 * len(each))]:.1%}, "
            f"all within {each[-1]:.1%}"
        )


if __name__ == "__main__":
    main()
