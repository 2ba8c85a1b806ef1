"""The capacity that can be relied on: measured model errors at their unfavorable ends, and samples.

What it must be is asked of the same spec with limits that are tightened by hand.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from helpers.specs import checked
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import ReliableCapacity
from qps.solver.solved_spec import solved_spec
from qps.solver.uncertainty.interval_result import Sampling

ROOT = Path(__file__).parents[2]
FEW = Sampling(samples=500)
POOL = """
users N in 1..10_000
unit thread
param pool = 55 thread in 1 thread..200 thread
param limit = 20 ms in 1 ms..1 s
param share = 100 % in 1..100 %
param held = {held}
machine service {{ threads pool }}
component handle {{ delay held }}
topology {{ node api = service }}
stream request in all {{ traffic N * 1 request/s; at api {{ take threads; handle; give threads }} }}
"""
CERTAIN = POOL.format(held="10 ms in 1 ms..1 s")
UNSURE = POOL.format(held="10 ms +- 10 % in 1 ms..1 s")
SLOWEST = "require { request.p99 <= limit }\n"


def solved(text: str, *settings: str) -> Answer:
    spec = checked(text)
    return solved_spec(spec, (), settings, advice=False, sampling=FEW).answer


def reliable(text: str, *settings: str) -> ReliableCapacity:
    found = solved(text, *settings).reliable
    assert found is not None
    return found


def the_error(found: ReliableCapacity) -> Fraction:
    (own,) = found.allowed_for
    assert 0 < own.error < 1
    return Fraction(own.error).limit_denominator(1000)


def test_of_an_exact_model_it_is_the_capacity() -> None:
    text = CERTAIN + "require { api.threads.utilization <= 90 % }\n"
    found = solved(text)
    assert found.known.is_exact
    assert found.reliable == ReliableCapacity(
        capacity=found.capacity, confidence=None, allowed_for=(), unmeasured=()
    )


def test_an_upper_limit_is_lower_by_the_error_of_what_it_limits() -> None:
    text = CERTAIN + SLOWEST
    found = reliable(text)
    error = the_error(found)
    tightened = solved(text, f"limit = {float(20 * (1 - error))} ms").capacity
    assert found.capacity == tightened
    assert tightened is not None
    assert 0 < tightened < (solved(text).capacity or 0)
    assert found.unmeasured == ()


def test_an_ideal_moves_with_its_limit() -> None:
    text = (
        CERTAIN.replace("{", "{{").replace("}", "}}")
        + "require {{ request.p99 <= {} ms ideal {} ms }}\n"
    )
    found = reliable(text.format(20, 12))
    stored = 1 - the_error(found)
    by_hand = solved(text.format(float(20 * stored), float(12 * stored)))
    assert found.capacity == by_hand.capacity


def test_each_mode_is_judged_with_its_own_requirements() -> None:
    text = (
        CERTAIN + "mode strict { request.p99 <= limit }\nmode mild { request.p99 <= 10 * limit }\n"
    )
    found = reliable(text)
    alone = reliable(CERTAIN + SLOWEST)
    assert found.capacity == alone.capacity


def test_a_bound_on_the_mild_side_is_not_covered() -> None:
    text = (
        "users N in 1..1000\nmachine box { cpu 1 core }\n"
        "component work { cpu 10 ms/request }\ntopology { node web = box }\n"
        "stream job in all { traffic N * 1 request/s; at web { work } }\n"
        "require { job.latency <= 20 ms }\n"
    )
    found = reliable(text)
    assert found.unmeasured == ("job.latency",)
    assert found.allowed_for == ()
    assert found.capacity == 100


def test_samples_are_judged_with_the_same_errors() -> None:
    text = UNSURE + SLOWEST
    found = solved(text)
    assert found.reliable is not None
    assert found.uncertainty is not None
    error = the_error(found.reliable)
    tightened = solved(text, f"limit = {float(20 * (1 - error))} ms")
    assert tightened.uncertainty is not None
    assert found.reliable.confidence == 0.95
    assert found.reliable.capacity == tightened.uncertainty.at_confidence.capacity
    assert (found.reliable.capacity or 0) < (found.uncertainty.at_confidence.capacity or 0)


def test_what_fails_first_in_a_sample_counts_with_or_without_error() -> None:
    """A requirement without error is judged in the same samples, not in samples of its own."""
    text = UNSURE + "require { request.p99 <= limit; N <= 4_000 }\n"
    found = solved(text)
    assert found.reliable is not None
    assert found.uncertainty is not None
    assert found.reliable.capacity is not None
    assert found.reliable.capacity <= (found.uncertainty.at_confidence.capacity or 0) <= 4000


@pytest.mark.parametrize(
    ("spec", "unmeasured"),
    [("applications/llm", ()), ("applications/kafka", ()), ("iri", ("lecture.latency",))],
)
def test_it_is_never_above_what_samples_support(spec: str, unmeasured: tuple[str, ...]) -> None:
    text = (ROOT / "specs" / f"{spec}.qps").read_text(encoding="utf-8")
    found = solved(text)
    assert found.reliable is not None
    plain = (
        found.capacity if found.uncertainty is None else found.uncertainty.at_confidence.capacity
    )
    assert found.reliable.capacity is not None
    assert found.reliable.capacity <= (plain or 0)
    assert found.reliable.unmeasured[: len(unmeasured)] == unmeasured


@pytest.mark.parametrize("law", ["md1 room 20", "mg1 cv 2 room 20", "loss"])
def test_what_loses_all_that_finds_no_room_is_limited_by_no_error_of_its_utilization(
    law: str,
) -> None:
    """In truth, too, it serves less than all: only the limit of losses allows for an error."""
    text = f"""
users N in 1..300
machine bucket {{ tokens 1 core, queueing {law} }}
component token {{ tokens 10 ms/request }}
topology {{ node gate = bucket }}
stream calls in all {{ traffic N * 1 request/s; arrivals cv 1; at gate {{ token }} }}
require {{ calls.loss <= 30 % }}
"""
    found = reliable(text)
    assert {one.name for one in found.allowed_for} <= {"calls.loss"}
    assert found.unmeasured in {(), ("calls.loss",)}
    assert found.capacity is not None
