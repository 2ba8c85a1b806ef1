"""Percentiles in one line: `measure page.latency p50, p95, p99`, also as columns of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead, removal_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import percentile_level, percentile_word
from qps.compiler.syntax import ast

_QUANTILES = {
    ir.MeasureKind.LATENCY: ir.MeasureKind.QUANTILE,
    ir.MeasureKind.WAIT: ir.MeasureKind.WAIT_QUANTILE,
}
"""What a percentile is called, by the measure that it is of."""
_WORDS = {ir.MeasureKind.LATENCY: "latency", ir.MeasureKind.WAIT: "wait"}


class CheckedPercentile(Struct, frozen=True, kw_only=True):
    """A percentile of a list, under the name that it has by itself: `page.p95`."""

    name: str
    listed_for: str
    """The measure in front of the list: `page.latency`."""
    span: Span
    value: ir.Quantity


class PercentileChecker(DeclarationChecker, frozen=True):
    """Checks lists of percentiles."""

    def percentiles(self, item: ast.Percentiles, scope: Scope) -> tuple[CheckedPercentile, ...]:
        """Return each percentile of a list; what is wrong is reported and left out."""
        found = self.expressions.quantity(item.measure, scope)
        if found is None:
            return ()
        measured = found.expr
        if not isinstance(measured, ir.Measured) or not _has_percentiles(measured):
            self._no_percentiles(item.measure, measured)
            return ()
        word = _WORDS[measured.kind]
        before = f"{measured.subject}." + f"{word}." * (measured.kind is ir.MeasureKind.WAIT)
        return tuple(
            CheckedPercentile(
                name=f"{before}{percentile_word(level)}",
                listed_for=f"{measured.subject}.{word}",
                span=name.span,
                value=replace(found, expr=_quantile(measured, level), span=name.span),
            )
            for name, level in self._levels(item)
        )

    def _levels(self, item: ast.Percentiles) -> Iterator[tuple[ast.Name, Fraction]]:
        """Yield the percentiles of a list that are some, each once."""
        listed: dict[Fraction, ast.Name] = {}
        for name in item.levels:
            self.main.note(Meaning.WORD, name)
            level = percentile_level(name.text)
            if level is None or not 0 < level < 1:
                self._unknown(name)
            elif level in listed:
                self.sink.report(
                    codes.PERCENTILES,
                    name.span,
                    f"`{name.text}` is listed twice",
                    secondary=[Label(listed[level].span, "first listed here")],
                    hint=removal_hint(name.span, "remove one of them"),
                )
            else:
                listed[level] = name
                yield name, level

    def _unknown(self, name: ast.Name) -> None:
        """Report what is no percentile, with the one that its digits may mean."""
        digits = "".join(letter for letter in name.text if letter.isdecimal())
        level = percentile_level(f"p{digits[:2]}_{digits[2:]}" if digits[2:] else f"p{digits}")
        meant = None if not level or digits in ("", "100") else percentile_word(level)
        example = "write a percentile from p1 to p99, or with decimals: `p99_9`"
        self.sink.report(
            codes.PERCENTILES,
            name.span,
            f"`{name.text}` is not a percentile",
            hint=example if meant is None else instead(name.text, meant),
        )

    def _no_percentiles(self, measure: ast.Reference, value: ir.Expr) -> None:
        """Report what has no percentiles, with what has some."""
        text = measure.name.text
        if isinstance(value, ir.Measured) and value.component is not None:
            text, what = f"{value.subject}.latency", "a call"
        elif isinstance(value, ir.Measured) and value.level is not None:
            what = "a percentile"
            named = ast.Name(measure.span, measure.name.parts[:-1]).text
            text = f"{named}.latency" if value.kind is ir.MeasureKind.QUANTILE else named
        else:
            what, text = f"`{text}`", ""
        self.sink.report(
            codes.PERCENTILES,
            measure.span,
            f"percentiles of {what} are not available",
            hint=instead(measure.name.text, text)
            if text
            else "list percentiles of a latency or a waiting time, such as "
            "`page.latency p50, p95` or `web.cpu.wait p95`",
        )


def _has_percentiles(measured: ir.Measured) -> bool:
    return measured.kind in _QUANTILES and measured.component is None


def _quantile(measured: ir.Measured, level: Fraction) -> ir.Measured:
    return ir.Measured(kind=_QUANTILES[measured.kind], subject=measured.subject, level=level)
