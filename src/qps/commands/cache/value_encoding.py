"""Values of ours as bytes, and back: what is one object before is one object after.

A value is a graph: a spec's places all point into one text, two names may mean one expression, and
modules that hold each other go round in a circle. It is written as tables, in which each object has
a number and what it consists of stands as the numbers of its parts: first plain scalars, then dicts
and lists (filled last, since circles go through them alone), then all else, parts before what they
are parts of. Objects of one type and one height stand together and are made in one go, so that
no depth needs recursion and reading takes about as long as `pickle` takes.

Nothing that stands in the bytes is called or imported. Each type is found in a table of the types
that there are (`Types`), by its name; a name that is not in it is refused. What the bytes describe
is no larger than a small multiple of them, and is made in time in proportion to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from enum import Enum
from fractions import Fraction
from itertools import chain, starmap
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from qps.engine.expressions.formula_decoding import decoded_formula
from qps.engine.expressions.formulas import Formula

Parts: TypeAlias = Sequence[Any]
Rows: TypeAlias = Iterable[tuple[Any, ...]]


class StoredValueError(ValueError):
    """Raised where a value cannot be written, or bytes describe none."""


class _Type(Struct, frozen=True):
    """How values of a type are taken apart, and made of the parts of many.

    `width` is how many parts each has; None where that differs.
    """

    parts: Callable[[Any], Parts]
    build: Callable[[Rows], list[Any]]
    width: int | None = None


class Types:
    """The types that may be written and read: plain ones, and Structs and enums of ours."""

    def __init__(
        self, *modules: str, parts: Mapping[type, Callable[[Any], Parts]] | None = None
    ) -> None:
        """Take the Structs and enums that modules hold: those named, and those below `name.`.

        Of some types only `parts` of what a value consists of are written: one for each field.
        """
        self._parts = parts or {}
        below = tuple(name for name in modules if name.endswith("."))
        self._types: dict[str, type] = {
            f"{own.__module__}.{own.__qualname__}": own
            for own in (*_below(Struct), *_below(Enum))
            if own.__module__ in modules or own.__module__.startswith(below)
        }
        self._names = {own: name for name, own in self._types.items()}

    def name(self, own: type) -> str:
        """Return the name of a type; StoredValueError where its values are not stored."""
        name = _NAMES.get(own) or self._names.get(own)
        if name is None:
            raise StoredValueError(f"values of {own.__qualname__} are not stored")
        return name

    def named(self, name: str) -> _Type:
        """Return the type of a name; StoredValueError where there is none."""
        own = self._types.get(name)
        if own is not None:
            return _of_enum(own) if issubclass(own, Enum) else _of_struct(own, self._parts.get(own))
        if name in _PLAIN:
            return _PLAIN[name][1]
        raise StoredValueError(f"{name} is no type of a value")


# -- types ---------------------------------------------------------------------------------


def _below(own: type) -> list[type]:
    below: list[type] = type.__subclasses__(own)
    for one in below:  # and those that are added meanwhile
        below += type.__subclasses__(one)
    return below


def _of_struct(own: Any, parts: Callable[[Any], Parts] | None) -> _Type:
    names: tuple[str, ...] = own.__struct_fields__
    parts = parts or _getter(names)
    if own.__match_args__ == names:  # all of them may be given by place
        return _Type(parts, lambda rows: [*starmap(own, rows)], len(names))
    return _Type(
        parts,
        lambda rows: [own(**dict(zip(names, row, strict=True))) for row in rows],
        len(names),
    )


def _getter(names: tuple[str, ...]) -> Callable[[Any], Parts]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _of_enum(own: Any) -> _Type:
    return _Type(lambda member: (member.value,), lambda rows: [*starmap(own, rows)], 1)


def _formulas(rows: Rows) -> list[Formula]:
    return [decoded_formula(*row) for row in rows]


def _fractions(rows: Rows) -> list[Fraction]:
    found = []
    for above, below in rows:
        if type(above) is not int or type(below) is not int:
            raise StoredValueError("a fraction is made of two whole numbers")
        found.append(Fraction(above, below))
    return found


def _sets(rows: Rows) -> list[frozenset[Any]]:
    return [frozenset(_hashable(row)) for row in rows]


_PLAIN: dict[str, tuple[type, _Type]] = {
    "tuple": (tuple, _Type(lambda value: value, list)),
    "set": (frozenset, _Type(tuple, _sets)),
    "fraction": (Fraction, _Type(attrgetter("numerator", "denominator"), _fractions, 2)),
    "date": (
        date,
        _Type(lambda day: (day.toordinal(),), lambda rows: [date.fromordinal(*r) for r in rows], 1),
    ),
    "path": (type(Path()), _Type(lambda path: (str(path),), lambda r: [Path(*p) for p in r], 1)),
    "formula": (Formula, _Type(attrgetter("word", "operands", "value"), _formulas, 3)),
}
_NAMES = {own: name for name, (own, _) in _PLAIN.items()}
_SCALARS = frozenset((type(None), bool, int, float, str))

_MOST_DIGITS = 250_000
"""Of a whole number, sixteen to one: fractions of larger ones would take long to make."""
_LARGEST_KEY = 1_000
"""Parts of a key or an element of a set: it is looked through again for each that holds it."""
_PLAIN_KEYS = frozenset((*_SCALARS, Formula, type(Path()), Fraction, date))


def _hashable(keys: Sequence[Any]) -> Sequence[Any]:
    """Return keys, none of which is nested deep; StoredValueError where one is."""
    for key in keys:
        if type(key) in _PLAIN_KEYS or isinstance(key, Enum):
            continue
        left, waiting = _LARGEST_KEY, [key]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Struct):
                waiting += [getattr(part, name) for name in part.__struct_fields__]
            elif isinstance(part, tuple | frozenset):
                waiting += part
            left -= 1
            if left < len(waiting):
                raise StoredValueError("a key is too large")
    return keys


# -- the tables ----------------------------------------------------------------------------

_Number: TypeAlias = Annotated[int, Meta(ge=0)]
_Digits: TypeAlias = tuple[str]
"""A whole number that is too large for a machine's: its digits, sixteen to one."""
_Scalar: TypeAlias = bool | int | float | str | _Digits | None


class _Group(Struct, frozen=True, array_like=True):
    """Objects of a type, by its place among the names: each takes so many of the parts, in turn.

    For each object without parts there is one number that says nothing.
    """

    type: _Number
    width: _Number
    parts: list[_Number]


class _Tables(Struct, frozen=True, kw_only=True, array_like=True):
    """A graph of values."""

    names: list[str]
    scalars: list[_Scalar]
    dicts: list[list[_Number]]
    lists: list[list[_Number]]
    groups: list[_Group]
    root: _Number


_ENCODER, _DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Tables)


# -- reading -------------------------------------------------------------------------------


def decoded(data: bytes, types: Types, below: Sequence[Any] = ()) -> tuple[Any, Sequence[Any]]:
    """Return the value that bytes describe, and all objects that it is made of, those below first.

    StoredValueError where they describe none.
    """
    try:
        return _read(_DECODER.decode(data), types, below)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise StoredValueError(str(error)) from error


def _read(tables: _Tables, types: Types, below: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    known = [types.named(name) for name in tables.names]
    values = [*below]
    values += [_whole(*one) if type(one) is tuple else one for one in tables.scalars]
    dicts: list[dict[Any, Any]] = [{} for _ in tables.dicts]
    lists: list[list[Any]] = [[] for _ in tables.lists]
    values += dicts
    values += lists
    at = values.__getitem__
    for group in tables.groups:
        how, width = known[group.type], group.width
        if how.width not in (None, width):
            raise StoredValueError("a value has too few parts, or too many")
        parts = map(at, group.parts)
        rows = zip(*(parts,) * width, strict=True) if width else ((),) * len(group.parts)
        values += how.build(rows)
    for filled, numbers in zip(lists, tables.lists, strict=True):
        filled.extend(map(at, numbers))
    for mapping, numbers in zip(dicts, tables.dicts, strict=True):
        keys = _hashable([*map(at, numbers[::2])])
        mapping.update(zip(keys, map(at, numbers[1::2]), strict=True))
    return values[tables.root], values


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise StoredValueError("a number is too long")
    return int(digits, 16)


# -- writing -------------------------------------------------------------------------------


def encoded(value: object, types: Types, below: Sequence[Any] = ()) -> tuple[bytes, Sequence[Any]]:
    """Return bytes that describe a value, and the objects that `decoded` makes of them.

    StoredValueError where it holds what no bytes describe.
    """
    tables, objects = _Writing(types, below).tables(value)
    try:
        return _ENCODER.encode(tables), objects
    except ValueError as error:  # half a character
        raise StoredValueError(str(error)) from error


class _Writing:
    """Walks a value, each object once; numbers and heights are by the identity of objects."""

    def __init__(self, types: Types, below: Sequence[Any]) -> None:
        self._types, self._below = types, below
        self._numbers = {id(one): number for number, one in enumerate(below)}
        self._heights = dict.fromkeys(self._numbers, 0)
        self._scalars: dict[object, int] = {}
        self._written: list[_Scalar] = []
        self._first: list[Any] = []
        self._alive: list[Any] = []
        self._groups: dict[tuple[int, str, int], list[tuple[object, Parts]]] = {}
        self._dicts: list[dict[Any, Any]] = []
        self._lists: list[list[Any]] = []
        self._named: dict[type, tuple[str, _Type]] = {}

    def tables(self, root: object) -> tuple[_Tables, Sequence[Any]]:
        """Return the tables of a value, and all objects in the order of their numbers."""
        self._collect((root,))
        of_dicts, of_lists = list[Parts](), list[Parts]()
        while len(of_dicts) < len(self._dicts) or len(of_lists) < len(self._lists):
            # What is in these may hold more of them.
            if len(of_dicts) < len(self._dicts):
                filled = of_dicts
                parts: Parts = [*chain.from_iterable(self._dicts[len(of_dicts)].items())]
            else:
                filled = of_lists
                parts = self._lists[len(of_lists)]
            filled.append(parts)
            self._collect(parts)
        return self._numbered(root, of_dicts, of_lists)

    def _collect(self, roots: Parts) -> None:
        """Note each object below some, behind its parts."""
        heights, types, named = self._heights, self._types, self._named
        begun: dict[int, Parts] = {}
        stack = self._new_parts(roots)
        while stack:
            value = stack[-1]
            key, own = id(value), type(value)
            if key in heights:
                stack.pop()
                continue
            if own is dict or own is list:
                heights[key] = 0
                (self._dicts if own is dict else self._lists).append(value)
                continue
            if own not in named:
                name = types.name(own)
                named[own] = name, types.named(name)
            name, how = named[own]
            parts = begun.get(key)
            if parts is None:
                parts = begun[key] = how.parts(value)
                waiting = self._new_parts(parts)
                if any(id(part) in begun for part in waiting):
                    raise StoredValueError("a circle goes through no dict and no list")
                if waiting:
                    stack += waiting
                    continue
            height = 1 + max(map(heights.__getitem__, map(id, parts)), default=0)
            heights[key] = height
            self._groups.setdefault((height, name, len(parts)), []).append((value, parts))

    def _new_parts(self, parts: Parts) -> list[Any]:
        """Return those parts that were not walked before and are no scalars; note those."""
        found = []
        for part in parts:
            if id(part) not in self._heights:
                if type(part) in _SCALARS:
                    self._scalar(part)
                else:
                    found.append(part)
        return found

    def _scalar(self, value: Any) -> None:
        key = type(value), value.hex() if type(value) is float else value
        number = self._scalars.setdefault(key, len(self._scalars))
        self._heights[id(value)], self._numbers[id(value)] = 0, len(self._below) + number
        self._alive.append(value)
        if number == len(self._written):
            self._first.append(value)
            self._written.append(_as_scalar(value) if type(value) is int else value)

    def _numbered(
        self, root: object, of_dicts: Sequence[Parts], of_lists: Sequence[Parts]
    ) -> tuple[_Tables, Sequence[Any]]:
        groups = sorted(self._groups.items(), key=lambda one: one[0])
        objects = [*self._below, *self._first, *self._dicts, *self._lists]
        objects += (value for _, own in groups for value, _ in own)
        numbers = self._numbers
        for number in range(len(self._below) + len(self._first), len(objects)):
            numbers[id(objects[number])] = number

        def indices(parts: Iterable[Any]) -> list[int]:
            return [*map(numbers.__getitem__, map(id, parts))]

        names = {name: place for place, name in enumerate({name: 0 for (_, name, _), _ in groups})}
        tables = _Tables(
            names=[*names],
            scalars=self._written,
            dicts=[indices(parts) for parts in of_dicts],
            lists=[indices(parts) for parts in of_lists],
            groups=[
                _Group(
                    names[name],
                    width,
                    indices(chain(*(parts for _, parts in own))) or [0] * len(own),
                )
                for (_, name, width), own in groups
            ],
            root=numbers[id(root)],
        )
        return tables, objects


def _as_scalar(value: int) -> int | _Digits:
    if -(2**63) <= value < 2**63:
        return value
    digits = f"{value:x}"
    if len(digits) > _MOST_DIGITS:
        raise StoredValueError("a number is too long")
    return (digits,)
