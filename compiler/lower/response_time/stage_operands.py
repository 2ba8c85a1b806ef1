"""The operands of a sum of stages: what is always the same, and what varies by a known law."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from math import ceil, comb, prod

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.stage_law import LastCopy, StageLaw
from qps.compiler.lower.queues.visits import longest
from qps.compiler.lower.response_time.associated_answers import order_of
from qps.compiler.lower.response_time.calls_that_meet import last_that_meets
from qps.compiler.lower.response_time.last_copies import last_copy_of
from qps.compiler.lower.response_time.on_off_stages import behind, stage_of
from qps.compiler.lower.response_time.repeated_shares import outcomes_of
from qps.compiler.lower.response_time.repeated_visits import repeated_by_chance, repeated_queues
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart
from qps.compiler.lower.response_time.visit_counts import choice_at, number_at, times_at
from qps.engine.distributions.stage_paths import MOST_COMBINED, MOST_PATHS
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)

_FORK = number(Fraction(-1))
"""The servers of what begins its branches together (`qps.engine.forks.fork_nodes`)."""
_CALLS = number(Fraction(-2))
"""The servers of equal calls at once, of which the first answers count."""
STAGE_SIZE = 9
"""Operands of a stage."""


def operands_of(
    line: Sequence[LatencyPart], added: tuple[LatencyPart, ...], depth: int = 0
) -> tuple[Formula, list[Formula], int]:
    """Return what is always the same of a line, the operands of the others, and their chances."""
    again = repeated_queues(added, depth)
    by_chance = repeated_by_chance(again, added, depth)
    sure = {name: one for name, one in again.items() if name not in by_chance}
    apart = _Summed(added=added, repeated=frozenset(sure))
    fixed, operands, chances = apart.of(line, depth)
    waited = [one for times, part in sure.values() for one in _combined_waits(part, times, ONE)]
    operands += waited
    if not by_chance:
        return fixed, operands, chances
    # What is drawn anew each time is waited for by itself where it is seldom passed again, else
    # at once: between the two it is a mixture of both.
    same, at_once, _ = _Summed(added=added, repeated=frozenset(again)).of(line, depth)
    for name, count in by_chance.items():
        at_once += _combined_waits(again[name][1], count.of_those, count.any)
    at_once += waited
    weight = minimum(*(count.rarely_again for count in by_chance.values()))
    always = fixed if same is fixed else ZERO
    ways = (
        enclosed(weight, fixed - always, operands),
        enclosed(1 - weight, same - always, at_once),
    )
    return always, one_of(ways), 2 * chances


def _combined_waits(part: LatencyPart, times: Formula, chance: Formula) -> list[Formula]:
    """Return the operands of all waits in a queue together, so many `times`, by a `chance`."""
    operands = list(_waiting_stage(stage_at(part), times).operands())
    piled = behind(part)
    if piled is not None:  # it lasts longer than a way through all stages
        operands += replace(piled, work=piled.work * times).operands()
    return operands if chance is ONE else enclosed(chance, ZERO, operands)


def operands_by_outcome(
    line: Sequence[LatencyPart], is_added: Callable[[LatencyPart], bool]
) -> tuple[Formula, list[Formula], int]:
    """Return the same of a line as alternatives, of which each is an outcome of its calls.

    Outcomes in which the same is passed are one.
    """
    ways: dict[tuple[Formula, ...], Formula] = {}
    for outcome in outcomes_of(line):
        added = tuple(part for part in outcome.parts if part.queue is not None and is_added(part))
        fixed, inside, _ = operands_of(outcome.parts, added)
        ways[fixed, *inside] = ways.get((fixed, *inside), ZERO) + outcome.chance
    each = [enclosed(chance, fixed, inside) for (fixed, *inside), chance in ways.items()]
    return ZERO, one_of(each), len(ways)


def enclosed(times: Formula, fixed: Formula, inside: Sequence[Formula]) -> list[Formula]:
    """Return the operands of what is passed so often: a fixed time, and the stages inside."""
    always = ZERO if fixed is ZERO else maximum(ZERO, fixed)
    around = StageLaw(waits=ZERO, work=ZERO, service=always, variation=ZERO)
    return [*around.operands(times, len(inside) // STAGE_SIZE), *inside]


def one_of(each: Iterable[Sequence[Formula]]) -> list[Formula]:
    """Return the operands of alternatives, of which one is passed, each with its chance."""
    operands = [one for alternative in each for one in alternative]
    header = StageLaw(waits=ZERO, work=ZERO, service=ZERO, variation=ZERO)
    return [*header.operands(ONE, -(len(operands) // STAGE_SIZE)), *operands]


class _Summed(Struct, frozen=True, kw_only=True):
    """The stages of a line that are `added`, but for waits in queues that are `repeated`."""

    added: tuple[LatencyPart, ...]
    repeated: frozenset[str]

    def of(self, parts: Sequence[LatencyPart], depth: int) -> tuple[Formula, list[Formula], int]:
        """Return what is always the same of stages that stand in so many calls, and the others.

        With how many chances there are of what is passed, as far as they differ in a fixed time.
        """
        fixed: list[Formula] = []
        operands: list[Formula] = []
        chances = 1
        for choice, group in groupby(parts, key=lambda part: choice_at(part, depth)):
            inside = list(group)
            if choice is not None and len({number_at(part, depth) for part in inside}) > 1:
                alternatives, ways = self._alternatives(inside, depth)
                operands += alternatives
                chances *= ways
                continue
            if len(inside[0].calls) <= depth:
                for part in inside:
                    if part.branches:
                        forked, ways = fork_operands(part)
                        operands += forked
                        chances *= ways
                    elif part in self.added:
                        stages = self._stages(part)
                        fixed.append(-stages[0].counted)
                        operands += [one for stage in stages for one in stage.operands()]
                    elif part.queue is None:
                        fixed.append(part.slowest or part.per_visit)
                continue
            same, varying, within = self.of(inside, depth + 1)
            call = inside[0].calls[depth]
            if call.times is ONE:
                fixed.append(same)
                operands += varying
                chances *= within
                continue
            operands += enclosed(times_at(inside[0], depth), same, varying)
            is_fixed = maximum(ZERO, same) is not ZERO
            chances *= _chances(call, within, is_fixed=is_fixed)
        return total(fixed), operands, chances

    def _alternatives(self, parts: Sequence[LatencyPart], depth: int) -> tuple[list[Formula], int]:
        """Return a stage of which one of those inside is passed, and in how many ways."""
        each: list[list[Formula]] = []
        ways = 1  # none of them
        for _, group in groupby(parts, key=lambda part: number_at(part, depth)):
            inside = list(group)
            same, varying, within = self.of(inside, depth + 1)
            each.append(enclosed(times_at(inside[0], depth), same, varying))
            ways += within
        return one_of(each), ways

    def _stages(self, part: LatencyPart) -> list[StageLaw]:
        stage = stage_at(part)
        if part.queue is not None and part.queue.resource in self.repeated:
            return [replace(stage, waits=ZERO, work=ZERO, parts=())]
        piled = behind(part)
        return [stage] if piled is None else [stage, piled]


def fork_operands(fork: LatencyPart) -> tuple[list[Formula], int]:
    """Return the operands of calls that are made together, and how many chances there are.

    Waits in a queue that a branch comes to again are one; those of other branches are others.
    """
    operands: list[Formula] = []
    each: list[int] = []
    fixed: list[Formula] = []
    for branch in fork.branches:
        added = tuple(part for part in branch if part.queue is not None)
        same, varying, within = operands_of(branch, added, len(fork.calls))
        operands += enclosed(ONE, same, varying)
        each.append(within)
        fixed.append(same)
    if (met := last_that_meets(fork)) is not None:
        return _of_last(met, longest(fixed)), 1
    if fork.fan_out is not None:
        last = last_copy_of(fork.branches[0], fork.fan_out, len(fork.calls))
        if last is not None:
            return _of_last(last, same), 1
        inside = number(Fraction(len(operands) // STAGE_SIZE))
        order = order_of(fork.fan_out, fork.branches[0], len(fork.calls))
        calls = [ZERO, ZERO, ZERO, order.required, _CALLS, ZERO, order.spare, ONE, inside]
        return [*calls, *operands], 1
    chances = prod(each) if prod(each) <= MOST_COMBINED else sum(each) + 1
    header = StageLaw(waits=ZERO, work=ZERO, servers=_FORK, service=ZERO, variation=ZERO)
    return [*header.operands(ONE, len(operands) // STAGE_SIZE), *operands], chances


def _of_last(last: LastCopy, fixed: Formula) -> list[Formula]:
    """Return the operands of calls at once to one machine, of which the last copy counts."""
    service = () if last.service is None else last.service.operands()
    inside = enclosed(ONE, fixed, service)
    count = number(Fraction(len(inside) // STAGE_SIZE))
    calls = [ZERO, ZERO, ZERO, last.parallel, _CALLS, ZERO, ZERO, ONE, count]
    return [*last.wait.operands(), *calls, *inside]


def _chances(call: CallFactor, within: int, *, is_fixed: bool) -> int:
    """Return how many chances a call makes of those within it: one is that it is not made."""
    if within > 1 and not call.is_share:
        if call.limit > MOST_PATHS:
            return MOST_PATHS + 1
        each = ceil(call.limit) + within - 1  # in whichever order they are passed
        return comb(each, within - 1) + (0 if call.is_whole else comb(each - 1, within - 1))
    is_chance = not call.is_whole and (is_fixed or within > 1)
    return within + is_chance


def _waiting_stage(stage: StageLaw, times: Formula) -> StageLaw:
    """Return what is waited all `times` together: as many are found each time, and served anew.

    What is left of a service, so often, varies less than once: it is that of a service which varies
    so much less. That varies no less than what is left of a service that is always the same.
    """
    spread = stage.spread
    squares = 4 * (1 + 2 * spread) / (1 + spread) - 3  # thrice the squared variation
    squares = apply("mean", squares, times)  # of what is never passed there is none
    less = maximum(ZERO, (squares - 1) / (5 - squares))
    work = stage.work * times * (1 + spread) / (1 + less)
    return replace(stage, work=work, spread=less, service=ZERO, counted=ZERO, parts=(), then=None)


def stage_at(part: LatencyPart) -> StageLaw:
    """Return the law of a wait, and of what is done behind it."""
    assert part.queue is not None
    assert part.visit is not None
    stage = stage_of(part.queue, part.visit)
    assert stage is not None
    return stage
