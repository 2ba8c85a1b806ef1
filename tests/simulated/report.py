"""What all comparisons come to together: counts, and how far off approximations were."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from msgspec import Struct

from qps.compiler.quantities.certainty import MOST_STATED, CertaintyKind
from qps.simulation.agreement import PredictionVerdict
from simulated.number_errors import off_of
from simulated.records import FALSE_ALARMS, Model, Number

_MAY_FAIL = 0.05
_FEWEST = 20
"""Of methods in fewer networks than these nothing is said."""


class Counts(Struct, frozen=True, kw_only=True):
    """What `Counts.of` counted: models, numbers, and what became of their labels."""

    models: int
    faults: int
    refused: int
    compared: int
    exact: int
    exact_outside: int
    bounds: int
    bounds_outside: int
    approximations: int
    stating: int
    stated_outside: int
    stated_further: int
    """How many are off by more than they state, though perhaps by what was played: for sure not."""
    median_error: float | None
    stating_little: int
    """How many state an error of at most a quarter."""

    @property
    def too_few_hold(self) -> bool:
        """Whether fewer of the stated errors hold than are said to: 19 in 20."""
        return self.stated_outside > _MAY_FAIL * self.stating

    @classmethod
    def of(cls, models: Sequence[Model]) -> Counts:
        """Count all numbers of some models."""
        numbers = [one for model in models for one in model.numbers]
        wrong = [one for one in numbers if _is_wrong(one, len(numbers))]
        approximations = [one for one in numbers if one.kind is CertaintyKind.APPROXIMATION]
        errors = [one.error for one in approximations if one.error is not None and states(one)]
        return cls(
            models=len(models),
            faults=sum(one.fault is not None for one in models),
            refused=sum(one.refused is not None for one in models),
            compared=len(numbers),
            exact=sum(one.kind is CertaintyKind.EXACT for one in numbers),
            exact_outside=sum(one.kind is CertaintyKind.EXACT for one in wrong),
            bounds=sum(_is_bound(one) for one in numbers),
            bounds_outside=sum(map(_is_bound, wrong)),
            approximations=len(approximations),
            stating=len(errors),
            stated_outside=sum(map(states, wrong)),
            stated_further=sum(map(is_further_off, approximations)),
            median_error=median(errors) if errors else None,
            stating_little=sum(error <= 1 / 4 for error in errors),
        )

    def lines(self) -> Iterator[str]:
        """Yield the counts as text."""
        yield f"{self.models:,} models, {self.compared:,} comparisons"
        yield f"faults: {self.faults}"
        yield f"refused or unresolved: {self.refused} ({_share(self.refused, self.models)})"
        yield (
            f"exact: {self.exact:,} ({_share(self.exact, self.compared)}), "
            f"{self.exact_outside} outside (family-wise {FALSE_ALARMS:.0%})"
        )
        yield f"bounds: {self.bounds:,}, {self.bounds_outside} on the wrong side"
        yield (
            f"approximations: {self.approximations:,}, "
            f"{_share(self.stating, self.approximations)} state an error up to a factor of two"
        )
        held = self.stating - self.stated_outside
        near = self.stating - self.stated_further
        yield (
            f"stated errors: {self.stating:,}, {_share(held, self.stating)} hold, "
            f"{_share(near, self.stating)} within two standard errors of the simulation"
        )
        if self.median_error is not None:
            yield (
                f"median stated error: {self.median_error:.0%}, "
                f"{_share(self.stating_little, self.stating)} are at most 25 %"
            )


def states(one: Number) -> bool:
    """Return whether an approximation states an error that tells something."""
    return (
        one.kind is CertaintyKind.APPROXIMATION
        and one.error is not None
        and one.error <= MOST_STATED
    )


def is_further_off(one: Number) -> bool:
    """Return whether a stated error does not hold, but for two standard errors of the play.

    So it counts for numbers, too, that were not played again: where they were, others may state
    an error now.
    """
    off = off_of(one)
    return states(one) and one.error is not None and off is not None and off > one.error


def too_seldom(models: Iterable[Model]) -> Iterator[str]:
    """Yield methods whose stated errors hold less often than 19 in 20 do, worst first."""
    holding = defaultdict[str, list[bool]](list)
    networks = defaultdict[str, set[int]](set)
    for model in models:
        for one in model.numbers:
            for why in set(one.why) if states(one) else ():
                holding[why].append(not is_further_off(one))
                networks[why].add(model.seed)
    for why, each in sorted(holding.items(), key=lambda one: sum(one[1]) / len(one[1])):
        if sum(each) < (1 - _MAY_FAIL) * len(each) and len(networks[why]) >= _FEWEST:
            yield (
                f"  {why}: {_share(sum(each), len(each))} of {len(each)} "
                f"in {len(networks[why])} models"
            )


def _is_bound(one: Number) -> bool:
    return one.kind in (CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND)


def _is_wrong(one: Number, tests: int) -> bool:
    return one.again is not None and one.verdict(tests) is PredictionVerdict.DIFFERS


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


# -- against an earlier state ---------------------------------------------------------------


class Stored(Struct, frozen=True, kw_only=True):
    """Labels of the same specs before and now: what was rightly exact, and how much still is."""

    rightly: int
    still: int
    changed: tuple[tuple[int, Number, Number], ...]

    @classmethod
    def of(cls, before: Iterable[Model], now: Sequence[Model]) -> Stored:
        """Compare; right is what lies within what was played now."""
        tests = sum(len(one.numbers) for one in now)
        by_seed = {one.seed: one for one in now}
        rightly, still = 0, 0
        changed: list[tuple[int, Number, Number]] = []
        for old in before:
            new = by_seed.get(old.seed)
            if new is None or new.text != old.text:
                continue
            numbers = {(one.subject, one.measure): one for one in new.numbers}
            for one in old.numbers:
                same = numbers.get((one.subject, one.measure))
                if same is None:
                    continue
                if (one.kind, one.error) != (same.kind, same.error):
                    changed.append((old.seed, one, same))
                if one.kind is CertaintyKind.EXACT and _would_be_right(one, same, tests):
                    rightly += 1
                    still += same.kind is CertaintyKind.EXACT
        return cls(rightly=rightly, still=still, changed=tuple(changed))

    def lines(self, listed: int) -> Iterator[str]:
        """Yield what became of exact labels, and so many of all changes by kind."""
        yield (
            f"rightly exact before: {self.rightly:,}, still exact: {self.still:,} "
            f"({_share(self.still, self.rightly)})"
        )
        groups = defaultdict[tuple[str, str, str], list[int]](list)
        for seed, old, new in self.changed:
            groups[new.quantity, _label(old), _label(new)].append(seed)
        for (quantity, old, new), seeds in sorted(groups.items(), key=lambda one: -len(one[1]))[
            :listed
        ]:
            yield f"  {quantity}: {old} -> {new}: {len(seeds)} times, at first model {min(seeds)}"


def _would_be_right(old: Number, new: Number, tests: int) -> bool:
    """Return whether an earlier value lies within what was played now."""
    if new.last is None:
        return False
    with_old = Number(
        subject=old.subject,
        measure=old.measure,
        predicted=old.predicted,
        played=new.played,
        again=new.again,
    )
    return with_old.verdict(tests) is not PredictionVerdict.DIFFERS


def _label(one: Number) -> str:
    if one.kind is not CertaintyKind.APPROXIMATION:
        return one.kind.value
    return "no error stated" if one.error is None else f"within {one.error:.0%}"


# -- what is wrong, refused or states nothing -------------------------------------------------


def by_quantity(models: Sequence[Model]) -> Iterator[str]:
    """Yield the counts of each quantity by itself."""
    quantities = defaultdict[str, list[Number]](list)
    tests = sum(len(one.numbers) for one in models)
    for model in models:
        for one in model.numbers:
            quantities[one.quantity].append(one)
    for quantity, numbers in sorted(quantities.items()):
        kinds = Counter(one.kind for one in numbers)
        stating = sum(map(states, numbers))
        wrong = Counter(one.kind for one in numbers if _is_wrong(one, tests))
        yield (
            f"  {quantity}: {len(numbers)}, exact {kinds[CertaintyKind.EXACT]}, "
            f"bounds {kinds[CertaintyKind.UPPER_BOUND] + kinds[CertaintyKind.LOWER_BOUND]}, "
            f"approximations {kinds[CertaintyKind.APPROXIMATION]}, "
            f"{_share(stating, kinds[CertaintyKind.APPROXIMATION])} with an error; "
            f"wrong: {wrong[CertaintyKind.EXACT]} exact, "
            f"{wrong[CertaintyKind.UPPER_BOUND] + wrong[CertaintyKind.LOWER_BOUND]} bounds, "
            f"{wrong[CertaintyKind.APPROXIMATION]} errors"
        )


def refusals(models: Iterable[Model]) -> Iterator[str]:
    """Yield why models were refused or failed, how often, and the first of each."""
    often, first = Counter[str](), dict[str, int]()
    for one in models:
        why = one.refused or one.fault
        if why is None:
            continue
        why = ("fault: " if one.fault else "") + re.sub(r"`[^`]*`|\d[\d.,]*|inf\b", "·", why)
        often[why] += 1
        first.setdefault(why, one.seed)
    for why, count in often.most_common():
        yield f"  {count} times, at first model {first[why]}: {why}"


def outside(models: Sequence[Model]) -> Iterator[str]:
    """Yield each number that is off by more than its label allows."""
    tests = sum(len(one.numbers) for one in models)
    for model in models:
        for one in model.numbers:
            if _is_wrong(one, tests):
                yield line_of_wrong(model.seed, one, tests)


def line_of_wrong(seed: int, one: Number, tests: int) -> str:
    """Return a wrong number as text."""
    play = one.last
    assert play is not None
    half = play.estimate.half_width(1 - FALSE_ALARMS / max(1, tests))
    return (
        f"model {seed}: {one.subject}.{one.measure} is told {one.value:.6g} ({_label(one)}), "
        f"played {play.mean:.6g} ± {half:.2g}: {' + '.join(one.why) or 'exact'}"
    )


def unstated(models: Iterable[Model]) -> Iterator[str]:
    """Yield by quantity and single reason how many approximations state no error."""
    without, all_ = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for model in models:
        for one in model.numbers:
            if one.kind is CertaintyKind.APPROXIMATION:
                for why in dict.fromkeys(one.why):
                    all_[one.quantity, why] += 1
                    without[one.quantity, why] += not states(one)
    for (quantity, why), count in without.most_common():
        if count:
            yield f"  {quantity}: {count} of {all_[quantity, why]}: {why}"
