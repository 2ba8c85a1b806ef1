"""Calls on the way of a stream: what goes to a node, and what comes back from it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.expressions.item_flows import Flow
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.shares import is_always_a_share
from qps.compiler.lower.walk.class_state import ClassState
from qps.compiler.network.alternative_visits import AlternativeVisits, calls_in
from qps.compiler.network.event_outcomes import CallCopy
from qps.compiler.network.itinerary import Call, Fork, Sequence, Times
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.engine.expressions.formulas import Formula, total


class _OpenCall(Struct, kw_only=True):
    """A call that has begun: the flows before it, and how large its requests are."""

    before: Flow
    times: Formula | None
    sends: Formula | None
    sent: Formula | None
    returns: Formula | None = None


class CallBuilder:
    """The calls of one walk along a stream; all of them by number."""

    def __init__(
        self, state: ClassState, stream: ir.Stream, expressions: ExpressionLowering
    ) -> None:
        self._state = state
        self._stream = stream
        self._expressions = expressions
        self._begun: list[_OpenCall] = []
        self.calls: dict[int, ir.Call] = {}
        self._repeated: set[int] = set()
        self._chances: dict[int, list[Formula]] = {}
        """Of the alternatives of each choice that have begun."""

    def pass_by(self, mark: ir.CallMark) -> None:
        """Begin a call, send its answer, or end it."""
        match mark.point:
            case ir.CallPoint.BEGINS:
                self._begin(mark.call)
            case ir.CallPoint.ANSWERS:
                self._answer(mark.call)
            case ir.CallPoint.ENDS:
                self._end(mark.call)

    def _begin(self, call: ir.Call) -> None:
        flow = before = self._state.flow
        times = sends = None
        if call.times is not None:
            times = self._times(call, call.times)
        if call.sends is not None:
            sends = self._symbol(f"{call.node}.sends", call.sends)
            flow = _sized(flow, sends)
        self._begun.append(_OpenCall(before=before, times=times, sends=sends, sent=_size(flow)))
        self._state.flow = flow
        self._state.itinerary.begin_call(self._fork(call))
        self.calls[call.number] = call

    def _answer(self, call: ir.Call) -> None:
        """Give the answer its size: as stated, as steps made it, or that of the stream itself."""
        flow, begun = self._state.flow, self._begun[-1]
        if call.returns is not None:
            begun.returns = self._symbol(f"{call.node}.returns", call.returns)
            flow = _sized(flow, begun.returns)
        elif call.sends is not None and _size(flow) is begun.sent:
            flow = replace(flow, sizes=begun.before.sizes, rates=begun.before.rates)
        self._state.flow = flow

    def _end(self, call: ir.Call) -> None:
        begun = self._begun.pop()
        self._state.flow = begun.before
        self._state.itinerary.end_call(lambda body: _called(call, begun, body))

    @property
    def event_conditions(self) -> dict[int, ir.EventOutcome]:
        """The calls that are made where an event has an outcome, by their numbers."""
        return {call.number: call.event for call in self.calls.values() if call.event is not None}

    @property
    def repeated(self) -> frozenset[int]:
        """The calls that one item may make more than once, by their numbers."""
        return frozenset(self._repeated)

    def copy(self, copies: Mapping[int, CallCopy]) -> None:
        """Note calls that were made from others."""
        for number, one in copies.items():
            self.calls[number] = replace(self.calls[one.of], number=number, fork=one.fork)

    def stand_for(self, found: AlternativeVisits) -> None:
        """Note the calls that have become others, in which whole visits are made."""
        for call in calls_in(found.itinerary):
            if call.number in found.sources:
                stated = self.calls[found.sources[call.number]]
                self.calls[call.number] = replace(stated, number=call.number, choice=call.choice)

    def _times(self, call: ir.Call, stated: ir.Quantity) -> Formula:
        """Return how often a call is made; of alternatives the last one what others leave."""
        if not call.is_rest:
            times = self._symbol(call.amount_name, stated)
            if not call.is_local and not is_always_a_share(times, self._expressions):
                self._repeated.add(call.number)
            if call.event is not None:
                return times if call.event.happens else 1 - times
            if call.choice is not None:
                self._chances.setdefault(call.choice, []).append(times)
            return times
        return 1 - total(self._chances.get(call.choice or 0, []))

    def _fork(self, call: ir.Call) -> Fork | None:
        """Return the calls that are made together and of which this is one, without branches."""
        if call.fork is None:
            return None
        if call.fan_out is None:
            return Fork(number=call.fork, branches=())
        stated = call.fan_out.answers
        return Fork(
            number=call.fork,
            branches=(),
            count=self._symbol(f"{call.node}.calls", call.fan_out.count),
            answers=None if stated is None else self._symbol(f"{call.node}.answers", stated),
        )

    def _symbol(self, name: str, quantity: ir.Quantity) -> Formula:
        return self._expressions.symbol(f"{self._stream.name}.{name}", quantity)


def _called(call: ir.Call, begun: _OpenCall, body: Sequence) -> Call:
    return Call(
        number=call.number,
        node=call.node,
        body=body,
        span=call.span,
        times=None if begun.times is None else Times(begun.times),
        sends=begun.sends,
        returns=begun.returns,
        is_local=call.is_local,
        choice=call.choice,
        is_rest=call.is_rest,
        events=() if call.event is None else (call.event,),
    )


def _sized(flow: Flow, size: Formula) -> Flow:
    """Return flows whose items have a size; what they are cut into follows."""
    assert flow.primary is not None
    sizes = flow.sizes | {flow.primary: size}
    return replace(flow, sizes=sizes).with_bits(size * flow.rates[flow.primary])


def _size(flow: Flow) -> Formula | None:
    """Return the size of an item, None where it has none."""
    if flow.primary is None or INFORMATION_BASE not in flow.rates:
        return None
    return flow.per_item(INFORMATION_BASE)
