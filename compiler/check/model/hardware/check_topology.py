"""Topologies: which machines stand where, and which networks join them."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_places import PlaceChecker
from qps.compiler.check.names.declarations import (
    LoadedModule,
    declared_in,
    lookup,
    repeated,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import PlacedHardware, place_of
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead, renaming_hint, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

N = TypeVar("N", ast.Node, ast.Link)
_ONE = Fraction(1)


class TopologyChecker(DeclarationChecker, frozen=True):
    """Checks the nodes and links of a system."""

    @property
    def _places(self) -> PlaceChecker:
        return PlaceChecker(self.expressions)

    def nodes(self) -> dict[str, ir.Node]:
        """Return the nodes of a system that are sound, by the names that the model has for them."""
        built: dict[str, ir.Node] = {}
        for node in self._topology(ast.Node):
            place = self._place(node.place, node.name, is_node=True)
            if place is not None:
                name = self.main.qualified(node.name.text)
                machine, count = place
                built[name] = ir.Node(
                    name=name,
                    machine=machine,
                    count=count,
                    span=node.name.span,
                    source=self._source(node),
                    doc=node.doc,
                )
        return built

    def links(self) -> dict[str, ir.Link]:
        """Return the links of a system that are sound, by the names that the model has for them."""
        built: dict[str, ir.Link] = {}
        for link in self._topology(ast.Link):
            place = self._place(link.place, link.name, is_node=False)
            if place is not None:
                network, count = place
                name = self.main.qualified(link.name.text)
                built[name] = ir.Link(
                    name=name,
                    network=network,
                    count=count,
                    ends=self._ends(link),
                    span=link.name.span,
                    source=self._source(link),
                    doc=link.doc,
                )
        return built

    def _source(self, placed: ast.Node | ast.Link) -> str | None:
        """Return what is cited for a place, where nothing else was put there."""
        is_placed = placed.source is None or placed.name.text in self.main.arguments
        return None if is_placed or placed.source is None else placed.source.value

    def shared_links(self) -> dict[str, tuple[str, ...]]:
        """Return what an instance joins by links that are those of another module."""
        shared: dict[str, tuple[str, ...]] = {}
        for link in self._declared(ast.Link):
            same = declared_in(self.main, link.name.text)
            if same is not None and link.name.text in self.main.same:
                shared[same.qualified] = (*shared.get(same.qualified, ()), *self._ends(link))
        return shared

    def _ends(self, link: ast.Link) -> tuple[str, ...]:
        """Return what a link joins: nodes and other links, whether these are sound or not."""
        found = [(end, lookup(self.main, end)) for end in link.ends]
        return tuple(end.text if of is None else of.qualified for end, of in found)

    def _place(
        self, expr: ast.Expr, name: ast.Name, *, is_node: bool
    ) -> tuple[str, ir.Expr] | None:
        """Return the machine or network of a place and how many of it; a failed one stays known."""
        expr, module = self.main.stated(name.text, expr)
        place = place_of(expr, module)
        if place is None:
            what = "machine" if is_node else "network"
            self.sink.report(
                codes.WRONG_KIND,
                expr.span,
                f"expected a {what} and its number",
                hint=_place_hint(expr, name.text, what),
            )
            return None
        kind = self._places.kind(place, module, is_node=is_node)
        if kind is None:
            return None
        count = self._count(place, name, module, is_node=is_node)
        return None if count is None else (kind, count)

    def _count(
        self, place: PlacedHardware, name: ast.Name, module: LoadedModule, *, is_node: bool
    ) -> ir.Expr | None:
        """Return how many there are; what an instance is given without a count keeps its own."""
        if place.count is not None:
            return self._places.count(place.count, module, is_node=is_node)
        own = self.main.names.get(name.text)
        if name.text in self.main.arguments and isinstance(own, ast.Node | ast.Link):
            stated = place_of(own.place, self.main)
            if stated is not None and stated.count is not None:
                return self._places.count(stated.count, self.main, is_node=is_node)
        return ir.Constant(_ONE)

    def _declared(self, kind: type[N]) -> list[N]:
        return [
            item
            for declaration in self.main.syntax.every(ast.Topology)
            for item in declaration.items
            if isinstance(item, kind)
        ]

    def _topology(self, kind: type[N]) -> list[N]:
        """Return the nodes or links that are the system's own."""
        return [item for item in self._declared(kind) if item.name.text not in self.main.same]

    def link_ends(self) -> None:
        """Check what the links join: nodes and other links, whether these are sound or not."""
        kinds = (ast.Node, ast.Link)
        for link in self._declared(ast.Link):
            self._left_out(link)
            for end in link.ends:
                found = lookup(self.main, end)
                if found is None or not isinstance(found.declaration, kinds):
                    report_name(self.sink, self.main, end, "node or link", kinds)
                elif end.text == link.name.text:
                    self.sink.report(
                        codes.NO_ROUTE,
                        end.span,
                        f"`{end.text}` connects to itself",
                        hint="name the nodes or other links that it connects",
                    )

    def _left_out(self, link: ast.Link) -> None:
        """Check which nodes a link `between all but` some leaves out."""
        if link.everyone is None:
            return
        named = self.main.names.get("all")
        if isinstance(named, ast.Node | ast.Link):
            self.sink.report(
                codes.RESERVED_WORD,
                named.name.span,
                "`all` means every node of a link and cannot be the name of a node",
                secondary=[Label(link.everyone.span, "used here")],
                hint=renaming_hint(named.name.span),
            )
        for name in link.everyone.but:
            if isinstance(self.main.names.get(name.text), ast.Node):
                self.main.note(Meaning.NAMED, name)
            else:
                report_name(self.sink, self.main, name, "node", (ast.Node,))
        for name, earlier in repeated(link.everyone.but, lambda name: name.text):
            self.sink.report(
                codes.DUPLICATE_NAME,
                name.span,
                f"`{name.text}` is excluded twice",
                secondary=[Label(earlier.span, "first excluded here")],
                hint=single_statement_hint(name.span, "remove one of them"),
            )
        if not link.ends:
            self.sink.report(
                codes.NO_ROUTE,
                link.everyone.span,
                f"link `{link.name.text}` connects no nodes",
                hint="exclude fewer nodes",
            )


def _place_hint(expr: ast.Expr, name: str, what: str) -> str:
    """Return how to write a machine and a count, with what was written where that is clear."""
    match expr:
        case ast.Quantity(number=number, unit=ast.Reference(name=kind)):
            return _many(expr.span, name, kind.text, number.span.text)
        case ast.Call(name=kind, arguments=(count,)):
            return _many(expr.span, name, kind.text, count.span.text)
        case ast.Sum():
            return (
                f"a node has one kind of {what}: declare a node for each and split the "
                f"traffic, such as `call {name}_big * 60 % {{ … }}; call {name}_small * "
                "40 % { … }`"
            )
    return f"write `{name} = {what} * N`"


def _many(span: Span, name: str, kind: str, count: str) -> str:
    """Return the hint to write so many of a kind for what is written."""
    hint = f"write `{name} = {kind} * {count}`"
    return instead(span.text, f"{kind} * {count}", at=span, words=hint)
