"""What measures are called, and what they were called before.

A spec may use either name, for ever; `CURRENT` is the one table of both. The checker reads names by
it, so that all that comes behind knows the current ones alone, and `qps fmt` rewrites by it.
"""

from __future__ import annotations

import re
from fractions import Fraction

UTILIZATION = "utilization"
CAPACITY = "capacity"

CURRENT = {
    "load": UTILIZATION,
    "largest_acceptable": CAPACITY,
}
"""Current names by the former ones: of a place, of the answer."""
FORMER = {current: former for former, current in CURRENT.items()}

_PERCENTILE = re.compile(r"p([0-9]{1,2})(?:_([0-9]{1,6}))?", re.ASCII)
_QUANTILE = re.compile(r"quantile\(\s*([\w.]+)\.latency\s*,([^,()]*)\)")
_SHARE = re.compile(r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*(%|percent)?\s*", re.ASCII)
_HUNDREDTHS = 2
_MOST_DECIMALS = 6


def current_name(word: str) -> str:
    """Return the current name of a measure.

    >>> current_name("load"), current_name("latency")
    ('utilization', 'latency')
    """
    return CURRENT.get(word, word)


def current_column(name: str) -> str:
    """Return the current name of an answer's column of a matrix.

    >>> current_column("load:web.cpu"), current_column("largest_acceptable_known")
    ('utilization:web.cpu', 'capacity_known')
    >>> current_column("load")
    'load'
    """
    for former, current in CURRENT.items():
        is_of_place = current == UTILIZATION
        if name == former and not is_of_place:
            return current
        mark = ":" if is_of_place else "_"
        if name.startswith(former + mark):
            return current + name.removeprefix(former)
    return name


def utilization_of(resource: str) -> str:
    """Return the name of the utilization of a resource, which its requirement has, too.

    >>> utilization_of("web.cpu")
    'web.cpu.utilization'
    """
    return f"{resource}.{UTILIZATION}"


def resource_in(name: str) -> str:
    """Return the resource in the name of a utilization; any other name as it is.

    >>> resource_in("web.cpu.utilization"), resource_in("replies.latency")
    ('web.cpu', 'replies.latency')
    """
    return name.removesuffix(f".{UTILIZATION}")


def is_utilization(name: str) -> bool:
    """Return whether a name is that of a utilization."""
    return name.endswith(f".{UTILIZATION}")


def percentile_level(word: str) -> Fraction | None:
    """Return the share that a percentile is of; None for a word that is no percentile.

    >>> percentile_level("p99_9"), percentile_level("p50"), percentile_level("page")
    (Fraction(999, 1000), Fraction(1, 2), None)
    """
    found = _PERCENTILE.fullmatch(word)
    if found is None:
        return None
    return Fraction(f"{found[1]}.{found[2] or 0}") / 100


def percentile_word(level: Fraction) -> str | None:
    """Return how a percentile is written; None for a share that has too many digits for that.

    >>> [percentile_word(Fraction(level)) for level in ("0.99", "0.999", "0.05", "1/3")]
    ['p99', 'p99_9', 'p05', None]
    """
    scaled = level * 100 * 10**_MOST_DECIMALS
    if scaled.denominator != 1 or not 0 <= level < 1:
        return None
    whole, decimals = divmod(scaled.numerator, 10**_MOST_DECIMALS)
    behind = f"{decimals:0{_MOST_DECIMALS}}".rstrip("0")
    return f"p{whole}_{behind}" if behind else f"p{whole:0{_HUNDREDTHS}}"


def percentile_text(word: str) -> str:
    """Return a percentile as people write it; any other word as it is.

    >>> percentile_text("p99_9"), percentile_text("latency")
    ('p99.9', 'latency')
    """
    return word.replace("_", ".") if _PERCENTILE.fullmatch(word) else word


def current_text(name: str) -> str:
    """Return a name that somebody typed with the current names of measures in it.

    >>> current_text("limit of web.cpu.load"), current_text("quantile(page.latency, 99 %)")
    ('limit of web.cpu.utilization', 'page.p99')
    >>> current_text("largest_acceptable.p05")
    'capacity.p05'
    """
    *front, last = name.split(".")
    if front == [FORMER[CAPACITY]] and percentile_level(last) is not None:
        return f"{CAPACITY}.{last}"
    if front and last == FORMER[UTILIZATION]:
        return ".".join((*front, UTILIZATION))
    return _QUANTILE.sub(_as_percentile, name)


def literal_share(text: str) -> Fraction | None:
    """Return a share that is written out; None for any other text.

    >>> literal_share("99.9 %"), literal_share("0.5"), literal_share("level")
    (Fraction(999, 1000), Fraction(1, 2), None)
    """
    found = _SHARE.fullmatch(text)
    return None if found is None else Fraction(found[1]) / (100 if found[2] else 1)


def _as_percentile(found: re.Match[str]) -> str:
    share = literal_share(found[2])
    word = None if share is None else percentile_word(share)
    return found[0] if word is None else f"{found[1]}.{word}"


_WORDS = re.compile(r"[\w.]+")


def timed_streams(measure: str) -> tuple[str, ...]:
    """Return the streams of whose latency a measure is, a mean or a percentile.

    >>> timed_streams("replies.p99"), timed_streams("replies.loss")
    (('replies',), ())
    """
    named = (word.rpartition(".") for word in _WORDS.findall(measure))
    return tuple(
        stream
        for stream, _, kind in named
        if kind == "latency" or percentile_level(kind) is not None
    )
