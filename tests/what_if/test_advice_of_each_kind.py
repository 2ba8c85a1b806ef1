"""Moved demand, scheduling and reservation: each is offered, priced and ranked in what is printed.

The capacity with a reservation is held to a simulation that is written here.
"""

from __future__ import annotations

from heapq import heapreplace
from pathlib import Path
from random import Random

import pytest

from qps.cli import main
from qps.solver.answers.answer_parts import Advice, ChangeKind, RewriteMethod
from what_if import test_spec_changes as specs

PRICE = "; price 200 $/month }"
MOVED = specs.TWO_MACHINES
FIRST = specs.REPORTS.replace("queueing mm1 }", f"queueing mm1{PRICE}")
NIGHT = specs.NIGHTLY.replace("cpu 1 core }", f"cpu 1 core{PRICE}")
RESERVED = specs.THREADS.replace("10 thread }", f"10 thread{PRICE}")


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        pytest.param(MOVED, ChangeKind.SHIFT, "render of page: web -> media", id="moved"),
        pytest.param(FIRST, ChangeKind.SCHEDULING, "page first, preemptive", id="priority"),
        pytest.param(NIGHT, ChangeKind.SCHEDULING, "etl: at 22:00 to 08:00 only", id="night"),
        pytest.param(RESERVED, ChangeKind.RESERVATION, "2 of 10 for order alone", id="reserved"),
    ],
)
def test_a_choice_of_each_kind_is_printed_with_its_price_behind_what_is_bought(
    text: str,
    kind: ChangeKind,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_text = [one for one in specs._advised(text) if one.rewrite is not None]
    chosen = [one for one in of_text if one.kind is kind]
    assert chosen
    # No machine is added: the price of a text is that of the same machines.
    assert {one.running_price for one in chosen} == {0}
    assert chosen == sorted(chosen, key=_most_first)
    spec = tmp_path / "spec.qps"
    spec.write_text(text, encoding="utf-8")
    main(["solve", str(spec)])
    printed = capsys.readouterr().out
    bought, first = printed.index("+$"), printed.index("\n  Choice  ")
    assert bought < first < printed.index(words)


def _most_first(one: Advice) -> int:
    return -one.capacity


def _mean_time(rate: float, service: float, threads: int, customers: int, seed: int) -> float:
    """Return the mean time of who comes at random to threads that serve in turn, in s."""
    random, now, total = Random(seed), 0.0, 0.0
    free_at = [0.0] * threads
    for _ in range(customers):
        now += random.expovariate(rate)
        done = max(now, free_at[0]) + service
        heapreplace(free_at, done)
        total += done - now
    return total / customers


def test_a_reservation_supports_the_users_that_it_names() -> None:
    """Orders with two threads of their own, each held for 50 ms, take 75 ms at most."""
    (one,) = specs._by_method(RESERVED)[RewriteMethod.OWN_UNITS]
    assert _mean_time(one.capacity * 0.01, 0.05, 2, 200_000, 1) <= 0.075
    assert 1_000 <= one.capacity < 4_000  # two threads serve 40 orders/s
