"""A shop that is sized for a population, and what it then needs."""

from __future__ import annotations

from hypothesis import settings

from helpers.nightly import examples
from helpers.specs import checked
from qps.solver.what_if.sizing import size
from qps.solver.what_if.sizing_result import ResourceNeed, Sizing

few = settings(max_examples=examples(20), deadline=None)

# A user's request is 2 ms of work and 400 kbit; the processor is busy 10 % besides.
SHOP = """
users N in 1..10_000
machine box { cpu 4 core, idle 10 %; memory 8 GB; price 50 $/month }
machine pc { }
network wire { duplex; rate 1 Mbit/s }
component serve { cpu 2 ms/request; memory 10 MB }
topology {
  node web  = box
  node user = pc * N
  link line = wire between web, user
}
stream pages for each user {
  traffic 1 request/s, 50 kB/request
  at web { serve }
  at user { }
}
target cpu 60 %
"""


def sized(text: str, population: int, *changes: str) -> Sizing:
    spec = checked(text)
    return size(spec.model, spec.configuration(None, changes), population)


def needed(text: str, name: str, population: int, *changes: str) -> ResourceNeed:
    return next(n for n in sized(text, population, *changes).needed if n.resource == name)
