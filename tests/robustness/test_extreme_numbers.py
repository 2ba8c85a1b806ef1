"""Numbers beyond all use: each command ends in an answer or a diagnostic, never in a fault."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.cli import main
from qps.engine.queueing_networks.normalizing_integral import at_population
from qps.simulation.stations import InTurn, draws
from qps.simulation.statistics import estimate, warm_up

SPEC = """
users N in 1..1000
param work = {work} s/request
param rate = {rate} request/s
param size = {size} byte/request
machine server {{ cpu {cores} core{queueing} }}
machine laptop {{ cpu 1 core }}
component answer {{ cpu work }}
network lan {{ rate {speed} bit/s; propagation {delay} s }}
topology {{
  node user = laptop * N
  node here = server
  link wan = lan between user, here
}}
stream requests for each user {{
  traffic rate, size
  at user {{ }}
  over wan
  at here {{ answer }}
}}
require {{
  requests.latency <= {limit} s
}}
expect all {{
  requests.latency ~ {limit} s within 10 %
  (here.cpu.load with N = 7) == {work}
  largest_acceptable >= 2
  source "x"
}}
"""
USUAL = {
    "work": "1e-3",
    "rate": "1",
    "size": "100",
    "cores": "1",
    "speed": "1e6",
    "delay": "1e-3",
    "limit": "1",
    "queueing": "",
}
EXTREME = ("1e-300", "1e-30", "1e9", "1e30", "1e300", "0")
COMMANDS = (
    ("solve", "{}"),
    ("solve", "--no-advice", "--format", "json", "{}"),
    ("solve", "--for", "work", "--users", "N = 50", "{}"),
    ("solve", "--users", "1000000000000000", "{}"),
    ("explain", "{}", "requests.latency"),
    ("test", "{}"),
    ("solve", "--set", "work=1e-300 s/request", "--set", "rate=1e-9 request/s", "{}"),
    ("solve", "--set", "N=1..1000000000000000", "{}"),
)


def ends(tmp_path: Path, command: tuple[str, ...], **numbers: str) -> int:
    spec = tmp_path / "spec.qps"
    spec.write_text(SPEC.format(**USUAL | numbers))
    return main([word.format(spec) for word in command])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_saturates_beyond_all_floats_is_answered(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    assert ends(tmp_path, command, work="1e-300", rate="1e-9") in (0, 1, 2)


def test_where_it_saturates_is_not_reported_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(tmp_path, COMMANDS[1], work="1e-300", rate="1e-9") == 0
    assert '"capacity": 1000' in capsys.readouterr().out


@given(
    st.dictionaries(
        st.sampled_from([name for name in USUAL if name != "queueing"]),
        st.sampled_from(EXTREME),
        max_size=2,
    ),
    st.sampled_from(["", ", queueing mm1", ", queueing mg1 cv 1e-300", ", queueing mg1 cv 1e100"]),
    st.sampled_from(COMMANDS),
)
@settings(max_examples=examples(40), deadline=None)
def test_extreme_numbers_end_in_an_answer_or_a_diagnostic(
    tmp_path_factory: pytest.TempPathFactory,
    numbers: dict[str, str],
    queueing: str,
    command: tuple[str, ...],
) -> None:
    folder = tmp_path_factory.mktemp("extreme")
    assert ends(folder, command, queueing=queueing, **numbers) in (0, 1, 2)


@pytest.mark.parametrize(
    "numbers",
    [
        {"cores": "1e9", "queueing": ", queueing mm1"},
        {"cores": "1e30", "queueing": ", queueing mm1"},
        {"delay": "1e300"},
        {"queueing": ", queueing mg1 cv 1e-300"},
        {"work": "1e-300"},
        {"rate": "1e-9"},
    ],
    ids=str,
)
def test_what_is_played_has_an_end(numbers: dict[str, str], tmp_path: Path) -> None:
    command = ("simulate", "--seconds", "0.2", "--seed", "1", "{}")
    assert ends(tmp_path, command, **numbers) in (0, 1, 2)


class Clock:
    now = 0.0


def test_servers_that_nobody_needs_take_no_memory() -> None:
    many, few, clock = (InTurn(Clock(), 10**30), InTurn(Clock(), 3), Clock())  # type: ignore[arg-type]
    lists = random.Random(7)
    free = [0.0] * 3
    queue = InTurn(clock, 3)  # type: ignore[arg-type]
    for _ in range(500):
        clock.now += lists.expovariate(1.0)
        service = lists.expovariate(0.4)
        free.sort()
        begin = max(free[0], clock.now)
        free[0] = begin + service
        assert queue.begins(service) == begin - clock.now
        assert queue.left == pytest.approx(sum(max(0.0, at - clock.now) for at in free))
    assert many.begins(1.0) == few.begins(1.0) == 0.0


def test_statistics_of_what_is_beyond_the_roots_of_floats() -> None:
    result = estimate([1e300, 2e300, 3e300])
    assert result.mean == 2e300
    assert result.error == pytest.approx(1e300 / 3**0.5)
    assert 0 <= warm_up([[1e300, 2e300, 1e300, 1.5e300] * 5] * 2, 0.1, 0.5) <= 0.5
    assert draws(1e-300, random.Random(1))(3.0) == 3.0


def test_a_closed_network_of_numbers_far_apart_has_a_rate() -> None:
    rate, held = at_population(10, 1e-300, [(1.0, 1.0), (1e-280, 2.0)])
    assert rate == pytest.approx(1.0)
    assert held[0] == pytest.approx(10.0)
