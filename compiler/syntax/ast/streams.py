"""Streams: their source, the steps on their way, and playout."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from qps.compiler.syntax.ast.base_node import Index, Name, Named, Presentation, Shared, Written
from qps.compiler.syntax.ast.expressions import Expr, Text


class Spread(Written, frozen=True, kw_only=True):
    """`to others by cast`: `kind` is `others`, `some`, `all` or `one`.

    Of some others there are so many, `count`. Within a `group`, each receiver gets at most so many
    of its streams.
    """

    kind: str
    target: Name | None
    cast: Name | None
    group: Name | None = None
    most: Expr | None = None
    count: Expr | None = None


class Step(Written, frozen=True, kw_only=True):
    """A component in its place in a stream; with a `group`, it merges within each of them."""

    component: Name
    arguments: tuple[Expr, ...]
    repeat: Expr | None
    group: Name | None
    spread: Spread | None
    condition: Expr | None


class Think(Written, frozen=True):
    """`think 15 s`: how long a holder waits after an answer before the next request."""

    time: Expr


class Emission(Written, frozen=True, kw_only=True):
    """`traffic 8000 byte/s, size`: what leaves the source, the first value a rate.

    With a time to `think` it is an amount: `traffic 1 request, 1 kB/request, think 15 s`. The first
    edition of the language called it `source`.
    """

    values: tuple[Expr, ...]
    source: Text | None = None
    is_first_edition: bool = False
    thinks: tuple[Think, ...] = ()


class Arrivals(Written, frozen=True):
    """`arrivals cv 3`: the coefficient of variation of the times between two items of a flow."""

    variation: Expr
    source: Text | None = None


class CallStep(Written, frozen=True, kw_only=True):
    """`call db over lan * 20 %, sends 300 byte/request, returns 4 kB/request { … }`.

    `links` are the way there, none where it is to be found; sizes are stated once at most.
    """

    node: Name
    links: tuple[Name, ...] = ()
    times: Expr | None = None
    sends: Expr | None = None
    returns: Expr | None = None
    source: Text | None = None
    condition: Expr | None = None
    steps: tuple[StepItem, ...] = ()


class CallOthers(Written, frozen=True, kw_only=True):
    """`call 2 others { append }`: so many other machines of the node are called at the same time.

    `links` are the way there, none where it is to be found.
    """

    count: Expr
    links: tuple[Name, ...] = ()
    sends: Expr | None = None
    returns: Expr | None = None
    source: Text | None = None
    condition: Expr | None = None
    steps: tuple[StepItem, ...] = ()


class FanOut(Written, frozen=True, kw_only=True):
    """`100, first 90 answers`: how often a call is made at once, and for how many answers it waits.

    Without `answers` it waits for all of them.
    """

    count: Expr
    answers: Expr | None = None


class Together(Written, frozen=True, kw_only=True):
    """`together { call a { … }; call b { … } }`: calls that are made at the same time.

    With a `fan_out`, `together 100 { call leaf { … } }`, it is one call, so many times.
    """

    fan_out: FanOut | None = None
    steps: tuple[StepItem, ...] = ()


class Take(Written, frozen=True, kw_only=True):
    """`take threads`, `take memory 300 MB`: what is held until it is given back; or one item."""

    pool: Name
    amount: Expr | None = None
    condition: Expr | None = None


class Give(Written, frozen=True, kw_only=True):
    """`give threads`: all that was taken of it is given back, so that an amount is a mistake."""

    pool: Name
    amount: Expr | None = None


class Event(Named, frozen=True, kw_only=True):
    """`event hit = 85 %`: what happens to a part of the items, drawn once for each of them.

    Steps use it by its name. One `for each user` would be drawn once for a user.
    """

    presentation: ClassVar[Presentation] = Presentation(
        noun="an event", symbol_kind="Event", color="event"
    )

    value: Expr
    each: Name | None = None
    source: Text | None = None


class Chance(Written, frozen=True, kw_only=True):
    """`1.4 %: scan`: steps that a part of the items takes, drawn for each of them.

    It may be an event of the stream, or that this does not happen: `not hit: scan`. Of `else: …`
    within `one of { … }` there is no `probability`.
    """

    probability: Expr | None = None
    steps: tuple[StepItem, ...] = ()


class Alternatives(Written, frozen=True, kw_only=True):
    """`one of { 70 %: a; else: b }`: ways of which each item takes exactly one."""

    branches: tuple[Chance, ...] = ()


StepItem: TypeAlias = Step | CallStep | CallOthers | Together | Take | Give | Chance | Alternatives
"""What is done at a node, one after the other."""


class At(Written, frozen=True):
    """The steps at a node, where the condition holds."""

    node: Name
    condition: Expr | None = None
    steps: tuple[StepItem, ...] = ()


class Over(Written, frozen=True):
    """The links that are crossed, where the condition holds."""

    links: tuple[Name, ...]
    condition: Expr | None = None


class Playout(Written, frozen=True):
    """`playout 60 ms dropping 1 %`: a buffer where the stream ends, and what it drops."""

    delay: Expr
    dropping: Expr | None
    source: Text | None = None


class Rank(Written, frozen=True):
    """`priority 1`: where a discipline requests it, 1 goes first, 2 after it."""

    value: Expr


class Each(Written, frozen=True):
    """`for 2 in each room`: so many flows in each group, or one of each machine, user or kind."""

    flows: Expr | None
    name: Name
    but: tuple[Name, ...] = ()


class EachPair(Written, frozen=True, kw_only=True):
    """`for each ordered pair of peer`: a flow from each of them to each other; else one for two.

    Of a group, `for each pair in each room`, the pairs are those of its members.
    """

    name: Name
    is_ordered: bool = False
    is_of_group: bool = False


class InAll(Written, frozen=True):
    """`in all`: one flow in all, which the machines of its first node share."""


class Stream(Shared, frozen=True, kw_only=True):
    """Items on their way, and whose they are: by default of each machine of the first node.

    One of an `index` is made for each of its kinds, each with its `share` of the users.
    """

    presentation: ClassVar[Presentation] = Presentation(
        noun="a stream", symbol_kind="Event", color="event", tag="function"
    )
    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True

    whose: Each | EachPair | InAll | None
    condition: Expr | None = None
    items: tuple[Emission | Rank | Arrivals | Event | At | Over | Playout, ...] = ()
    source: Text | None = None
    index: Index | None = None
    share: Expr | None = None
