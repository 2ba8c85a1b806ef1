"""Matrices: every row is what `qps solve` says, and the rows are those that the spec asks for."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples
from helpers.single_rows import solve_single
from helpers.strategies import Drawn, drawn_specs
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.matrix.compilation.structures import configured
from qps.solver.matrix.execution import matrix_run
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver

BASE = """
users N in 1..200
unit score of rating
machine box { cpu 10 score; price 100 $ }
machine big { cpu 40 score; price 500 $ }
machine tiny { cpu 1 core }
network wire { rate 10 Mbit/s; price 50 $ }
network fast { switched; rate 100 Mbit/s; header 38 byte/packet; price 900 $ }
costs measured on box
option zip = off
param size = 1000 byte/packet in 10..100_000 byte/packet
param extra = 1
component work { cpu 1 ms/packet }
component squeeze { cpu 2 ms/packet; emit 50 % }
topology { node host = box * N; link lan = wire between host }
stream talk for each host {
  traffic 8000 byte/s, size
  at host { squeeze if zip; work to others }
  over lan
  at host { work * extra }
}
require { talk.latency <= 300 ms; talk.loss <= 5 % }
scenario quick { host = big }
scenario slow { host = box; extra = 3 }
"""


def rows(matrix: str, spec: str = BASE) -> list[dict[str, Any]]:
    """Return the rows of a matrix, as records."""
    return list(qps.loads(spec + matrix).matrix().to_arrow().to_pylist())


def column(matrix: str, name: str) -> list[Any]:
    return [row[name] for row in rows(matrix)]


# -- every row is what `qps solve` says -----------------------------------------------


def disagreements(text: str, count: int = 6, seed: int = 0) -> list[object]:
    """Return the rows, of some taken at random, that differ from the symbolic solver's answer."""
    model = qps.loads(text).spec.model
    (matrix,) = model.matrices
    compiled = compile_matrix(model, matrix)
    chosen = random.Random(seed)
    found: list[object] = []
    for block in MatrixSolver(compiled).row_blocks(0, compiled.size):
        for row in chosen.sample(range(block.count), min(count, block.count)):
            if not block.included[row]:
                continue
            index = tuple(int(axis[row]) for axis in block.index)
            configuration = configured(model, matrix, matrix.blocks[block.block], index)
            one = solve_single(model, configuration, compiled.question, matrix.at)
            words = block.words
            values = (
                block.texts.get(row) or words[block.reason[row]] or None,
                None if block.largest[row] < 0 else int(block.largest[row]),
                words[block.limited[row]],
                words[block.bottleneck[row]],
            )
            expected = (one.reason, one.largest, one.limited_by, one.bottleneck)
            numbers = [
                (block.saturates_at[row], one.saturates_at),
                (block.quality[row], one.quality),
                (block.cost[row], one.cost),
                *((block.loads[name][row], load) for name, load in one.loads.items()),
                *((block.saturates[name][row], at) for name, at in one.saturations.items()),
                *((c[row], v) for c, v in zip(block.columns, one.columns, strict=True)),
            ]
            if values != expected or not all(alike(*pair) for pair in numbers):
                found.append((index, values, expected, numbers))
    return found


def alike(one: float, other: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(other)):
        return one == other or (math.isnan(one) and math.isnan(other))
    return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))


@st.composite
def drawn_matrices(draw: st.DrawFn, spec: Drawn) -> str:
    """Draw a matrix over a drawn spec."""
    sizes = draw(st.lists(st.integers(50, 3000), min_size=1, max_size=4, unique=True))
    axes = [f"size in [{', '.join(map(str, [*sizes[:-1], f'{sizes[-1]} byte/packet']))}]"]
    if draw(st.booleans()):
        axes.append("host in [fast * N, slow * N]")
    if draw(st.booleans()):
        axes.append("cast in [multicast, unicast]")
    if draw(st.booleans()):
        axes.append("limit in 5..500 ms, 5 log values")
    if draw(st.booleans()):
        axes.append("load in [0.001, 1, 2]")
    draw(st.randoms()).shuffle(axes)
    at = f"at N = {draw(st.integers(1, spec.high))}" if draw(st.booleans()) else ""
    return "matrix m {\n" + "\n".join([*axes, "column c = flow.latency / 1 ms", at]) + "\n}\n"


RUNS = """
users N in 1..10
param load = 1
machine box { cpu 1 core, queueing mm1 }
component work { cpu 1 ms/request%s }
topology { node host = box }
stream jobs for each user { traffic 1 request/s, 1 kB/request; at host { work * load } }
require { jobs.latency <= 1 s }
matrix runs { load in [1/1000, 1, 3/2, 2] }
"""


@pytest.mark.parametrize(("more", "refused"), [("", 1), ("; keep 50 %", 2)])
def test_rows_in_which_a_step_runs_a_fraction_of_a_time_are_refused(
    more: str, refused: int
) -> None:
    """So does solve. What drops items runs a whole number of times, others also once and a half."""
    assert disagreements(RUNS % more, 4) == []
    model = qps.loads(RUNS % more).spec.model
    compiled = compile_matrix(model, model.matrices[-1])
    (rows,) = MatrixSolver(compiled).row_blocks(0, compiled.size)
    assert int((rows.largest < 0).sum()) == refused


@given(st.data())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_random_rows_of_random_matrices_are_what_solve_says(data: st.DataObject) -> None:
    drawn = data.draw(drawn_specs())
    text = drawn.text.replace(
        "costs measured on slow",
        "param limit = 30 ms in 1..1000 ms\nparam load = 1\ncosts measured on slow\n",
    ).replace(f"flow.latency <= {drawn.latency} ms", "flow.latency <= limit")
    text = text.replace("at host { ", "at host { c0 * load; ", 1)
    assert disagreements(text + data.draw(drawn_matrices(drawn)), 3) == []


SHAPES = [
    pytest.param("measure m = abs(N - 7) / 5", "m <= 1", id="falls, then rises"),
    pytest.param("measure m = max(1, 20 - N) * level", "m <= 30", id="only falls"),
    pytest.param("measure m = 10 * level / (40 - N)", "m <= 1", id="a pole"),
    pytest.param("measure m = 10 * level / abs(40 - N)", "m <= 1", id="a pole on both sides"),
    pytest.param("measure m = level / N + N / 30", "m <= 2", id="least in the middle"),
    pytest.param("measure m = (N - 10) * (N - 20) * (N - 90)", "m <= 3000 * level", id="a cubic"),
    pytest.param("measure m = floor(N / 7) * level", "m < 5", id="steps, strictly"),
    pytest.param("measure m = ceil(N * level / 3)", "m <= 11", id="steps, up"),
    pytest.param("measure m = exp(N * level / 40)", "m <= 10", id="an exponential"),
    pytest.param("measure m = sqrt(N) * level + ln(N)", "m <= 12", id="a root and a logarithm"),
    pytest.param("measure m = min(N * level, 30) + max(0, N - 50)", "m <= 31", id="a plateau"),
    pytest.param("measure m = N * level", "m <= 30", id="on the limit itself"),
    pytest.param("measure m = N * level", "m < 30", id="on a strict limit"),
    pytest.param("measure m = 100 - N * level", "m >= 40", id="from above"),
    pytest.param("measure m = 100 / N", "m > 2 * level", id="from above, strictly"),
    pytest.param("measure m = abs(N * level - 30) - N / 3", "m <= 12", id="a valley"),
    pytest.param("measure m = 1 / (N - 30)", "m <= level", id="undefined at one point"),
    pytest.param("measure m = if level > 2 then N else 3 * N", "m <= 60", id="a condition"),
]  # fmt: skip


@pytest.mark.parametrize(("measure", "requirement"), SHAPES)
def test_requirements_of_every_shape(measure: str, requirement: str) -> None:
    text = f"""
users N in 1..120
param level = 1
machine box {{ cpu 1 core }}
component work {{ cpu 1 us/packet }}
topology {{ node host = box }}
stream talk for each host {{ traffic N * 1 packet/s; at host {{ work }} }}
{measure}
require {{ {requirement} }}
matrix m {{ level in [0.5, 1, 2, 3, 5, 8] }}
"""
    assert disagreements(text, 6) == []


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param("matrix m { host in [box, big]; zip in [on, off]; extra in [0, 1, 5] }", id="places"),
        pytest.param("matrix m { lan in [wire, fast, wire * 3]; size in 100..9000 byte/packet, 4 values }", id="networks"),
        pytest.param("matrix m { scenario in [quick, slow]; lan in [wire, fast] }", id="scenarios"),
        pytest.param("matrix m { scenario in [quick, slow]; extra in [1, 2] }", id="an axis goes first"),
        pytest.param("mode calm { talk.latency <= 100 ms }\nmode wild { extra = 4; talk.loss <= 1 % }\nmatrix m { size in [500, 5000 byte/packet]; extra in [1, 9] }", id="the worst mode"),
        pytest.param("mode calm { talk.latency <= 100 ms }\nmode wild { extra = 4 }\nmatrix m { mode in [wild, calm]; extra in [1, 9] }", id="modes as an axis"),
        pytest.param("param half = size / 2 in 100..2000 byte/packet\nmatrix m { size in [100, 300, 3000, 9000 byte/packet] }", id="a range beyond which there is no answer"),
        pytest.param("param q = 50 % in 0..100 %\nparam r = 1 - q in 10..60 %\nmatrix m { q in 0..100 % by 10 % }", id="a derived range"),
        pytest.param("measure m = saturation(lan)\nmatrix m { extra in [1, 2] }", id="no measure", marks=pytest.mark.xfail(raises=QpsError, strict=True)),
        pytest.param("param rate elastic 1..30 packet/s\nstream more for each host { traffic rate, 2 kbyte/packet; at host { work }; over lan; at host { work } }\nmeasure got = more.rate\nrequire { got >= 2 packet/s ideal 30 packet/s }\nmatrix m { lan in [wire, fast]; extra in [0, 1, 4]; size in [100, 9000 byte/packet] }", id="elastic"),
        pytest.param("param top = 30 packet/s\nparam rate elastic 1 packet/s..top\nstream more for each host { traffic rate, 2 kbyte/packet; at host { work } }\nmatrix m { top in [2, 20, 200 packet/s]; extra in [1, 4] }", id="elastic up to a value that varies"),
        pytest.param("param floor_ = 3\nmeasure f = N\nrequire { f >= 1 ideal floor_ }\nmatrix m { floor_ in [1, 2, 3] }", id="an ideal that is the limit, or not"),
        pytest.param("param p = 2\nstream play for each host { traffic 3 packet/s; at host { work }; playout 10 ms * max(0, p - N) - 1 ms * min(p - 2, 2) }\nmatrix m { p in [2, 3, 300] }", id="a buffer that cannot be"),
        pytest.param("matrix m { size in [100, 200 byte/packet]; at N = 7; column a = talk.latency; column b = saturation(host) + largest_acceptable; column c = cost_per_user; column d = quality + share(work, host.cpu) }", id="columns"),
        pytest.param("param boxes = 3\nscenario more { host = box * boxes }\nmatrix m { scenario in [more]; boxes in [1, 2, 2.5, 4] }", id="counts that are not whole"),
        pytest.param("param load_ = { average 1; least 0; largest 3 }\nstream more for each host { traffic 2 packet/s; at host { work * (1 + load_) } }\nscenario worst { case = largest }\nmatrix m { scenario in [worst]; load_ in [1, 4]; extra in [1, 2] }", id="values by case"),
        pytest.param("machine waiting { cpu 10 score, queueing mm1 }\nmachine shop { cpu 2 core * 10 score, queueing mmc }\nmatrix m { host in [waiting, shop]; extra in [1, 5]; size in [100, 900 byte/packet] }", id="queues"),
        pytest.param("param k = 4\ngroup room of k users\nstream more for each host { traffic 9 packet/s, 90 byte/packet; at host { work to others in room }; over lan; at host { work } }\nmatrix m { k in [2, 5, 50]; extra in [1, 3] }", id="groups"),
        pytest.param("target cpu 75 %, link 60 %\nmatrix m { host in [box, big]; lan in [wire, fast]; extra in [0, 1, 5] }", id="targets"),
        pytest.param("param aim = 75 % in 10..100 %\ntarget cpu aim\nmatrix m { aim in [30, 75, 100 %]; extra in [1, 5] }", id="a target that varies"),
        pytest.param("target cpu 75 %\nmeasure m = talk.latency\nfunc up(x) = x * x\nmatrix m { size in [100, 900 byte/packet]; column s = saturation(host); extra in [1, 5] }", id="a saturation at a target as a column"),
        pytest.param("param aim = 75 % in 10..100 %\ntarget cpu aim\nmachine waiting { cpu 10 score, queueing mm1 }\nmatrix m { host in [waiting, box]; aim in [30, 75, 100 %]; extra in [1, 5] }", id="queues with a target"),
        pytest.param("target cpu 75 %, link 60 %\nparam rate elastic 1..30 packet/s\nstream more for each host { traffic rate, 2 kbyte/packet; at host { work }; over lan; at host { work } }\nmatrix m { lan in [wire, fast]; extra in [0, 1, 4]; size in [100, 9000 byte/packet] }", id="elastic up to a target"),
        pytest.param("param aim = 75 % in 10..100 %\ntarget cpu aim\nmachine waiting { cpu 10 score, queueing mm1 }\nparam rate elastic 1..30 packet/s\nstream more for each host { traffic rate, 200 byte/packet; at host { work } }\nmatrix m { host in [box, waiting]; aim in [50, 75, 100 %]; extra in [0, 1, 4] }", id="elastic up to a target, with a queue that has no end at 100 %"),
    ],
)  # fmt: skip
def test_rows_are_what_solve_says(extra: str) -> None:
    assert disagreements(BASE + extra + "\n", 12) == []


# -- from Python ----------------------------------------------------------------------


def test_record_batches_are_the_table() -> None:
    model = qps.loads(BASE + "matrix a { zip in [on, off] }\nmatrix b { extra in [1, 2, 3] }")
    result = model.matrix("b")
    assert len(result) == 3
    assert sum(batch.num_rows for batch in result) == 3
    assert result.schema.field("cost").metadata == {b"unit": b"$"}
    with pytest.raises(KeyError):
        model.matrix()
    with pytest.raises(KeyError):
        model.matrix("c")


def test_parts_are_the_same_wherever_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    model = qps.loads(
        BASE + "matrix m { extra in 1..9 by 1; zip in [on, off]; host in [box, big] }"
    )
    whole = model.matrix().to_arrow()
    monkeypatch.setattr(matrix_run, "PART", 7)
    assert model.matrix().to_arrow().to_pylist() == whole.to_pylist()
