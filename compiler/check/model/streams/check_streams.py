"""Streams: what leaves the source, the steps at each node, to whom it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.parameters.check_parameters import ParameterChecker
from qps.compiler.check.model.streams.check_alternatives import MAX_PATHS, is_implied, together
from qps.compiler.check.model.streams.check_closed_streams import report_no_users, report_unclosed
from qps.compiler.check.model.streams.check_emissions import EmissionChecker
from qps.compiler.check.model.streams.check_events import (
    EventChecker,
    EventUses,
    StreamEvents,
    report_unused,
)
from qps.compiler.check.model.streams.check_playout import PlayoutChecker
from qps.compiler.check.model.streams.check_pools import check_pools, pool_items
from qps.compiler.check.model.streams.check_routes import RouteChecker, check_recovery
from qps.compiler.check.model.streams.check_sends import check_sends
from qps.compiler.check.model.streams.check_steps import StepChecker
from qps.compiler.check.model.streams.check_visits import VisitChecker
from qps.compiler.check.names.declarations import IndexedDeclaration, kind_of, lookup, lookup_as
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label
from qps.compiler.diagnostics.fixits import insertion_after_hint, instead, removal_hint
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_ONE = Fraction(1)


class _Stop(Struct, frozen=True):
    """A visit with its legs, or links that are named, and the condition by which it is there."""

    item: ast.At | ast.Over
    legs: tuple[ir.Leg, ...]
    condition: ir.Condition | None


class _Paths(Struct, frozen=True):
    """All that is on the way of a stream, and where it rests on conditions each way of its own."""

    legs: tuple[ir.Leg, ...]
    conditions: tuple[ir.Condition, ...] = ()
    paths: tuple[ir.StreamPath, ...] = ()

    @property
    def starts(self) -> list[str]:
        """The nodes at which it starts, by one way or another."""
        firsts = [way.legs[0] for way in self.paths if way.legs] or [self.legs[0]]
        return list(dict.fromkeys(leg.node for leg in firsts if isinstance(leg, ir.Visit)))


def _where(visit: ir.Visit, known: Mapping[ir.Condition, bool]) -> ir.Visit:
    """Return a visit without the steps that are not there where it is known what holds."""
    if not known:
        return visit
    steps = [step for step in visit.steps if is_implied(step.condition, known) is not False]
    return replace(visit, steps=tuple(steps))


class StreamChecker(DeclarationChecker, frozen=True, kw_only=True):
    """Checks the streams of a program over its nodes and links."""

    steps: StepChecker
    links: dict[str, ir.Link]

    def stream(self, declaration: ast.Stream) -> ir.Stream | None:
        """Return a stream with its whole way."""
        emission = EmissionChecker(self.expressions).emission(declaration)
        events = EventChecker(self.expressions).events(declaration)
        found = self._paths(declaration, emission, events)
        report_unused(events, self)
        condition = None
        if declaration.condition is not None:
            fixed = Scope(self.main, AllowedNames.NOTHING)
            condition = self.expressions.condition(declaration.condition, fixed)
        whose = declaration.whose
        flows_from = None if whose is None else self._flows_from(whose)
        is_known = (condition is None) == (declaration.condition is None)
        if emission is None or found is None or not found.legs or not is_known:
            return None
        if whose is None and emission.think is not None:
            report_no_users(declaration, [self.steps.nodes[one] for one in found.starts], self.sink)
            return None
        if whose is None:
            starts = [self.steps.nodes[one] for one in found.starts]
            flows_from = self._one_in_all(declaration, starts)
        if flows_from is None:
            return None
        playout = PlayoutChecker(self.expressions).playout(declaration)
        ranks = [item for item in declaration.items if isinstance(item, ast.Rank)]
        rank = self.first(ranks, "a stream has only one priority", "remove one of them")
        priority = None
        if rank is not None:  # one that failed is reported: the rest goes on without it
            fixed = Scope(self.main, AllowedNames.NOTHING)
            priority = self.expressions.quantity(rank.value, fixed, DIMENSIONLESS, "a priority")
        stream = ir.Stream(
            name=self.main.qualified(declaration.name.text),
            flows_from=flows_from,
            emission=emission,
            legs=found.legs,
            condition=condition,
            conditions=found.conditions,
            paths=found.paths,
            span=declaration.name.span,
            doc=declaration.doc,
            playout=playout,
            priority=priority,
            arrivals=self._arrivals(declaration, emission),
            events=tuple(events.sound.values()),
            users=self.steps.groups.users_of(self.main, declaration.share)
            if flows_from is ir.Whose.EACH_USER
            else None,
        )
        self.steps.groups.divides(stream, self.steps.nodes)
        report_unclosed(stream, self.sink)
        return stream

    def _flows_from(
        self, whose: ast.Each | ast.EachPair | ast.InAll
    ) -> str | ir.InEachGroup | ir.EachPair | ir.Whose | None:
        """Return whose a stream is said to be, which is looked at also where its way failed."""
        if isinstance(whose, ast.InAll):
            return ir.Whose.ALL
        if isinstance(whose, ast.EachPair):
            return self._each_pair(whose)
        if whose.flows is not None or lookup_as(self.main, whose.name, ast.Group) is not None:
            return self.steps.groups.in_each(whose)
        declared = lookup(self.main, whose.name)
        if whose.name.text == ir.Whose.EACH_USER.value and declared is None:
            self.main.note(Meaning.WORD, whose.name)
            return ir.Whose.EACH_USER
        if declared is not None and isinstance(declared.declaration, ast.Users):
            self.sink.report(
                codes.WRONG_KIND,
                whose.name.span,
                f"`{whose.name.text}` is the number of users, not a user",
                hint=instead(whose.name.text, "user", words="write `for each user`"),
            )
            return None
        if declared is not None and isinstance(declared.declaration, IndexedDeclaration):
            kinds = declared.declaration.kinds
            self.sink.report(
                codes.WRONG_KIND,
                whose.name.span,
                f"`{whose.name.text}` is {kind_of(declared.declaration)}, but this stream "
                "is declared once",
                secondary=[Label(declared.declaration.name.span, "declared here")],
                hint=f"declare one per kind: `for each {whose.name.text} in each {kinds}`; or "
                f"name one, such as `for each {declared.declaration.names[0]}`",
            )
            return None
        return self.steps.node(whose.name)

    def _each_pair(self, whose: ast.EachPair) -> ir.EachPair | None:
        """Return the pairs of machines of a node, or of members of a group."""
        if whose.is_of_group:
            group = self.steps.groups.group(whose.name)
            if group is None:
                return None
            return ir.EachPair(span=whose.name.span, group=group, is_ordered=whose.is_ordered)
        if lookup_as(self.main, whose.name, ast.Group) is not None:
            group = whose.name.text
            self.sink.report(
                codes.WRONG_KIND,
                whose.name.span,
                f"pairs of group `{group}` need its members",
                hint=f"write `for each pair in each {group}`",
            )
            return None
        node = self.steps.node(whose.name)
        if node is None:
            return None
        return ir.EachPair(span=whose.name.span, node=node, is_ordered=whose.is_ordered)

    def _one_in_all(self, declaration: ast.Stream, starts: Sequence[ir.Node]) -> ir.Whose:
        """Return whose a stream is that does not say so; of several machines it must."""
        is_old = any(isinstance(i, ast.Emission) and i.is_first_edition for i in declaration.items)
        several = next((node for node in starts if node.count != ir.Constant(_ONE)), None)
        if several is not None and not is_old:
            name, node = declaration.name.text, several.name
            whose = "users" if AllowedNames.POPULATION in mentions_of(several.count) else "of them"
            self.sink.report(
                codes.WHOSE,
                declaration.name.span,
                f"stream `{name}` starts at several machines of `{node}`: it is unclear whether "
                "its traffic is per machine or in total",
                secondary=[Label(several.span, "several machines")],
                hint=insertion_after_hint(
                    declaration.name.span,
                    f" for each {node}",
                    " in all",
                    text=f"for traffic per machine, write `stream {name} for each {node}`; for "
                    f"the total of all {whose}, `stream {name} in all`",
                ),
            )
        return ir.Whose.ALL

    def _arrivals(self, declaration: ast.Stream, emission: ir.Emission) -> ir.Quantity | None:
        """Return how uneven the items of a flow arrive, where that is stated."""
        stated = [item for item in declaration.items if isinstance(item, ast.Arrivals)]
        arrivals = self.first(stated, "a stream has only one `arrivals`", "remove one of them")
        if arrivals is None:
            return None
        if emission.think is not None:
            name = declaration.name.text
            self.sink.report(
                codes.MISPLACED,
                arrivals.span,
                f"closed stream `{name}` cannot have `arrivals`",
                secondary=[Label(emission.span, "think time declared here")],
                hint=removal_hint(arrivals.span, "remove `arrivals`, or replace `think` by a rate"),
            )
            return None
        what, scope = "a coefficient of variation", Scope(self.main, AllowedNames.FLOWS)
        quantity = self.expressions.quantity(arrivals.variation, scope, DIMENSIONLESS, what)
        return self.cited(quantity, arrivals.source, declaration.source)

    # -- the way -------------------------------------------------------------------------

    def _paths(
        self, declaration: ast.Stream, emission: ir.Emission | None, events: StreamEvents
    ) -> _Paths | None:
        """Return the ways of a stream, as far as they are sound; each starts with a visit."""
        visits = [item for item in declaration.items if isinstance(item, ast.At)]
        if not visits:
            self._no_visits(declaration)
            return None
        paired = self._paired(declaration.whose, visits[0])
        routes = RouteChecker(self.sink, self.main, self.links, paired)
        uses = EventUses(self.expressions, events=events)
        checker = VisitChecker(
            self.expressions, steps=self.steps, routes=routes, emission=emission, events=uses
        )
        fixed = Scope(self.main, AllowedNames.NOTHING)
        stops: list[_Stop] = []
        is_sound = True
        for item in declaration.items:
            if not isinstance(item, ast.Over | ast.At):
                continue
            legs = tuple(checker.legs(item)) if isinstance(item, ast.At) else ()
            condition = None
            if item.condition is not None:
                condition = self.expressions.condition(item.condition, fixed)
                is_sound = is_sound and condition is not None
            stops.append(_Stop(item, legs, condition))
        conditions = tuple(dict.fromkeys(one.condition for one in stops if one.condition))
        if not is_sound:
            return None
        if not conditions:
            legs = self._path(declaration, stops, routes, {})
            return _Paths(legs) if legs else None
        return self._path_per_case(declaration, stops, routes, conditions)

    def _paired(self, whose: ast.Each | ast.EachPair | ast.InAll | None, at: ast.At) -> str | None:
        """Return the node of those who are paired: of members that at which the stream starts."""
        if not isinstance(whose, ast.EachPair):
            return None
        declared = lookup(self.main, at.node if whose.is_of_group else whose.name)
        return None if declared is None else declared.qualified

    def _path_per_case(
        self,
        declaration: ast.Stream,
        stops: Sequence[_Stop],
        routes: RouteChecker,
        conditions: tuple[ir.Condition, ...],
    ) -> _Paths | None:
        """Return a way for all that may hold together; what no way does without is reported.

        So is what is wrong as the spec stands. What is wrong elsewhere is reported there.
        """
        checker, options = ParameterChecker(self.expressions), self.program.everywhere(ast.Option)
        choices = {one.qualified: checker.choices(one) for one in options}
        found = together(conditions, choices)
        if found is None:
            self.sink.report(
                codes.TOO_DEEP,
                declaration.name.span,
                f"conditions of stream `{declaration.name.text}` give more than {MAX_PATHS} routes",
                hint="split it into several streams, each with a condition: `stream "
                f"{declaration.name.text}_far if far {{ … }}`",
            )
            return None
        ways: list[ir.StreamPath] = []
        usual: tuple[Diagnostic, ...] = ()
        for holds, is_usual in found.items():
            known = dict(zip(conditions, holds, strict=True))
            with self.sink.aside() as faults:
                left = [one for one in stops if one.condition is None or known[one.condition]]
                legs = self._path(declaration, left, routes, known)
            errors = tuple(fault for fault in faults if fault.is_error)
            ways.append(ir.StreamPath(holds, legs, errors))
            usual = errors if is_usual else usual
        everywhere = [fault for fault in ways[0].faults if all(fault in way.faults for way in ways)]
        self.sink.add_all((*usual, *everywhere))
        every = [leg for one in stops for leg in one.legs]
        crossed = (leg for way in ways for leg in way.legs if isinstance(leg, ir.Crossing))
        every += [leg for leg in dict.fromkeys(crossed) if leg not in every]
        return _Paths(tuple(every), conditions, tuple(ways))

    def _no_visits(self, declaration: ast.Stream) -> None:
        self.sink.report(
            codes.MISSING_PART,
            declaration.name.span,
            f"stream `{declaration.name.text}` visits no node",
            hint="add a node: `at station { record }`",
        )

    def _path(
        self,
        declaration: ast.Stream,
        stops: Sequence[_Stop],
        routes: RouteChecker,
        known: Mapping[ir.Condition, bool],
    ) -> tuple[ir.Leg, ...]:
        """Return the way over what remains where it is known which conditions hold."""
        legs: list[ir.Leg] = []
        pending: list[ast.Name] = []
        last: ir.Visit | None = None
        started = False
        for stop in stops:
            item = stop.item
            if isinstance(item, ast.Over):
                if not started:
                    self._out_of_order(item)
                pending += item.links
                continue
            here = [leg for leg in stop.legs if isinstance(leg, ir.Visit)]
            if here and last is not None:
                legs += routes.hops(_where(last, known), here[0], pending)
            legs += stop.legs
            last, pending, started = here[-1] if here else None, [], True
        if not started:
            self._no_visits(declaration)
        if pending and last is not None:
            self.sink.report(
                codes.STREAM_ORDER,
                pending[0].span,
                "the stream ends on a link, not at a node",
                hint="add its destination after `over`: `at node { … }`",
            )
            return tuple(legs)
        left = [_where(leg, known) if isinstance(leg, ir.Visit) else leg for leg in legs]
        check_sends(left, self.steps.nodes, self.sink)
        check_recovery(self.sink, legs)
        written = sum(1 for stop in stops for _ in pool_items(stop.item))
        if written == sum(isinstance(leg, ir.PoolMark) for leg in left):
            check_pools(self.sink, left)
        return tuple(legs)

    def _out_of_order(self, item: ast.Over) -> None:
        self.sink.report(
            codes.STREAM_ORDER,
            item.span,
            "the stream crosses a link before its first node",
            hint="start with `at node { … }`",
        )
