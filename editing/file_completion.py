"""Files that can be named in quotes: modules to use, tables of measurements, recorded packets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from qps.compiler.diagnostics.source import Source
from qps.compiler.project.project_location import project_file
from qps.links import resolved_path

_FILE_STATEMENT = re.compile(
    r'(?:\A|[\s;{])(?:(use)|fit|samples|observe[ \t]+(?:trace[ \t]+)?\w+)[ \t]*"([^"\n]*)\Z'
)
_MOST, _DEEPEST, _SEARCH_LIMITS = 200, 4, 5000
_TABLES = (".csv", ".json", ".pcap")


def file_prefix(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Return what is written of the name of a file at the end of a line, and how it may end.

    >>> file_prefix('use "sha'), file_prefix('source "a bo')
    (('sha', ('.qps',)), None)
    """
    found = _FILE_STATEMENT.search(line)
    return None if found is None else (found[2], (".qps",) if found[1] else _TABLES)


def files_for(source: Source, endings: tuple[str, ...]) -> list[str]:
    """Return the files that a text may name, those next to it first.

    They are below its folder, or that of its project; hidden ones are left out.
    """
    if source.folder is None:
        return []
    project = project_file(source.folder)
    root = source.folder if project is None else resolved_path(project.parent)
    found: list[str] = []
    for path in _below(root):
        if path.suffix in endings and path != source.file:
            # A text names files from its own folder, also those above it.
            found.append(Path(os.path.relpath(path, source.folder)).as_posix())
            if len(found) >= _MOST:
                break
    return sorted(found, key=lambda name: (name.count("../"), name.count("/"), name))


def _below(root: Path) -> Iterator[Path]:
    """Yield files below a folder, not too deep and not too many of them."""
    looked_at = 0
    for place, folders, files in os.walk(root):
        depth = len(Path(place).relative_to(root).parts)
        folders[:] = sorted(one for one in folders if depth < _DEEPEST and _is_shown(one))
        for name in sorted(files):
            looked_at += 1
            if looked_at > _SEARCH_LIMITS:
                return
            yield Path(place) / name


def _is_shown(folder: str) -> bool:
    return not folder.startswith((".", "__")) and folder != "node_modules"
