"""The whole model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.changes import Mode, Scenario
from qps.compiler.ir.claims import Expectation, Observation
from qps.compiler.ir.correlations import Correlation
from qps.compiler.ir.design_choices import DesignChoices
from qps.compiler.ir.expressions import Change
from qps.compiler.ir.figures import Figure
from qps.compiler.ir.forecasts import Calendar, Forecast
from qps.compiler.ir.hardware import Link, Machine, Network, Node
from qps.compiler.ir.incidents import Autoscaler, Cache, Incident, Retrying
from qps.compiler.ir.matrices import Matrix
from qps.compiler.ir.parameters import Group, Instance, Option, Parameter, UserRange
from qps.compiler.ir.profiles import Profile
from qps.compiler.ir.requirements import Measure, Quality, Requirement, Target, Wait
from qps.compiler.ir.streams import Stream
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.scalability.station_fit import StationFit

Derived = TypeVar("Derived")


class Model(Struct, frozen=True, kw_only=True, dict=True):
    """A spec that was checked; `fits` are those that its numbers come from, by where they stand.

    `fitted` has every number that was chosen to hit one that is claimed: where it stands, and what
    was chosen.
    """

    name: str
    file: str
    doc: str | None
    population: UserRange
    options: tuple[Option, ...]
    parameters: tuple[Parameter, ...]
    machines: dict[str, Machine]
    networks: dict[str, Network]
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    streams: tuple[Stream, ...]
    measures: tuple[Measure, ...]
    requirements: tuple[Requirement, ...]
    quality: Quality
    scenarios: tuple[Scenario, ...]
    expectations: tuple[Expectation, ...]
    observations: tuple[Observation, ...]
    modes: tuple[Mode, ...] = ()
    figures: tuple[Figure, ...] = ()
    groups: tuple[Group, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    instances: tuple[Instance, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    choices: tuple[DesignChoices, ...] = ()
    targets: tuple[Target, ...] = ()
    waits: tuple[Wait, ...] = ()
    fits: tuple[tuple[Span, CostFit], ...] = ()
    stations: tuple[tuple[Span, StationFit], ...] = ()
    fitted: tuple[tuple[Span, str], ...] = ()
    calendar: Calendar | None = None
    forecast: Forecast | None = None
    profiles: tuple[Profile, ...] = ()
    caches: tuple[Cache, ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()
    retrying: tuple[Retrying, ...] = ()
    incidents: tuple[Incident, ...] = ()
    worst_moments: tuple[tuple[Change, ...], ...] = ()
    """What profiles are at the moments that may limit capacity, if there are several of these."""

    def group(self, name: str) -> Group:
        """Return the group of a name."""
        return next(group for group in self.groups if group.name == name)

    def derived(self, make: Callable[[Model], Derived]) -> Derived:
        """Return what a function makes of this model; it is made once, and kept with the model."""
        cache: dict[Callable[[Model], Derived], Derived] = self.__dict__.setdefault("kept", {})
        if make not in cache:
            cache[make] = make(self)
        return cache[make]
