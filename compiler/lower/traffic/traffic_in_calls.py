"""Calls on the itinerary of a class: how often they are made, and what is left of it then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.shares import is_always_a_share
from qps.compiler.lower.queues.batches import Others
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_parts import LossPart
from qps.compiler.lower.response_time.response_stages import CallFactor, FanOutStage, LatencyPart
from qps.compiler.lower.traffic.call_batches import batch_of, comes_later
from qps.compiler.lower.traffic.flow_state import FlowState
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.formulas import ONE, Formula, apply, minimum, product, total
from qps.engine.expressions.signs import range_of
from qps.engine.numerics.value_ranges import ValueRange

_ONE = Fraction(1)


class _OpenCall(Struct, frozen=True, kw_only=True):
    """A call that has begun, made so many `times`: how much there was before it.

    An item that has begun makes it so often, `reached`, and comes to it as often as `offered`.
    """

    call: ir.Call
    times: Formula | None
    latency: int
    losses: int
    visits: int
    passes: dict[str, Formula]
    reached: Formula
    offered: Formula = ONE
    fan_out: FanOutStage | None = None


class _Ended(Struct, frozen=True, kw_only=True):
    """A call that has ended, with its stages as they are within it.

    Of the items before it, so many made it and are left: `remaining`; of an alternative, of
    those that had the choice.
    """

    call: CallFactor
    begun: _OpenCall
    parts: tuple[LatencyPart, ...]
    remaining: Formula


class _Alternatives(Struct, kw_only=True):
    """The alternatives of a choice that have ended, and what is left of the items that had it."""

    left: Formula = ONE
    ended: list[_Ended] = []


def _served(ended: Sequence[_Ended], left: Formula) -> list[Formula | None]:
    """Return how often calls are made for each item that comes through; None: as for each item.

    Where items are lost, those that are left have made a call more or less often than all: of a
    share s of which P are left, and a share L that is left of all, s P/L, by Bayes' rule. Where
    items make one of these for sure, the last of them is what the others leave: shares that add up
    to a little more than 1 would be no chances.
    """
    if left is ONE:
        return [None] * len(ended)
    shares = [
        None if one.begun.times is None else apply("mean", one.remaining, left) for one in ended
    ]
    if len(ended) > 1 and total(one.begun.times or ONE for one in ended) is ONE:
        shares[-1] = 1 - total(share for share in shares[:-1] if share is not None)
    return shares


class CallTraffic:
    """The calls of a class, by their numbers."""

    def __init__(
        self,
        state: FlowState,
        stream: str,
        calls: Mapping[int, ir.Call],
        expressions: ExpressionLowering,
    ) -> None:
        self._state = state
        self._stream = stream
        self._calls = calls
        self._expressions = expressions
        self._begun: list[_OpenCall] = []
        self._choices: dict[int, _Alternatives] = {}
        self._visited: dict[int, dict[str, int]] = {}
        """For calls that are made together: which call was the first to visit a queue."""

    @property
    def depth(self) -> int:
        """How many calls have begun and not ended."""
        return len(self._begun)

    @property
    def _reached(self) -> Formula:
        """How often the last call that has begun is reached; once outside of any."""
        return self._begun[-1].reached if self._begun else ONE

    @property
    def _result(self) -> ClassTraffic:
        return self._state.result

    def begin(self, number: int, times: Formula | None, fan_out: FanOutStage | None = None) -> None:
        """Begin a call that is made so many times, once where that is None; or at once, as well."""
        result, state = self._result, self._state
        offered = state.reached if fan_out is None else state.reached * fan_out.count
        self._begun.append(
            _OpenCall(
                call=self._calls[number],
                times=times,
                latency=len(result.latency),
                losses=len(result.losses),
                visits=len(result.visits),
                passes=result.passes,
                reached=self._reached * (times or ONE),
                offered=offered,
                fan_out=fan_out,
            )
        )
        if fan_out is not None:
            state.reached = offered
            state.rate *= fan_out.count
            state.batch = fan_out.count
        if times is not None:
            result.passes = {}
            state.reached *= times
            state.rate *= times

    def end(self) -> Formula:
        """End the last call that has begun; return what is left of the flows before it.

        Of an alternative that is what is left of the flows before all of its choice.
        """
        begun, result = self._begun.pop(), self._result
        choice = begun.call.choice
        others = _Alternatives() if choice is None else self._alternatives(choice)
        came = others.left
        left = self._losses(begun, came)
        made = self._call(begun)
        remaining = ONE if begun.times is None else left - (came - begun.times)
        parts = tuple(result.latency[begun.latency :])
        others.left = left
        others.ended.append(_Ended(call=made, begun=begun, parts=parts, remaining=remaining))
        for one, times in zip(others.ended, _served(others.ended, left), strict=True):
            if one.begun is begun or left is not ONE:
                self._put_in_call(one, times)
        if begun.times is not None:
            inside, result.passes = result.passes, begun.passes
            for name, share in inside.items():
                now = share * minimum(1, begun.times) if not made.is_share else share * begun.times
                known = result.passes.get(name)
                result.passes[name] = now if known is None else 1 - (1 - known) * (1 - now)
        self._note_visits(begun, made)
        return left

    def _alternatives(self, choice: int) -> _Alternatives:
        return self._choices.setdefault(choice, _Alternatives(ended=[]))

    def _put_in_call(self, one: _Ended, times: Formula | None) -> None:
        """Put the stages of a call in it; where items are lost, made so often by those left."""
        made = one.call
        if times is not None:
            made = replace(made, times=times, reached=self._reached * times)
        for index, stage in enumerate(one.parts, start=one.begun.latency):
            part = stage if times is None else stage.reached_from(made.reached)
            self._result.latency[index] = part.within(made, one.begun.times and made.times)

    def _call(self, begun: _OpenCall) -> CallFactor:
        call, reached = begun.call, begun.reached
        if call.times is None or begun.times is None:
            return CallFactor(
                number=call.number,
                node=call.node,
                fork=call.fork,
                reached=reached,
                fan_out=begun.fan_out,
            )
        if call.is_local:
            return CallFactor(
                number=call.number,
                node=call.node,
                times=begun.times,
                reached=reached,
                is_whole=False,
                choice=call.choice,
            )
        value = self._often(call.times.expr, begun.times)
        is_share = (
            is_always_a_share(begun.times, self._expressions)
            or self._expressions.is_supposed_a_share(begun.times)
            if value is None
            else value <= 1
        )
        most = float(value) if value is not None else float(self.range_of(begun.times).high)
        return CallFactor(
            number=call.number,
            node=call.node,
            times=begun.times,
            reached=reached,
            limit=1 if is_share else most,
            fork=call.fork,
            is_whole=value is not None and value.denominator == 1,
            is_share=is_share,
            fan_out=begun.fan_out,
        )

    def _often(self, stated: ir.Expr, times: Formula) -> Fraction | None:
        """Return how often a call is made, None where that rests on numbers that are moving."""
        if isinstance(stated, ir.Constant):
            return stated.value

        def factor(formula: Formula, _: Mapping[Formula, object]) -> Fraction | None:
            return formula.value if isinstance(formula.value, Fraction) else None

        return self._expressions.structure_of(times, factor)

    def _is_whole(self, copies: Formula) -> bool:
        """Return whether a number is whole, whatever the numbers that are moving."""

        def is_whole(formula: Formula, _: Mapping[Formula, object]) -> bool:
            return isinstance(formula.value, Fraction) and formula.value.denominator == 1

        return self._expressions.structure_of(copies, is_whole)

    def range_of(self, count: Formula) -> ValueRange:
        """Return the least and the largest of a count, whatever the numbers that are moving."""

        def left(spare: Formula, ranges: Mapping[Formula, ValueRange]) -> ValueRange:
            if isinstance(spare.value, Fraction):
                return ValueRange(spare.value, spare.value)
            return range_of(spare, ranges)

        return self._expressions.structure_of(count, left)

    def _note_visits(self, begun: _OpenCall, call: CallFactor) -> None:
        """Note what is averaged away of the visits of queues within a call."""
        inside = list(self._result.visits.values())[begun.visits :]
        if begun.times is not None:
            is_one = call.is_share or is_always_a_share(begun.times, self._expressions)
            for visit in inside:
                visit.is_thinned = True
                if not is_one:  # what comes back to a queue has been there before
                    every = (*visit.after, *(one.resource for one in inside))
                    visit.after = tuple(dict.fromkeys(every))
        if begun.fan_out is not None:
            self._note_fan_out(begun, begun.fan_out)
        if begun.call.fork is not None:
            self._note_meeting(begun.call.number, begun.call.fork, inside)

    def _note_fan_out(self, begun: _OpenCall, fan_out: FanOutStage) -> None:
        """Note which visits come together of a call that is made several times at once.

        At the node that is called they come one at each machine, or evenly at those that there are.
        They leave together where they are sent; elsewhere they meet, and so where some come later.
        """
        latency, number = self._result.latency, begun.call.number
        inside = {at: one for at, one in self._result.visits.items() if at >= begun.latency}
        later = {
            visit.resource
            for at, visit in inside.items()
            if comes_later(latency[begun.latency : at], latency[at])
        }
        for at, visit in inside.items():
            visit.flows *= fan_out.count
            visit.is_thinned = True
            is_there = visit.place.name == begun.call.node
            if visit.others is not None or (visit.batch is ONE and not is_there):
                visit.meets = True
                continue
            if is_there and fan_out.is_apart:
                visit.batch = ONE
                continue
            copies = fan_out.count / fan_out.batches if is_there else visit.batch
            visit.batch, others = batch_of(copies, is_whole=self._is_whole(copies))
            share = latency[at].reached / begun.offered
            is_later = visit.resource in later
            with_it = (number, at if is_later else begun.latency)
            visit.others = Others(of=with_it, count=others, share=share)
            visit.meets |= is_later

    def _note_meeting(self, number: int, fork: int, inside: list[QueueVisit]) -> None:
        """Note where calls that are made together meet."""
        first = self._visited.setdefault(fork, {})
        for visit in inside:
            visit.meets |= first.setdefault(visit.resource, number) != number
        for visit in self._result.visits.values():
            visit.meets |= visit.resource in first and any(
                one.meets for one in inside if one.resource == visit.resource
            )

    # -- losses --------------------------------------------------------------------------

    def _losses(self, begun: _OpenCall, came: Formula) -> Formula:
        """Return what is left of the items that make a call; its losses become those of all.

        Of items of which a share s makes the call, and that reach a stage of it with a share P of
        these, 1 - s + s P are left so far; a loss l takes s P l of them. Of a choice so many came
        here: other alternatives have lost the rest of all that had it.
        """
        losses, begins = self._result.losses, begun.losses
        if begun.fan_out is not None and len(losses) > begins:
            self._refuse_fan_out(begun.call, losses[begins])
        if begun.times is None or len(losses) == begins:
            return came * product(1 - part.value for part in losses[begins:])
        share = begun.times
        self._refuse_several(begun.call, losses[begins])
        self._refuse_outcomes(begun.call, losses[begins])
        inside: Formula = ONE
        left = came
        for index in range(begins, len(losses)):
            part = losses[index]
            lost = share * inside * part.value
            losses[index] = replace(part, value=lost / left)
            inside, left = inside * (1 - part.value), left - lost
        return left

    def _refuse_outcomes(self, call: ir.Call, loss: LossPart) -> None:
        """Refuse that some items of an outcome are lost where the event decides on more."""
        event = call.event
        if event is None or not any(
            one.event is not None and one.event.name == event.name
            for one in self._calls.values()
            if one is not call and (one.choice is None or one.choice != call.choice)
        ):
            return
        raise QpsError.single(
            codes.NO_ANSWER,
            call.span,
            f"items of `{self._stream}` can be lost where `{event.name}` decides at "
            f"`{call.node}`: its outcomes for the remaining items are unknown",
            secondary=[Label(loss.span, "loss here")],
            hint="declare one stream for each outcome, or move the loss after them",
        )

    def _refuse_fan_out(self, call: ir.Call, loss: LossPart) -> None:
        """Refuse that something is lost of a call that is made many times at once."""
        raise QpsError.single(
            codes.NO_ANSWER,
            call.span,
            f"parallel calls to `{call.node}` in `{self._stream}` can be lost: the fraction of "
            "items that receive all responses is unknown",
            secondary=[Label(loss.span, "loss here")],
            hint="move the loss out of the call, or write each call separately",
        )

    def _refuse_several(self, call: ir.Call, loss: LossPart) -> None:
        """Refuse that something is lost of a call that is made several times for an item."""
        assert call.times is not None
        if call.is_local or self._expressions.holds(
            ir.Compare("<=", call.times.expr, ir.Constant(_ONE), DIMENSIONLESS)
        ):
            return
        raise QpsError.single(
            codes.NO_ANSWER,
            call.times.span,
            f"repeated calls to `{call.node}` in `{self._stream}` can be lost: their "
            "number is unknown",
            secondary=[Label(loss.span, "loss here")],
            hint="write each call separately",
        )
