"""Matrices: every row is what `qps solve` says, and the rows are those that the spec asks for."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples, nightly
from helpers.single_rows import no_row_alone, solve_single
from helpers.strategies import Drawn, drawn_specs
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import Kind
from qps.reports.text.claims.claim_quantities import predicted
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


# -- every row is what `qps solve` says ------------------------------------------------------


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
            axes = compiled.blocks[block.block].structure.axes
            configuration = configured(model, matrix, axes, index)
            one = solve_single(model, configuration, compiled.question, matrix.at)
            words = block.words
            told = (
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
            if told != expected or not all(alike(*pair) for pair in numbers):
                found.append((index, told, expected, numbers))
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


# -- which rows there are -----------------------------------------------------------------


FILLED = """
users N in 1..60
param pace elastic 1..400 packet/s
param most = 80 %
machine box { cpu 1 core, queueing mm1 }
network wire { rate 100 Mbit/s }
component work { cpu 1 ms/packet }
topology { node host = box; node home = box * N; link lan = wire between host, home }
stream talk for each home {
  traffic pace, 1000 byte/packet
  at home { }
  over lan
  at host { work }
}
"""


@pytest.mark.parametrize("limit", ["require { host.cpu.load <= most }", "target cpu most"])
def test_what_is_filled_up_to_a_limit_that_varies(limit: str) -> None:
    # At 100 % what waits would wait without end; nothing here asks how long, so arrays could tell.
    for values in ("50 %, 100 %, 80 %", "100 %, 80 %", "50 %, 120 %, 99 %"):
        text = f"{FILLED}{limit}\nrequire {{ pace >= 20 packet/s }}\n"
        assert disagreements(text + f"matrix m {{ most in [{values}] }}\n") == []


def test_the_last_axis_moves_fastest() -> None:
    found = rows("matrix m { zip in [on, off]; extra in [1, 2, 3] }")
    assert [(row["zip"], row["extra"]) for row in found] == [
        ("on", 1), ("on", 2), ("on", 3), ("off", 1), ("off", 2), ("off", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("axis", "values"),
    [
        ("extra in 1..10 by 3", [1, 4, 7, 10]),
        ("extra in 1..9 by 3", [1, 4, 7]),
        ("extra in 1..100 by * 3", [1, 3, 9, 27, 81]),
        ("extra in 0..1, 5 values", [0, 0.25, 0.5, 0.75, 1]),
        ("extra in 1..1000, 4 log values", [1, 10, 100, 1000]),
        ("extra in [5, 1, 3]", [5, 1, 3]),
        ("extra in 0..30 % by 10 %", [0, 0.1, 0.2, 0.3]),
    ],
)
def test_values_of_an_axis(axis: str, values: list[float]) -> None:
    assert column(f"matrix m {{ {axis} }}", "extra") == pytest.approx(values, rel=1e-15)


def test_logarithmic_steps_meet_short_numbers() -> None:
    assert column("matrix m { extra in 0.01..1, 3 log values }", "extra") == [0.01, 0.1, 1]
    assert column("matrix m { extra in 1..1000, 7 log values }", "extra")[2::2] == [10, 100, 1000]


def test_steps_are_exact() -> None:
    (matrix,) = qps.loads(BASE + "matrix m { extra in 0..1 by 0.1 }").spec.model.matrices
    assert matrix.axes[0].count == 11  # in floats, 0.1 ten times over is below 1


def test_excluded_rows_are_left_out() -> None:
    found = rows(
        "matrix m { host in [box, big]; extra in [1, 2, 3]\n"
        "exclude host == big and extra > 1\nexclude extra == 2 }"
    )
    assert [(row["host"], row["extra"]) for row in found] == [("box", 1), ("box", 3), ("big", 1)]


def test_included_rows_come_behind_with_all_values_of_the_other_axes() -> None:
    found = rows(
        "matrix m { host in [box]; extra in [1, 2]; exclude host == big\ninclude host = big }"
    )
    assert [(row["host"], row["extra"]) for row in found] == [
        ("box", 1), ("box", 2), ("big", 1), ("big", 2),
    ]  # fmt: skip


def test_where_keeps_and_order_by_sorts() -> None:
    text = "matrix m { extra in 1..40 by 1; where largest_acceptable >= 5\n"
    found = rows(text + "order by largest_acceptable descending, extra }")
    largest = [row["capacity"] for row in found]
    assert largest == sorted(largest, reverse=True)
    assert 0 < len(found) < 40
    assert min(largest) >= 5


def test_select_chooses_columns() -> None:
    found = rows("matrix m { extra in [1]; select limited_by, talk.loss }")
    assert list(found[0]) == ["extra", "limited_by", "talk.loss", "reason"]


def test_values_are_reported_at_the_population_that_is_requested() -> None:
    for population in (3, 17):
        (row,) = rows(f"matrix m {{ extra in [1]; at N = {population} }}")
        expected = qps.loads(BASE).graph().resources["lan"]
        graph = qps.loads(BASE).graph()
        load = graph.at(population).number(expected.load)
        assert row["at"] == population
        assert row["utilization:lan"] == pytest.approx(load)


def test_a_row_without_an_answer_has_the_reason() -> None:
    found = rows("param half = extra / 2 in 0..2\nmatrix m { extra in [1, 5, 2] }")
    assert [row["reason"] for row in found] == [None, "`half` is above its range", None]
    assert found[1]["capacity"] is None


def test_a_row_that_carries_nobody_tells_what_fails() -> None:
    (row,) = rows("matrix m { extra in [10_000] }")
    assert row["capacity"] is None
    assert row["reason"] == "talk.latency is not met with N = 1"
    assert row["limited_by"] == "talk.latency"


def test_conditions_on_what_limits() -> None:
    found = rows(
        "matrix m { lan in [wire, fast]; extra in [1, 30]\n"
        "where limited_by == talk.loss and not (bottleneck == lan) }"
    )
    assert found
    assert {row["limited_by"] for row in found} == {"talk.loss"}
    assert {row["bottleneck"] for row in found} == {"host.cpu"}


def test_few_structures_are_lowered() -> None:
    text = (
        "matrix m { host in [box, big, box * 2]; lan in [wire, fast, wire * 2]; zip in [on, off]\n"
        "  size in 100..2000 byte/packet, 400 values; extra in 1..9, 100 values }"
    )
    model = qps.loads(BASE + text).spec.model
    compiled = compile_matrix(model, model.matrices[0])
    assert compiled.size == 720_000
    assert compiled.lowered == 18


SWITCHES = "".join(
    f"option o{i} = on\ncomponent c{i} {{ cpu {i + 1} ms/packet }}\n" for i in range(6)
)
STEPS = "; ".join(f"c{i} if o{i}" for i in range(6))
SWITCHED = f"""
users N in 1..200
unit score of rating
machine box {{ cpu 10 score; price 100 $ }}
machine big {{ cpu 4 core * 40 score; price 500 $ }}
machine more {{ cpu 2 core * 30 score; price 400 $ }}
network wire {{ rate 10 Mbit/s; price 50 $ }}
network fast {{ rate 100 Mbit/s; header 38 byte/packet; propagation 1 ms }}
network ring {{ duplex; rate 100 Mbit/s }}
network far {{ rate 80 Mbit/s; header 40 byte/packet; propagation 90 ms }}
costs measured on box
option coding = by_parts or whole
component base {{ cpu 1 ms/packet }}
component fine {{ cpu 2 ms/packet; emit 50 % }}
component coarse {{ cpu 1 ms/packet; emit 20 % }}
{SWITCHES}
topology {{ node host = big; node end = big * N; link lan = wire between host, end }}
stream talk for each host {{
  traffic N * 8000 byte/s, 1000 byte/packet
  at host {{ base; fine if coding == by_parts; coarse if coding == whole; {STEPS} }}
  over lan
  at end {{ base }}
}}
require {{ talk.latency <= 300 ms }}
"""
ALL_SWITCHES = "; ".join(f"o{i} in [on, off]" for i in range(6))
PLACES = "host in [big, more]; lan in [fast, far]"


@pytest.mark.parametrize(
    ("matrix", "size", "programs"),
    [
        pytest.param(ALL_SWITCHES, 64, 1, id="what options add"),
        pytest.param("host in [big, more]; end in [big * N, more * N]", 4, 1, id="machines"),
        pytest.param("lan in [fast, far]", 2, 1, id="networks"),
        pytest.param("lan in [wire, fast]", 2, 1, id="one network has a header"),
        pytest.param("lan in [ring, fast]", 2, 2, id="another topology"),
        pytest.param(f"{PLACES}; {ALL_SWITCHES}", 256, 1, id="all of these"),
        pytest.param("coding in [by_parts, whole]", 2, 1, id="one component or another"),
    ],
)
def test_structures_that_differ_in_numbers_are_one(
    matrix: str, size: int, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{SWITCHED}matrix m {{ {matrix}; column c = talk.latency / 1 ms }}"
    model = qps.loads(text).spec.model
    compiled = compile_matrix(model, model.matrices[0])
    assert (compiled.lowered, compiled.programs) == (size, programs)
    no_row_alone(monkeypatch)
    assert disagreements(text, 40) == []


def test_rows_of_structures_that_are_one_are_left_out_each_by_its_own() -> None:
    axes = (
        "o0 in [on, off]; o1 in [on, off]; lan in [fast, far]; column c = host.cpu.load; at N = 9"
    )
    every = rows(f"matrix m {{ {axes} }}", SWITCHED)
    loads = sorted({row["c"] for row in every})
    assert len(loads) == 4
    middle = (loads[1] + loads[2]) / 2
    found = rows(
        f"matrix m {{ {axes}; exclude lan == far and o1\n"
        f"  where host.cpu.load >= {middle:.6f} or not o0 }}",
        SWITCHED,
    )
    assert found == [
        row
        for row in every
        if not (row["lan"] == "far" and row["o1"] == "on")
        and (row["c"] >= middle or row["o0"] == "off")
    ]
    assert 0 < len(found) < 6


def test_values_that_a_condition_asks_for_fall_into_classes() -> None:
    text = "measure m = if extra > 3 then N else 2 * N\nmatrix m { extra in 1..9 by 1 }"
    model = qps.loads(BASE + text).spec.model
    assert compile_matrix(model, model.matrices[0]).lowered == 2


def test_too_many_choices_are_refused() -> None:
    many = ", ".join(f"box * {i}" for i in range(1, 402))
    nets = ", ".join(f"wire * {i}" for i in range(1, 302))
    model = qps.loads(BASE + f"matrix m {{ host in [{many}]; lan in [{nets}] }}").spec.model
    with pytest.raises(QpsError, match="too varied"):
        compile_matrix(model, model.matrices[0])


# -- from Python -------------------------------------------------------------------------


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


# -- claims ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "holds", "told"),
    [
        ("every configuration: largest_acceptable >= 1", True, "6 of 6"),
        ("every configuration where extra > 1: talk.loss <= 100 %", True, "4 of 4"),
        ("every configuration: extra < 3", False, "4 of 6; not host = box, extra = 3"),
        ("some configuration: extra == 2 and host == big", True, "1 of 6"),
        ("some configuration: extra > 5", False, "0 of 6"),
        ("no configuration: extra > 5", True, "0 of 6"),
        ("no configuration: host == big", False, "3 of 6; such as host = big, extra = 1"),
        ("at least 2 configurations: extra == 1", True, "2 of 6"),
        ("at least 3 configurations: extra == 1", False, "2 of 6; such as host = box, extra = 1"),
        ("at most 2 configurations: extra == 1", True, "2 of 6"),
        ("at most 1 configuration: extra == 1", False, "2 of 6; such as host = box, extra = 1"),
        ("every configuration where extra > 5: host == big", False, "no configuration matches"),
        ("no configuration where extra > 5: host == big", False, "no configuration matches"),
    ],
)
def test_claims_count_configurations(claim: str, holds: bool, told: str) -> None:
    matrix = "matrix m { host in [box, big]; extra in [1, 2, 3] }"
    text = f'{matrix}\nexpect e {{ {claim}; source "us" }}'
    (result,) = qps.loads(BASE + text).test()
    assert (result.holds, result.counted, result.kind) == (holds, told, "matrix")


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("every configuration: extra <= 2", Kind.EXACT),
        ("every configuration: saturation(lan) >= 1", Kind.EXACT),
        ("every configuration: late <= 1 s", Kind.APPROXIMATION),
        ("every configuration: quality <= 1", Kind.APPROXIMATION),
        ("every configuration where late <= 1 s: extra <= 2", Kind.APPROXIMATION),
        ("every configuration: largest_acceptable >= 1", Kind.APPROXIMATION),
        ("no configuration: limited_by == lan.load", Kind.APPROXIMATION),
    ],
)
def test_claims_on_what_is_not_exact_say_so(claim: str, kind: Kind) -> None:
    matrix = (
        "require { talk.latency <= 1 s }\nmatrix m { extra in [1, 2]; column late = talk.latency }"
    )
    text = f'{matrix}\nexpect e {{ {claim}; source "us" }}'
    (result,) = qps.loads(BASE + text).test()
    assert {result.known.kind, *(side.known.kind for side in result.compared)} == {kind}
    assert predicted(result).startswith("~ ") is (kind is Kind.APPROXIMATION)


def test_claims_are_about_the_included_rows() -> None:
    text = (
        "matrix m { extra in [1, 2, 3]; where extra < 3 }\n"
        'expect e { every configuration of m: extra <= 2; 1 < 2; source "us" }'
    )
    found = qps.loads(BASE + text).test()
    assert [(one.name, one.holds) for one in found] == [("e[1]", True), ("e[2]", True)]


def test_rows_over_cores_that_do_less_together_are_those_of_solve() -> None:
    text = (
        "users N in 1..5000\nparam count = 4 core in 1..64 core\nparam kept = 90 % in 60..100 %\n"
        "machine big { cpu count, efficiency kept }\nmachine four { cpu 4 core, efficiency 90 % }\n"
        "component work { cpu 10 ms/request }\ntopology { node server = big }\n"
        "stream asked for each server { traffic N * 1 request/s; at server { work } }\n"
        "matrix m { count in [1, 2, 4, 6, 8 core]; kept in [90, 95 %]; server in [big, four] }\n"
    )
    assert disagreements(text, 20) == []
    # 10 ms each: 100 · c · e^(log2 c), met exactly at 1, 2, 4 and 8
    found = {(r["count"], r["kept"], r["server"]): r["capacity"] for r in rows(text, "")}
    assert [found[count, 0.9, "big"] for count in (1, 2, 4, 6, 8)] == [100, 180, 324, 456, 583]
    assert [found[count, 0.95, "four"] for count in (1, 8)] == [324, 324]


def test_rows_with_endless_waits_are_solved_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an overloaded resource adds to a latency is no reason to solve rows one by one."""
    spec = (
        "users N in 1..100\nparam job = 10 ms in 1..100 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs for each host { traffic N * 1 request/s; at host { work } }\n"
        "measure slow = jobs.latency\nmatrix m { job in [5 ms, 10 ms, 20 ms]; at N = 60; "
        "select largest_acceptable, slow }\n"
    )
    no_row_alone(monkeypatch)
    found = [(row["slow"], row["reason"]) for row in rows("", spec)]
    assert found == [(0.005, None), (0.01, None), (None, None)]  # what is infinite is null


WAITS = [
    *("queueing mm1", "queueing md1", "queueing mg1 cv 0.5", "queueing mg1 cv 2"),
    *("queueing mmc", "queueing periodic"),
]


@pytest.mark.parametrize("limit", ["talk.latency", "quantile(talk.latency, 95 %)"])
@pytest.mark.parametrize("queueing", WAITS)
def test_rows_that_wait_are_solved_together(
    queueing: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_row_alone(monkeypatch)
    spec = f"""
users N in 1..2000
machine box {{ cpu 3 core, {queueing} }}
param pace = 2 packet/s in 1..50 packet/s
param most = 20 ms in 1..1000 ms
component work {{ cpu 3 ms/packet }}
topology {{ node host = box }}
stream talk for each host {{ traffic N * pace, 1000 byte/packet; at host {{ work }} }}
require {{ {limit} <= most }}
matrix m {{
  pace in 1..9 packet/s, 5 values
  most in [4 ms, 20 ms, 300 ms]
  column l = {limit} / 1 ms
}}
"""
    assert disagreements(spec, 5) == []


FUNCTIONS = [
    *("cos(N / 60)", "acos(1 - N / 200)", "harmonic(N)", "exp(N / 90)", "log2(1 + N)"),
    *(
        "sqrt(N)",
        "N ^ 0.7",
        "lambert_w(N)",
        "-lower_lambert_w(-1 / (N + 3))",
        "waiting(N, N / 300)",
    ),
    *(
        "erlang_b(20, N / 4)",
        "erlang_c(70, N / 4)",
        "md1_tail(N / 300, 3)",
        "normal_tail(3 - N / 50)",
    ),
    *("md1_quantile(N / 300, 99 %)", "periodic_wait(N, N / 300)", "periodic_tail(N, N / 300, 2)"),
    *(
        "periodic_quantile(N, N / 300, 90 %)",
        "normal_quantile(N / 300)",
        "abs(N - 7)",
        "ceil(N / 7)",
    ),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_function_of_the_language_takes_a_row_out(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_row_alone(monkeypatch)
    text = BASE.replace("users N in 1..200", "users N in 1..200\nparam limit = 2 in 0.001..1000")
    text += f"measure m = {function}\nrequire {{ m <= limit }}\n"
    assert disagreements(text + "matrix x { limit in 0.001..40, 7 log values }", 4) == []


def test_what_depends_on_the_population_is_guarded_at_its_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rate that is elastic loads a resource of all users where a cost of it is not zero.

    So the first row has a structure of its own, and the others share one.
    """
    no_row_alone(monkeypatch)
    spec = (
        "users N in 1..40\nparam job = 5 ms in 0..50 ms\nmachine box { cpu 1 core }\n"
        "network wire { rate 1 Mbit/s }\ncomponent work { cpu job / (1 packet) }\n"
        "param pace elastic 1..50 packet/s\n"
        "topology { node host = box; node user = box * N; link lan = wire between host, user }\n"
        "stream talk for each user { traffic N * pace, 500 byte/packet; at user { }; over lan; at host { work } }\n"
    )
    assert disagreements(spec + "matrix m { job in [0 ms, 0.01 ms, 5 ms, 20 ms] }\n") == []


@pytest.mark.parametrize(
    ("ends", "values"),
    [("1 packet/s..end", "2..60"), ("end..30 packet/s", "0.2..25"), ("end / 4..end", "0.2..60")],
)
def test_ends_of_what_is_elastic_vary_from_row_to_row(
    ends: str, values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are symbols, as all numbers are: no row has a structure of its own."""
    no_row_alone(monkeypatch)
    text = (
        BASE
        + f"""
param end = 3 packet/s in 0..100 packet/s
param rate elastic {ends}
stream more for each host {{ traffic rate, 2 kbyte/packet; at host {{ work }}; over lan; at host {{ work }} }}
require {{ more.rate >= 2 packet/s ideal 30 packet/s }}
matrix m {{ end in {values} packet/s, 13 values }}
"""
    )
    assert disagreements(text, 13) == []


def test_loads_that_rise_and_fall_are_followed_for_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_row_alone(monkeypatch)
    spec = (
        "users N in 1..90\nparam job = 1 ms in 0.1..50 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs for each host { traffic N * (2 + cos(N / 5)) * 4 request/s; at host { work } }\n"
        "matrix m { job in 2..20 ms, 9 values }\n"
    )
    assert disagreements(spec, 9) == []


def test_a_load_that_falls_faster_than_the_population_grows_never_saturates() -> None:
    """1/N^2 and less: multiplied out to a polynomial, the target is its highest power."""
    text = """users N in 2..100
machine box { cpu 1 core }
machine big { cpu 4 core }
component work { cpu 20 ms/packet }
topology { node host = box }
stream flow for each host { traffic 3 packet/s / N^3, 50 byte/packet; at host { work } }
matrix m { host in [box, big] }
"""
    assert disagreements(text) == []


def test_rows_none_of_which_can_be_are_refused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No value of the axis is whole: guards tell it of all rows, for the reason that solve gives."""
    spec = (
        "users N in 1..100\nparam hosts = 2\nmachine box { cpu 1 core }\n"
        "component work { cpu 1 ms/request }\ntopology { node host = box * hosts }\n"
        "stream jobs for each host { traffic N * 1 request/s; at host { work } }\n"
        "matrix m { hosts in 1.3..1.7, 9 values }\n"
    )
    assert disagreements(spec) == []
    no_row_alone(monkeypatch)
    assert all("whole" in row["reason"] for row in rows("", spec))


def test_what_comes_ever_nearer_to_its_limit_fails_where_it_does() -> None:
    """Floats tell its failure thousands of populations off: it is told exactly, not walked to."""
    text = """users N in 1..100_000_000
param gap = 1 in 0.5..4
machine box { cpu 1 core }
component work { cpu 1 ms/request }
topology { node host = box }
stream jobs for each host { traffic N * 1 request/s / 1_000_000_000; at host { work } }
measure near = 1 - 1 / (N * N)
require { near <= 1 - gap / 100_000_000_000_000 }
matrix m { gap in 0.5..4, 5 values }
"""
    assert disagreements(text, 5) == []


CALLS = """
users N in 1..100000
param misses = 20 % in 0..1
param queries = 2 in 1..10
option audited = off or on
machine pod {{ cpu 2 core{}; price 1 $/hour }}
network mesh {{ switched; rate 1 Gbit/s; header 66 byte/packet; propagation 1 ms; queueing md1 }}
component work(t) {{ cpu t }}
topology {{
  node web = pod * 4
  node db = pod
  node cache = pod
  node log = pod
  link lan = mesh between web, db, cache, log
}}
stream shop for each web {{
  traffic N * 1 request/s, 2 kB/request, 1448 byte/packet
  at web {{
    work(1 ms/request)
    call db * misses, sends 300 byte/request {{ work(4 ms/request); call cache * queries {{ work(1 ms/request) }} }}
    together {{ call log if audited == on {{ work(2 ms/request) }}; call cache {{ work(3 ms/request) }} }}
  }}
}}
require {{ shop.latency <= 80 ms; quantile(shop.latency, 95 %) <= 150 ms; web.cpu.load <= 70 % }}
matrix rows {{ misses in {}; queries in {}; audited in [off, on] }}
"""


@pytest.mark.parametrize(
    ("queueing", "misses", "queries", "count"),
    [
        ("", "[0, 15 %, 100 %]", "[1, 2.5]", 12),
        pytest.param(", queueing mmc", "[0, 15 %, 100 %]", "[1, 2.5]", 12, marks=nightly),
        # those without misses take long
        pytest.param(", queueing mg1 cv 2", "[15 %, 100 %]", "[1, 2.5]", 8, marks=nightly),
    ],
)
def test_rows_over_calls_are_what_solve_says(
    queueing: str, misses: str, queries: str, count: int
) -> None:
    assert disagreements(CALLS.format(queueing, misses, queries), count=count) == []
