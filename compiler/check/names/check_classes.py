"""Classes (`kinds` in a spec): into which items are divided, and which share each has."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import Declared, LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import renaming_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.syntax import ast
from qps.grammar.words import NO_KINDS

CASES = tuple(case.value for case in ir.Case)


class ClassShare(Struct, frozen=True):
    """The share of a class: a number, the weight that it comes from, and where that stands."""

    value: Fraction
    weight: str
    span: Span


class ClassShares(Struct, frozen=True):
    """The shares of all classes; `total` is what counts add up to, 1 for shares themselves."""

    of: dict[str, ClassShare]
    total: Fraction

    def text(self, name: str) -> str:
        """Return how a share is reported: `30/175`, or as it is written."""
        weight = self.of[name].weight
        return weight if self.total == 1 else f"{weight}/{self.total}"


class ClassChecker(Struct, frozen=True):
    """Checks declarations of classes, each once; `number` gives the value of a weight."""

    sink: Sink
    number: Callable[[ast.Expr, Scope, str], Fraction | None]
    known: dict[str, ClassShares | None]

    def shares(self, named: Declared) -> ClassShares | None:
        """Return the shares of the classes that a declaration lists; None where it is wrong."""
        declared = named.declaration
        assert isinstance(declared, ast.Kinds)
        if named.qualified not in self.known:
            weights = (
                self._counted(declared)
                if declared.pattern
                else self._weights(named.module, declared)
            )
            self.known[named.qualified] = (
                None if weights is None else self._shared(declared, weights)
            )
        return self.known[named.qualified]

    def knows(self, declared: Declared, name: ast.Name) -> bool:
        """Return whether a class is one of those declared; else it is reported."""
        shares = self.shares(declared)
        if shares is None or name.parts[-1] in shares.of:
            return shares is not None
        own = declared.declaration.name
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"`{own.text}` has no kind `{name.parts[-1]}`",
            secondary=[Label(own.span, "declared here")],
            hint=offered(name.parts[-1], shares.of),
        )
        return False

    def _counted(self, declared: ast.Kinds) -> list[tuple[str, ClassShare]] | None:
        """Return how often each letter stands in a pattern."""
        assert declared.pattern is not None
        pattern, span = declared.pattern.value, declared.pattern.span
        wrong = [letter for letter in pattern if not letter.isalpha()]
        if not pattern or wrong:
            self.sink.report(
                codes.MISSING_PART if not pattern else codes.CHARACTER,
                span,
                "a pattern must name at least one kind"
                if not pattern
                else f"`{wrong[0]}` in a pattern is not a letter",
                hint=f'use one letter per kind: `kinds {declared.name.text} in "IBBPBB"`',
            )
            return None
        counts = {letter: pattern.count(letter) for letter in pattern}
        return [(k, ClassShare(Fraction(count), str(count), span)) for k, count in counts.items()]

    def _weights(
        self, module: LoadedModule, declared: ast.Kinds
    ) -> list[tuple[str, ClassShare]] | None:
        """Return the classes with their weights as they are written."""
        if not declared.weights:
            self.sink.report(
                codes.MISSING_PART,
                declared.name.span,
                f"`{declared.name.text}` has no kinds",
                hint="list the kinds with their weights: `{ I 30; P 29 }`",
            )
            return None
        fixed = Scope(module, AllowedNames.NOTHING)
        found: dict[str, ClassShare] = {}
        is_sound = True
        for weight in declared.weights:
            value = self.number(weight.value, fixed, "a weight")
            is_sound &= value is not None and self._is_class(weight, found)
            if value is None:
                continue
            if value <= 0:
                is_sound = False
                self.sink.report(
                    codes.OUT_OF_RANGE,
                    weight.value.span,
                    "a weight must be above zero",
                    hint="remove the kind if it has no share",
                )
            found[weight.name.text] = ClassShare(value, weight.value.span.text, weight.span)
        return list(found.items()) if is_sound else None

    def _is_class(self, weight: ast.Weight, found: dict[str, ClassShare]) -> bool:
        name = weight.name
        taken = "a reserved word" if name.text in NO_KINDS else "a case"
        if name.text in NO_KINDS or name.text in CASES:
            self.sink.report(
                codes.RESERVED_WORD,
                name.span,
                f"`{name.text}` is {taken} and cannot be a kind",
                hint=renaming_hint(name.span),
            )
        elif name.text in found:
            self.sink.report(
                codes.DUPLICATE_NAME,
                name.span,
                f"kind `{name.text}` is declared twice",
                secondary=[Label(found[name.text].span, "first declared here")],
                hint="add the two weights, or rename one kind",
            )
        else:
            return True
        return False

    def _shared(
        self, declared: ast.Kinds, weights: list[tuple[str, ClassShare]]
    ) -> ClassShares | None:
        """Return the shares that weights come to; shares themselves must add up to 1."""
        total = sum((share.value for _, share in weights), Fraction(0))
        in_percent = any(share.weight.endswith("%") for _, share in weights)
        is_shares = in_percent or all(share.value < 1 for _, share in weights)
        if is_shares and total != 1:
            self.sink.report(
                codes.OUT_OF_RANGE,
                declared.name.span,
                f"the shares of `{declared.name.text}` add up to {float(total * 100):g} %, "
                "not to 100 %",
                secondary=[Label(share.span, "") for _, share in weights],
                hint="fix the shares; or use counts of at least 1",
            )
            return None
        shared = {
            name: ClassShare(share.value / total, share.weight, share.span)
            for name, share in weights
        }
        return ClassShares(shared, total)
