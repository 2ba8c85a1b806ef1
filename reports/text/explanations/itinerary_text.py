"""The itinerary of a class in one line: `client → wan → web: cpu 10 ms, db(cpu 2 ms) → wan → …`.

`db(…)` is a call, with what happens there; `[a(…) || b(…)]` are calls that are made together, and
`100 together, first 90 [leaf(…)]` is one that is made so many times at once. A
call names its link only where several join the two nodes. What a link takes of every item, its
propagation and its loss, stands with the link. `1 %: cpu 31 ms` is done by chance at the node, and
of `one of {70 %: …; 30 %: …}` each item takes one; those of an event have its name: `hit (85 %)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.network import itinerary as nodes
from qps.compiler.network.classes import Class
from qps.compiler.network.network import Network
from qps.engine.expressions.formulas import ONE, ZERO
from qps.reports.text.formulas.network_numbers import NetworkNumbers
from qps.reports.text.words.phrases import phrase

_ARROW = " → "


class _Stay(Struct):
    """What happens at a node, which an item came to over some links; None before the first."""

    node: str | None
    links: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


class ItineraryText:
    """Writes itineraries of a network."""

    def __init__(self, network: Network, numbers: NetworkNumbers) -> None:
        self._network = network
        self._numbers = numbers

    def of(self, one: Class) -> str:
        """Return the itinerary of a class."""
        return _ARROW.join(self._route(self._stays(one.itinerary, one, None)))

    @staticmethod
    def _route(stays: Sequence[_Stay]) -> Iterator[str]:
        """Yield links and nodes in turn, each node with what happens there."""
        for stay in stays:
            yield from stay.links
            steps = ", ".join(stay.steps)
            if stay.node is None:
                yield from [steps] * bool(steps)
            else:
                yield f"{stay.node}: {steps}" if steps else stay.node

    def _stays(self, body: nodes.Sequence, of: Class, at: str | None) -> list[_Stay]:
        """Return where an item is in turn; `at` is the node where it begins."""
        stays, crossed = [_Stay(at)], list[str]()
        holds: dict[int, str] = {}
        for node in _with_alternatives(body):
            match node:
                case tuple():
                    stays[-1].steps.append(self._alternatives(node, of, stays[-1].node))
                case nodes.At(node=name):
                    if crossed or len(stays) == 1 or stays[-1].node != name:
                        stays.append(_Stay(name, crossed))
                        crossed = []
                case nodes.Cross(link=link):
                    crossed.append(link)
                case nodes.Delay(link=str()) | nodes.Lose(link=str()):
                    pass  # while it crosses that
                case nodes.Take(hold=hold, pool=pool):
                    holds[hold] = pool
                    stays[-1].steps.append(self._step(node, of, stays[-1].node))
                case nodes.Give(hold=hold):
                    stays[-1].steps.append(f"give {_own(holds[hold], stays[-1].node)}")
                case _:
                    stays[-1].steps += filter(None, [self._step(node, of, stays[-1].node)])
        if crossed:
            stays.append(_Stay(None, crossed))
        return stays if stays[0].steps or at is not None else stays[1:]

    def _step(self, node: nodes.Node, of: Class, at: str | None) -> str:
        """Return what happens in a few words; empty for what is said elsewhere."""
        write = self._numbers
        match node:
            case nodes.Serve():
                return self._served(node, of, at)
            case nodes.Delay(time=time, times=times):
                return f"delay {write.time(time)}{self._often(times)}"
            case nodes.Call():
                return self._called(node, of, at)
            case nodes.Fork(branches=branches):
                each = [self._step(call, of, at) for one in branches for call in one.nodes]
                if node.count is None:
                    return f"[{' || '.join(each)}]"
                first = "" if node.answers is None else f", first {write.count(node.answers)}"
                return f"{write.count(node.count)} together{first} [{each[0]}]"
            case nodes.Take(pool=pool, amount=amount):
                capacity = self._network.pools[pool].capacity
                some = "" if amount is ONE else f" {write.amount(amount, capacity)}"
                return f"take{some} {_own(pool, at)}"
            case nodes.Merge(flows=flows, body=body):
                [*_, inside] = self._stays(body, of, at)
                return phrase(
                    "itinerary.merge", count=write.count(flows), names=", ".join(inside.steps)
                )
            case _:
                return self._changed(node, of)

    def _changed(self, node: nodes.Node, of: Class) -> str:
        """Return what becomes of an item, or of how many there are."""
        write = self._numbers
        match node:
            case nodes.Lose(chance=chance) if chance is not None:
                return f"lose {write.share(chance)}"
            case nodes.Restore(chance=chance):
                return phrase("network.recover", share=write.share(chance))
            case nodes.Thin(share=share, bursty=False):
                return f"{write.share(share)} continue"
            case nodes.Thin(share=share, on_for=on_for):
                lasting = "" if on_for is None else f" for {write.time(on_for)}"
                return f"active {write.share(share)}{lasting}"
            case nodes.Send():
                return self._sent(node)
            case nodes.Resize(bits=None, share=share):
                return phrase("itinerary.resize_share", share=write.share(share))
            case nodes.Resize(bits=bits) if bits is not None:
                item = of.items.primary
                return phrase(
                    "itinerary.resize_size",
                    size=write.size(bits),
                    value="" if item is None else f"/{item}",
                )
            case _:
                return ""

    def _served(self, node: nodes.Serve, of: Class, at: str | None) -> str:
        write, station = self._numbers, _own(node.station, at)
        if self._network.is_store(node.station):
            amount = node.per_flow + node.work * of.sent
            capacity = write.amount(amount, self._network.capacity_of(node.station))
            return f"{station} {capacity}/flow{self._often(node.times)}"
        parts = []
        if node.work is not ZERO:
            parts.append(write.time(node.service))
        if node.per_flow is not ZERO:
            parts.append(f"{write.share(node.per_flow)}/flow")
        thread = (
            ""
            if node.thread is None
            else phrase("itinerary.on_thread", thread=_own(node.thread, node.station))
        )
        return f"{station} {' + '.join(parts)}{self._often(node.times)}{thread}"

    def _called(self, node: nodes.Call, of: Class, at: str | None) -> str:
        """Return a call as `3 × db(cpu 2 ms)`."""
        _, first, *others = self._stays(node.body, of, at)
        links = [*first.links, *(link for one in others for link in one.links)]
        if others and others[-1].node == at and not others[-1].steps:
            others.pop()
        steps = _ARROW.join([", ".join(first.steps), *self._route(others)])
        over = " over " + ", ".join(dict.fromkeys(links)) if self._names(links, at, node) else ""
        often = self._often(node.times, "{} × ")
        return f"{often}{first.node}{over}({steps})"

    def _alternatives(self, calls: Sequence[nodes.Call], of: Class, at: str | None) -> str:
        """Return what is done by chance: `1 %: cpu 31 ms`, `one of {70 %: …; 30 %: …}`."""
        each = []
        for call in calls:
            _, inside, *_ = self._stays(call.body, of, at)
            share = "" if call.times is None else self._numbers.share(call.times.mean)
            if call.events:
                share = f"{' and '.join(one.words for one in call.events)} ({share})"
            steps = ", ".join(inside.steps)
            is_block = len(calls) == 1 and len(inside.steps) > 1
            each.append(f"{share}: {{{steps}}}" if is_block else f"{share}: {steps}")
        return each[0] if len(each) == 1 else phrase("itinerary.one_of", names="; ".join(each))

    def _names(self, links: Sequence[str], at: str | None, call: nodes.Call) -> bool:
        """Return whether a call names its links: where it might go over others, too."""
        ends = {at, call.node}
        direct = [name for name, link in self._network.links.items() if ends <= {*link.ends}]
        return len(direct) > 1 or not {*links} <= {*direct}

    def _often(self, times: nodes.Times | None, form: str = " × {}") -> str:
        if times is None or self._numbers.is_one(times.mean):
            return ""
        value = self._numbers.value(times.mean)
        is_chance = value is not None and value < 1
        write = self._numbers.share if is_chance else self._numbers.factor
        return form.format(write(times.mean))

    def _sent(self, node: nodes.Send) -> str:
        """Return to whom copies go: `9 copies to others`, `1 copy for N to all d`."""
        copies, receivers = map(self._numbers.count, (node.copies, node.receivers))
        to = f"{copies} {'copy' if copies == '1' else 'copies'}"
        if copies != receivers:
            to += phrase("itinerary.per_receivers", receivers=receivers)
        to += " to " + _RECEIVERS.get(node.to, f"{node.to} {node.target or ''}".rstrip())
        return to if node.group is None else f"{to} in {node.group}"


def _with_alternatives(body: nodes.Sequence) -> Iterator[nodes.Node | tuple[nodes.Call, ...]]:
    """Yield what happens in a row; calls that exclude each other together."""
    for choice, group in groupby(body.nodes, key=_choice_of):
        if choice is None:
            yield from group
        else:
            yield tuple(one for one in group if isinstance(one, nodes.Call))


def _choice_of(node: nodes.Node) -> int | None:
    return node.choice if isinstance(node, nodes.Call) else None


_RECEIVERS = {ir.SpreadKind.OTHERS.value: "others", ir.SpreadKind.SOME.value: "others"}
"""Of some others it is said how many they are."""


def _own(name: str, owner: str | None) -> str:
    """Return the name of a part as its owner calls it."""
    return name if owner is None else name.removeprefix(f"{owner}.")
