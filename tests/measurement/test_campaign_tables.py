"""Tables of campaigns: rows, what fits take of them, doubts, and costs of steps."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

from measurement.campaign_runs import LAYOUT, RATE, SIZE, UNITS, run_of
from qps.cli import main
from qps.compiler.measurement.campaigns.campaign_axes import (
    IDLE,
    axis,
    settings_of,
)
from qps.compiler.measurement.campaigns.measured_rows import TableLayout, rows_of, table_text
from qps.compiler.measurement.campaigns.processor_accounts import (
    MeasuringError,
)
from qps.compiler.measurement.campaigns.row_doubts import doubts
from qps.compiler.measurement.campaigns.run_results import MeasuredRun
from qps.compiler.measurement.campaigns.step_runs import StepCosts, StepRun, step_of
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import read_table

# Rows


def table_of(runs: list[MeasuredRun], layout: TableLayout = LAYOUT) -> str:
    settings = (IDLE, *settings_of(layout.axes))
    return table_text(rows_of(runs, settings, layout), layout)


def grid(noise: float = 0.0, packets: bool = False) -> list[MeasuredRun]:
    """Runs of a server with 1 % fixed load, 20 us a request, 2 ns a byte, 5 us a packet."""
    chance = random.Random(5)
    runs = []
    for setting in (IDLE, *settings_of((RATE, SIZE))):
        for repetition in (1, 2, 3):
            rate = 10 * float(setting[0]) if setting else 0.0
            octets = rate * float(setting[1]) * 1000 if setting else 0.0
            carried = chance.choice([1, 8]) * rate if packets else 4.0 * rate
            busy = 0.02 + rate * 20e-6 + octets * 2e-9 + carried * 5e-6
            busy *= 1 + noise * chance.uniform(-1, 1)
            runs.append(
                run_of(
                    setting,
                    repetition,
                    used={"cpu": 5 * busy},
                    counted={"request": 5 * rate},
                    packets=int(5 * carried),
                )
            )
    return runs


def fit_of(text: str) -> dict[str, float]:
    reading = FitColumns(resource=None, cores=Fraction(2), processors=Fraction(2))
    found = fitted(read_table(text, "web.csv"), reading, UNITS)
    return {term.heading: float(term.value) for term in found.terms} | {"fixed": float(found.fixed)}


def test_a_table_is_what_fit_takes() -> None:
    found = fit_of(table_of(grid()))
    # Four packets go with each request: they have no column of their own.
    assert found == {
        "request/s": pytest.approx(40e-6, rel=1e-4),
        "byte/s": pytest.approx(2e-9 / 8, rel=1e-4),
        "fixed": pytest.approx(0.01, rel=1e-4),
    }


def test_a_spec_takes_a_table_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.csv").write_text(table_of(grid(noise=0.01)))
    Path("web.qps").write_text(
        """
        users N in 1..100000
        machine vm { cpu 2 core, idle fit "web.csv" }
        component serve { cpu fit "web.csv" measured on vm }
        topology { node n = vm }
        stream s { traffic N * 0.1 request/s, 1 kB/request; at n { serve } }
        """
    )
    assert main(["solve", "web.qps", "--no-advice", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    # A request of 1 kB takes 42 us of one of two cores; 1 % are always there.
    saturates = output["resources"][0]["saturates_at"]
    assert saturates == pytest.approx(0.99 * 2 / 42e-6 / 0.1, rel=0.03)


def test_packets_that_do_not_go_with_requests_have_a_column() -> None:
    runs = [one for one in grid(packets=True) if one.repetition == 1]
    found = fit_of(table_of(runs))
    assert found["packet/s"] == pytest.approx(5e-6, rel=1e-3)
    assert found["request/s"] == pytest.approx(20e-6, rel=1e-3)


def test_a_single_row_has_bytes_too() -> None:
    head = table_of([run_of(("200", "10"))]).splitlines()[0]
    assert head.startswith("cpu in %,request/s,byte/s,packets each,")


def test_a_row_is_the_median_of_its_runs() -> None:
    used = [{"cpu": seconds} for seconds in (0.4, 0.5, 5.0)]
    runs = [run_of(("100", "1"), i, used=one) for i, one in enumerate(used)]
    (row,) = rows_of(runs, settings_of((RATE, SIZE)), LAYOUT)
    assert row.loads == {"cpu": pytest.approx(0.05)}
    assert (row.repetitions, row.each) == (3, pytest.approx(0.001))
    assert row.spread == pytest.approx((5.0 - 0.4) / 0.5)
    assert row.rates == {"request": 100, "byte": 100_000, "packet": 200}
    assert row.generator == pytest.approx(0.025)


def test_a_table_reports_rows_of_interrupted_settings() -> None:
    lines = table_of([run_of(("200", "10"), 2)]).splitlines()
    assert len(lines) == 2
    cells = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert (cells["requested rate"], cells["requested size"], cells["repetitions"]) == (
        "200",
        "10",
        "1",
    )


# Doubts

DOUBTFUL: list[tuple[str, dict[str, object], str]] = [
    ("rate not reached", {"counted": {"request": 200.0}}, "reached 40 of 100 request/s"),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "generator_busiest": 0.99},
        "the generator is the bottleneck: its busiest thread was busy 99 %",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "busiest": 0.95},
        "the server is saturated: its busiest thread was busy 95 %",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "others": 19.0},
        "server, generator and other programs together saturate the machine",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "others": 12.0},
        "other programs use 60 % of the machine",
    ),
    ("saturated", {"used": {"cpu": 9.5}}, "saturated (utilization 95 %)"),
    ("short", {"used": {"cpu": 0.1}}, "only 0.1 s of CPU time"),
    ("others", {"others": 5.0}, "other programs used 1.0 of 4 cores"),
    ("stolen", {"stolen": 2.0}, "took 10 % of the CPU time"),
    ("note", {"notes": ("the machine slept for 3.0 s",)}, "the machine slept for 3.0 s"),
    ("one thread", {"busiest": 0.1}, "`--cores 1`"),
]


def reported_of(runs: list[MeasuredRun], mtu: int | None = 1500) -> dict[str, str]:
    rows = rows_of(runs, (IDLE, *settings_of((RATE, SIZE))), LAYOUT)
    return {one.kind: one.text for one in doubts(rows, LAYOUT, is_here=True, loopback_mtu=mtu)}


def test_rows_without_fault_are_not_doubted() -> None:
    assert reported_of([run_of((rate, "1")) for rate in RATE.values]) == {}


@pytest.mark.parametrize(("kind", "changes", "text"), DOUBTFUL)
def test_doubtful_rows_are_reported(kind: str, changes: dict[str, object], text: str) -> None:
    result = reported_of([run_of(("100", "1"), **changes)])
    assert text in result[kind]


def test_repetitions_that_lie_apart_are_reported() -> None:
    runs = [run_of(("100", "1"), i, used={"cpu": 0.5 * (1 + 0.2 * i)}) for i in range(3)]
    assert "repetitions differ by up to 33 %" in reported_of(runs)["spread"]


def test_a_closed_loop_saturates_a_thread() -> None:
    words = axis("clients in 1, 8", UNITS)
    layout = TableLayout(axes=(words,), items=("request",), cores=2.0, machine_cores=4)
    run = run_of(("8",), busiest=0.97, used={"cpu": 4.9}, packets=None)
    rows = rows_of([run], settings_of((words,)), layout)
    by_name = {one.kind: one.text for one in doubts(rows, layout, is_here=True, loopback_mtu=None)}
    assert by_name["saturated"].startswith(
        "saturated (its busiest thread was busy 97 % of the time)"
    )


def test_figures_are_those_of_the_worst_row() -> None:
    runs = [run_of((r, "1"), counted={"request": 250.0}) for r in ("100", "200", "400")]
    assert reported_of(runs)["rate not reached"].startswith("reached 50 of 400 request/s")
    short = [run_of((r, "1"), used={"cpu": s}) for r, s in (("100", 0.01), ("200", 0.2))]
    assert reported_of(short)["short"].startswith("only 0.01 s")


def test_large_items_and_loopback_are_reported() -> None:
    large = axis("size in 1, 100 kB/request", UNITS)
    layout = TableLayout(axes=(RATE, large), items=("request",), cores=2.0, machine_cores=4)
    rows = rows_of([run_of(("100", "100"))], settings_of((RATE, large)), layout)
    distinct = {one.kind for one in doubts(rows, layout, is_here=True, loopback_mtu=65_536)}
    assert distinct == {"large items on one machine", "loopback"}
    assert doubts(rows, layout, is_here=False, loopback_mtu=65_536) == []


def test_low_rates_that_do_not_batch_are_reported() -> None:
    runs = [run_of((rate, "1"), used={"cpu": 2.0}) for rate in RATE.values]
    result = reported_of(runs)["batching"]
    assert "up to 4.0 times" in result
    assert "or because part of the work is constant" in result
    # What is always there is no batching: two seconds, and one request in 1 ms.
    idle = run_of(IDLE, used={"cpu": 2.0})
    fixed = [
        run_of((rate, "1"), used={"cpu": 2.0 + 5 * float(rate) * 1e-3}) for rate in RATE.values
    ]
    assert "batching" not in reported_of([idle, *fixed])


# Steps


def step_runs(noise: float, fewest: int = 100) -> list[StepRun]:
    chance = random.Random(3)
    found = []
    for items in (fewest, 1000, 10_000):
        for octets in (100, 1500):
            for _ in range(3):
                seconds = 0.05 + items * 10e-6 + items * octets * 3e-9
                found.append(
                    StepRun((), items, items * octets, seconds * (1 + noise * chance.gauss(0, 1)))
                )
    return found


def costs(step: StepCosts) -> dict[str, tuple[float, float | None]]:
    return {cost.item: (cost.seconds, cost.half_width) for cost in step.costs}


def test_a_step_is_taken_apart() -> None:
    found = costs(step_of(step_runs(0.0), "packet"))
    assert found["packet"][0] == pytest.approx(10e-6)
    assert found["byte"][0] == pytest.approx(3e-9)
    assert found["start-up"][0] == pytest.approx(0.05)


def test_intervals_of_a_step_are_those_of_least_squares() -> None:
    # The textbook's formula in plain arrays, for the weighted rows.
    import numpy as np
    from scipy import stats

    runs = step_runs(0.05)
    design = np.array([[run.items, run.octets, 1.0] for run in runs])
    seconds = np.array([run.seconds for run in runs])
    design = design / seconds[:, None]
    target = np.ones(len(runs))
    values, (square,), _, _ = np.linalg.lstsq(design, target, rcond=None)
    freedom = len(runs) - 3
    deviations = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * square / freedom)
    widths = deviations * stats.t.ppf(0.975, freedom)
    found = step_of(runs, "packet")
    assert [cost.seconds for cost in found.costs] == pytest.approx(list(values), rel=1e-6)
    assert [cost.half_width for cost in found.costs] == pytest.approx(list(widths), rel=1e-6)


def test_a_step_given_as_much_each_time_has_its_start_in_the_cost() -> None:
    found = costs(step_of([StepRun((), 100, 0, 0.2), StepRun((), 100, 0, 0.2)], "packet"))
    assert found == {"packet": (pytest.approx(0.002), pytest.approx(0, abs=1e-9))}


@pytest.mark.parametrize("run", [StepRun((), 0, 0, 1.0), StepRun((), 1, 0, 0.0)])
def test_a_step_without_results_is_reported(run: StepRun) -> None:
    with pytest.raises(MeasuringError):
        step_of([run], "packet")
