"""Short ways from a text to what a test looks at."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.diagnostics.render import plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, check_source
from qps.engine.expressions.formulas import Formula

PRELUDE = """
users N in 1..100
unit score of rating
machine box { cpu 1 core }
machine rated { cpu 10 score }
machine twice { cpu 20 score }
network wire { shared; rate 1 Mbit/s }
network ports { switched; rate 1 Mbit/s }
network pair { duplex; rate 1 Mbit/s }
component work { cpu 10 ms/packet }
component each_byte { cpu 1 us/byte }
"""

UNSURE = """
users N in 1..100_000
param cost = lognormal(1 ms/request, 0.2)
param calls = 1 in 0.1..10
machine server { cpu 1 core }
component work { cpu cost }
topology { node web = server; node db = server; link wire = lan between web, db }
stream replies in all {
  traffic N * calls * 1 request/s, 1 kB/request
  at web { work }
  over wire
  at db { }
}
"""
"""A server with a cost that nobody knows, and a number that readers may move; no network yet."""


def checked(text: str) -> Spec:
    """Return a spec that must have no mistakes."""
    outcome = check_source(Source("spec.qps", text))
    assert outcome.value is not None, plain(outcome.diagnostics)
    return outcome.value


def lowered(text: str, *settings: str) -> LoadGraph:
    """Return the load graph of a spec, perhaps with settings."""
    spec = checked(text)
    return lower(spec.model, spec.configuration(None, settings))


def at(graph: LoadGraph, expr: Formula, population: int) -> Fraction:
    """Return the exact value of an expression at a population."""
    value = graph.at(population).exact(expr)
    return Fraction(graph.at(population).number(expr) if value is None else value)


def load(graph: LoadGraph, name: str, population: int) -> Fraction:
    """Return the exact load of a resource at a population."""
    return at(graph, graph.resources[name].load, population)


def latency(graph: LoadGraph, stream: str, population: int) -> Fraction:
    """Return the exact latency of a stream at a population."""
    return sum(
        (at(graph, part.value, population) for part in graph.streams[stream].latency), Fraction(0)
    )


def shop(services: int, queueing: str = "") -> str:
    """Return a spec of services that one gateway calls."""
    condition = "" if queueing else "if o{i}"  # a step that waits is no number
    steps = [condition.format(i=i) for i in range(services)]
    calls = "; ".join(f"call s{i} {{ work {step} }}" for i, step in enumerate(steps))
    return f"""users N in 1..100_000
machine pod {{ cpu 2 core{queueing} }}
machine bigger = pod with cpu 8 core
network mesh {{ switched; rate 10 Gbit/s }}
component work {{ cpu 1 ms/request }}
{"" if queueing else "".join(f"option o{i} = on{chr(10)}" for i in range(services))}
topology {{
  node gateway = pod
  node {", ".join(f"s{i}" for i in range(services))} = pod * 2
  link lan = mesh between all
}}
stream browse in all {{
  traffic N * 1 request / 20 s, 2 kB/request
  at gateway {{ work * 2; {calls} }}
}}
require {{ browse.latency <= 1 s }}
"""
