"""Imports: every module loaded once, every declared name in its module's scope."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from msgspec import Struct, field

from qps.compiler.check.names.declarations import (
    CHOOSING,
    LoadedModule,
    kind_of,
)
from qps.compiler.check.names.expansion import expanded
from qps.compiler.check.names.failure_states import with_failure_states
from qps.compiler.check.names.instances import Instances
from qps.compiler.check.names.kind_instances import kinds_in
from qps.compiler.check.names.module_names import declare_names
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Outcome, Sink
from qps.compiler.diagnostics.fixits import (
    renaming_hint,
)
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse

MOST_MODULES = 200
LARGEST_TOTAL = 1_000_000
"""Characters in all modules together, beyond which no more are read."""
DEEPEST_IMPORTS = 40
DEEPEST_INSTANCES = 8

_Tree = dict[str, LoadedModule]
"""Modules by their files: one of a spec, and one of each instance, which has its own of all."""


def resolve(
    main: ast.Module, importer: Importer, noted: Noted[LoadedModule] | None = None
) -> Outcome[Program]:
    """Load what a module uses and gather all names, as far as they can be found.

    What names are taken for from here on is `noted`, where that is requested.
    """
    sink = Sink()
    loader = _Loader(importer=importer, sink=sink, instances=Instances(sink, []), noted=noted)
    module = loader.load(main, "", (), {})
    loader.instances.bind_arguments()
    for each in loader.loaded:
        _check_choosing(each, loader.loaded, sink)
    return sink.partial(Program(module, tuple(loader.loaded), frozenset(loader.failed)))


def _check_choosing(module: LoadedModule, loaded: Sequence[LoadedModule], sink: Sink) -> None:
    """Report what is called `mode` where it or its instances have modes; `scenario` likewise."""
    for word, kind in CHOOSING.items():
        named = module.names.get(word)
        if named is None or isinstance(named, ast.Unit):
            continue
        within = [m for m in loaded if f"{m.prefix}.".startswith(f"{module.prefix}.")]
        found = next((one for own in within for one in own.syntax.every(kind)), None)
        if found is not None:
            sink.report(
                codes.RESERVED_WORD,
                named.name.span,
                f"`{word}` cannot be a name in a spec with a {word}, since `{word} = …` "
                "selects one",
                secondary=[Label(found.name.span, f"a {word}")],
                hint=renaming_hint(named.name.span),
            )


class _Step(Struct, frozen=True):
    """A file on the way to another one, and where and how that is used in it."""

    label: str
    use: ast.Use
    is_instance: bool


class _Loader(Struct, kw_only=True):
    importer: Importer
    sink: Sink
    instances: Instances
    loaded: list[LoadedModule] = field(default_factory=list)
    syntaxes: dict[str, ast.Module] = field(default_factory=dict)
    parsed: dict[str, Outcome[ast.Module]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    characters: int = 0
    noted: Noted[LoadedModule] | None = None

    def load(
        self,
        syntax: ast.Module,
        prefix: str,
        trail: tuple[_Step, ...],
        tree: _Tree,
        used: ast.Use | None = None,
    ) -> LoadedModule:
        """Gather the names of a module, then load what it uses; `trail` is how we came here."""
        if self.noted is not None:
            self.noted.trees[syntax.source] = syntax
        syntax = with_failure_states(expanded(syntax, self.sink), self.sink)
        module = LoadedModule(syntax=syntax, prefix=prefix, used=used, noted=self.noted)
        tree[syntax.source.label] = module
        self.loaded.append(module)
        self.syntaxes[syntax.source.label] = syntax
        self.failed |= syntax.failed_names
        self.failed |= declare_names(module, self.sink)
        for use in syntax.every(ast.Use):
            self._follow(module, use, trail, tree)
        return module

    def _follow(
        self, module: LoadedModule, use: ast.Use, trail: tuple[_Step, ...], tree: _Tree
    ) -> None:
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
        if source.label in [here.label, *(step.label for step in trail)]:
            is_instance = bool(use.changes) or _is_system(self.syntaxes[source.label])
            self._report_cycle(use, source, (*trail, _Step(here.label, use, is_instance)))
            return
        syntax = self._syntax(source, use)
        if syntax is None:
            return
        is_instance = bool(use.changes or use.each) or _is_system(syntax)
        steps = (*trail, _Step(here.label, use, is_instance))
        if self._is_too_deep(steps):
            return
        if use.each is not None:
            self._follow_each(module, use, alias, syntax, steps)
            return
        # Under two names, a file is two: what is set of one says nothing of the other.
        is_second = any(source.label == own.syntax.source.label for own in module.imports.values())
        own = {} if is_instance or is_second else tree
        imported = own.get(source.label)
        if imported is None:
            imported = self._instance(syntax, use, (module, alias), steps, own)
        if imported is None:
            return
        module.imports[alias] = imported
        self.failed.discard(alias)

    def _follow_each(
        self,
        module: LoadedModule,
        use: ast.Use,
        alias: str,
        syntax: ast.Module,
        steps: tuple[_Step, ...],
    ) -> None:
        """Make an instance for each kind: `region.eu` for the kind `eu`."""
        assert use.each is not None
        declared = module.names.get(use.each.text)
        if not isinstance(declared, ast.Kinds):
            report_name(self.sink, module, use.each, "set of kinds", (ast.Kinds,))
            return
        here = module.syntax
        nothing = ast.Module(source=here.source, doc=None, declarations=())
        index = LoadedModule(syntax=nothing, prefix=module.qualified(alias), used=use, user=module)
        for kind in kinds_in(declared):
            imported = self._instance(syntax, use, (module, f"{alias}.{kind}"), steps, {})
            if imported is None:
                return
            index.imports[kind] = imported
        module.imports[alias] = index
        self.failed.discard(alias)

    def _instance(
        self,
        syntax: ast.Module,
        use: ast.Use,
        user: tuple[LoadedModule, str],
        steps: tuple[_Step, ...],
        tree: _Tree,
    ) -> LoadedModule | None:
        """Return a module as it is used by another one under a name; None where it cannot be."""
        if not self._may_grow(syntax.source, use):
            return None
        (module, alias), before = user, (len(self.loaded), len(self.instances.uses))
        imported = self.load(syntax, module.qualified(alias), steps, tree, use)
        if not self.instances.has_population(imported, use, module, alias):
            del self.loaded[before[0] :], self.instances.uses[before[1] :]
            return None
        self.instances.uses.append((imported, module))
        return imported

    def _syntax(self, source: Source, use: ast.Use) -> ast.Module | None:
        """Return the tree of a file, which is read once, however many instances it has."""
        if source.label not in self.parsed:
            if len(source.text) > LARGEST_TOTAL:
                self._report_too_much(use)
                return None
            self.parsed[source.label] = _parsed(source)
            self.sink.add_all(self.parsed[source.label].diagnostics)
        return self.parsed[source.label].value

    def _is_too_deep(self, steps: tuple[_Step, ...]) -> bool:
        """Return whether modules use each other too deeply; then it is reported."""
        instances = sum(step.is_instance for step in steps)
        if len(steps) <= DEEPEST_IMPORTS and instances <= DEEPEST_INSTANCES:
            return False
        limit_text, deepest = "`use` may nest", DEEPEST_IMPORTS
        if instances > DEEPEST_INSTANCES:
            limit_text, deepest = "instances may nest", DEEPEST_INSTANCES
        self.sink.report(
            codes.UNKNOWN_MODULE,
            steps[-1].use.span,
            f"{limit_text} at most {deepest} levels deep",
            hint="use the needed file directly",
        )
        return True

    def _alias_is_free(self, module: LoadedModule, use: ast.Use, alias: str) -> bool:
        if not alias.isidentifier():
            self.sink.report(
                codes.SYNTAX,
                use.span,
                f"`{alias}` cannot be the name of a module",
                hint="add a name: `use … as name`",
            )
            return False
        # A unit may have the same name: what a module declares is known by the dot behind its name.
        taken = alias in module.names or alias in module.imports
        if taken:
            self.sink.report(
                codes.DUPLICATE_NAME,
                use.span,
                f"the name `{alias}` is already in use",
                secondary=_first_use(module, use, alias),
                hint="give the module another name: `use … as name`",
            )
        return not taken

    def _may_grow(self, source: Source, use: ast.Use) -> bool:
        """Return whether one more module can be taken in; else it is reported."""
        if len(self.loaded) >= MOST_MODULES:
            self.sink.report(
                codes.UNKNOWN_MODULE,
                use.span,
                f"a spec may use at most {MOST_MODULES} modules, including those of its instances",
                hint="merge some of them",
            )
            return False
        self.characters += len(source.text)
        if self.characters > LARGEST_TOTAL:
            self._report_too_much(use)
            return False
        return True

    def _report_too_much(self, use: ast.Use) -> None:
        self.sink.report(
            codes.UNREADABLE,
            use.span,
            f"the modules of a spec may have at most {LARGEST_TOTAL:,} characters in total",
            hint="use fewer of them",
        )

    def _report_cycle(self, use: ast.Use, source: Source, steps: tuple[_Step, ...]) -> None:
        first = [step.label for step in steps].index(source.label)
        inner = steps[first:]
        labels = [*(step.label for step in inner), source.label]
        is_instance = any(step.is_instance for step in inner)
        message = "import cycle: " + " -> ".join(labels)
        hint = "move the shared declarations to a separate module"
        if is_instance:
            message = "instance cycle: " + " -> ".join(labels)
            hint = "move what both "
            hint += "need to a separate file"
        if is_instance and len(inner) == 1:
            message = f"`{source.label}` contains an instance of itself"
            hint = "make the difference a `param`, and "
            hint += "use the file twice from another spec"
        self.sink.report(
            codes.IMPORT_CYCLE,
            use.span,
            message,
            label="this closes the cycle",
            secondary=[Label(s.use.span, f"imported by `{s.label}` here") for s in inner[:-1]],
            hint=hint,
        )


@lru_cache(maxsize=64)
def _parsed(source: Source) -> Outcome[ast.Module]:
    """Return the module of a source; one of the standard library is parsed once for all specs."""
    return parse(source)


def _is_system(syntax: ast.Module) -> bool:
    """Return whether a file has places, streams or needs, or instances of such files."""
    own = any(declaration.is_of_system for declaration in syntax.declarations)
    return own or any(use.changes for use in syntax.every(ast.Use))


def _first_use(module: LoadedModule, use: ast.Use, alias: str) -> list[Label]:
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
