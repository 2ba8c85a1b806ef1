"""What a spec states besides its network: targets, prices, groups, and which case is in force."""

from __future__ import annotations

from qps.compiler.configure.case_tables import case_tables
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import GroupSize, Stated
from qps.compiler.lower.requirements.active_requirements import requirements_in_force
from qps.compiler.lower.requirements.lower_measures import priced
from qps.compiler.lower.requirements.lower_targets import targets_of
from qps.compiler.lower.traffic.build_network import SpecNetwork


def stated_of(spec: SpecNetwork, numbers: ExpressionLowering) -> Stated:
    """Return what a spec states of a configuration besides its network."""
    model, configuration = numbers.model, numbers.configuration
    requirements = requirements_in_force(model, configuration.mode, spec.absent)
    targets = targets_of(spec.network, spec.places, requirements, numbers)
    prices, unpriced = priced(model, configuration, numbers)
    return Stated(
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
