"""A way through the stages of a latency, and the calls that are made at once on it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from qps.compiler.lower.queues.queue_certainty import stage_certainty, without_law
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.lower.response_time.stage_operands import STAGE_SIZE
from qps.compiler.lower.response_time.stage_sequence import Allotment
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, number, total


class FanOutPath(Struct, frozen=True, kw_only=True):
    """What one of the calls takes that are made at once, of which the first `required` count.

    So many more are made, `spare`. `fixed` is what is always the same, `operands` are those of the
    sum of all else, and `added` its waits. `before` are operands of stages that all pass together
    before that, as one.
    """

    required: Formula
    spare: Formula
    fixed: Formula
    operands: tuple[Formula, ...]
    added: tuple[LatencyPart, ...]
    node: str
    order_known: Certainty
    is_one: bool
    before: tuple[Formula, ...] = ()

    @property
    def known(self) -> Certainty:
        """How it is known when the answers are there: are the calls independent?"""
        queues = [part.queue for part in self.added if part.queue is not None]
        if not queues:
            return known_by("fan-out-independent", [self.node])
        if self.before:  # errors were measured of both
            return together(*map(without_law, queues), self.order_known)
        known = [stage_certainty(queue) for queue in queues]
        if self.is_one:
            return together(*known)
        return together(*known, self.order_known)

    @property
    def mean(self) -> Formula:
        """The mean time until those that count are there."""
        return self.fixed + self.varied_mean

    @property
    def varied_mean(self) -> Formula:
        """That of what is not always the same."""
        if not self.operands:
            return ZERO
        found = apply("order_mean", self.required, self.spare, *self.operands)
        return found + apply("order_mean", ONE, ZERO, *self.before) if self.before else found

    def quantile(self, level: Formula, others: tuple[Formula, ...]) -> Formula:
        """Return the quantile of the time until they are there, and of other stages besides.

        What is always the same is not in it.
        """
        others = (*self.before, *others)
        if not self.operands:
            return apply("stages_quantile", level, *others) if others else ZERO
        if others:
            inside = number(Fraction(len(self.operands) // STAGE_SIZE))
            operands = (self.required, self.spare, inside, *self.operands, *others)
            return apply("order_quantile", level, *operands)
        each = apply("order_level", level, self.required, self.spare)
        return apply("stages_quantile", each, *self.operands)

    def later(self, seconds: Formula, others: tuple[Formula, ...]) -> Formula:
        """Return the share that takes longer until they are there, with other stages besides."""
        operands = self.operands or StageLaw(waits=ZERO, work=ZERO).operands()
        inside = number(Fraction(len(operands) // STAGE_SIZE))
        operands = (*operands, *self.before)
        return apply("order_tail", seconds, self.required, self.spare, inside, *operands, *others)


class LatencyPath(Struct, frozen=True, kw_only=True):
    """A way through the stages of a latency.

    `added` are those of `parts` that the sum has, `aside` those that have a quantile alone. `fixed`
    is what is always the same, and `operands` are those of the sum. There are so many `paths`, and
    on each so many `chances` of what is passed that takes a time which is always the same.
    """

    parts: tuple[LatencyPart, ...]
    added: tuple[LatencyPart, ...]
    aside: tuple[LatencyPart, ...]
    fixed: Formula
    operands: tuple[Formula, ...]
    paths: int = 1
    chances: int = 1
    fan_out: FanOutPath | None = None
    """The calls that are made at once on the way, which all other stages are besides."""
    has_fork: bool = False
    """True where some of the stages have branches, which the operands have, too."""
    is_on_grid: bool = False
    """True where a grid of times tells the law of these."""
    mean: Formula | None = None
    """The mean, where it is known better than by the law of the sum, which keeps to it then."""

    @property
    def scale(self) -> Formula:
        """How many times as long the path takes as the law of its sum has it."""
        if self.mean is None:
            return ONE
        return self.mean / (self.fixed + apply("fork_mean", *self.operands))

    @property
    def repeats(self) -> bool:
        """True where something is passed in calls that are not made just once."""
        return any(call.times is not ONE for part in self.parts for call in part.calls)

    @property
    def fan_out_known(self) -> Certainty:
        """How it is known when the answers are there of calls that are made at once."""
        return EXACT if self.fan_out is None else self.fan_out.known

    @property
    def varies(self) -> bool:
        """True where something on the way takes a time that varies, by a law that is known."""
        return bool(self.added) or self.fan_out is not None or self.has_fork

    def has_law_of(self, mean: Formula) -> bool:
        """Return whether a mean is that of the law: of branches, or of calls made at once."""
        if self.fan_out is None or self.aside:
            return self.has_fork
        return self.fan_out.varied_mean in parts_first(mean)

    @property
    def is_alone(self) -> bool:
        """True where there is one queue, of which the quantile is known better by itself."""
        if self.fan_out is not None or self.has_fork:
            return False
        if len(self.added) != 1 or self.repeats:
            return not self.operands
        queue = self.added[0].queue
        assert queue is not None
        if queue.bursts is not None:
            return False
        is_by_law = queue.law.is_better_alone or (queue.variation is ZERO and queue.has_batches)
        return is_by_law or queue.law.quantiles_known(queue).is_exact

    def quantile(self, late: Fraction, varies: int, of_one: _OfOne) -> Formula:
        """Return the time that a share `late` may exceed, with what `varies` besides."""
        summed = len(self.added) or bool(self.operands)
        units = summed + len(self.aside) + varies + (self.fan_out is not None)
        each = Allotment(late / units if units else late, Fraction(0))
        alone = [_times(each.times(part), of_one(part, each)) for part in self.aside]
        found = total((self.fixed, *alone))
        if self.fan_out is not None:
            of_all = number(1 - late * (summed + 1) / units)
            return found + self.fan_out.quantile(of_all, self.operands)
        if not self.operands:
            return found
        level = 1 - late * summed / units
        operands = (number(level), *self.operands)
        of_all = apply("fork_quantile" if self.has_fork else "stages_quantile", *operands)
        return (found + of_all) * self.scale


def _times(times: Formula, stage: Formula) -> Formula:
    return stage if times is ONE else stage * times


_OfOne = Callable[[LatencyPart, Allotment], Formula]
