"""An itinerary while it is built: from its begin to its end, call by call."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.network.itinerary import At, Call, Fork, Give, Merge, Node, Sequence, Take


class _Body(Struct):
    """A sequence that is not at its end; it is that of a call but for the outermost one.

    `fork` are the calls that are made together and of which it is one, without branches.
    """

    nodes: list[Node] = field(default_factory=list)
    fork: Fork | None = None


class ItineraryBuilder:
    """Grows an itinerary: nodes are added in order, calls begin and end."""

    def __init__(self) -> None:
        self._bodies = [_Body()]
        self._holds: dict[str, int] = {}
        self._hold_count = 0

    def add(self, node: Node) -> None:
        """Add what happens next."""
        self._bodies[-1].nodes.append(node)

    def begin_call(self, fork: Fork | None) -> None:
        """Begin a call, one of those of a `fork`."""
        self._bodies.append(_Body(fork=fork))

    def end_call(self, make: Callable[[Sequence], Call]) -> None:
        """End the last call that has begun and not ended; `make` is given its body."""
        body = self._bodies.pop()
        call, nodes = make(Sequence(tuple(body.nodes))), self._bodies[-1].nodes
        if body.fork is None:
            nodes.append(call)
            return
        before, branch = nodes[-1] if nodes else None, Sequence((call,))
        if isinstance(before, Fork) and before.number == body.fork.number:
            nodes[-1] = replace(before, branches=(*before.branches, branch))
        else:
            nodes.append(replace(body.fork, branches=(branch,)))

    def take(self, pool: str, make: Callable[[int], Take]) -> None:
        """Take some of a pool; `make` receives the number of the hold."""
        self._holds[pool] = self._hold_count
        self._hold_count += 1
        self.add(make(self._holds[pool]))

    def give(self, pool: str) -> None:
        """Give back what is held of a pool."""
        self.add(Give(self._holds.pop(pool)))

    def merge(self, make: Callable[[Sequence], Merge]) -> None:
        """Merge flows: all that was done at this node so far is done for each of them."""
        nodes = self._bodies[-1].nodes
        start = max(index for index, node in enumerate(nodes) if isinstance(node, At)) + 1
        body = Sequence(tuple(nodes[start:]))
        nodes[start:] = [make(body)]

    @property
    def itinerary(self) -> Sequence:
        """What was added, from the begin to the end."""
        [whole] = self._bodies
        return Sequence(tuple(whole.nodes))
