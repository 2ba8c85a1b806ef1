"""Rows that differ in how many machines there are: each is that of a matrix of its own."""

from __future__ import annotations

import math
from typing import Any

import pytest

import qps
from qps.solver.matrix.matrix_compiler import compile_matrix

SITE = """
users N in 1..5_000
machine small { cpu 4 core, QUEUEING; price 90 $/month }
machine large { cpu 8 core, QUEUEING; price 170 $/month }
network wire { rate 100 Mbit/s }
topology {
  node web = small * 2
  node db = large * 2
  link lan = wire between web, db
}
component page { cpu 8 ms/request }
component query { cpu 4 ms/request }
stream visits for each user {
  traffic 0.1 request/s, 10 kB/request
  at web { page }
  over lan
  at db { query }
}
target cpu 70 %
"""
PLAIN = SITE.replace(", QUEUEING", "")
KINDS = {
    "shared": SITE.replace("QUEUEING", "queueing ps"),
    "several cores": SITE.replace("QUEUEING", "queueing mmc") + "require { visits.p99 <= 60 ms }",
    "one server": SITE.replace("QUEUEING", "queueing mm1") + "require { visits.p95 <= 60 ms }",
    "of each machine": PLAIN + "stream beats for each web { traffic 3 request/s, 1 kB/request\n"
    "at web { page }; over lan; at db { query } }",
    "modes": PLAIN + "mode usual {}\nmode fewer { web = small }",
    "survive": PLAIN + "survive any one of web",
    "zones": PLAIN + "survive any one of 2 zones with web",
    "a condition": PLAIN.replace("N in 1..5_000", "N in 1..5_000\nparam least = 2").replace(
        "0.1 request/s", "0.1 request/s * min(count(web), least)"
    ),
    "a count": PLAIN.replace("0.1 request/s", "0.1 request/s * (1 + count(web) / 100)"),
    "to all": PLAIN.replace("{ page }", "{ page to all db }"),
    "uncertain": PLAIN.replace("8 ms/request", "8 ms/request +- 10 %"),
}
WEB = ["small * 1", "small * 2", "small * 3", "small * 7", "large * 1", "large * 2", "large * 4"]
DB = ["large * 1", "large * 2", "large * 5"]


def _rows(text: str, web: list[str], db: list[str]) -> list[dict[str, Any]]:
    axes = f"web in [{', '.join(web)}]; db in [{', '.join(db)}]"
    columns = "capacity, limited_by, running_cost, web.cpu.utilization, db.cpu.utilization"
    spec = qps.loads(f"{text}\nmatrix m {{ {axes}; select {columns} }}")
    return list(spec.matrix().to_arrow().to_pylist())


def _alike(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return one == other


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_is_that_of_its_machines_alone(kind: str) -> None:
    found = _rows(KINDS[kind], WEB, DB)
    alone = [row for web in WEB for db in DB for row in _rows(KINDS[kind], [web], [db])]
    assert len(found) == len(alone)
    for one, other in zip(found, alone, strict=True):
        assert one.keys() == other.keys()
        unlike = {name for name in one if not _alike(one[name], other[name])}
        # A row without an answer may have another of its reasons.
        assert unlike <= ({"reason"} if one["reason"] and other["reason"] else set())


def test_machines_are_structures_and_their_numbers_are_not() -> None:
    spec = qps.loads(f"{KINDS['shared']}\nmatrix m {{ web in [{', '.join(WEB)}] }}")
    assert compile_matrix(spec.spec.model, spec.spec.model.matrices[0]).lowered == 4
