"""Sources of streams: the rate of what leaves them, and the sizes that tie items together."""

from __future__ import annotations

import re
from itertools import chain

from qps.compiler import ir
from qps.compiler.check.names.declarations import lookup
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker, whole
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import (
    insertion_after_hint,
    instead,
    removal_hint,
    single_statement_hint,
)
from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    INFORMATION_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast


class EmissionChecker(DeclarationChecker, frozen=True):
    """Checks what leaves the source of a stream."""

    def emission(self, declaration: ast.Stream) -> ir.Emission | None:
        """Return what leaves the only source of a stream; None where it was reported."""
        emissions = [item for item in declaration.items if isinstance(item, ast.Emission)]
        hint = "declare a second stream"
        emission = self.first(emissions, "a stream has only one `traffic`", hint)
        if emission is None:
            self.sink.report(
                codes.MISSING_PART,
                declaration.name.span,
                f"stream `{declaration.name.text}` has no traffic",
                hint="add `traffic 8000 byte/s, 1280 byte/packet`",
            )
            return None
        if emission.is_first_edition:
            self._report_edition(emission)
        return self._emission(emission, declaration.source)

    def _report_edition(self, first: ast.Emission) -> None:
        """Report a text of the first edition, at its first stream."""
        streams = self.main.syntax.every(ast.Stream)
        old = [one for one in chain.from_iterable(s.items for s in streams) if _is_old(one)]
        if old[0] is not first:
            return
        more = f" ({len(old) - 1} more below)" if len(old) > 1 else ""
        self.sink.report(
            codes.FIRST_EDITION,
            first.span,
            f"the rate of a stream is now declared with `traffic`, not `source`{more}",
            hint=instead(
                first.span.text,
                f"traffic {_behind(first)}",
                words=f"run `qps fmt --upgrade`, or write `traffic {shortened(_behind(first))}`",
            ),
        )

    def _emission(self, item: ast.Emission, source: ast.Text | None) -> ir.Emission | None:
        scope = Scope(self.main, AllowedNames.FLOWS)
        stated = (self.expressions.quantity(value, scope) for value in item.values)
        quantities = whole([self.cited(one, item.source, source) for one in stated])
        if quantities is None:
            return None
        first = quantities[0]
        if item.thinks:
            return self._closed(item, quantities, source)
        base = (first.dimension * TIME).single_base
        if base in (None, TIME_BASE):
            advised = advice(first, _is_rate, _rate_hint(first, item))
            self.sink.report(
                codes.WRONG_DIMENSION,
                first.span,
                f"`traffic` must be a rate, not {first.dimension.in_words}",
                label=f"this is {first.dimension.in_words}",
                secondary=self._stated(item.values[0]) or advised.labels,
                hint=_swapped(quantities) or advised.hint,
            )
            return None
        assert base is not None
        return self._emitted(item, quantities, base)

    def _closed(
        self, item: ast.Emission, quantities: tuple[ir.Quantity, ...], source: ast.Text | None
    ) -> ir.Emission | None:
        """Return what each holder has under way, who thinks so long before there is more of it."""
        first, *others = item.thinks
        if others:
            self.sink.report(
                codes.MISPLACED,
                others[0].span,
                "a stream has only one think time",
                secondary=[Label(first.span, "first specified here")],
                hint=single_statement_hint(
                    others[0].span,
                    "remove one; for users with another think time declare a second stream",
                ),
            )
            return None
        time = self.expressions.quantity(
            first.time, Scope(self.main, AllowedNames.FLOWS), TIME, "the think time"
        )
        time = self.cited(time, item.source, source)
        amount = quantities[0]
        base = amount.dimension.single_base
        if base is None or base in (TIME_BASE, INFORMATION_BASE):
            self._no_amount(item, amount)
            return None
        if time is None:
            return None
        return self._emitted(item, quantities, base, time)

    def _no_amount(self, item: ast.Emission, first: ir.Quantity) -> None:
        """Report that who thinks has no number of items under way."""
        think = " ".join(item.thinks[0].span.text.split())
        is_information = first.dimension.single_base == INFORMATION_BASE
        if is_information:
            fix = "give the number of items and the size of each, such as `1 file, 1 MB/file`"
        elif _is_rate(first.dimension):
            fix = (
                f"for a closed workload, write `traffic 1 request, {think}`; for an open "
                f"one, remove `{think}`"
            )
        else:
            fix = f"write `traffic 1 request, {think}`"
        self.sink.report(
            codes.WRONG_DIMENSION,
            first.span,
            f"with think time, `traffic` must be a number of items, not {first.dimension.in_words}",
            label=f"this is {first.dimension.in_words}",
            secondary=[Label(item.thinks[0].span, "think time declared here")],
            hint=fix,
        )

    def _emitted(
        self,
        item: ast.Emission,
        quantities: tuple[ir.Quantity, ...],
        base: str,
        think: ir.Quantity | None = None,
    ) -> ir.Emission | None:
        """Return what leaves a source, with the sizes that tie items to the first one."""
        known = [base]
        for size, written in zip(quantities[1:], item.values[1:], strict=True):
            new = self._tied(size, known, written)
            if new is None:
                return None
            known.append(new)
        items = tuple(b for b in known if b != INFORMATION_BASE)
        return ir.Emission(
            values=quantities,
            primary=items[0] if items else None,
            items=items,
            carries_information=INFORMATION_BASE in known,
            framed_bytes=base == INFORMATION_BASE and len(items) > 0,
            span=item.span,
            think=think,
        )

    def _stated(self, expr: ast.Expr) -> list[Label]:
        """Return where the parameter or `let` stands that an expression is the name of."""
        named = lookup(self.main, expr.name) if isinstance(expr, ast.Reference) else None
        declared = None if named is None else named.declaration
        if not isinstance(declared, ast.Param | ast.Let):
            return []
        return [Label(declared.value.span, f"`{declared.name.text}` is this")]

    def _tied(self, size: ir.Quantity, known: list[str], written: ast.Expr) -> str | None:
        """Return the item that a size such as byte/packet ties to those known already."""
        pair = _pair(size.dimension)
        if pair is not None:
            new = [base for base in pair if base not in known]
            if len(new) == 1:
                return new[0]
            if not new:
                self.sink.report(
                    codes.MISPLACED,
                    size.span,
                    f"`{size.dimension}` already follows from the values before it",
                    hint=removal_hint(size.span, "remove it"),
                )
                return None
        usual = _size_hint(size, written, known)
        advised = advice(size, lambda other: _pair(other) is not None, usual)
        self.sink.report(
            codes.WRONG_DIMENSION,
            size.span,
            f"a size must be a ratio such as byte/packet, not {size.dimension.in_words}",
            label=f"this is {size.dimension.in_words}",
            secondary=self._stated(written) or advised.labels,
            hint=advised.hint,
        )
        return None


def _pair(dimension: Dimension) -> tuple[str, str] | None:
    """Return the items that a size such as byte/packet ties together, None where it is none."""
    exponents = dict(dimension.exponents)
    above = [base for base, power in exponents.items() if power == 1]
    below = [base for base, power in exponents.items() if power == -1]
    if len(exponents) != 2 or len(above) != 1 or TIME_BASE in exponents:  # noqa: PLR2004
        return None
    return (above[0], below[0]) if below else (above[0], above[0])


def _item_word(base: str) -> str:
    return "byte" if base == INFORMATION_BASE else base


def _size_hint(size: ir.Quantity, written: ast.Expr, known: list[str]) -> str:
    """Return how to tie a size to what the stream carries so far."""
    words = [_item_word(base) for base in known]
    example = "byte/packet" if words == ["byte"] else f"byte/{words[-1]}"
    if size.dimension == DIMENSIONLESS and isinstance(written, ast.Reference):
        return f"give `{written.span.text}` a unit in its declaration, such as `{example}`"
    if size.dimension == DIMENSIONLESS:
        complete = f"{written.span.text} {example}"
        return instead(written.span.text, complete, words=f"add the unit: `{complete}`")
    return f"the stream has {listed(words, 'and')} so far: write a size such as `{example}`"


def _swapped(values: tuple[ir.Quantity, ...]) -> str | None:
    """Return what to write where the rate of a source stands behind its sizes."""
    rates = [v for v in values if (v.dimension * TIME).single_base not in (None, TIME_BASE)]
    if not rates or values[0].dimension.single_base is not None:
        return None
    texts = [" ".join(v.span.text.split()) for v in (rates[0], *values) if v is not rates[0]]
    rate = " ".join(rates[0].span.text.split())
    return f"put the rate first: `traffic {', '.join([rate, *texts])}`"


def _is_old(item: object) -> bool:
    return isinstance(item, ast.Emission) and item.is_first_edition


def _is_rate(dimension: Dimension) -> bool:
    return (dimension * TIME).single_base not in (None, TIME_BASE)


def _behind(item: ast.Emission) -> str:
    """Return what stands behind the word."""
    values = item.span.text.partition(" ")[2].strip()
    return re.sub(r"\s+in\s+", ", ", values)


def _rate_hint(value: ir.Quantity, item: ast.Emission) -> str:
    digits = re.match(r"\w+\s+(\d{1,3}),(\d{3})\b", item.span.text)
    if digits:
        return f"write digits without commas: `{digits[1]}_{digits[2]}`"
    base = value.dimension.single_base
    if base == INFORMATION_BASE:
        hint = f"write a rate: `{value.span.text}/s`"
        return insertion_after_hint(value.span, "/s", text=hint)
    if base is not None and base != TIME_BASE:
        hint = (
            f"for an open workload, write `{value.span.text}/s`; for a closed one, add a "
            f"think time: `{value.span.text}, think 15 s`"
        )
        return insertion_after_hint(value.span, "/s", text=hint)
    if (value.dimension / TIME).single_base not in (None, TIME_BASE):
        # `1 / 300 s * 1 request`: the unit is that of the fraction 1/300
        return (
            "this multiplies by a time: write a rate as `1 request every 300 s`, or divide by a "
            "time in parentheses, `1 request / (300 s)`"
        )
    return "write a rate such as `30 frame/s` or `8000 byte/s`"
