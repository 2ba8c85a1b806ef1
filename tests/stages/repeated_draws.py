"""Calls that are made again, with draws inside: random ones, simulated, and predicted.

`python tests/stages/repeated_draws.py COUNT SEED` draws so many requests of calls that are made
several times, in which choices and chances are drawn anew each time, also nested and by chance
themselves; simulates each by an event for each visit of first-come-first-served cores, and prints
predicted over simulated percentiles, and how many are within the error that is stated.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from random import Random
from typing import TypeAlias

from msgspec import Struct

from helpers.stated_numbers import stated_numbers
from qps.compiler.quantities.certainty import Certainty

LEVELS = ("0.5", "0.95", "0.99")
_SPEC = """users N in 1..1
{machines}
network lan {{ propagation 0 s }}
{components}
topology {{ {nodes} link net = lan between all }}
stream asks for each user {{
  traffic {rate} request/s
  at n0 {{ {body} }}
}}
require {{ asks.latency <= 1 hour }}
"""
_VISITS = 400_000


class Work(Struct, frozen=True):
    """A step at a node, with its mean service (ms)."""

    node: int
    service: float


class Made(Struct, frozen=True):
    """A call to a node, so many times."""

    node: int
    times: int
    body: tuple[Step, ...]


class Drawn(Struct, frozen=True):
    """Alternatives with their chances (%), and what is left."""

    each: tuple[tuple[int, tuple[Step, ...]], ...]
    rest: tuple[Step, ...] | None
    is_chance: bool


Step: TypeAlias = Work | Made | Drawn


class Request(Struct, frozen=True):
    """Steps at a first node; the cores of each node, and how busy the busiest is."""

    steps: tuple[Step, ...]
    cores: tuple[int, ...]
    load: float


def drawn(chance: Random) -> Request:
    """Return a random request in which something is drawn in a call that is made again."""
    cores = tuple(chance.choice([1, 1, 2, 4, 16]) for _ in range(4))
    scale = {node: 10 * 4 ** chance.random() for node in range(4)}

    def work(node: int) -> Work:
        return Work(node, round(scale[node] * chance.choice([1, 1, 1, spread]), 3))

    def inside(node: int, depth: int) -> tuple[Step, ...]:
        if depth == 2 or chance.random() < 0.3:
            return (work(node),)
        kind = chance.choice(["call", "choice", "chance", "both"])
        if kind == "call":
            other = chance.choice([n for n in range(1, 4) if n != node])
            return (work(node), Made(other, chance.choice([1, 1, 2, 3]), inside(other, depth + 1)))
        percent = chance.choice([1, 5, 10, 30, 50, 80])
        if kind == "chance":
            other = chance.choice([n for n in range(1, 4) if n != node])
            made: Step = Made(other, chance.choice([1, 1, 1, 2]), inside(other, depth + 1))
            return (work(node), Drawn(((percent, (made,)),), None, is_chance=True))
        if kind == "both":
            return (work(node), Drawn(((percent, (work(node),)),), None, is_chance=True))
        return (Drawn(((percent, inside(node, 2)),), inside(node, 2), is_chance=False),)

    spread = chance.choice([1, 1, 2, 5])
    while True:
        times = chance.choice([2, 3, 5, 10])
        body = inside(1, 0)
        if not any(isinstance(one, Drawn) for one in body):
            continue
        call: Step = Made(1, times, body)
        if chance.random() < 0.3:
            call = Drawn(((chance.choice([10, 50, 90]), (call,)),), None, is_chance=True)
        steps = (work(0), call) if chance.random() < 0.5 else (call,)
        return Request(steps, cores, chance.choice([0.1, 0.3, 0.5, 0.7, 0.85]))


def demands(steps: tuple[Step, ...], often: float = 1) -> Counter[int]:
    """Return the mean work of a request at each node (ms)."""
    found: Counter[int] = Counter()
    for step in steps:
        match step:
            case Work(node, service):
                found[node] += often * service  # type: ignore[assignment]
            case Made(_, times, body):
                found.update(demands(body, often * times))
            case Drawn(each, rest, _):
                for percent, body in each:
                    found.update(demands(body, often * percent / 100))
                left = 1 - sum(percent for percent, _ in each) / 100
                found.update(demands(rest or (), often * left))
    return found


def rate(request: Request) -> float:
    """Return how many requests come in a second."""
    per_core = max(ms / request.cores[node] for node, ms in demands(request.steps).items())
    return 1000 * request.load / per_core


# -- simulated ------------------------------------------------------------------------------


def visits(request: Request, chance: Random) -> list[tuple[int, float]]:
    """Return the visits of one item: the node and the service of each (s).

    Steps in a row at a node are one visit, of an exponential service of the mean of all.
    """
    found: list[list[float]] = []
    for node, mean in _served(request.steps, chance):
        if node is None:
            found.append([-1, 0])
        elif found and found[-1][0] == node:
            found[-1][1] += mean
        else:
            found.append([node, mean])
    return [(int(node), chance.expovariate(1000 / mean)) for node, mean in found if node >= 0]


def _served(steps: tuple[Step, ...], chance: Random) -> Iterator[tuple[int | None, float]]:
    for step in steps:
        match step:
            case Work(node, service):
                yield node, service
            case Made(_, times, body):
                for _ in range(times):
                    yield None, 0  # it goes there, and comes back
                    yield from _served(body, chance)
                    yield None, 0
            case Drawn(each, rest, _):
                at = chance.random() * 100
                for percent, body in each:
                    if at < percent:
                        yield from _served(body, chance)
                        break
                    at -= percent
                else:
                    yield from _served(rest or (), chance)


def simulated(request: Request, seed: int) -> tuple[float, ...]:
    """Return percentiles of the response time, and its mean (s)."""
    chance, now, found = Random(seed), 0.0, list[float]()
    free = [[0.0] * many for many in request.cores]
    for cores in free:
        heapify(cores)
    each = rate(request)
    waiting: list[tuple[float, int, float, list[tuple[int, float]]]] = []
    count = done = 0
    upcoming = chance.expovariate(each)
    while done < _VISITS:
        if not waiting or upcoming < waiting[0][0]:
            now, upcoming = upcoming, upcoming + chance.expovariate(each)
            count += 1
            heappush(waiting, (now, count, now, visits(request, chance)[::-1]))
            continue
        now, number, begun, left = heappop(waiting)
        if not left:
            found.append(now - begun)
            continue
        node, service = left.pop()
        end = max(now, heappop(free[node])) + service
        heappush(free[node], end)
        heappush(waiting, (end, number, begun, left))
        done += 1
    found = sorted(found[len(found) // 20 :])
    return (*(found[int(float(p) * len(found))] for p in LEVELS), sum(found) / len(found))


# -- predicted ------------------------------------------------------------------------------


class _Text:
    def __init__(self) -> None:
        self.components: dict[float, str] = {}

    def of(self, steps: tuple[Step, ...]) -> str:
        return "; ".join(map(self._one, steps))

    def _one(self, step: Step) -> str:
        match step:
            case Work(_, service):
                return self.components.setdefault(service, f"c{len(self.components)}")
            case Made(node, times, body):
                many = f" * {times}" if times > 1 else ""
                return f"call n{node}{many} {{ {self.of(body)} }}"
            case Drawn(((percent, body),), None, _):
                return f"{percent} %: {{ {self.of(body)} }}"
            case Drawn(each, rest, _):
                made = [f"{percent} %: {{ {self.of(body)} }}" for percent, body in each]
                made.append(f"else: {{ {self.of(rest or ())} }}")
                return f"one of {{ {'; '.join(made)} }}"


def text_of(request: Request) -> str:
    """Return the spec of a request."""
    text = _Text()
    body = text.of(request.steps)
    return _SPEC.format(
        machines="\n".join(
            f"machine m{at} {{ cpu {many} core, queueing {'mm1' if many == 1 else 'mmc'} }}"
            for at, many in enumerate(request.cores)
        ),
        components="\n".join(
            f"component {name} {{ cpu {service} ms/request }}"
            for service, name in text.components.items()
        ),
        nodes=" ".join(f"node n{at} = m{at};" for at in range(len(request.cores))),
        rate=f"{rate(request):.9f}",
        body=body,
    )


def predicted(request: Request) -> list[tuple[float, Certainty]]:
    """Return the same by formulas, with what is stated of each."""
    return stated_numbers(text_of(request), "asks", LEVELS)


def main(count: int, seed: int) -> None:
    """Print predicted over simulated values."""
    held = stated = 0
    for index in range(count):
        request = drawn(Random(seed + index))
        line = []
        for (value, known), truth in zip(
            predicted(request), simulated(request, seed + index), strict=True
        ):
            ratio = value / truth if truth else float(value < 1e-9) or value * 1e3
            error = None if known.error is None else float(known.error)
            line.append(f"{ratio:.3f}" + ("" if error is None else f"({error:.2f})"))
            if error is not None:
                stated += 1
                held += abs(ratio - 1) <= error
        print(index, request.load, request.cores, *line, _Text().of(request.steps), flush=True)
    print(f"{held} of {stated} within the stated error")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
