"""Streams: what leaves the source, the steps at each node, to whom it goes on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, zip_longest

from qps.compiler import ir
from qps.compiler.check.model.check_emissions import EmissionChecker
from qps.compiler.check.model.check_routes import RouteChecker, check_recovery
from qps.compiler.check.model.check_steps import StepChecker
from qps.compiler.check.model.check_visits import VisitChecker
from qps.compiler.check.names.declarations import Indexed, kind_of, lookup, lookup_as
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.part import Part
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    TIME,
)
from qps.compiler.syntax import ast

_ONE = Fraction(1)
_BEFORE_BUFFER = (ir.MeasureKind.JITTER, ir.MeasureKind.QUEUE)
_COSTS = (ir.MeasureKind.COST, ir.MeasureKind.RUNNING_COST)


class StreamChecker(Part, frozen=True, kw_only=True):
    """Checks the streams of a program over its nodes and links."""

    steps: StepChecker
    links: dict[str, ir.Link]

    def stream(self, declaration: ast.Stream) -> ir.Stream | None:
        """Return a stream with its whole way."""
        emission = EmissionChecker(self.expressions).emission(declaration)
        legs = self._legs(declaration, emission)
        if emission is None or not legs:
            return None
        flows_from = self._flows_from(declaration, legs)
        if flows_from is None:
            return None
        playout = self._playout(declaration)
        stream = ir.Stream(
            name=self.main.qualified(declaration.name.text),
            flows_from=flows_from,
            emission=emission,
            legs=legs,
            span=declaration.name.span,
            doc=declaration.doc,
            playout=playout,
            users=self.steps.groups.users_of(self.main, declaration.share)
            if flows_from is ir.Whose.EACH_USER
            else None,
        )
        self.steps.groups.divides(stream, self.steps.nodes)
        return stream

    def _flows_from(
        self, declaration: ast.Stream, legs: tuple[ir.Leg, ...]
    ) -> str | ir.InEachGroup | ir.Whose | None:
        whose = declaration.whose
        if whose is None:
            first = legs[0]
            assert isinstance(first, ir.Visit)
            return self._of_one_machine(declaration, self.steps.nodes[first.node])
        if isinstance(whose, ast.InAll):
            return ir.Whose.ALL
        if whose.flows is not None or lookup_as(self.main, whose.name, ast.Group) is not None:
            return self.steps.groups.in_each(whose)
        declared = lookup(self.main, whose.name)
        if whose.name.text == ir.Whose.EACH_USER.value and declared is None:
            return ir.Whose.EACH_USER
        if declared is not None and isinstance(declared.declaration, ast.Users):
            self.sink.report(
                codes.WRONG_KIND,
                whose.name.span,
                f"`{whose.name.text}` is the number of users, not one of them",
                hint="write `for each user`",
            )
            return None
        if declared is not None and isinstance(declared.declaration, Indexed):
            kinds = declared.declaration.kinds
            self.sink.report(
                codes.WRONG_KIND,
                whose.name.span,
                f"`{whose.name.text}` is {kind_of(declared.declaration)}: this stream is one for "
                "all of them",
                secondary=[Label(declared.declaration.name.span, "declared here")],
                hint=f"make one in each: `for each {whose.name.text} in each {kinds}`; or name one "
                f"of them, such as `for each {declared.declaration.names[0]}`",
            )
            return None
        return self.steps.node(whose.name)

    def _of_one_machine(self, declaration: ast.Stream, first: ir.Node) -> ir.Whose:
        """Return whose a stream is that does not say so; of several machines it must."""
        name, node = declaration.name.text, first.name
        is_old = any(isinstance(i, ast.Emission) and i.is_first_edition for i in declaration.items)
        if first.count != ir.Constant(_ONE) and not is_old:
            whose = "users" if Allowed.POPULATION in mentions_of(first.count) else "of them"
            self.sink.report(
                codes.WHOSE,
                declaration.name.span,
                f"stream `{name}` does not say whose it is, and `{node}` is several machines",
                secondary=[Label(first.span, "so many of them")],
                hint=f"`stream {name} for each {node}` where each of them has so much traffic, "
                f"`stream {name} in all` where all {whose} together have",
            )
        return ir.Whose.ALL

    def _playout(self, declaration: ast.Stream) -> ir.Playout | None:
        """Return the playout buffer; it rests on jitter and loads, what is late also on itself."""
        stated = [item for item in declaration.items if isinstance(item, ast.Playout)]
        buffer = self.first(stated, "a stream has one playout buffer", "keep one")
        if buffer is None:
            return None
        scope = Scope(self.main, Allowed.MODEL)
        delay = self.cited(
            self.expressions.quantity(buffer.delay, scope, TIME, "a playout delay"), buffer.source
        )
        name = self.main.qualified(declaration.name.text)
        if delay is None or self._goes_round(delay, name, _BEFORE_BUFFER):
            return None
        dropping = None
        if buffer.dropping is not None:
            what = "the share that is dropped"
            dropping = self.cited(
                self.expressions.quantity(buffer.dropping, scope, DIMENSIONLESS, what),
                buffer.source,
            )
            known = (*_BEFORE_BUFFER, ir.MeasureKind.BUFFER)
            if dropping is None or self._goes_round(dropping, name, known):
                return None
        return ir.Playout(delay, dropping, buffer.span)

    def _goes_round(
        self, quantity: ir.Quantity, stream: str, known: tuple[ir.MeasureKind, ...]
    ) -> bool:
        """Return whether a buffer rests on what rests on it; then it is reported."""
        for part in parts_of(quantity.expr):
            if not isinstance(part, ir.Measured) or part.kind in (ir.MeasureKind.LOAD, *_COSTS):
                continue
            if part.subject == stream and part.kind in known:
                continue
            told = f"{part.subject}.{part.kind.value}" if part.subject else part.kind.value
            self.sink.report(
                codes.DEFINITION_CYCLE,
                quantity.span,
                f"a playout buffer cannot rest on `{told}`",
                hint=f"name the jitter that it compensates, `{stream}.jitter`, `{stream}.queue`, "
                "loads or parameters",
            )
            return True
        return False

    # -- the way -------------------------------------------------------------------------

    def _legs(self, declaration: ast.Stream, emission: ir.Emission | None) -> tuple[ir.Leg, ...]:
        """Return the way of a stream, as far as it is sound; it starts with a visit."""
        visits = [item for item in declaration.items if isinstance(item, ast.At)]
        if not visits:
            self.sink.report(
                codes.MISSING_PART,
                declaration.name.span,
                f"stream `{declaration.name.text}` visits no node",
                hint="say where its steps run: `at station { record }`",
            )
            return ()
        routes = RouteChecker(self.sink, self.main, self.links)
        checker = VisitChecker(self.expressions, steps=self.steps, routes=routes, emission=emission)
        legs: list[ir.Leg] = []
        pending: list[ast.Name] = []
        last: ir.Visit | None = None
        started = False
        for item in declaration.items:
            if isinstance(item, ast.Over):
                if not started:
                    self._out_of_order(item)
                pending += item.links
            elif isinstance(item, ast.At):
                here = checker.legs(item)
                stops = [leg for leg in here if isinstance(leg, ir.Visit)]
                if stops and last is not None:
                    legs += routes.hops(last, stops[0], pending)
                legs += here
                last, pending, started = stops[-1] if stops else None, [], True
        if pending and last is not None:
            self.sink.report(
                codes.STREAM_ORDER,
                pending[0].span,
                "the stream ends on a link",
                hint="say where it arrives: `at node { … }` after `over`",
            )
            return tuple(legs)
        calling = self._sent_before_calls(legs)
        self._spreads([leg for leg in legs if isinstance(leg, ir.Visit)], calling)
        check_recovery(self.sink, legs)
        return tuple(legs)

    def _spreads(self, visits: list[ir.Visit], reported: list[ir.Visit]) -> None:
        """Check that what is sent to somebody arrives there: one spread a visit, then a visit."""
        for visit, following in zip_longest(visits, visits[1:]):
            assert visit is not None
            spreads = [step for step in visit.steps if step.spread is not None]
            if len(spreads) > 1 and not all(step.condition for step in spreads):
                self.sink.report(
                    codes.STREAM_ORDER,
                    spreads[1].span,
                    "the stream is sent on twice from here",
                    secondary=[Label(spreads[0].span, "the first time")],
                    hint="give each a condition, or make two streams of it",
                )
            for step in spreads if visit not in reported else ():
                self._arrival(step, visit, following)

    def _sent_before_calls(self, legs: list[ir.Leg]) -> list[ir.Visit]:
        """Report what is sent on and then calls: what has left makes no call; return where."""
        found = []
        for leg, following in pairwise(legs):
            if not isinstance(leg, ir.Visit) or not isinstance(following, ir.CallMark):
                continue
            spread = next((step.spread for step in leg.steps if step.spread is not None), None)
            if spread is None or following.point is not ir.CallPoint.BEGINS:
                continue
            found.append(leg)
            called = following.call
            self.sink.report(
                codes.STREAM_ORDER,
                called.span,
                f"`{called.node}` is called from `{leg.node}`, but the stream was sent on from "
                "there before",
                secondary=[Label(spread.span, "sent on here")],
                hint="make the call first, or where it arrives",
            )
        return found

    def _arrival(self, step: ir.Step, visit: ir.Visit, following: ir.Visit | None) -> None:
        assert step.spread is not None
        target = step.spread.target
        if following is None:
            self.sink.report(
                codes.STREAM_ORDER,
                step.spread.span,
                "this is sent on, but the stream ends here",
                hint=f"say what happens where it arrives: `at {target or 'node'} {{ … }}`",
            )
        elif target is not None and following.node != target:
            what = f"the others at `{visit.node}`" if target == visit.node else f"`{target}`"
            self.sink.report(
                codes.STREAM_ORDER,
                following.span,
                f"this goes to {what}, but the stream goes on at `{following.node}`",
                secondary=[Label(step.spread.span, "sent on here")],
                hint=f"go on `at {target}`, or send it `to all {following.node}`",
            )

    def _out_of_order(self, item: ast.Over) -> None:
        self.sink.report(
            codes.STREAM_ORDER,
            item.span,
            "the stream crosses a link before it starts anywhere",
            hint="begin with `at node { … }`",
        )
