"""Specs of what a request does by chance, or many times at once: each with a limit of its p99."""

from __future__ import annotations

_HEAD = """users N in 1..100_000
param cost = {cost} in {low}..{high}
network lan {{ propagation 0.1 ms }}
component work {{ cpu cost }}
"""
_TOPOLOGY = "topology {{ {nodes}; link net = lan between all }}\n"
_STREAM = """stream asks in all {{
  traffic N * {rate} request/s, 100 byte/request
  at {at} {{ {steps} }}
}}
require {{ asks.{measure} <= 100 ms }}
"""
_SMALL = {"cost": "1 ms/request", "low": "0.5 ms/request", "high": "2 ms/request"}
_LEAVES = "machine box { cpu 8 core, queueing mmc }\nmachine leaf { cpu 1 core, queueing mm1 }\n"

MIXTURE = (
    _HEAD.format(cost="20 us/request", low="10 us/request", high="40 us/request")
    + "machine store { cpu 1 core, queueing md1 }\ncomponent scan { cpu 31 ms/request }\n"
    + "topology { node redis = store }\n"
    + _STREAM.format(rate="0.1", at="redis", steps="work; 1.4 %: scan", measure="p99")
).replace("network lan { propagation 0.1 ms }\n", "")
"""One command in 70 of a store with one thread takes 31 ms."""

ONE_OF = (
    _HEAD.format(cost="10 ms/request", low="5 ms/request", high="20 ms/request")
    + "machine box { cpu 2 core, queueing mmc }\n"
    + _TOPOLOGY.format(nodes="node front, east, west = box")
    + _STREAM.format(
        rate="0.1",
        at="front",
        steps="one of { 70 %: call east { work }; else: call west { work } }",
        measure="p99",
    )
)
"""A balancer gives each request to one of two pools."""


def fork(before: str = "") -> str:
    """Return a spec of two calls that are made together, by all or with a step before them."""
    return (
        _HEAD.format(cost="10 ms/request", low="5 ms/request", high="20 ms/request")
        + "machine box { cpu 2 core, queueing mmc }\n"
        + _TOPOLOGY.format(nodes="node front, east, west = box")
        + _STREAM.format(
            rate="0.1",
            at="front",
            steps=f"{before}together {{ call east {{ work }}; call west * 50 % {{ work }} }}",
            measure="p99",
        )
    )


def fan_out(behind: str = "", leaf: str = "mm1", step: str = "work", measure: str = "p99") -> str:
    """Return a spec of 100 calls at once, and a step behind them; each takes a `step` at a leaf."""
    merge = "component merged { cpu 2 ms/request }\n" if behind else ""
    slow = "component slow { cpu 20 ms/request }\n" if "slow" in step else ""
    return (
        _HEAD.format(**_SMALL)
        + _LEAVES.replace("mm1", leaf)
        + merge
        + slow
        + _TOPOLOGY.format(nodes="node root = box * 4; node leaves = leaf * 100")
        + _STREAM.format(
            rate="0.1",
            at="root",
            steps=f"together 100 {{ call leaves {{ {step} }} }}{behind}",
            measure=measure,
        )
    )


SLOW = "work; 1 %: slow"
"""One call in a hundred takes 20 ms more."""


def quota(measure: str) -> str:
    """Return a spec of a CPU limit of which a measure has a limit."""
    return (
        _HEAD.format(cost="10 ms/request", low="5 ms/request", high="20 ms/request")
        + "machine pod { cpu 500 millicore, queueing quota per 100 ms on 8 core }\n"
        + "topology { node web = pod }\n"
        + _STREAM.format(rate="0.01", at="web", steps="work", measure=measure)
    ).replace("network lan { propagation 0.1 ms }\n", "")


CALLS = """
users N in 1..100_000
param work = 3 ms/request in 0.1..100 ms/request
machine app { cpu 4 core, queueing mmc }
machine db { cpu 8 core, queueing mmc }
machine red { cpu 1 core, queueing mm1 }
network wire { propagation 0.1 ms }
component run(s) { cpu s }
topology { node web = app; node base = db; node cache = red; link lan = wire between all }
stream a for each user {
  traffic 0.1 request/s
  at web {
    run(work)
    call cache * 3 { run(0.1 ms/request) }
    call base * 40 % { run(8 ms/request) }
  }
}
require { a.p99 <= 100 ms }
"""
"""Several calls, one of them by chance, with a limit of the p99 of all together."""
