"""What editors call files: URIs. Modules of the standard library are documents of their own."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from pygls.uris import from_fs_path, to_fs_path

from qps.compiler.diagnostics.source import Source
from qps.stdlib import module_names, module_text

LIBRARY = "qps-std"
"""The scheme of documents that hold a module of the standard library, to be read only."""


def path_of(uri: str) -> Path | None:
    """Return the file of a URI; None where it is none, such as a text that is not saved."""
    path = to_fs_path(uri)
    return Path(path) if path and "\0" not in path else None


def uri_of_path(path: Path) -> str:
    """Return the URI of a file.

    >>> uri_of_path(Path("/specs/my site.qps"))
    'file:///specs/my%20site.qps'
    """
    return str(from_fs_path(str(path)))


def uri_of_library(name: str) -> str:
    """Return the URI of a module of the standard library.

    >>> uri_of_library("std.net")
    'qps-std:/std.net.qps'
    """
    return f"{LIBRARY}:/{name}.qps"


def library_text(uri: str) -> str | None:
    """Return the text of a module of the standard library by its URI; None where it is none."""
    name = library_name(uri)
    return None if name is None else module_text(name)


def library_name(uri: str) -> str | None:
    """Return the name of a module of the standard library by its URI; None where it is none."""
    scheme, _, place = uri.partition(":")
    name = unquote(place).strip("/").removesuffix(".qps")
    return name if scheme == LIBRARY and name in module_names() else None


def own_path(source: Source) -> Path | None:
    """Return the file that a source was read from; None where it is none."""
    if source.file is not None:
        return source.file
    return None if source.folder is None else source.folder / Path(source.label).name
