"""Whether a number has drifted: two estimates of it differ by more than chance would have them.

Rates count requests that come at random; shares, calls and times vary as the new requests do, and
were so known before, from as many requests as their evidence states. All tests together raise a
false alarm in at most 1 of 100 updates (Bonferroni).
"""

from __future__ import annotations

import re
from math import hypot, inf
from statistics import NormalDist

from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.measurement.traces.call_graph import CallVariances
from qps.reports.text.systems.updates.calls_in_streams import Path
from qps.reports.text.systems.updates.evidence import (
    Evidence,
    NumberEstimate,
    calls_estimate,
    elapsed_estimate,
    number_of,
    rate_estimate,
    retries_estimate,
)
from qps.reports.text.systems.updates.observed_numbers import ObservedNumber
from qps.reports.text.systems.updates.request_spreads import Spreads

FALSE_ALARMS = 0.01
_NINETY_FIVE = NormalDist().inv_cdf(0.975)
_COST = re.compile(r"(\d+(?:\.\d+)? (?:s|ms|us|ns))/request(?: \+- (\d+(?:\.\d+)?) %)?")
_SIZE = re.compile(r"\b(sends|returns) (\d[\d_.]*) byte/request")
_ROUNDED = 5e-4
"""Relative: numbers are written with four digits."""


class NumberDrift(Struct, frozen=True, kw_only=True):
    """A number before and now, what it is `of` beside its name, and how far off it is by chance.

    `distance` is the difference in standard errors, infinite for what is known exactly; these are
    known by `freedom` degrees, None where no sample shows them.
    """

    name: str
    kind: str
    before: NumberEstimate
    now: NumberEstimate
    distance: float
    freedom: int | None = None
    line: int = 0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of what it is now; None of what is exact or of unknown error."""
        if not self.now.error:
            return None
        half = _NINETY_FIVE * self.now.error
        return max(0.0, self.now.value - half), self.now.value + half

    def is_drift(self, tests: int) -> bool:
        """Return whether chance alone would hardly have it, of so many tests."""
        level = 1 - FALSE_ALARMS / (2 * max(1, tests))
        if self.freedom is None:
            return self.distance > NormalDist().inv_cdf(level)
        return self.freedom >= 1 and self.distance > student_quantile(level, self.freedom)


def number_drifts(
    before: ObservedNumber, now: ObservedNumber, path: Path, spreads: Spreads
) -> list[NumberDrift]:
    """Return how a number differs from what it was: a call in how often it is made and its sizes.

    Nothing of what only goes with others, such as a claim.
    """
    pairs = [("", *_estimates(before, now, path, spreads))]
    if now.kind in ("calls", "work"):
        pairs += _callers(before.evidence, now.evidence, spreads.weight)
        pairs += _sizes(before, now, spreads.calls.get(path, CallVariances()))
    found = []
    for what, old, new in pairs:
        if old is not None and new is not None:
            kind = f"{now.kind} {what}".strip()
            distance = _distance(old, new)
            name = _name(now, path)
            freedom = _freedom(now, what, path, spreads)
            found.append(
                NumberDrift(
                    name=name,
                    kind=kind,
                    before=old,
                    now=new,
                    distance=distance,
                    freedom=freedom,
                )
            )
    return found


def _freedom(now: ObservedNumber, what: str, path: Path, spreads: Spreads) -> int | None:
    """Return by how many degrees of freedom the new requests show how much they vary."""
    evidence = now.evidence
    if evidence is None or now.kind not in ("elapsed", "calls", "work"):
        return None
    if what == "share":
        return None
    if now.kind != "elapsed" and not what:
        is_sample = evidence.fields.get("callers") is not None and path in spreads.calls
        return int(evidence.number("of") or 0) - 1 if is_sample else None
    return int(evidence.number("count") or 0) - 1


def _name(number: ObservedNumber, path: Path) -> str:
    return f"{path[0]}: {number.name}" if number.kind in ("calls", "share", "work") else number.name


def _distance(old: NumberEstimate, new: NumberEstimate) -> float:
    difference = abs(new.value - old.value)
    if difference <= _ROUNDED * max(abs(old.value), abs(new.value)):
        return 0.0
    error = hypot(old.error or 0.0, new.error or 0.0)
    return difference / error if error else inf


def _estimates(
    before: ObservedNumber, now: ObservedNumber, path: Path, spreads: Spreads
) -> tuple[NumberEstimate | None, NumberEstimate | None]:
    old, new = before.evidence, now.evidence
    if now.kind == "cpu":
        return _cost(before.text), _cost(now.text)
    if now.kind in ("instances", "replicas", "limit"):
        return _exact(before.text, now.text)
    if old is None or new is None:
        return None, None
    weight = spreads.weight
    match now.kind:
        case "rate":
            return rate_estimate(old, weight), rate_estimate(new, weight)
        case "retries":
            return retries_estimate(old, weight), retries_estimate(new, weight)
        case "elapsed":
            deviation = spreads.elapsed.get(now.name)
            return elapsed_estimate(old, deviation), elapsed_estimate(new, deviation)
        case "calls" | "work":
            share = _common_share(old, new)
            variances = spreads.calls.get(path)
            deviation = None if variances is None else variances.count**0.5
            return (
                calls_estimate(old, weight, share, deviation),
                calls_estimate(new, weight, share, deviation),
            )
    return None, None


def _common_share(old: Evidence, new: Evidence) -> float | None:
    """Return the share of requests that make a call, of old and new ones together.

    It is above 1 where only the number of calls is known, as of metrics.
    """
    counts = [one.number("callers") or one.number("count") for one in (old, new)]
    totals = [one.number("of") for one in (old, new)]
    made, of = sum(one or 0.0 for one in counts), sum(one or 0.0 for one in totals)
    return made / of if of else None


def _callers(
    before: Evidence | None, now: Evidence | None, weight: float
) -> list[tuple[str, NumberEstimate | None, NumberEstimate | None]]:
    """Return the share of requests that make a call, where some make it several times."""
    both = [one for one in (before, now) if one is not None and one.fields.get("callers")]
    if len(both) < 2:  # noqa: PLR2004 - otherwise it is the number of calls
        return []
    made, of = ([one.number(name) or 0.0 for one in both] for name in ("callers", "of"))
    share = min(1.0, sum(made) / max(1.0, sum(of)))
    old, new = (
        NumberEstimate(value=m / n, error=(share * (1 - share) * weight / n) ** 0.5) if n else None
        for m, n in zip(made, of, strict=True)
    )
    return [("share", old, new)]


def _cost(text: str) -> NumberEstimate | None:
    found = _COST.fullmatch(text.strip())
    seconds = None if found is None else number_of(found[1])
    if found is None or seconds is None:
        return None
    error = seconds * float(found[2] or 0) / 100 / _NINETY_FIVE
    return NumberEstimate(value=seconds, error=error, unit="s/request")


def _exact(before: str, now: str) -> tuple[NumberEstimate | None, NumberEstimate | None]:
    """Return the numbers in texts that differ in them; a count that is not written is 1."""
    old, new = (_last_number(one) for one in (before, now))
    is_same = before.split() == now.split()
    if old == new and not is_same:  # a bound, or a type of machine
        return NumberEstimate(value=0.0, error=0.0), NumberEstimate(value=1.0, error=0.0)
    return NumberEstimate(value=old, error=0.0), NumberEstimate(value=new, error=0.0)


def _last_number(text: str) -> float:
    found = re.findall(r"(?<![\w.])\d[\d_]*(?:\.\d+)?", text.partition(" in ")[0])
    return float(found[-1].replace("_", "")) if found else 1.0


def _sizes(
    before: ObservedNumber, now: ObservedNumber, variances: CallVariances
) -> list[tuple[str, NumberEstimate | None, NumberEstimate | None]]:
    old, new = dict(_SIZE.findall(before.text)), dict(_SIZE.findall(now.text))
    found: list[tuple[str, NumberEstimate | None, NumberEstimate | None]] = []
    for what, variance in (("sends", variances.sent), ("returns", variances.returned)):
        if what in old and what in new:
            pair = (
                _size(old[what], before.evidence, variance),
                _size(new[what], now.evidence, variance),
            )
            found.append((what, *pair))
    return found


def _size(text: str, evidence: Evidence | None, variance: float) -> NumberEstimate | None:
    count = None if evidence is None else evidence.number("count")
    if not count:
        return None
    error = (variance / count) ** 0.5
    return NumberEstimate(value=float(text.replace("_", "")), error=error, unit="byte")
