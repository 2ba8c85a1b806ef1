"""What is declared: modules with their names, and what a name means in a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar, cast

from msgspec import Struct, field

from qps.compiler.check.names.name_recorder import Meaning, Noted
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities import units
from qps.compiler.syntax import ast

N = TypeVar("N", bound=ast.Shared)
T = TypeVar("T")


class IndexedDeclaration(ast.Shared, frozen=True, kw_only=True):
    """What there is for each of some kinds: `of` is how one is declared, `web.us` that of a key."""

    of: ast.Shared
    kinds: str
    keys: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of them all."""
        return tuple(".".join((self.name.text, *key)) for key in self.keys)


class InstanceArgument(Struct, frozen=True):
    """The value that an instance is given for one of its names, and its module."""

    module: LoadedModule
    change: ast.Change

    @property
    def value(self) -> ast.Expr:
        """The value that it is given."""
        assert not isinstance(self.change.value, ast.Range | ast.Listed), "these were reported"
        return self.change.value


class LoadedModule(Struct, frozen=True, kw_only=True):
    """A module with its names. `prefix` is what the main spec calls it, empty for itself.

    An instance of a system (of a file that has one, `is_system`) is `used` in another module.
    The index of instances, of one for each kind, knows its `user`.
    Its `arguments` replace what the file states; of `same` names, the place, machine or network is
    one of another module. `mode` is the only one that it is in. The meaning of its names is
    `noted` if requested.
    """

    syntax: ast.Module
    prefix: str
    used: ast.Use | None = None
    user: LoadedModule | None = None
    names: dict[str, ast.Shared] = field(default_factory=dict)
    units: dict[str, ast.Unit] = field(default_factory=dict)
    imports: dict[str, LoadedModule] = field(default_factory=dict)
    arguments: dict[str, InstanceArgument] = field(default_factory=dict)
    same: dict[str, Declared] = field(default_factory=dict)
    mode: list[str] = field(default_factory=list)
    noted: Noted[LoadedModule] | None = None

    def note(self, meaning: Meaning, name: ast.Name, of: ast.Named | None = None) -> None:
        """Note what a name in this module was taken for; `of` is the declaration it belongs to."""
        if self.noted is not None:
            self.noted.note(meaning, name, self, of)

    def qualified(self, name: str) -> str:
        """Return how the main spec calls one of this module's names."""
        return f"{self.prefix}.{name}" if self.prefix else name

    @property
    def is_system(self) -> bool:
        """True where the file has places, streams or needs, itself or in what it uses."""
        has_own = any(d.is_of_system for d in self.syntax.declarations)
        return has_own or any(used.is_system for used in self.imports.values())

    @property
    def has_indices(self) -> bool:
        """True where the file has something for each of some kinds."""
        return any(isinstance(declared, IndexedDeclaration) for declared in self.names.values())

    def stated(self, name: str, own: ast.Expr) -> tuple[ast.Expr, LoadedModule]:
        """Return the value of a name and the module that it stands in: its own, if not given."""
        given = self.arguments.get(name)
        return (own, self) if given is None else (given.value, given.module)


CHOOSING: dict[str, type[ast.Mode | ast.Scenario]] = {"mode": ast.Mode, "scenario": ast.Scenario}
"""The words that choose one of these in a change, unless something else is called so."""


def chooses(module: LoadedModule, name: ast.Name) -> bool:
    """Return whether a change of a name in a module chooses a mode or a scenario."""
    named = module.names.get(name.text)
    if name.text not in CHOOSING or not (named is None or isinstance(named, ast.Unit)):
        return False
    module.note(Meaning.WORD, name)
    return True


class Declared(Struct, frozen=True):
    """A declaration and the module it stands in."""

    module: LoadedModule
    declaration: ast.Shared

    @property
    def qualified(self) -> str:
        """How the main spec calls it."""
        return self.module.qualified(self.declaration.name.text)

    @property
    def stated_at(self) -> Span:
        """Where it is said what it is: where it is declared, or where an instance is given so."""
        given = self.module.arguments.get(self.declaration.name.text)
        return self.declaration.name.span if given is None else given.change.span

    def is_same(self, other: Declared) -> bool:
        """Return whether both are one: a declaration of a file is another in each instance."""
        return self.declaration is other.declaration and self.module is other.module


class DeclaredAs(Declared, Generic[N], frozen=True):
    """A declaration of a kind that is known."""

    declaration: N


def lookup(module: LoadedModule, name: ast.Name) -> Declared | None:
    """Return what a name means in a module; the names in front of the last are imports."""
    found = named_in(module, name.parts)
    if found is not None:
        module.note(Meaning.NAMED, name)
    return found


def named_in(module: LoadedModule, parts: tuple[str, ...]) -> Declared | None:
    """Return what parts mean that stand nowhere as a name, or are a part of one."""
    while len(parts) > 1 and parts[0] in module.imports:
        module, parts = module.imports[parts[0]], parts[1:]
    return declared_in(module, ".".join(parts))


def declared_in(module: LoadedModule, name: str) -> Declared | None:
    """Return what a module calls by a name: its own, or what an instance was given as its own.

    What there is for each pair of kinds is the same both ways.
    """
    declaration = module.names.get(name)
    if declaration is None:
        base, *kinds = name.split(".")
        if len(kinds) != 2 or not isinstance(module.names.get(base), IndexedDeclaration):  # noqa: PLR2004
            return None
        name = ".".join((base, *reversed(kinds)))
        declaration = module.names.get(name)
    if declaration is None:
        return None
    same = module.same.get(name)
    if same is None:
        return Declared(module, declaration)
    return declared_in(same.module, same.declaration.name.text)


def owner_in(module: LoadedModule, name: ast.Name) -> tuple[Declared | None, tuple[str, ...]]:
    """Return whose name stands before a measure or a resource, and what stands behind it.

    `eu.web.cpu.load` is that of `web` in the instance `eu`, and `cpu.load`.
    """
    owner, rest = owned_in(module, name.parts)
    if owner is not None:
        module.note(Meaning.OWNED, name)
    return owner, rest


def owned_in(
    module: LoadedModule, parts: tuple[str, ...]
) -> tuple[Declared | None, tuple[str, ...]]:
    """Return the same of parts that stand nowhere as a name, or are a part of one."""
    while len(parts) > 1 and parts[0] in module.imports:
        module, parts = module.imports[parts[0]], parts[1:]
    family = module.names.get(parts[0])
    of = 1 + len(family.keys[0]) if isinstance(family, IndexedDeclaration) else 1
    one = declared_in(module, ".".join(parts[:of])) if of > 1 else None
    return (declared_in(module, parts[0]), parts[1:]) if one is None else (one, parts[of:])


def lookup_as(module: LoadedModule, name: ast.Name, kind: type[N]) -> DeclaredAs[N] | None:
    """Return the declaration of a kind that a name means; None where it means none."""
    if kind is ast.Unit:
        unit = _declared_unit(module, name)
        if unit is not None:
            module.note(Meaning.UNIT, name)
        return None if unit is None else DeclaredAs(unit.module, cast("N", unit.declaration))
    declared = lookup(module, name)
    if declared is None or not isinstance(declared.declaration, kind):
        return None
    return DeclaredAs(declared.module, declared.declaration)


def lookup_class(module: LoadedModule, name: ast.Name) -> Declared | None:
    """Return the parameter or the kinds in front of the last part of a name: `frame_size.I`."""
    if len(name.parts) == 1:
        return None
    declared = named_in(module, name.parts[:-1])
    if declared is None or not isinstance(declared.declaration, ast.Param | ast.Kinds):
        return None
    module.note(Meaning.CLASS, name)
    return declared


def unit_called(
    module: LoadedModule, name: ast.Name
) -> units.UnitOfMeasure | DeclaredAs[ast.Unit] | None:
    """Return the unit of a name, of the language or declared, by the plural of an item, too."""
    own = _declared_unit(module, name)
    if own is not None or len(name.parts) > 1:
        return own
    return units.built_in(name.text)


def unit_meant(
    module: LoadedModule, expr: ast.Reference, *, has_value: bool = False
) -> units.UnitOfMeasure | DeclaredAs[ast.Unit] | None:
    """Return the unit that a name in an expression is; None where it is none, or a value.

    What is declared with the name of a unit is meant where a unit is not: a value anywhere but
    behind a number, a thing wherever things are named. A plural yields to any value. A formal
    `has_value`, too.
    """
    unit = unit_called(module, expr.name)
    if unit is None or not (has_value or is_value(lookup(module, expr.name))):
        return unit
    name = unit.name if isinstance(unit, units.UnitOfMeasure) else unit.declaration.name.text
    is_plural = name != expr.name.parts[-1] and expr.name.text not in units.BY_PLURAL
    return unit if expr.is_unit and not is_plural else None


def is_value(declared: Declared | None) -> bool:
    """Return whether a declaration gives a name to a quantity."""
    return declared is not None and isinstance(
        declared.declaration, ast.Param | ast.Let | ast.Measure | ast.Users
    )


def _declared_unit(module: LoadedModule, name: ast.Name) -> DeclaredAs[ast.Unit] | None:
    """Return the unit that a module, or one that it uses, declares, also by an item's plural."""
    for part in name.parts[:-1]:
        imported = module.imports.get(part)
        if imported is None:
            return None
        module = imported
    word = name.parts[-1]
    unit = module.units.get(word)
    if unit is not None:
        return DeclaredAs(module, unit)
    for one in units.singulars(word):
        unit = module.units.get(one)
        if unit is not None and unit.is_item:
            return DeclaredAs(module, unit)
    return None


def lookup_unit(module: LoadedModule, name: ast.Name) -> ast.Unit | None:
    """Return the declaration of a unit, None of one of the language."""
    found = _declared_unit(module, name)
    return None if found is None else found.declaration


def kind_of(declaration: ast.Shared) -> str:
    """Return what a declaration declares, in words."""
    if isinstance(declaration, IndexedDeclaration):
        pair = "pair of " if len(declaration.keys[0]) > 1 else ""
        return f"{kind_of(declaration.of)} for each {pair}`{declaration.kinds}`"
    return declaration.presentation.noun


def presentation_of(declaration: ast.Named) -> ast.Presentation:
    """Return how a declaration is shown, also one of what there is for each of some kinds."""
    return (
        presentation_of(declaration.of)
        if isinstance(declaration, IndexedDeclaration)
        else declaration.presentation
    )


def keyword(kind: type) -> str:
    """Return the word that a declaration of a kind starts with; its class is called as it.

    >>> keyword(ast.Machine)
    'machine'
    """
    return kind.__name__.lower()


def names_of(module: LoadedModule, kinds: tuple[type, ...]) -> Iterator[str]:
    """Yield the names of some kinds that a module can write, those of its imports qualified.

    Of imports of imports only instances can set values: what these have belongs to the spec.
    """
    yield from (name for name, found in module.names.items() if isinstance(found, kinds))
    if ast.Unit in kinds:
        yield from module.units
    for alias, imported in module.imports.items():
        named = imported.names.items()
        yield from (f"{alias}.{name}" for name, found in named if isinstance(found, kinds))
        for inner, deeper in imported.imports.items():
            if deeper.is_system:
                yield from (f"{alias}.{inner}.{name}" for name in names_of(deeper, kinds))


def repeated(items: Iterable[T], name_of: Callable[[T], str]) -> Iterator[tuple[T, T]]:
    """Yield what has the name of something before it, with the first that has it."""
    first: dict[str, T] = {}
    for item in items:
        earlier = first.setdefault(name_of(item), item)
        if earlier is not item:
            yield item, earlier
