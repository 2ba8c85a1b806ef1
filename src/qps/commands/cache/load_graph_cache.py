"""The load graphs of a spec, from where the command before has kept them with it.

They stand in a file of their own and have parts in the spec that is kept. With another number most
of them stay as they are (`compiler/lower/graph_cache.py` says which): a spec that is solved again
with one is lowered little.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from qps.commands.cache.cache_files import cache_files
from qps.commands.cache.spec_cache import checked, key_of, load, read_cached, store
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.graph_cache import Entry, GraphCache
from qps.compiler.pipeline import Spec
from qps.compiler.syntax.importer import read_spec

_FEW = 4
"""Of graphs that are new, one to so many that are kept already is worth another file."""


class _Graphs(Struct, frozen=True):
    """The graphs that were lowered of a spec."""

    graphs: tuple[Entry, ...]


@contextmanager
def with_graphs(path: Path) -> Iterator[Spec]:
    """Give a checked spec, with the graphs that were lowered of it before; keep those of now.

    QpsError where it has mistakes.
    """
    files, read = cache_files(), read_spec(path)
    if files is None or read.value is None:
        yield load(path)
        return
    outcome, value = checked(read.value, files)
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    if value is None:
        yield outcome.value
        return
    key = key_of(read.value, "lowered")
    found, _ = read_cached(key, files, _Graphs, value)
    before = () if found is None else found.graphs
    graphs = outcome.value.model.derived(GraphCache)
    graphs.take(before)
    yield outcome.value
    if graphs.added > len(before) / _FEW:
        store(_Graphs(tuple(graphs.entries())), key, files, value)
