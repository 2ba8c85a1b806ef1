"""The algebra of dimensions: products of base dimensions with rational exponents.

The bases are `time`, `information`, `money`, and whatever is counted or rated: `packet`,
`SPECint92`, a spec's own units. There is no registry; a dimension is a plain value.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

TIME_BASE = "time"
INFORMATION_BASE = "information"
MONEY_BASE = "money"

_SYMBOLS = {TIME_BASE: "s", INFORMATION_BASE: "bit", MONEY_BASE: "$"}
_WORDS = {
    "s": "a time",
    "bit": "an amount of information",
    "$": "an amount of money",
    "bit/s": "a data rate",
    "": "a plain number",
    "1/s": "a frequency",
}


class Dimension(Struct, frozen=True, cache_hash=True):
    """A product of bases; `exponents` is sorted by base and contains no zeros.

    >>> str(INFORMATION / TIME), str(TIME * TIME), str(DIMENSIONLESS)
    ('bit/s', 's^2', '')
    """

    exponents: tuple[tuple[str, Fraction], ...] = ()

    @staticmethod
    def of(base: str) -> Dimension:
        """Return the dimension of one base."""
        return Dimension(((base, Fraction(1)),))

    def __mul__(self, other: Dimension) -> Dimension:
        return _product(self, other)

    def __truediv__(self, other: Dimension) -> Dimension:
        return self * other ** Fraction(-1)

    def __pow__(self, exponent: Fraction) -> Dimension:
        return _raised(self, exponent)

    @property
    def bases(self) -> frozenset[str]:
        """Bases of the dimension."""
        return frozenset(base for base, _ in self.exponents)

    @property
    def single_base(self) -> str | None:
        """The base, if the dimension is a single base to the power of one."""
        if len(self.exponents) == 1 and self.exponents[0][1] == 1:
            return self.exponents[0][0]
        return None

    @property
    def is_item(self) -> bool:
        """True for a count of items, such as packets."""
        return self.single_base not in (None, INFORMATION_BASE, MONEY_BASE, TIME_BASE)

    def exponent(self, base: str) -> Fraction:
        """Return the exponent of a base, or 0 if it does not occur."""
        return dict(self.exponents).get(base, Fraction(0))

    def __str__(self) -> str:
        """Return the dimension in base units: `bit/s`, `s/packet`, empty for a plain number."""
        above = [_power(base, power) for base, power in self.exponents if power > 0]
        below = [_power(base, -power) for base, power in self.exponents if power < 0]
        if not above and not below:
            return ""
        return "/".join(["*".join(above) or "1", *below])

    @property
    def in_words(self) -> str:
        """Name in messages, such as `a data rate (bit/s)`, `s/packet`, `a plain number`."""
        text = str(self)
        words = _WORDS.get(text)
        open_ = [base for base, _ in self.exponents if is_free(base)]
        if open_:
            units_text = " and ".join(f"`{base}` is the unit of `{base[1:-1]}`" for base in open_)
            return f"`{text}` ({units_text})"
        if words is None:
            base = self.single_base
            return f"`{text}`" if base is None else f"a count of `{base}`"
        return f"{words} ({text})" if text else words


def free(formal: str) -> Dimension:
    """Return the dimension of a formal that may have any: `[x]`, which no unit can be called.

    >>> str(free("x") * TIME), is_free("[x]")
    ('[x]*s', True)
    """
    return Dimension.of(f"[{formal}]")


def is_free(base: str) -> bool:
    """Return whether a base stands for a dimension that is not known."""
    return base.startswith("[")


# A spec has few dimensions, and multiplies them wherever it multiplies numbers.
@lru_cache(maxsize=4096)
def _product(one: Dimension, other: Dimension) -> Dimension:
    merged = dict(one.exponents)
    for base, exponent in other.exponents:
        merged[base] = merged.get(base, Fraction(0)) + exponent
    return _from(merged)


@lru_cache(maxsize=4096)
def _raised(one: Dimension, exponent: Fraction) -> Dimension:
    return _from({base: power * exponent for base, power in one.exponents})


def _from(exponents: Mapping[str, Fraction]) -> Dimension:
    return Dimension(tuple(sorted((b, e) for b, e in exponents.items() if e != 0)))


def _power(base: str, exponent: Fraction) -> str:
    symbol = _SYMBOLS.get(base, base)
    return symbol if exponent == 1 else f"{symbol}^{exponent}"


DIMENSIONLESS = Dimension()
TIME = Dimension.of(TIME_BASE)
INFORMATION = Dimension.of(INFORMATION_BASE)
MONEY = Dimension.of(MONEY_BASE)
CORE = Dimension.of("core")
DATA_RATE = INFORMATION / TIME
