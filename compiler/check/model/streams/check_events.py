"""Events of a stream: what happens to a part of its items, drawn once for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.declarations import LoadedModule, kind_of, named_in
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.suggest import closest, did_you_mean
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in

_ALIKE = 0.74
"""How alike a name must be that is taken for a misspelt event: it may be a parameter as well."""


class StreamEvents(Struct, frozen=True, kw_only=True):
    """The events that a stream declares, those among them that are sound, and which are used."""

    stream: str
    declared: Mapping[str, ast.Event]
    sound: Mapping[str, ir.Event]
    used: set[str] = field(default_factory=set)


def event_condition(probability: ast.Expr | None) -> tuple[ast.Name, bool] | None:
    """Return the name before a colon that may be that of an event, and whether it happens."""
    if isinstance(probability, ast.Reference):
        return probability.name, True
    if isinstance(probability, ast.Not) and isinstance(probability.operand, ast.Reference):
        return probability.operand.name, False
    return None


class EventChecker(DeclarationChecker, frozen=True):
    """Checks the events that a stream declares."""

    def events(self, declaration: ast.Stream) -> StreamEvents:
        """Return the events of a stream; of those with one name the first one counts."""
        stated = [item for item in declaration.items if isinstance(item, ast.Event)]
        self.are_distinct(
            stated, "event {} is declared twice", "first declared here", "remove one of them"
        )
        declared: dict[str, ast.Event] = {}
        for event in stated:
            declared.setdefault(event.name.text, event)
        found = (self._event(event) for event in declared.values())
        return StreamEvents(
            stream=declaration.name.text,
            declared=declared,
            sound={event.name: event for event in found if event is not None},
        )

    def _event(self, event: ast.Event) -> ir.Event | None:
        scope, name = Scope(self.main, AllowedNames.FLOWS), event.name.text
        share = self.expressions.quantity(event.value, scope, DIMENSIONLESS, "a probability")
        if not self._is_free(event) or not self._is_of_items(event) or share is None:
            return None
        return ir.Event(name, self.cited(share, event.source) or share, event.name.span)

    def _is_free(self, event: ast.Event) -> bool:
        """Return whether nothing else of the spec is called as an event, which is reported."""
        known = named_in(self.main, event.name.parts)
        if known is None:
            return True
        kind = kind_of(known.declaration)
        self.sink.report(
            codes.DUPLICATE_NAME,
            event.name.span,
            f"`{event.name.text}` is already the name of {kind}",
            secondary=[Label(known.declaration.name.span, "declared here")],
            hint=f"rename the event: `{event.name.text}:` could mean either",
        )
        return False

    def _is_of_items(self, event: ast.Event) -> bool:
        """Return whether an event is drawn for each item; others are kinds of users."""
        if event.each is None:
            return True
        name, each = event.name.text, event.each.text
        share = " ".join(event.value.span.text.split())
        hint = f"an event has an outcome for each item: remove `for each {each}`"
        if each == ir.Whose.EACH_USER.value:
            self.main.note(Meaning.WORD, event.each)
            hint = (
                f"if all items of a user are alike, declare kinds of users: `kinds {name} of users "
                f"{{ yes {share}; no … }}`, `param is_{name} by {name} {{ yes 100 %; no 0 % }}`, "
                f"and write `is_{name}: step`; if not, remove `for each {each}`"
            )
        self.sink.report(
            codes.USER_EVENT,
            event.each.span,
            f"event `{name}` cannot have one outcome for each {each}",
            hint=hint,
        )
        return False


class EventUses(DeclarationChecker, frozen=True, kw_only=True):
    """Checks where a stream uses its events."""

    events: StreamEvents

    def use(
        self, probability: ast.Expr | None, decided: Sequence[ir.EventOutcome] = ()
    ) -> ir.EventOutcome | None:
        """Return the outcome of an event that stands before a colon, None for anything else.

        Within what is done where an event is `decided` it cannot be requested again.
        """
        named = event_condition(probability)
        if probability is None or named is None or not self.is_event(probability):
            return None
        name, happens = named
        self.main.note(Meaning.EVENT, name, self.events.declared[name.text])
        self.events.used.add(name.text)
        earlier = next((one for one in decided if one.name == name.text), None)
        if earlier is not None:
            outcome = "always" if earlier.happens == happens else "never"
            self.sink.report(
                codes.MISPLACED,
                probability.span,
                f"`{_words(probability)}` is {outcome} true inside `{earlier.words}: …`",
                hint="remove the condition, and keep its steps"
                if outcome == "always"
                else "move it out of this block, or remove it",
            )
        return ir.EventOutcome(name.text, happens=happens)

    def is_event(self, probability: ast.Expr | None) -> bool:
        """Return whether an event of the stream stands before a colon, sound or not."""
        named = event_condition(probability)
        return named is not None and named[0].text in self.events.declared

    def is_sound(self, probability: ast.Expr) -> bool:
        """Return whether what stands before a colon names no event wrongly; else it is reported.

        An event is no number, and belongs to one stream.
        """
        named = event_condition(probability)
        if probability.span.text == "else":
            self._report_else(probability)
            return False
        if named is not None and (not named[1] or self._is_misspelt(named[0])):
            self._report_unknown(named[0])
            return False
        for node in nodes_in(probability):
            name = node.name if isinstance(node, ast.Reference) else None
            if name is None or named_in(self.main, name.parts) is not None:
                continue
            if name.text in self.events.declared:
                self._report_number(probability, name)
                return False
            if self._declared_elsewhere(name) is not None:
                self._report_unknown(name)
                return False
        return True

    def _report_else(self, probability: ast.Expr) -> None:
        """Report an `else` that follows steps: alternatives stand in `one of`."""
        event = next(iter(self.events.declared), None)
        alternative = (
            "" if event is None else f", or use the opposite of an event: `not {event}: …`"
        )
        self.sink.report(
            codes.ELSE,
            probability.span,
            "`else` is an alternative of `one of`",
            hint=f"write `one of {{ {event or '10 %'}: …; else: … }}`{alternative}",
        )

    def _report_number(self, probability: ast.Expr, name: ast.Name) -> None:
        """Report an event that is taken for a number: `(1 - hit): …`, `call db * hit`."""
        event = self.events.declared[name.text]
        self.events.used.add(name.text)
        self.main.note(Meaning.EVENT, name, event)
        self.sink.report(
            codes.EVENT,
            probability.span,
            f"`{name.text}` is an event, not a number",
            secondary=[Label(event.name.span, "declared here")],
            hint=f"write `{name.text}: …` for items to which it happens, and `not {name.text}: …` "
            "for the others",
        )

    def _report_unknown(self, name: ast.Name) -> None:
        """Report an event that is of no stream, or of another one, or no event."""
        other, known = self._declared_elsewhere(name), named_in(self.main, name.parts)
        text, stream = name.text, self.events.stream
        if known is not None:
            self.sink.report(
                codes.EVENT,
                name.span,
                f"`{text}` is {kind_of(known.declaration)}, not an event of `{stream}`",
                secondary=[Label(known.declaration.name.span, "declared here")],
                hint=f"write `(1 - {text}): …`, or declare an event: `event … = {text}`",
            )
        elif other is not None:
            of, event = other
            self.sink.report(
                codes.EVENT,
                name.span,
                f"event `{text}` belongs to stream `{of.name.text}`, not to `{stream}`",
                secondary=[Label(event.name.span, "declared here")],
                hint=f"declare an event in `{stream}`: `event {text} = "
                f"{' '.join(event.value.span.text.split())}`",
            )
        else:
            names = ", ".join(f"`{one}`" for one in self.events.declared)
            near = [one for one in self.events.declared if closest(text, [one]) is not None]
            declared = f"its events are {names}" if names else f"declare it: `event {text} = 10 %`"
            self.sink.report(
                codes.EVENT,
                name.span,
                f"stream `{stream}` has no event `{text}`",
                hint=did_you_mean(text, near) or declared,
            )

    def _is_misspelt(self, name: ast.Name) -> bool:
        """Return whether a name that nothing declares is nearly that of an event."""
        is_known = named_in(self.main, name.parts) is not None
        return not is_known and closest(name.text, self.events.declared, _ALIKE) is not None

    def _declared_elsewhere(self, name: ast.Name) -> tuple[ast.Stream, ast.Event] | None:
        found = _events_of(self.main)
        return next((one for one in found if one[1].name.text == name.text), None)

    # -- one of several ----------------------------------------------------------------------

    def alternatives(
        self, item: ast.Alternatives, decided: Sequence[ir.EventOutcome]
    ) -> list[ir.EventOutcome] | None:
        """Return by which outcome of one event each alternative is taken; None if not so.

        Those of another event, or by a share, do not exclude each other, which is reported.
        """
        uses = [self.use(branch.probability, decided) for branch in item.branches]
        event = next(one for one in uses if one is not None)
        other = ir.EventOutcome(event.name, happens=not event.happens)
        fitting = [event, other]
        wrong = next(
            (
                branch
                for at, branch in enumerate(item.branches)
                if at >= len(fitting)
                or (uses[at] != fitting[at] and (at == 0 or branch.probability is not None))
            ),
            None,
        )
        if wrong is None:
            return fitting[: len(item.branches)]
        words = "else" if wrong.probability is None else _words(wrong.probability)
        first = next(one for one in item.branches if self.is_event(one.probability))
        self.sink.report(
            codes.EVENT_ALTERNATIVES,
            wrong.span if wrong.probability is None else wrong.probability.span,
            f"`{words}` takes no items after `{event.words}` and `{other.words}`"
            if wrong.probability is None
            else f"`{words}` does not exclude `{event.words}`: an item could take both",
            secondary=[Label(first.span, f"event `{event.name}`")],
            hint="remove it"
            if wrong.probability is None
            else f"write `{event.words}: …; {other.words}: one of {{ {words}: …; else: … }}`",
        )
        return None


def report_unused(events: StreamEvents, checker: DeclarationChecker) -> None:
    """Warn of events that a stream never uses."""
    for name, event in events.declared.items():
        if name not in events.used:
            checker.sink.report(
                codes.UNUSED,
                event.name.span,
                f"stream `{events.stream}` never uses event `{name}`",
                hint=f"put it before a step (`{name}: step`), or remove it",
            )


def _events_of(module: LoadedModule) -> Iterator[tuple[ast.Stream, ast.Event]]:
    for stream in module.syntax.every(ast.Stream):
        for item in stream.items:
            if isinstance(item, ast.Event):
                yield stream, item


def _words(probability: ast.Expr) -> str:
    return " ".join(probability.span.text.split())
