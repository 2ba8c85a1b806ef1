"""Imports and names: every module loaded once, every declared name in its module's scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeVar

from msgspec import Struct, field

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Outcome, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.quantities import units
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse
from qps.grammar.words import RESERVED

D = TypeVar("D")

MOST_MODULES = 200
LARGEST_TOTAL = 1_000_000
"""Characters in all modules together, beyond which no more are read."""
DEEPEST_IMPORTS = 40

Named = (
    ast.Unit
    | ast.Users
    | ast.Group
    | ast.Option
    | ast.Param
    | ast.Kinds
    | ast.Let
    | ast.Func
    | ast.Machine
    | ast.Network
    | ast.Component
    | ast.Node
    | ast.Link
    | ast.Stream
    | ast.Measure
    | ast.Trace
)
"""Declarations whose names share one space."""

KIND_WORDS: dict[type, str] = {
    ast.Unit: "a unit",
    ast.Users: "the population",
    ast.Group: "a group",
    ast.Option: "an option",
    ast.Param: "a parameter",
    ast.Kinds: "a set of kinds",
    ast.Let: "a `let`",
    ast.Func: "a function",
    ast.Machine: "a machine",
    ast.Network: "a network",
    ast.Component: "a component",
    ast.Node: "a node",
    ast.Link: "a link",
    ast.Stream: "a stream",
    ast.Measure: "a measure",
    ast.Trace: "a trace",
}


_OF_A_SPEC: dict[type, str] = {
    ast.Topology: "topology",
    ast.Stream: "stream",
    ast.Require: "require",
    ast.Target: "target",
    ast.Mode: "mode",
    ast.Quality: "quality",
}
"""What only the spec itself has, and no spec that uses it."""


KIND_KEYWORDS: dict[type, str] = {
    ast.Machine: "machine",
    ast.Network: "network",
    ast.Component: "component",
    ast.Node: "node",
    ast.Link: "link",
    ast.Unit: "unit",
    ast.Kinds: "kinds",
    ast.Group: "group",
}
"""The words that declare what can be asked for by its kind."""


class Module(Struct, frozen=True):
    """A module with its names. `prefix` is what the main spec calls it, empty for itself."""

    syntax: ast.Module
    prefix: str
    names: dict[str, Named] = field(default_factory=dict)
    imports: dict[str, Module] = field(default_factory=dict)

    def qualified(self, name: str) -> str:
        """Return how the main spec calls one of this module's names."""
        return f"{self.prefix}.{name}" if self.prefix else name


_NEEDS: dict[type, str] = {
    ast.Users: "users",
    ast.Topology: "topology",
    ast.Stream: "stream",
    ast.Require: "require",
    ast.Matrix: "matrix",
    ast.Observe: "observe",
    ast.Mode: "mode",
}
"""What only a file declares that has something to solve."""


class Program(Struct, frozen=True, dict=True):
    """The main module and, in the order of loading, all modules.

    `failed_names` are names that something would declare, had it not failed.
    """

    main: Module
    modules: tuple[Module, ...]
    failed_names: frozenset[str] = frozenset()

    @cached_property
    def is_module(self) -> bool:
        """True for a file that only declares what others use: it has nothing to solve.

        It may claim what its functions and numbers come to. What could not be parsed counts as
        what it was meant to be; where that is not known it may be anything.
        """
        syntax = self.main.syntax
        words = {_NEEDS[type(item)] for item in syntax.declarations if type(item) in _NEEDS}
        meant = syntax.failed_kinds & {"", *_NEEDS.values()}
        return bool(syntax.declarations or syntax.failed_kinds) and not words | meant

    @cached_property
    def rating_bases(self) -> frozenset[str]:
        """The units in which machines are rated."""
        return frozenset(u.name.text for _, u in self.everywhere(ast.Unit) if u.is_rating)

    @cached_property
    def resources(self) -> frozenset[str]:
        """The names of everything that a machine has."""
        machines = [machine for _, machine in self.everywhere(ast.Machine)]
        return frozenset(item.name.text for machine in machines for item in machine.resources)

    def everywhere(self, kind: type[D]) -> list[tuple[Module, D]]:
        """Return the declarations of a kind in every module, with their modules."""
        return [
            (module, declaration)
            for module in self.modules
            for declaration in module.names.values()
            if isinstance(declaration, kind)
        ]


class Declared(Struct, frozen=True):
    """A declaration and the module it stands in."""

    module: Module
    declaration: Named

    @property
    def qualified(self) -> str:
        """How the main spec calls it."""
        return self.module.qualified(self.declaration.name.text)


def lookup(module: Module, name: ast.Name) -> Declared | None:
    """Return what a name means in a module; the names in front of the last are imports."""
    for part in name.parts[:-1]:
        imported = module.imports.get(part)
        if imported is None:
            return None
        module = imported
    declaration = module.names.get(name.parts[-1])
    return None if declaration is None else Declared(module, declaration)


def lookup_class(module: Module, name: ast.Name) -> Declared | None:
    """Return the parameter or the kinds in front of the last part of a name: `frame_size.I`."""
    if len(name.parts) == 1:
        return None
    found = lookup(module, ast.Name(name.span, name.parts[:-1]))
    if found is None or not isinstance(found.declaration, ast.Param | ast.Kinds):
        return None
    return found


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
        for use in syntax.declarations:
            if isinstance(use, ast.Use):
                self._follow(module, use, trail)
        return module

    def _declare(self, module: Module, declaration: Named) -> None:
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
        left_out = [word for kind, word in _OF_A_SPEC.items() if kind in declared]
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
        parsed = parse(source)
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


def is_unit(name: ast.Name, sink: Sink) -> bool:
    """Return whether a name that is declared is a unit of the language; then it is reported."""
    if units.built_in(name.text) is None:
        return False
    sink.report(
        codes.SHADOWED_UNIT,
        name.span,
        f"`{name.text}` is a unit already",
        hint=f"call it something else, such as `{name.text}_`",
    )
    return True


def kind_of(declaration: Named) -> str:
    """Return what a declaration declares, in words."""
    return KIND_WORDS[type(declaration)]


def names_of(module: Module, kinds: tuple[type, ...]) -> Iterator[str]:
    """Yield the names of some kinds that a module can write, those of its imports qualified."""
    yield from (name for name, found in module.names.items() if isinstance(found, kinds))
    for alias, imported in module.imports.items():
        named = imported.names.items()
        yield from (f"{alias}.{name}" for name, found in named if isinstance(found, kinds))


def report_name(
    sink: Sink,
    module: Module,
    name: ast.Name,
    wanted: str,
    kinds: tuple[type, ...],
    others: Iterable[str] = (),
) -> None:
    """Report a name that is not what is wanted: nothing declares it, or it is something else.

    `kinds` are the declarations that could be named, `others` what else could stand there.
    """
    found = lookup(module, name)
    if found is not None and isinstance(found.declaration, kinds) and found.module is not module:
        report_other_spec(sink, name.span, found)
        return
    candidates = sorted({*names_of(module, kinds), *others})
    offered = did_you_mean(name.text, candidates)
    if found is not None or name.text in module.imports:
        kind = "a module" if found is None else kind_of(found.declaration)
        sink.report(
            codes.WRONG_KIND,
            name.span,
            f"`{name.text}` is {kind}, not a {wanted}",
            secondary=[Label(found.declaration.name.span, "declared here")] if found else (),
            hint=offered or f"name a {wanted} here" + _such_as(candidates),
        )
        return
    sink.report(
        codes.UNKNOWN_NAME,
        name.span,
        f"unknown {wanted} `{name.text}`",
        hint=units.ambiguity(name.text) or offered or _how_to_declare(module, name, wanted, kinds),
    )


def report_other_spec(sink: Sink, span: Span, found: Declared) -> None:
    """Report what belongs to a spec that is used as a module: only its declarations are used."""
    declaration, prefix = found.declaration, found.module.prefix
    label = found.module.syntax.source.label
    match declaration:
        case ast.Node(place=place) | ast.Link(place=place):
            word = "node" if isinstance(declaration, ast.Node) else "link"
            what = place.span.text.split()[0]
            hint = f"put what it is in a topology of your own: `{word} name = {prefix}.{what}`"
        case ast.Stream():
            hint = "streams are not shared: write one here, of the components of that module"
        case _:
            hint = "the population is that of this spec"
    sink.report(
        codes.OTHER_SPEC,
        span,
        f"`{declaration.name.text}` is {kind_of(declaration)} of `{label}`, which is used as a "
        "module: it has no place here",
        secondary=[Label(declaration.name.span, "declared here")],
        hint=hint,
    )


def _such_as(candidates: list[str]) -> str:
    return f", such as `{candidates[0]}`" if candidates else ""


def _how_to_declare(module: Module, name: ast.Name, wanted: str, kinds: tuple[type, ...]) -> str:
    last = name.parts[-1]
    if last in RESERVED:
        return f"`{last}` is a word of the language; an option is compared with it: `… == {last}`"
    if wanted == "unit":
        known = "`ms`, `byte`, `Mbit`, `packet`, `core`"
        return f"there is {known}, …; `unit {last}` declares one of your own"
    if kinds[0] in KIND_KEYWORDS:
        return f"declare it: `{KIND_KEYWORDS[kinds[0]]} {last} …`"
    if not any(isinstance(declared, ast.Users) for declared in module.names.values()):
        users = f"`users {last} in 1..1000`"
        return f"declare it: {users} if it is the population, else `param {last} = …`"
    return f"declare it, such as `param {last} = …`"


def _named(syntax: ast.Module) -> Iterator[Named]:
    for declaration in syntax.declarations:
        if isinstance(declaration, ast.Topology):
            yield from declaration.items
        elif isinstance(declaration, Named):
            yield declaration


def _first_use(module: Module, use: ast.Use, alias: str) -> list[Label]:
    """Return where the name of a module was given before."""
    if alias in module.names:
        earlier = module.names[alias]
        return [Label(earlier.name.span, f"declared here, as {kind_of(earlier)}")]
    uses = [d for d in module.syntax.declarations if isinstance(d, ast.Use) and d is not use]
    return [Label(d.span, "first used here") for d in uses if _alias(d) == alias][:1]


def _alias(use: ast.Use) -> str:
    if use.alias is not None:
        return use.alias.text
    if isinstance(use.module, ast.Name):
        return use.module.parts[-1]
    return PurePosixPath(use.module.value).stem
