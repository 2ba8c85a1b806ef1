"""Symbols: what the names of a program mean, each once, with the places that declare it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.declarations import IndexedDeclaration, LoadedModule, keyword
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in

WITH_A_MEANING = ("on", "off", "unicast", "multicast")
"""Choices that mean the same wherever they are: an option that has one is compared by them."""


class Symbol(Struct, frozen=True, kw_only=True):
    """What a name means.

    `kind` is `parameter`, `population`, `let`, `function`, `measure`, `unit`, `kinds`, `kind` (one
    of some kinds), `group`, `option`, `choice`, `machine`, `network`, `component`, `node`, `link`,
    `stream`, `event`, `trace`, `formal`, `resource`, `thread`, `module`, `mode`, `scenario`,
    `claim`, `observation`, `figure`, `matrix`, `column`, or `word`: one of the language or a file.
    It is `declared` at these names: nowhere what is built in; a resource is at each machine that
    has it. One that `is_fixed` cannot be called otherwise, since its name is no name in the text.
    """

    kind: str
    name: str
    declared: tuple[Span, ...] = ()
    is_fixed: bool = False


class Symbols(Struct, frozen=True):
    """The symbols of the files of a program; `trees` are these as they are written."""

    trees: dict[Source, ast.Module]
    _resources: dict[tuple[str, str], Symbol] = field(default_factory=dict)

    def declared(self, declaration: ast.Named) -> Symbol:
        """Return the symbol of a declaration, also of one that is made of it for a kind."""
        if isinstance(declaration, IndexedDeclaration):
            declaration = declaration.of
        name = declaration.name
        kind = declaration.presentation.symbol or keyword(type(declaration))
        return Symbol(kind=kind, name=name.span.text, declared=(name.span,))

    def module(self, user: LoadedModule, alias: str) -> Symbol | None:
        """Return the symbol of a module by the name that its user has for it."""
        for use in user.syntax.every(ast.Use):
            name = alias_of(use)
            if name is not None and name.text == alias:
                return self.of_use(use, name)
        return None

    def of_use(self, use: ast.Use, alias: ast.Name) -> Symbol:
        """Return the symbol of a module that is used; one that its file names is fixed."""
        is_fixed = use.alias is None
        return Symbol(kind="module", name=alias.text, declared=(alias.span,), is_fixed=is_fixed)

    def choice(self, option: ast.Option, word: str) -> Symbol:
        """Return a choice of an option; one that is implied (`off`) is a word."""
        found = _among(option.choices, word, "choice")
        return replace(found, is_fixed=True) if word in WITH_A_MEANING else found

    def kind(self, kinds: ast.Kinds, word: str) -> Symbol | None:
        """Return one of some kinds; those of a pattern are letters of it."""
        if kinds.pattern is not None and word in kinds.pattern.value:
            return Symbol(kind="kind", name=word, declared=(kinds.pattern.span,), is_fixed=True)
        names = [weight.name for weight in kinds.weights]
        return _among(names, word, "kind") if word in (name.text for name in names) else None

    def formal(self, around: ast.Declaration | None, name: ast.Name) -> Symbol:
        """Return a formal of the declaration around, a column of the matrix, or a word."""
        if isinstance(around, ast.Matrix):
            return self.column(around, name.text)
        if isinstance(around, ast.Expect):
            matrix = self._claimed(around, name)
            return word(name.text) if matrix is None else self.column(matrix, name.text)
        formals: Iterable[ast.Formal] = getattr(around, "formals", ())
        return _among([formal.name for formal in formals], name.text, "formal")

    def _claimed(self, around: ast.Expect, name: ast.Name) -> ast.Matrix | None:
        """Return the matrix that the claim is about in which a name stands."""
        claim = next((c for c in around.matrix_claims if c.span.holds(name.span)), None)
        if claim is None:
            return None
        declared = self.trees[name.span.source].every(ast.Matrix)
        own = claim.matrix.text if claim.matrix is not None else declared[0].name.text
        return next((matrix for matrix in declared if matrix.name.text == own), None)

    def column(self, matrix: ast.Matrix, word: str) -> Symbol:
        """Return a column of a matrix; the answers that every matrix has are words."""
        return _among([column.name for column in matrix.columns], word, "column")

    def chosen(self, module: LoadedModule, word: str) -> Symbol | None:
        """Return the mode or scenario of a module."""
        found = (*module.syntax.every(ast.Mode), *module.syntax.every(ast.Scenario))
        return next((self.declared(one) for one in found if one.name.text == word), None)

    def matrix(self, module: LoadedModule, word: str) -> Symbol | None:
        """Return the matrix of a module."""
        found = module.syntax.every(ast.Matrix)
        return next((self.declared(one) for one in found if one.name.text == word), None)

    def resource(self, word: str) -> Symbol:
        """Return what machines have under a name: one symbol, since costs name no machine."""
        return self._shared("resource", word)

    def thread(self, word: str) -> Symbol:
        """Return a thread that costs share by its name."""
        return self._shared("thread", word)

    def _shared(self, kind: str, word: str) -> Symbol:
        if not self._resources:
            found: dict[tuple[str, str], list[Span]] = {}
            of_tables: set[str] = set()
            for tree in self.trees.values():
                for node in nodes_in(tree):
                    of_tables |= _heading_of(node)
                    if isinstance(node, ast.ResourceItem):
                        found.setdefault(("resource", node.name.text), []).append(node.name.span)
                    elif isinstance(node, ast.SingleThread) and node.name is not None:
                        found.setdefault(("thread", node.name.text), []).append(node.name.span)
            for (of, name), spans in found.items():
                is_fixed = of == "resource" and name in of_tables
                symbol = Symbol(kind=of, name=name, declared=tuple(spans), is_fixed=is_fixed)
                self._resources[of, name] = symbol
        return self._resources.get((kind, word)) or Symbol(kind=kind, name=word)


def word(text: str) -> Symbol:
    """Return a word of the language, or of a file that the spec names."""
    return Symbol(kind="word", name=text)


def _heading_of(node: ast.Written) -> set[str]:
    """Return the resource whose column a fit reads by its name."""
    if isinstance(node, ast.Cost):
        return {node.resource.text} if isinstance(node.amount, ast.Fit) else set()
    if not isinstance(node, ast.ResourceItem):
        return set()
    values = (node.capacity, *(attribute.value for attribute in node.attributes))
    return {node.name.text} if any(isinstance(value, ast.Fit) for value in values) else set()


def alias_of(use: ast.Use) -> ast.Name | None:
    """Return the name that a module has where it is used; None where its file's name is that."""
    if use.alias is not None:
        return use.alias
    return use.module.written_parts[-1] if isinstance(use.module, ast.Name) else None


def _among(names: Iterable[ast.Name], text: str, kind: str) -> Symbol:
    """Return what one of some names declares, a word where none does."""
    spans = tuple(name.span for name in names if name.text == text)
    return Symbol(kind=kind, name=text, declared=spans) if spans else word(text)
