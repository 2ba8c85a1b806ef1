"""Which declaration of a spec is meant: the one that is named, or the only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from qps.commands.terminal.console import complain
from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import did_you_mean, listed


class _Declared(Protocol):
    @property
    def name(self) -> str: ...


D = TypeVar("D", bound=_Declared)


def named_declaration(
    model: ir.Model,
    declared: Sequence[D],
    name: str | None,
    *,
    called: tuple[str, str],
    missing: QpsError,
) -> D:
    """Return the declaration of a name, or the only one; QpsError for several.

    It is `called` by two nouns, of one and of several; where there is none, it is `missing`.
    """
    noun, several = called
    names = [one.name for one in declared]
    if not names:
        raise missing
    if name is None and len(names) > 1:
        raise complain(f"{model.file} has several {several}", f"choose {listed(names, 'or')}")
    for one in declared:
        if name in (None, one.name):
            return one
    raise complain(
        f"{model.file} has no {noun} named `{name}`",
        did_you_mean(name or "", names) or f"choose {listed(names, 'or')}",
    )
