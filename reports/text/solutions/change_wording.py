"""Changes as `web: 2 -> 4 servers`, what they cost, and the setting that makes them.

The page has the same words for what it tries itself: `scripts/live/change_wording.js`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.settable_numbers import settable_numbers
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.quantities.calendar_dates import read_date
from qps.compiler.quantities.dimension import MONEY, TIME, Dimension
from qps.engine.exact_algebra.exact_values import as_float
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.capacity_text import supported
from qps.reports.text.solutions.rewrite_wording import rewrite_words
from qps.reports.text.words.labels import PLAIN, Labels, labels_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words, number, planning_money, with_unit
from qps.reports.text.words.spec_units import unit_of
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import Advice, ChangeKind

_DIGITS, _ALL_DIGITS = 4, 15
_MOST_WITHOUT_PRICE = 3
_MOST_HELPFUL = 3
_MOST_GOALS = 1
_LEAST_GAIN = 1.1
"""Of the capacity: a change that gives less is not among the first ones."""
_NEARLY_ALL = 0.8
"""Of what changes gain together: one that gains so much alone is shown in their place."""
_FINEST = 1_000_000
_ENOUGH = ".12g"

_FEW_PLACES = 2
"""Places of which each is printed with its change."""


class ChangeWording(Struct, frozen=True, kw_only=True):
    """What changes of a configuration are called and how they are set."""

    labels: Labels
    configuration: Configuration
    numbers: Mapping[str, Assumption]
    settable: frozenset[str]

    def viewed(self, advice: Advice) -> AdviceView:
        """Return advice with its words and its setting."""
        words = self._words(advice)
        return AdviceView(
            kind=advice.kind,
            name=advice.name,
            change=advice.change if advice.set else words,
            words=words,
            setting=self._setting(advice),
            set=advice.set,
            capacity=advice.capacity,
            range_limits=advice.range_limits,
            to=advice.to,
            headroom=advice.headroom,
            known=advice.known,
            price=advice.price,
            running_price=advice.running_price,
            reliable_capacity=advice.reliable_capacity,
            capacity_interval=advice.capacity_interval,
            holds_until=None if advice.holds_until is None else advice.holds_until.iso,
            choice=None if advice.rewrite is None else advice.rewrite.method,
            lines=None if advice.rewrite is None else advice.rewrite.lines,
            together=tuple(map(self._together, advice.together)) or None,
        )

    def _together(self, advice: Advice) -> str:
        return self._setting(advice) or advice.change

    def _words(self, advice: Advice) -> str:
        name = advice.name
        if advice.together:
            return _together_words([self._words(one) for one in advice.together])
        if advice.rewrite is not None:
            return rewrite_words(advice.rewrite, self.labels)
        if advice.factor is not None:
            return self._of_number(name, advice)
        configuration, after = self.configuration, advice.change.partition(" = ")[2]
        if name in configuration.options:
            return _changed(name, configuration.options[name], after)
        if not advice.set:
            return f"{advice.change.removesuffix(name)}{self.labels.of(name)}"
        place = configuration.nodes.get(name) or configuration.links[name]
        kind = place.machine if isinstance(place, ir.Node) else place.network
        which, _, more = after.partition(" * ")
        if which != kind:
            return _changed(name, kind, which)
        now = int(place.count.value) if isinstance(place.count, ir.Constant) else 1
        key = "change.servers" if isinstance(place, ir.Node) else "change.links"
        return phrase(key, name=name, before=now, after=more)

    def _of_number(self, name: str, advice: Advice) -> str:
        known = self.numbers.get(name)
        if known is None:  # of several kinds or cases
            return self.labels.sentence(advice.change)
        unit, amount, more = _amounts(known, _exactly(advice.factor))
        digits = _DIGITS if _describe(more) != _describe(amount) else _ALL_DIGITS
        before, after = (_describe(value, digits) for value in (amount, more))
        if unit == name.rpartition(".")[2].removesuffix("s"):  # `web.cpu.cores: 4 -> 8`
            unit = ""
        what = self.labels.of(name) if advice.kind is ChangeKind.GOAL else name
        return _changed(what, before, with_unit(after, _per_one(unit)))

    def _setting(self, advice: Advice) -> str | None:
        """Return what to write behind `--set`; None where that cannot be set so."""
        if advice.set:
            return advice.change
        known = self.numbers.get(advice.name)
        if known is None or advice.factor is None or advice.name not in self.settable:
            return None
        unit, _, more = _amounts(known, _exactly(advice.factor))
        return f"{advice.name} = {_written(more)} {unit}".rstrip()


def _changed(name: str, before: str, after: str) -> str:
    return phrase("change.value", name=name, before=before, after=after)


def changes_of(
    model: ir.Model, configuration: Configuration, numbers: Mapping[str, Assumption]
) -> ChangeWording:
    """Return the words for the changes of a configuration."""
    set_before = {c.name for c in configuration.explicit if isinstance(c, ir.SetParameter)}
    nameable = {p.name for p in model.parameters if p.has_own_name} | set_before
    stated = {
        name
        for name, value in configuration.parameters.items()
        if isinstance(value, ir.Constant) and name in nameable
    }
    return ChangeWording(
        labels=model.derived(labels_of),
        configuration=configuration,
        numbers=numbers,
        settable=frozenset(stated | settable_numbers(model, configuration).keys()),
    )


class Wording(Struct, frozen=True, kw_only=True):
    """What an answer is shown with: what things are called, what has no price by its hardware.

    `changes` are those that raise the capacity, in words and with their settings.
    """

    labels: Labels
    changes: tuple[AdviceView, ...] = ()
    without_price: tuple[str, ...] = ()
    traffic: frozenset[str] = frozenset()
    """The parameters and streams by which traffic is less."""
    supported: int = 0
    """The population of the headline, from which gains are counted."""
    base: int = 0
    """The same, that without model error where nothing else is known."""
    in_incidents: tuple[str, ...] = ()
    """What the spec states that counts in incidents alone."""

    @property
    def best_changes(self) -> tuple[AdviceView, ...]:
        """The changes with the largest capacities, of those that gain a tenth; a goal is the last.

        What is required less displaces nothing that can be had.
        """
        least = self.supported * _LEAST_GAIN
        is_judged = any(one.reliable_capacity is not None for one in self.changes)
        helping = [
            one
            for one in self.changes
            if supported_with(one) >= least
            and (one.reliable_capacity is not None or not is_judged)
            and not self._has_enough_in_part(one)
        ]
        ranked = sorted(helping, key=lambda one: -supported_with(one))
        others = [one for one in ranked if not one.is_goal][:_MOST_HELPFUL]
        return (*others, *[one for one in ranked if one.is_goal][:_MOST_GOALS])

    def _has_enough_in_part(self, one: AdviceView) -> bool:
        """Return whether one of the changes that are made together gains nearly as much alone."""
        parts = one.together or ()
        alone = (other for other in self.changes if other.setting in parts)
        enough = self.base + _NEARLY_ALL * (supported_with(one) - self.base)
        return any(supported_with(other) >= enough for other in alone)

    @property
    def by_kind(self) -> tuple[AdviceView, ...]:
        """The same, what has a price before what has none, and what is bought first."""
        return tuple(sorted(self.best_changes, key=self._rank))

    @property
    def others_by_kind(self) -> tuple[AdviceView, ...]:
        """All other changes, in the same order."""
        best = self.best_changes
        return tuple(sorted((one for one in self.changes if one not in best), key=self._rank))

    def _rank(self, one: AdviceView) -> tuple[bool, int]:
        is_priced = one.is_hardware and (one.price, one.running_price) != (None, None)
        return not is_priced, KINDS.index(self.kind(one))

    def kind(self, change: AdviceView) -> str:
        """Return what a change takes: to buy, to set, a choice, less traffic, or a goal."""
        if change.is_hardware:
            return "buy"
        if change.is_goal:
            return "goal"
        if change.choice is not None:
            return "choice"
        return "traffic" if change.name.removesuffix(".traffic") in self.traffic else "system"


def supported_with(one: AdviceView) -> int:
    """Return the capacity with a change: that which can be relied on, where it is known."""
    return one.capacity if one.reliable_capacity is None else one.reliable_capacity


KINDS = ("buy", "system", "choice", "traffic", "goal")
"""What a change takes, in the order in which changes are printed."""


PLAIN_WORDS = Wording(labels=PLAIN)
"""Identifiers, and no changes."""


def wording(model: ir.Model, configuration: Configuration, answer: Answer) -> Wording:
    """Return what an answer is shown with; a price for what would help."""
    changes: tuple[AdviceView, ...] = ()
    if answer.advice:
        of = changes_of(model, configuration, answer.assumptions)
        changes = tuple(map(of.viewed, answer.advice))
    helping = [one.name for one in changes if one.is_hardware and one.name in answer.unpriced]
    hardware = {node.name: node.machine for node in configuration.nodes.values()}
    hardware |= {link.name: link.network for link in configuration.links.values()}
    kinds = dict.fromkeys(hardware[name] for name in helping if name in hardware)
    return Wording(
        labels=model.derived(labels_of),
        changes=changes,
        traffic=model.derived(_traffic_inputs),
        supported=0 if answer.at_reliable is None else answer.at_reliable.population,
        base=supported(answer) or 0,
        without_price=() if answer.costs else tuple(kinds)[:_MOST_WITHOUT_PRICE],
        in_incidents=model.derived(_in_incidents),
    )


def _in_incidents(model: ir.Model) -> tuple[str, ...]:
    """Return what acts only while something happens, not in the steady state of an answer."""
    retrying = joined_words([one.stream for one in model.retrying])
    scaled = joined_words([one.node for one in model.autoscalers])
    return (
        *([phrase("steady_state.retries", streams=retrying)] if retrying else []),
        *([phrase("steady_state.autoscalers", nodes=scaled)] if scaled else []),
    )


def _traffic_inputs(model: ir.Model) -> frozenset[str]:
    """Return the parameters that traffic is stated by, and the streams that state their own."""
    values = [value.expr for stream in model.streams for value in stream.emission.values]
    parts = (part for value in values for part in parts_of(value))
    names = {part.name for part in parts if isinstance(part, ir.ParameterValue)}
    return frozenset(names | {stream.name for stream in model.streams})


def price_help(words: Wording) -> str:
    """Return how what has no price is given one; empty where something has."""
    if not words.without_price:
        return ""
    return phrase("price.how", hardware=joined_words([f"`{one}`" for one in words.without_price]))


def date_and_cost(advice: AdviceView, cost: str) -> str:
    """Return until when the forecast is supported with a change, and what it costs more."""
    until = read_date(advice.holds_until) if advice.holds_until else None
    date = "" if until is None else phrase("forecast.change_until", date=until.in_words)
    return ", ".join(text for text in (date, cost) if text)


def extra_cost(advice: AdviceView) -> str:
    """Return what a change costs more: empty for what is no matter of money."""
    costs: list[tuple[float, Dimension]] = [
        (price, dimension)
        for price, dimension in ((advice.price, MONEY), (advice.running_price, MONEY / TIME))
        if price is not None
    ]
    cost_texts = []
    for price, dimension in costs:
        if price:
            key = "price.more" if price > 0 else "price.less"
            cost_texts.append(phrase(key, price=planning_money(abs(price), dimension)))
    if cost_texts:
        return joined_words(cost_texts)
    if not advice.is_hardware:
        return ""
    return phrase("price.same" if costs else "price.none")


def _amounts(known: Assumption, factor: Fraction) -> tuple[str, Fraction, Fraction]:
    """Return the unit that a number is written in, how much it is in it, and that so many times."""
    size, unit = unit_of(known.text, known.fraction, known.dimension)
    amount = known.fraction / size
    more = amount * factor
    return unit, amount, Fraction(round(more)) if known.counts_things else more


def _per_one(unit: str) -> str:
    """Return a unit as people read it, without a number in it.

    >>> _per_one("request / 1 minute"), _per_one("request / 10 s")
    ('request/minute', 'request / 10 s')
    """
    return re.sub(r" */ *1 +(?=\w+$)", "/", unit)


def _describe(amount: Fraction, digits: int = _DIGITS) -> str:
    return number(as_float(amount), digits)


def _written(amount: Fraction) -> str:
    """Return an amount as a spec has it: all digits, where it ends.

    >>> _written(Fraction(9, 100)), _written(Fraction(10**7)), _written(Fraction(1, 3))
    ('0.09', '10000000', '0.333333333333')
    """
    value = Decimal(amount.numerator) / Decimal(amount.denominator)
    if Fraction(value) != amount:
        value = Decimal(format(as_float(amount), _ENOUGH))
    return f"{value:f}"


def _exactly(factor: float | None) -> Fraction:
    return Fraction(factor or 1).limit_denominator(_FINEST)


def _together_words(every: list[str]) -> str:
    """Return several changes in words: places of which each gets the same, with that once."""
    parts = [one.rpartition(": ") for one in every]
    names, changes = [name for name, _, _ in parts], {change for _, _, change in parts}
    if len(names) <= _FEW_PLACES or len(changes) > 1 or not all(names):
        return joined_words(every)
    return phrase("change.of_each", names=joined_words(names), change=changes.pop())
