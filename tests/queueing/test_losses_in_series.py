"""How numbers are known where loads count what is lost elsewhere."""

from __future__ import annotations

import json

import pytest

from browsers.node import needs_node, run_module
from helpers.specs import lowered
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import CertaintyKind

THINNED = """
users N in 1..40
unit thread
network wire {{ propagation 1 us }}
machine box {{ cpu 1 core, queueing mm1 }}
component little {{ cpu 10 ms/request }}
component much {{ cpu 100 ms/request }}
topology {{ node a = box; node b = box; link l = wire between a, b }}
stream loud for each user {{ traffic 1 request/s, 1 bit/request; {way} }}
stream quiet in all {{ traffic 5 request/s, 1 bit/request; at {at} {{ little }} }}
measure twice = 2 * quiet.latency
require {{ quiet.latency <= 1 s; loud.loss <= 100 % }}
"""


@pytest.mark.parametrize(
    ("way", "at", "is_thinned"),
    [
        ("at a { much }; at b { little }", "b", True),
        ("at a { little; call b { much }; little }", "a", True),
        ("at a { much }", "a", False),
    ],
)
def test_waits_that_count_what_was_lost_before_are_upper_bounds(
    way: str, at: str, is_thinned: bool
) -> None:
    """At 18 users 8 of 18 requests are lost where each takes 100 ms: less comes to the others."""
    graph = lowered(THINNED.format(way=way, at=at))
    items = {one.name: one for one in (*graph.criteria, *graph.measures.values())}
    for name in ("quiet.latency", "twice"):
        assert known_at(graph, items[name], 8).is_exact
        kind = known_at(graph, items[name], 18).kind
        assert kind is (CertaintyKind.UPPER_BOUND if is_thinned else CertaintyKind.EXACT)
    assert known_at(graph, items["loud.loss"], 18).is_exact


@needs_node
@pytest.mark.parametrize(
    ("saturating", "loads", "waiting", "kind"),
    [
        (["a", "b"], [1.8, 0.7], ["quiet"], "upper bound"),
        (["a", "b"], [1.8, 0.7], [], None),
        (["a", "b"], [1.8, 0.7], ["loud"], None),
        (["a", "b"], [0.8, 0.7], ["quiet"], None),
        (["a"], [1.8, 0.7], ["quiet"], None),
        (["a", "b"], [1.8, 1.7], [], "upper bound"),
    ],
)
def test_a_page_knows_them_alike(
    saturating: list[str], loads: list[float], waiting: list[str], kind: str | None
) -> None:
    item = {"known": None, "knownInSeries": ["upper bound", ["so"]], "waitsOf": waiting}
    graph = {
        "streams": [
            {"name": "loud", "saturating": saturating},
            {"name": "quiet", "saturating": ["b"]},
        ],
        "resources": [{"name": n, "load": one} for n, one in zip("ab", loads, strict=True)],
    }
    script = (
        'import { knownAt } from "./reports/scripts/engine/certainty.js";\n'
        f"const run = {{ graph: {json.dumps(graph)}, at() {{}}, value: (load) => load }};\n"
        f"console.log(JSON.stringify(knownAt(run, {json.dumps(item)}, 18)));\n"
    )
    found = json.loads(run_module(script))
    assert (found and found[0]) == kind
