"""Streams: their source, the steps on their way, and playout."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Expr, Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """`to others by cast`: `kind` is `others`, `all` or `one`.

    Within a `group`, each receiver gets at most so many of its streams.
    """

    span: Span
    kind: str
    target: Name | None
    cast: Name | None
    group: Name | None = None
    most: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A component in its place in a stream; with a `group`, it merges within each of them."""

    span: Span
    component: Name
    arguments: tuple[Expr, ...]
    repeat: Expr | None
    group: Name | None
    spread: Spread | None
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Emission:
    """`source 8000 byte/s in size`: what leaves the source, the first value a rate."""

    span: Span
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class At:
    """The steps at a node."""

    span: Span
    node: Name
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The links that are crossed."""

    span: Span
    links: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Playout:
    """`playout 60 ms dropping 1 %`: a buffer where the stream ends, and what it drops."""

    span: Span
    delay: Expr
    dropping: Expr | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Items on their way; `flows` of them in each group, where `each` is one."""

    span: Span
    name: Name
    flows: Expr | None
    each: Name | None
    items: tuple[Emission | At | Over | Playout, ...]
    doc: str | None = None
