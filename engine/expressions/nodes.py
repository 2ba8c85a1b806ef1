"""Nodes of formulas: what stands in them, and the keys in whose order they are kept."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b
from typing import Self, TypeAlias

from qps.engine.leaves import INPUT, POPULATION

Value: TypeAlias = Fraction | float | str | None
"""Of a number: a fraction, an infinity or not-a-number; of a symbol its name; else None."""


class ExpressionNode:
    """An operation and its operands: a formula, but for what makes others of it.

    `value` is that of a number, or the name of a symbol. `key` is the same for equal formulas in
    every process; sums and products stand in its order. `is_constant` says that there are no
    symbols in it.
    """

    __slots__ = ("__weakref__", "_symbols", "is_constant", "key", "operands", "value", "word")

    word: str
    operands: tuple[Self, ...]
    value: Value
    key: int
    is_constant: bool
    _symbols: frozenset[Self] | None

    def __init__(self) -> None:
        raise TypeError("formulas are made by the functions of qps.engine.expressions.formulas")

    @property
    def exact(self) -> Fraction | None:
        """Its value where it is an exact number, else None."""
        return self.value if type(self.value) is Fraction else None

    @property
    def is_symbol(self) -> bool:
        """Whether it is a symbol: the population or an input."""
        return self.word in (INPUT, POPULATION)

    @property
    def is_population(self) -> bool:
        """Whether it is the population."""
        return self.word == POPULATION

    @property
    def name(self) -> str:
        """The name of a symbol."""
        assert self.is_symbol
        return str(self.value)

    @property
    def symbols(self) -> frozenset[Self]:
        """All symbols in it."""
        if self._symbols is None:
            found: set[Self] = set()
            walked: set[Self] = set()
            waiting = [self]
            while waiting:
                part = waiting.pop()
                known = part._symbols  # noqa: SLF001 - its own kind
                if known is not None:
                    found |= known
                elif part not in walked:
                    walked.add(part)
                    waiting += part.operands
            self._symbols = frozenset(found)
            # A set for each part of a long chain would take memory that grows as its square;
            # where there is one symbol, all parts share the set.
            for part in walked if len(found) == 1 else ():
                part._symbols = self._symbols  # noqa: SLF001
        return self._symbols

    def __repr__(self) -> str:
        if not self.operands:
            return str(self.value)
        return f"{self.word}({', '.join(map(repr, self.operands))})"


_CODES: dict[str, int] = {}


def key_of(word: str, operands: tuple[ExpressionNode, ...], value: Value) -> int:
    """Return a number for a node, the same in every process."""
    return hash((_coded(word), *(operand.key for operand in operands), _of_value(value)))


def _coded(text: str) -> int:
    """Return a number for a text, the same in every process."""
    if text not in _CODES:
        _CODES[text] = _digest(text)
    return _CODES[text]


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def _of_value(value: Value) -> int:
    if type(value) is Fraction:
        return hash((value.numerator, value.denominator))
    return 0 if value is None else _digest(str(value))
