"""The numbers that a block states by their names: `target 70 %; startup 60 s`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast


class SettingKind(Struct, frozen=True, kw_only=True):
    """What a setting is called in messages, its dimension, and an example of it."""

    what: str
    example: str
    dimension: Dimension = DIMENSIONLESS
    is_required: bool = False


class SettingsChecker(DeclarationChecker, frozen=True):
    """Checks settings by the kinds that a declaration has."""

    def stated(
        self, settings: tuple[ast.NamedSetting, ...], kinds: Mapping[str, SettingKind], span: Span
    ) -> dict[str, ast.NamedSetting] | None:
        """Return settings by their names; None where one is unknown, missing or stated twice."""
        found: dict[str, ast.NamedSetting] = {}
        is_sound = True
        for setting in settings:
            name = setting.name.text
            if name not in kinds:
                examples = ", ".join(f"`{kind.example}`" for kind in kinds.values())
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    setting.name.span,
                    f"`{name}` cannot be set here",
                    hint=did_you_mean(name, kinds) or f"write one of {examples}",
                )
            elif name in found:
                self.sink.report(
                    codes.MISPLACED,
                    setting.span,
                    f"`{name}` is specified twice",
                    secondary=[Label(found[name].span, "first specified here")],
                    hint=single_statement_hint(setting.span),
                )
            else:
                found[name] = setting
                continue
            is_sound = False
        for name, kind in kinds.items():
            if kind.is_required and name not in found and is_sound:
                self.sink.report(
                    codes.MISSING_PART,
                    span,
                    f"{kind.what} is missing",
                    hint=f"add `{kind.example}`",
                )
                is_sound = False
        return found if is_sound else None

    def quantities(
        self, settings: tuple[ast.NamedSetting, ...], kinds: Mapping[str, SettingKind], span: Span
    ) -> dict[str, ir.Quantity] | None:
        """Return the values of settings; None where one was reported."""
        stated = self.stated(settings, kinds, span)
        if stated is None:
            return None
        scope = Scope(self.main, AllowedNames.NOTHING)
        found: dict[str, ir.Quantity] = {}
        for name, setting in stated.items():
            kind = kinds[name]
            value = self.expressions.quantity(setting.value, scope, kind.dimension, kind.what)
            if value is None:
                return None
            found[name] = value
        return found
