"""By what a number of a spec was observed: its source or comment, as `qps observe` writes them.

A phrase that is written is also read again, so both stand once. What a person has changed is no
evidence any more, and its number is then the person's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from math import sqrt

from msgspec import Struct

from qps.reports.text.words.phrases import phrases

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_TIME = r"\d+(?:\.\d+)? (?:s|ms|us|ns)"
_FORMS = {
    **dict.fromkeys(("count", "callers", "of", "rows", "both", "traces", "spans"), _NUMBER),
    **dict.fromkeys(("duration", "own", "network", "seconds"), _TIME),
    **dict.fromkeys(("s", "rs"), "s?"),
    "share": r"[\d.]+ %",
}
_HOLE = re.compile(r"\{(\w+)\}")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_KINDS = {
    "rate": ("system.rate",),
    "calls": ("system.calls_share", "system.calls_of"),
    "retries": ("system.retries",),
    "cpu": ("system.cpu_fitted",),
    "instances": ("system.all_instances",),
    "replicas": ("manifest.count",),
    "limit": ("manifest.limit",),
    "memory": ("manifest.memory",),
    "assumed": ("system.assumed", "service_graph.assumed", "manifest.assumed"),
    "elapsed": ("system.elapsed",),
    "fitted": ("update.fitted",),
    "route": ("system.route",),
    "together": ("system.steps_together", "system.in_turn"),
    "files": ("system.files", "service_graph.files"),
    "period": ("system.period", "service_graph.period"),
}


class Evidence(Struct, frozen=True, kw_only=True):
    """Where the evidence of a number stands in the text, its kind, and what it says."""

    kind: str
    text: str
    start: int
    end: int
    fields: Mapping[str, str]

    def number(self, name: str) -> float | None:
        """Return a number that it holds, a time in s; None where it has none of this name."""
        return number_of(self.fields.get(name) or "")


def evidence_of(kind: str, text: str) -> Mapping[str, str] | None:
    """Return the parts of a text that is evidence of a kind; None where it is none.

    >>> evidence_of("rate", "1,200 in 60 s"), evidence_of("rate", "by hand")
    ({'count': '1,200', 'seconds': '60 s'}, None)
    """
    for pattern in _patterns(kind):
        found = pattern.fullmatch(text)
        if found is not None:
            parts = found.groupdict()
            times = _times().fullmatch(parts.get("times") or "") if kind == "elapsed" else None
            return {**parts, **(times.groupdict() if times else {})}
    return None


def number_of(text: str) -> float | None:
    """Return the number at the start of a text, a time in s.

    >>> number_of("1,200"), number_of("2.5 ms"), number_of("many")
    (1200.0, 0.0025, None)
    """
    found = re.match(rf"({_NUMBER})(?: (s|ms|us|ns)\b)?", text)
    return None if found is None else float(found[1].replace(",", "")) * _SECONDS.get(found[2], 1)


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    behind = r"(?:; [\d.]+ % failed)?" if kind == "calls" else ""
    found = [_pattern(phrases()[key]) + behind for key in _KINDS[kind]]
    if kind == "route":
        one = rf"(?:mean|p50|p95|p99) {_TIME}"
        started = _pattern(phrases()["system.async"])
        times = f"(?:{one}(?:, {one})*)?(?:; {started})?"
        begin = found[0].removesuffix(r"\ (?P<times>.*?)")
        found = [rf"{begin}\ ?{times}"]  # without times, as of metrics, nothing follows
    return tuple(map(re.compile, found))


@cache
def _times() -> re.Pattern[str]:
    """Return what the times of an operation look like."""
    plain, parts, between = (
        _pattern(phrases()[f"system.elapsed_{one}"]) for one in ("time", "times", "between")
    )
    plain = plain.replace("?P<duration>", "?P<all>")
    return re.compile(f"(?:{plain}|{parts})(?:{between})?")


def _pattern(template: str) -> str:
    parts = _HOLE.split(template.replace("{{", "{").replace("}}", "}"))
    found = re.escape(parts[0])
    seen: set[str] = set()
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        form = _FORMS.get(name, ".*?")
        found += form if name in seen else f"(?P<{name}>{form})"
        seen.add(name)
        found += re.escape(literal)
    return found


class NumberEstimate(Struct, frozen=True, kw_only=True):
    """A number with its standard error, in `unit`; None where the error is not known."""

    value: float
    error: float | None
    unit: str = ""


def rate_estimate(evidence: Evidence, weight: float) -> NumberEstimate | None:
    """Return a rate: requests that come at random, each of which stands for `weight`."""
    count, seconds = evidence.number("count"), evidence.number("seconds")
    if not count or not seconds:
        return None
    return NumberEstimate(
        value=count / seconds, error=sqrt(count * weight) / seconds, unit="request/s"
    )


def calls_estimate(
    evidence: Evidence, weight: float, share: float | None, deviation: float | None
) -> NumberEstimate | None:
    """Return calls per request of the caller.

    `share` is that of the requests that make it, over what is compared; `deviation` that of the
    calls of one request. Without it, further calls count as coming at random.
    """
    count, of = evidence.number("count"), evidence.number("of")
    if count is None or not of:
        return None
    callers = evidence.number("callers")
    if callers is None and share is not None and share < 1:
        variance = share * (1 - share)
    elif deviation is not None and (callers is not None or count == of):
        variance = deviation**2
    else:
        variance = count / of
    return NumberEstimate(value=count / of, error=sqrt(max(0.0, variance) * weight / of))


def retries_estimate(evidence: Evidence, weight: float) -> NumberEstimate | None:
    """Return retries per first call."""
    count, of = evidence.number("count"), evidence.number("of")
    if count is None or not of or count >= of:
        return None
    share = count / of
    error = sqrt(share * (1 - share) * weight / of) / (1 - share) ** 2
    return NumberEstimate(value=share / (1 - share), error=error)


def elapsed_estimate(evidence: Evidence, deviation: float | None) -> NumberEstimate | None:
    """Return the time outside of calls, of which `deviation` is that of one request, relative."""
    count, own = evidence.number("count"), evidence.number("own") or evidence.number("all")
    if not count or own is None:
        return None
    value = own + (evidence.number("network") or 0.0)
    error = None if deviation is None else deviation * value / sqrt(count)
    return NumberEstimate(value=value, error=error, unit="s")
