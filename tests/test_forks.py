"""Calls that are made together: each begins with the flow as it comes."""

from __future__ import annotations

import pytest

from helpers.specs import lowered
from qps.compiler.lower.latency import every
from qps.compiler.lower.load_graph import LoadGraph


def _disks(count: int, arrivals: str = "", behind: str = "") -> LoadGraph:
    """Return disks that each get a part of every request."""
    names = [f"disk{k}" for k in range(1, count + 1)]
    calls = "; ".join(f"call {name} {{ read }}" for name in names)
    if count > 1:
        calls = f"together {{ {calls} }}"
    return lowered(
        "users N in 1..9\nmachine array { cpu 1 core, queueing mm1 }\n"
        "machine drive { arm 1 core, queueing mm1 }\nnetwork wire { propagation 0 s }\n"
        "component read { arm 50 ms/request }\ncomponent work { cpu 40 ms/request }\n"
        f"topology {{ node raid = array; node {', '.join(names)} = drive; "
        "link bus = wire between all }\n"
        f"stream job in all {{ traffic N * 1 request/s; {arrivals}\n"
        f"at raid {{ {calls}{behind} }} }}\n"
    )


def test_each_of_calls_together_gets_the_flow_as_it_comes() -> None:
    graph = _disks(3, "arrivals cv 3")
    found = [part for part in every(graph.streams["job"].latency) if part.queue is not None]
    assert len({graph.at(8).number(part.value) for part in found}) == 1
    assert all(part.visit is not None and part.visit.before is None for part in found)
    alone = _disks(1, "arrivals cv 3")
    whole = alone.at(8).number(alone.streams["job"].mean_latency)
    assert graph.at(8).number(found[0].value) + 0.05 == pytest.approx(whole)


def test_what_comes_after_calls_together_has_waited_in_all_of_them() -> None:
    last = _disks(2, behind="; work").streams["job"].latency[-2]
    assert last.visit is not None
    assert last.visit.after == ("disk1.arm", "disk2.arm")
