"""What went wrong, as values: nothing here lays out text, nothing here raises.

A pass reports into a `Sink` and returns an `Outcome`: a value, or none, and what was found
on the way. Warnings travel with a good value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Generic, TypeVar

from msgspec import Struct, field

from qps.compiler.diagnostics.fixits import Fix, fixes_of
from qps.compiler.diagnostics.former_names import former
from qps.compiler.diagnostics.source import Span

T = TypeVar("T")


class Severity(Enum):
    """How grave a diagnostic is; only errors stop the work."""

    ERROR = "error"
    WARNING = "warning"


class Code(Struct, frozen=True):
    """A kind of diagnostic: its number is never used again for another kind."""

    id: str
    slug: str
    severity: Severity
    summary: str


class Label(Struct, frozen=True):
    """A place and what is to be said of it."""

    span: Span
    message: str


class LocatedHint(Struct, frozen=True):
    """A hint, and the places that it is about."""

    hint: str | None
    labels: tuple[Label, ...] = ()


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding.

    `message` is the one thing to show where only one can be shown: a lower-case phrase
    without a full stop. `primary` points at the fault, `secondary` at what it clashes with.
    A note states a fact, a hint is something to do. `primary` is None for what has no place
    in a text, such as a flag on the command line. `fixes` are edits that follow a hint: one of
    them is enough. `details` are the numbers of a message by name.
    """

    code: Code
    message: str
    primary: Label | None
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    details: tuple[tuple[str, str | float], ...] = ()

    mends = former("mends", "fixes")

    @property
    def is_error(self) -> bool:
        """True where the diagnostic stops the work."""
        return self.code.severity is Severity.ERROR


class Outcome(Struct, Generic[T], frozen=True):
    """A value, or None where errors left none, with all diagnostics found.

    The early passes keep what they could make out beside their errors, so that later ones
    can look for more; only `qps.compiler.pipeline` decides that errors end the work.
    """

    value: T | None
    diagnostics: tuple[Diagnostic, ...] = ()


MOST_DIAGNOSTICS = 200
"""Errors after which the rest of a spec is not looked at."""


class TooManyDiagnosticsError(Exception):
    """Raised when a sink is full; `found` is what it holds."""

    def __init__(self, found: Iterable[Diagnostic]) -> None:
        self.found = tuple(found)
        super().__init__(f"more than {MOST_DIAGNOSTICS} errors")


class Sink(Struct, kw_only=True):
    """Collects diagnostics while a pass runs; one mistake is kept once.

    `failed_names` are declared by something that failed itself: that they are unknown, or not of
    the kind that is needed, is no news, and is not reported.
    """

    found: list[Diagnostic] = field(default_factory=list)
    failed_names: set[str] = field(default_factory=set)
    _known: set[tuple[Code, Label | None, str]] = field(default_factory=set)
    _errors: int = 0

    def report(
        self,
        code: Code,
        span: Span | None,
        message: str,
        *,
        label: str = "",
        secondary: Iterable[Label] = (),
        notes: Iterable[str] = (),
        hint: LocatedHint | str | None = None,
    ) -> None:
        """Record a diagnostic; `label` says what this very span is."""
        if (
            code.slug in ("unknown-name", "wrong-kind", "bad-setting")
            and span
            and self.failed_names.intersection(re.split(r"\W+", span.text))
        ):
            return
        advice = hint if isinstance(hint, LocatedHint) else LocatedHint(hint)
        self.add(
            Diagnostic(
                code=code,
                message=message,
                primary=Label(span, label) if span is not None else None,
                secondary=(*secondary, *advice.labels),
                notes=tuple(notes),
                hints=(str(advice.hint),) if advice.hint else (),
                fixes=fixes_of((advice.hint or "",), span),
            )
        )

    def add(self, finding: Diagnostic) -> None:
        """Record a diagnostic that was made elsewhere."""
        key = (finding.code, finding.primary, finding.message)
        if key in self._known:
            return
        self._errors += finding.is_error
        if self._errors > MOST_DIAGNOSTICS:
            raise TooManyDiagnosticsError(self.found)
        self._known.add(key)
        self.found.append(finding)

    def add_all(self, findings: Iterable[Diagnostic]) -> None:
        """Record diagnostics that were made elsewhere."""
        for finding in findings:
            self.add(finding)

    @contextmanager
    def aside(self) -> Iterator[list[Diagnostic]]:
        """Collect what is reported meanwhile by itself; after it the sink is what it was."""
        before = self.found, self._known, self._errors
        self.found, self._known, self._errors = [], set(), 0
        try:
            yield self.found
        finally:
            self.found, self._known, self._errors = before

    @property
    def has_errors(self) -> bool:
        """True once an error was recorded."""
        return any(finding.is_error for finding in self.found)

    def outcome(self, value: T | None) -> Outcome[T]:
        """Return the value with what was found; no value where an error was."""
        return Outcome(None if self.has_errors else value, in_order(self.found))

    def partial(self, value: T) -> Outcome[T]:
        """Return what could be made out, with what was found."""
        return Outcome(value, in_order(self.found))


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the text: by file, then by place."""

    def place(diagnostic: Diagnostic) -> tuple[str, int]:
        if diagnostic.primary is None:
            return ("", 0)
        return (diagnostic.primary.span.source.label, diagnostic.primary.span.start)

    return tuple(sorted(diagnostics, key=place))


class QpsError(Exception):
    """Raised for an invalid spec or setting; `diagnostics` lists the errors in source order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(finding.message for finding in self.diagnostics))

    @staticmethod
    def single(
        code: Code,
        span: Span | None,
        message: str,
        *,
        secondary: Iterable[Label] = (),
        hint: str | None = None,
    ) -> QpsError:
        """Return the error of one diagnostic alone."""
        sink = Sink()
        sink.report(code, span, message, secondary=secondary, hint=hint)
        return QpsError(sink.found)
