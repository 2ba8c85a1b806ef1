"""A change of the text of a spec that may raise the capacity, and what limits that."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import VARYING, Configuration
from qps.compiler.diagnostics.source import Source
from qps.compiler.ir.measure_names import is_utilization, resource_in
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.pipeline import Spec
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import TextEdit
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import QUALITY, Solution


class SpecEdit(Struct, frozen=True, kw_only=True):
    """A change to try: the edits of the text, and the names and amounts that describe it.

    `name` is what it changes. `to` is the resource that demand moves to, None for none.
    """

    method: RewriteMethod
    kind: ChangeKind
    name: str
    parts: tuple[str, ...]
    edits: tuple[TextEdit, ...]
    to: str | None = None


class Limited(Struct, frozen=True, kw_only=True, dict=True):
    """A spec in a configuration, and what limits its capacity."""

    spec: Spec
    configuration: Configuration
    solution: Solution

    @property
    def model(self) -> ir.Model:
        """The model that was solved."""
        return self.spec.model

    @property
    def graph(self) -> LoadGraph:
        """The load graph of the mode that limits."""
        return self.solution.graph

    @property
    def source(self) -> Source:
        """The text of the spec itself, without what it uses."""
        return self.spec.program.main.syntax.source

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What limits: of quality, all its axes."""
        name = self.solution.limited_by
        criteria = all_criteria(self.graph)
        if name == QUALITY:
            return tuple(one for one in criteria if one.axis is not None)
        return tuple(one for one in criteria if one.name == name)

    @cached_property
    def waiting(self) -> tuple[str, ...]:
        """The streams whose latency limits; none where that is a utilization."""
        if is_utilization(self.solution.limited_by or ""):
            return ()
        named = dict.fromkeys(name for one in self.criteria for name in one.rests_on)
        return tuple(name for name in named if name in self.graph.streams)

    @cached_property
    def utilizations(self) -> Mapping[str, float]:
        """The utilization of each resource at the answer."""
        return {one.name: one.utilization_at_limit for one in self.solution.resources}

    @cached_property
    def full(self) -> str | None:
        """The resource that limits: the full one, or the busiest of those whose streams wait."""
        resource = resource_in(self.solution.limited_by or "")
        if resource in self.graph.resources:
            return resource
        met = [name for stream in self.waiting for name in self.met_by(stream)]
        return max(met, key=lambda name: self.utilizations.get(name, 0.0), default=None)

    def met_by(self, stream: str) -> list[str]:
        """Return the resources that a stream meets."""
        return [n for n in self.graph.streams[stream].rests_on if n in self.graph.resources]

    def sharing(self, resource: str) -> list[str]:
        """Return the streams that meet a resource."""
        return [name for name in self.graph.streams if resource in self.met_by(name)]

    def has_requirement(self, stream: str) -> bool:
        """Return whether some requirement rests on a stream."""
        return any(stream in one.rests_on for one in all_criteria(self.graph))

    def resource(self, name: str) -> ir.Resource | None:
        """Return a resource of a machine by its name in its place: `web.cpu`."""
        place, _, own = name.rpartition(".")
        return self.resource_at(place, own)

    def resource_at(self, place: str, name: str) -> ir.Resource | None:
        """Return a resource of the machine at a node; None where it has none."""
        node = self.configuration.nodes.get(place)
        machine = None if node is None else ir.machine_at(self.model, node)
        return None if machine is None else machine.resource(name)

    def is_of_users(self, node: str) -> bool:
        """Return whether there are as many of a node as there are users."""
        count = self.configuration.nodes[node].count
        return any(isinstance(part, VARYING) for part in parts_of(count))

    def written_stream(self, name: str) -> ast.Stream | None:
        """Return a stream as the spec itself states it; None where it does not."""
        streams = self.spec.program.main.syntax.every(ast.Stream)
        return next((one for one in streams if one.name.text == name), None)
