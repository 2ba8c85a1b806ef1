"""Twenty specs by chance, played: no label is wrong. `python tests/simulated` has a thousand."""

from __future__ import annotations

from random import Random

import pytest

from qps.compiler.lower.disciplines.one_server import OneServer
from qps.compiler.lower.queueing import Queue, Visit
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, upper_bound
from qps.engine.formulas import Formula
from simulated.generated import KINDS, spec_of_kind
from simulated.judge import judge, judge_text

_SEEDS = (0, 1, 2, 4, 5, 6, 8, 10, 11, 12, 13, 16, 17, 19, 20, 25, 28, 62, 75, 141)
"""Such that each kind is there, and none takes long to play."""
_PLAIN = """
users N in 1..2
machine box { cpu 1 core, queueing mm1 }
component work { cpu 0.6 s/request }
topology { node a = box }
stream job in all { traffic 1 request/s, 1 bit/request; at a { work } }
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", _SEEDS)
def test_no_label_is_wrong(seed: int) -> None:
    found = judge(seed, len(_SEEDS), seconds=0, runs=12)
    assert not found.wrong, "; ".join(map(str, found.wrong))
    assert found.compared


@pytest.mark.parametrize(
    ("known", "factor"), [(EXACT, 0.6), (upper_bound("so"), 0.6), (approximation(error=0.05), 1.5)]
)
def test_a_planted_fault_is_found(
    known: Certainty, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = OneServer.wait
    assert not judge_text(_PLAIN, 1, 1, seconds=0, runs=12).wrong

    def wrong(self: OneServer, queue: Queue, own: Visit) -> Formula:
        return right(self, queue, own) * factor

    monkeypatch.setattr(OneServer, "wait", wrong)
    monkeypatch.setattr(OneServer, "mean_known", lambda self, queue: known)
    told = judge_text(_PLAIN, 1, 1, seconds=0, runs=12).wrong
    assert "latency" in {one.one.measure for one in told}


def test_all_kinds_are_generated_alike_each_time() -> None:
    for kind in set(KINDS):
        assert spec_of_kind(kind, Random(7)) == spec_of_kind(kind, Random(7))
