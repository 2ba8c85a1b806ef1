"""Specs whose loads jump, bend or meet as they reach 1."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

from helpers.specs import lowered
from qps.engine.expressions.formulas import (
    population,
)
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import Solution

N = population("N")

HARDWARE = """
machine pc { cpu 1 core }
machine box { cpu 1 core }
network lan { switched; rate 100 Gbit/s }
"""
CEIL_MACHINES = (
    "users N in 3..60\n"
    + HARDWARE
    + """
component work { cpu 50.05 ms/packet }
topology { node u = pc * N; node b = box * ceil(N / 20); link l = lan between u, b }
stream v for each u { traffic 1 packet/s, 100 byte/packet; at u { }; at b { work } }
expect e { saturation(b) <= 20; source "x" }
"""
)
CEIL_OF_SQUARE = CEIL_MACHINES.replace("50.05", "55").replace("ceil(N / 20)", "ceil(N * N / 400)")
WRONG_BOTTLENECK = (
    "users N in 2..60\nmachine db { cpu 1 core }\n"
    + HARDWARE
    + """
component fwd { cpu 2.6 ms/packet }
component store { cpu 45 ms/packet }
topology {
  node u = pc * N; node b = box * ceil(N / 20); node d = db; link l = lan between u, b, d
}
stream v for each u { traffic 1 packet/s, 100 byte/packet; at u { }; at b { fwd to all u }; at u { } }
stream w for each u { traffic 1 packet/s, 100 byte/packet; at u { }; at d { store } }
"""
)
MEETING_STEPS = """
users N in 4_900..5_100
unit vcpu
machine node_ { requests ROOM vcpu }
component hold { requests 1 vcpu }
topology { node cluster = node_ }
stream standing {
  traffic 1 request/s
  at cluster { hold * (ceil(N / 1500) + ceil(N / 400) + ceil(N / 1500)) }
}
"""
OWN_LOAD = """
users N in 1..10000
machine box { cpu 1 core }
component job { cpu 1 s/request }
topology { node host = box }
stream jobs { traffic (LOAD) * (1 request/s); at host { job } }
"""


def solved(text: str) -> tuple[Solution, dict[str, float | None]]:
    solution = solve(lowered(text))
    return solution, {r.name: r.saturation.at for r in solution.resources}


FILLED = """
users N in FIRST..200
machine box { cpu 2 core }
machine plain { cpu 1 core }
component job { cpu 1 s/request }
param most = 1 in 0..10
target host.cpu 50 %
topology { node host = box; node other = plain }
stream jobs { traffic (LOAD) * (1 request/s); at host { job } }
stream more { traffic (N / 150) * (1 request/s); at other { job } }
matrix rows { most in [0.5, 0.9, 1, 1.5]AT }
"""
