"""The solver on functions whose answers are known."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.formulas import R, absolute, ceil, cos, exp, log
from helpers.specs import PRELUDE, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.engine.exact_algebra.piecewise import Piecewise
from qps.engine.expressions.formulas import (
    Formula,
    formula,
    maximum,
    minimum,
    number,
    population,
    square_root,
)
from qps.engine.expressions.point_values import EvaluationPoint
from qps.solver.answers.capacity import first_failure
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.saturation import saturation_point
from qps.solver.answers.solution import CapacityVerdict, SolverFault
from qps.solver.search.first_crossing import CrossingPoint
from qps.solver.search.method import SearchMethod

N = population("N")


@pytest.mark.parametrize(
    ("load", "at", "method"),
    [
        (N / 25, 25, SearchMethod.CLOSED_FORM),
        (N / 25 + R(1, 5), 20, SearchMethod.CLOSED_FORM),
        (N * (N - 1) / 156, 13, SearchMethod.CLOSED_FORM),
        (N**2 / 50, 50**0.5, SearchMethod.CLOSED_FORM),
        # M/M/1-like: rho/(1 - rho) with rho = N/100 reaches 1 at 50
        (N / (100 - N), 50, SearchMethod.CLOSED_FORM),
        (R(3, 4) - 1 / N, None, SearchMethod.NONE),
        (R(3, 2) - 1 / N, 2, SearchMethod.CLOSED_FORM),
        (N**3 / 1000, 10, SearchMethod.ISOLATED_ROOT),
        (N**5 / 100 + N / 7, 2.31777, SearchMethod.ISOLATED_ROOT),
        (maximum(N / 40, N / 30 - R(1, 3)), 40, SearchMethod.CLOSED_FORM),
        (minimum(N / 10, R(1, 2)), None, SearchMethod.NONE),
        (R(1, 2), None, SearchMethod.NONE),
        (R(3, 2), 1, SearchMethod.AT_START),
        (N + 1, 1, SearchMethod.AT_START),
        (exp(N / 10) / 100, 46.0517, SearchMethod.BRACKETED_ROOT),
        (square_root(N) / 10, 100, SearchMethod.BRACKETED_ROOT),
        (N / 10**12, 10**12, SearchMethod.CLOSED_FORM),
        # full at 10 alone: it touches 1 there and falls again
        (1 - (N - 10) ** 2 / 1000, 10, SearchMethod.CLOSED_FORM),
        (R(999, 1000) - (N - 10) ** 2 / 1000, None, SearchMethod.NONE),
        # a pole: the load passes every bound there
        (1 / (100 - N), 99, SearchMethod.CLOSED_FORM),
        # one that is no fraction, from below
        ((N - 5) / (N**3 - 700), 8.87904, SearchMethod.ISOLATED_ROOT),
        ((N - 2) / (N**2 - 10), 10**0.5, SearchMethod.CLOSED_FORM),
    ],
)
def test_saturation(load: Formula, at: float | None, method: SearchMethod) -> None:
    found = saturation_point(formula(load), N, 1)
    assert found.method is method
    assert found.at == (None if at is None else pytest.approx(at, rel=1e-4))


def test_a_point_that_does_not_satisfy_its_equation_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import qps.solver.answers.saturation as module

    real = module.first_in_pieces

    def shifted(whole: Piecewise, *, passes: bool) -> CrossingPoint:
        found = real(whole, passes=passes)
        assert found is not None
        return CrossingPoint(found.at + Fraction(1, 100), found.method)

    monkeypatch.setattr(module, "first_in_pieces", shifted)
    with pytest.raises(SolverFault, match="off by"):
        saturation_point(N / 25, N, 1)


@pytest.mark.parametrize(
    ("over", "strict", "failure"),
    [
        (N - 24, False, 25),
        (N - 24, True, 24),
        (N - R(49, 2), False, 25),
        (24 - N, False, 1),
        (number(-1), False, None),
        (number(0), False, None),
        (number(0), True, 1),
        # not monotone: above zero only between 10 and 20
        (-(N - 10) * (N - 20), False, 11),
        ((N - 10) * (N - 20), False, 1),
        # above zero only at 15
        (R(1, 10) - (N - 15) ** 2, False, 15),
        # a needle between two whole numbers fails nowhere
        (R(1, 100) - (N - R(31, 2)) ** 2, False, None),
        (1 / (N - 7), False, 7),
        (maximum(N - 40, 2 * N - 60), False, 31),
        (absolute(N - 30) - 10, False, 1),
        (10 - absolute(N - 30), False, 21),
        (exp(N) - 1000, False, 7),
        (ceil(N / 10) - 5, False, 51),
        (square_root(N) - 7, False, 50),
        (log(N) - 4, False, 55),
    ],
)
def test_first_failure(over: Formula, strict: bool, failure: int | None) -> None:
    assert first_failure(over, N, 1, 1000, strict=strict) == failure
    brute = None
    for n in range(1, 1001):
        value = EvaluationPoint({N: Fraction(n)}).number(over)
        if not value <= 0 or (strict and value == 0):  # a pole fails too
            brute = n
            break
    assert brute == failure


def test_a_huge_range_is_no_matter_for_rational_functions() -> None:
    assert first_failure(N * (N - 1) - 10**20, N, 1, 10**12) == 10**10 + 1


def test_bounds_settle_a_huge_range_of_what_has_no_exact_treatment() -> None:
    assert first_failure(exp(N) - 1000, N, 1, 10**9) == 7
    assert first_failure(square_root(N) - 10**5, N, 1, 10**12) == 10**10 + 1
    assert first_failure(square_root(N) - 10**5, N, 1, 10**12, strict=True) == 10**10
    assert first_failure(ceil(N / 7) - 10**6, N, 1, 10**12) == 7 * 10**6 + 1
    assert first_failure(1 - exp(-N) - 1, N, 1, 10**12) is None
    # up and down again, thousands of times below its limit
    jumping = N / 20 / ceil(N / 20) - R(2, 1)
    assert first_failure(jumping, N, 1, 10**12) is None


def test_what_bounds_do_not_decide_is_refused_over_too_wide_a_range() -> None:
    over = (1 + R(1, 10**16)) * cos(N) - 1  # it comes near to its limit again and again
    assert first_failure(over, N, 1, 10**5) is None
    with pytest.raises(QpsError, match="`it` is undecided from N =") as refused:
        first_failure(over, N, 1, 10**9, name="it")
    assert "narrow the range of N to 1,000,000" in refused.value.diagnostics[0].hints[0]


def test_what_bounds_do_not_decide_is_tried_in_a_range_that_is_just_wide_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import qps.solver.answers.capacity
    import qps.solver.search.boxes

    monkeypatch.setattr(qps.solver.search.boxes, "MOST_BOXES", 1)
    monkeypatch.setattr(qps.solver.answers.capacity, "WIDEST_RANGE", 300)
    over = cos(N / 7) + N / 1000 - R(13, 10)
    assert first_failure(over, N, 9, 308) == 308
    with pytest.raises(QpsError, match="the range of 301 populations"):
        first_failure(over, N, 8, 308)
    # nobody asks beyond `until`
    assert first_failure(over, N, 8, 10**6, until=307) is None


ONE = "topology { node host = box }\n"


def test_the_bottleneck_changes_hands() -> None:
    text = PRELUDE + (
        "machine odd { cpu 1 core; disk 1 MB/s; nic 1 Mbit/s }\n"
        "component first { cpu 30 ms/packet }\n"
        "component other { disk 10_000 byte/packet * load }\nparam load = 1\n"
        "topology { node host = odd }\n"
        "stream steady { traffic 10 packet/s; at host { first } }\n"
        "stream linear { traffic N * 1 packet/s; at host { other } }\n"
        "component third { nic 10 bit/packet }\n"
        "stream steep { traffic N * N * 1 packet/s; at host { third } }"
    )
    solution = solve(lowered(text, "N = 1..100000"))
    assert solution.bottleneck is not None
    # 0.3, N/100 and N^2/100000: they meet at 30 and at 1000
    assert solution.bottleneck.initially == "host.cpu"
    assert [(c.at, c.to) for c in solution.bottleneck.changes] == [
        (30.0, "host.disk"),
        (1000.0, "host.nic"),
    ]
    assert solution.bottleneck.resource == "host.disk"
    assert solution.bottleneck.saturates_at == 100


def test_elasticities_are_those_of_finite_differences() -> None:
    text = PRELUDE + ONE + (
        "param pace = 2 packet/s\nparam part = 40 %\n"
        "component paid { cpu 10 ms/packet * part }\n"
        "stream flow { traffic N * (N + 3) * pace; at host { paid; work } }\n"
        "require { host.cpu.load <= 80 % }"
    )  # fmt: skip
    solution = solve(lowered(text))
    assert solution.limited_by == "host.cpu.utilization"
    found = {s.parameter: s.elasticity for s in solution.sensitivity}

    def exact_limit(pace: float, part: float) -> float:
        per_packet = 0.01 * part + 0.01
        return (-3 + (9 + 4 * 0.8 / (pace * per_packet)) ** 0.5) / 2

    base, h = exact_limit(2, 0.4), 1e-6
    assert found["pace"] == pytest.approx((exact_limit(2 * (1 + h), 0.4) / base - 1) / h, rel=1e-4)
    assert found["part"] == pytest.approx((exact_limit(2, 0.4 * (1 + h)) / base - 1) / h, rel=1e-4)


@pytest.mark.parametrize(("cores", "limit", "largest"), [(4, 90, 100), (4, 10, 40), (1, 60, 60)])
def test_a_limit_of_a_processor_does_not_excuse_its_threads(
    cores: int, limit: int, largest: int
) -> None:
    text = PRELUDE + (
        f"machine quad {{ cpu {cores} cores }}\n"
        "component one { cpu 10 ms/packet single_thread }\n"
        "topology { node host = quad }\n"
        "stream flow { traffic N * 1 packet/s; at host { one } }\n"
        f"require {{ host.cpu.load <= {limit} % }}"
    )
    assert solve(lowered(text)).capacity == largest


def test_elasticities_take_a_rounding_as_constant_between_its_jumps() -> None:
    text = PRELUDE + ONE + (
        "param size = 23 packet\n"
        "stream flow { traffic N * ceil(size / (10 packet)) * 1 packet/s; at host { work } }\n"
        "require { host.cpu.load <= 80 % }"
    )  # fmt: skip
    found = {s.parameter: s.elasticity for s in solve(lowered(text)).sensitivity}
    assert "size" not in found
    assert found["limit of host.cpu.utilization"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("requirement", "verdict", "largest"),
    [
        ("host.cpu.load <= 50 %", CapacityVerdict.LIMITED, 50),
        ("host.cpu.load < 50 %", CapacityVerdict.LIMITED, 49),
        ("host.cpu.load <= 100 %", CapacityVerdict.LIMITED, 100),
        ("host.cpu.load <= 0 %", CapacityVerdict.NOWHERE, None),
        ("flow.latency <= 1 s", CapacityVerdict.LIMITED, 100),
        ("flow.loss <= 0 %", CapacityVerdict.LIMITED, 100),
        ("flow.rate >= 10 packet/s", CapacityVerdict.NOWHERE, None),
        ("calm <= 1", CapacityVerdict.LIMITED, 19),
        ("calm <= 1000", CapacityVerdict.LIMITED, 100),
    ],
)
def test_the_largest_acceptable_population(
    requirement: str, verdict: CapacityVerdict, largest: int | None
) -> None:
    text = PRELUDE + ONE + (
        "measure calm = (N - 20) * (N - 40) * -1 + 1\n"
        "stream flow { traffic N * 1 packet/s; at host { work } }\n"
        f"require {{ {requirement} }}\nquality worst"
    )  # fmt: skip
    if requirement == "calm <= 1":
        # above its limit strictly between 20 and 40, and at 21 first
        largest = 20
    solution = solve(lowered(text, "N = 1..1000"))
    assert (solution.verdict, solution.capacity) == (verdict, largest)


def test_quality_joins_its_axes() -> None:
    text = PRELUDE + ONE + (
        "measure a = 0.6\nmeasure b = N / 100\n"
        "stream flow { traffic 1 packet/s; at host { work } }\n"
        "require { a <= 1; b <= 1 }\n"
    )  # fmt: skip
    joined = solve(lowered(text + "quality euclidean"))
    assert joined.capacity == 80  # 0.6 and 0.8 make exactly 1
    assert joined.limited_by == "quality"
    assert solve(lowered(text)).capacity == 100
    assert solve(lowered(text + "quality worst")).capacity == 100
    assert solve(lowered(text + "quality = a + b")).capacity == 40


def test_a_floor_is_an_axis_with_its_ideal() -> None:
    text = PRELUDE + ONE + (
        "measure rate_seen = (33 - N) * 1 frame/s\n"
        "stream flow { traffic 1 packet/s; at host { work } }\n"
        "require { rate_seen >= 3 frame/s ideal 30 frame/s }"
    )  # fmt: skip
    solution = solve(lowered(text))
    assert solution.capacity == 30
    graph = lowered(text)
    assert graph.quality is not None
    values = [graph.at(n).number(graph.quality) for n in (1, 3, 30)]
    assert values == pytest.approx([0, 0, 1])


def test_roundings_are_flat_for_elasticities() -> None:
    solution = solve(
        lowered(
            PRELUDE + "param size = 3 in 1..9\nmeasure m = ceil(N / 7) * size\n"
            "topology { node host = box }\n"
            "stream flow { traffic N * 1 packet/s; at host { work } }\n"
            "require { m <= 20 }\n"
        )
    )
    assert solution.capacity == 42
    assert solution.sensitivity == ()


@pytest.mark.parametrize("idle", [5, 6, 8])
@pytest.mark.parametrize(
    "limit",
    ["target cpu 75 %", "require { host.cpu.load <= 75 % }", "require { host.cpu.load < 75 % }"],
)
def test_a_limit_that_falls_on_a_whole_number_moves_as_any_other(idle: int, limit: str) -> None:
    text = PRELUDE.replace("1..100", "1..50_000") + (
        f"machine vm {{ cpu 8 core, idle {idle} % }}\n"
        "component fan { cpu 40 us/packet }\nparam pace = 50 packet/s\n"
        "topology { node host = vm }\n"
        f"stream flow {{ traffic N * pace; at host {{ fan }} }}\n{limit}"
    )
    solution = solve(lowered(text))
    # Of 75 %, 75 % less what idles is left for 50 / s * 40 us / 8: 0.025 % a user.
    strict = "<" in limit and "=" not in limit
    assert solution.capacity == (75 - idle) * 40 - strict
    found = {s.parameter: s.elasticity for s in solution.sensitivity}
    assert found["pace"] == pytest.approx(-1)
    assert found["host.cpu.idle"] == pytest.approx(-idle / (75 - idle))
