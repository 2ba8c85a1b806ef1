"""Items that are copied, and the calls that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qps.simulation.items import Go, Item, Joined, of_item
from qps.simulation.run_state import SimulationState, StreamHandlers
from qps.simulation.simulated_model import Call, Choose, FanOut, Fork, Gather, Pick, Reach, Step
from qps.simulation.stations import NORMAL, Happening

_ROUNDING = 1e-9
Chain = Callable[[Sequence[Step], Go, StreamHandlers], Go]
"""Makes a chain of steps, of what is behind them, and whose it is."""


def pick_of(state: SimulationState, step: Pick | Reach, then: Go) -> Go:
    """Let an item choose one of the machines of a node, where it has not yet."""
    node, copies, random = step.node, step.copies, state.random.random
    reaches, is_by_clock = isinstance(step, Reach), state.network.episode is not None

    def pick(item: Item) -> None:
        picks = item.picks
        if reaches and item.spread is not None:
            base, number = item.spread
            first = picks[node] + 1 if node in picks else int(base * copies)
            item.picks = picks | {node: (first + number) % copies}
            item.spread = None
        elif node not in picks:
            has_place = is_by_clock and item.flow >= 0
            chosen = item.flow % copies if has_place else int(random() * copies)
            item.picks = picks | {node: chosen}
        then(item)

    return pick


def copy_of(state: SimulationState, number: float, then: Go) -> Go:
    """Let an item become several that go on together."""
    (whole, part), random = _whole_and_part(number), state.random.random

    def copy(item: Item) -> None:
        count = whole + (part > 0 and random() < part)
        base = random()
        for index in range(count):
            twin = item.copied()
            twin.spread = base, index
            then(twin)

    return copy


def call_of(state: SimulationState, step: Call, then: Go, of: StreamHandlers, chain: Chain) -> Go:
    """Let an item do steps, so often as it calls, and come back."""
    (whole, part), random = _whole_and_part(step.times), state.random.random
    schedule = state.schedule

    def back(item: Item) -> None:
        *others, (left, picks) = item.open
        item.open, item.picks = tuple(others), picks
        if left:
            item.open = (*others, (left - 1, picks))
            schedule(Happening(again, item), NORMAL, 0.0)
        else:
            then(item)

    body = chain(step.steps, back, of)
    again = (of_item(body),)

    def call(item: Item) -> None:
        count = whole + (part > 0 and random() < part)
        if not count:
            then(item)
            return
        item.open = (*item.open, (count - 1, item.picks))
        body(item)

    return call


def gather_of(
    state: SimulationState, step: Gather, then: Go, of: StreamHandlers, chain: Chain
) -> Go:
    """Let an item do steps with others that come with it, and go on for all behind the last."""
    (whole, part), random = _whole_and_part(step.number), state.random.random

    def back(item: Item) -> None:
        joined = item.open[-1]
        joined.left -= 1
        if not joined.left:
            then(joined.item)

    body = chain(step.steps, back, of)

    def gather(item: Item) -> None:
        count = whole + (part > 0 and random() < part)
        joined = Joined(item, count)
        for _ in range(count):
            twin = item.copied()
            twin.open = (*twin.open, joined)
            body(twin)

    return gather


def fork_of(step: Fork, then: Go, of: StreamHandlers, chain: Chain) -> Go:
    """Let an item do several branches at once, and go on behind the last of them."""

    def back(item: Item) -> None:
        joined = item.open[-1]
        joined.left -= 1
        if not joined.left and not joined.is_lost:
            joined.item.is_dropped |= item.is_dropped
            then(joined.item)

    branches = [chain(branch, back, of) for branch in step.branches]

    def fork(item: Item) -> None:
        joined = Joined(item, len(branches))
        for branch in branches:
            twin = item.copied()
            twin.open = (*twin.open, joined)
            branch(twin)

    return fork


def fan_out_of(
    state: SimulationState, step: FanOut, then: Go, of: StreamHandlers, chain: Chain
) -> Go:
    """Let an item do the same steps many times at once, and go on behind the first answers.

    The other ones are done as well, and nobody waits for them.
    """
    node, machines, random = step.node, step.machines, state.random.random

    def back(item: Item) -> None:
        joined = item.open[-1]
        joined.left -= 1
        if not joined.left and not joined.is_lost:
            joined.item.is_dropped |= item.is_dropped
            then(joined.item)

    body = chain(step.steps, back, of)

    def fan_out(item: Item) -> None:
        joined, first = Joined(item, step.answers), int(random() * machines)
        for index in range(step.count):
            twin = item.copied()
            twin.open = (*twin.open, joined)
            twin.picks = twin.picks | {node: (first + index) % machines}
            body(twin)

    return fan_out


def choose_of(
    state: SimulationState, step: Choose, then: Go, of: StreamHandlers, chain: Chain
) -> Go:
    """Let an item do the steps of one branch, by chance."""
    random = state.random.random
    *others, (_, last) = [(share, chain(branch, then, of)) for share, branch in step.branches]
    until: list[tuple[float, Go]] = []
    sum_of = 0.0
    for share, branch in others:
        sum_of += share
        until.append((sum_of, branch))

    def choose(item: Item) -> None:
        drawn = random()
        for below, branch in until:
            if drawn < below:
                branch(item)
                return
        last(item)

    return choose


def _whole_and_part(number: float) -> tuple[int, float]:
    """Return how often at least, and how probably once more."""
    whole = int(number + _ROUNDING)
    part = number - whole
    return whole, part if part > _ROUNDING else 0.0
