"""What is declared for each of some kinds, written out: `node web for each region` as nodes.

The result is the tree of the longer text, with the spans of the shorter one: `web.us`, `web.eu`,
`web.ap`. Nothing behind it knows of indices, but for messages: `web` itself stays known as what
there is one of for each (`IndexedDeclaration`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.declarations import IndexedDeclaration
from qps.compiler.check.names.index_checks import MOST_OF_EACH, IndexChecker
from qps.compiler.check.names.indices import Indices, Key
from qps.compiler.check.names.kind_instances import kinds_in
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label, Sink
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

T = TypeVar("T", bound=ast.Written)

_Placed = ast.Node | ast.Link


def expanded(syntax: ast.Module, sink: Sink) -> ast.Module:
    """Return a file in which what is declared for each kind is declared for one after the other."""
    named = {kinds.name.text for kinds in syntax.every(ast.Kinds)}
    if not any(_has_index(declaration, named) for declaration in syntax.declarations):
        return syntax
    shared = [one for declaration in syntax.declarations for one in _shared(declaration)]
    declared = {one.name.text: one for one in reversed(shared)}
    kinds = {n: kinds_in(one) for n, one in declared.items() if isinstance(one, ast.Kinds)}
    units = frozenset(one.name.text for one in shared if isinstance(one, ast.Unit))
    indices = Indices(sink=sink, kinds=kinds, declared=declared, units=units)
    return _Expansion(
        sink=sink, indices=indices, checker=IndexChecker(sink=sink, indices=indices)
    ).of(syntax)


class _Expansion(Struct, frozen=True, kw_only=True):
    """Writes out one file; what has no sound index is left out, and its name known as failed."""

    sink: Sink
    indices: Indices
    checker: IndexChecker
    failed: set[str] = field(default_factory=set)

    def of(self, syntax: ast.Module) -> ast.Module:
        """Return the whole file."""
        streams = [self._stream_of_kinds(d) for d in syntax.declarations]
        sound = [one for d in streams for one in self._sound(d)]
        families = list(self.indices.families.values())
        if not self._is_bounded(families):
            return replace(syntax, declarations=())
        self._lets(sound)
        families = list(self.indices.families.values())
        made = [one for declaration in sound for one in self._written_out(declaration)]
        made += self._requested()
        names = frozenset(self.failed)
        return replace(
            syntax,
            declarations=(*made, *families),
            failed_names=syntax.failed_names | names,
        )

    def _refuse(self, code: Code, span: Span, message: str, hint: str, *labels: Label) -> None:
        self.sink.report(code, span, message, secondary=labels, hint=hint)

    def _is_bounded(self, families: Sequence[IndexedDeclaration]) -> bool:
        """Return whether all that there is of each is a number to cope with."""
        total = 0
        for family in families:
            total += len(family.keys)
            if total > MOST_OF_EACH:
                self._refuse(
                    codes.TOO_DEEP,
                    family.name.span,
                    f"declarations for each kind give more than {MOST_OF_EACH:,} elements "
                    "in this file",
                    "merge similar kinds, or declare less for each kind",
                )
                return False
        return True

    # -- what has an index --------------------------------------------------------------------

    def _stream_of_kinds(self, declaration: ast.Declaration) -> ast.Declaration:
        """Return a stream `for each region` as one flow in all, in each region."""
        if not isinstance(declaration, ast.Stream) or not isinstance(declaration.whose, ast.Each):
            return declaration
        each = declaration.whose
        if each.name.text not in self.indices.kinds or each.flows is not None:
            if each.but:
                self._refuse(
                    codes.MISPLACED,
                    each.but[0].span,
                    f"`{each.name.text}` is not a set of kinds, so that `but` does not apply",
                    "use `but` after kinds: `for each region but eu`",
                )
            return declaration
        if declaration.index is not None:
            self._two_indices(declaration.index, each.name)
        index = ast.Index(each.span, each.name, each.but)
        return replace(declaration, whose=ast.InAll(each.span), index=index)

    def _two_indices(self, index: ast.Index, other: ast.Name) -> None:
        self._refuse(
            codes.MISPLACED,
            index.span,
            f"a declaration for each kind has one index, not both `{other.text}` and "
            f"`{index.kinds.text}`",
            single_statement_hint(index.span),
            Label(other.span, "the other index"),
        )

    def _sound(self, declaration: ast.Declaration) -> Iterator[ast.Declaration]:
        """Yield a declaration with those of its parts whose index is sound."""
        if isinstance(declaration, ast.Topology):
            items = tuple(item for item in declaration.items if self._is_sound(item))
            yield replace(declaration, items=items)
        elif not isinstance(declaration, ast.Shared) or self._is_sound(declaration):
            yield declaration

    def _is_sound(self, declared: ast.Shared) -> bool:
        """Return whether a declaration has no index, or one that it can have."""
        if isinstance(declared, ast.Param) and isinstance(declared.value, ast.PairTable):
            keys = self.checker.of_table(declared, declared.value)
            kinds = declared.value.kinds.text
        elif (index := _index(declared)) is not None:
            keys, kinds = self.checker.of_index(index), index.kinds.text
        else:
            return True
        if not keys:
            self.failed.add(declared.name.text)
            return False
        self.indices.families.setdefault(
            declared.name.text,
            IndexedDeclaration(
                span=declared.span, name=declared.name, of=declared, kinds=kinds, keys=keys
            ),
        )
        return True

    # -- tables -------------------------------------------------------------------------------

    def _values(self, param: ast.Param, table: ast.PairTable) -> Iterator[ast.Shared]:
        """Yield the values of a table; of a kind with itself it is nothing unless stated."""
        stated = {frozenset((e.one.text, e.other.text)): e for e in table.entries}
        kinds = self.indices.kinds[table.kinds.text]
        for pair in (*combinations(kinds, 2), *((kind, kind) for kind in kinds)):
            entry = stated.get(frozenset(pair))
            name = replace(param.name, parts=(*param.name.parts, *pair))
            if entry is not None:
                yield replace(
                    param, span=entry.span, name=name, value=entry.value, table=param.name
                )
            else:
                zero = ast.Number(param.name.span, Fraction(0))
                first = table.entries[0].value
                value = ast.Product(first.span, ((False, zero), (False, first)))
                yield ast.Let(span=param.span, name=name, value=value)

    # -- definitions --------------------------------------------------------------------------

    def _lets(self, declarations: Iterable[ast.Declaration]) -> None:
        """Note the definitions that name one of each: there is one of them for each, too."""
        waiting = [d for d in declarations if isinstance(d, ast.Let | ast.Measure)]
        while True:
            found = [one for one in waiting if self.indices.needs(one.value)]
            if not found:
                return
            waiting = [one for one in waiting if one not in found]
            for one in found:
                keys = self.indices.keys(one.value)
                if not keys:
                    self.failed.add(one.name.text)
                    continue
                self.indices.families[one.name.text] = IndexedDeclaration(
                    span=one.span,
                    name=one.name,
                    of=one,
                    kinds=keys[0].of,
                    keys=tuple(key.kinds for key in keys),
                )

    def _requested(self) -> Iterator[ast.Let]:
        """Yield definitions as they are for a kind, where something requests them so."""
        made: set[tuple[str, Key]] = set()
        while missing := [requested for requested in self.indices.lets if requested not in made]:
            for requested in missing:
                made.add(requested)
                let, key = self.indices.lets[requested], requested[1]
                name = replace(let.name, parts=(*let.name.parts, *key.kinds))
                yield replace(let, name=name, value=self.indices.at(let.value, key))

    # -- declarations -------------------------------------------------------------------------

    def _written_out(self, declaration: ast.Declaration) -> Iterator[ast.Declaration]:
        """Yield what a declaration is with an index written out."""
        at = self.indices.at
        match declaration:
            case ast.Topology(items=items):
                placed = tuple(one for item in items for one in self._placed(item))
                yield replace(declaration, items=placed)
            case ast.Param(value=ast.PairTable() as table):
                yield from self._values(declaration, table)
            case ast.Stream(index=ast.Index()):
                self.checker.is_of_each(declaration)
                self.checker.is_within(declaration)
                yield from self._members(declaration)
            case ast.Group(index=ast.Index()) | ast.Let() | ast.Measure():
                yield from self._members(declaration)
            case ast.Percentiles():
                yield from self._distinct(declaration)
            case ast.Use():
                yield declaration  # what it changes has the names of another file
            case ast.Survive(nodes=nodes):
                needs = self._each(declaration.requirements)
                made = at(replace(declaration, nodes=(), requirements=()), None)
                yield replace(made, nodes=tuple(self._all_of(nodes)), requirements=needs)
            case ast.Declaration(each_of=field) if field:
                parts = self._each(getattr(declaration, field))
                rest = at(replace(declaration, **{field: ()}), None)
                yield replace(rest, **{field: parts})
            case _:
                yield at(declaration, None)

    def _each(self, parts: tuple[T, ...]) -> tuple[T, ...]:
        """Return parts, those that name one of each once for each."""
        return tuple(made for part in parts for made in self._distinct(part))

    def _distinct(self, part: T) -> Iterator[T]:
        keys = self.indices.keys(part)
        if keys is None:
            return
        for key in keys or (None,):
            yield self.indices.at(part, key)

    def _members(self, declared: ast.Shared) -> Iterator[ast.Shared]:
        """Yield the declarations of one for each kind, or the only one."""
        family = self.indices.families.get(declared.name.text)
        if family is None or family.of is not declared:
            if declared.name.text not in self.failed:
                yield self.indices.at(declared, None)
            return
        for kinds in family.keys:
            key = Key(family.kinds, kinds)
            made = self.indices.at(declared, key)
            index = _index(declared)
            if isinstance(made, ast.Stream | ast.Group) and index is not None:
                of = index.kinds
                share = ast.Reference(of.span, replace(of, parts=(*of.parts, *kinds)))
                made = replace(made, index=None, share=share)
            yield made

    def _placed(self, item: _Placed) -> Iterator[_Placed]:
        """Yield the nodes or links of a line, each with its ends."""
        if item.index is None:
            keys: tuple[Key | None, ...] = (None,)
        else:
            family = self.indices.families[item.name.text]
            keys = tuple(Key(family.kinds, kinds) for kinds in family.keys)
        for key in keys:
            ends = () if isinstance(item, ast.Node) else tuple(self._ends(item, key))
            bare = replace(item, index=None)
            if isinstance(bare, ast.Link):
                bare = replace(bare, ends=(), everyone=None)
            made = self.indices.at(bare, key)
            if isinstance(made, ast.Link) and isinstance(item, ast.Link):
                made = replace(made, ends=ends, everyone=self._everyone(item))
            yield made

    def _everyone(self, link: ast.Link) -> ast.AllNodes | None:
        if link.everyone is None:
            return None
        return replace(link.everyone, but=tuple(self._all_of(link.everyone.but)))

    def _ends(self, link: ast.Link, key: Key | None) -> Iterator[ast.Name]:
        """Yield what a link joins: of what there is for each kind, its own, or else all."""
        everyone = self._everyone(link)
        named = [end for end in link.ends if everyone is None or end.span != everyone.span]
        yield from self._all_of(named, key)
        if everyone is not None:
            but = [name.text for name in everyone.but]
            others = [end for end in link.ends if end.span == everyone.span]
            yield from (name for name in self._all_of(others, key) if name.text not in but)

    def _all_of(self, names: Iterable[ast.Name], key: Key | None = None) -> Iterator[ast.Name]:
        """Yield names, of what there is one of for each kind those of this one, or of all."""
        for name in names:
            family = self.indices.families.get(name.text)
            if family is None:
                yield name if key is None else self.indices.at(name, key)
            elif key is None or family.kinds != key.of:
                yield from (replace(name, parts=(*name.parts, *kinds)) for kinds in family.keys)
            elif len(family.keys[0]) == len(key.kinds):
                yield self.indices.at(name, key)
            else:
                joined = [kinds for kinds in family.keys if kinds[0] in key.kinds]
                yield from (replace(name, parts=(*name.parts, *kinds)) for kinds in joined)


def _index(declared: ast.Shared) -> ast.Index | None:
    if isinstance(declared, ast.Node | ast.Link | ast.Stream | ast.Group):
        return declared.index
    return None


def _shared(declaration: ast.Declaration) -> Iterator[ast.Shared]:
    if isinstance(declaration, ast.Topology):
        yield from declaration.items
    elif isinstance(declaration, ast.Shared):
        yield declaration


def _has_index(declaration: ast.Declaration, kinds: Container[str]) -> bool:
    """Return whether something of a declaration has an index."""
    if isinstance(declaration, ast.Param):
        return isinstance(declaration.value, ast.PairTable)
    whose = declaration.whose if isinstance(declaration, ast.Stream) else None
    if isinstance(whose, ast.Each) and (whose.but or whose.name.text in kinds):
        return True
    return any(_index(one) is not None for one in _shared(declaration))
