"""The stages of a sum, as their operands say: what is waited for, what serves, and what is inside.

A stage is nine numbers. A share `waits` of what comes waits: a geometric sum, of ratio `load`, of
what is left of the `work` before it, of that mean and squared variation `spread`, done by so many
`servers` at once. All of it is served, for a time of mean `service` and squared `variation`. Both
are gamma distributed or, without variation, always the same. With `waits` = `load` and one server
that is M/G/1 (Pollaczek and Khinchine), with `waits` of Erlang's C and exponential times M/M/c. It
is passed so many `times`, together with as many of the next stages as stand `inside`: once more
than the whole part for a share of what comes. Where that number is negative, these are
alternatives: of those that stand in it directly exactly one is passed, each by the chance that is
its `times`, and none of them by what is left of 1.

What stands inside a stage and has 0 servers is no stage, but more of the work that is waited for:
its first four numbers say which share finds it first, how much of it there is, and how long it
takes. So the services that are waited for are a mixture, of which each part has a law of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import floor, inf
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.stage_paths import SAME

OPERANDS = 9
"""Of a stage."""

NARROW = 0.2
"""Less varied services leave laws that are less smooth: they take more terms."""

NEARLY_FIXED = 1e-12
"""Times that vary less do so by rounding: a ball around such a variation has 0 in it."""

NEARLY_WHOLE = 1e-13
"""A number of passages that is whole but for rounding counts as whole."""

Number = TypeVar("Number")
Staged = TypeVar("Staged")


class Stage(Struct, frozen=True, kw_only=True, dict=True):
    """A stage with those that are passed as often as it is: `whole` times, a `share` once more.

    The work that is waited for has the parts `work_parts`, in front of the same servers.
    """

    waits: float
    load: float
    work: float
    spread: float
    servers: float
    service: float
    variation: float
    whole: int
    share: float
    inside: tuple[Stage, ...]
    is_choice: bool = False
    work_parts: tuple[Stage, ...] = ()

    @property
    def chance(self) -> float:
        """The chance that it is passed, of one of alternatives."""
        return self.whole + self.share

    @cached_property
    def left(self) -> float:
        """The chance that none of the alternatives inside is passed."""
        left = 1 - sum(each.chance for each in self.inside)
        return left if left > NEARLY_WHOLE else 0.0

    @property
    def has_left(self) -> bool:
        """True where it may be that none of the alternatives inside is passed."""
        return self.left > 0

    @property
    def parts(self) -> tuple[Stage, ...]:
        """The parts of the work that is waited for."""
        return (self, *self.work_parts)

    @cached_property
    def is_late(self) -> bool:
        """True where some of it waits."""
        return any(one.waits > 0 and one.work > 0 for one in self.parts)

    @property
    def is_endless(self) -> bool:
        """True where it takes an infinite time: also where some waits for work without an end."""
        return self.service == inf or (
            self.is_late
            and (
                self.full_load >= 1 or any(one.waits > 0 and one.work == inf for one in self.parts)
            )
        )

    @cached_property
    def waiting_share(self) -> float:
        """Which share waits, for any part of the work."""
        return min(1.0, sum(one.waits for one in self.parts))

    @cached_property
    def full_load(self) -> float:
        """The load of all parts of the work."""
        return sum(one.load for one in self.parts)

    @property
    def has_share(self) -> bool:
        """True where it may be passed once more."""
        return self.share > 0

    @property
    def own_fixed(self) -> float:
        """What is always the same of one passage, but for what is inside."""
        return 0.0 if self.variation else self.service

    @property
    def is_fixed(self) -> bool:
        """True where a part of its own is always the same."""
        return self.own_fixed > 0

    @property
    def is_random(self) -> bool:
        """True where a part of its own varies."""
        return self.is_late or (self.service > 0 and self.variation > 0)

    @property
    def is_narrow(self) -> bool:
        """True where its law is hardly smooth."""
        is_varied = 0 < self.variation < NARROW
        return is_varied or (
            self.is_late and any(one.work > 0 and one.spread < NARROW for one in self.parts)
        )

    @property
    def per_visit(self) -> Stage:
        """Its own part alone, passed once."""
        return replace(self, whole=1, share=0.0, inside=(), is_choice=False)


def is_stage(group: Sequence[float]) -> bool:
    """Return whether operands are those of a stage, or of a part of work, which may be endless."""
    waits, load, work, spread, servers, service, variation, times, inside = group
    return (
        waits >= 0
        and load >= 0
        and work >= 0
        and 0 <= spread < inf
        and servers >= 0
        and service >= 0
        and 0 <= variation < inf
        and 0 <= times < inf
        and abs(inside) < inf
    )


def read_line(
    groups: Sequence[Sequence[Number]],
    stage_of: Callable[[Sequence[Number], tuple[Staged, ...]], Staged],
    how_many: Callable[[Number], float],
) -> tuple[Staged, ...]:
    """Return stages one after the other, those inside others within these.

    A stage is made of its group and what is inside it, `how_many` its last operand says: less than
    none where they are alternatives.
    """
    found = []
    at = 0
    while at < len(groups):
        group = groups[at]
        end = min(len(groups), at + 1 + int(min(len(groups), abs(how_many(group[-1])))))
        found.append(stage_of(group, read_line(groups[at + 1 : end], stage_of, how_many)))
        at = end
    return tuple(found)


def read(groups: Sequence[Sequence[float]]) -> tuple[Stage, ...]:
    """Return stages one after the other, those inside others within these."""
    return read_line(groups, _staged, float)


def _staged(group: Sequence[float], inside: tuple[Stage, ...]) -> Stage:
    waits, load, work, spread, servers, service, variation, times, within = group
    near = round(times)
    whole = near if abs(times - near) <= NEARLY_WHOLE * near else floor(times)
    work_parts = tuple(one for one in inside if not one.servers)
    return Stage(
        waits=min(waits, 1.0),
        load=load,
        work=work,
        spread=spread if spread > NEARLY_FIXED else 0.0,
        servers=servers,
        service=service,
        variation=variation if variation > NEARLY_FIXED else 0.0,
        whole=whole,
        share=max(0.0, times - whole),
        inside=tuple(one for one in inside if one.servers) if work_parts else inside,
        is_choice=within < 0,
        work_parts=work_parts,
    )


def is_sound(line: Sequence[Stage]) -> bool:
    """Return whether all have servers, and chances of alternatives do not exceed 1."""
    return all(
        stage.servers and not _exceeds_one(stage) and is_sound(stage.inside) for stage in line
    )


def _exceeds_one(stage: Stage) -> bool:
    return stage.is_choice and sum(each.chance for each in stage.inside) > 1 + SAME


def passed(line: Sequence[Stage]) -> list[Stage]:
    """Return the stages that are passed at all and take a time."""
    found = []
    for each in line:
        if each.whole or each.share:
            found += [each] if each.service or each.is_late else []
            found += passed(each.inside)
    return found


def share_at_fixed(line: Sequence[Stage]) -> float:
    """Return which share takes no longer than what is always the same."""
    found = 1.0
    for stage in line:
        once = _stage_share_at_fixed(stage)
        found *= once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _stage_share_at_fixed(stage: Stage) -> float:
    if stage.service and stage.variation:
        return 0.0
    own = 1 - stage.waiting_share if stage.is_late else 1.0
    if not stage.is_choice:
        return own * share_at_fixed(stage.inside)
    return own * sum(
        (each.chance * _stage_share_at_fixed(each) for each in stage.inside), stage.left
    )
