"""Specs with pools, and what is held of them."""

from __future__ import annotations

from hypothesis import settings

from helpers.nightly import examples
from qps.compiler.lower.load_graph import LoadGraph

law = settings(max_examples=examples(8), deadline=None)

HARDWARE = """users N in 1..100_000
unit thread
machine app { cpu %s core%s; threads %s thread; memory 4 GB }
machine base { cpu %s core%s; slots %s thread }
network wire { duplex; rate 1000 Gbit/s; queueing none }
component work { cpu %s ms/request }
component query { cpu %s ms/request }
component nap { delay %s ms }
topology { node web = app; node db = base; link lan = wire between web, db }
"""
STREAM = """stream page in all {
  traffic N * 0.1 request/s, 1 bit/request
  %s
}
"""
NESTED = (
    "at web { take threads; work; nap; call db { take slots; query; give slots }; give threads }"
)
OPEN = "at web { work; nap; call db { query } }"


def spec(
    way: str = NESTED,
    *,
    web: tuple[int, float, int] = (8, 5, 200),
    db: tuple[int, float, int] = (4, 8, 20),
    nap: float = 0,
    queueing: str = ", queueing mmc",
) -> str:
    """Return a spec: of a web server and its database the cores, ms/request and places."""
    (web_cores, work, threads), (db_cores, query, slots) = web, db
    hardware = HARDWARE % (
        web_cores, queueing, threads, db_cores, queueing, slots, work, query, nap,
    )  # fmt: skip
    return hardware + STREAM % way


def held(graph: LoadGraph, name: str, at: int) -> float:
    return float(graph.at(at).number(graph.resources[name].load))


def reported(graph: LoadGraph, at: int) -> float:
    return float(graph.at(at).number(graph.streams["page"].mean_latency))
