"""Which Pythons this machine has: a line for each version, `3.13 /path/to/python`, oldest first.

    python .ci/pythons.py 3.11

Only released ones from the version on that is named, on the path or where pyenv and Debian keep
them, that can make a virtual environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"python3\.[0-9]+")
_ASK = "import ensurepip, sys, venv; print(*sys.version_info[:4])"


def places() -> Iterator[Path]:
    """Yield the folders in which a Python may lie."""
    yield from (Path(folder) for folder in os.get_exec_path())
    yield Path("/usr/bin")
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(root.glob("versions/*/bin"))


def version_of(python: Path) -> tuple[int, int] | None:
    """Return the version of a Python, None for one that does not serve."""
    try:
        told = subprocess.run(
            [python, "-c", _ASK], capture_output=True, text=True, timeout=20, check=True
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None  # a shim of a version that is not chosen, or one without `venv`
    return (int(told[0]), int(told[1])) if told[3:] == ["final"] else None


def pythons(least: tuple[int, int]) -> dict[tuple[int, int], Path]:
    """Return a Python for each version from the least on, the oldest first."""
    found: dict[tuple[int, int], Path] = {}
    seen: set[Path] = set()
    for folder in dict.fromkeys(places()):
        for path in sorted(folder.glob("python3.*")):
            if not _NAME.fullmatch(path.name) or path.resolve() in seen:
                continue
            version = version_of(path)
            if version is not None and version >= least:
                found.setdefault(version, path)
            if version is not None:
                seen.add(path.resolve())
    return dict(sorted(found.items()))


if __name__ == "__main__":
    first, second = sys.argv[1].split(".")
    for (major, minor), path in pythons((int(first), int(second))).items():
        print(f"{major}.{minor} {path}")
