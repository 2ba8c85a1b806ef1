"""Imports: every module loaded once, every declared name in its module's scope."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from msgspec import Struct, field

from qps.compiler.check.names.declarations import Module, Program, is_unit, keyword, kind_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Outcome, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities import units
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse

MOST_MODULES = 200
LARGEST_TOTAL = 1_000_000
"""Characters in all modules together, beyond which no more are read."""
DEEPEST_IMPORTS = 40

_OF_A_SPEC = (ast.Topology, ast.Stream, ast.Require, ast.Target, ast.Mode, ast.Quality)
"""What only the spec itself has, and no spec that uses it."""


def resolve(main: ast.Module, importer: Importer) -> Outcome[Program]:
    """Load what a module uses and gather all names, as far as they can be found."""
    sink = Sink()
    loader = _Loader(importer=importer, sink=sink)
    module = loader.load(main, "", ())
    return sink.partial(Program(module, tuple(loader.loaded.values()), frozenset(loader.failed)))


class _Loader(Struct, kw_only=True):
    importer: Importer
    sink: Sink
    loaded: dict[str, Module] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    characters: int = 0

    def load(self, syntax: ast.Module, prefix: str, trail: tuple[tuple[str, Span], ...]) -> Module:
        """Gather the names of a module, then load what it uses; `trail` is how we came here."""
        module = Module(syntax, prefix)
        self.loaded[syntax.source.label] = module
        self.failed |= syntax.failed_names
        for declaration in _named(syntax):
            self._declare(module, declaration)
        for use in syntax.every(ast.Use):
            self._follow(module, use, trail)
        return module

    def _declare(self, module: Module, declaration: ast.Shared) -> None:
        name = declaration.name
        if is_unit(name, self.sink):
            self.failed.add(name.text)
            if isinstance(declaration, ast.Option):
                self.failed |= {choice.text for choice in declaration.choices}
            return
        earlier = module.names.get(name.text)
        if earlier is not None:
            self.sink.report(
                codes.DUPLICATE_NAME,
                name.span,
                f"`{name.text}` is declared twice",
                label="declared again here",
                secondary=[Label(earlier.name.span, f"first declared here, as {kind_of(earlier)}")],
                hint="rename one of them",
            )
            return
        module.names[name.text] = declaration

    def _follow(self, module: Module, use: ast.Use, trail: tuple[tuple[str, Span], ...]) -> None:
        alias = _alias(use)
        # A file without a name, such as "", is reported by the importer.
        if alias and not self._alias_is_free(module, use, alias):
            self.failed.add(alias)
            return
        here = module.syntax.source
        opened = self.importer.open(use.module, here)
        self.sink.add_all(opened.diagnostics)
        self.failed.add(alias)
        if opened.value is None:
            return
        source = opened.value
        steps = (*trail, (here.label, use.span))
        if len(steps) > DEEPEST_IMPORTS:
            self.sink.report(
                codes.UNKNOWN_MODULE,
                use.span,
                f"modules may use each other {DEEPEST_IMPORTS} deep, this goes deeper",
                hint="use what is needed directly",
            )
            return
        if source.label in [label for label, _ in steps]:
            self._report_cycle(use, source, steps)
            return
        imported = self.loaded.get(source.label) or self._load_text(source, module, alias, steps)
        if imported is not None:
            module.imports[alias] = imported
            self.failed.discard(alias)
            self._tell_left_out(use, imported)

    def _tell_left_out(self, use: ast.Use, imported: Module) -> None:
        """Warn of a module that is a spec: what it needs and carries is no part of this one."""
        declared = {type(item) for item in imported.syntax.declarations}
        left_out = [keyword(kind) for kind in _OF_A_SPEC if kind in declared]
        if left_out:
            label = imported.syntax.source.label
            self.sink.report(
                codes.LEFT_OUT,
                use.span,
                f"`{label}` is a spec of its own: {listed(left_out, 'and')} of it have no part in "
                "this one",
                hint="only what it declares for others is used (machines, components, functions, "
                "parameters): move these into a file of their own, and copy the rest that belongs "
                "here",
            )

    def _alias_is_free(self, module: Module, use: ast.Use, alias: str) -> bool:
        if not alias.isidentifier():
            self.sink.report(
                codes.SYNTAX,
                use.span,
                f"`{alias}` cannot be the name of a module",
                hint="give it one: `use … as name`",
            )
            return False
        taken = alias in module.names or alias in module.imports or units.built_in(alias)
        if taken:
            what = "a unit" if units.built_in(alias) else "in use already"
            self.sink.report(
                codes.DUPLICATE_NAME,
                use.span,
                f"the name `{alias}` is {what}",
                secondary=_first_use(module, use, alias),
                hint="give the module another name: `use … as name`",
            )
        return not taken

    def _load_text(
        self, source: Source, module: Module, alias: str, steps: tuple[tuple[str, Span], ...]
    ) -> Module | None:
        if len(self.loaded) >= MOST_MODULES:
            self.sink.report(
                codes.UNKNOWN_MODULE,
                steps[-1][1],
                f"a spec may use {MOST_MODULES} modules at most",
                hint="join some of them",
            )
            return None
        self.characters += len(source.text)
        if self.characters > LARGEST_TOTAL:
            self.sink.report(
                codes.UNREADABLE,
                steps[-1][1],
                f"the modules of a spec have {LARGEST_TOTAL:,} characters at most",
                hint="use fewer of them",
            )
            return None
        parsed = _parsed(source)
        self.sink.add_all(parsed.diagnostics)
        if parsed.value is None:
            return None
        return self.load(parsed.value, module.qualified(alias), steps)

    def _report_cycle(
        self, use: ast.Use, source: Source, steps: tuple[tuple[str, Span], ...]
    ) -> None:
        labels = [label for label, _ in steps]
        first = labels.index(source.label)
        circle = [*labels[first:], source.label]
        self.sink.report(
            codes.IMPORT_CYCLE,
            use.span,
            "modules use each other in a circle: " + " -> ".join(circle),
            label="this closes the circle",
            secondary=[Label(span, f"`{label}` goes on here") for label, span in steps[first:-1]],
            hint="move what both need into a module of its own",
        )


@lru_cache(maxsize=64)
def _parsed(source: Source) -> Outcome[ast.Module]:
    """Return the module of a source; one of the standard library is parsed once for all specs."""
    return parse(source)


def _named(syntax: ast.Module) -> Iterator[ast.Shared]:
    for declaration in syntax.declarations:
        if isinstance(declaration, ast.Topology):
            yield from declaration.items
        elif isinstance(declaration, ast.Shared):
            yield declaration


def _first_use(module: Module, use: ast.Use, alias: str) -> list[Label]:
    """Return where the name of a module was given before."""
    if alias in module.names:
        earlier = module.names[alias]
        return [Label(earlier.name.span, f"declared here, as {kind_of(earlier)}")]
    uses = [other for other in module.syntax.every(ast.Use) if other is not use]
    return [Label(d.span, "first used here") for d in uses if _alias(d) == alias][:1]


def _alias(use: ast.Use) -> str:
    if use.alias is not None:
        return use.alias.text
    if isinstance(use.module, ast.Name):
        return use.module.parts[-1]
    return PurePosixPath(use.module.value).stem
