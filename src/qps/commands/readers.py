"""Which specs read a file: those that a change of a module or of a table moves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qps.commands.console import complain, specs_below
from qps.compiler.pipeline import check_source, importer_of
from qps.compiler.syntax.importer import read_spec


def files_of(path: Path) -> frozenset[Path]:
    """Return the files that a spec names, itself among them, also where it has mistakes."""
    read = read_spec(path)
    if read.value is None:
        return frozenset([path.resolve()])
    importer = importer_of(read.value)
    check_source(read.value, importer)
    return frozenset([path.resolve(), *importer.named])


def readers_of(paths: Sequence[Path], root: Path = Path()) -> list[Path]:
    """Return the specs below a folder that are, or read, one of some files, sorted."""
    wanted = {path.resolve() for path in paths}
    for path in paths:
        if not path.is_file():
            raise complain(f"`{path}` is no file", "`--readers` takes the files that were changed")
    found = [s for s in specs_below(root) if s.is_file() and files_of(s) & wanted]
    known = {spec.resolve() for spec in found}
    outside = [path for path in paths if path.suffix == ".qps" and path.resolve() not in known]
    return [*found, *outside]
