"""Processor time per request, from a table of CPU and requests by service and time."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.cpu_costs import CpuCosts, cpu_costs
from qps.compiler.measurement.traces.cpu_tables import cpu_table
from traces.small_systems import SYSTEMS
from traces.written_traces import as_text, otlp, spans_of

HEAD = "time,service,cpu (cores),requests/s\n"


def costs_of(tmp_path: Path, text: str, *services: str, unit: str | None = None) -> CpuCosts:
    path = tmp_path / "cpu.csv"
    path.write_text(text, encoding="utf-8")
    return cpu_costs(cpu_table(path, unit), services)


def rows(service: str, cost: float, idle: float, rates: list[float], noise: float = 0.0) -> str:
    """Return rows of a service whose requests cost so many s, with its part without requests."""
    draw = random.Random(3)
    return "".join(
        f"{number},{service},{idle + cost * rate * draw.gauss(1, noise):.9f},{rate}\n"
        for number, rate in enumerate(rates)
    )


def test_steady_rates_give_a_ratio_and_a_warning(tmp_path: Path) -> None:
    found = costs_of(tmp_path, HEAD + rows("cart", 0.004, 0.0, [10.0, 10.2, 9.9, 10.1]), "cart")
    cost = found.services["cart"]
    assert cost.seconds == pytest.approx(0.004)
    assert cost.idle == 0
    assert any("rates hardly vary (cart 1 %)" in note for note in found.notes)


def test_rates_that_vary_show_what_is_used_without_requests(tmp_path: Path) -> None:
    rates = [1.0 + number % 10 for number in range(40)]
    found = costs_of(tmp_path, HEAD + rows("cart", 0.004, 0.02, rates, 0.02), "cart")
    cost = found.services["cart"]
    assert cost.seconds == pytest.approx(0.004, rel=0.03)
    assert cost.idle == pytest.approx(0.02, rel=0.1)
    assert abs(cost.seconds - 0.004) <= cost.spread * cost.seconds


def test_cpu_that_hardly_depends_on_requests_is_no_cost_of_theirs(tmp_path: Path) -> None:
    text = HEAD + "".join(
        f"{n},mail,{0.011 + 0.002 * ((7 * n) % 5 - 2):.6f},{0.2 + 0.05 * (n % 4)}\n"
        for n in range(40)
    )
    cost = costs_of(tmp_path, text, "mail").services["mail"]
    assert cost.seconds < 0.5 * 0.011 / 0.275
    assert "is used without requests" in cost.notes[0]


def test_a_heading_of_millicores_over_per_cent_is_found_by_the_limits(tmp_path: Path) -> None:
    text = "minute,service,CpuUsage(m),CpuUsageRate(%),PodWorkload(Ops)\n" + "".join(
        f"{n},cart,{1.5 + 0.1 * n},{5 * (1.5 + 0.1 * n)},{5 + n % 2}\n" for n in range(6)
    )
    found = costs_of(tmp_path, text, "cart")
    assert found.services["cart"].seconds == pytest.approx(0.0175 / 5.5)
    assert any("read as per cent of a core" in note for note in found.notes)
    headed = costs_of(tmp_path, text, "cart", unit="millicores")
    assert headed.services["cart"].seconds == pytest.approx(0.00175 / 5.5)


def test_millicores_that_are_so_are_read_so(tmp_path: Path) -> None:
    text = "minute,service,CpuUsage(m),CpuUsageRate(%),rps\n" + "".join(
        f"{n},cart,{150 + n},{(150 + n) / 2},{50 + n}\n" for n in range(6)
    )
    found = costs_of(tmp_path, text, "cart")
    assert found.services["cart"].seconds == pytest.approx(0.1525 / 52.5, rel=1e-6)
    assert not any("warning: `CpuUsage" in note for note in found.notes)


def test_few_millicores_are_reported(tmp_path: Path) -> None:
    text = "service,cpu (m),rps\ncart,2.1,5\ncart,2.0,5\n"
    notes = costs_of(tmp_path, text, "cart").notes
    assert any("no service ever uses more than 2.1 millicores" in note for note in notes)


def test_pods_are_added_up_and_windows_without_cpu_left_out(tmp_path: Path) -> None:
    text = HEAD.replace("service", "pod") + (
        "1,cart-7d9c5b6f4d-x2x9p,0.02,5\n1,cart-7d9c5b6f4d-q8w7e,0.02,5\n"
        "2,cart-7d9c5b6f4d-x2x9p,0,7\n"
    )
    found = costs_of(tmp_path, text, "cart")
    assert found.services["cart"].seconds == pytest.approx(0.004)
    assert found.services["cart"].rate == 10
    assert any("1 row of `cpu.csv` with requests but no CPU" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("service,rps\na,1\n", "no column of CPU"),
        ("cpu (cores),rps\n1,1\n", "no column of service"),
        ("service,cpu (cores)\na,1\n", "no column of requests per second"),
        ("service,cpu %,rps\na,1,1\n", "may be in per cent of a core, of a limit"),
    ],
)
def test_tables_that_say_too_little_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        costs_of(tmp_path, text, "a")


def test_known_costs_stand_in_the_spec_and_latencies_are_claimed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "traces.json").write_text(as_text(otlp(spans_of(SYSTEMS["chain"]))))
    rates = [2.0 + number % 8 for number in range(40)]
    (tmp_path / "cpu.csv").write_text(
        HEAD
        + rows("front", 0.002, 0.0, [10.0, 10.1, 9.9])
        + rows("api", 0.001, 0.01, rates, 0.02)
        + rows("users", 0.0005, 0.0, [10.0, 10.1, 9.9])
    )
    spec = tmp_path / "system.qps"
    files = [str(tmp_path / "traces.json"), "--cpu", str(tmp_path / "cpu.csv"), "-o", str(spec)]
    assert main(["observe", "traces", *files]) == 0
    assert "rates hardly vary (front 1 %, users 1 %)" in capsys.readouterr().err
    text = spec.read_text(encoding="utf-8")
    assert re.search(r"^param front_cpu += 2 ms/request source", text, re.MULTILINE)
    assert "idle 1" in text
    assert "get_root.latency ~ 13 ms within 20 % with scenario = recorded" in text
    assert main(["test", str(spec)]) == 0
    assert main(["fmt", "--check", str(spec)]) == 0
