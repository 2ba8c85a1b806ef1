"""What is varied, and how it comes to stand in a command: `rate in 1, 2 request/s`, `{rate}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct

from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.fit_columns import UnitOf
from qps.compiler.measurement.measured_tables import number
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME, Dimension

_AXIS = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s+in\s+(?P<values>.+)", re.DOTALL)
_LAST = re.compile(r"(?P<number>[-+.\d][\w.+-]*)\s+(?P<unit>\S.*)")
_PLACE = re.compile(r"\{(?P<first>[A-Za-z_]\w*)(?P<rest>(?:[*/](?:[A-Za-z_]\w*|\d+(?:\.\d+)?))*)\}")
_FACTOR = re.compile(r"([*/])(\w+(?:\.\d+)?)")
_MOST_SETTINGS = 1_000

SECONDS = "seconds"
"""The name of how long a generator is to run, in its command."""


class CampaignAxis(Struct, frozen=True, kw_only=True):
    """A name, its values as they were written, and what one of their unit is in base units."""

    name: str
    values: tuple[str, ...]
    unit: str = ""
    factor: Fraction = Fraction(1)
    dimension: Dimension = Dimension()

    @property
    def item(self) -> str | None:
        """The item (or information) that this is a rate of, None where it is no rate."""
        base = (self.dimension * TIME).single_base
        return base if base not in (None, "time") else None

    @property
    def sized(self) -> str | None:
        """The item that this is the size of, None where it is none."""
        bases = self.dimension.bases - {INFORMATION_BASE}
        is_size = self.dimension.exponent(INFORMATION_BASE) == 1 and len(bases) == 1
        item = next(iter(bases), None) if is_size else None
        return item if item is not None and self.dimension.exponent(item) == -1 else None

    def value(self, text: str) -> Fraction | None:
        """Return a value in base units; None for a word."""
        found = number(text)
        return None if found is None else found * self.factor


Setting = tuple[str, ...]
"""A value of each axis, as they were written; no values at all for a server without any load."""

IDLE: Setting = ()


def axis(text: str, unit_of: UnitOf) -> CampaignAxis:
    """Return what a `--vary` says; MeasuringError where it says nothing."""
    found = _AXIS.fullmatch(text)
    if found is None:
        raise MeasuringError(
            f"`--vary '{text}'` needs a name and values",
            "write `--vary 'rate in 100, 200, 400 request/s'`",
        )
    name = found["name"]
    if name == SECONDS:
        raise MeasuringError("`{seconds}` is set by `--seconds`", "choose another name")
    values = [value.strip() for value in found["values"].split(",")]
    unit, factor, dimension = "", Fraction(1), Dimension()
    last = _LAST.fullmatch(values[-1])
    if last is not None and number(last["number"]) is not None:
        unit, values[-1] = last["unit"].strip(), last["number"]
        known = unit_of(unit)
        if known is None:
            raise MeasuringError(
                f"unknown unit `{unit}` in `--vary '{text}'`",
                "use a unit such as `request/s` or `kB/request`, or declare an item with "
                "`--unit NAME`",
            )
        factor, dimension = known
    if not all(values):
        raise MeasuringError(f"a value of `{name}` is empty", "write a value between commas")
    if len(set(values)) < len(values):
        raise MeasuringError(f"`{name}` lists a value twice", "for repetitions use `--repeat`")
    bare = [value for value in values if number(value) is None]
    if unit and bare:
        raise MeasuringError(
            f"`{bare[0]}` has its own unit before `{unit}`",
            "write plain numbers, and the unit once, after the last one",
        )
    made = CampaignAxis(
        name=name, values=tuple(values), unit=unit, factor=factor, dimension=dimension
    )
    if made.item and any((made.value(value) or 0) <= 0 for value in values):
        raise MeasuringError(
            f"a rate of `{name}` is not above zero", "to measure without load use `--idle`"
        )
    return made


def settings_of(axes: Sequence[CampaignAxis]) -> tuple[Setting, ...]:
    """Return each combination of values; MeasuringError for too many."""
    names = [one.name for one in axes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MeasuringError(f"`{twice}` is varied twice", "put all values into one `--vary`")
    count = 1
    for one in axes:
        count *= len(one.values)
    if count > _MOST_SETTINGS:
        raise MeasuringError(f"{count:,} settings exceed the limit of {_MOST_SETTINGS:,}")
    return tuple(product(*(one.values for one in axes)))


def filled(command: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command with what stands in braces put in: `{rate}`, `{rate/8}`, `{size*1024}`.

    MeasuringError for a name that is not known, or arithmetic with a word.

    >>> filled(["load", "--rps={rate/8}", "{size}k"], {"rate": "100", "size": "1"})
    ('load', '--rps=12.5', '1k')
    """
    return tuple(_PLACE.sub(lambda m: _put_in(m, values), word) for word in command)


def _put_in(place: re.Match[str], values: Mapping[str, str]) -> str:
    first = _known(place["first"], values, place[0])
    if not place["rest"]:
        return first
    result = _number(first, place[0])
    for sign, operand in _FACTOR.findall(place["rest"]):
        text = operand if operand[0].isdigit() else _known(operand, values, place[0])
        factor = _number(text, place[0])
        if sign == "/" and factor == 0:
            raise MeasuringError(f"`{place[0]}` divides by zero")
        result = result * factor if sign == "*" else result / factor
    return plain(result)


def _known(name: str, values: Mapping[str, str], place: str) -> str:
    if name not in values:
        raise MeasuringError(
            f"`{place}` uses `{name}`, which is not varied",
            did_you_mean(name, values) or "",
        )
    return values[name]


def _number(text: str, place: str) -> Fraction:
    found = number(text)
    if found is None:
        raise MeasuringError(f"`{place}` needs a number, not `{text}`")
    return found


def plain(value: Fraction) -> str:
    """Return a number as commands take it.

    >>> plain(Fraction(25)), plain(Fraction(25, 2)), plain(Fraction(1, 3))
    ('25', '12.5', '0.333333')
    """
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"


def names_in(command: Sequence[str]) -> Iterator[str]:
    """Yield the names that stand in braces in a command."""
    for word in command:
        for place in _PLACE.finditer(word):
            yield place["first"]
            for _, operand in _FACTOR.findall(place["rest"]):
                if not operand[0].isdigit():
                    yield operand
