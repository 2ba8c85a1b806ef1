"""Quality: the metrics are norms, and every requirement gives the axis that the reference says."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, lowered
from matrices.test_matrices import disagreements
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.quality_axes import joined_axes
from qps.compiler.pipeline import check_source
from qps.engine.expressions.formulas import ZERO, Formula, number
from qps.engine.expressions.point_values import in_floats
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.graph_solution import solve

law = settings(max_examples=examples(40), deadline=None)

Point = tuple[Fraction, ...]
METRICS = [ir.Metric.EUCLIDEAN, ir.Metric.WORST]
VALUES = st.fractions(-5, 5, max_denominator=40)
metrics = pytest.mark.parametrize("metric", METRICS)


@st.composite
def _points(draw: st.DrawFn, count: int, low: int = -5) -> tuple[Point, ...]:
    """Draw some points of one number of axes, from one axis up to six."""
    axes = draw(st.integers(1, 6))
    values = st.fractions(low, 5, max_denominator=40)
    return tuple(tuple(draw(st.lists(values, min_size=axes, max_size=axes))) for _ in range(count))


def _length(metric: ir.Metric, point: Point) -> Formula:
    return joined_axes(metric, [number(v) for v in point])


def _distance(metric: ir.Metric, one: Point, other: Point) -> Formula:
    return _length(metric, tuple(abs(a - b) for a, b in zip(one, other, strict=True)))


def _square(length: Formula) -> Fraction:
    """Return the square of a length, which is exact also where the length is a root."""
    square = (length**2).exact
    assert square is not None
    return square


# -- the metrics are norms -----------------------------------------------------------------


@metrics
@law
@given(_points(2))
def test_a_distance_is_symmetric(metric: ir.Metric, points: tuple[Point, Point]) -> None:
    one, other = points
    assert _distance(metric, one, other) == _distance(metric, other, one)


@metrics
@law
@given(_points(2), st.booleans())
def test_a_distance_is_zero_at_equal_points_only(
    metric: ir.Metric, points: tuple[Point, Point], same: bool
) -> None:
    one, other = (points[0], points[0]) if same else points
    distance = _distance(metric, one, other)
    assert in_floats(distance) >= 0
    assert (distance is ZERO) == (one == other)


@metrics
@law
@given(_points(3))
def test_no_way_round_is_shorter(metric: ir.Metric, points: tuple[Point, Point, Point]) -> None:
    one, middle, other = points
    straight = _square(_distance(metric, one, other))
    first = _square(_distance(metric, one, middle))
    second = _square(_distance(metric, middle, other))
    # c <= a + b  <=>  c^2 - a^2 - b^2 <= 2 a b, in squares so that no digit is lost
    over = straight - first - second
    assert over <= 0 or over**2 <= 4 * first * second


@metrics
@law
@given(_points(1), st.fractions(0, 9, max_denominator=20))
def test_a_distance_grows_in_proportion(
    metric: ir.Metric, points: tuple[Point], factor: Fraction
) -> None:
    point = tuple(abs(value) for value in points[0])
    scaled = tuple(factor * value for value in point)
    assert _square(_length(metric, scaled)) == factor**2 * _square(_length(metric, point))


@metrics
@law
@given(_points(1, low=0), st.integers(0, 5), st.fractions(0, 5, max_denominator=40))
def test_quality_grows_with_each_axis(
    metric: ir.Metric, points: tuple[Point], index: int, more: Fraction
) -> None:
    (point,) = points
    index %= len(point)
    poorer = (*point[:index], point[index] + more, *point[index + 1 :])
    assert _square(_length(metric, poorer)) >= _square(_length(metric, point))


def _onto_the_limit(metric: ir.Metric, point: Point) -> Point:
    """Return a point in the same direction that is just acceptable."""
    if metric is ir.Metric.WORST:
        far = max(point)
    else:
        squares = sum(value**2 for value in point)
        far = Fraction(isqrt(int(squares * 10**12)) + 2, 10**6)
    return tuple(value / far for value in point) if far else point


@metrics
@law
@given(_points(2, low=0), st.fractions(0, 1, max_denominator=20))
def test_between_two_acceptable_points_all_are(
    metric: ir.Metric, points: tuple[Point, Point], part: Fraction
) -> None:
    one, other = (_onto_the_limit(metric, point) for point in points)
    assert _square(_length(metric, one)) <= 1
    assert _square(_length(metric, other)) <= 1
    middle = tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
    assert _square(_length(metric, middle)) <= 1
    anywhere = tuple(part * a + (1 - part) * b for a, b in zip(one, other, strict=True))
    assert _square(_length(metric, anywhere)) <= 1


@law
@given(_points(1, low=0))
def test_worst_is_never_poorer_than_euclidean(points: tuple[Point]) -> None:
    worst, euclidean = (_square(_length(metric, points[0])) for metric in reversed(METRICS))
    assert worst <= euclidean <= len(points[0]) * worst


@pytest.mark.parametrize(
    ("axes", "euclidean", "worst"),
    [
        (["0.3"], "0.3", "0.3"),
        (["0.6", "0.8"], "1", "0.8"),
        (["2/7", "3/7", "6/7"], "1", "6/7"),
        (["0.5"] * 4, "1", "0.5"),
        (["0.1", "0.3", "0.3", "0.9"], "1", "0.9"),
        (["0.2", "0.4", "0.4", "0.8", "0", "0"], "1", "0.8"),
    ],
)
def test_metrics_by_hand(axes: list[str], euclidean: str, worst: str) -> None:
    point = tuple(Fraction(axis) for axis in axes)
    assert _length(ir.Metric.EUCLIDEAN, point) is number(Fraction(euclidean))
    assert _length(ir.Metric.WORST, point) is number(Fraction(worst))


# -- the axes of requirements --------------------------------------------------------------

ONE = "topology { node host = box }\nstream flow { traffic 1 packet/s; at host { work } }\n"


def _quality(graph: LoadGraph, population: int) -> Fraction:
    """Return the square of the quality, exactly."""
    assert graph.quality is not None
    return at(graph, graph.quality**2, population)


AXES = [
    # a floor: 27 frame/s from the ideal to the limit
    ("floor_at_its_limit", "m >= 3 frame/s ideal 30 frame/s", 3, "1"),
    ("floor_half_way", "2 * m >= 3 frame/s ideal 30 frame/s", 6, "2/3"),
    ("floor_at_its_ideal", "m >= 3 frame/s ideal 30 frame/s", 30, "0"),
    ("floor_better_than_ideal", "m >= 3 frame/s ideal 30 frame/s", 45, "0"),
    ("floor_missed", "m >= 3 frame/s ideal 30 frame/s", 1, "29/27"),
    ("ceiling_with_an_ideal", "m <= 100 frame/s ideal 20 frame/s", 60, "0.5"),
    ("ceiling_at_its_limit", "m <= 100 frame/s ideal 20 frame/s", 100, "1"),
    ("ceiling_better_than_ideal", "m <= 100 frame/s ideal 20 frame/s", 7, "0"),
    ("ceiling_without_an_ideal", "m <= 50 frame/s", 20, "0.4"),
    # below zero is better than the ideal of zero
    ("ceiling_below_zero", "m - 50 frame/s <= 25 frame/s", 20, "0"),
    ("ceiling_above_zero", "m - 50 frame/s <= 25 frame/s", 60, "0.4"),
    ("strict_limits_scale_alike", "m < 50 frame/s", 20, "0.4"),
    ("a_floor_without_ideal_is_none", "m <= 50 frame/s; m >= 1 frame/s", 20, "0.4"),
    ("a_limit_that_is_the_ideal_is_none", "m <= 50 frame/s; flow.loss <= 0 %", 20, "0.4"),
    ("a_load_is_none", "m <= 50 frame/s; host.cpu.load <= 2 %", 20, "0.4"),
    ("a_limit_by_a_parameter", "m <= top", 20, "0.5"),
    ("an_ideal_by_a_parameter", "m >= 5 frame/s ideal top", 12, "0.8"),
    # what is said twice counts once, as it is tightest
    ("said_twice", "m <= 50 frame/s; m <= 50 frame/s", 20, "0.4"),
    ("said_twice_and_implied", "m <= 200 frame/s; m <= 50 frame/s; m < 100 frame/s", 20, "0.4"),
    ("said_with_other_blanks", "2 * m <= 100 frame/s; 2*m <= 160 frame/s", 20, "0.4"),
    ("said_with_an_ideal", "m <= 50 frame/s; m <= 100 frame/s ideal 10 frame/s", 20, "0.4"),
    ("tighter_with_an_ideal", "m <= 50 frame/s; m <= 60 frame/s ideal 0 frame/s", 55, "1.1"),
    ("floors_said_twice", "m >= 3 frame/s ideal 30 frame/s; m >= 1 frame/s ideal 20 frame/s", 3,
     "1"),
    # accuracy is 100 % - 20 * 0.1 %
    ("a_measure_of_ones_own", "accuracy >= 95 % ideal 100 %", 20, "0.4"),
    ("several_axes", "m <= 50 frame/s; m / 2 <= 100 frame/s ; accuracy >= 90 % ideal 100 %", 20,
     None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("requirements", "population", "expected"), [pytest.param(*c[1:], id=c[0]) for c in AXES]
)
def test_axes(requirements: str, population: int, expected: str | None) -> None:
    text = PRELUDE + ONE + (
        "param top = 40 frame/s\nmeasure m = N * 1 frame/s\n"
        f"measure accuracy = 1 - N * 0.1 %\nrequire {{ {requirements} }}"
    )  # fmt: skip
    squares = (
        # 0.4, 0.1 and 0.2
        Fraction("0.16") + Fraction("0.01") + Fraction("0.04")
        if expected is None
        else Fraction(expected) ** 2
    )
    assert _quality(lowered(text + "\nquality euclidean"), population) == squares
    worst = Fraction("0.16") if expected is None else squares
    for metric in ("", "\nquality worst"):
        assert _quality(lowered(text + metric), population) == worst


def test_jitter_is_an_axis() -> None:
    text = (
        PRELUDE + "machine odd { cpu 1 core, jitter 2 ms^2 * load }\n"
        "topology { node host = odd }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
        "require { flow.jitter <= 4 ms^2 }"
    )
    # half loaded at 50: 1 of 4 ms^2
    graph = lowered(text)
    assert at(graph, graph.criteria[0].measure, 50) == Fraction(1, 10**6)
    assert _quality(graph, 50) == Fraction(1, 16)


def test_kinds_of_loss_and_the_buffer_are_axes() -> None:
    text = (
        PRELUDE + "component thin { drop 3 % }\ntopology { node host = box }\n"
        "stream flow { traffic 1 packet/s; at host { thin }; playout 20 ms }\n"
        "require { flow.voluntary_loss <= 6 %; flow.buffer <= 80 ms }\nquality euclidean"
    )
    assert _quality(lowered(text), 1) == Fraction(1, 4) + Fraction(1, 16)


def test_a_spec_of_no_axis_has_no_quality() -> None:
    for requirement in ("flow.loss <= 0 %", "host.cpu.load <= 50 %", "flow.rate >= 1 packet/s"):
        assert lowered(PRELUDE + ONE + f"require {{ {requirement} }}").quality is None
    assert solve(lowered(PRELUDE + ONE)).quality_at_limit is None


def test_a_limit_that_is_the_ideal_still_holds() -> None:
    text = PRELUDE + (
        "topology { node host = box }\nstream flow { traffic N * 4 packet/s; at host { work } }\n"
        "require { flow.loss <= 0 %; host.cpu.load <= 100 % }"
    )  # fmt: skip
    solution = solve(lowered(text))
    assert (solution.capacity, solution.limited_by) == (25, "flow.loss")


GAP = PRELUDE + ONE + "param least = 30\nmeasure gap = N - 200\nrequire { gap <= 0 - least }\n"


@pytest.mark.parametrize(
    ("least", "largest", "limited_by"),
    [(150, 50, "gap"), (120, 80, "gap"), (0, 100, None), (-60, 100, None)],
)
def test_a_limit_below_zero_is_met_or_not(least: int, largest: int, limited_by: str | None) -> None:
    # Of no ideal that is stated: a gap of -150 would be at 1.5 of the way from 0 to -100.
    solution = solve(lowered(GAP.replace("= 30", f"= {least}")))
    assert (solution.capacity, solution.limited_by) == (largest, limited_by)
    assert (solution.quality_at_limit is None) is (least >= 0)


def test_rows_of_a_matrix_may_have_limits_above_and_below_zero() -> None:
    spec = qps.loads(GAP + "matrix limits { least in [150, 100, 0, -60] }\n")
    found = spec.matrix().to_arrow().to_pylist()
    assert [row["capacity"] for row in found] == [50, 100, 100, 100]


@pytest.mark.parametrize(("limit", "is_fine"), [(60, True), (50, True), (40, False)])
def test_an_ideal_that_is_worse_than_the_limit_is_refused_by_parameters_too(
    limit: int, *, is_fine: bool
) -> None:
    text = GAP + f"param most = {limit}\nparam best = 50\nmeasure now = N\n"
    outcome = check_source(Source("spec.qps", text + "require { now <= most ideal best }\n"))
    diagnostic = [one.message for one in outcome.diagnostics]
    better = "the difference between ideal and limit of `now` must be zero or more"
    assert (better in diagnostic) is not is_fine


def test_a_formula_is_the_quality() -> None:
    text = PRELUDE + ONE + (
        "measure a = N / 100\nmeasure b = N / 50\nrequire { a <= 1; b <= 1 }\n"
        "quality = (a + 3 * b) / 4"
    )  # fmt: skip
    graph = lowered(text)
    # 0.2 and 0.4: 0.35
    assert graph.quality is not None
    assert at(graph, graph.quality, 20) == Fraction("0.35")
    # b alone passes 1 above 50; the formula only above 57
    assert solve(graph).limited_by == "b"
    loose = lowered(text.replace("b <= 1", "b <= 2"))
    assert (solve(loose).capacity, solve(loose).limited_by) == (57, "quality")


FOUR = (
    PRELUDE
    + ONE
    + "".join(f"param {name} = 0.3\nmeasure m_{name} = {name}\n" for name in "abcd")
    + "require { m_a <= 1; m_b <= 2; m_c <= 3 ideal 1; m_d >= 0 ideal 1 }\n"
)


@pytest.mark.parametrize("metric", ["euclidean", "worst"])
@law
@given(st.lists(st.fractions(0, 4, max_denominator=20), min_size=4, max_size=4))
def test_four_axes_are_joined_as_the_reference_says(metric: str, values: list[Fraction]) -> None:
    graph = _FOUR[metric]
    result = graph.quality
    assert result is not None
    put_in = {
        graph.assumptions[name].symbol: number(v) for name, v in zip("abcd", values, strict=True)
    }
    a, b, c, d = values
    axes = [a, b / 2, max(Fraction(0), (c - 1) / 2), max(Fraction(0), 1 - d)]
    expected = max(axes) ** 2 if metric == "worst" else sum(axis**2 for axis in axes)
    assert at(graph, substituted(result**2, put_in), 1) == expected


_FOUR = {metric: lowered(FOUR + f"quality {metric}") for metric in ("euclidean", "worst")}


def test_equal_limits_of_four_axes_leave_half_of_each() -> None:
    measures = "".join(f"measure m{i} = N / 100\n" for i in range(4))
    limits = "require { m0 <= 1; m1 <= 1; m2 <= 1; m3 <= 1 }\n"
    text = PRELUDE + ONE + measures + limits
    assert solve(lowered(text + "quality euclidean")).capacity == 50
    assert solve(lowered(text + "quality worst")).capacity == 100
    assert solve(lowered(text)).capacity == 100


@pytest.mark.parametrize("metric", ["euclidean", "worst"])
def test_a_bound_that_is_said_twice_changes_no_answer(metric: str) -> None:
    text = PRELUDE.replace("1..100", "1..1000") + ONE + f"measure x = N\nquality {metric}\n"
    for stated in ("x <= 100", "x <= 100; x <= 100; x <= 200", "x <= 150 ideal 30; x <= 100"):
        assert solve(lowered(f"{text}require {{ {stated} }}")).capacity == 100


@pytest.mark.parametrize(
    ("stated", "left"),
    [
        ("x <= 100; x <= 100", ["x <= 100"]),
        ("x <= 100; accuracy >= 90 %; x <= 50", ["x <= 50", "accuracy >= 90 %"]),
        ("x < 100; x <= 100", ["x < 100"]),
        ("x <= 100; x < 100; x < 101", ["x < 100"]),
        ("accuracy >= 90 %; accuracy >= 95 %", ["accuracy >= 95 %"]),
        ("x <= 100 ideal 5; x <= 90 ideal 5", ["x <= 90 ideal 5"]),
        ("x >= 2; x <= 100", ["x >= 2", "x <= 100"]),
        # an ideal makes another axis, a parameter may move
        ("x <= 100 ideal 5; x <= 90", ["x <= 100 ideal 5", "x <= 90"]),
        ("x <= 100; x <= top", ["x <= 100", "x <= top"]),
    ],
)
def test_of_what_is_said_twice_the_tighter_is_left(stated: str, left: list[str]) -> None:
    text = PRELUDE + ONE + "param top = 60\nmeasure x = N\nmeasure accuracy = 1 - N * 0.1 %\n"
    graph = lowered(f"{text}require {{ {stated} }}")
    named = [one for one in graph.criteria if one.span is not None]
    assert [one.span.text for one in named if one.span is not None] == left
    fewer = lowered(f"{text}require {{ {'; '.join(left)} }}")
    assert solve(graph).capacity == solve(fewer).capacity
    assert solve(graph).quality_at_limit == solve(fewer).quality_at_limit


def test_requirements_of_a_mode_are_added_to_repeated_ones() -> None:
    """Rows of a matrix look at the same requirements as the graph that they are made of."""
    text = PRELUDE + ONE + (
        "param top = 60 in 0.5..200\nmeasure x = N\nmeasure y = N / 2\n"
        "require { y <= 70; x <= 90; x <= 100; y <= 80 }\n"
        "mode calm { y <= top; x <= 80; x <= 95 }\n"
        "matrix tops { top in [10, 30, 90, 100] }\n"
    )  # fmt: skip
    assert disagreements(text) == []
