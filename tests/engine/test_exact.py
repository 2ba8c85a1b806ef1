"""Programs on exact fractions: columns are what each row comes to by itself, by plain fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, isinf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qps
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.exact_runs import Exact, ExactColumns, ExactRunner, exact
from qps.engine.execution.programs import ProgramStep, StraightLineProgram
from qps.engine.leaves import INPUT, NUMBER, POPULATION, WHOLE_POWER

_TWO = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "max": max,
    "min": min,
    "ratio": lambda a, b: a / b if b else nan,
    "mean": lambda a, b: a / b if b else Fraction(0),
}
_ONE = {"abs": abs, "floor": lambda a: Fraction(floor(a)), "ceil": lambda a: Fraction(ceil(a))}

fractions = st.fractions(-4, 4, max_denominator=12)


def program_of(steps: list[ProgramStep]) -> StraightLineProgram:
    inputs: list[frozenset[str]] = []
    varies: list[bool] = []
    for step in steps:
        own = frozenset({str(step.value)} if step.word == INPUT else ())
        inputs.append(own.union(*(inputs[operand] for operand in step.operands)))
        varies.append(step.word == POPULATION or any(varies[o] for o in step.operands))
    return StraightLineProgram(tuple(steps), tuple(inputs), tuple(varies))


@st.composite
def programs(draw: st.DrawFn) -> StraightLineProgram:
    steps = [ProgramStep(INPUT, value="a"), ProgramStep(INPUT, value="b"), ProgramStep(POPULATION)]
    steps += [ProgramStep(NUMBER, value=draw(fractions)) for _ in range(2)]
    for _ in range(draw(st.integers(1, 14))):
        earlier = st.integers(0, len(steps) - 1)
        word = draw(st.sampled_from([*_TWO, *_ONE, WHOLE_POWER]))
        if word == WHOLE_POWER:
            steps.append(
                ProgramStep(WHOLE_POWER, (draw(earlier),), draw(st.sampled_from([-2, -1, 2])))
            )
        else:
            count = 2 if word in _TWO else 1
            steps.append(ProgramStep(word, tuple(draw(earlier) for _ in range(count))))
    return program_of(steps)


def alone(
    program: StraightLineProgram, row: dict[str, Fraction], population: int
) -> Fraction | float:
    """Return what the last step comes to, not-a-number where something has no finite value."""
    values: list[Fraction | float] = []
    for step in program.steps:
        own = [values[operand] for operand in step.operands]
        if step.word == INPUT:
            values.append(row[str(step.value)])
        elif step.word == POPULATION:
            values.append(Fraction(population))
        elif step.word == NUMBER:
            values.append(Fraction(step.value))  # type: ignore[arg-type]
        elif not all(isinstance(value, Fraction) for value in own):
            values.append(nan)
        elif step.word == WHOLE_POWER:
            values.append(nan if own[0] == 0 and step.value < 0 else own[0] ** step.value)  # type: ignore[operator]
        else:
            values.append((_TWO | _ONE)[step.word](*own))  # type: ignore[operator]
    return values[-1]


@given(programs(), st.lists(st.tuples(fractions, fractions, st.integers(1, 9)), min_size=1))
def test_columns_are_what_each_row_comes_to(
    program: StraightLineProgram, drawn: list[tuple[Fraction, Fraction, int]]
) -> None:
    last = len(program.steps) - 1
    inputs = {"a": [exact(a) for a, _, _ in drawn], "b": [exact(b) for _, b, _ in drawn]}
    at = [exact(n) for _, _, n in drawn]
    runner = ExactRunner(program, Runner(program))
    found = runner.columns([last], inputs, at, len(drawn))[last]
    for (a, b, n), value in zip(drawn, found, strict=True):
        expected = alone(program, {"a": a, "b": b}, n)
        if isinstance(expected, Fraction):
            assert not isinstance(value, float)
            assert value == exact(expected)


@given(programs(), st.lists(st.tuples(fractions, fractions, st.integers(1, 9)), min_size=1))
def test_what_floats_round_off_is_within_bounds(
    program: StraightLineProgram, drawn: list[tuple[Fraction, Fraction, int]]
) -> None:
    last = len(program.steps) - 1
    columns = {"a": [a for a, _, _ in drawn], "b": [b for _, b, _ in drawn]}
    floats = {name: np.array(list(map(float, column))) for name, column in columns.items()}
    exactly = {name: list(map(exact, column)) for name, column in columns.items()}
    at, runner = np.array([float(n) for _, _, n in drawn]), Runner(program)
    own = runner.rounded([last], floats, at)[last]
    values = ExactRunner(program, runner).columns([last], exactly, at, len(drawn), floats)[last]
    wide = np.zeros(len(drawn))
    for low, high, value in zip(own.low + wide, own.high + wide, values, strict=True):
        if isnan(low):
            continue
        if isinf(low):
            assert low == high
            assert value == low
        else:
            assert exact(Fraction(low)) <= value <= exact(Fraction(high))


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([ProgramStep("waiting", (0, 1))], (inf, inf)),
        ([ProgramStep("waiting", (0, 1)), ProgramStep("+", (4, 0))], (inf, inf)),
        ([ProgramStep("waiting", (0, 1)), ProgramStep("*", (4, 2))], (nan, nan)),
        ([ProgramStep("waiting", (0, 1)), ProgramStep("min", (4, 3))], (5, 5)),
        ([ProgramStep(WHOLE_POWER, (2,), -1)], (nan, nan)),
        ([ProgramStep("pow", (2, 1)), ProgramStep("pow", (2, 4))], (nan, nan)),
        ([ProgramStep("md1_quantile", (1, 0))], (inf, inf)),
    ],
)
def test_only_what_surely_is_infinite_is_so(
    steps: list[ProgramStep], found: tuple[float, float]
) -> None:
    """Half a second of work at a load of 3/2; a zero and a five beside it."""
    numbers = [ProgramStep(INPUT, value="a"), ProgramStep(INPUT, value="b")]
    numbers += [ProgramStep(NUMBER, value=Fraction(0)), ProgramStep(NUMBER, value=Fraction(5))]
    program = program_of([*numbers, *steps])
    last = len(program.steps) - 1
    floats = {"a": np.array([0.5, 0.5]), "b": np.array([1.5, 1.5])}
    own = Runner(program).rounded([last], floats, None)[last]
    assert np.array_equal(np.broadcast_to(own.low, 2), [found[0]] * 2, equal_nan=True)
    assert np.array_equal(np.broadcast_to(own.high, 2), [found[1]] * 2, equal_nan=True)


def test_what_is_divided_by_itself_is_reported_for_all_rows_at_once() -> None:
    """min(a/(N + 1), (N + 1)/(N + 1)) is 1 where a is clearly more than N + 1: no row is asked."""
    steps = [
        *(
            ProgramStep(INPUT, value="a"),
            ProgramStep(POPULATION),
            ProgramStep(NUMBER, value=Fraction(1)),
        ),
        *(
            ProgramStep("+", (1, 2)),
            ProgramStep("max", (0, 3)),
            ProgramStep("ratio", (4, 3)),
            ProgramStep("ratio", (3, 3)),
        ),
        ProgramStep("min", (5, 6)),
    ]
    program = program_of(steps)
    runner = ExactRunner(program, Runner(program))
    floats = {"a": np.array([30.0, 0.0, 40.0])}

    def none(name: str) -> list[Exact]:
        raise AssertionError(name)

    found = runner.columns([7], ExactColumns(none), np.array([3, 4, 5]), 3, floats)
    assert found[7] == [exact(1)] * 3


def test_what_is_chosen_clearly_needs_no_arithmetic() -> None:
    """min(5, max(1/2, min(1, sqrt(a)))) is 1 exactly, though a root is no fraction."""
    steps = [
        *(
            ProgramStep(INPUT, value="a"),
            ProgramStep("sqrt", (0,)),
            ProgramStep(NUMBER, value=Fraction(1)),
        ),
        *(
            ProgramStep("min", (1, 2)),
            ProgramStep(NUMBER, value=Fraction(1, 2)),
            ProgramStep("max", (3, 4)),
        ),
        *(ProgramStep(NUMBER, value=Fraction(5)), ProgramStep("min", (5, 6))),
    ]
    program = program_of(steps)
    runner = ExactRunner(program, Runner(program))
    inputs = {"a": [exact(9), exact(Fraction(1, 16))]}
    assert runner.columns([7], inputs, None, 2)[7] == [exact(1), exact(Fraction(1, 2))]


def test_what_no_population_changes_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that is exactly at its limit, by floats a little beyond it, at every population."""
    monkeypatch.delattr("qps.solver.matrix.rows.mode_rows.ModeSolver._first_failures_by_steps")
    spec = (
        "users N in 1..3000\nparam part = 0.1 s in 0.01..1 s\nmachine box { cpu 1 core }\n"
        "component work { cpu 1 ms / (4 request) }\n"
        "topology { node host = box }\n"
        "stream jobs { traffic N * 1 request/s; at host { work } }\n"
        "measure whole = max(0 s, part - 0.07 s) + 0.07 s\nrequire { whole <= part }\n"
        "matrix m { part in 0.1..0.9 s, 33 values }\n"
    )
    found = {row["capacity"] for row in qps.loads(spec).matrix().to_arrow().to_pylist()}
    assert found == {3000}
