"""What a change may cost at most: `--fail-on 'capacity -5 %'`.

| written | fails where |
|---|---|
| `worse` | the capacity of a spec decreases at all, unless by less than the model error; or the
  last month that its forecast is supported in comes earlier |
| `capacity -5 %`, `capacity -100` | it decreases by that much or more |
| `cost +10 %` | what the configuration costs increases by that much or more |
| `warnings` | there is a warning |
"""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.reports.text.changes.answer_pair import relative
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reviewing.git_command import refused
from qps.reviewing.spec_answers import SpecAnswer


class ThresholdQuantity(StrEnum):
    """What a threshold is of."""

    CAPACITY = "capacity"
    COST = "cost"
    WARNINGS = "warnings"


class Threshold(Struct, frozen=True, kw_only=True):
    """A limit of a change: a share, or a number of users; None for any change for the worse."""

    text: str
    quantity: ThresholdQuantity
    limit: Fraction | None = None
    is_share: bool = False

    def exceeded_by(
        self, before: SpecAnswer, after: SpecAnswer, *, within_error: bool = False
    ) -> str | None:
        """Return in words how a change exceeds the limit, None where it does not.

        A capacity that moves by less than the model error, `within_error`, is not worse.
        """
        if self == ANY_DECREASE and _is_earlier(before, after):
            return phrase(
                "threshold.date_is_earlier",
                old=before.holds_until,
                new=after.holds_until or phrase("forecast.no_month"),
                text=self.text,
            )
        if within_error and self == ANY_DECREASE:
            return None
        if self.quantity is ThresholdQuantity.CAPACITY:
            return self._by_capacity(before, after)
        if self.quantity is ThresholdQuantity.COST:
            return self._by_cost(before, after)
        return None

    def _by_capacity(self, before: SpecAnswer, after: SpecAnswer) -> str | None:
        old, new = before.capacity or 0, after.capacity or 0
        if not self._is_exceeded(Fraction(old), Fraction(new), sign=-1):
            return None
        return phrase(
            "threshold.capacity_falls",
            old=old,
            new=counted(new, after.population),
            difference=new - old,
            relative=relative(old, new),
            text=self.text,
        )

    def _by_cost(self, before: SpecAnswer, after: SpecAnswer) -> str | None:
        for unit, new in after.costs.items():
            old = before.costs.get(unit, 0.0)
            ratio = Fraction(new / old).limit_denominator(_FINEST) if old else Fraction(1)
            if self._is_exceeded(Fraction(1), ratio, sign=1):
                what = "cost" if unit == "$" else phrase("term.running_cost")
                return phrase(
                    "threshold.cost_rises", what=what, relative=relative(old, new), text=self.text
                )
        return None

    def _is_exceeded(self, old: Fraction, new: Fraction, *, sign: int) -> bool:
        by = sign * (new - old)
        if by <= 0:
            return False
        if self.limit is None:
            return True
        return by >= (abs(old) * self.limit if self.is_share else self.limit)


def _is_earlier(before: SpecAnswer, after: SpecAnswer) -> bool:
    """Return whether the last month that is supported comes earlier."""
    old, new = before.holds_until, after.holds_until
    return old is not None and new is not None and new < old


_FINEST = 10**9
"""Costs are rounded as they are reckoned: a ratio of two is taken for the nearest plain one."""

ANY_DECREASE = Threshold(text="worse", quantity=ThresholdQuantity.CAPACITY)
_WORDS = {
    "worse": ANY_DECREASE,
    "warnings": Threshold(text="warnings", quantity=ThresholdQuantity.WARNINGS),
}
_FORM = re.compile(
    r"(?P<quantity>capacity|cost) *(?P<sign>[+-]) *(?P<number>\d{1,12}(\.\d{1,6})?) *(?P<share>%?)"
)
_HINT = phrase("threshold.forms")


def threshold(text: str) -> Threshold:
    """Read a threshold; QpsError where it is none.

    >>> threshold("capacity -5 %").limit, threshold("capacity -100").limit
    (Fraction(1, 20), Fraction(100, 1))
    """
    written = " ".join(text.replace("\N{MINUS SIGN}", "-").replace("_", "").split())
    if written in _WORDS:
        return _WORDS[written]
    found = _FORM.fullmatch(written)
    if found is None:
        raise refused(f"`--fail-on {shortened(written)}` is not a threshold", _HINT)
    number, is_share = Fraction(found["number"]), found["share"] == "%"
    capacity = found["quantity"] == ThresholdQuantity.CAPACITY.value
    if capacity != (found["sign"] == "-"):
        better = (
            phrase("threshold.capacity_increase") if capacity else phrase("threshold.cost_decrease")
        )
        raise refused(f"`--fail-on {written}` is {better}, which cannot fail the check", _HINT)
    if not capacity and not is_share:
        raise refused(f"`--fail-on {written}` must be a percentage: costs have units", _HINT)
    if not number or (capacity and is_share and number > _WHOLE):
        why = phrase("threshold.above_all") if number else phrase("threshold.zero")
        raise refused(f"`--fail-on {written}`: {why}", _HINT)
    return Threshold(
        text=written,
        quantity=ThresholdQuantity(found["quantity"]),
        limit=number / _WHOLE if is_share else number,
        is_share=is_share,
    )


_WHOLE = 100
