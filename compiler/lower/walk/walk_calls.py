"""Calls on the way of a stream: what goes to a node, comes back from it, and what is left then."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.comparing import compare
from qps.compiler.lower.flows import Flow
from qps.compiler.lower.latency_parts import CallMade
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.stream_measures import LossPart
from qps.compiler.lower.walk.under_way import UnderWay
from qps.compiler.network.itinerary import Call, Sequence, Times
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION_BASE
from qps.engine.formulas import ONE, Formula, apply, minimum, product
from qps.engine.known_ranges import Range
from qps.engine.known_signs import range_of

_ONE = Fraction(1)


class _Begun(Struct, frozen=True, kw_only=True):
    """A call that has begun: what there was before, and how large its requests are.

    An item that has begun makes it so often, `reached`, and `came` to where it is made so often.
    """

    before: Flow
    times: Formula | None
    sends: Formula | None
    latency: int
    losses: int
    visits: int
    passes: dict[str, Formula]
    sent: Formula | None
    reached: Formula
    came: Formula


class _Fork(Struct):
    """Calls that are made together: each begins as things are `before` them.

    What is `left` of the flow, and where it has `waited`, is what all of them make of it.
    """

    before: UnderWay
    left: Formula = ONE
    waited: tuple[Visit, ...] = ()

    def begin(self, now: UnderWay) -> None:
        """Let one more of the calls begin, with the flow as it comes to all of them."""
        before = self.before
        now.flow, now.copies, now.batch = before.flow, before.copies, before.batch
        now.reached = before.reached
        now.is_bursty, now.burst, now.waited = before.is_bursty, before.burst, before.waited

    def end(self, now: UnderWay) -> None:
        """Let one of them end: what comes after all of them has waited in all of them."""
        self.waited += now.waited[len(self.before.waited) :]
        now.waited = self.before.waited + self.waited


class WalkedCalls:
    """The calls of one walk along a stream."""

    def __init__(
        self,
        under_way: UnderWay,
        stream: ir.Stream,
        expressions: ExpressionLowering,
    ) -> None:
        self._under_way = under_way
        self._stream = stream
        self._result = under_way.result
        self._expressions = expressions
        self._begun: list[_Begun] = []
        self._returns: dict[int, Formula] = {}
        self._forks: dict[int, _Fork] = {}
        self._visited: dict[int, dict[str, int]] = {}
        """For calls that are made together: which call was the first to visit a queue."""

    @property
    def depth(self) -> int:
        """How many calls have begun and not ended."""
        return len(self._begun)

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
        if call.fork is not None:
            if call.fork not in self._forks:
                self._forks[call.fork] = _Fork(replace(self._under_way))
            self._forks[call.fork].begin(self._under_way)
        flow = before = self._under_way.flow
        times = sends = None
        if call.times is not None:
            times = self._symbol(call, "times", call.times)
            flow = flow.scaled(times)
        if call.sends is not None:
            sends = self._symbol(call, "sends", call.sends)
            flow = self._sized(flow, sends)
        result = self._result
        self._begun.append(
            _Begun(
                before=before,
                times=times,
                sends=sends,
                latency=len(result.latency),
                losses=len(result.losses),
                visits=len(result.visits),
                passes=result.passes,
                sent=_size(flow),
                reached=(self._begun[-1].reached if self._begun else ONE) * (times or ONE),
                came=self._under_way.reached,
            )
        )
        if times is not None:
            result.passes = {}
            self._under_way.reached *= times
        self._under_way.flow = flow
        result.itinerary.begin_call(call.fork)

    def _answer(self, call: ir.Call) -> None:
        """Give the answer its size: as stated, as steps made it, or that of the stream itself."""
        flow, begun = self._under_way.flow, self._begun[-1]
        if call.returns is not None:
            returns = self._returns[call.number] = self._symbol(call, "returns", call.returns)
            flow = self._sized(flow, returns)
        elif call.sends is not None and _size(flow) is begun.sent:
            flow = replace(flow, sizes=begun.before.sizes, rates=_scaled_alike(begun.before, flow))
        self._under_way.flow = flow

    def _end(self, call: ir.Call) -> None:
        begun, result = self._begun.pop(), self._result
        result.itinerary.end_call(lambda body: self._called(call, begun, body))
        left = own_left = self._losses(call, begun)
        if call.fork is not None:
            fork = self._forks[call.fork]
            left = fork.left = left * fork.left
            fork.end(self._under_way)
        self._under_way.flow = begun.before if left is ONE else begun.before.scaled(left)
        self._under_way.reached = begun.came * left
        made = self._made(call, begun)
        served = self._served(made, begun, own_left)
        for index in range(begun.latency, len(result.latency)):
            part = result.latency[index]
            if served is not made:
                part = part.reached_from(served.reached)
            result.latency[index] = part.within(served, begun.times and served.times)
        if begun.times is not None:
            inside, result.passes = result.passes, begun.passes
            for name, share in inside.items():
                now = share * minimum(1, begun.times) if not made.is_share else share * begun.times
                known = result.passes.get(name)
                result.passes[name] = now if known is None else 1 - (1 - known) * (1 - now)
        self._note_visits(call, begun, made)

    def _called(self, call: ir.Call, begun: _Begun, body: Sequence) -> Call:
        return Call(
            number=call.number,
            node=call.node,
            body=body,
            span=call.span,
            times=None if begun.times is None else Times(begun.times),
            sends=begun.sends,
            returns=self._returns.pop(call.number, None),
        )

    def _made(self, call: ir.Call, begun: _Begun) -> CallMade:
        reached = begun.reached
        if call.times is None or begun.times is None:
            return CallMade(number=call.number, node=call.node, fork=call.fork, reached=reached)
        value = self._often(call.times.expr, begun.times)
        is_share = (
            self._is_always_a_share(begun.times)
            or self._expressions.is_supposed_a_share(begun.times)
            if value is None
            else value <= 1
        )
        return CallMade(
            number=call.number,
            node=call.node,
            times=begun.times,
            reached=reached,
            fork=call.fork,
            is_whole=value is not None and value.denominator == 1,
            is_share=is_share,
        )

    def _served(self, made: CallMade, begun: _Begun, left: Formula) -> CallMade:
        """Return how often the call is made for each item that comes through.

        Where it loses some, of those that are left fewer have made it than of all: of a share s of
        which P are left s P/(1 - s + s P), by Bayes' rule.
        """
        if begun.times is None or left is ONE:
            return made
        share = begun.times
        times = apply("mean", left - (1 - share), left)
        around = self._begun[-1].reached if self._begun else ONE
        return replace(made, times=times, reached=around * times)

    def _often(self, stated: ir.Expr, times: Formula) -> Fraction | None:
        """Return how often a call is made, None where that rests on numbers that are moving."""
        if isinstance(stated, ir.Constant):
            return stated.value

        def told(formula: Formula, _: Mapping[Formula, object]) -> Fraction | None:
            return formula.value if isinstance(formula.value, Fraction) else None

        return self._expressions.of_what_stays(times, told)

    def _note_visits(self, call: ir.Call, begun: _Begun, made: CallMade) -> None:
        """Note what is averaged away of the visits of queues within a call."""
        result = self._result
        inside = list(result.visits.values())[begun.visits :]
        if begun.times is not None and not self._is_at_most_one(made, begun.times):
            for visit in inside:  # what comes back to a queue has been there before
                every = (*visit.after, *(one.resource for one in inside))
                visit.after = tuple(dict.fromkeys(every))
        for visit in inside:
            visit.is_thinned |= begun.times is not None
        if call.fork is None:
            return
        first = self._visited.setdefault(call.fork, {})
        for visit in inside:
            visit.meets |= first.setdefault(visit.resource, call.number) != call.number
        for visit in result.visits.values():
            visit.meets |= visit.resource in first and any(
                one.meets for one in inside if one.resource == visit.resource
            )

    def _is_at_most_one(self, made: CallMade, times: Formula) -> bool:
        """Return whether a call is never made twice, whatever the numbers that are moving."""
        return made.is_share or self._is_always_a_share(times)

    def _is_always_a_share(self, times: Formula) -> bool:
        """Return whether a number is at most 1, whatever the numbers that are moving."""

        def told(formula: Formula, ranges: Mapping[Formula, Range]) -> bool:
            if formula.is_constant:
                return compare("<=", formula, ONE)
            return range_of(formula, ranges).high <= 1

        return self._expressions.of_what_stays(times, told)

    # -- losses --------------------------------------------------------------------------

    def _losses(self, call: ir.Call, begun: _Begun) -> Formula:
        """Return what is left of the items that make a call; its losses become those of all.

        Of items of which a share s makes the call, and that reach a stage of it with a share P of
        these, 1 - s + s P are left so far; a loss l takes s P l of them.
        """
        losses, begins = self._result.losses, begun.losses
        if begun.times is None or len(losses) == begins:
            return product(1 - part.value for part in losses[begins:])
        share = begun.times
        self._refuse_several(call, losses[begins])
        inside: Formula = ONE
        left: Formula = ONE
        for index in range(begins, len(losses)):
            part = losses[index]
            lost = share * inside * part.value
            losses[index] = replace(part, value=lost / left)
            inside, left = inside * (1 - part.value), left - lost
        return left

    def _refuse_several(self, call: ir.Call, loss: LossPart) -> None:
        """Refuse that something is lost of a call that is made several times for an item."""
        assert call.times is not None
        if self._expressions.holds(
            ir.Compare("<=", call.times.expr, ir.Constant(_ONE), DIMENSIONLESS)
        ):
            return
        raise QpsError.single(
            codes.NO_ANSWER,
            call.times.span,
            f"repeated calls of `{call.node}` in `{self._stream.name}` can be lost: their "
            "number is unknown",
            secondary=[Label(loss.span, "loss here")],
            hint="write each call separately",
        )

    # -- sizes ---------------------------------------------------------------------------

    def _symbol(self, call: ir.Call, what: str, quantity: ir.Quantity) -> Formula:
        return self._expressions.symbol(f"{self._stream.name}.{call.node}.{what}", quantity)

    def _sized(self, flow: Flow, size: Formula) -> Flow:
        """Return flows whose items have a size; what they are cut into follows."""
        assert flow.primary is not None
        sizes = flow.sizes | {flow.primary: size}
        return replace(flow, sizes=sizes).with_bits(size * flow.rates[flow.primary])


def _size(flow: Flow) -> Formula | None:
    """Return the size of an item, None where it has none."""
    if flow.primary is None or INFORMATION_BASE not in flow.rates:
        return None
    return flow.per_item(INFORMATION_BASE)


def _scaled_alike(before: Flow, now: Flow) -> dict[str, Formula]:
    """Return the rates that flows have with the sizes that they had before."""
    assert now.primary is not None
    part = now.rates[now.primary] / before.rates[now.primary]
    return {base: rate * part for base, rate in before.rates.items()}
