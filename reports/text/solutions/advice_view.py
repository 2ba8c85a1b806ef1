"""A change that raises the capacity, as JSON has it."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from qps.compiler.diagnostics.former_names import former
from qps.compiler.quantities.certainty import Certainty
from qps.solver.answers.answer_parts import ChangeKind, Interval, LineChange, RewriteMethod


class AdviceView(Struct, frozen=True, kw_only=True):
    """A change that increases capacity, and the resulting capacity.

    `change` is the change as spec text, `words` is a description, and `setting` is the value for
    `with` or `--set`, or null. If `range_limits` is true, the capacity may be higher. If demand is
    moved, `to` is the resource that receives most of it, and `headroom` is the headroom left there.
    `price` and `running_price` are the additional cost at the current capacity, in $ and $/s, or
    null without a price. `reliable_capacity` is the reliable capacity after the change, or null if
    it was not computed. `capacity_interval` is the 90 % interval of the capacity after the change.
    It is omitted without uncertain inputs, or if it was not computed. `holds_until` is the last
    month up to which the forecast is supported with the change (`2029-01`). It is omitted without
    a forecast, or if it was not computed.

    A change of the text of the spec is a `choice` of who builds the system: `lines` are the lines
    to write. If two changes are made `together`, that lists their settings. These keys are omitted
    for all other changes.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(
        ["capacity_interval", "holds_until", "choice", "lines", "together"]
    )

    kind: ChangeKind
    name: str
    change: str
    words: str
    setting: str | None
    set: bool
    capacity: int
    range_limits: bool
    to: str | None
    headroom: float | None
    known: Certainty
    price: float | None
    running_price: float | None
    reliable_capacity: int | None = None
    capacity_interval: Interval | None = None
    holds_until: str | None = None
    choice: RewriteMethod | None = None
    lines: tuple[LineChange, ...] | None = None
    together: tuple[str, ...] | None = None

    way = former("way", "kind")

    @property
    def is_hardware(self) -> bool:
        """True if the change needs different or additional machines or networks."""
        return self.kind is ChangeKind.CAPACITY

    @property
    def is_goal(self) -> bool:
        """True if the change is a less strict requirement or target, not a change of the system."""
        return self.kind is ChangeKind.GOAL
