"""Errors that were measured on random networks: which labels state them, and which do not."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from pathlib import Path

import pytest
from msgspec.structs import replace

from helpers.reasons import reason
from qps.compiler.lower.label_doubts import MOST_RARE
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities import measured_errors
from qps.compiler.quantities.certainty import CertaintyKind, approximation, upper_bound
from qps.compiler.quantities.measured_errors import (
    FAR_UNEQUAL_SERVICES,
    SATURATION_METHODS,
    ErrorAxis,
    ErrorQuantity,
    ErrorRow,
    Errors,
    measured,
    table,
)
from qps.compiler.quantities.methods import METHODS
from simulated.judge import graph_of


def _row(
    *methods: str, error: float | None, at_most: dict[ErrorAxis, float] | None = None
) -> ErrorRow:
    methods_of = frozenset(methods)
    return ErrorRow(
        methods=methods_of, error=error, numbers=100, networks=50, at_most=at_most or {}
    )


_ERRORS = Errors(
    methods=frozenset("abc"),
    rows=(_row("a", "b", error=None), _row("b", error=0.4), _row(error=0.1)),
)


@pytest.mark.parametrize(
    ("methods", "error"),
    [("c", 0.1), ("cb", 0.4), ("ab", None), ("a", 0.1)],
)
def test_the_first_row_counts_whose_methods_all_have_a_part(
    methods: str, error: float | None
) -> None:
    row = _ERRORS.row_of(methods)
    assert row is not None
    assert row.error == error


_AT_POINTS = Errors(
    methods=frozenset("abc"),
    rows=(_row(error=0.3),),
    at_points=(
        _row("a", error=0.05, at_most={ErrorAxis.WAITING: 0.2, ErrorAxis.METHODS: 3}),
        _row(error=0.15, at_most={ErrorAxis.WAITING: 0.5, ErrorAxis.UTILIZATION: 0.8}),
        _row("b", error=None),
        _row(error=0.6, at_most={ErrorAxis.METHODS: 2}),
        _row(error=0.8),
    ),
)


def _at(waiting: float, utilization: float = 0.5) -> dict[ErrorAxis, float]:
    return {ErrorAxis.WAITING: waiting, ErrorAxis.UTILIZATION: utilization}


@pytest.mark.parametrize(
    ("methods", "points", "error"),
    [
        ("acd", [_at(0.1)], None),  # `d` was never played
        ("abc", [], 0.3),
        ("abc", [_at(0.1)], 0.05),
        ("abc", [_at(0.1), _at(0.4)], 0.15),
        ("abc", [_at(0.1), _at(0.4, 0.9)], None),
        ("abc", [_at(0.1), {ErrorAxis.UTILIZATION: 0.5}], None),
        # One or two methods state 0.4 of themselves, of all points.
        ("ac", [_at(0.1)], 0.05),
        ("ac", [_at(0.4)], 0.15),
        ("ac", [_at(0.6)], 0.4),
    ],
)
def test_an_error_is_that_of_the_worst_end_of_a_range(
    monkeypatch: pytest.MonkeyPatch,
    methods: str,
    points: list[dict[ErrorAxis, float]],
    error: float | None,
) -> None:
    monkeypatch.setattr(measured_errors, "table", lambda: {ErrorQuantity.LATENCY: _AT_POINTS})
    known = approximation(*map(reason, methods), error=None if len(methods) > 2 else 0.4)
    assert measured(known, ErrorQuantity.LATENCY, points=points).error == error


@pytest.mark.parametrize(
    ("methods", "waiting", "error"), [("ac", 0.4, 0.15), ("ac", 0.6, 0.3), ("bc", 0.6, 0.3)]
)
def test_what_few_methods_state_of_themselves_is_else_that_of_the_points(
    monkeypatch: pytest.MonkeyPatch, methods: str, waiting: float, error: float
) -> None:
    monkeypatch.setattr(measured_errors, "table", lambda: {ErrorQuantity.LATENCY: _AT_POINTS})
    known = approximation(*map(reason, methods))
    assert measured(known, ErrorQuantity.LATENCY, points=[_at(waiting)]).error == error


def test_the_error_of_a_share_goes_by_how_much_of_the_latency_is_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = (_row(error=0.1, at_most={ErrorAxis.WAITING: 0.9}), _row(error=0.7))
    errors = Errors(methods=frozenset(METHODS), rows=rows[1:], at_points=rows)
    monkeypatch.setattr(measured_errors, "table", lambda: {ErrorQuantity.SHARE_BEYOND: errors})
    stream = _graph().streams["s"]
    assert {0.1 < one[ErrorAxis.WAITING] <= 0.9 for one in stream.doubts.points} == {True}
    shares = [0.3] * len(stream.doubts.points)
    known = stream.share_certainty(ErrorQuantity.SHARE_BEYOND, shares)
    assert known.error == 0.1
    assert (
        stream.doubts.of_share(shares).known_in_part(known, ErrorQuantity.SHARE_BEYOND).error == 0.7
    )


def test_of_a_method_that_was_never_played_nothing_is_stated() -> None:
    assert _ERRORS.row_of("ad") is None


def test_errors_are_those_of_methods_in_the_table() -> None:
    for errors in table().values():
        assert errors.methods <= METHODS.keys()


def test_what_is_no_approximation_keeps_its_label() -> None:
    assert measured(upper_bound(reason("so")), ErrorQuantity.LATENCY) == upper_bound(reason("so"))
    unknown = approximation(reason("as nobody has played it"), error=0.3)
    assert measured(unknown, ErrorQuantity.LATENCY) == unknown


def test_each_list_ends_with_what_all_others_are_within() -> None:
    for quantity, errors in table().items():
        for rows in (errors.rows, errors.at_points):
            assert (rows[-1].methods, rows[-1].at_most) == (frozenset(), {}), quantity
        for row in (*errors.rows, *errors.at_points):
            assert row.methods <= errors.methods
            assert row.error is None or 0 < row.error <= 1
            assert row.error is None or row.networks >= 28


_SPEC = """
users N in 1..2
machine m {{ cpu 2 core, queueing mgc cv {cv} }}
component c {{ cpu 0.2 s/request }}
component d {{ cpu {long} s/request }}
topology {{ node a = m }}
{extra}
stream s in all {{ traffic 1 request/s; arrivals cv {arrivals}; at a {{ c }} }}
stream t in all {{ traffic {rate} request/s; at a {{ d }} }}
"""


def _graph(**values: str) -> LoadGraph:
    plain = {"cv": "2", "long": "0.3", "rate": "1", "arrivals": "1.5", "extra": ""}
    return graph_of(_SPEC.format(**(plain | values)))


def test_an_error_is_stated_of_what_is_like_random_networks() -> None:
    stream = _graph().streams["s"]
    known = stream.latency_certainty
    assert known.kind is CertaintyKind.APPROXIMATION
    rows = table()[ErrorQuantity.LATENCY].rows_at(known.methods, stream.doubts.points)
    assert known.error == max(row.error or inf for row in rows)


_QUEUES = """
users N in 1..{most}
machine m {{ cpu 2 core, queueing mgc cv 1.5 }}
component c {{ cpu 100 ms/request }}
component pause {{ delay {pause} }}
topology {{ node a = m; node b = m; link l = wire between a, b }}
network wire {{ propagation 1 us }}
stream s in all {{ traffic N * 1 request/s, 1 bit/request; at a {{ c; pause; call b {{ c }} }} }}
stream t in all {{ traffic 2 request/s, 1 bit/request; arrivals cv 1.5; at b {{ c }} }}
"""


def _latency_error(most: int, pause: str) -> float:
    known = graph_of(_QUEUES.format(most=most, pause=pause)).streams["s"].latency_certainty
    assert known.error is not None
    return known.error


def test_an_error_of_waits_counts_in_proportion_to_what_is_waited() -> None:
    """And where the range goes beyond saturation, as much as in any network."""
    near, far = _latency_error(12, "5 s"), _latency_error(17, "1 us")
    assert near < far
    assert _latency_error(30, "5 s") == _latency_error(30, "1 us")


_FAR_APART = """
users N in 1..2
machine m {{ cpu 1 core, queueing mm1 }}
component short {{ cpu 10 ms/request }}
component long {{ cpu 80 ms/request }}
topology {{ node a = m; node b = m; link l = wire between a, b }}
network wire {{ propagation 1 us }}
stream s in all {{
  traffic 6 request, 1 bit/request, think {think} s; at a {{ short }}; at b {{ short }}
}}
stream t in all {{
  traffic 6 request, 1 bit/request, think {think} s; at a {{ long }}; at b {{ short }}
}}
"""


def _far_apart_errors(think: float) -> list[float | None]:
    """Return the errors of what short services wait behind long ones."""
    stream = graph_of(_FAR_APART.format(think=think)).streams["s"]
    shares = [0.3] * len(stream.doubts.points)
    each = (
        stream.latency_certainty,
        stream.arriving_known,
        stream.quantile_certainty(Fraction(95, 100)),
        stream.share_certainty(ErrorQuantity.SHARE_BEYOND, shares),
    )
    assert all(FAR_UNEQUAL_SERVICES in one.methods for one in each)
    return [one.error for one in each]


def test_far_unequal_services_state_errors_by_what_is_waited_and_below_the_knee() -> None:
    """Beyond both, with all resources below 90 %, a rate was 2.7 times the simulated one."""
    seldom, rarely, often, full = map(_far_apart_errors, (100, 5, 1, 0.1))
    assert seldom == [0.15, 0.1, 0.3, 0.5]
    assert rarely == [0.5, 0.2, 0.5, 1.0]
    assert often == [0.8, 0.4, 0.8, None]
    assert full == [None, None, 0.9, None]


_DELAYED = """
users N in 1..2
machine m { cpu 2 core, queueing mmc }
machine full { cpu 1 core }
component c { cpu 20 ms/request }
component limited { cpu 100 ms/request }
topology { node a = m; node b = full; link l = wire between a, b }
network wire { propagation 1 us }
stream s in all { traffic 30 request, 1 bit/request, think 2 s; at a { c }; at b { limited } }
stream t in all { traffic 9 request, 1 bit/request, think 2 s; at a { c }; at b { limited } }
"""


@pytest.mark.parametrize(("share", "error"), [(0.3, 1.0), (0.06, 1.0), (0.01, None)])
def test_shares_of_users_who_are_held_up_state_errors_unless_they_are_small(
    share: float, error: float | None
) -> None:
    stream = graph_of(_DELAYED).streams["s"]
    shares = [share] * len(stream.doubts.points)
    known = stream.share_certainty(ErrorQuantity.SHARE_BEYOND, shares)
    assert known.methods & SATURATION_METHODS
    assert known.error == error
    assert stream.latency_certainty.error == 0.1


def test_points_are_those_of_the_ends_of_the_range() -> None:
    points = graph_of(_QUEUES.format(most=12, pause="1 s")).streams["s"].doubts.points
    assert [round(one[ErrorAxis.UTILIZATION], 9) for one in points] == [0.15, 0.7]
    shares = [one[ErrorAxis.WAITING] for one in points]
    assert 0 < shares[0] < shares[1] < 0.2


def test_what_a_method_states_above_a_factor_of_two_is_as_what_was_measured() -> None:
    ((method, *_), *_) = [row.methods for row in table()[ErrorQuantity.LATENCY].rows if row.error]
    result = approximation(reason(method), error=1.1)
    error = table()[ErrorQuantity.LATENCY].row_of([method]).error  # type: ignore[union-attr]
    assert measured(result, ErrorQuantity.LATENCY).error == error
    assert measured(approximation(reason(method), error=0.9), ErrorQuantity.LATENCY).error == 0.9


@pytest.mark.parametrize(
    "beyond",
    [
        {"cv": "3.5"},
        {"long": "4", "rate": "0.02"},
        {"arrivals": "4"},
        {"cv": "wide", "extra": "param wide = 4"},
    ],
)
def test_beyond_what_was_drawn_no_measured_error_is_stated(beyond: dict[str, str]) -> None:
    for name in ("s", "t"):
        assert not _graph(**beyond).streams[name].doubts.is_like_drawn
    assert _graph().streams["t"].doubts.is_like_drawn
    # Twelve times as long, and as often: what all take varies less than what was drawn.
    assert _graph(long="2.4", rate="0.6").streams["t"].doubts.is_like_drawn
    within = {"cv": "wide", "extra": "param wide = 2.5"}
    assert _graph(**within).streams["t"].doubts.is_like_drawn


_WAITS = """
measure wait = b.cpu.wait
measure many = b.cpu.queue
measure p95 = b.cpu.wait.p95
measure later = share(b.cpu.wait > 50 ms)
measure by_then = share(b.cpu.wait <= 50 ms)
measure of_stream = s.wait
measure share_of_stream = share(s.latency > 1 s)
"""
_QUANTITIES_OF_WAITS = {
    "wait": ErrorQuantity.WAIT,
    "many": ErrorQuantity.WAIT,
    "p95": ErrorQuantity.WAIT_QUANTILE,
    "later": ErrorQuantity.SHARE_BEYOND,
    "by_then": ErrorQuantity.SHARE_WITHIN,
    "of_stream": ErrorQuantity.WAIT,
    "share_of_stream": ErrorQuantity.SHARE_BEYOND,
}


def _errors_of_waits(queues: str) -> dict[str, tuple[frozenset[str], float | None]]:
    known = graph_of(queues.format(most=11, pause="1 s") + _WAITS).analysis.measures
    return {name: (one.known.methods, one.known.error) for name, one in known.items()}


def test_waits_and_shares_state_errors_of_their_own() -> None:
    """Those of latencies say nothing of them: they are a part of it, or another quantity.

    Of one or two methods a row counts for all points; of more, and of shares beyond a time, the
    worst at the ends of the range.
    """
    graph = graph_of(_QUEUES.format(most=11, pause="1 s") + _WAITS)
    assert graph.analysis.measures.keys() == _QUANTITIES_OF_WAITS.keys()
    for name, one in graph.analysis.measures.items():
        quantity, methods, error = _QUANTITIES_OF_WAITS[name], one.known.methods, one.known.error
        errors, is_share = table()[quantity], quantity is ErrorQuantity.SHARE_BEYOND
        ends = [{ErrorAxis.UTILIZATION: 0.15}, {ErrorAxis.UTILIZATION: 0.65}]
        if is_share:
            shares = graph.at_ends(one.value)
            ends = [{**end, ErrorAxis.RARITY: 1 / at} for end, at in zip(ends, shares, strict=True)]
        is_at_ends = is_share or len(methods) > 2
        rows = errors.rows_at(methods, ends) if is_at_ends else [errors.row_of(methods)]
        each = [row.error for row in rows if row is not None]
        known = [one for one in each if one is not None]
        assert error == (max(known) if len(known) == len(each) else None), name


def _share_error(seconds: str, most: int = 11) -> float | None:
    measure = f"\nmeasure late = share(s.latency > {seconds})\n"
    graph = graph_of(_QUEUES.format(most=most, pause="1 us") + measure)
    return graph.analysis.measures["late"].known.error


@pytest.mark.parametrize(
    ("seconds", "error"), [("0.05 s", 0.1), ("0.5 s", 0.5), ("1 s", 0.8), ("3 s", None)]
)
def test_an_error_of_a_share_goes_by_how_large_it_is(
    monkeypatch: pytest.MonkeyPatch, seconds: str, error: float | None
) -> None:
    """At the end of the range where it is smallest; of one in 10,000 none was measured."""
    rows = (
        _row(error=0.1, at_most={ErrorAxis.RARITY: 4}),
        _row(error=0.5, at_most={ErrorAxis.RARITY: 50}),
        _row(error=0.8),
    )
    errors = Errors(methods=frozenset(METHODS), rows=rows[2:], at_points=rows)
    monkeypatch.setattr(measured_errors, "table", lambda: {ErrorQuantity.SHARE_BEYOND: errors})
    assert _share_error(seconds) == error


_RARE = """
users N in 1..2
machine m {{ cpu 2 core, queueing mgc cv 1.5 }}
component c {{ cpu 100 ms/request }}
topology {{ node a = m; node b = m; link l = wire between a, b }}
network wire {{ propagation 1 us }}
stream s in all {{
  traffic N * 4 request/s, 1 bit/request; arrivals cv 1.5
  at a {{ c; call b * {share} {{ c }} }}
}}
"""


@pytest.mark.parametrize(("share", "error"), [("2 %", 0.2), ("0.5 %", 0.6)])
def test_percentiles_of_who_calls_rarely_have_errors_of_such_streams(
    monkeypatch: pytest.MonkeyPatch, share: str, error: float
) -> None:
    plain, rare = (_row(error=0.2),), (_row(error=0.6),)
    errors = Errors(methods=frozenset(METHODS), rows=plain, at_points=plain, rare_calls=rare)
    of = {ErrorQuantity.QUANTILE: errors, ErrorQuantity.LATENCY: errors}
    monkeypatch.setattr(measured_errors, "table", lambda: of)
    stream = graph_of(_RARE.format(share=share)).streams["s"]
    known = stream.quantile_certainty(Fraction(95, 100))
    assert len(known.methods) > 2
    assert known.error == error
    monkeypatch.setitem(of, ErrorQuantity.QUANTILE, replace(errors, rare_calls=()))
    again = graph_of(_RARE.format(share=share)).streams["s"].quantile_certainty(Fraction(95, 100))
    assert again.error == (None if error == 0.6 else error)


def test_no_error_of_waits_is_stated_beyond_what_was_drawn() -> None:
    found = _errors_of_waits(_QUEUES.replace("mgc cv 1.5", "mgc cv 3.5"))
    assert {error for _, error in found.values()} == {None}


_PAGE = Path(__file__).parents[2] / "docs/language/exact-bound-approximate.md"
_WORDS = {
    ErrorQuantity.LATENCY: "mean latency",
    ErrorQuantity.QUANTILE: "percentiles from p90",
    ErrorQuantity.LOW_QUANTILE: "percentiles below p90",
    ErrorQuantity.RATE: "throughput",
    ErrorQuantity.LOAD: "utilization",
    ErrorQuantity.POOL: "utilization of pools",
    ErrorQuantity.LOSS: "loss",
    ErrorQuantity.WAIT: "mean queueing delay, queue length",
    ErrorQuantity.WAIT_QUANTILE: "percentiles of the queueing delay",
    ErrorQuantity.SHARE_BEYOND: "share above a time",
    ErrorQuantity.SHARE_WITHIN: "share within a time",
}


def test_the_documentation_has_the_errors_of_all_methods_together() -> None:
    assert "\n".join(_lines()).replace("%", " %") in _PAGE.read_text("utf-8")


def test_the_documentation_has_the_errors_of_streams_that_call_rarely() -> None:
    found = {one: table()[one].rare_calls for one in _WORDS if table()[one].rare_calls}
    each = [
        f"{_WORDS[one]} {_limit(row, ErrorAxis.RARITY)}".strip() + f"{_if(row)}: {_within(row)}"
        for one, rows in found.items()
        for row in rows
    ]
    assert each
    assert " ".join(f"- {one}".replace("%", " %") for one in each) in _text()


def test_the_documentation_states_the_smallest_share() -> None:
    assert f"shares below {1 / MOST_RARE:.2%}".replace("%", " %") in _text()


def _text() -> str:
    return " ".join(_PAGE.read_text("utf-8").split())


_AXES = [one for one in ErrorAxis if one is not ErrorAxis.UNEQUAL_DELAY]
"""What rows go by: unequal delay is that of one method, in a table of its own."""


def _lines() -> list[str]:
    return [
        f"| {words} | {' | '.join(_limit(row, axis) for axis in _AXES)} | {_within(row)} |"
        for quantity, words in _WORDS.items()
        for row in table()[quantity].at_points
        if not row.methods
    ]


def _if(row: ErrorRow) -> str:
    """Return the limits of a row of a list, other than that of the share."""
    waiting, load, many = (
        _limit(row, axis) for axis in (ErrorAxis.WAITING, ErrorAxis.UTILIZATION, ErrorAxis.METHODS)
    )
    limits = [f"queueing delay {waiting} of mean latency"] if waiting else []
    limits += [f"utilization {load}"] if load else []
    limits += [f"approximations {many}"] if many else []
    return f" if {' and '.join(limits)}" if limits else ""


def _within(row: ErrorRow) -> str:
    return "not reported" if row.error is None else f"within {row.error:.0%}"


def _limit(row: ErrorRow, axis: ErrorAxis) -> str:
    most = row.at_most.get(axis)
    if most is None:
        return ""
    if axis is ErrorAxis.RARITY:
        return f"≥ {100 / most:g}%"
    return f"≤ {most:g}" if axis is ErrorAxis.METHODS else f"≤ {most:.0%}"
