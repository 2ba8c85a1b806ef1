"""`observe trace`: measured jitter in the place of a law."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import qps
from documents.example_traces import FOLDER, TRACES, trace_of
from helpers.specs import PRELUDE
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw

# Ten packets, 100 ms apart: one is 30 ms late, one 70 ms, one is lost.
LATE = {3: 30, 6: 70}
CSV = "sequence,arrival\n" + "".join(
    f"{i},{100 * i + LATE.get(i, 0)}\n" for i in range(10) if i != 8
)
TRACE = 'observe trace night "night.csv" in ms period 100 ms source "our office"\n'
ONE = (
    "network noisy { rate 1 Mbit/s; jitter night.variance; loss night.loss }\n"
    "topology { node host = box * N; link lan = noisy between host }\n"
    "param wait = 30 ms in 0..100 ms\n"
    "stream flow for each host { traffic 1 packet/s, 1000 byte/packet; at host { work to others }\n"
    "  over lan; at host { work }\n"
    "  playout wait dropping night.late(wait) }\n"
)


def model(tmp_path: Path, text: str, csv: str = CSV) -> qps.Model:
    (tmp_path / "night.csv").write_text(csv, encoding="utf-8")
    spec = tmp_path / "spec.qps"
    spec.write_text(PRELUDE + text, encoding="utf-8")
    return qps.load(spec)


# 100, 100, 130, 70, 100, 170, 30, 200 ms
BETWEEN = [100, 100, 130, 70, 100, 170, 30, 200]
MEAN = Fraction(sum(BETWEEN), 8)
VARIANCE = sum((x - MEAN) ** 2 for x in BETWEEN) / 7
MEASURES = [
    ("night.variance / (1 ms^2)", VARIANCE),
    ("night.standard_deviation^2 / (1 ms^2)", VARIANCE),
    ("night.absolute_deviation / (1 ms)", sum(abs(x - MEAN) for x in BETWEEN) / 8),
    ("night.range / (1 ms)", 170),
    ("night.longest / (1 ms)", 200),
    ("night.mean / (1 ms)", MEAN),
    ("night.period / (1 ms)", 100),
    ("night.packets", 10),
    ("night.loss", Fraction(1, 10)),
    ("night.area / (1 ms)", Fraction(100, 9)),
    ("night.area(50 ms) / (1 ms)", Fraction(80, 9)),
    ("night.late(29.9 ms)", Fraction(2, 9)),
    ("night.late(30 ms)", Fraction(1, 9)),
    ("night.gaps(30 ms)", Fraction(2, 10)),
    ("night.gaps(70 ms)", Fraction(1, 10)),
    ("night.buffer(10 %) / (1 ms)", 70),
    ("night.buffer(19.9 %) / (1 ms)", 70),
    ("night.buffer(20 %) / (1 ms)", 30),
    ("night.buffer(30 %) / (1 ms)", 0),
    ("night.late(wait)", Fraction(1, 9)),
    ("night.late(2 * wait + 20 ms)", 0),
]


@pytest.mark.parametrize(("expr", "expected"), MEASURES, ids=[case[0] for case in MEASURES])
def test_measures_are_exact_fractions(tmp_path: Path, expr: str, expected: Fraction) -> None:
    graph = model(tmp_path, TRACE + ONE + f"measure m = {expr}\n").graph()
    assert graph.at(1).exact(graph.measures["m"].value) == expected


def test_measured_jitter_stands_in_for_a_law(tmp_path: Path) -> None:
    graph = model(tmp_path, TRACE + ONE).graph()
    flow = graph.streams["flow"]
    (part,) = flow.jitter
    assert part.resource == "lan"
    assert graph.at(2).exact(part.value) == VARIANCE / 10**6
    lost = graph.at(2).number(flow.loss)
    assert lost == pytest.approx(1 - (1 - 1 / 10) * (1 - 1 / 9))


def test_where_a_number_comes_from_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model(tmp_path, TRACE + ONE)
    assert main(["explain", str(tmp_path / "spec.qps"), "flow.jitter"]) == 0
    printed = capsys.readouterr().out
    assert "night.variance" in printed
    assert "night.csv: our office" in " ".join(printed.split())
    assert main(["explain", str(tmp_path / "spec.qps"), "flow.loss"]) == 0
    assert "night.late(30 ms)" in capsys.readouterr().out


def test_parameters_settle_what_is_looked_up(tmp_path: Path) -> None:
    text = (
        TRACE
        + ONE
        + "scenario patient { wait = 70 ms }\n"
        + "func after(x: ms) = night.late(x)\n"
        + "expect e { flow.loss ~ 10 % within 0.01 % with scenario = patient, N = 2\n"
        + "  after(0 ms) ~ 22.22 % within 0.1 %; night.gaps(wait) <= 20 % with wait = 30 ms\n"
        + '  night.variance > 1 ms^2; source "known" }\n'
    )
    assert [result.holds for result in model(tmp_path, text).test()] == [True] * 4


def test_the_compensation_curve_can_be_drawn(tmp_path: Path) -> None:
    text = TRACE + ONE + "figure f { over wait in 0..100 ms; line night.gaps(wait) }\n"
    spec = model(tmp_path, text).spec.model
    drawn = draw(ClaimRunner(model=spec), spec.figures[0])
    for wait, result in zip(drawn.at, drawn.curves[0].values, strict=True):
        late = sum(1 for x in LATE.values() if x > wait * 1000 + 1e-9)
        assert result == pytest.approx((late + 1) / 10)


def test_a_buffer_that_a_parameter_makes_impossible_is_refused(tmp_path: Path) -> None:
    text = TRACE + ONE + "param share = 20 % in 0..1\nmeasure m = night.buffer(share)\n"
    found = model(tmp_path, text)
    assert found.graph().number(found.graph().measures["m"].value) == 0.03
    with pytest.raises(QpsError, match="below the share of lost packets"):
        found.graph(set={"share": "5 %"})


def test_a_module_may_observe_a_trace_in_its_own_folder(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "night.csv").write_text(CSV)
    (folder / "lab.qps").write_text(TRACE)
    (tmp_path / "spec.qps").write_text(
        PRELUDE + 'use "lab/lab.qps" as lab\n'
        "topology { node host = box }\n"
        "stream flow for each host { traffic 1 packet/s; at host { work } }\n"
        "measure m = lab.night.late(10 ms)\n"
    )
    graph = qps.load(tmp_path / "spec.qps").graph()
    assert str(graph.measures["m"].value) == "lab.night.late(10 ms)"
    assert graph.number(graph.measures["m"].value) == pytest.approx(2 / 9)


def test_a_spec_that_is_no_file_reads_none(tmp_path: Path) -> None:
    with pytest.raises(QpsError, match="cannot use other files"):
        qps.loads(PRELUDE + TRACE + ONE)


def test_a_trace_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QpsError, match="more than 500,000 packets"):
        model(tmp_path, TRACE + ONE, "arrival\n" + "1\n" * 500_001)


def test_a_trace_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    with pytest.raises(QpsError) as raised:
        model(tmp_path, TRACE + ONE, "arrival\n1\n2\nx\n")
    assert len(raised.value.diagnostics) == 1


@pytest.mark.parametrize("name", TRACES)
def test_the_example_traces_are_those_that_are_described(name: str) -> None:
    assert (FOLDER / f"{name}.csv").read_text(encoding="utf-8") == trace_of(name)
