"""Specs that were checked before, from where the command before has kept them.

Checking is a function of the text of a spec, of what files and modules answer when it asks for
them, and of this qps. So a spec is kept under the first and the last of these, beside what it
asked for and a checksum of each answer; it is taken where all of that is asked again, by the same
rules, and answered alike. Only specs without errors are kept; what they warn of is part of them.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from pickle import HIGHEST_PROTOCOL, PicklingError, Unpickler, UnpicklingError, dumps

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from qps.build import build
from qps.commands.kept_files import KeptFiles, kept_files
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


class _Reading(Struct, frozen=True):
    """What a spec asked for, and a checksum of the answer."""

    module: ast.Name | ast.Text
    importing: Source
    is_data: bool
    checksum: str


class Kept(Struct, frozen=True):
    """A spec, and all that it rests on besides its own text."""

    spec: Spec
    asked: tuple[_Reading, ...]


class _Noting(Importer, frozen=True, eq=False, kw_only=True):
    """Reads as others do, and notes what was asked for and answered."""

    asked: list[_Reading] = field(default_factory=list)

    def open(self, module: ast.Name | ast.Text, importing: Source) -> Outcome[Source]:
        """Return the source, or why there is none."""
        answer = super().open(module, importing)
        self.asked.append(_Reading(module, importing, False, _checksum(answer)))  # noqa: FBT003
        return answer

    def data(self, file: ast.Text, importing: Source) -> Outcome[str]:
        """Return the text of a data file, or why there is none."""
        answer = super().data(file, importing)
        self.asked.append(_Reading(file, importing, True, _checksum(answer)))  # noqa: FBT003
        return answer


def load(path: Path) -> Spec:
    """Return a checked spec; QpsError where it has mistakes."""
    outcome = check_file(path)
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    return outcome.value


def check_file(path: Path) -> Outcome[Spec]:
    """Read and check a spec in a file, or take what came of that the last time."""
    read = read_spec(path)
    if read.value is None:
        return Outcome(None, read.diagnostics)
    files = kept_files()
    return check_source(read.value) if files is None else checked(read.value, files)[0]


def checked(source: Source, files: KeptFiles) -> tuple[Outcome[Spec], tuple[_Reading, ...]]:
    """Check a spec, or take what was kept of it; return also what it asked for."""
    key = key_of(source, "compiler", "grammar")
    kept = found(files.read(key), source)
    if kept is not None:
        return Outcome(kept.spec, kept.spec.warnings), kept.asked
    reads = importer_of(source)
    importer = _Noting(root=reads.root, of_what=reads.of_what)
    outcome = check_source(source, importer)
    asked = tuple(importer.asked)
    if outcome.value is not None:
        keep(Kept(outcome.value, asked), key, files)
    return outcome, asked


def key_of(source: Source, *rooms: str) -> str:
    """Return what tells a spec from all others, as what stands in some rooms makes of it."""
    versions = (build(*rooms), sys.version, msgspec.__version__)
    own = (source.label, str(source.folder), checksum(source.text), project_mark(source.folder))
    return repr((*versions, *own))


def found(data: bytes | None, source: Source) -> Kept | None:
    """Return the spec that was kept where all that it asked for is still as it was."""
    if data is None:
        return None
    allow_deep_expressions()
    try:
        kept = _OwnValues(BytesIO(data)).load()
    except Exception:  # noqa: BLE001 - whatever it was that was kept: it is made anew
        return None
    if not isinstance(kept, Kept):
        return None
    importer, project = importer_of(source), project_of(source.folder).value
    for asked in kept.asked:
        answer: Outcome[str] | Outcome[Source]
        if asked.is_data and isinstance(asked.module, ast.Text):
            answer = importer.data(asked.module, asked.importing)
        else:
            answer = importer.open(asked.module, asked.importing)
        if _checksum(answer) != asked.checksum:
            return None
    return replace(kept, spec=replace(kept.spec, files=files_of(source, importer, project)))


def keep(kept: Kept, key: str, files: KeptFiles) -> None:
    """Keep a spec for the next command."""
    # What is nested too deep for it, or holds what no file can hold, is made every time.
    with suppress(PicklingError, RecursionError, TypeError, AttributeError):
        files.write(key, dumps(kept, HIGHEST_PROTOCOL))


def _checksum(answer: Outcome[str] | Outcome[Source]) -> str:
    """Return a checksum of an answer: of the text, its label and where that names files."""
    found = answer.value
    if isinstance(found, Source):
        return checksum(repr((found.label, str(found.folder), checksum(found.text))))
    return "none" if found is None else checksum(found)


class _OwnValues(Unpickler):
    """Makes values of ours again, and calls nothing else, whatever is written."""

    def find_class(self, module: str, name: str) -> object:
        """Return a class of ours, or one of the few others that a spec is made of."""
        if (module, name) not in _OTHERS and not module.startswith(_OURS):
            raise UnpicklingError(f"{module}.{name} is no part of a spec")
        found = super().find_class(module, name)
        if not isinstance(found, type) and (module, name) not in _OTHERS:
            raise UnpicklingError(f"{module}.{name} is no class")
        return found


_OURS = ("qps.compiler.", "qps.commands.kept_specs", "qps.commands.lowered_specs")
_OTHERS = frozenset(
    [
        ("msgspec._utils", "rebuild"),  # of a Struct with keywords only
        ("qps.engine.formulas", "_made"),  # of a formula: equal ones are one object
        ("fractions", "Fraction"),
        ("datetime", "date"),
        (type(Path()).__module__, type(Path()).__name__),
    ]
)
