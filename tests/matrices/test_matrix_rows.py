"""Which rows a matrix has."""

from __future__ import annotations

import numpy as np
import pytest

import qps
from helpers.single_rows import no_row_alone
from matrices.test_matrices import BASE, column, disagreements, rows
from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.matrix.compilation import structures
from qps.solver.matrix.matrix_compiler import compile_matrix

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


def test_an_infeasible_row_states_what_fails() -> None:
    (row,) = rows("matrix m { extra in [10_000] }")
    assert row["capacity"] is None
    assert row["reason"] == "talk.latency is not met at N = 1"
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


def _many_of_each() -> ir.Model:
    many = ", ".join(f"box * {i}" for i in range(1, 402))
    nets = ", ".join(f"wire * {i}" for i in range(1, 302))
    return qps.loads(BASE + f"matrix m {{ host in [{many}]; lan in [{nets}] }}").spec.model


def test_numbers_of_machines_are_numbers_of_a_program() -> None:
    model = _many_of_each()
    compiled = compile_matrix(model, model.matrices[0])
    assert (compiled.lowered, compiled.size) == (4, 401 * 301)
    several = np.array([1, 300, 400, 400 * 300])
    assert compiled.blocks[0].structure.parts == pytest.approx(several / 401 / 301)


def test_too_many_choices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structures, "MOST_CHOICES", 3)
    model = _many_of_each()
    with pytest.raises(QpsError, match="too varied"):
        compile_matrix(model, model.matrices[0])
