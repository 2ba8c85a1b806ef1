"""Exact powers that are too long, reported as what the user can fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, QpsError
from qps.compiler.diagnostics.source import Span
from qps.engine.exact_algebra.exact_powers import MOST_BITS, PowerTooLongError


@contextmanager
def power_errors_placed(span: Span | None = None) -> Iterator[None]:
    """Raise QpsError where a power has too many digits, with the place of what it stands in."""
    try:
        yield
    except PowerTooLongError as error:
        message = f"a power has more than {MOST_BITS:,} binary digits, the limit of QPS"
        hint = "use smaller exponents, or a smaller range of the population"
        label = None if span is None else Label(span, "")
        raise QpsError(
            [Diagnostic(code=codes.NUMBER_SIZE, message=message, primary=label, hints=(hint,))]
        ) from error
