"""Visits of a stream and the calls that are made there: each goes to a node and comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import ceil

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.streams.check_call_sizes import CallSizeChecker
from qps.compiler.check.model.streams.check_events import EventUses
from qps.compiler.check.model.streams.check_pools import PoolChecker
from qps.compiler.check.model.streams.check_routes import RouteChecker
from qps.compiler.check.model.streams.check_steps import StepChecker
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.ir.streams import MOST_OTHERS
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast


class _Inside(Struct, frozen=True):
    """What a step stands in: no call, or one; `is_plain` where every item makes it just once.

    It is done where some events have an outcome.
    """

    is_call: bool = False
    is_plain: bool = True
    events: tuple[ir.EventOutcome, ...] = ()


class _CallTargets(Struct, frozen=True):
    """Which of some others a call is for, the first, the second and so on."""

    count: ir.Quantity
    nth: int

    def where(self, condition: ir.Condition | None) -> ir.Condition | None:
        """Return where the call is made: where its own condition holds, and there are so many."""
        if isinstance(self.count.expr, ir.Constant) and self.count.expr.value >= self.nth:
            return condition
        nth = ir.Constant(Fraction(self.nth))
        enough = ir.Compare(">=", self.count.expr, nth, DIMENSIONLESS)
        return enough if condition is None else ir.AllOf((condition, enough))


def _rest(stated: Sequence[ir.Quantity], branch: ast.Chance) -> ir.Quantity:
    """Return the probability that alternatives leave."""
    minus = (ir.Product((ir.Constant(Fraction(-1)), one.expr)) for one in stated)
    whole = ir.Sum((ir.Constant(Fraction(1)), *minus))
    return ir.Quantity(expr=whole, dimension=DIMENSIONLESS, span=branch.span)


class VisitChecker(DeclarationChecker, frozen=True, kw_only=True):
    """Checks the visits of one stream, with the calls in them."""

    steps: StepChecker
    routes: RouteChecker
    emission: ir.Emission | None
    events: EventUses
    _numbers: Iterator[int] = field(default_factory=count)

    def legs(self, item: ast.At) -> list[ir.Leg]:
        """Return what happens at a node, calls and all; nothing where there is no such node."""
        return self._block(item.node, item.steps, _Inside())

    @property
    def _sizes(self) -> CallSizeChecker:
        return CallSizeChecker(self.expressions, emission=self.emission)

    def _block(
        self,
        node: ast.Name,
        steps: Sequence[ast.StepItem],
        inside: _Inside,
    ) -> list[ir.Leg]:
        legs: list[ir.Leg] = []
        run: list[ir.Step] = []
        place = self.steps.node(node)
        name = place or node.text
        for item in steps:
            if isinstance(item, ast.Step):
                found = self.steps.steps(item, place)
                run += [step for step in found if self._may_stand(step, inside)]
                continue
            if run or not legs:
                legs.append(ir.Visit(name, tuple(run), node.span))
            run = []
            if isinstance(item, ast.CallStep):
                legs += self._call(node, item, inside)
            elif isinstance(item, ast.CallOthers):
                legs += self._others(node, item, inside)
            elif isinstance(item, ast.Together):
                legs += self._together(node, item, inside)
            elif isinstance(item, ast.Chance):
                legs += self._chance(node, item, inside)
            elif isinstance(item, ast.Alternatives):
                legs += self._alternatives(node, item, inside)
            else:
                mark = PoolChecker(self.expressions).mark(item, place)
                legs += [mark] if mark else []
        if run or not legs:
            legs.append(ir.Visit(name, tuple(run), node.span))
        return [] if place is None else legs

    def _may_stand(self, step: ir.Step, inside: _Inside) -> bool:
        """Return whether a step may stand in a call: as many come back as went, and the same."""
        name = step.component.name
        problem = None
        if inside.is_call and step.spread is not None:
            problem = (
                "is forwarded inside a call, and nothing returns",
                "send it after the call, or declare a separate stream",
            )
        for effect in step.component.effects if inside.is_call else ():
            traits = effect.kind.traits
            problem = problem or traits.refused
            if not inside.is_plain and traits.in_optional_call:
                problem = problem or (
                    f"{traits.in_optional_call} inside a call that some items skip or repeat",
                    "move it after the call",
                )
        if problem is None:
            return True
        message, hint = problem
        self.sink.report(codes.MISPLACED, step.span, f"`{name}` {message}", hint=hint)
        return False

    # -- by chance -----------------------------------------------------------------------

    def _chance(self, here: ast.Name, item: ast.Chance, inside: _Inside) -> list[ir.Leg]:
        """Return what a part of the items does, and the others do not."""
        outcome = self.events.use(item.probability, inside.events)
        if outcome is not None:
            return self._branch_of_event(here, item, outcome, inside)
        return self._branch(here, item, self._probability(item), next(self._numbers), inside)

    def _alternatives(
        self, here: ast.Name, item: ast.Alternatives, inside: _Inside
    ) -> list[ir.Leg]:
        """Return ways of which each item takes exactly one; `else` is what the others leave."""
        choice = next(self._numbers)
        self._report_order(item)
        legs: list[ir.Leg] = []
        if any(self.events.is_event(branch.probability) for branch in item.branches):
            outcomes = self.events.alternatives(item, inside.events)
            for branch, outcome in zip(item.branches, outcomes or (), strict=False):
                legs += self._branch_of_event(here, branch, outcome, inside)
            return legs
        stated = [self._probability(branch) for branch in item.branches]
        known = [one for one in stated if one is not None]
        for branch, probability in zip(item.branches, stated, strict=True):
            share = _rest(known, branch) if branch.probability is None else probability
            legs += self._branch(here, branch, share, choice, inside)
        return legs

    def _report_order(self, item: ast.Alternatives) -> None:
        """Report what takes the rest and is not the last, or there twice."""
        rests = [branch for branch in item.branches if branch.probability is None]
        last = item.branches[-1] if item.branches else None
        if last is None:
            self.sink.report(
                codes.NOTHING_DONE,
                item.span,
                "`one of` has no alternatives",
                hint="add them: `one of { 70 %: a; else: b }`",
            )
        elif len(rests) > 1:
            self.sink.report(
                codes.ELSE,
                rests[1].span,
                "`one of` has `else` twice",
                secondary=[Label(rests[0].span, "first one")],
                hint="give all but the last one a probability, such as `10 %: …`",
            )
        elif rests and rests[0] is not last:
            self.sink.report(
                codes.ELSE,
                rests[0].span,
                "`else` must be the last alternative",
                secondary=[Label(last.span, "this comes after it")],
                hint="move `else` to the end",
            )

    def _probability(self, branch: ast.Chance) -> ir.Quantity | None:
        if branch.probability is None or not self.events.is_sound(branch.probability):
            return None
        scope = Scope(self.main, AllowedNames.FLOWS)
        return self.expressions.quantity(branch.probability, scope, DIMENSIONLESS, "a probability")

    def _branch_of_event(
        self, here: ast.Name, branch: ast.Chance, outcome: ir.EventOutcome, inside: _Inside
    ) -> list[ir.Leg]:
        """Return a branch that is taken where an event has an outcome."""
        event = self.events.events.sound.get(outcome.name)
        share = None if event is None else event.share
        return self._branch(here, branch, share, next(self._numbers), inside, outcome)

    def _branch(
        self,
        here: ast.Name,
        branch: ast.Chance,
        probability: ir.Quantity | None,
        choice: int,
        inside: _Inside,
        outcome: ir.EventOutcome | None = None,
    ) -> list[ir.Leg]:
        """Return a branch that is taken with a probability: a call of the node itself."""
        if not branch.steps:
            self._report_empty(branch)
            return []
        events = inside.events if outcome is None else (*inside.events, outcome)
        within = _Inside(is_call=True, is_plain=False, events=events)
        block = self._block(here, branch.steps, within)
        place = self.steps.node(here)
        if place is None or probability is None or not block:
            return []
        call = ir.Call(
            number=next(self._numbers),
            node=place,
            times=probability,
            sends=None,
            returns=None,
            condition=None,
            span=branch.span,
            is_local=True,
            choice=choice,
            is_rest=branch.probability is None and outcome is None,
            event=outcome,
        )
        begins, answers, ends = (ir.CallMark(point, call) for point in ir.CallPoint)
        return [begins, *block, answers, ir.Visit(place, (), here.span), ends]

    def _report_empty(self, branch: ast.Chance) -> None:
        stated = branch.probability
        condition = "else" if stated is None else " ".join(stated.span.text.split())
        self.sink.report(
            codes.NOTHING_DONE,
            branch.span,
            f"nothing follows `{condition}:`",
            hint=f"add a step, or several: `{condition}: {{ step; call node {{ … }} }}`",
        )

    # -- calls ---------------------------------------------------------------------------

    def _together(self, caller: ast.Name, item: ast.Together, inside: _Inside) -> list[ir.Leg]:
        fork = next(self._numbers)
        legs: list[ir.Leg] = []
        if not item.steps:
            self.sink.report(
                codes.MISSING_PART,
                item.span,
                "`together` has no calls",
                hint="add the parallel calls: `together { call a { … }; call b { … } }`",
            )
        calls = [step for step in item.steps if isinstance(step, ast.CallStep)]
        fan_out = None
        if item.fan_out is not None:
            fan_out = self._sizes.fan_out(item.fan_out)
            if fan_out is None:
                return []
            for another in calls[1:]:
                self.sink.report(
                    codes.MISPLACED,
                    another.node.span,
                    f"`together {item.fan_out.span.text}` repeats one call, but contains two",
                    secondary=[Label(calls[0].node.span, "the first call")],
                    hint="nest this call in the first one, or move it to a `together` of its own",
                )
        for step in item.steps:
            if isinstance(step, ast.CallStep):
                legs += self._call(caller, step, inside, fork, fan_out=fan_out)
                continue
            is_step = not isinstance(step, ast.Together)
            word = "take" if isinstance(step, ast.Take) else "give"
            label = step.component.text if isinstance(step, ast.Step) else word
            self.sink.report(
                codes.MISPLACED,
                step.span,
                f"`together` can contain only calls, not `{label}`"
                if is_step
                else "`together` inside `together`",
                hint="move it before `together`, or into one of the calls"
                if is_step
                else "remove the inner `together`",
            )
        return legs

    def _others(self, caller: ast.Name, item: ast.CallOthers, inside: _Inside) -> list[ir.Leg]:
        """Return a call of each of so many other machines, made at the same time.

        Where parameters say how many, each call but those there always are has its condition.
        """
        fixed, what = Scope(self.main, AllowedNames.NOTHING), "a number of others"
        count = self.expressions.quantity(item.count, fixed, DIMENSIONLESS, what)
        if count is None:
            return []
        many = MOST_OTHERS
        if isinstance(count.expr, ir.Constant):
            many = min(many, max(1, ceil(count.expr.value)))
        call = ast.CallStep(
            span=item.span,
            node=replace(caller, span=item.count.span),
            links=item.links,
            sends=item.sends,
            returns=item.returns,
            source=item.source,
            condition=item.condition,
            steps=item.steps,
        )
        fork, legs = next(self._numbers), list[ir.Leg]()
        for nth in range(1, many + 1):
            targets = _CallTargets(count, nth)
            if nth == 1:
                legs += self._call(caller, call, inside, fork, targets)
            else:
                with self.sink.aside():  # what is wrong is reported for the first one
                    legs += self._call(caller, call, inside, fork, targets)
        return legs

    def _call(
        self,
        caller: ast.Name,
        item: ast.CallStep,
        inside: _Inside,
        fork: int | None = None,
        targets: _CallTargets | None = None,
        fan_out: ir.FanOut | None = None,
    ) -> list[ir.Leg]:
        """Return a call, there and back; every part of it is looked at, also where one failed."""
        number, node = next(self._numbers), item.node
        is_plain = inside.is_plain and item.times is None and fork is None
        within = _Inside(is_call=True, is_plain=is_plain, events=inside.events)
        steps = self._block(node, item.steps, within)
        stated = [part for part in (item.times, item.sends, item.returns) if part is not None]
        times = None
        is_number = item.times is None or self.events.is_sound(item.times)
        if item.times is not None and is_number:
            times = self._sizes.times(item.times)
        sends = self._sizes.size(item.sends, "sends")
        returns = self._sizes.size(item.returns, "returns")
        condition = None
        if item.condition is not None:
            condition = self.expressions.condition(
                item.condition, Scope(self.main, AllowedNames.NOTHING)
            )
        is_sound = len(stated) == sum(part is not None for part in (times, sends, returns))
        is_sound = is_sound and (condition is None) == (item.condition is None)
        here, there = self.steps.node(caller), self.steps.node(node)
        if not steps or here is None or there is None or not is_sound:
            return []
        if targets is not None:
            condition = targets.where(condition)
        if here == there != self.routes.paired and targets is None:
            self.sink.report(
                codes.STREAM_ORDER,
                node.span,
                f"`{node.text}` calls itself",
                secondary=[Label(caller.span, "called here")],
                hint="remove the call and keep its steps; for work on another machine of the "
                "node, write `call 1 others { … }`",
            )
            return []
        call = ir.Call(
            number=number,
            node=there,
            times=self.cited(times, item.source),
            sends=self.cited(sends, item.source),
            returns=self.cited(returns, item.source),
            condition=condition,
            span=node.span,
            fork=fork,
            others=targets.count if targets is not None and targets.nth == 1 else None,
            fan_out=fan_out,
        )
        return self._there_and_back(call, ir.Visit(here, (), caller.span), item.links, steps)

    def _there_and_back(
        self, call: ir.Call, here: ir.Visit, links: Sequence[ast.Name], steps: list[ir.Leg]
    ) -> list[ir.Leg]:
        begins, answers, ends = (ir.CallMark(point, call) for point in ir.CallPoint)
        back, there = replace(here, span=call.span), ir.Visit(call.node, (), call.span)
        apart = here.node == there.node
        way = self.routes.hops(here, there, list(links), call=call.node, is_apart=apart)
        if not way:
            return []
        ways = list(reversed(links))
        home = self.routes.hops(there, back, ways, call=call.node, is_apart=apart)
        return [begins, *way, *steps, answers, *home, back, ends]
