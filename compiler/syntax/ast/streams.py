"""Streams: their source, the steps on their way, and playout."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Expr, Name


class Spread(Struct, frozen=True, kw_only=True):
    """`to others by cast`: `kind` is `others`, `all` or `one`.

    Within a `group`, each receiver gets at most so many of its streams.
    """

    span: Span
    kind: str
    target: Name | None
    cast: Name | None
    group: Name | None = None
    most: Expr | None = None


class Step(Struct, frozen=True, kw_only=True):
    """A component in its place in a stream; with a `group`, it merges within each of them."""

    span: Span
    component: Name
    arguments: tuple[Expr, ...]
    repeat: Expr | None
    group: Name | None
    spread: Spread | None
    condition: Expr | None


class Emission(Struct, frozen=True):
    """`source 8000 byte/s in size`: what leaves the source, the first value a rate."""

    span: Span
    values: tuple[Expr, ...]


class At(Struct, frozen=True):
    """The steps at a node."""

    span: Span
    node: Name
    steps: tuple[Step, ...]


class Over(Struct, frozen=True):
    """The links that are crossed."""

    span: Span
    links: tuple[Name, ...]


class Playout(Struct, frozen=True):
    """`playout 60 ms dropping 1 %`: a buffer where the stream ends, and what it drops."""

    span: Span
    delay: Expr
    dropping: Expr | None


class Stream(Struct, frozen=True, kw_only=True):
    """Items on their way; `flows` of them in each group, where `each` is one."""

    span: Span
    name: Name
    flows: Expr | None
    each: Name | None
    items: tuple[Emission | At | Over | Playout, ...]
    doc: str | None = None
