"""Which calls and steps by a share are warned of, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source

REQUESTS = Path(__file__).parents[1] / "requests"
COINS, ONE_SHARE, PART, FEW_LEFT = "QPS0526", "QPS0527", "QPS0528", "QPS0529"

SPEC = """users N in 1..100
param miss = 10 %% in 0..100 %%
param often = 3
machine box { cpu 1 core, queueing mm1; memory 1 GB }
network wire { propagation 0 s }
component work { cpu 1 ms/request }
component copy { cpu 1 us/byte }
component hold { memory 1 MB }
component both { cpu 1 ms/request; memory 1 MB }
topology { node web, a, b = box; link l = wire between all }
stream s for each user { traffic %s; at web { work; %s }; at a { }; at b { } }
require { %s }
"""


def warned_of(text: str) -> set[str]:
    found = check_source(Source("spec.qps", text)).diagnostics
    return {one.code.id for one in found} & {COINS, ONE_SHARE, PART, FEW_LEFT}


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("gateway", {ONE_SHARE}),
        ("hit", {ONE_SHARE}),
        ("share", {ONE_SHARE}),
        ("step", {ONE_SHARE}),
        ("r1a_redis", set()),
        ("t1a_share", set()),
        ("t4_either", {COINS}),
        ("t5_either", {COINS}),
        ("k1", set()),
        ("r1_regress", set()),
        ("t7", set()),
        ("t8_api", set()),
    ],
)
def test_requests_by_chance_are_warned_of(name: str, codes: set[str]) -> None:
    assert warned_of((REQUESTS / f"{name}.qps").read_text(encoding="utf-8")) == codes


OPEN, CLOSED = "1 request/s, 100 byte/request", "1 request, think 1 s"
LATE, P95, FULL = "s.latency <= 1 s", "quantile(s.latency, 95 %) <= 1 s", "web.cpu.load <= 70 %"


@pytest.mark.parametrize(
    ("traffic", "steps", "needs", "codes"),
    [
        (CLOSED, "call a * 30 % { work }; call b * 70 % { work }", LATE, set()),
        (CLOSED, "call a * 30 % { work }; call b * 70 % { work }", P95, {COINS}),
        (OPEN, "call a * 30 % { work }; call b * 70 % { work }", LATE, {COINS}),
        (OPEN, "work * miss", LATE, {PART}),
        (OPEN, "work * (1 - miss)", P95, {PART}),
        (OPEN, "work * miss", FULL, {PART}),
        (OPEN, "work * often", LATE, set()),
        (OPEN, "hold * 0.5", LATE, set()),  # an amount
        (OPEN, "copy * 0.5", LATE, {PART}),
        (OPEN, "work * 1.5", LATE, set()),  # half of the items run it twice
        (OPEN, "both * 1.5", LATE, {PART}),  # and what would it keep?
        (OPEN, "miss: work; (1 - miss): work", LATE, {COINS}),
        (OPEN, "85 %: work; 15 %: copy", LATE, {COINS}),
        (CLOSED, "85 %: work; 15 %: copy", LATE, set()),
        (OPEN, "miss: { call a { work } }; work; miss: copy", LATE, {ONE_SHARE}),
        (OPEN, "miss: call a { work }; call b * (1 - miss) { work }", LATE, {COINS}),
        (OPEN, "miss: { call a { work }; miss: call b { work } }", LATE, set()),  # tried again
        (OPEN, "10 %: work; 10 %: copy", LATE, set()),  # rare for reasons of their own
        (OPEN, "one of { miss: work; else: copy }", LATE, set()),
        (OPEN, "one of { 60 %: work; 35 %: copy }", LATE, {FEW_LEFT}),
        (OPEN, "one of { 60 %: work; 40 %: copy }", LATE, set()),
        (OPEN, "one of { 6 %: work; 4 %: copy }", LATE, set()),  # most run none, as is said
        (OPEN, "one of { 60 %: work; 35 %: copy; else: hold }", LATE, set()),
        (OPEN, "one of { miss: work; 85 %: copy }", LATE, set()),
        (CLOSED, "work * miss", LATE, {PART}),
        (CLOSED, "work * miss", P95, {PART}),
        (OPEN, "call a * miss { work }; call b * miss { work }", LATE, {ONE_SHARE}),
        (OPEN, "call a * miss { work }; call a * miss { work }", LATE, {ONE_SHARE}),
        (OPEN, "call a * miss { call b * miss { work } }", LATE, set()),
        (OPEN, "call a * often { work }; call b * often { work }", LATE, set()),
        (OPEN, "call a * 10 % { work }; call b * 20 % { work }", LATE, set()),
        (OPEN, "call a * miss { work }; call b * (1 - miss) { work }", LATE, {COINS}),
    ],
)
def test_what_means_what_it_says_is_not_warned_of(
    traffic: str, steps: str, needs: str, codes: set[str]
) -> None:
    assert warned_of(SPEC % (traffic, steps, needs)) == codes
