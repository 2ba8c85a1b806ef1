"""Names that mean what they do by the place alone where they stand: what declares, words, kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.check.names.symbols import Symbol, Symbols, alias_of, word
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in

_CASTS = ("unicast", "multicast")
_WORDS: dict[type, str] = {
    ast.Attribute: "name",
    ast.Column: "name",
    ast.Samples: "column",
    ast.Network: "medium",
    ast.Queueing: "discipline",
    ast.Wait: "discipline",
    ast.Quality: "metric",
    ast.Figure: "logarithmic",
    ast.NamedSetting: "name",
    ast.Profile: "cycle",
    ast.Hours: "days",
}
"""Where words of the language, or of a file, stand as names do."""


class Meant(Struct, frozen=True):
    """What a name, or a part of one, means; it may be what declares that."""

    span: Span
    symbol: Symbol
    is_declaration: bool = False


_Found = Iterator[tuple[ast.Name, Meant]]


class Placed(Struct, frozen=True):
    """What names in a declaration of a file mean by their places."""

    symbols: Symbols
    around: ast.Declaration
    tree: ast.Module

    def every(self) -> _Found:
        """Yield them all, a name that has two parts twice."""
        for node in nodes_in(self.around):
            yield from self._declared(node)
            yield from self._named(node)
            yield from self._of_kinds(node)
            if isinstance(node, ast.Use):
                yield from self._use(node)
            if isinstance(node, ast.Forecast):
                yield from self._of_population(node.name)

    def _declared(self, node: ast.Written) -> _Found:
        """Yield the names that a node declares, or shares with others that do."""
        symbols, found = self.symbols, list[tuple[ast.Name, Symbol]]()
        if isinstance(node, ast.Named):
            found.append((node.name, symbols.declared(node)))
        match node:
            case ast.Kinds():
                kinds = [
                    (weight.name, symbols.kind(node, weight.name.text)) for weight in node.weights
                ]
                found += [(name, kind) for name, kind in kinds if kind is not None]
            case ast.Option():
                found += [(choice, symbols.choice(node, choice.text)) for choice in node.choices]
            case ast.Formal():
                found.append((node.name, symbols.formal(self.around, node.name)))
            case ast.ResourceItem():
                found.append((node.name, symbols.resource(node.name.text)))
            case ast.SingleThread(name=ast.Name() as name):
                found.append((name, symbols.thread(name.text)))
            case ast.Derived() if isinstance(self.around, ast.Matrix):
                found.append((node.name, symbols.column(self.around, node.name.text)))
            case ast.KindTable() if isinstance(self.around, ast.Named):
                found.append((node.owner, symbols.declared(self.around)))
        for name, symbol in found:
            yield name, Meant(name.span, symbol, is_declaration=True)

    def _named(self, node: ast.Written) -> _Found:
        """Yield words, and the resources of costs."""
        if isinstance(node, ast.Cost):
            yield (
                node.resource,
                Meant(node.resource.span, self.symbols.resource(node.resource.text)),
            )
        named = getattr(node, _WORDS[type(node)]) if type(node) in _WORDS else ()
        if isinstance(node, ast.Spread) and node.cast and node.cast.text in _CASTS:
            named = node.cast
        for name in named if isinstance(named, tuple) else (named,):
            if isinstance(name, ast.Name):
                yield name, Meant(name.span, word(name.text))

    def _of_kinds(self, node: ast.Written) -> _Found:
        """Yield kinds, and which of them are named, where these stand by themselves."""
        match node:
            case ast.KindTable():
                yield from self._kinds(node.kinds, [entry.name for entry in node.entries])
            case ast.PairTable():
                names = [name for entry in node.entries for name in (entry.one, entry.other)]
                yield from self._kinds(node.kinds, names)
                yield from self._kinds(node.others)
            case ast.Index():
                yield from self._kinds(node.kinds, node.but)
            case ast.Each():
                yield from self._kinds(node.name, node.but)
            case ast.Use(each=ast.Name() as name):
                yield from self._kinds(name)

    def _kinds(self, kinds: ast.Name, names: Iterable[ast.Name] = ()) -> _Found:
        """Yield the name of kinds that the file declares, and names of some of them."""
        every = self.tree.every(ast.Kinds)
        declared = next((d for d in every if d.name.text == kinds.text), None)
        if declared is None:
            return
        yield kinds, Meant(kinds.span, self.symbols.declared(declared))
        for name in names:
            symbol = self.symbols.kind(declared, name.text)
            if symbol is not None:
                yield name, Meant(name.span, symbol)

    def _of_population(self, name: ast.Name) -> _Found:
        """Yield the population that a forecast is of, where it has its name."""
        for users in self.tree.every(ast.Users):
            if users.name.text == name.text:
                yield name, Meant(name.span, self.symbols.declared(users))

    def _use(self, use: ast.Use) -> _Found:
        """Yield the parts of a file's name, and the one that the module has here."""
        alias = alias_of(use)
        if isinstance(use.module, ast.Name):
            for part in use.module.written_parts:
                yield use.module, Meant(part.span, word(part.text))
        if alias is not None:
            at = use.module if isinstance(use.module, ast.Name) and use.alias is None else alias
            symbol = self.symbols.of_use(use, alias)
            yield at, Meant(alias.span, symbol, is_declaration=True)
