"""What is to be played at one population: stations, and streams with their ways, in plain numbers.

Nothing of an engine is in it, and nothing of the formulas of waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.quantities.disciplines import Service


class Station(Struct, frozen=True, kw_only=True):
    """A resource: `copies` of it, each with so many servers, and who of those there is served.

    Who goes before others interrupts them where it `is_preemptive`. `waits` says whether it is
    waited for; where it is not, it has room for all at once. Service times vary by `variation`,
    their coefficient of variation; 0 for fixed ones, 1 for exponential
    ones, gamma distributed otherwise. `background` is the load that no item causes, `speeds` how
    fast all are served together, by how many there are. Each copy has `room` for so many, those
    that are served among them; others are lost. Under a CPU limit, `host_cores` serve until they
    have done what `servers` do in a `period` (s), and go on with the next one.
    """

    name: str
    copies: float = 1
    servers: float = 1
    waits: bool = False
    service: Service = Service.IN_TURN
    is_preemptive: bool = False
    variation: float = 0.0
    background: float = 0.0
    speeds: tuple[float, ...] = ()
    room: float = inf
    period: float | None = None
    host_cores: int = 1

    @property
    def fastest(self) -> float:
        """How much one machine of it serves in a second, at most."""
        return self.servers * (self.speeds[-1] if self.speeds else 1.0)


class Serve(Struct, frozen=True, kw_only=True):
    """A visit of a station: as long as the `parts` of it, on average, that are done.

    After each part but the last, a share goes on. The item itself goes on when the station begins
    with it where it `overlaps` (a switch forwards while it receives). `node` is where the station
    stands, if it is one of several of its machines; a single `thread` is had first. Each that finds
    no room would have become `worth` items at the end.
    """

    station: int
    parts: tuple[tuple[float, Lose | Thin | None], ...]
    node: str | None = None
    overlaps: bool = False
    thread: int | None = None
    worth: float = 1.0

    @property
    def mean(self) -> float:
        """The mean time of those that are done with all."""
        return sum(mean for mean, _ in self.parts)


class BackgroundLoad(Struct, frozen=True):
    """A station is busy by so much for each item; nobody waits for it."""

    station: int
    amount: float


class Delay(Struct, frozen=True):
    """A fixed time."""

    time: float


class Shift(Struct, frozen=True):
    """A fixed time that is added: nothing that an item meets behind it depends on when."""

    time: float


class NormalJitter(Struct, frozen=True):
    """An item is later or earlier by chance, by a normal law that has this deviation."""

    deviation: float


class Thin(Struct, frozen=True):
    """A share goes on; nobody misses the others.

    Where it is of bursts, a flow is on for that share of the time, `lasting` so long at a time.
    """

    share: float
    lasting: float | None = None


class Lose(Struct, frozen=True, kw_only=True):
    """A share is lost. Each that is lost would have become `worth` items at the end."""

    kind: str
    share: float
    worth: float = 1.0


class Pick(Struct, frozen=True):
    """One of the machines of a node is chosen, unless one was before."""

    node: str
    copies: int


class Reach(Struct, frozen=True):
    """The machine of a node that an item is for: each copy goes to another one."""

    node: str
    copies: int


class Take(Struct, frozen=True, kw_only=True):
    """An amount of a pool is taken, of which each machine has so much; who came first waits first.

    Where nobody `waits`, there is always some.
    """

    station: int
    amount: float
    capacity: float
    node: str | None
    waits: bool


class Give(Struct, frozen=True):
    """What is held of a pool is given back."""

    station: int


class Copy(Struct, frozen=True):
    """So many copies go on together, on average."""

    number: float


class Recovery(Struct, frozen=True):
    """A share of what transmission loses in the steps is there again behind them."""

    steps: tuple[Step, ...]
    share: float


class Call(Struct, frozen=True):
    """The steps are done so often, on average, one time after the other."""

    times: float
    steps: tuple[Step, ...]


class Fork(Struct, frozen=True):
    """All branches are done at once; the slowest counts."""

    branches: tuple[tuple[Step, ...], ...]


class FanOut(Struct, frozen=True, kw_only=True):
    """The steps are done so many times at once, `count`; the item goes on with the first `answers`.

    Each goes to another one of so many `machines` of a node, from a random one on; the next round
    begins where all have one.
    """

    steps: tuple[Step, ...]
    count: int
    answers: int
    node: str
    machines: int


class Choose(Struct, frozen=True):
    """The steps of one branch are done, drawn for each item by the shares, which add up to 1."""

    branches: tuple[tuple[float, tuple[Step, ...]], ...]


class Gather(Struct, frozen=True):
    """So many items come here together, on average: all do the steps, then one goes on for all."""

    number: float
    steps: tuple[Step, ...]


Step: TypeAlias = (
    Serve
    | BackgroundLoad
    | Delay
    | Shift
    | NormalJitter
    | Gather
    | Thin
    | Lose
    | Pick
    | Reach
    | Take
    | Give
    | Copy
    | Call
    | Choose
    | Fork
    | FanOut
    | Recovery
)


class StreamSource(Struct, frozen=True, kw_only=True):
    """Items that a stream sends: `rate` a second of all flows together.

    They come at random, or from `flows` that each send with a fixed period. Where there are
    `customers`, each sends its next item a time to `think` after the last one was answered; the
    rate is about what is expected then. Where the times between two items of a flow have a
    `variation`, each flow has its own; 1 is at random. Of a smaller `priority` go first.
    """

    stream: str
    rate: float
    flows: float
    steps: tuple[Step, ...]
    is_periodic: bool = False
    customers: int = 0
    think: float = 0.0
    variation: float | None = None
    priority: float = 0.0


class SimulatedNetwork(Struct, frozen=True, kw_only=True):
    """All that is played.

    `flows` are those that each stream arrives with; of bare bytes, over the bits of a piece.
    `remarks` explain what is played otherwise than it may be meant. Fixed cycles never forget their
    phases: where there are some, a run is made of episodes, which have phases of their own, and of
    each a time of warming up is not counted. Nothing is counted in the `lead` of a
    run, in which the first items are on their way.
    """

    population: int
    stations: tuple[Station, ...]
    sources: tuple[StreamSource, ...]
    flows: dict[str, float]
    remarks: tuple[str, ...] = ()
    episode: tuple[float, float] | None = None
    lead: float = 0.0

    @property
    def is_periodic(self) -> bool:
        """Whether anything comes by a clock."""
        return any(source.is_periodic for source in self.sources)


def served(steps: tuple[Step, ...], often: float = 1.0) -> list[tuple[Serve, float]]:
    """Return the visits on a way, each with how often an item makes it, on average."""
    found: list[tuple[Serve, float]] = []
    for step in steps:
        match step:
            case Serve():
                found.append((step, often))
                for _, lot in step.parts:
                    often *= 1.0 if lot is None else goes_on(lot)
            case Thin() | Lose():
                often *= goes_on(step)
            case Copy():
                often *= step.number
            case Call():
                found += served(step.steps, often * step.times)
            case Recovery():
                found += served(step.steps, often)
            case Gather():
                found += served(step.steps, often * step.number)
            case FanOut():
                found += served(step.steps, often * step.count)
            case Fork():
                for branch in step.branches:
                    found += served(branch, often)
            case Choose():
                for share, branch in step.branches:
                    found += served(branch, often * share)
            case _:
                pass
    return found


def stood(steps: tuple[Step, ...]) -> Iterator[tuple[str | None, int]]:
    """Yield the nodes at which something is waited for on a way, each with what that is."""
    for step in steps:
        match step:
            case Serve() | Take():
                yield step.node, step.station
            case Call() | Recovery() | Gather() | FanOut():
                yield from stood(step.steps)
            case Fork():
                for branch in step.branches:
                    yield from stood(branch)
            case Choose():
                for _, branch in step.branches:
                    yield from stood(branch)
            case _:
                pass


def burst_cycles(steps: tuple[Step, ...]) -> list[float]:
    """Return how long it takes flows to be on and off once, wherever that is known."""
    found: list[float] = []
    for step in steps:
        match step:
            case Thin(share, lasting) if lasting is not None:
                found.append(lasting / share)
            case Serve():
                found += burst_cycles(tuple(lot for _, lot in step.parts if lot is not None))
            case Call() | Recovery() | Gather() | FanOut():
                found += burst_cycles(step.steps)
            case Fork():
                for branch in step.branches:
                    found += burst_cycles(branch)
            case Choose():
                for _, branch in step.branches:
                    found += burst_cycles(branch)
            case _:
                pass
    return found


def goes_on(lot: Lose | Thin) -> float:
    """Return the share that goes on."""
    return lot.share if isinstance(lot, Thin) else 1 - lot.share
