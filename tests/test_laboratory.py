"""The laboratory: what it asks can be measured, and what it predicts is what a fit says."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from qps.cli import main

LABORATORY = Path(__file__).parents[1] / "laboratory"
sys.path.insert(0, str(LABORATORY))

import predictions  # noqa: E402 - found by the line above
import servers  # noqa: E402

HEAD = "cpu in %,request/s,byte/s,asked rate,asked size,repetitions,spread in %\n"


def table(noise: float, seed: int = 1, scale: float = 1.0) -> str:
    """Runs of a server of two cores: 1 % fixed, 20 us a request, 2 ns a byte."""
    chance = random.Random(seed)
    # The first row has no load but that of asking for counts.
    lines = [HEAD, "1.0002,0.2,0,-,-,3,1\n"]
    for rate in (1000, 2000, 4000, 8000):
        for size in (1, 10, 100):
            octets = rate * size * 1000
            load = 0.01 + (rate * 20e-6 + octets * 2e-9) / 2 / 10
            load *= scale * (1 + noise * chance.gauss(0, 1))
            lines.append(f"{100 * load:.6f},{rate},{octets},{rate},{size},3,1\n")
    return "".join(lines)


def test_what_is_left_out_is_predicted_where_costs_hold(tmp_path: Path) -> None:
    path = tmp_path / "web.csv"
    path.write_text(table(0.0))
    found = predictions.left_out(path, "cpu", 2)
    assert len(found) == 12
    assert max(abs(one.error) for one in found) < 1e-5
    assert found[1].name == "rate 1000, size 10"


def test_intervals_hold_about_as_many_as_they_say(tmp_path: Path) -> None:
    held = []
    for seed in range(12):
        path = tmp_path / f"{seed}.csv"
        path.write_text(table(0.05, seed))
        held += [one.is_held for one in predictions.left_out(path, "cpu", 2)]
    assert 0.8 < sum(map(bool, held)) / len(held) < 0.99


def test_a_composition_is_predicted_by_the_fit_to_its_part(tmp_path: Path) -> None:
    alone, together = tmp_path / "web.csv", tmp_path / "both.csv"
    alone.write_text(table(0.0))
    together.write_text(table(0.0, scale=1.25))
    found = predictions.composed(alone, together, "cpu", 2)
    assert [one.error for one in found] == pytest.approx([-0.2] * 12, abs=1e-5)
    told = predictions.summary(found)
    assert told[:4] == ("12", "20 %", "20 %", "20 %")


@pytest.mark.parametrize("one", servers.LABORATORIES, ids=lambda one: one.name)
@pytest.mark.parametrize("quick", [True, False])
def test_each_laboratory_asks_what_can_be_measured(
    one: servers.Laboratory, quick: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = servers.Bench(tmp_path, 1, 2)
    of = [f"--of={column}=1" for column in one.servers(bench)]
    words = ["measure", str(tmp_path / "x.csv"), *of, "--dry-run", *one.words(bench, quick)]
    assert main(words) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert ("(no load)" in shown) == (one.name != "postgres")
    assert "{" not in shown
    assert set(one.alone.values()) <= {other.name for other in servers.LABORATORIES}
