"""Units: names with an exact factor to base units and a dimension.

Prefixes `k M G T P` are decimal, `Ki Mi Gi Ti Pi` binary; bit and byte are exact. What other
tools read in two ways (`KB`, `Mb`, a bare `b`) is no unit here, but an error that offers both.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.fixits import instead
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)


class UnitOfMeasure(Struct, frozen=True):
    """A unit; one of it is `factor` base units (s, bit, $, one item) of `dimension`."""

    name: str
    factor: Fraction
    dimension: Dimension


ITEMS = (
    "packet",
    "frame",
    "request",
    "message",
    "session",
    "connection",
    "call",
    "core",
)
"""What is counted in every spec; a spec adds its own with `unit name`."""

_TIMES = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "second": Fraction(1),
    "minute": Fraction(60),
    "hour": Fraction(3600),
    "day": Fraction(86_400),
    "week": Fraction(604_800),
    "month": Fraction(31_557_600, 12),
    "year": Fraction(31_557_600),
}
_PREFIXES = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
}
_INFORMATION = {"bit": 1, "byte": 8, "Byte": 8}
_SHORT_BYTES = {"B": 8}


def _built_in() -> dict[str, UnitOfMeasure]:
    units = [UnitOfMeasure(name, factor, TIME) for name, factor in _TIMES.items()]
    units += [
        UnitOfMeasure(prefix + name, Fraction(multiple * bits), INFORMATION)
        for prefix, multiple in _PREFIXES.items()
        for name, bits in (_INFORMATION if not prefix else _INFORMATION | _SHORT_BYTES).items()
    ]
    units += [
        UnitOfMeasure(f"{prefix}bps", Fraction(_PREFIXES[prefix]), DATA_RATE)
        for prefix in ("", "k", "M", "G", "T")
    ]
    units += [UnitOfMeasure(name, Fraction(1), Dimension.of(name)) for name in ITEMS]
    units.append(UnitOfMeasure("millicore", Fraction(1, 1000), Dimension.of("core")))
    units += [
        UnitOfMeasure("$", Fraction(1), MONEY),
        UnitOfMeasure("%", Fraction(1, 100), DIMENSIONLESS),
        UnitOfMeasure("percent", Fraction(1, 100), DIMENSIONLESS),
    ]
    return {unit.name: unit for unit in units}


BUILT_IN: dict[str, UnitOfMeasure] = _built_in()
"""The units that every spec has, by name."""

BY_PLURAL = frozenset(
    f"{name}s"
    for name in (
        *("core", "millicore", "packet", "frame", "bit", "byte"),
        *(word for word in _TIMES if len(word) > len("ms")),
    )
)
"""Plurals that are as good as the unit itself; those of other items yield to values called so."""

_ITEM_PLURALS = {f"{name}s": name for name in ITEMS}
# `calls` and `messages` name populations and numbers, too: these are meant then.


def built_in(name: str) -> UnitOfMeasure | None:
    """Return a unit that every spec has, also by its plural.

    >>> built_in("Mbit").factor, built_in("packets").name, built_in("calls").name, built_in("KB")
    (Fraction(1000000, 1), 'packet', 'call', None)
    """
    unit = BUILT_IN.get(name)
    if unit is None and (name in BY_PLURAL or name in _ITEM_PLURALS):
        unit = BUILT_IN[name[:-1]]
    return unit


def is_reserved(name: str) -> bool:
    """Return whether no spec can declare a unit of this name."""
    return name in BUILT_IN or name in BY_PLURAL


def singulars(name: str) -> list[str]:
    """Return the words of which one is the plural.

    >>> singulars("queries"), singulars("batches"), singulars("update")
    (['querie', 'query'], ['batche', 'batch'], [])
    """
    found = [name[:-1]] if name.endswith("s") else []
    found += [f"{name[:-3]}y"] if name.endswith("ies") else []
    found += [name[:-2]] if name.endswith(("ses", "xes", "zes", "ches", "shes")) else []
    return [word for word in found if word]


def plurals(name: str) -> list[str]:
    """Return the words of which it is a singular.

    >>> plurals("query"), plurals("batch"), plurals("update")
    (['querys', 'queries'], ['batchs', 'batches'], ['updates'])
    """
    found = [f"{name}s"]
    found += [f"{name[:-1]}ies"] if name.endswith("y") else []
    found += [f"{name}es"] if name.endswith(("s", "x", "z", "ch", "sh")) else []
    return found


_AMBIGUOUS = {
    "m": ("minute", "millicore"),
    "b": ("bit", "byte"),
    "B": ("byte",),
    "KB": ("kB", "KiB"),
    "Kb": ("kbit", "kB", "KiB"),
    "kb": ("kbit", "kB"),
    "Mb": ("Mbit", "MB"),
    "mb": ("Mbit", "MB"),
    "Gb": ("Gbit", "GB"),
    "gb": ("Gbit", "GB"),
    "Kbit": ("kbit", "Kibit"),
    "Kbps": ("kbit/s",),
    "kbps": ("kbit/s",),
    "mbps": ("Mbit/s",),
    "fps": ("frame/s",),
    "pps": ("packet/s",),
    "rps": ("request/s",),
    "KBps": ("kB/s",),
    "MBps": ("MB/s",),
    "sec": ("s",),
    "msec": ("ms",),
    "min": ("minute",),
    "h": ("hour",),
    "hr": ("hour",),
    "hrs": ("hour",),
    "usec": ("us",),
    **dict.fromkeys(
        ("vCPU", "vCPUs", "vcpu", "vcpus", "CPU", "CPUs", "thread", "threads"), ("core",)
    ),
}
"""What may be meant by names of units that are read in two ways elsewhere."""

_SAID = {
    "KB": "write `kB` (1000 byte) or `KiB` (1024 byte)",
    "K": "write `k` with a unit: `kbit`, `kB`",
    "Kb": "write `kbit`, `kB` (1000 byte) or `KiB` (1024 byte)",
    "Kbit": "write `kbit` (1000 bit) or `Kibit` (1024 bit)",
    "Hz": "write a rate with its item: `frame/s`",
    "MHz": "declare it as a rating: `unit MHz of rating`",
    "GHz": "declare it as a rating: `unit GHz of rating`",
    "MIPS": "declare it as a rating: `unit MIPS of rating`",
    "min": "write `minute`; `min(a, b)` is a function",
    **dict.fromkeys(
        ("vCPU", "vCPUs", "vcpu", "vcpus", "CPU", "CPUs", "thread", "threads"),
        "write `core`; a hardware thread is less than a core",
    ),
}
"""What is said of some, instead of what to write alone."""


def ambiguity(name: str) -> str | None:
    """Return what to write instead of a unit name that is read in two ways elsewhere."""
    if name in _AMBIGUOUS:
        return instead(name, *_AMBIGUOUS[name], words=_SAID.get(name, ""))
    return _SAID.get(name)
