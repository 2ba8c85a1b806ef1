"""What a reader of a page can choose: the case, options, what stands in each place."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.cases import varies_by_case
from qps.compiler.configure.configuration import Configuration, base_configuration, changed
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.solver.what_if.available_changes import is_assumed, kinds_at_hand

Picks = tuple[int, ...]
"""For each select, the index of what is chosen."""


class Select(Struct, frozen=True, kw_only=True):
    """A choice that the reader of a page can make: an option, a machine, a network.

    `counts` says how many machines or networks a choice of a place brings along; `usual` is
    the number that the spec has there. Choices that are `no_help`, by their numbers, are offered to
    nobody who needs more: assumptions, and hardware that has its purpose elsewhere.
    """

    kind: str
    name: str
    choices: tuple[str, ...]
    doc: str | None
    counts: tuple[ir.Expr, ...] = ()
    usual: ir.Expr | None = None
    no_help: tuple[int, ...] = ()

    def change(self, index: int, span: Span) -> ir.Change:
        """Return the change that makes a choice."""
        if self.kind == "option":
            return ir.SetOption(self.name, self.choices[index], span)
        if self.kind == "case":
            return ir.SetCase(ir.Case(self.choices[index]), span)
        return ir.SetPlace(self.name, self.choices[index], self.counts[index], span)

    @property
    def texts(self) -> tuple[str, ...]:
        """The choices as `--set` takes them: `server * 4` where the number is not the usual one."""
        if not self.counts:
            return self.choices
        return tuple(
            f"{choice} * {count.value}"
            if count != self.usual and isinstance(count, ir.Constant)
            else choice
            for choice, count in zip(self.choices, self.counts, strict=True)
        )


def selects_of(model: ir.Model, starts: Sequence[Configuration]) -> tuple[Select, ...]:
    """Return the case, every option, and every place with the hardware that fits it."""
    options = [
        Select(kind="option", name=option.name, choices=option.choices, doc=option.doc)
        for option in model.options
    ]
    if any(varies_by_case(parameter.value) for parameter in model.parameters):
        cases = tuple(case.value for case in ir.Case)
        options.insert(
            0,
            Select(kind="case", name="case", choices=cases, doc="which case of the values applies"),
        )
    base = base_configuration(model)
    places = []
    for kind, now, known in (
        ("machine", base.nodes, tuple(model.machines)),
        ("network", base.links, tuple(model.networks)),
    ):
        for name, place in now.items():
            usual = [(one, place.count) for one in known if _fits(model, starts, name, one)]
            own = [placed(configuration, name) for configuration in starts]
            more = [(one, twice(count)) for one, count in own if isinstance(count, ir.Constant)]
            choices, counts = zip(*dict.fromkeys([*usual, *own, *more]), strict=True)
            places.append(
                Select(
                    kind=kind,
                    name=name,
                    choices=choices,
                    doc=None,
                    counts=counts,
                    usual=place.count,
                )
            )
    return tuple(s for s in (*options, *places) if len(s.choices) > 1)


def with_no_help(
    select: Select, model: ir.Model, configurations: Sequence[Configuration]
) -> Select:
    """Return a select with the choices that are offered to nobody as a help."""
    choices = range(len(select.choices))
    if select.kind == "option":
        option = next(one for one in model.options if one.name == select.name)
        return replace(select, no_help=tuple(choices) if is_assumed(option) else ())
    if not select.counts:
        return select
    offered = {placed(one, select.name)[0] for one in configurations}
    for one in configurations:
        offered |= set(kinds_at_hand(model, one, select.name))
    no_help = tuple(at for at in choices if select.choices[at] not in offered)
    return replace(select, no_help=no_help)


def placed(configuration: Configuration, place: str) -> tuple[str, ir.Expr]:
    """Return what stands in a place, and how many."""
    node = configuration.nodes.get(place)
    if node is not None:
        return node.machine, node.count
    link = configuration.links[place]
    return link.network, link.count


def twice(count: ir.Constant) -> ir.Expr:
    """Return twice as many machines or networks: what helps most where one is full."""
    return ir.Constant(2 * count.value)


def _fits(model: ir.Model, starts: Sequence[Configuration], place: str, kind: str) -> bool:
    """Tell whether a machine or network can stand in a place in any of the configurations."""
    for configuration in starts:
        if placed(configuration, place)[0] == kind:
            return True
        stands = configuration.nodes.get(place) or configuration.links[place]
        change = ir.SetPlace(place, kind, None, stands.span)
        sink = Sink()
        check_placement(model, changed(configuration, [change]), sink)
        if not sink.has_errors:
            return True
    return False
