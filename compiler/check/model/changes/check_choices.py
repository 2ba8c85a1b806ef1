"""Which mode, scenario or case a change chooses."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.check_classes import CASES
from qps.compiler.check.names.declarations import LoadedModule, chooses, lookup, repeated
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.values.part import DeclarationChecker, whole
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.syntax import ast


class ChoiceChecker(DeclarationChecker, frozen=True):
    """Checks the choices of modes, scenarios and cases."""

    @property
    def _has_cases(self) -> bool:
        params = self.program.everywhere(ast.Param)
        return any(isinstance(p.declaration.value, ast.Cases | ast.KindTable) for p in params)

    def together(
        self, change: ast.Change, several: ast.Listed, module: LoadedModule
    ) -> ir.Change | None:
        """Return the choice of several scenarios."""
        word = change.name.text
        if word != "scenario" or not chooses(module, change.name):
            self.sink.report(
                codes.BAD_SETTING,
                several.span,
                f"`{word}` takes one value, not a list",
                hint=f"for several values use an axis of a matrix: `{word} in {several.span.text}`"
                if several.values
                else "choose one",
            )
            return None
        if not several.values:
            message = "this list names no scenario"
            self.sink.report(codes.BAD_SETTING, several.span, message, hint="name at least one")
            return None
        for one, earlier in repeated(several.values, lambda value: value.span.text):
            self.sink.report(
                codes.DUPLICATE_NAME,
                one.span,
                f"scenario `{one.span.text}` is listed twice",
                secondary=[Label(earlier.span, "first listed here")],
                hint=single_statement_hint(one.span),
            )
        chosen: tuple[ir.Change, ...] | None = whole(
            [self.chosen(replace(change, value=one)) for one in several.values]
        )
        if chosen is None:
            return None
        names = ", ".join(one.name for one in chosen if isinstance(one, ir.SetScenario))
        return ir.SetScenario(names, chosen, change.span)

    def case(self, change: ast.Change, module: LoadedModule) -> ir.Change | None:
        """Return the choice of a case."""
        value = change.value
        word = value.name.text if isinstance(value, ast.Reference) else value.span.text
        if not self._has_cases and not self.main.syntax.failed_kinds & {"param", ""}:
            self.sink.report(
                codes.BAD_SETTING,
                change.name.span,
                "the spec has no cases: no parameter has several values",
                hint="add them, such as `param x = { average 3 ms; largest 5 ms }`",
            )
        elif word in CASES:
            module.note(Meaning.WORD, change.name)
            if isinstance(value, ast.Reference):
                module.note(Meaning.WORD, value.name)
            return ir.SetCase(ir.Case(word), change.span)
        else:
            self.sink.report(
                codes.BAD_SETTING,
                value.span,
                f"unknown case `{word}`",
                hint=offered(word, CASES),
            )
        return None

    def chosen(self, change: ast.Change) -> ir.Change | None:
        """Return the choice of a mode or a scenario, or None where it was reported."""
        value, kind = change.value, change.name.text
        named = value.name if isinstance(value, ast.Reference) else None
        word = self.main.qualified(value.span.text if named is None else named.text)
        if named is not None:
            self.main.note(Meaning.CHOSEN, named)
        if kind == "mode" and word in self.known.modes:
            return ir.SetMode(word, self.known.modes[word].changes, change.span)
        if kind == "scenario" and word in self.known.scenarios:
            return ir.SetScenario(word, self.known.scenarios[word].changes, change.span)
        instance, name = (self.main, "") if named is None else self._owner(named)
        known = list(self.known.modes if kind == "mode" else self.known.scenarios)
        declared = {found.name.text: found for found in self._declared(kind, instance)}
        if instance is not self.main and name in declared:
            self._not_offered(change, declared[name], instance)
            return None
        self.sink.report(
            codes.BAD_SETTING,
            change.value.span,
            f"`{word}` is used before its declaration"
            if name in declared
            else f"unknown {kind} `{word}`",
            hint="move its declaration up"
            if name in declared
            else offered(word, known, f"declare it: `{kind} name {{ … }}`"),
        )
        return None

    def _owner(self, name: ast.Name) -> tuple[LoadedModule, str]:
        """Return the module that a scenario or a mode of a name stands in, and its name there."""
        module, parts = self.main, name.parts
        while len(parts) > 1 and parts[0] in module.imports:
            module, parts = module.imports[parts[0]], parts[1:]
        return module, ".".join(parts)

    def _declared(self, kind: str, module: LoadedModule) -> Sequence[ast.Mode | ast.Scenario]:
        return module.syntax.every(ast.Mode if kind == "mode" else ast.Scenario)

    def _not_offered(
        self, change: ast.Change, found: ast.Mode | ast.Scenario, instance: LoadedModule
    ) -> None:
        """Report a scenario of an instance that sets its users, a mode beside the one it is in."""
        word, prefix = change.name.text, instance.prefix
        reason = f"it sets the population of `{prefix}`, which its `use` already sets"
        hint = "set a parameter that the population depends on"
        if isinstance(found, ast.Mode):
            reason = f"`{prefix}` is fixed to mode `{instance.mode[0]}`" if instance.mode else "no"
            hint = f"remove `mode = …` from the `use` of `{prefix}`"
        assert instance.used is not None
        self.sink.report(
            codes.BAD_SETTING,
            change.value.span,
            f"{word} `{change.value.span.text}` cannot be chosen: {reason}",
            secondary=[Label(instance.used.span, "set here")],
            hint=hint,
        )

    def sets_population(self, scenario: ast.Scenario, module: LoadedModule) -> bool:
        """Return whether a scenario of an instance sets its users, itself or by another one."""
        if not module.prefix:
            return False
        for change in scenario.changes:
            declared = lookup(module, change.name)
            if declared is not None and isinstance(declared.declaration, ast.Users):
                return True
        named = {s.name.text for s in module.syntax.every(ast.Scenario)}
        changes = [change for change in scenario.changes if chooses(module, change.name)]
        inner = [
            one for change in changes if change.name.text == "scenario" for one in change.chosen
        ]
        return any(  # one that is not known sets it
            isinstance(chosen, ast.Reference)
            and chosen.name.text in named
            and module.qualified(chosen.name.text) not in self.known.scenarios
            for chosen in inner
        )
