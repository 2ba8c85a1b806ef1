"""Which declaration each name of a program means, part by part: for editors, which look up places.

The table is made of the syntax trees, which say what declares a name, and of what the checker
`noted` that it took the others for. Nothing is resolved here that the checker did not resolve; a
name that it did not come to, since something before it is wrong, is `unresolved`.

    examined = examine(source)                      # qps.compiler.examination
    bindings = examined.bindings
    found = bindings.at(source, offset)             # a Binding, None on a space or a number
    found.symbol.declared                           # where it is declared: go to definition
    bindings.of(found.symbol)                       # every place that means it: references, rename
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from msgspec import Struct

from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.meanings import MeaningReader
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.check.names.placed_names import Meant
from qps.compiler.check.names.symbols import Symbol, Symbols
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.quantities import units
from qps.compiler.syntax import ast


class Binding(Struct, frozen=True, kw_only=True):
    """A name, or what stands between two dots of one, and what it means."""

    span: Span
    symbol: Symbol
    is_declaration: bool = False

    def renamed(self, name: str) -> str:
        """Return what to write here where the symbol is called otherwise: plurals stay plurals."""
        is_plural = self.symbol.kind == "unit" and self.span.text != self.symbol.name
        return units.plurals(name)[-1] if is_plural else name


class Bindings(Struct, frozen=True, dict=True):
    """All names of the files of a program, in the order of each text."""

    every: tuple[Binding, ...]
    unresolved: tuple[ast.Name, ...] = ()
    """Names of which it is not known what they mean; nothing that is called so can be renamed.

    What a file that is used claims is not looked at, and is not among them: examine it by itself.
    """
    of_data: frozenset[Symbol] = frozenset()
    """What tables of measured runs name in their cells, which are no text of the program."""

    @cached_property
    def _by_source(self) -> dict[Source, list[Binding]]:
        found: dict[Source, list[Binding]] = {}
        for binding in self.every:
            found.setdefault(binding.span.source, []).append(binding)
        return found

    @cached_property
    def _by_symbol(self) -> dict[Symbol, list[Binding]]:
        found: dict[Symbol, list[Binding]] = {}
        for binding in self.every:
            found.setdefault(binding.symbol, []).append(binding)
        return found

    def in_file(self, source: Source) -> tuple[Binding, ...]:
        """Return the names of a file, in the order of its text."""
        return tuple(self._by_source.get(source, ()))

    def at(self, source: Source, offset: int) -> Binding | None:
        """Return the name at a place of a file, just behind its last letter, too."""
        names = self._by_source.get(source, [])
        index = bisect_right(names, offset, key=lambda binding: binding.span.start) - 1
        return names[index] if index >= 0 and offset <= names[index].span.end else None

    def of(self, symbol: Symbol) -> tuple[Binding, ...]:
        """Return every place that means a symbol, its declarations among them."""
        return tuple(self._by_symbol.get(symbol, ()))

    def can_be_renamed(self, symbol: Symbol) -> bool:
        """Return whether all places are known that would have to change with a name."""
        if not symbol.declared or symbol.is_fixed or symbol in self.of_data:
            return False
        return not any(symbol.name in name.parts for name in self.unresolved)


def bindings_of(noted: Noted[LoadedModule]) -> Bindings:
    """Return what the names of a program mean, as that was noted while it was checked."""
    reader = MeaningReader(symbols=Symbols(noted.trees), noted=noted)
    found: dict[Span, Binding] = {}
    unresolved: list[ast.Name] = []
    main = next(iter(noted.trees), None)
    for tree in noted.trees.values():
        for declaration in tree.declarations:
            for one in reader.meant(tree, declaration):
                if isinstance(one, Meant):
                    _bind(found, one)
                elif tree.source is main or not declaration.is_of_main_file:
                    unresolved.append(one)
    of_data = {
        meant.symbol
        for span, note in noted.notes.items()
        if span.source not in noted.trees and span.start > span.source.text.find(" = ")
        for meant in reader.as_noted(note)
    }
    every = sorted(found.values(), key=lambda b: (b.span.source.label, b.span.start))
    return Bindings(tuple(every), tuple(dict.fromkeys(unresolved)), frozenset(of_data))


def _bind(found: dict[Span, Binding], meant: Meant) -> None:
    earlier = found.get(meant.span)
    if earlier is None or (meant.is_declaration and not earlier.is_declaration):
        found[meant.span] = Binding(
            span=meant.span, symbol=meant.symbol, is_declaration=meant.is_declaration
        )
