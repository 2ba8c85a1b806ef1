"""What names were taken for while a program was checked: noted where it is decided.

Nobody notes but who requests it (an editor): a module without a listener notes nothing. What the
notes come to, name by name, is in `bindings`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Generic, TypeVar

from msgspec import Struct, field

from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast

M = TypeVar("M")
"""Modules, which note and are noted."""


class Meaning(IntEnum):
    """What a name was taken for.

    The first three are found by looking it up, which may be tried before it is known what is meant;
    the others are decided, and count more.
    """

    OWNED = 1  # a measure, a resource, a number of what stands in front: `web.cpu.load`
    CLASS = 2  # one kind of a parameter, the share of a kind: `size.I`
    NAMED = 3  # a declaration
    UNIT = 4
    FORMAL = 5  # of the function, component, machine around it; a column of the matrix around it
    CHOICE = 6  # of the option `of`
    CHOSEN = 7  # a mode or scenario of the module
    MATRIX = 8
    KIND = 9  # of the kinds `of`
    RESOURCE = 10
    EVENT = 11  # `of` the stream around
    WORD = 12  # of the language


class Note(Struct, Generic[M], frozen=True, kw_only=True):
    """A name, what it was taken for, and in which module; `of` is the declaration it belongs to."""

    meaning: Meaning
    name: ast.Name
    module: M
    of: ast.Named | None = None


class Noted(Struct, Generic[M], frozen=True):
    """Notes by the places of names, and the trees of all files as they are written."""

    notes: dict[Span, Note[M]] = field(default_factory=dict)
    trees: dict[Source, ast.Module] = field(default_factory=dict)

    def note(
        self, meaning: Meaning, name: ast.Name, module: M, of: ast.Named | None = None
    ) -> None:
        """Note what a name was taken for, unless it is known better."""
        earlier = self.notes.get(name.span)
        if earlier is None or earlier.meaning <= meaning:
            self.notes[name.span] = Note(meaning=meaning, name=name, module=module, of=of)
