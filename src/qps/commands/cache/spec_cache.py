"""Specs that were checked before, from where the command before has kept them.

Checking is a function of the text of a spec, of what files and modules answer when it reads
them, and of this qps. So a spec is kept under the first of these, beside what it read and a
checksum of each answer, and the files of ours that may have made it and theirs; it is taken where
all of that is read again, by the same rules, with the same content. Only specs without errors are
kept; what they warn of is part of them. The graphs that were lowered of it stand beside it.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from qps.build import checksum_of, parts_at_work
from qps.commands.cache.cache_files import CacheFiles, cache_files
from qps.commands.cache.value_encoding import StoredValueError, Types, decoded, encoded
from qps.compiler.diagnostics.diagnostic import Outcome, QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import (
    Spec,
    check_source,
    files_of,
    importer_of,
)
from qps.compiler.project.project_file import project_mark, project_of
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer, checksum, read_spec
from qps.compiler.syntax.nesting import allow_deep_expressions
from qps.version import __version__

Value = TypeVar("Value", bound=Struct)

_MOST_AT_HAND = 64


class _Reading(Struct, frozen=True):
    """What a spec read, and a checksum of the answer."""

    module: ast.Name | ast.Text
    importing: Source
    is_data: bool
    checksum: str


class _Checked(Struct, frozen=True):
    """A spec, and what it read."""

    spec: Spec
    readings: tuple[_Reading, ...]


class CachedSpec(Struct, frozen=True):
    """What was kept: all objects of it, and its key."""

    objects: Sequence[object]
    checksum: str


class _Recording(Importer, frozen=True, eq=False, kw_only=True):
    """Reads as others do, and notes what was read."""

    readings: list[_Reading] = field(default_factory=list)

    def open(self, module: ast.Name | ast.Text, importing: Source) -> Outcome[Source]:
        """Return the source, or why there is none."""
        answer = super().open(module, importing)
        self.readings.append(_Reading(module, importing, False, _checksum(answer)))  # noqa: FBT003
        return answer

    def data(self, file: ast.Text, importing: Source) -> Outcome[str]:
        """Return the text of a data file, or why there is none."""
        answer = super().data(file, importing)
        self.readings.append(_Reading(file, importing, True, _checksum(answer)))  # noqa: FBT003
        return answer


def load(path: Path) -> Spec:
    """Return a checked spec; QpsError where it has mistakes."""
    outcome = check_file(path)
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    return outcome.value


class _Answer(Struct, frozen=True):
    """What came of a check, what it read, and what is kept of it in files."""

    outcome: Outcome[Spec]
    readings: tuple[_Reading, ...]
    cached: CachedSpec | None = None


_AtHand = OrderedDict[str, _Answer]
_at_hand: ContextVar[_AtHand | None] = ContextVar("_at_hand", default=None)


@contextmanager
def shared_checks() -> Iterator[None]:
    """Have each spec checked once, mistakes and all, however often it is looked at here."""
    token = _at_hand.set(OrderedDict())
    try:
        yield
    finally:
        _at_hand.reset(token)


def check_file(path: Path) -> Outcome[Spec]:
    """Read and check a spec in a file, or take what came of that the last time."""
    read = read_spec(path)
    if read.value is None:
        return Outcome(None, read.diagnostics)
    at_hand = _at_hand.get()
    if at_hand is None:
        return _answer(read.value, cache_files()).outcome
    key = key_of(read.value, "checked")
    answer = at_hand.pop(key, None)
    if answer is None or not _are_unchanged(answer.readings, importer_of(read.value)):
        answer = _answer(read.value, cache_files())
    at_hand[key] = answer
    if len(at_hand) > _MOST_AT_HAND:
        at_hand.popitem(last=False)
    return answer.outcome


def checked(source: Source, files: CacheFiles) -> tuple[Outcome[Spec], CachedSpec | None]:
    """Check a spec, or take what was kept of it; return also what is kept now."""
    answer = _answer(source, files)
    return answer.outcome, answer.cached


def _answer(source: Source, files: CacheFiles | None) -> _Answer:
    allow_deep_expressions()
    key = key_of(source, "checked")
    found, cached = (None, None) if files is None else read_cached(key, files, _Checked)
    again = importer_of(source)  # read again, it has named the files that were read
    if found is not None and _are_unchanged(found.readings, again):
        project = project_of(source.folder).value
        spec = replace(found.spec, files=files_of(source, again, project))
        return _Answer(Outcome(spec, spec.warnings), found.readings, cached)
    reads = importer_of(source)
    importer = _Recording(root=reads.root, of_what=reads.of_what)
    outcome = check_source(source, importer)
    readings = tuple(importer.readings)
    if outcome.value is None or files is None:
        return _Answer(outcome, readings)
    return _Answer(outcome, readings, store(_Checked(outcome.value, readings), key, files))


def _are_unchanged(readings: Iterable[_Reading], importer: Importer) -> bool:
    for one in readings:
        answer: Outcome[str] | Outcome[Source]
        if one.is_data and isinstance(one.module, ast.Text):
            answer = importer.data(one.module, one.importing)
        else:
            answer = importer.open(one.module, one.importing)
        if _checksum(answer) != one.checksum:
            return False
    return True


def key_of(source: Source, *what: str) -> str:
    """Return what distinguishes a spec, and what was made of it, from all others."""
    versions = (__version__, sys.version, msgspec.__version__)
    own = (source.label, str(source.folder), checksum(source.text), project_mark(source.folder))
    return repr((*versions, *own, *what))


def read_cached(
    key: str, files: CacheFiles, kind: type[Value], below: CachedSpec | None = None
) -> tuple[Value | None, CachedSpec | None]:
    """Return what was kept, None where none was that this qps would make, too; and all of it.

    It may have parts in what was kept `below` it.
    """
    data = files.read(key)
    if data is None:
        return None, None
    on, objects = ("", ()) if below is None else (below.checksum, below.objects)
    try:
        (found, parts, made_by, made_on), all_objects = decoded(data, _types(kind), objects)
    except (StoredValueError, TypeError, ValueError):  # whatever it was: it is made anew
        return None, None
    if type(found) is not kind or type(parts) is not str or made_on != on:
        return None, None
    if checksum_of(parts.split("\n")) != made_by:
        return None, None
    return found, CachedSpec(all_objects, sha256(data).hexdigest())


def store(
    value: Struct, key: str, files: CacheFiles, below: CachedSpec | None = None
) -> CachedSpec | None:
    """Keep a value for the next command, with the files of ours that may have made it."""
    parts = parts_at_work()
    made_by = checksum_of(parts)
    if made_by is None:
        return None
    on, objects = ("", ()) if below is None else (below.checksum, below.objects)
    try:
        root = value, "\n".join(parts), made_by, on
        data, all_objects = encoded(root, _types(type(value)), objects)
    except StoredValueError:  # what holds what no file can hold is made every time
        return None
    files.write(key, data)
    return CachedSpec(all_objects, sha256(data).hexdigest())


def _types(kind: type) -> Types:
    """Return the types that are in what is kept."""
    return Types("qps.compiler.", __name__, kind.__module__, parts={ast.Module: _parts_of_module})


def _parts_of_module(module: ast.Module) -> tuple[object, ...]:
    """Return the fields of a module without its claims: no name means one, and no change does.

    They are half of what a spec and the modules that it uses consist of; those of the spec itself
    are in its model. A module of claims alone has them still: it declares something.
    """
    declarations = tuple(one for one in module.declarations if not isinstance(one, ast.Expect))
    whole = replace(module, declarations=declarations or module.declarations)
    return tuple(getattr(whole, name) for name in whole.__struct_fields__)


def _checksum(answer: Outcome[str] | Outcome[Source]) -> str:
    """Return a checksum of an answer: of the text, its label and where that names files."""
    found = answer.value
    if isinstance(found, Source):
        return checksum(repr((found.label, str(found.folder), checksum(found.text))))
    return "none" if found is None else checksum(found)
