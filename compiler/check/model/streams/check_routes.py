"""Ways through the topology: the links that a stream names, or the one shortest way."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import (
    LoadedModule,
    lookup,
)
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import Hint, insertion_after_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.syntax import ast

_ROUTES_SHOWN = 3
_CHARACTERS_BEFORE = 200
_AT = re.compile(r"\bat\s+\Z")
_JOINED = (ast.Node, ast.Link)


def check_recovery(sink: Sink, legs: Iterable[ir.Leg]) -> None:
    """Report steps that would recover what is lost before the stream has crossed any link."""
    start: str | None = None
    for leg in legs:
        if isinstance(leg, ir.CallMark | ir.PoolMark):
            continue
        if isinstance(leg, ir.Crossing) or leg.node != (start or leg.node):
            return
        start = leg.node
        for step in leg.steps:
            if any(effect.kind is ir.EffectKind.RECOVER for effect in step.component.effects):
                sink.report(
                    codes.STREAM_ORDER,
                    step.span,
                    f"`{step.component.name}` recovers losses before the stream crosses a link",
                    hint="move it to where the stream arrives: `at node { … }` after `over`",
                )
        if any(step.spread for step in leg.steps):
            return


class RouteChecker(Struct, frozen=True):
    """Finds and checks the links between two visits.

    Two visits at the node of those who are `paired`, one behind the other, are at two machines.
    """

    sink: Sink
    module: LoadedModule
    links: dict[str, ir.Link]
    paired: str | None = None

    @property
    def _is_whole(self) -> bool:
        """False where a link failed: ways that are missing may lead over it."""
        declared = (d for d in self.module.names.values() if isinstance(d, ast.Link))
        return all(
            self.module.qualified(link.name.text) in self.links
            and link.ends
            and all(isinstance(self._named(end), _JOINED) for end in link.ends)
            and link.name.text not in [end.text for end in link.ends]
            for link in declared
            if link.name.text not in self.module.same
        )

    def _named(self, name: ast.Name) -> ast.Shared | None:
        found = lookup(self.module, name)
        return None if found is None else found.declaration

    def hops(
        self,
        start: ir.Visit,
        end: ir.Visit,
        named: list[ast.Name],
        call: str | None = None,
        *,
        is_apart: bool = False,
    ) -> tuple[ir.Crossing, ...]:
        """Return the links between two visits: as named, or the one shortest way.

        `call` is the node that is called, where the way leads there or back.
        """
        is_apart |= start.node == self.paired or any(step.spread for step in start.steps)
        if named:
            return self._named_route(start, end, named)
        if start.node == end.node and not is_apart:
            return ()
        ways = self._shortest_paths(start.node, end.node)
        if len(ways) == 1:
            return self._crossings(ways[0], start.node, end.node, end)
        joined = f"`{start.node}` and `{end.node}`"
        if start.node == end.node:
            joined = f"the machines of `{end.node}`"
        if not ways and self._is_whole:
            self.sink.report(
                codes.NO_ROUTE,
                end.span,
                f"no link connects {joined}",
                secondary=[Label(start.span, "the stream comes from here")],
                hint=f"add `link name = network between {start.node}"
                f"{'' if start.node == end.node else ', ' + end.node}` to the topology",
            )
        elif ways:
            shown = listed([", ".join(way) for way in ways], "or")
            self.sink.report(
                codes.AMBIGUOUS_ROUTE,
                end.span,
                f"several links connect {joined}",
                secondary=[Label(start.span, "the stream comes from here")],
                hint=_over(end, ways, f"name the route before this: `over` {shown}")
                if call is None
                else insertion_after_hint(
                    end.span,
                    *(f" over {', '.join(way)}" for way in ways),
                    text=f"name the route: `call {call} over {', '.join(ways[0])} {{ … }}`; "
                    f"routes are {shown}",
                ),
            )
        return ()

    def _named_route(
        self, start: ir.Visit, end: ir.Visit, named: list[ast.Name]
    ) -> tuple[ir.Crossing, ...]:
        links = []
        for name in named:
            found = lookup(self.module, name)
            if found is None or not isinstance(found.declaration, ast.Link):
                report_name(self.sink, self.module, name, "link", (ast.Link,))
            if found is None or found.qualified not in self.links:
                return ()
            links.append(found.qualified)
        stops = [start.node, *links, end.node]
        for (here, there), at in zip(pairwise(stops), [*named, named[-1]], strict=True):
            if not self._adjacent(here, there):
                if self._is_whole:
                    self._not_joined(here, there, at)
                return ()
        return self._crossings(links, start.node, end.node, end, named)

    def _not_joined(self, here: str, there: str, at: ast.Name) -> None:
        twice = here == there
        self.sink.report(
            codes.NO_ROUTE,
            at.span,
            f"`{here}` is crossed twice in a row"
            if twice
            else f"`{here}` and `{there}` are not connected",
            secondary=[
                Label(self.links[stop].span, f"`{stop}` connects " + self._ends(stop))
                for stop in dict.fromkeys((here, there))
                if stop in self.links
            ],
            hint="name it once" if twice else "name every link of the route, in order",
        )

    def _ends(self, link: str) -> str:
        return listed(self.links[link].ends, "and")

    def _adjacent(self, here: str, there: str) -> bool:
        return any(
            other in self.links[link].ends
            for link, other in ((here, there), (there, here))
            if link in self.links
        )

    def _crossings(
        self,
        route: Iterable[str],
        start: str,
        end: str,
        visit: ir.Visit,
        named: list[ast.Name] | None = None,
    ) -> tuple[ir.Crossing, ...]:
        links = list(route)
        stops = [start, *links, end]
        spans = [name.span for name in named] if named else [visit.span] * len(links)
        return tuple(
            ir.Crossing(link, stops[i], stops[i + 2], spans[i]) for i, link in enumerate(links)
        )

    def _shortest_paths(self, start: str, end: str) -> list[list[str]]:
        """Return the ways with the fewest links; they go from link to link, not through nodes."""
        links = self.links.values()
        joined: dict[str, set[str]] = {link.name: set() for link in links}
        for link in links:
            for other in joined.keys() & link.ends:
                joined[link.name].add(other)
                joined[other].add(link.name)
        left = _links_to_go(joined, [link.name for link in links if end in link.ends])
        first = [link.name for link in links if start in link.ends and link.name in left]
        fewest = min((left[name] for name in first), default=0)
        waiting = [[name] for name in sorted(first, reverse=True) if left[name] == fewest]
        ways: list[list[str]] = []
        while waiting and len(ways) < _ROUTES_SHOWN:
            way = waiting.pop()
            if len(way) == fewest:
                ways.append(way)
                continue
            nearer = (name for name in joined[way[-1]] if left.get(name) == left[way[-1]] - 1)
            waiting += [[*way, name] for name in sorted(nearer, reverse=True)]
        return ways


def _links_to_go(joined: Mapping[str, Iterable[str]], last: Iterable[str]) -> dict[str, int]:
    """Return how many links a way takes from each link on to the end that the last ones have."""
    left = dict.fromkeys(last, 1)
    waiting = deque(left)
    while waiting:
        name = waiting.popleft()
        for other in joined[name]:
            if other not in left:
                left[other] = left[name] + 1
                waiting.append(other)
    return left


def _over(end: ir.Visit, routes: Sequence[Sequence[str]], text: str) -> Hint:
    """Return the hint to name a way before the visit where it leads: `over lan`."""
    before = _AT.search(
        end.span.source.text, max(0, end.span.start - _CHARACTERS_BEFORE), end.span.start
    )
    at = end.span.start if before is None else before.start()
    return insertion_after_hint(
        Span(end.span.source, at, at), *(f"over {', '.join(way)}; " for way in routes), text=text
    )
