"""The load graphs of a spec, from where the command before has kept them with it.

With another number most of them stay as they are (`compiler/lower/kept_graphs.py` tells which):
a spec that is solved again with one is lowered little.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qps.commands.kept_files import kept_files
from qps.commands.kept_specs import Kept, checked, found, keep, key_of, load
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.kept_graphs import KeptGraphs, Told
from qps.compiler.pipeline import Spec
from qps.compiler.syntax.importer import read_spec

_FEW = 4
"""Of graphs that are new, one to so many that are kept already is worth another file."""


class _KeptWithGraphs(Kept, frozen=True):
    """A spec, and the graphs that were lowered of it."""

    graphs: tuple[Told, ...]


@contextmanager
def with_graphs(path: Path) -> Iterator[Spec]:
    """Give a checked spec, with the graphs that were lowered of it before; keep those of now.

    QpsError where it has mistakes.
    """
    files, read = kept_files(), read_spec(path)
    if files is None or read.value is None:
        yield load(path)
        return
    key = key_of(read.value, "compiler", "grammar", "engine")
    kept, before = found(files.read(key), read.value), tuple[Told, ...]()
    if isinstance(kept, _KeptWithGraphs):
        before = kept.graphs
    elif kept is None:
        outcome, asked = checked(read.value, files)
        if outcome.value is None:
            raise QpsError(outcome.diagnostics)
        kept = Kept(outcome.value, asked)
    graphs = kept.spec.model.once(KeptGraphs)
    graphs.take(before)
    yield kept.spec
    if graphs.added > len(before) / _FEW:
        keep(_KeptWithGraphs(kept.spec, kept.asked, tuple(graphs.told())), key, files)
