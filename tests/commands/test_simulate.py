"""`qps simulate`: its output, its flags, and what it rejects."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from helpers.cases.simulated_specs import DESK, checked, graph_of
from qps import worker_processes
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.claims.simulation_text import simulated_tables
from qps.simulation.agreement import NumberComparison, PredictionVerdict, compare, compared
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Simulation
from qps.simulation.statistics import Estimate
from qps.solver.answers.worst_mode import solve_model

SHOP = '''"""A shop"""
users N in 1..100
machine web { cpu 1 core, queueing mm1 }
machine store { cpu 2 core, queueing mmc }
machine desk { }
network wire { propagation 1 ms }
component page { cpu 8 ms/request }
component query { cpu 20 ms/request }
topology { node user = desk; node w = web; node db = store; link l = wire between user, w, db }
stream job {
  traffic N * 1 request/s, 1 kB/request
  at user { }
  at w { page; call db { query } }
  at user { }
}
require { job.latency <= 80 ms; quantile(job.latency, 98 %) <= 2 s }
'''


def run(tmp_path: Path, text: str, *flags: str) -> int:
    path = tmp_path / "shop.qps"
    path.write_text(text, encoding="utf-8")
    return main(["simulate", str(path), "--precision", "50 %", *flags])


# -- what the command prints ----------------------------------------------------------------


def test_it_prints_predicted_label_simulated_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk.qps").write_text(DESK, encoding="utf-8")
    assert main(["simulate", "desk.qps", "--at", "50", "--precision", "50 %"]) == 0
    first = capsys.readouterr().out
    assert first == GOLDEN
    # The same seed makes the same runs, on any number of cores, however processes begin.
    monkeypatch.setattr(worker_processes, "START", "spawn")
    assert (
        main(["simulate", "desk.qps", "--at", "50", "--precision", "50 %", "--workers", "2"]) == 0
    )
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert capsys.readouterr().out == first
    flags = ["--at", "50", "--precision", "50 %", "--seed", "2"]
    assert main(["simulate", "desk.qps", *flags]) == 0
    assert capsys.readouterr().out != first


GOLDEN = """\
Simulation at 50 users                                                  desk.qps

  Result       all 6 predictions agree; all requirements pass

  Measure                      Predicted       Simulated, 95 % CI  Agreement
  job latency, mean             13.33 ms          13.38 ± 0.13 ms  agrees
  job p50                       9.242 ms           9.257 ± 0.1 ms  agrees
  job p95                       39.94 ms          40.33 ± 0.64 ms  agrees
  job p99                        61.4 ms           60.61 ± 1.2 ms  agrees
  job throughput per flow  50 requests/s  49.94 ± 0.39 requests/s  agrees
  w CPU                             40 %           40.07 ± 0.36 %  agrees

  Requirement  Limit    Predicted  Simulated, 95 % CI  Outcome
  job latency  ≤ 80 ms   13.33 ms     13.38 ± 0.13 ms  pass
  job p98      ≤ 2 s     52.16 ms      52.1 ± 0.99 ms  pass

  20 replications of 150 s, first 10 % discarded as warm-up; seed 1. Items
  measured: 134,842 (job).
  For means and utilization, the 95 % confidence intervals are no wider than
  ±50 %.
"""


def test_of_many_loads_that_agree_the_fullest_are_reported() -> None:
    def load(name: str, mean: float, verdict: PredictionVerdict) -> NumberComparison:
        return NumberComparison(
            subject=name,
            measure="load",
            dimension=DIMENSIONLESS,
            predicted=mean,
            known=EXACT,
            simulated=Estimate(mean, 0.0, 20),
            verdict=verdict,
            is_share=True,
        )

    found = [load(f"m{k}.cpu", k / 100, PredictionVerdict.AGREES) for k in range(1, 31)]
    found.append(load("odd.cpu", 0.001, PredictionVerdict.DIFFERS))
    (table,) = simulated_tables(found)
    names = [row[0] for row in table.rows]
    assert names == [*(f"m{k}.cpu.utilization" for k in range(19, 31)), "odd.cpu.utilization"]
    assert simulated_tables(found[:12])[0].rows[0][0] == "m1.cpu.utilization"


def test_json_has_it_in_base_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, SHOP, "--at", "50", "--format", "json") == 0
    view = json.loads(capsys.readouterr().out)
    assert view["at"] == 50
    assert view["runs"] == 20
    assert view["is_precise"] is True
    assert view["agrees"] is True
    (latency,) = [
        one for one in view["results"] if (one["subject"], one["measure"]) == ("job", "latency")
    ]
    assert latency["unit"] == "s"
    assert latency["known"] == "exact"
    assert latency["agrees"] == "agrees"
    assert latency["predicted"] == pytest.approx(0.002 * 2 + 0.008 / 0.6 + 0.02 / 0.75, rel=1e-2)
    assert latency["simulated"] == pytest.approx(latency["predicted"], rel=0.1)
    required = [one for one in view["results"] if one["subject"] == "requirement"]
    assert [one["met_as_simulated"] for one in required] == [True, True]


_WIDE = """
users N in 1..2000
machine m { cpu 1 core, queueing mm1 }
component short { cpu 10 ms/request }
component long { cpu 80 ms/request }
topology { node a = m; node b = m; link l = wire between a, b }
network wire { propagation 1 us }
stream s for each user { traffic 0.2 request/s, 1 bit/request; at a { short }; at b { short } }
stream t for each user { traffic 0.05 request/s, 1 bit/request; at a { long }; at b { short } }
"""


def test_errors_are_those_of_the_population_as_if_it_was_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a range beyond saturation nothing is known of the queueing delay at 20 users."""
    errors = []
    for flags in (["--at", "20"], ["--set", "N=20"]):
        run(tmp_path, _WIDE, *flags)
        errors.append(re.findall(r"within ±(\d+)", capsys.readouterr().out))
    assert errors[0]
    assert errors[0] == errors[1]
    stated = [graph_of(_WIDE).streams[name].latency_certainty.error for name in ("s", "t")]
    assert min(map(int, errors[0])) < 100 * min(one for one in stated if one is not None)


def test_by_default_it_simulates_the_capacity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, SHOP, "--format", "json") == 0
    configuration = base_configuration(checked(SHOP))
    assert json.loads(capsys.readouterr().out)["at"] == solve_model(checked(SHOP), configuration).at


def test_the_status_is_1_where_a_label_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(graph: LoadGraph, simulation: Simulation) -> tuple[NumberComparison, ...]:

        return compare(
            [replace(one, predicted=2 * one.predicted) for one in compared(graph, simulation)]
        )

    monkeypatch.setattr("qps.commands.simulate.compared", twice)
    assert run(tmp_path, SHOP, "--at", "50") == 1
    assert "outside the stated model error" in " ".join(capsys.readouterr().out.split())


def test_it_says_where_the_precision_is_not_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.qps"
    path.write_text(SHOP, encoding="utf-8")
    assert main(["simulate", str(path), "--precision", "0.01 %", "--seconds", "0.1"]) == 0
    assert "wider than ±0.01 % after" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--precision", "0"), "`--precision` must be between"),
        (("--precision", "two"), "`--precision` must be between"),
        (("--time-limit", "-1"), "`--time-limit` must be above 0"),
        (("--seconds", "∞"), "`--time-limit` must be above 0"),
        (("--at", "0"), "N = 0 is outside the range 1 to 100"),
        (("--workers", "0"), "`0` is not a number from 1 to 999999"),
        (("--seed", "x"), "invalid int value"),
        (("--at", "100"), "utilization of `w.cpu` is"),
        (("--sead", "2"), "has no flag `--sead`"),
    ],
)
def test_bad_flags_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "shop.qps"
    path.write_text(SHOP.replace("8 ms", "10 ms"), encoding="utf-8")
    assert main(["simulate", str(path), *flags]) == 2
    assert message in capsys.readouterr().err


def test_what_is_not_played_is_refused_by_name() -> None:
    text = SHOP.replace("{ page;", "{ shed; page; both;").replace(
        "topology", "component both { merge }\ncomponent shed { drop 1 % }\ntopology"
    )
    text = text.replace("node user = desk", "node user = desk * N").replace(
        "N * 1 request", "1 request"
    )
    text = text.replace("stream job {", "stream job for each user {")
    with pytest.raises(QpsError, match="merging by both after copies, losses or calls"):
        simulated_model(graph_of(text), 50)


def test_a_report_has_a_section_of_what_was_simulated(tmp_path: Path) -> None:
    spec, page = tmp_path / "desk.qps", tmp_path / "desk.html"
    spec.write_text(DESK, encoding="utf-8")
    for flags in ([], ["--simulate"]):
        assert main(["report", str(spec), "-o", str(page), "--no-advice", "-q", *flags]) == 0
        assert ('<section class="long" id="simulated">' in page.read_text("utf-8")) is bool(flags)
    assert "predictions agree" in page.read_text("utf-8")
