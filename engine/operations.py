"""The table of operations: what each does, in one place.

A function of the language is a row here. Its word names it in formulas, in programs, in the page
and, where the language has it, in the language. All else of QPS that must know what an operation
does looks at the row. The row says what is true of it in one line; its `name` is that of its
function in each module of `evaluators`, which is imported when it is first requested: a caller of
values of floats imports no numpy, but for networks of several classes and integrals over laws of
times.

What has no value (0/0, a pole, the root of what is negative) is not-a-number, in every column; what
is beyond all floats is infinite, and what has a limit at infinity is that. See
docs/language.
"""

from __future__ import annotations

from math import inf, nextafter, pi
from typing import Any

from qps.engine.operation_rows import (
    NOT_NEGATIVE,
    by_ends,
    of_classes,
    of_laws,
    of_networks,
    of_queues,
    row,
)
from qps.engine.queueing_networks.closed_operands import (
    GROWING_CYCLE,
    GROWING_QUANTILE,
    GROWING_RATE,
    GROWING_ROOM,
    GROWING_WAIT,
    QUANTILE_ERROR,
    ROOM_ERROR,
)


def _itself(divisor: Any) -> Any:
    return divisor


def _spare(load: Any) -> Any:
    return 1 - load


SUM, PRODUCT, POWER, ROOT, EXPONENTIAL, LOGARITHM = "+", "*", "pow", "sqrt", "exp", "ln"
MAXIMUM, MINIMUM = "max", "min"
"""Words of operations of which formulas have a form of their own
(`qps.engine.expressions.formulas`)."""

_DIGITS = 1000.0
"""What is steep has no more digits than algebra bears, where its operand is smaller."""

_OF_A_STAGE = (1, 1, 1, 0, -1, 1, 0, 1, 0)
"""How the time of a stage grows: `qps.engine.distributions.sum_numbers` has its nine operands."""

_GRIDS = 1e-4
"""Of times behind forks this part may be off by how a grid of times lies: see `fork_grids`."""

_COUNTED_IN_A_STAGE = range(8)
"""Which of the operands of a stage are never negative: all but what stands inside."""


def _in_stages(behind: int) -> tuple[int, ...]:
    """Return what is never negative of stages that stand behind so many operands."""
    return tuple(behind + place for place in _COUNTED_IN_A_STAGE)


_SERVERS = (3, 4)
"""Where the servers of the stations of a closed network stand: each has four operands."""

_SHARE, _ANGLE = (0.0, 1.0), (0.0, nextafter(pi, inf))

_ROWS = (
    row(SUM, "total", 1, takes_more=True, scales=(0,), cancels=inf),
    row(PRODUCT, "product", 0, takes_more=True, cancels=inf),
    row(POWER, "raised", 0, 0, cancels=inf),
    row("ratio", "ratio", 0, 0, scales=(0,), divides=(1,), divisor=_itself),
    row("mean", "mean", 0, 0, scales=(0,), divides=(1,), divisor=_itself),
    row("waiting", "waiting", 1, 0, of="work load", scales=(0,), divisor=_spare),
    row(MAXIMUM, "maximum", 1, of="x", takes_more=True, scales=(0,), chooses=1),
    row(MINIMUM, "minimum", 1, of="x", takes_more=True, scales=(0,), chooses=-1),
    row("abs", "absolute", 0, of="x", scales=(0,), lies=NOT_NEGATIVE, cancels=inf),
    row(ROOT, "root", 1, lies=NOT_NEGATIVE),
    row(EXPONENTIAL, "exponential", 1, of="x", lies=NOT_NEGATIVE, is_steep=True, cancels=_DIGITS),
    row(LOGARITHM, "logarithm", 1, of="x", cancels=inf),
    row("cos", "cosine", 0, of="x", lies=(-1.0, 1.0), cancels=_DIGITS),
    row("acos", "arc_cosine", -1, of="x", lies=_ANGLE, cancels=inf),
    row("floor", "floor", 1, of="x", rounds=-1),
    row("ceil", "ceiling", 1, of="x", rounds=1),
    row("w", "lambert", 1, called="lambert_w", of="x", lies=(-1.0, inf)),
    row("lower_w", "lower_lambert", -1, called="lower_lambert_w", of="x", lies=(-inf, -1.0)),
    row("effective", "effective", 0, 0, lies=NOT_NEGATIVE),
    by_ends("harmonic", 1, of="count", lies=(-inf, inf)),
    of_queues("erlang_b", -1, 1, of="servers traffic", lies=_SHARE),
    of_queues("erlang_c", -1, 1, of="servers traffic", lies=_SHARE),
    of_laws("unlike_ratio", 0, 0, 0, 0, 0, lies=NOT_NEGATIVE, is_slow=True),
    of_laws("unlike_share", 0, 0, 1, 1, lies=_SHARE),
    of_laws("unlike_short", 0, 0, 1, lies=NOT_NEGATIVE),
    of_laws("unlike_long", 0, 0, 1, lies=NOT_NEGATIVE),
    of_queues("periodic_wait", 1, 1, of="flows load"),
    of_queues("md1_tail", 1, -1, of="load time", lies=_SHARE, error=1e-30),
    of_queues("md1_quantile", 1, 1, of="load share"),
    of_queues("batch_quantile", 1, 1),
    of_queues("periodic_tail", 1, 1, -1, of="flows load time", lies=_SHARE, whole=(0,)),
    of_queues("periodic_quantile", 1, 1, 1, of="flows load share", whole=(0,)),
    of_queues("sojourn_quantile", 1, -1, 1),
    of_queues("gamma_quantile", 1, 0, 1),
    of_queues(
        "stages_quantile",
        1,
        *_OF_A_STAGE,
        whole=(9,),
        repeats=9,
        tail="stages_tail",
        decided_by="stages_tail",
        by_floats=True,
        gammas=(4, 7),
        waits=1,
        never_negative=_in_stages(1),
    ),
    of_queues(
        "stages_tail",
        -1,
        *_OF_A_STAGE,
        lies=_SHARE,
        whole=(9,),
        repeats=9,
        by_floats=True,
        gammas=(4, 7),
        waits=1,
        never_negative=_in_stages(1),
        error=1e-30,
    ),
    by_ends("order_level", 1, 1, -1, lies=_SHARE),
    of_queues(
        "order_mean",
        *(1, -1, *_OF_A_STAGE),
        whole=(10,),
        repeats=9,
        by_order=True,
        row_by_row=True,
        by_floats=True,
        gammas=(5, 8),
        waits=2,
        never_negative=_in_stages(2),
    ),
    of_queues(
        "order_quantile",
        *(1, 1, -1, 0, *_OF_A_STAGE),
        decided_by="order_tail",
        whole=(3, 12),
        repeats=9,
        by_order=True,
        row_by_row=True,
        by_floats=True,
        by_arrays=True,
        gammas=(7, 10),
        waits=4,
        never_negative=_in_stages(4),
    ),
    of_queues(
        "order_tail",
        *(-1, 1, -1, 0, *_OF_A_STAGE),
        lies=_SHARE,
        whole=(3, 12),
        repeats=9,
        row_by_row=True,
        by_floats=True,
        by_arrays=True,
        gammas=(7, 10),
        never_negative=_in_stages(4),
        error=1e-9,
    ),
    of_queues(
        "fork_mean",
        *_OF_A_STAGE,
        whole=(8,),
        repeats=9,
        row_by_row=True,
        by_floats=True,
        by_arrays=True,
        gammas=(3, 6),
        waits=0,
        part=_GRIDS,
        never_negative=_in_stages(0),
    ),
    of_queues(
        "fork_quantile",
        *(1, *_OF_A_STAGE),
        decided_by="fork_tail",
        whole=(9,),
        repeats=9,
        row_by_row=True,
        by_floats=True,
        by_arrays=True,
        gammas=(4, 7),
        waits=1,
        part=_GRIDS,
        never_negative=_in_stages(1),
    ),
    of_queues(
        "fork_tail",
        *(-1, *_OF_A_STAGE),
        lies=_SHARE,
        whole=(9,),
        repeats=9,
        row_by_row=True,
        by_floats=True,
        by_arrays=True,
        gammas=(4, 7),
        waits=1,
        part=_GRIDS,
        never_negative=_in_stages(1),
        error=1e-9,
    ),
    of_networks("closed_rate", *GROWING_RATE, repeats=4, servers=_SERVERS),
    of_networks("closed_cycle", *GROWING_CYCLE, repeats=4, servers=_SERVERS),
    of_networks("closed_wait", *GROWING_WAIT, repeats=4, servers=_SERVERS),
    of_networks("mixed_wait", *GROWING_WAIT, repeats=4, servers=_SERVERS),
    of_networks("mixed_room", *GROWING_ROOM, repeats=4, error=ROOM_ERROR),
    of_networks("closed_quantile", *GROWING_QUANTILE, whole=(8,), repeats=6, part=QUANTILE_ERROR),
    of_queues("room_loss", -1, -1, 1, of="servers room traffic", lies=_SHARE),
    of_queues("room_wait", -1, 1, 1, of="servers room traffic"),
    of_queues("room_traffic", 1, -1, 1, by_floats=True),
    of_queues("room_quantile", -1, 1, 1, 1, by_floats=True),
    of_queues("slowest", 1, 1, 1, repeats=3, by_floats=True),
    of_queues("burst_wait", 1, 1, 1, row_by_row=True, by_floats=True),
    of_queues("burst_quantile", 1, 1, 1, 1, row_by_row=True, by_floats=True),
    by_ends("uneven", 1, 1, 1),
    of_classes("class_rate", 11),
    of_classes("class_wait", 16),
    of_classes("class_open_wait", 15),
    of_classes("class_quantile", 14),
    of_classes("forked_rate", 2),
    of_classes("forked_time", 3),
    of_classes("forked_wait", 3),
    of_classes("nested_rate", 2),
    of_classes("nested_time", 3),
    of_classes("nested_wait", 3),
    of_classes("shared_rate", 14),
    of_classes("shared_time", 15),
    of_classes("shared_wait", 14),
    of_queues("normal_tail", -1, of="x", lies=_SHARE),
    of_queues("normal_quantile", 1, of="x", lies=(-inf, inf)),
)

OPERATIONS = {one.word: one for one in _ROWS}
"""Every operation by its word; numbers, inputs, the population and whole powers are none."""

BY_NAME = {one.called: one for one in _ROWS if one.arguments}
"""Those that the language has, by their names in it: all other words of it are made of these."""

ROUNDINGS = tuple(word for word, one in OPERATIONS.items() if one.rounds)
"""Words of what jumps from one whole number to the next."""

EXTREMES = tuple(word for word, one in OPERATIONS.items() if one.chooses)
"""Words of what is the largest of its operands, or the least."""


OF_QUEUES = frozenset(one.word for one in _ROWS if one.is_slow)
"""Words of the numbers of queues: they take long to compute."""

BY_FLOATS = frozenset(one.word for one in _ROWS if one.by_floats)
"""Words of what has no proven digits but those of floats where its arguments are large."""
