"""Which stations are full together, by the mix of classes: against corners and many users."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.specs import lowered
from qps.cli import main
from qps.engine.queueing_networks.multiclass_mva import class_rate
from qps.solver.answers.class_mixes import class_mixes
from qps.solver.answers.fair_rates import full_stations

SPEC = """
users N in 2..200
machine server {{ cpu 1 core, queueing ps; disk 1 core, queueing ps }}
machine desk {{ }}
network office {{ propagation 0 s }}
component a_cpu {{ cpu 40 ms/request }}
component a_disk {{ disk 10 ms/request }}
component b_cpu {{ cpu 10 ms/request }}
component b_disk {{ disk {disk} ms/request }}
topology {{
  node s = server; node r = desk * (N / 2); node w = desk * (N / 2)
  link lan = office between s, r, w
}}
stream readers for each r {{ traffic 1 request, think 1 s; at r {{ }}; at s {{ a_cpu; a_disk }} }}
stream writers for each w {{ traffic 1 request, think 1 s; at w {{ }}; at s {{ b_cpu; b_disk }} }}
"""


def test_two_stations_are_full_together_between_two_shares() -> None:
    (mix,) = class_mixes(lowered(SPEC.format(disk=50)), 100)
    assert mix.known.is_exact
    assert mix.of == "readers"
    assert mix.share == 0.5
    assert [one.full for one in mix.ranges] == [("s.disk",), ("s.cpu", "s.disk"), ("s.cpu",)]
    # Balbo and Serazzi 1997: b D21/D11 + (1 - b) D22/D12 = 1, and the same the other way round.
    assert mix.ranges[1].at == pytest.approx((1 - 10 / 50) / (40 / 10 - 10 / 50))
    assert mix.ranges[1].to == pytest.approx((1 - 50 / 10) / (10 / 40 - 50 / 10))


def test_where_first_comes_first_and_services_differ_a_mix_is_no_more_than_reported() -> None:
    text = SPEC.format(disk=50).replace("cpu 1 core, queueing ps", "cpu 1 core, queueing mm1")
    (mix,) = class_mixes(lowered(text), 100)
    assert not mix.known.is_exact
    assert any("`s.cpu`" in reason for reason in mix.known.reasons)


def test_one_that_is_slower_for_all_is_full_whatever_the_mix() -> None:
    (mix,) = class_mixes(lowered(SPEC.format(disk=5)), 100)
    assert [(one.at, one.to, one.full) for one in mix.ranges] == [(0, 1, ("s.cpu",))]


@pytest.mark.parametrize(
    ("share", "full"), [(0.1, {1}), (0.3, {0, 1}), (0.5, {0, 1}), (0.8, {0, 1}), (0.95, {0})]
)
def test_many_users_fill_the_reported_resources(share: float, full: set[int]) -> None:
    options = [(0.04, 0.01), (0.01, 0.05)]
    assert full_stations(options, (share, 1 - share)) == full
    jobs = 240 * share, 240 * (1 - share)
    places = (1, 0, 1, *options[0], 1, 0, 1, *options[1])
    rates = [class_rate(2, k, *jobs, 0, 0, *places) for k in (1, 2)]
    busy = [sum(map(float.__mul__, rates, each)) for each in options]
    assert {i for i in (0, 1) if busy[i] > 0.985} == full


def test_three_classes_fill_three_stations() -> None:
    options = [(0.04, 0.01, 0.02), (0.01, 0.05, 0.02), (0.02, 0.02, 0.05)]
    assert full_stations(options, (0.5, 0.25, 0.25)) == {0, 1, 2}
    assert full_stations(options, (0.9, 0.05, 0.05)) == {0}


@pytest.mark.parametrize(
    ("disk", "sentence"),
    [
        (
            50,
            (
                "At high concurrency, the bottleneck depends on the mix of readers and writers. "
                "If the share of readers is below 21.1 %, s disk saturates; from "
                "21.1 % to 84.2 %, s CPU and s disk saturate together; above 84.2 %, "
                "s CPU saturates. In this spec, the share is 50 %."
            ),
        ),
        (5, "At high concurrency, s CPU saturates for every mix of readers and writers."),
    ],
)
def test_a_mix_is_a_sentence(
    disk: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "mix.qps"
    spec.write_text(SPEC.format(disk=disk), encoding="utf-8")
    main(["solve", "--all", str(spec)])
    assert sentence in " ".join(capsys.readouterr().out.split())
