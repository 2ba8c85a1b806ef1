"""A file: its declarations."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.ast.claims import Expect, Figure, Observe, Trace
from qps.compiler.syntax.ast.hardware import Component, Defaults, Machine, Network, Topology
from qps.compiler.syntax.ast.matrices import Matrix
from qps.compiler.syntax.ast.parameters import (
    Func,
    Group,
    Kinds,
    Let,
    Option,
    Param,
    Unit,
    Use,
    Users,
)
from qps.compiler.syntax.ast.requirements import Measure, Mode, Quality, Require, Scenario, Target
from qps.compiler.syntax.ast.streams import Stream

Declaration = (
    Use
    | Unit
    | Users
    | Group
    | Option
    | Param
    | Kinds
    | Let
    | Func
    | Defaults
    | Machine
    | Network
    | Component
    | Topology
    | Stream
    | Measure
    | Require
    | Target
    | Quality
    | Mode
    | Scenario
    | Matrix
    | Expect
    | Observe
    | Trace
    | Figure
)


class Module(Struct, frozen=True, kw_only=True):
    """A file: its doc string and its declarations, in the order of the text.

    `failed_names` are the names of declarations that could not be parsed, `failed_kinds` the
    words that these start with, empty where that cannot be told.
    """

    source: Source
    doc: str | None
    declarations: tuple[Declaration, ...]
    failed_names: frozenset[str] = frozenset()
    failed_kinds: frozenset[str] = frozenset()
