"""Large and deep expressions: what people generate works, what is beyond all reading is refused."""

from __future__ import annotations

import pytest

from helpers.specs import PRELUDE, checked
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.answers.worst_mode import solve_model

DEEP = 150
TERMS = 10_000


def _spec(declared: str, rate: str) -> str:
    return (
        PRELUDE
        + declared
        + "topology { node host = box }\n"
        + f"stream flow {{ traffic {rate}; at host {{ work }} }}\n"
    )


def _lets(body: str, order: int) -> str:
    lets = ["let a0 = N\n"] + [
        f"let a{i} = {body.format(f'a{i - 1}')}\n" for i in range(1, DEEP + 1)
    ]
    return "".join(lets[::order])


LARGE = {
    "parentheses": ("", "(" * DEEP + "N" + ")" * DEEP + " * 1 packet/s", 100),
    "many_parentheses": ("", "(" * 5000 + "N" + ")" * 5000 + " * 1 packet/s", 100),
    "sums_in_parentheses": ("", "(" * DEEP + "N" + " + 1)" * DEEP + " * 0.5 packet/s", 50),
    "lets": (_lets("{} + 1", 1), f"a{DEEP} * 0.5 packet/s", 50),
    "lets_the_other_way_round": (_lets("{} + 1", -1), f"a{DEEP} * 0.5 packet/s", 50),
    "lets_of_products": (_lets("({} + 1) * 1", 1), f"a{DEEP} * 0.5 packet/s", 50),
    "sum_of_numbers": ("", f"({' + '.join(['1'] * TERMS)}) * N * 1e-4 packet/s", 100),
    "sum_of_quantities": ("", f"({' + '.join(['1 packet/s'] * TERMS)}) * N * 1e-4", 100),
    "sum_of_names": ("", f"({' + '.join(['N'] * TERMS)}) * 1e-4 packet/s", 100),
}


@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_expressions_have_answers(name: str) -> None:
    declared, rate, largest = LARGE[name]
    model = checked(_spec(declared, rate))
    assert solve_model(model.model, model.configuration()).capacity == largest


@pytest.mark.parametrize(
    ("declared", "rate"),
    [
        ("", "(" * 300 + "N" + " + 1)" * 300 + " * 1 packet/s"),
        ("".join(f"let a{i} = a{i - 1} * N + 1\n" for i in range(1, 500)) + "let a0 = N\n", "a499"),
        (
            "let a0 = N\n" + "".join(f"let a{i} = a{i - 1} * N + 1\n" for i in range(1, 500)),
            "a499 * 1 packet/s",
        ),
    ],
)
def test_what_is_beyond_all_reading_is_refused(declared: str, rate: str) -> None:
    found = check_source(Source("deep.qps", _spec(declared, rate))).diagnostics
    assert {d.code.id for d in found} == {"QPS0105"}


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("(1/60) packet/s", "1 packet / 60 s"),
        ("(N / 60) packet/s", "N / 60 * 1 packet/s"),
        ("(2 + 1) 2 packet/s", None),
        ("(3) packet^1/s", "3 packet/s"),
        ("N * (50) % * 1 packet/s", "N * 0.5 packet/s"),
        ("8000 byte/s, (100 + 28) byte/packet", "8000 byte/s, 128 byte/packet"),
    ],
)
def test_a_unit_behind_parentheses_multiplies_all_of_them(written: str, same: str | None) -> None:
    if same is None:
        found = check_source(Source("s.qps", _spec("", written))).diagnostics
        assert [d.code.id for d in found] == ["QPS0101"]
        return
    first, second = checked(_spec("", written)), checked(_spec("", same))
    loads = [
        [r.load for r in solve_model(spec.model, spec.configuration()).resources]
        for spec in (first, second)
    ]
    assert loads[0] == loads[1]


def test_a_tolerance_in_parentheses_is_relative() -> None:
    spec = checked(
        _spec("", "N * 1 packet/s") + "expect e { host.cpu.load ~ 50 % within (1/2) % with N = 50; "
        'source "s" }'
    )
    tolerance = spec.model.expectations[0].claims[0].tolerance
    assert tolerance is not None
    assert (float(tolerance.amount), tolerance.relative) == (0.005, True)
