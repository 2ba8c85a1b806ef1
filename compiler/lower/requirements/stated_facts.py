"""What a spec states besides its network: targets, prices, groups, and which case is in force."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.case_tables import case_tables
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import GroupSize, Price, SpecStatements
from qps.compiler.lower.requirements.active_requirements import requirements_in_force
from qps.compiler.lower.requirements.lower_targets import targets_of
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.quantities.dimension import MONEY
from qps.engine.expressions.formulas import ZERO


def stated_of(spec: SpecNetwork, numbers: ExpressionLowering) -> SpecStatements:
    """Return what a spec states of a configuration besides its network."""
    model, configuration = numbers.model, numbers.configuration
    requirements = requirements_in_force(model, configuration.mode, spec.absent)
    targets = targets_of(spec.network, spec.places, requirements, numbers)
    prices, unpriced = priced(model, configuration, numbers)
    return SpecStatements(
        targets=targets,
        prices=prices,
        unpriced=unpriced,
        metric=model.quality.metric,
        groups={
            group.name: GroupSize(
                numbers.members(group.name), numbers.groups(group.name), group.doc
            )
            for group in model.groups
        },
        mode=configuration.mode,
        case=configuration.case,
        varied=case_tables(model, configuration),
        absent=spec.absent,
    )


def priced(
    model: ir.Model, configuration: Configuration, expressions: ExpressionLowering
) -> tuple[tuple[Price, ...], tuple[str, ...]]:
    """Return what each place costs, and the places whose machine or network has no price."""
    prices: list[Price] = []
    unpriced: list[str] = []
    places = [(node.name, ir.machine_at(model, node)) for node in configuration.nodes.values()]
    networks = [(link.name, ir.network_at(model, link)) for link in configuration.links.values()]
    for name, kind in (*places, *networks):
        place = configuration.place(name)
        # Machines that have failed are paid for as well.
        is_whole = place.count_before is None
        count = expressions.count(name) if is_whole else expressions.lower(place.stated_count)
        if count is ZERO:
            continue
        if kind is None or kind.price is None:
            unpriced.append(name)
            continue
        price = expressions.symbol(f"{name}.price", kind.price, kind.origin(kind.price))
        is_running = kind.price.dimension != MONEY
        prices.append(Price(name, count * price, is_running))
    return tuple(prices), tuple(unpriced)
