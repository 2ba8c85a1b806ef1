"""What is stated of resources from outside: how full they may be by plan, and how they wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_queueing import QueueingChecker
from qps.compiler.check.names.declarations import names_of, owner_in
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import has_resource, resource_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker, sound
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_ALL_LINKS = "link"

S = TypeVar("S", ast.Aim, ast.Wait)
T = TypeVar("T", ir.Target, ir.Wait)


class TargetChecker(DeclarationChecker, frozen=True):
    """Checks planning targets and ways of waiting."""

    def targets(self, declared: Iterable[ast.Target]) -> tuple[ir.Target, ...]:
        """Return the targets that are sound, each stated once."""
        aims = [aim for target in declared for aim in target.aims]
        return sound(
            self._target(aim) for aim in self._without_duplicates(aims, "the target of `{}`")
        )

    def waits(self, declared: Iterable[ast.DefaultQueueing]) -> tuple[ir.Wait, ...]:
        """Return how what arrives waits, each stated once."""
        waits = [wait for waiting in declared for wait in waiting.waits]
        return sound(
            self._wait(wait) for wait in self._without_duplicates(waits, "the queueing of `{}`")
        )

    def _without_duplicates(self, stated: Iterable[S], what: str) -> Iterator[S]:
        seen: dict[str, S] = {}
        for one in stated:
            earlier = seen.setdefault(one.name.text, one)
            if earlier is one:
                yield one
                continue
            self.sink.report(
                codes.MISPLACED,
                one.span,
                f"{what.format(one.name.text)} is specified twice",
                secondary=[Label(earlier.span, "first specified here")],
                hint=single_statement_hint(one.span),
            )

    def _target(self, aim: ast.Aim) -> ir.Target | None:
        fixed = Scope(self.main, AllowedNames.NOTHING)
        value = self.cited(
            self.expressions.quantity(aim.value, fixed, DIMENSIONLESS, "a target"), aim.source
        )
        scope, name = self._scope(aim.name)
        if scope is None or value is None:
            return None
        return ir.Target(
            name=name, scope=scope, value=value, span=aim.span, instance=self.main.prefix
        )

    def _wait(self, wait: ast.Wait) -> ir.Wait | None:
        scope, name = self._scope(wait.name)
        if scope is None or self._is_part(wait.name) or self._is_room(wait.name):
            return None
        is_link = scope is ir.ResourceScope.LINKS or isinstance(self._place(wait.name), ast.Link)
        fixed = Scope(self.main, AllowedNames.NOTHING)
        queueing = QueueingChecker(self.expressions).stated(wait, fixed, is_link=is_link)
        if queueing is None:
            return None
        return ir.Wait(
            name=name, scope=scope, queueing=queueing, span=wait.span, instance=self.main.prefix
        )

    def _place(self, name: ast.Name) -> ast.Node | ast.Link | None:
        owner, _ = owner_in(self.main, name)
        is_place = owner is not None and isinstance(owner.declaration, ast.Node | ast.Link)
        return owner.declaration if is_place else None  # type: ignore[union-attr, return-value]

    def _is_part(self, name: ast.Name) -> bool:
        """Report a port of a link or a thread: they wait as all of the link or resource does."""
        owner, rest = owner_in(self.main, name)
        if owner is None or not isinstance(owner.declaration, ast.Node | ast.Link):
            return False
        most = 1 if isinstance(owner.declaration, ast.Node) else 0
        if len(rest) <= most:
            return False
        whole = ".".join(name.parts[: len(name.parts) - len(rest) + most])
        what = (
            "queueing cannot differ between the threads of a resource"
            if most
            else "queueing cannot differ between the ports of a link"
        )
        self.sink.report(
            codes.MISPLACED,
            name.span,
            what,
            hint=instead(name.text, whole, words=f"set it for `{whole}`"),
        )
        return True

    def _is_room(self, name: ast.Name) -> bool:
        """Report what is held, not served."""
        machines = [machine for machine in self.known.machines.values() if machine is not None]
        kinds = {one.kind for m in machines for one in m.resources if one.name == name.parts[-1]}
        if kinds != {ir.ResourceKind.STORE}:
            return False
        self.sink.report(
            codes.MISPLACED,
            name.span,
            f"`{name.text}` has a capacity to hold, not a queue",
            hint="set the queueing of a CPU, a rate or a network",
        )
        return True

    def _scope(self, name: ast.Name) -> tuple[ir.ResourceScope | None, str]:
        """Return what is stated holds for, and its name; a name of nothing loaded is reported."""
        if name.text == _ALL_LINKS:
            self.main.note(Meaning.WORD, name)
            return ir.ResourceScope.LINKS, name.text
        owner, rest = owner_in(self.main, name)
        if owner is not None and isinstance(owner.declaration, ast.Node | ast.Link):
            is_known = has_resource(self.sink, owner, rest, name)
            place = ir.ResourceScope.PLACE if is_known else None
            return place, resource_name(owner, rest)
        if name.text in self.program.resources:
            self.main.note(Meaning.RESOURCE, name)
            return ir.ResourceScope.RESOURCE, name.text
        places = names_of(self.main, (ast.Node, ast.Link))
        known = [*sorted(self.program.resources), _ALL_LINKS, *places]
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"unknown resource `{name.text}`",
            hint=offered(name.text, known),
        )
        return None, ""


def agreed(stated: tuple[T, ...], what: str, sink: Sink) -> tuple[T, ...]:
    """Report where instances say different things of one place that they share.

    What stands further outside says which holds. A place that one of them names more closely, such
    as one resource of a node, is one that both mean.
    """
    of_places = [one for one in stated if one.scope is ir.ResourceScope.PLACE]
    seen: set[str] = set()
    for one, closer in _of_one_place(of_places):
        around = [other for other in of_places if other.name == closer.name]
        if closer.name in seen or _target_key(one) == _target_key(closer):
            continue
        if any(_is_around(other, one) and _is_around(other, closer) for other in around):
            continue
        seen.add(closer.name)
        earlier, later = sorted((one, closer), key=of_places.index)
        example = {ir.Target: f"target {closer.name} 70 %", ir.Wait: f"queueing {closer.name} mm1"}
        sink.report(
            codes.MISPLACED,
            later.span,
            f"`{later.instance}` and `{earlier.instance}` share `{closer.name}` but set "
            f"different values for {what}",
            secondary=[Label(earlier.span, f"set by `{earlier.instance}`")],
            hint=f"set it in the spec itself: `{example[type(later)]}`",
        )
    return stated


def _of_one_place(stated: Iterable[T]) -> Iterator[tuple[T, T]]:
    """Yield what instances, neither of which stands in the other, say of one place; closer last."""
    ordered = sorted(stated, key=lambda one: f"{one.name}.")
    for index, one in enumerate(ordered):
        for other in ordered[index + 1 :]:
            if not f"{other.name}.".startswith(f"{one.name}."):
                break
            if not _is_around(one, other) and not _is_around(other, one):
                yield one, other


def _target_key(one: ir.Target | ir.Wait) -> object:
    if isinstance(one, ir.Target):
        return one.value.expr
    return one.queueing.as_read


def _is_around(outer: ir.OfResources, inner: ir.OfResources) -> bool:
    """Return whether what says something stands around what says something else, or is it."""
    return not outer.instance or f"{inner.instance}.".startswith(f"{outer.instance}.")
