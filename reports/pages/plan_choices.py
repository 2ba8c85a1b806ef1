"""What a plan chooses, as people say it: `9 × spot` where a spec says `prices.spot * 9`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from qps.solver.cheapest.plan_result import (
    CostAtUsers,
    Plan,
    PlannedConfiguration,
    PurchaseStep,
    RequirementPrice,
)

_MACHINES = re.compile(r"((?:\w+\.)*)(\w+)(?: \* (\d+))?")
"""A name with the name of its file before it, and how many."""

_Choosing = TypeVar("_Choosing", PlannedConfiguration, PurchaseStep)


def with_counts_first(plan: Plan) -> Plan:
    """Return a plan whose choices are said with the count first, and without the name of a file.

    The name stays where machines of several files have the same name.
    """
    words = _words({label for _, label in _every_choice(plan)})

    def said(one: _Choosing) -> _Choosing:
        return replace(one, choices=tuple((name, words[label]) for name, label in one.choices))

    def said_or_none(one: PlannedConfiguration | None) -> PlannedConfiguration | None:
        return None if one is None else said(one)

    def of_limits(prices: tuple[RequirementPrice, ...]) -> tuple[RequirementPrice, ...]:
        return tuple(replace(one, configuration=said(one.configuration)) for one in prices)

    bought = plan.purchases
    steps = () if bought is None else bought.steps
    said_steps = tuple(
        replace(
            said(one),
            changed_choices=tuple((name, words[label]) for name, label in one.changed_choices),
        )
        for one in steps
    )
    return replace(
        plan,
        cheapest=said_or_none(plan.cheapest),
        runner_up=said_or_none(plan.runner_up),
        most=said_or_none(plan.most),
        requirement_prices=of_limits(plan.requirement_prices),
        nearest=of_limits(plan.nearest),
        front=tuple(
            CostAtUsers(users=one.users, configuration=said_or_none(one.configuration))
            for one in plan.front
        ),
        purchases=None if bought is None else replace(bought, steps=said_steps),
    )


def _every_choice(plan: Plan) -> Iterator[tuple[str, str]]:
    prices = (*plan.requirement_prices, *plan.nearest)
    every = [
        plan.cheapest,
        plan.runner_up,
        plan.most,
        *(one.configuration for one in prices),
        *(one.configuration for one in plan.front),
    ]
    for one in every:
        yield from () if one is None else one.choices
    for step in () if plan.purchases is None else plan.purchases.steps:
        yield from step.choices
        yield from step.changed_choices


def _words(labels: Iterable[str]) -> dict[str, str]:
    """Return what is said of each label."""
    found = {label: _MACHINES.fullmatch(label) for label in labels}
    files: dict[str, set[str]] = {}
    for match in found.values():
        if match is not None:
            files.setdefault(match[2], set()).add(match[1])
    return {
        label: label if match is None else _counted(match, is_alone=len(files[match[2]]) == 1)
        for label, match in found.items()
    }


def _counted(match: re.Match[str], *, is_alone: bool) -> str:
    name = match[2] if is_alone else match[1] + match[2]
    return name if match[3] is None else f"{match[3]} × {name}"
