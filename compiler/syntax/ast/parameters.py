"""What may vary: units, the population, groups, options, parameters, definitions."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Expr, Name, Range, Text


class Use(Struct, frozen=True):
    """`use std.net as net` or `use "file.qps" as f`."""

    span: Span
    module: Name | Text
    alias: Name | None
    doc: str | None = None


class Unit(Struct, frozen=True, kw_only=True):
    """A unit: an item (no value), a rating, or a multiple of another unit."""

    span: Span
    name: Name
    is_rating: bool
    value: Expr | None
    doc: str | None = None


class Users(Struct, frozen=True):
    """The population and its range."""

    span: Span
    name: Name
    range: Range
    doc: str | None = None


class Group(Struct, frozen=True):
    """`group room of 12 users`: into which the users are divided."""

    span: Span
    name: Name
    size: Expr
    doc: str | None = None


class Option(Struct, frozen=True, kw_only=True):
    """A choice among names; the first one is in force."""

    span: Span
    name: Name
    choices: tuple[Name, ...]
    source: Text | None
    doc: str | None = None


class Param(Struct, frozen=True, kw_only=True):
    """A number that a scenario may change; an elastic one takes what capacity is left.

    The value of an elastic one is the most that it takes; the one of the smallest priority is
    served first.
    """

    span: Span
    name: Name
    value: Expr
    range: Range | None
    source: Text | None
    is_elastic: bool = False
    priority: Expr | None = None
    fitted: Text | None = None
    doc: str | None = None


class Weight(Struct, frozen=True):
    """`I 30`: how many are of a kind, or `I 60 %`: which share."""

    span: Span
    name: Name
    value: Expr


class Kinds(Struct, frozen=True, kw_only=True):
    """The kinds that items or users are divided into: by weights, or by a pattern of letters."""

    span: Span
    name: Name
    weights: tuple[Weight, ...]
    pattern: Text | None
    source: Text | None
    of_users: bool
    doc: str | None = None


class Let(Struct, frozen=True):
    """A name for an expression."""

    span: Span
    name: Name
    value: Expr
    doc: str | None = None


class Formal(Struct, frozen=True):
    """A parameter of a function or component, with its dimension by example."""

    span: Span
    name: Name
    example: Expr | None


class Func(Struct, frozen=True, kw_only=True):
    """A function."""

    span: Span
    name: Name
    formals: tuple[Formal, ...]
    value: Expr
    doc: str | None = None
