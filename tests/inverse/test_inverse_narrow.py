"""The question turned round where what fails is narrow, refused, or cannot be told by bounds.

Every boundary is a plain fraction by construction: `exp(x) <= 1` holds where `x <= 0`, and so on.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.formulas import R, ceil, exp, log
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import EXACT, CertaintyKind
from qps.engine.expressions.formulas import Formula, apply, number, square_root, symbol
from qps.engine.queueing_networks.product_form import closed_wait
from qps.reports.text.changes.inverse_text import inverse_answer, inverse_text
from qps.reports.text.changes.sizing_text import sizing_text
from qps.solver.search.boxes import Budget
from qps.solver.search.sign_changes import changes_of
from qps.solver.what_if.boundaries import Excess, Failure, boundaries_of
from qps.solver.what_if.inverse import InverseSolution, solve_for
from qps.solver.what_if.sizing import size

X = symbol("x")
SAW = "ceil(1000000000 * p) - 1000000000 * p"
law = settings(max_examples=examples(25), deadline=None)

# p stands in measures alone; the load is N / 100
FREE = (
    "param p = {now} in {range}\nquality worst\ntopology {{ node host = box }}\n"
    "stream flow {{ traffic N * ({rate}) * 1 packet/s; at host {{ work }} }}\n"
    "measure m = {measure}\nrequire {{ m {limit} }}\n"
)
PLACES = (
    "machine bought {{ cpu 1 core; price 100 $ }}\nparam panels = 60 in 1..100000\nquality worst\n"
    "topology {{ node host = bought * panels\n node user = box * N }}\n"
    "stream flow for each user {{ traffic 50 packet/s; at host {{ work }} }}\n"
    "measure m = {measure}\nrequire {{ m {limit} }}\n"
)


def _solved(text: str, name: str, population: int) -> InverseSolution:
    spec = checked(PRELUDE + text)
    return solve_for(spec.model, spec.configuration(None, []), name, population)


def _requested(range_: str, measure: str, limit: str, rate: str = "1") -> InverseSolution:
    return _solved(
        FREE.format(
            now=range_.split("..")[1], range=range_, measure=measure, limit=limit, rate=rate
        ),
        "p",
        7,
    )


def _ends(found: InverseSolution) -> list[tuple[float, float]]:
    return [(one.low, one.high) for one in found.intervals]


# -- narrow windows ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "limit"),
    [
        ("exp(1000 * (p - 0.30001) * (0.30002 - p))", "<= 1"),
        ("ln(1 + (p - 0.30001) * (0.30002 - p))", "<= 0"),
        ("sqrt(abs(p - 0.300015))", ">= sqrt(0.000005)"),
        ("abs(ceil(100000 * p) - 30002)", ">= 0.5"),  # above 0.30001, up to 0.30002
        ("exp(2000 * (p - 0.30001) * (p - 0.30002) * (p + 1))", ">= 1"),
    ],
)
def test_what_fails_in_a_narrow_window_alone_is_seen(measure: str, limit: str) -> None:
    found = _requested("0..1", measure, limit)
    (before, after) = _ends(found)
    assert before == pytest.approx((0, 0.30001), abs=1e-12)
    assert after == pytest.approx((0.30002, 1), abs=1e-12)
    assert found.known == EXACT


def test_what_holds_in_a_narrow_window_alone_is_seen() -> None:
    found = _requested("0..1000000", "ln(1 + abs(p - 777.15))", "<= ln(1.05)")
    (only,) = _ends(found)
    assert only == pytest.approx((777.1, 777.2), abs=1e-10)
    assert found.known == EXACT


def test_a_whole_number_that_is_bad_alone_is_seen() -> None:
    # 1 at the bad number, 1/e beside it
    measure = "exp(-abs(panels - 4711))"
    found = _solved(PLACES.format(measure=measure, limit="<= 0.5"), "panels", 100)
    assert _ends(found) == [(50, 4710), (4712, 100_000)]
    assert found.known == EXACT


@pytest.mark.parametrize(
    ("range_", "measure", "limit", "ends"),
    [
        ("0..10", "abs(p - 3)", "<= 0", [(3, 3)]),
        ("0..10", "exp((p - 3)^2)", "<= 1", [(3, 3)]),
        ("0..10", "exp((p - 0.3)^2 * (p - 7)^2)", "<= 1", [(0.3, 0.3), (7, 7)]),
        ("0..10", "max(3 - p, p - 3)", "<= 0", [(3, 3)]),
        ("0..10", "ceil(p)", "<= 0.5", [(0, 0)]),
        ("0..10", "floor(p) * exp(p / 1e9)", ">= 10", [(10, 10)]),
    ],
)
def test_a_value_that_does_alone_is_seen(
    range_: str, measure: str, limit: str, ends: list[tuple[float, float]]
) -> None:
    found = _requested(range_, measure, limit)
    assert _ends(found) == ends
    assert found.known == EXACT


def test_a_whole_number_that_does_alone_is_seen() -> None:
    found = _solved(PLACES.format(measure="(panels - 4711)^2", limit="<= 0"), "panels", 100)
    assert _ends(found) == [(4711, 4711)]


# -- where there is no value, or the spec refuses it ---------------------------------------


@pytest.mark.parametrize(
    "measure",
    [
        "sqrt((p - 1) * (p - 2))",
        "ln(abs(p - 1.5) - 0.5)",
        "p + exp(p) * ln((p - 1) * (p - 2)) / 1000000",
    ],
)
def test_what_has_no_value_in_the_middle_third_is_left_out(measure: str) -> None:
    found = _requested("0..3", measure, "<= 100")
    (before, after) = _ends(found)
    assert before == pytest.approx((0, 1), abs=1e-12)
    assert after == pytest.approx((2, 3), abs=1e-12)
    assert found.known == EXACT


def test_what_is_refused_in_the_middle_third_is_left_out_for_that_reason() -> None:
    found = _requested("0..3", "exp(p)", "<= 1000", rate="(p - 1) * (p - 2)")
    (before, after) = found.intervals
    assert (before.low, before.high, after.low, after.high) == (0, 1, 2, 3)
    assert before.high_is_open
    assert after.low_is_open
    assert before.fails_above is not None
    assert before.fails_above.refused
    assert found.known == EXACT


def test_a_window_next_to_a_refused_text_is_seen() -> None:
    measure = "exp(1000 * (p - 2.30001) * (2.30002 - p)) + sqrt((p - 1) * (p - 2)) / 1e18"
    found = _requested("0..3", measure, "<= 1", rate="(p - 1) * (p - 2)")
    ends = [end for interval in _ends(found) for end in interval]
    assert ends == pytest.approx([0, 1, 2, 2.30001, 2.30002, 3], abs=1e-12)
    assert found.known == EXACT


def test_a_pole_between_what_holds_is_open() -> None:
    found = _requested("0..10", "exp(-1 / (p - 3)^2)", "<= 2")
    assert [(i.low, i.low_is_open, i.high, i.high_is_open) for i in found.intervals] == [
        (0, False, 3, True),
        (3, True, 10, False),
    ]
    assert found.known == EXACT


# -- what bounds do not tell ---------------------------------------------------------------


def test_what_bounds_do_not_decide_is_reported_with_its_place_and_a_hint() -> None:
    found = _requested("1..2", SAW, "<= 0.5")
    assert found.known.kind is CertaintyKind.LOWER_BOUND
    assert not found.intervals
    (reason,) = found.known.reasons
    assert "`m`" in reason
    assert "p from 1 to 2" in reason
    assert "narrower range" in reason
    assert reason in inverse_text(found, width=1000)
    assert inverse_answer(found).startswith(
        "It is unknown whether any value of p supports 7 users "
    )


def test_a_rounding_of_a_number_does_not_jump() -> None:
    found = _requested("0..10", "ceil(ln(10) * 2) * exp(p)", "<= 5 * exp(3)")
    assert _ends(found) == [(0, pytest.approx(3, rel=1e-12))]
    assert found.known == EXACT


@pytest.mark.parametrize(
    ("measure", "limit", "do"),
    [(SAW, "<= 1.01", True), (SAW, ">= 1.01", False), (f"exp({SAW})", "<= 3", True)],
)
def test_what_jumps_all_the_time_is_reported_where_its_size_does(
    measure: str, limit: str, *, do: bool
) -> None:
    found = _requested("1..2", measure, limit)
    assert _ends(found) == ([(1, 2)] if do else [])
    assert found.known == EXACT


def test_undecided_bounds_do_not_matter_where_another_fails() -> None:
    found = _requested("1..2", SAW, "<= 0.5", rate="100")
    assert not found.intervals
    assert found.known == EXACT


def test_what_capacities_would_do_is_not_reported_where_bounds_are_inconclusive() -> None:
    load = "host.cpu.utilization"
    saw = f"ceil({load} * 1000000000) - {load} * 1000000000 + {load}"
    text = FREE.format(now=1, range="1..2", rate="1", measure=saw, limit="<= 0.5")
    spec = checked(PRELUDE + text)
    found = size(spec.model, spec.configuration(None, []), 60)
    assert not found.fixes
    assert found.fixes_known.kind is CertaintyKind.APPROXIMATION
    sentence = sizing_text(found, "spec", width=1000)
    assert "it is unknown whether more capacity for one resource is enough" in sentence
    assert "from 1 to 1000000 times; use fewer rounding functions" in sentence


# -- laws ----------------------------------------------------------------------------------

_places = st.lists(st.integers(1, 9999), min_size=1, max_size=4, unique=True).map(sorted)


def _product(places: list[int], scale: int) -> Formula:
    found: Formula = R(1, 1)
    for place in places:
        found = found * (scale * (X - R(place, 10_000)))
    return found


@law
@given(_places, st.sampled_from(["exp", "ln", "sqrt", "ceil"]), st.integers(1, 50))
def test_all_changes_are_found_and_nothing_else(places: list[int], word: str, scale: int) -> None:
    inner = _product(places, scale)
    value = {
        "exp": exp(inner) - 1,
        "ln": log(inner + R(7, 3)) - log(R(7, 3)),
        "sqrt": R(1, 1) - square_root(1 + inner),
        "ceil": exp(ceil(inner)) - 1,
    }[word]
    over = Excess(failure=Failure("m", None), value=value, strict=False)
    low, high = Fraction(0), Fraction(1)
    found = boundaries_of([over], X, (low, high))
    assert found.known == EXACT
    ends = [low, *found.points, high]

    def fails(at: Fraction) -> bool:
        product = Fraction(1)
        for place in places:
            product *= scale * (at - Fraction(place, 10_000))
        if word == "ln":
            return product > 0 or product + Fraction(7, 3) <= 0
        return -1 <= product < 0 or product < -1 if word == "sqrt" else product > 0

    for one in range(201):
        at = Fraction(one, 200)
        index = max(k for k, end in enumerate(ends[:-1]) if end <= at)
        near = min(abs(at - end) for end in ends)
        if near > Fraction(1, 10**9):
            middle = (ends[index] + ends[index + 1]) / 2
            assert fails(at) == over.fails(X, middle), (at, ends)


# -- fewer users ---------------------------------------------------------------------------------

FEWER = """users N in 1..20
param p = 1 in 0..10
machine box {{ cpu 1 core }}
component work {{ cpu 1 ms/request }}
topology {{ node web = box }}
stream orders {{ traffic N * 1 request/s; at web {{ work }} }}
measure m = {measure}
require {{ m <= {limit} }}
"""


def carried_by(measure: str, limit: str, users: int) -> InverseSolution:
    spec = checked(FEWER.format(measure=measure, limit=limit))
    return solve_for(spec.model, spec.configuration(None, ()), "p", users)


def test_that_fewer_users_fail_between_the_ends_is_not_reported_as_exact() -> None:
    """With p = 5 only 2 users are carried: the ends of the range do not show it."""
    found = carried_by("0.5 - ((p - 5)^2 + (N - 3)^2)", "0", 7)
    assert [(one.low, one.high) for one in found.intervals] == [(0.0, 10.0)]
    assert found.known.kind is CertaintyKind.UPPER_BOUND
    assert "populations below 7 " in found.known.reasons[0]


@pytest.mark.parametrize(
    ("measure", "limit"),
    [
        ("p * N", "21"),
        ("N * N + p", "58"),
        ("N / (p + 1) + 0 * p", "3"),
        ("p", "5"),
        ("p + 0.5", "5.5"),
    ],
)
def test_what_grows_with_the_users_holds_for_fewer(measure: str, limit: str) -> None:
    assert carried_by(measure, limit, 7).known is EXACT


@law
@given(
    st.tuples(*[st.integers(-3, 3)] * 6),
    st.integers(2, 12),
    st.integers(-20, 60),
)
def test_what_is_exact_carries_fewer_everywhere(
    numbers: tuple[int, ...], users: int, limit: int
) -> None:
    a, b, c, d, e, f = numbers
    measure = f"{a} * N^2 + {b} * N * p + {c} * p^2 + {d} * N + {e} * p + {f}"
    try:
        found = carried_by(measure, str(limit), users)
    except QpsError:
        return  # fewer fail at an end: told so
    if not found.known.is_exact:
        return

    def holds(n: int, p: float) -> bool:
        return a * n * n + b * n * p + c * p * p + d * n + e * p + f <= limit + 1e-6

    for one in found.intervals:
        for part in range(11):
            p = one.low + (one.high - one.low) * part / 10
            assert all(holds(n, p) for n in range(1, users + 1)), (measure, p)


def test_boxes_are_not_halved_below_the_resolution_of_bounds() -> None:
    """Bounds of a wait of users are wider than the digits of floats, also at one point."""
    rest = (1, 0, 1, Fraction(1, 20), 1, 0, 1)
    wait = apply("closed_wait", number(20), number(5), X, *map(number, map(Fraction, rest)))
    over = wait - 3 * X - number(Fraction(closed_wait(20, 5, 0.4, *map(float, rest)) - 1.2))
    budget = Budget(4000)
    found = changes_of(over, X, (Fraction(1, 100), Fraction(2)), budget, strict=False)
    assert [float(at) for at in found.points if abs(at - Fraction(2, 5)) < 1e-8]
    assert all(abs(at - Fraction(2, 5)) < 1e-6 for one in found.undecided for at in one)
    assert budget.boxes > 3600
