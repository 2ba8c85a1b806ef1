"""Where the project file of a folder stands, and its text.

It is looked for from the folder of a spec upwards: `qps.toml`, or a pyproject.toml with
`[tool.qps]`. The nearest one counts. Nobody looks above the top of a repository, nor in or above
a folder that everybody may write (such as /tmp), where somebody else could have put one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.links import resolved_path

OWN = "qps.toml"
SHARED = "pyproject.toml"
SECTION = ("tool", "qps")
_NAMES_SECTION = re.compile(rb"^[ \t]*\[[ \t]*[\"']?tool[\"']?[ \t]*[.\]]", re.MULTILINE)
_LARGEST = 1_000_000
_MOST_PARTS = 50
_TOO_MANY_PARTS = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_MOST_PARTS}}}"""
)
"""Keys of which the library that reads TOML makes all beginnings: the square of their length."""


def project_file(folder: Path) -> Path | None:
    """Return the project file that counts for a folder."""
    for place in _upwards(folder):
        for name in (OWN, SHARED):
            if (place / name).is_file() and (name == OWN or _has_section(place / name)):
                return place / name
    return None


def top_of_files(folder: Path) -> Path | None:
    """Return the folder with a `.git` that a folder is or lies in, None where there is none."""
    return next((place for place in _upwards(folder) if (place / ".git").exists()), None)


def _upwards(folder: Path) -> Iterator[Path]:
    """Yield a folder and those above it, to the top of a repository or of what its owner writes."""
    start = resolved_path(folder)
    for place in (start, *start.parents):
        if place != start and _is_world_writable(place):
            return
        yield place
        if (place / ".git").exists():
            return


def _is_world_writable(folder: Path) -> bool:
    """Return whether anybody may put files into a folder; of other systems that is not known."""
    try:
        return hasattr(os, "geteuid") and bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _has_section(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST)
    except OSError:
        return False
    # Reading all of a large file would take longer than the spec itself.
    return bool(_NAMES_SECTION.search(content)) and _is_section_in(content)


@lru_cache(maxsize=8)
def _is_section_in(content: bytes) -> bool:
    """Return whether a file that names the section has it; an editor calls it with each letter."""
    try:
        tool = values_in(content.decode("utf-8-sig")).get(SECTION[0], {})
    except (ValueError, RecursionError):
        return False  # other tools say what is wrong with it
    return isinstance(tool, dict) and SECTION[1] in tool


def values_in(text: str) -> dict[str, object]:
    """Return what a TOML text says; ValueError or RecursionError where it is none."""
    import tomllib  # noqa: PLC0415 - seldom

    if _TOO_MANY_PARTS.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    return tomllib.loads(text)


def text_of(file: Path, sink: Sink) -> str | None:
    """Return the text of a project file; None where it cannot be read, which is reported."""
    tree = top_of_files(file.parent) or file.parent
    if not resolved_path(file).is_relative_to(tree):
        sink.report(
            codes.PROJECT_FILE,
            None,
            f"`{label_of(file)}` is a symbolic link out of its folder or repository",
            hint="replace the link by the file",
        )
        return None
    try:
        if file.stat().st_size > _LARGEST:
            sink.report(
                codes.PROJECT_FILE,
                None,
                f"`{label_of(file)}` is larger than {_LARGEST:,} bytes",
                hint="move the settings of QPS to a separate `qps.toml`",
            )
            return None
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        sink.report(
            codes.PROJECT_FILE,
            None,
            f"cannot read `{label_of(file)}`: {reason}",
            hint="check its permissions, and save it as UTF-8",
        )
        return None


def label_of(file: Path) -> str:
    """Return how a file is called from here."""
    try:
        here = Path.cwd().resolve()
    except OSError:
        return str(file)
    return os.path.relpath(file, here) if file.is_relative_to(here.parent) else str(file)
