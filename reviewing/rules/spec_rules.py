"""All that became weaker in a spec."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.pipeline import Spec
from qps.reviewing.rules.claim_rules import claim_weakenings, claimed_contents
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.plain_values import renamed_in
from qps.reviewing.rules.range_rules import matrix_weakenings, range_weakenings
from qps.reviewing.rules.requirement_rules import requirement_weakenings, scenario_weakenings
from qps.reviewing.rules.source_rules import observation_weakenings, source_weakenings
from qps.reviewing.rules.weakening import Weakening

__all__ = ["claimed_contents", "spec_weakenings"]

_RULES = (
    claim_weakenings,
    observation_weakenings,
    requirement_weakenings,
    scenario_weakenings,
    range_weakenings,
    matrix_weakenings,
    source_weakenings,
)


def spec_weakenings(old: Spec, new: Spec) -> Iterator[Weakening]:
    """Yield what a change makes weaker in a spec, by the rules that read both."""
    before = ConditionReader(model=old.model, renamed=renamed_in(old.model, new.model))
    after = ConditionReader(model=new.model)
    for rule in _RULES:
        yield from rule(before, after)
