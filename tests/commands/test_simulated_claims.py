"""Claims about simulation: what is simulated, the verdict, and what stays undecided."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted
from qps.simulation.replications import Effort, Simulation, simulate
from qps.simulation.statistics import Estimate
from qps.simulation.tolerance_claims import simulator_of
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict, SimulatedValue
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.simulated_claims import Simulator

DESK = '''"""A desk"""
users N in 1..100
machine host { cpu 1 core, queueing mm1 }
component page { cpu 8 ms/request }
topology { node w = host }
param simulated = 1
stream job { traffic N * simulated * 1 request/s, 1 kB/request; at w { page } }
expect agreement {
  source model
'''


def results(claims: str, simulator: Simulator | None) -> tuple[ClaimResult, ...]:
    outcome = check_source(Source("x.qps", DESK + claims + "\n}\n"))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    return Claims(ClaimRunner(model=outcome.value.model), simulator).results()


def file_of(tmp_path: Path, claims: str) -> str:
    path = tmp_path / "desk.qps"
    path.write_text(DESK + claims + "\n}\n", encoding="utf-8")
    return str(path)


CLAIMS = """
  job.latency simulated within 5 % with N = 50
  w.cpu.load <= 45 %
    simulated within 5 %
    with N = 50
  quantile(job.latency, 99 %) ~ 70 ms within 1 % simulated within 15 % with N = 50
"""


def test_predictions_are_compared_with_simulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", file_of(tmp_path, CLAIMS), "--format", "json", "-q"]) == 1
    shown = json.loads(capsys.readouterr().out)["expectations"]
    assert [(one["name"], one["kind"], one["verdict"]) for one in shown] == [
        ("agreement[1]", "simulated", "holds"),
        ("agreement[2]", "condition", "holds"),
        ("agreement[2] w.cpu.load", "simulated", "holds"),
        ("agreement[3]", "value", "fails"),
        ("agreement[3] quantile(job.latency, 99 %)", "simulated", "holds"),
    ]
    assert shown[0]["predicted"] == pytest.approx(0.008 / 0.6)
    assert shown[0]["claimed"] == pytest.approx(0.008 / 0.6, rel=0.05)
    assert 0 < shown[0]["half_width"] < 0.05 * shown[0]["claimed"]


def test_the_hurried_leave_them_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims = "job.latency simulated within 5 % with N = 50"
    assert main(["test", file_of(tmp_path, claims), "--no-simulate"]) == 0
    shown = capsys.readouterr().out
    assert "not simulated" in shown
    assert "1 not simulated, 0 failed" in shown


def test_what_stays_undecided_fails_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = "job.latency simulated within 0.001 % with N = 50"
    assert main(["test", file_of(tmp_path, claims), "--seconds", "0.1"]) == 1
    shown = capsys.readouterr().out
    assert "precision not reached: the confidence interval is" in shown
    assert main(["test", file_of(tmp_path, claims), "--seconds", "0"]) == 2
    assert "`--time-limit` must be above 0" in capsys.readouterr().err


def test_claims_about_one_configuration_share_a_simulation() -> None:
    calls: list[tuple[int, int]] = []

    def simulated(_: object, at: int, measures: object) -> list[SimulatedValue]:
        assert isinstance(measures, list)
        calls.append((at, len(measures)))
        return [SimulatedValue(mean=1.0, half_width=0.1, holds=True) for _ in measures]

    found = results(CLAIMS + "  job.loss simulated within 1 % with N = 20\n", simulated)
    assert calls == [(50, 3), (20, 1)]
    assert [one.verdict for one in found if one.simulated is not None] == [ClaimVerdict.HOLDS] * 4


def test_a_published_claim_is_published_and_our_simulation_is_not() -> None:
    def simulated(_: object, at: int, measures: object) -> list[SimulatedValue]:
        assert isinstance(measures, list)
        return [SimulatedValue(mean=1.0, half_width=0.1, holds=True) for _ in measures]

    claims = "  w.cpu.load ~ 40 % within 1 % simulated within 1 % with N = 50"
    text = (DESK + claims + "\n}\n").replace("source model", 'source "table 1"')
    outcome = check_source(Source("x.qps", text))
    assert outcome.value is not None
    value, simulation = Claims(ClaimRunner(model=outcome.value.model), simulated).results()
    assert (value.is_published, simulation.is_published) == (True, False)


def test_it_is_laid_out_like_any_claim() -> None:
    text = "expect a {\n  job.latency   simulated  within 5 % with N = 50\n  source model\n}\n"
    laid = formatted(Source("x.qps", text)).value
    assert laid is not None
    assert "  job.latency simulated within 5 % with N = 50\n" in laid


def test_a_measure_without_items_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that it differs nor that it agrees: no rate, no loss, no load."""
    none = Estimate(0.0, 0.0, 12)

    def nothing(*args: object, **kwargs: object) -> Simulation:
        del kwargs["is_enough"]
        found = simulate(*args, **kwargs)  # type: ignore[arg-type]
        job = found.streams["job"]
        lost = dict.fromkeys(job.lost, none)
        job = replace(job, items=0, mean=None, quantiles={}, rate=none, lost=lost)
        return replace(found, streams={"job": job}, loads=dict.fromkeys(found.loads, none))

    monkeypatch.setattr("qps.simulation.tolerance_claims.simulate", nothing)
    claims = "".join(
        f"  {one} simulated within 5 % with N = 50\n"
        for one in ("job.rate", "job.loss", "w.cpu.utilization", "job.latency")
    )
    simulator = simulator_of(Effort(precision=0.1, seconds=0.0, seed=1, workers=1))
    found = results(claims, simulator)
    assert [one.verdict for one in found] == [ClaimVerdict.FAILS] * 4
    assert all(one.simulated is not None and one.simulated.why is not None for one in found)
    assert all(
        "too few items simulated" in str(one.simulated and one.simulated.why) for one in found
    )


def test_what_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One peer calls nobody: longer runs of it would tell no more."""
    spec = (
        "users N in 1..9\nmachine host { cpu 1 core, queueing mm1 }\n"
        "component hear { cpu 8 ms/packet }\n"
        "network wire { propagation 1 ms }\n"
        "topology { node peer = host * N; link lan = wire between peer }\n"
        "stream call for each ordered pair of peer { traffic 9 packet/s; at peer { hear } }\n"
        "expect alone {\n  call.latency simulated within 5 % with N = 1\n"
        "  peer.cpu.load simulated within 5 % with N = 1\n  source model\n}\n"
    )
    outcome = check_source(Source("x.qps", spec))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    lengths: list[float] = []

    def noted(*args: object, **kwargs: object) -> Simulation:
        found = simulate(*args, **kwargs)  # type: ignore[arg-type]
        lengths.append(found.length)
        return found

    monkeypatch.setattr("qps.simulation.tolerance_claims.simulate", noted)
    simulator = simulator_of(Effort(seconds=3.0, seed=1, workers=1))
    found = Claims(ClaimRunner(model=outcome.value.model), simulator).results()
    assert [one.verdict for one in found] == [ClaimVerdict.FAILS] * 2
    assert all("no item is measured" in str(one.simulated and one.simulated.why) for one in found)
    assert lengths
    assert set(lengths) == {1.0}


def test_a_script_is_run_once_where_processes_begin_anew(tmp_path: Path) -> None:
    """As on Windows and macOS, where Python's own processes first run the script again."""
    spec = file_of(tmp_path, "job.latency simulated within 5 % with N = 50")
    script = tmp_path / "script.py"
    lines = (
        "import qps",
        "from qps import worker_processes",
        "from qps.simulation import replications as crew",
        "worker_processes.START, crew.cores = 'spawn', lambda: 2",
        "print('began')",
        f"print(*[claim.verdict.value for claim in qps.load({spec!r}).test()])",
    )
    script.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (["began", "holds"], "")
