"""One step by itself: a program that is given so many items of such sizes, and what these cost.

The processor time of each run is a start-up and so much for each item and byte. Noise grows with
what is measured, so that rows are weighted by it; intervals are those of Student's t distribution
(N. R. Draper and H. Smith, Applied Regression Analysis, 1998, section 9.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import sqrt

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis, Setting, filled
from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.control_groups import ControlGroup, control_group
from qps.compiler.measurement.campaigns.item_counts import Count, counted
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.quantities.dimension import INFORMATION_BASE

_BYTE_BITS = 8
_LEVEL = 0.975
_SCALE = 10**15
"""What weighted columns are whole numbers of."""
_RESOLUTION = 0.01
START = "start-up"
RUN = "call"
"""The item of a step whose command names none: each run is one."""


class ItemCost(Struct, frozen=True):
    """Seconds of a processor for each `item` (`byte`, or once for the start-up).

    `half_width` is that of the 95 % interval, None where there are no more runs than numbers.
    """

    item: str
    seconds: float
    half_width: float | None


class StepRun(Struct, frozen=True):
    """A run: items and bytes that it was given or did, and seconds of a processor that it took."""

    setting: Setting
    items: float
    octets: float
    seconds: float


class StepCosts(Struct, frozen=True, kw_only=True):
    """What a step costs, by runs; `missed` is the largest part of a run that is not explained."""

    item: str
    costs: tuple[ItemCost, ...]
    runs: tuple[StepRun, ...]
    missed: float


class StepBench(Struct, frozen=True, kw_only=True):
    """All that one run of a step needs; `counts` find items in what the command prints."""

    axes: tuple[CampaignAxis, ...]
    command: tuple[str, ...]
    counts: tuple[Count, ...]
    item: str
    groups: Callable[[], ControlGroup | None]

    def filled(self, setting: Setting) -> tuple[str, ...]:
        """Return the command for a setting."""
        named = {one.name: text for one, text in zip(self.axes, setting, strict=True)}
        return filled(self.command, named)

    def run(self, setting: Setting) -> StepRun:
        """Run the step once; MeasuringError where it fails."""
        with control_group(self.groups()) as group, running(self.filled(setting), group) as child:
            child.wait()
            child.check()
            text = child.output()
            used = group.used() if group is not None else child.used_in_all or 0.0
        items, octets = self._amounts(setting)
        found = counted(self.counts, text, "the output of the command")
        items = found.get(self.item, items)
        return StepRun(setting, items, found.get("byte", octets * items), used)

    def _amounts(self, setting: Setting) -> tuple[float, float]:
        """Return how many items a setting requests, and the bytes of each."""
        items, octets = Fraction(1), Fraction(0)
        for one, text in zip(self.axes, setting, strict=True):
            value = one.value(text)
            if value is None:
                continue
            if one.dimension.single_base == self.item:
                items = value
            elif one.sized == self.item:
                octets += value / _BYTE_BITS
            elif one.dimension.single_base == INFORMATION_BASE:
                octets += value / _BYTE_BITS / items
        return float(items), float(octets)


def item_of(axes: Sequence[CampaignAxis], counts: Sequence[Count]) -> str:
    """Return what a step is given: the item that is varied or counted, else each run is one."""
    varied = [one.dimension.single_base for one in axes if one.dimension.is_item]
    sized = [one.sized for one in axes]
    names = [*varied, *sized, *(count.item for count in counts if count.item != "byte")]
    return next((name for name in names if name is not None), RUN)


def step_of(runs: Sequence[StepRun], item: str) -> StepCosts:
    """Return what a step costs; MeasuringError where runs do not show it."""
    if any(run.seconds <= 0 for run in runs):
        raise MeasuringError(
            "a run used less CPU time than the clock can measure", "use more items"
        )
    if any(run.items <= 0 for run in runs):
        raise MeasuringError(f"a run completed no `{item}`", "give each run some items")
    columns = _columns(runs, item)
    weighted = [
        tuple(round(_SCALE * value / run.seconds) for value, run in zip(column, runs, strict=True))
        for column in columns.values()
    ]
    squares = LeastSquares(tuple(weighted), (_SCALE,) * len(runs))
    numbers = squares.numbers
    if numbers is None:
        raise MeasuringError("all runs have the same number of items", "vary the number of items")
    values = [float(value) for value in numbers]
    _, weights = squares.orthonormal
    freedom = len(runs) - len(values)
    widths: list[float | None] = [None] * len(values)
    if freedom > 0:
        scale = sqrt(max(float(squares.square_error), 0.0) / freedom)
        factor = scale * student_quantile(_LEVEL, freedom)
        widths = [factor * sqrt(sum(row[i] ** 2 for row in weights)) for i in range(len(values))]
    given = zip(*columns.values(), strict=True)
    explained = [sum(v * x for v, x in zip(values, row, strict=True)) for row in given]
    return StepCosts(
        item=item,
        costs=tuple(ItemCost(*one) for one in zip(columns, values, widths, strict=True)),
        runs=tuple(runs),
        missed=max(abs(e / run.seconds - 1) for e, run in zip(explained, runs, strict=True)),
    )


def _columns(runs: Sequence[StepRun], item: str) -> dict[str, list[float]]:
    """Return what costs are distinguished by: a start-up, items, bytes, as far as runs differ."""
    columns = {item: [run.items for run in runs]}
    if any(run.octets for run in runs):
        each = [run.octets / run.items for run in runs]
        if _differ(each):
            columns["byte"] = [run.octets for run in runs]
    if _differ(columns[item]):
        columns[START] = [1.0] * len(runs)
    return columns


def _differ(values: Sequence[float]) -> bool:
    return max(values) - min(values) > _RESOLUTION * max(values)


def scale_of(cost: ItemCost) -> tuple[float, str]:
    """Return what to multiply the seconds of a cost with, and their unit then."""
    per = "" if cost.item == START else f"/{cost.item}"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if cost.seconds * factor >= 1:
            return factor, f"{unit}{per}"
    return 1e9, f"ns{per}"
